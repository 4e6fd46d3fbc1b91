"""What stands on the screen in steppers of each protocol, word by word: `PROTOCOL.txt`.

Whoever changes words that a stepper shows renews the files, and reads the difference aloud:

    python -m tests.browser.visible_text
"""

import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, expect

from protocol_lab.notebook import challenge, replay, step
from protocol_lab.stepper import Stepper
from tests.browser.stepper_page import expect_depth, key, shown, stepper_of

FOLDER = Path(__file__).parent

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
