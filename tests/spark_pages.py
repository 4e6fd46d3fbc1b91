"""Takes the pictures of Spark's own pages for notebooks/spark/02: `python -m tests.spark_pages`.

It makes the notebook's search, and two questions to its states, in a session with Spark's web
page, and saves what Chromium shows of them in notebooks/spark/images.
"""

import io
import re
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyspark.sql.functions as F
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from kafka_spec import kip_320_first_try
from protocol_lab.explore import explore
from protocol_lab.spark.session import changed, local_session
from tests import ROOT
from tests.__main__ import find_chromium
from tests.browser.conftest import CHROMIUM_OPTIONS

FOLDER = ROOT / "notebooks" / "spark" / "images"
WIDTH = 1000
COLOURS = 64
"""Enough for tables and graphs, and a third of the bytes."""


def work(batches):
    """A tenth of a millisecond for each row: a fifth of the work in the notebook."""
    import time

    for batch in batches:
        time.sleep(batch.num_rows / 10_000)
        yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})


def run(session, folder: Path) -> None:
    """The jobs whose pages are shown, each under a name."""
    model = kip_320_first_try.spec.bind(replicas=3, log_size=1, max_records=1, max_leader_epoch=1)
    found = explore(
        model, engine="spark", session=session, folder=folder, partitions=4, driver_below=400
    )
    states = found.search.states(session).cache()
    context = session.sparkContext
    context.setJobDescription("count the states, which caches them")
    states.count()
    context.setJobDescription("states by depth")
    states.groupBy("depth").agg(F.count("*").alias("states")).orderBy("depth").collect()
    with changed(session, {"spark.sql.adaptive.enabled": "false"}):
        for name, column in (("fingerprint", "fingerprint"), ("hot key", "next_leader_epoch")):
            context.setJobDescription(f"work on each state, by {name}")
            table = states.select("fingerprint", "next_leader_epoch").repartition(8, column)
            table.mapInArrow(work, "rows long").agg(F.sum("rows")).collect()


def keep(name: str, shot: bytes) -> None:
    """Save a screenshot with few colours."""
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=0)
    picture.save(FOLDER / f"{name}.png", optimize=True)
    print(f"{name}.png: {(FOLDER / f'{name}.png').stat().st_size:,} bytes")


def opened(page: Page, address: str) -> None:
    """Open a page of Spark's, without the path of this machine."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.evaluate(  # the button that leads to the top
        """() => [...document.body.querySelectorAll("*")]
            .filter(each => getComputedStyle(each).position === "fixed")
            .forEach(each => each.remove())"""
    )
    page.evaluate(
        """root => {
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
            while (walker.nextNode())
                walker.currentNode.data = walker.currentNode.data.replaceAll(root + "/", "")
        }""",
        str(ROOT),
    )


def number_of(page: Page, kind: str, description: str) -> str:
    """The number of the last job or query of that description."""
    link = page.locator("tr", has_text=description).locator(f"a[href*='{kind}/?id=']").first
    return re.search(r"id=(\d+)", link.get_attribute("href"))[1]


def take(page: Page, root: str) -> None:
    """Take all pictures."""
    opened(page, f"{root}/jobs/?completedJob.pageSize=100")
    keep("jobs", page.locator("#completedJob-table").screenshot())
    numbers = {name: number_of(page, "job", f"by {name}") for name in ("fingerprint", "hot key")}
    for name, number in numbers.items():
        opened(page, f"{root}/jobs/job/?id={number}")
        stages = page.locator("a[href*='stages/stage/?id=']").evaluate_all(
            "links => links.map(each => each.href)"
        )
        opened(page, stages[1])
        page.wait_for_selector("#summary-metrics-table td")
        shot = page.locator("#summary-metrics-table").screenshot()
        keep(f"stage_{name.replace(' ', '_')}", shot)
    opened(page, f"{root}/SQL/")
    query = number_of(page, "execution", "states by depth")
    opened(page, f"{root}/SQL/execution/?id={query}")
    page.wait_for_selector("#plan-viz-graph svg g.node")
    keep("query", page.locator("#plan-viz-graph svg").screenshot())


def main() -> int:
    """Make the jobs and take the pictures."""
    FOLDER.mkdir(exist_ok=True)
    session = local_session(ui=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run(session, Path(folder) / "run")
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 1400})
        take(page, session.sparkContext.uiWebUrl)
        browser.close()
        session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
