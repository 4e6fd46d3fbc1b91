"""The table *What can my cluster lose?* on the first page, opened from the disk."""

import pytest

from protocol_lab.site.build import build
from real_systems.kafka.promise.cluster_settings import read
from real_systems.kafka.promise.promise_report import line_of
from real_systems.kafka.promise.promise_table import ROWS, searched

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def first_page(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, ["00_start_here.ipynb"]) == []
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.set_default_timeout(60_000)
    page.goto((folder / "index.html").as_uri())
    yield page
    page.close()


def settled(page) -> None:
    page.wait_for_function("!document.querySelector('tr[data-stale]')")


def lines(page) -> list[str]:
    return page.locator("#promise tr button").all_inner_texts()


def test_a_change_is_searched_in_the_page_with_the_commands_answers(first_page):
    first_page.select_option("select[name=release]", "3.9")
    settled(first_page)
    cells = [searched(read([], release="3.9", min_isr="2"), row) for row in ROWS]
    assert lines(first_page) == [line_of(each) for each in cells]
    assert "release=3.9" in first_page.url


def test_a_loss_plays_after_one_press(first_page):
    first_page.locator("tr[data-row=restart_and_power_cut] button").click()
    story = first_page.locator("#promise [data-part=story]")
    story.locator("li").first.wait_for()
    assert "Start broker 2" in story.inner_text()
    assert "--release 3.9.1" in story.inner_text()
    stepper = first_page.locator("#promise .lab-page-stepper")
    stepper.get_by_text("state 1 of 7").wait_for()
    for number in range(2, 8):
        stepper.locator("button.ls-next").click()
        stepper.get_by_text(f"state {number} of 7").wait_for(state="attached")
    stepper.get_by_text("Broken promise").first.wait_for()


def test_pasted_settings_are_chosen(first_page):
    first_page.locator("#promise summary").first.click()
    text = "min.insync.replicas=1\nunclean.leader.election.enable=true\n"
    first_page.locator("#promise textarea").fill(text)
    first_page.locator("#promise textarea").blur()
    first_page.wait_for_function("location.hash.includes('min_isr=1')")
    settled(first_page)
    assert first_page.locator("select[name=unclean]").input_value() == "on"
    assert "Assumed" in first_page.locator("#promise [role=status]").first.inner_text()
