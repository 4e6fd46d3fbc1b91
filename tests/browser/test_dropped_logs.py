"""Logs that are dropped on a page from the disk: the words are those of `lab.py logs`."""

import os
import re
import shutil
import zipfile

import pytest

from protocol_lab.errors import LabError
from protocol_lab.page.engine_files import engine_script
from real_systems.kafka.logs.in_a_page import MOST_MEGABYTES
from real_systems.kafka.logs.report import CLUSTERS, read
from tests import ROOT
from tests.browser.test_site import opening
from tests.not_run import not_run
from tests.site.pages import write_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NOTEBOOK = ROOT / "notebooks" / "kafka" / "04_your_cluster.ipynb"
FOUND, CLEAR = "last_replica_without_elr_4.3.1", "away_controller_4.3.1"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page with the drop zone of the notebook, which asks nothing of anybody."""
    text = NOTEBOOK.read_text(encoding="utf-8").replace('\\"', '"')
    (zone,) = re.findall('<div class="lab-files".*?</div>', text)
    folder = tmp_path_factory.mktemp("page")
    try:
        write_page(folder, engine=engine_script(), more=zone)
    except LabError as error:
        not_run(str(error))
    for open_page in opening(browser, folder.as_uri(), 1366):
        yield open_page("page.html")


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """A folder with a found, an all-clear and a can't-tell; commands are started there."""
    monkeypatch.chdir(tmp_path)
    shutil.unpack_archive(CLUSTERS / f"{FOUND}.tar.gz", filter="data")
    shutil.copy(CLUSTERS / f"{CLEAR}.tar.gz", "clear.tar.gz")
    with zipfile.ZipFile("part.zip", "w", strict_timestamps=False) as archive:
        for each in sorted((tmp_path / FOUND / "node2").iterdir()):
            archive.write(each, each.name)
    return tmp_path


def answered(page, given, *, choose=None, **options):
    """What the page says of a file or folder that is dropped, or chosen with a button."""
    for name in ("topic", "partition", "from", "to"):
        page.get_by_label(name, exact=True).fill(options.get(name, ""))
    page.locator(".lab-files pre").evaluate("(it) => (it.dataset.verdict = 'old')")
    if choose is None:
        drop(page, given)
    else:
        page.locator("input[type=file]").nth(choose).set_input_files(given)
    page.locator(".lab-files pre:not([data-verdict=old])").wait_for()
    return page.locator(".lab-files pre").text_content()


def drop(page, path, zone=".lab-drop"):
    page.locator(zone).scroll_into_view_if_needed()
    box, session = page.locator(zone).bounding_box(), page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        where = {"x": box["x"] + 9, "y": box["y"] + 9}
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **where})


def test_it_is_cancelled_and_begun_again(page, logs):
    drop(page, logs / FOUND)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled: there is no answer.").wait_for()
    assert page.get_by_role("button", name="Cancel").is_hidden()


def test_the_words_are_those_of_the_command(page, logs):
    found, clear = read([FOUND]), read(["clear.tar.gz"])
    part = read(["part.zip"], "t", 0, "02:19:20", "02:19:40")
    assert [each.verdict for each in (found, clear, part)] == ["violated", "holds", "undecided"]
    assert answered(page, logs / FOUND) == str(found)
    assert answered(page, logs / FOUND, choose=1) == str(found)
    assert answered(page, logs / "clear.tar.gz") == str(clear)
    window = {"topic": "t", "partition": "0", "from": "02:19:20", "to": "02:19:40"}
    assert answered(page, logs / "part.zip", choose=0, **window) == str(part)
    assert page.locator(".lab-files pre").get_attribute("data-verdict") == part.verdict


def test_what_can_not_be_read_is_said(page, logs):
    (logs / "notes.txt").write_text("nothing of Kafka\n", encoding="utf-8")
    os.truncate(logs / "notes.txt", (MOST_MEGABYTES + 100) * 1_000_000)  # takes no room
    assert f"a page reads {MOST_MEGABYTES}" in answered(page, logs / "notes.txt")
    said = answered(page, logs / FOUND, **{"from": "tomorrow"})
    assert said == "'tomorrow' is no time: write 02:19, 02:19:30 or 2026-11-25 02:19:30."
    assert "no number of a partition" in answered(page, logs / FOUND, partition="t-0")


def test_the_limit_is_said_beside_it():
    assert f"up to {MOST_MEGABYTES} MB" in NOTEBOOK.read_text(encoding="utf-8")
