"""Measures in a browser how long the stepper takes from a click to the redrawn picture.

    .venv/bin/python -m benchmarks.stepper_in_browser [--clicks 40] [--only kafka]

Opens a stepper in a running JupyterLab and a headless Chromium, clicks steps, undo, redo and the
jump to the start, and times each from the click until the browser has painted the new state: with
the distances hidden, and shown, when a search runs in the background after every click. The target
is 100 ms.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.measurement import machine
from tests.__main__ import find_chromium
from tests.browser.conftest import CHROMIUM_OPTIONS
from tests.browser.jupyterlab import jupyterlab, open_notebook

STEPPERS = {
    "kafka.kip_320": "step('kafka.kip_320')",
    "kafka.async_isr": "step('kafka.async_isr')",
    "the talk's loss": "replay('talk_46_56_found_scenario')",
    "pulsar.compaction": "step('pulsar.compaction', retain_null_key=True)",
    "729 initial states": "step('pulsar.compaction', model_producer=False)",
    "bookkeeper.v4_13": "step('bookkeeper.v4_13')",
    "bookkeeper.protocol": "step('bookkeeper.protocol', 'shipped')",
    "kraft.kip_853": "step('kraft.kip_853', 'three_servers')",
    "requests and replies": "step(spec.bind(clients=2, requests=2))",
}
CELL = """
from protocol_lab.notebook import replay, step
from tests.request_reply import spec
stepper = {stepper}
stepper
"""


def main() -> None:
    """Print a line for each stepper and kind of click."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clicks", type=int, default=40)
    parser.add_argument("--only", default="", help="steppers whose names have this in them")
    options = parser.parse_args()
    chosen = {name: cell for name, cell in STEPPERS.items() if options.only in name}
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no Chromium: install one, or set CHROMIUM to it.")
    print(machine())
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        browser = started.new_context()
        with jupyterlab(Path(home)) as server:
            for number, (name, stepper) in enumerate(chosen.items()):
                cells = [CELL.format(stepper=stepper)]
                notebook = open_notebook(browser, server, f"n{number}", cells, Path(home))
                notebook.run_all()
                notebook.stepper().wait_for()
                for spoilers in (False, True):
                    measure(notebook.page, name, spoilers, options.clicks)
                notebook.page.evaluate("window.jupyterapp.commands.execute('kernelmenu:shutdown')")
                notebook.page.close()
        started.close()


def measure(page: Page, name: str, spoilers: bool, clicks: int) -> None:
    """Click through every kind, and print the times in milliseconds."""
    page.evaluate(_SPOILERS, spoilers)
    times = page.evaluate(_CLICKS, clicks)
    for kind, found in times.items():
        if not found:
            continue
        found.sort()
        tail = found[int(0.95 * (len(found) - 1))]
        print(
            f"{name:22} {'distances' if spoilers else 'no distances':13} {kind:6}"
            f" median {statistics.median(found):5.0f} ms   95 % within {tail:5.0f} ms"
            f"   longest {found[-1]:5.0f} ms   ({len(found)} clicks)",
            flush=True,
        )


_SPOILERS = """async (wanted) => {
  const button = () => document.querySelector('.lab-stepper [data-key="spoilers"]');
  if ((button().getAttribute("aria-pressed") === "true") !== wanted) button().click();
  while ((button().getAttribute("aria-pressed") === "true") !== wanted)
    await new Promise((resolve) => setTimeout(resolve, 20));
}"""

_CLICKS = """async (clicks) => {
  const root = document.querySelector(".lab-stepper");
  const line = root.querySelector(".ls-timeline");
  const depth = () => line.getAttribute("aria-valuenow");
  const times = { step: [], undo: [], redo: [], jump: [] };
  const painted = () =>
    new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
  async function time(kind, press) {
    const before = depth();
    const began = performance.now();
    press();
    await new Promise((resolve, reject) => {
      const watcher = new MutationObserver(() => {
        if (depth() === before) return;
        watcher.disconnect();
        resolve();
      });
      watcher.observe(line, { attributes: true });
      setTimeout(() => reject(new Error(`no answer to ${kind} in state ${before}`)), 20000);
    });
    await painted();
    times[kind].push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  const button = (key) => root.querySelector(`[data-key="${key}"]`);
  for (let k = 0; k < clicks; k++) {
    if (k % 5 === 4 && depth() !== "1") await time("jump", () => button("first").click());
    const choices = [...root.querySelectorAll(".ls-choice")];
    if (!choices.length && depth() !== "1") {
      await time("jump", () => button("first").click());
    }
    if (!choices.length) continue;
    await time("step", () => choices[(7 * k) % choices.length].click());
    await time("undo", () => button("undo").click());
    await time("redo", () => button("redo").click());
  }
  return times;
}"""


if __name__ == "__main__":
    main()
