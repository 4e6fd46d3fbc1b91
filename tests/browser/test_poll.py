"""A prediction as a poll of a room, on a bare page."""

import pytest
from playwright.sync_api import expect

from protocol_lab.teaching.guesses import is_same
from protocol_lab.teaching.prediction_field import PredictionField
from protocol_lab.teaching.predictions import predict

pytestmark = pytest.mark.browser

_RENDER = """async ([script, view]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  window.sent = [];
  const model = { get: () => view, on: () => {}, off: () => {}, send: (each) => sent.push(each) };
  module.default.render({ model, el: document.body });
}"""


@pytest.fixture
def asked(browser):
    """Opens a page with the widget of a prediction."""
    page = browser.new_page()

    def ask(prediction):
        page.evaluate(_RENDER, [PredictionField._esm, prediction.to_json()])
        return page

    yield ask
    page.close()


def test_a_poll_tells_how_many_have_answered_and_what_only_when_it_is_shown(asked):
    page = asked(predict("Can it be lost?", choices=["yes", "no"]))
    page.locator(".lp-poll").click()
    yes, no = page.locator(".lp-choices button").all()
    for answer in (yes, no, yes):
        answer.click()
    expect(page.locator(".lp-verdict")).to_contain_text("3 answers")
    expect(yes).to_have_text("yes")
    expect(yes).to_have_attribute("aria-pressed", "false")
    page.locator(".lp-count").click()
    expect(yes).to_have_text("yes · 2")
    expect(no).to_have_text("no · 1")
    assert page.evaluate("sent") == [], "nobody's own prediction"
    page.locator(".lp-end").click()
    page.locator(".lp-choices button").first.click()
    assert page.evaluate("sent") == [{"command": "commit", "guess": "yes"}]


SAME = [
    ["49", "49 states", " 49 ", "49.", "it has 49 of them", "49.0"],
    ["1,200", "1200", "1 200 states", "1_200"],
    ["7", "seven", "Seven", "7 steps"],
    ["yes", "y", "Yes, it can", "true"],
    ["no", "No."],
    ["the leader", "Leader", "leader!"],
    ["weak isr", "weak_isr", "Weak-ISR"],
    ["3 or 4"],
    ["-49"],
]


def test_answers_that_mean_the_same_are_counted_together(asked):
    """As `guesses.is_same` compares an answer with the fact, and no other ones."""
    page = asked(predict("How many states?"))
    page.locator(".lp-poll").click()
    for answer in [each for group in SAME for each in group]:
        page.locator("input").fill(answer)
        page.locator("input").press("Enter")
    page.locator(".lp-count").click()
    counted, total = sorted(SAME, key=len, reverse=True), sum(map(len, SAME))
    shown = ", ".join(f"{group[0]}: {len(group)}" for group in counted)
    expect(page.locator(".lp-verdict")).to_contain_text(f"{total} answers {shown}")
    for fact, *_ in SAME:
        found = [each for group in SAME for each in group if is_same(each, fact)]
        assert found == next(group for group in SAME if fact in group), fact


def test_typed_answers_are_counted_too(asked):
    page = asked(predict("How many states?"))
    page.locator(".lp-poll").click()
    for answer in ("49", "50", "49"):
        page.locator("input").fill(answer)
        page.locator("input").press("Enter")
    expect(page.locator(".lp-verdict")).to_contain_text("3 answers")
    expect(page.locator(".lp-verdict")).not_to_contain_text("49")
    page.locator(".lp-count").click()
    expect(page.locator(".lp-verdict")).to_contain_text("49: 2, 50: 1")
