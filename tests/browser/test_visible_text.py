"""What is written on the screen: every word of a stepper, in JupyterLab and on pages.

`visible_text.txt` has what stands there in steppers of each protocol, below a line `==== PROTOCOL`.
Whoever changes words that a stepper shows renews it, and reads the difference aloud:

    python -m tests.browser.test_visible_text
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from protocol_lab.notebook import challenge, replay, step
from protocol_lab.page.engine_files import engine_script
from protocol_lab.stepper import Stepper
from protocol_lab.stepper.widget import PARTS
from tests.browser.conftest import chromium
from tests.browser.stepper_page import expect_depth, key, shown, stepper_of
from tests.site.pages import write_page
from tests.work_units import one_in, one_of

pytestmark = pytest.mark.browser

FILE = Path(__file__).with_name("visible_text.txt")

# A replay, a challenge and a stepper without an aim, as a cell of a notebook makes them.
STEPPERS = {
    "kafka": (
        "replay('talk_46_56_found_scenario')",
        "challenge('two_leaders_write')",
        "step('kafka.kip_320')",
    ),
    "bookkeeper": (
        "replay('defect_1_diagram')",
        "challenge('outrun_the_fence')",
        "step('bookkeeper.protocol', 'shipped')",
    ),
    "pulsar": (
        "replay('only_copy_is_deleted')",
        "challenge('receive_it_twice')",
        "step('pulsar.compaction')",
    ),
    "kraft": (
        "replay('failed_value_is_committed')",
        "challenge('kraft_two_leaders_write')",
        "step('kraft.kip_853', 'three_servers')",
    ),
}
SIZE = (1280, 720)
STEPS = 4
"""So many steps, each the first that can be taken, are in the free stepper."""

_SPACES = re.compile(r"[ \t\xa0]+")

_WRONG_TEXTS = r"""(root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    // In the picture of Pulsar's topic null is the value of a message.
    const isNull = data.trim() === "null" && !parentElement.closest("svg");
    if (isNull || /\b(undefined|NaN)\b|\[object/.test(data)) found.push(data);
  }
  return found;
}"""


def wrong_texts(stepper: Locator) -> list[str]:
    """The texts in a stepper that a script has made of nothing: null, undefined, NaN, an object."""
    return stepper.evaluate(_WRONG_TEXTS)


def open_stepper(cell: str) -> Stepper:
    """What a cell of a notebook shows."""
    return eval(cell, {"replay": replay, "challenge": challenge, "step": step})


def go_on(stepper: Locator, depth: int) -> bool:
    """Take the next step of a story, or else the first that can be taken, to this depth; False
    where no step is left."""
    ahead = key(stepper, "redo")
    choices = stepper.locator(".ls-choice")
    if ahead.is_enabled():
        ahead.click()
    elif choices.count():
        choices.first.click()
    else:
        return False
    expect_depth(stepper, depth)
    return True


def visible_text(browser: BrowserContext, protocol: str) -> str:
    """All that can be read in the three steppers: the story at its end, the challenge at its start,
    and the free one after some steps, with the reasons of what can't happen."""
    told, aimed, free = (open_stepper(each) for each in STEPPERS[protocol])
    told.walk.last()
    told.refresh()
    return "\n".join(
        [
            *_read(browser, STEPPERS[protocol][0], told),
            *_read(browser, STEPPERS[protocol][1], aimed),
            *_read(browser, STEPPERS[protocol][2], free, STEPS),
        ]
    )


def _read(browser: BrowserContext, cell: str, opened: Stepper, steps: int = 0) -> Iterator[str]:
    yield f"=== {cell}\n"
    with shown(browser, opened, *SIZE, tools=False) as page:
        stepper = stepper_of(page)
        for depth in range(2, steps + 2):
            go_on(stepper, depth)
        if steps:
            key(stepper, "cannot").click()
        page.wait_for_timeout(400)  # the picture is arranged once its room has settled
        expect(stepper).not_to_contain_text("being computed")
        yield "\n".join(_SPACES.sub(" ", line) for line in _lines(stepper))
        yield ""


def _lines(stepper: Locator) -> list[str]:
    """What is visible, a line for each text of the picture and for each line of words."""
    return [line for line in stepper.inner_text().splitlines() if line.strip()]


ALL = [cell for cells in STEPPERS.values() for cell in cells]
LONG_ENOUGH = 24
"""States in which a stepper is read: to the end of each story, and past it."""


def kept_text(protocol: str) -> str:
    """What stood on the screen when it was read."""
    parts = FILE.read_text(encoding="utf-8").split("==== ")
    return next(part.partition("\n")[2] for part in parts if part.startswith(f"{protocol}\n"))


@pytest.mark.parametrize("protocol", one_in(4, STEPPERS))
def test_every_word_is_one_that_was_read_before(browser, protocol):
    assert visible_text(browser, protocol).splitlines() == kept_text(protocol).splitlines(), (
        "If the new words are right: python -m tests.browser.test_visible_text"
    )


@pytest.mark.parametrize("cell", one_of(ALL))
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


@pytest.mark.rarely
def test_nothing_such_stands_in_jupyterlab(lab):
    begin = "from protocol_lab.notebook import challenge, replay, step"
    notebook = lab([begin, *ALL])
    notebook.run_all()
    _walk(notebook.page.locator(".lab-stepper"))


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
    """The browser's own function writes a null out as a word."""
    writing = [
        part.name for part in PARTS if ".replaceChildren(" in part.read_text(encoding="utf-8")
    ]
    assert writing == ["dom.js"]


if __name__ == "__main__":
    with chromium() as started:
        texts = [f"==== {each}\n{visible_text(started, each)}" for each in STEPPERS]
    FILE.write_text("".join(texts), encoding="utf-8")
