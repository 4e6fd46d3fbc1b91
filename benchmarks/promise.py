"""How long the first page's table takes to answer, in Chromium, for settings drawn at random.

    python -m benchmarks.promise [HOW_MANY [SEED]]

builds a site of one page in a temporary folder, chooses each settings in its form, and prints how
long the rows took, and the slowest of them. The first settings, for which the page starts its
Python and loads its search, are not counted.
"""

import random
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from protocol_lab.site.build import build
from real_systems.kafka.promise.cluster_settings import Settings
from real_systems.promise.promise_page import text_of
from tests.__main__ import find_chromium
from tests.browser.conftest import CHROMIUM_OPTIONS

CHOOSE = """chosen => new Promise((resolve) => {
  const holder = document.querySelector(".lab-asked-table"), form = holder.querySelector("form");
  for (const [name, value] of Object.entries(chosen)) form.elements[name].value = value;
  const seconds = {};
  let last = 0;
  new MutationObserver((changes, observer) => {
    for (const { target } of changes) {
      if ("stale" in target.dataset || !last) continue;
      seconds[target.dataset.row] = (performance.now() - last) / 1000;
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
    many, seed = [*map(int, sys.argv[1:]), 200, 54][:2]
    draw = random.Random(seed)
    asked = [
        {name: text_of(draw.choice(list(values))) for name, values in Settings.choices.items()}
        for _ in range(many + 1)
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build(Path(folder), ["00_start_here.ipynb"])
        started = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_OPTIONS)
        page = started.new_page()
        page.set_default_timeout(120_000)
        page.goto((Path(folder) / "index.html").as_uri())
        page.evaluate(CHOOSE, asked[0])
        took = [(page.evaluate(CHOOSE, each), each) for each in asked[1:]]
        started.close()
    rows = sorted(
        ((seconds, row, each) for told, each in took for row, seconds in told.items()),
        key=lambda each: each[0],
    )
    print(
        f"{many} settings, {len(rows)} rows: median {statistics.median(r[0] for r in rows):.3f} s"
    )
    for seconds, row, each in rows[-3:]:
        print(f"{seconds:.2f} s  {row}: {each}")


if __name__ == "__main__":
    main()
