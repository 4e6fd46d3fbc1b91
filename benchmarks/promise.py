"""How long the first page's table takes to answer, in Chromium, for settings drawn at random.

    python -m benchmarks.promise [HOW_MANY [SEED [SITE]]]

builds a site of one page in a temporary folder, or takes one that was built, chooses each settings
in its form, and prints how long the rows of the reader's own column took, and the slowest of them.
These are asked again in a page that has forgotten them: other work on the machine delays a row too.
The processor time is that of the browser's pages. The first settings, for which the page starts its
Python and loads its search, are not counted.
"""

import random
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from protocol_lab.site.build import build
from real_systems.kafka.cluster_settings import Settings
from real_systems.promise_page import text_of
from tests.__main__ import find_chromium
from tests.browser.conftest import CHROMIUM_OPTIONS

CHOOSE = """chosen => new Promise((resolve) => {
  const holder = document.querySelector(".lab-asked-table"), form = holder.querySelector("form");
  for (const [name, value] of Object.entries(chosen)) form.elements[name].value = value;
  const seconds = {};
  let last = 0;
  new MutationObserver((changes, observer) => {
    for (const { target } of changes) {
      if ("stale" in target.dataset || !("own" in target.dataset) || !last) continue;
      seconds[target.closest("tr").dataset.row] = (performance.now() - last) / 1000;
      last = performance.now();
    }
    if (Object.keys(seconds).length === holder.querySelectorAll("tr[data-row]").length) {
      observer.disconnect();
      resolve(seconds);
    }
  }).observe(holder, { subtree: true, attributeFilter: ["data-stale"] });
  form.dispatchEvent(new Event("change"));
  setTimeout(() => (last = performance.now()));
})"""


def main() -> None:
    """Print the median and the slowest rows."""
    many, seed = [*map(int, sys.argv[1:3]), *(200, 54)[len(sys.argv) - 1 :]]
    draw = random.Random(seed)
    asked = [
        {name: text_of(draw.choice(list(values))) for name, values in Settings.choices.items()}
        for _ in range(many + 1)
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(sys.argv[3] if len(sys.argv) > 3 else folder)
        if not (site / "index.html").exists():
            build(site, ["00_start_here.ipynb"])
        started = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_OPTIONS)
        page = started.new_page()
        page.set_default_timeout(120_000)
        page.goto((site / "index.html").as_uri())
        page.evaluate(CHOOSE, asked[0])
        before = processor_time(started)
        took = [(page.evaluate(CHOOSE, each), each) for each in asked[1:]]
        spent = processor_time(started) - before
        rows = sorted(
            ((seconds, row, each) for told, each in took for row, seconds in told.items()),
            key=lambda each: each[0],
        )
        median = statistics.median(seconds for seconds, _, _ in rows)
        print(f"{many} settings, {len(rows)} rows: median {median:.3f} s")
        print(f"processor time of all: {spent:.1f} s, {spent / many:.2f} s for each settings")
        page.reload()
        page.evaluate(CHOOSE, asked[0])
        for seconds, row, each in rows[-3:]:
            again = page.evaluate(CHOOSE, each)[row]
            print(f"{seconds:.2f} s, again {again:.2f} s  {row}: {each}")
        started.close()


def processor_time(browser: Browser) -> float:
    """The seconds of processor time that the browser's pages have taken."""
    told = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    return sum(each["cpuTime"] for each in told["processInfo"] if each["type"] == "renderer")


if __name__ == "__main__":
    main()
