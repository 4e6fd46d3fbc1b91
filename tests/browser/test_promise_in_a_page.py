"""The table *What can my cluster lose?* on the first page, opened from the disk."""

import re

import pytest

from protocol_lab.site.build import build
from real_systems.kafka.promise.cluster_settings import ROWS, read
from real_systems.promise.promise_page import cell_of
from real_systems.promise.promise_table import searched
from tests.browser.test_dropped_logs import drop

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def first_page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, ["00_start_here.ipynb"]) == []
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_default_timeout(90_000)
    page.goto((folder / "index.html").as_uri())
    yield page
    page.close()


def settle(page, *settings: str) -> None:
    """Wait until the address has these settings, and all cells are searched."""
    for each in settings:
        page.wait_for_function("each => location.hash.includes(each)", arg=each)
    page.wait_for_function("!document.querySelector('td[data-stale]')")


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


def test_beside_a_story_is_the_recorded_run_with_its_lesson(first_page):
    first_page.locator("#promise tr[data-row=new_disk] td[data-own] button").click()
    run = first_page.locator("#promise [data-part=story] details[open]")
    run.get_by_text("A real cluster, 3.9.1").wait_for()
    assert "the controller decides" in run.inner_text()
    assert run.locator("a").get_attribute("href").startswith("notebooks/kafka/")


_SHOWS = """([row, text]) =>
  document.querySelector(`tr[data-row=${row}] td[data-own] button`).innerText === text"""


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


def test_it_prints_on_one_page(first_page, tmp_path):
    first_page.select_option("select[name=release]", "3.9")
    settle(first_page, "release=3.9")
    first_page.pdf(path=tmp_path / "review.pdf", prefer_css_page_size=True)
    written = (tmp_path / "review.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", written)) == 1
