"""Real systems on pages from the disk: the table *What can my cluster lose?*, logs that are
dropped, and *On call*."""

import os
import re
import shutil
import zipfile

import pytest

from protocol_lab.errors import LabError
from protocol_lab.page.engine_files import engine_script
from protocol_lab.site.build import build
from real_systems.kafka.cluster_settings import ROWS, read
from real_systems.kafka.logs import report
from real_systems.kafka.logs.in_a_page import MOST_MEGABYTES
from real_systems.promise_page import cell_of
from real_systems.promise_table import searched
from tests import ROOT
from tests.__main__ import not_run
from tests.browser.test_site import opening
from tests.site.pages import write_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


# --- The table on the first page -----------------------------------------------------------------


@pytest.fixture(scope="module")
def first_page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, ["00_start_here.ipynb"]) == []
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_default_timeout(180_000)
    page.goto((folder / "index.html").as_uri())
    yield page
    page.close()


def settle(page, *settings: str) -> None:
    """Wait until the address has these settings, and all cells are searched."""
    for each in settings:
        page.wait_for_function("each => location.hash.includes(each)", arg=each)
    page.wait_for_function("!document.querySelector('td[data-stale]')")


@pytest.mark.rarely
def test_a_loss_plays_after_two_presses(first_page):
    first_page.select_option("select[name=release]", "3.9")
    first_page.locator("[data-part=summary] button").click()
    story = first_page.locator("#promise [data-part=story]")
    story.locator("li").first.wait_for()
    assert "Broker 2 is back" in story.inner_text()
    stepper = first_page.locator("#promise .lab-page-stepper")
    stepper.get_by_text("state 1 of 7").wait_for()
    stepper.locator(".ls-staged").wait_for()  # the picture has the size of its place
    for number in range(2, 8):
        stepper.locator("button.ls-next").click()
        stepper.get_by_text(f"state {number} of 7").wait_for(state="attached")
    stepper.get_by_text("Broken promise").first.wait_for()


@pytest.mark.rarely
def test_beside_a_story_is_the_recorded_run_with_its_lesson(first_page):
    first_page.select_option("select[name=release]", "3.9")
    first_page.wait_for_url("**release=3.9*")  # the column is chosen; its cells may come later
    first_page.locator("#promise tr[data-row=new_disk] td[data-own] button").click()
    run = first_page.locator("#promise [data-part=story] details[open]")
    run.get_by_text("A real cluster, 3.9.1").wait_for()
    assert "the controller decides" in run.inner_text()
    assert run.locator("a").get_attribute("href").startswith("notebooks/kafka/")


_SHOWS = """([row, text]) =>
  document.querySelector(`tr[data-row=${row}] td[data-own] button`).innerText === text"""


@pytest.mark.rarely
def test_each_row_has_the_answer_of_the_command(first_page):
    first_page.select_option("select[name=release]", "3.9")
    first_page.select_option("select[name=min_isr]", "1")
    settle(first_page, "min_isr=1", "release=3.9")
    for row in ROWS:
        cell = searched(read([], min_isr="1", release="3.9"), row)
        least = cell.shortest
        wanted = cell_of(cell, *((len(least.steps), least.is_destroyed) if least else (0, False)))
        text = f"{wanted['text']}\n{wanted['more']}".strip()
        first_page.wait_for_function(_SHOWS, arg=[row.name, text])


@pytest.mark.rarely
def test_settings_come_from_a_file_and_stand_in_the_address(first_page, tmp_path):
    """Dropped, chosen or pasted."""
    text = "min.insync.replicas=1\nunclean.leader.election.enable=true\n"
    (tmp_path / "server.properties").write_text(text, encoding="utf-8")
    drop(first_page, tmp_path / "server.properties", "#promise .lab-chooser")
    settle(first_page, "min_isr=1", "unclean=on")
    assert first_page.locator("select[name=unclean]").input_value() == "on"
    assert "Assumed" in first_page.locator("#promise [role=status]").first.inner_text()
    file = {"name": "a", "mimeType": "text/plain", "buffer": b"min.insync.replicas=3\nacks=1\n"}
    first_page.locator("#promise input[type=file]").set_input_files(file)
    settle(first_page, "min_isr=3", "acks=1")
    first_page.locator("#promise summary").first.click()
    first_page.locator("#promise textarea").fill("default.replication.factor=2\n")
    first_page.locator("#promise textarea").blur()
    settle(first_page, "replicas=2")
    first_page.reload()
    first_page.wait_for_selector("[data-part=summary] h3")
    assert first_page.locator("select[name=replicas]").input_value() == "2"


@pytest.mark.rarely
def test_it_prints_on_one_page(first_page, tmp_path):
    first_page.select_option("select[name=release]", "3.9")
    settle(first_page, "release=3.9")
    first_page.pdf(path=tmp_path / "review.pdf", prefer_css_page_size=True)
    written = (tmp_path / "review.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", written)) == 1


# --- Logs that are dropped: the words are those of lab.py logs -----------------------------------

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
    shutil.unpack_archive(report.CLUSTERS / f"{FOUND}.tar.gz", filter="data")
    shutil.copy(report.CLUSTERS / f"{CLEAR}.tar.gz", "clear.tar.gz")
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


@pytest.mark.rarely
def test_it_is_cancelled_and_begun_again(page, logs):
    drop(page, logs / FOUND)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled: there is no answer.").wait_for()
    assert page.get_by_role("button", name="Cancel").is_hidden()


@pytest.mark.rarely
def test_the_words_are_those_of_the_command(page, logs):
    found, clear = report.read([FOUND]), report.read(["clear.tar.gz"])
    part = report.read(["part.zip"], "t", 0, "02:19:20", "02:19:40")
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


# --- On call: a link is played on, and the lights go on at its end -------------------------------

HOLDER = (
    '<div class="lab-incident-holder" data-module="real_systems.kafka.on_call.play"'
    ' data-first="one_power_cut"></div>'
)


@pytest.mark.rarely
def test_a_link_is_played_to_its_end(browser, tmp_path):
    address = write_page(tmp_path, engine=engine_script(), more=HOLDER)
    page = browser.new_page()
    page.set_default_timeout(180_000)
    page.goto(f"{address}#play:the_same_with_elr~0~wait")
    page.click("[data-key=poll]")
    page.click("[data-key=wait]")
    page.click("[data-key=poll]")
    assert "1 ✋" in page.inner_text("[data-key=wait]")
    page.click("[data-key=close]")
    assert "Nothing lost" in page.inner_text(".inc-good")
    assert "broker 2 has all" in page.inner_text(".inc-rewind")
    assert page.url.endswith("~wait.close")
