"""What is written on the screen: every word of a stepper, in JupyterLab and on pages."""

import pytest

from protocol_lab.page.engine_files import engine_script
from protocol_lab.stepper.widget import PARTS
from tests.browser.stepper_page import key, shown, stepper_of
from tests.browser.visible_text import (
    FOLDER,
    STEPPERS,
    go_on,
    open_stepper,
    visible_text,
    wrong_texts,
)
from tests.site.pages import write_page

pytestmark = pytest.mark.browser

ALL = [cell for cells in STEPPERS.values() for cell in cells]
LONG_ENOUGH = 24
"""States in which a stepper is read: to the end of each story, and past it."""


@pytest.mark.parametrize("protocol", STEPPERS)
def test_every_word_is_one_that_was_read_before(browser, protocol):
    kept = (FOLDER / f"{protocol}.txt").read_text(encoding="utf-8")
    assert visible_text(browser, protocol).splitlines() == kept.splitlines(), (
        "If the new words are right: python -m tests.browser.visible_text"
    )


@pytest.mark.parametrize("cell", ALL)
def test_nothing_is_written_where_nothing_is_to_say(browser, cell):
    """In every state of a walk, in every tab, in the tools, and in the presenter's view."""
    with shown(browser, open_stepper(cell), tools=True) as page:
        stepper = stepper_of(page)
        for depth in range(2, LONG_ENOUGH):
            assert wrong_texts(stepper) == [], depth
            if not go_on(stepper, depth):
                break
        for tab in stepper.locator(".ls-tabs button").all():
            tab.click()
            page.wait_for_timeout(100)
            assert wrong_texts(stepper) == [], tab.inner_text()
        key(stepper, "cannot").click()
        key(stepper, "first").click()
        for tool in ("find", "load", "export", "keys", "fork", "present"):
            key(stepper, tool).click()
            assert wrong_texts(stepper) == [], tool


@pytest.mark.slow
def test_nothing_such_stands_in_jupyterlab(lab):
    begin = "from protocol_lab.notebook import challenge, replay, step"
    notebook = lab([begin, *ALL])
    notebook.run_all()
    _walk(notebook.page.locator(".lab-stepper"))


@pytest.mark.slow
@pytest.mark.rarely
def test_nothing_such_stands_on_a_page_of_the_site(browser, tmp_path):
    """Where the page's own Python answers."""
    sessions = [open_stepper(cell).session for cell in ALL]
    page = browser.new_page()
    page.goto(write_page(tmp_path, *sessions, engine=engine_script()))
    _walk(page.locator(".lab-page-stepper"))
    page.close()


def _walk(holders):
    for k, cell in enumerate(ALL):
        holders.nth(k).scroll_into_view_if_needed()
        stepper = holders.nth(k).page.locator(".lab-stepper").nth(k)
        stepper.wait_for()
        for depth in range(2, 5):
            assert wrong_texts(stepper) == [], (cell, depth)
            go_on(stepper, depth)


def test_only_one_place_puts_contents_into_elements():
    """The browser's own function writes a null out as a word. The card of a question is a widget
    of its own, too, and puts only a list of elements and a text there."""
    writing = [
        part.name for part in PARTS if ".replaceChildren(" in part.read_text(encoding="utf-8")
    ]
    assert writing == ["question_card.js", "dom.js"]
