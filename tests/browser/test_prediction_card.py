"""The prediction's card on a bare page: its states, sizes and contrast."""

import pytest
from playwright.sync_api import expect

from protocol_lab.teaching.prediction_field import PredictionField
from protocol_lab.teaching.predictions import predict
from tests.browser.readability import READ

pytestmark = pytest.mark.browser

QUESTION = "Broker 1 dies after both followers have left the `ISR`. Which replica leads?"
CHOICES = {"replica 1": "It is dead.", "replica 2": "It is not in sync.", "nobody": ""}

_RENDER = """async ([script, view]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const heard = [];
  window.show = (shown) => ((view = shown), heard.forEach((each) => each()));
  const send = async (message) => show(await window.ask(message));
  const model = { get: () => view, on: (_, each) => heard.push(each), off: () => {}, send };
  module.default.render({ model, el: document.body });
}"""


@pytest.fixture
def card(browser):
    """Opens a page with the card of a prediction, in this theme and of this width."""
    pages = []

    def open_card(prediction, theme="light", width=1280):
        page = browser.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 720})
        page.set_content(
            f"<style>{PredictionField._css}</style>"
            f"<body data-jp-theme-light={str(theme == 'light').lower()}>"
        )

        def ask(message):
            prediction.choose(message["guess"])
            return prediction.to_json()

        page.expose_function("ask", ask)
        page.evaluate(_RENDER, [PredictionField._esm, prediction.to_json()])
        return page

    yield open_card
    for page in pages:
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_card_can_be_read_and_pressed_in_each_state(card, screenshots, theme, width):
    asked = predict(QUESTION, choices=CHOICES)
    asked.settle("nobody", "Only replica 1 was in sync.")
    page = card(asked, theme, width)
    root = page.locator(".lab-prediction")
    least = 44 if width <= 500 else 40
    for state in ("asked", "chosen", "wrong"):
        if state == "chosen":
            page.get_by_role("button", name="replica 2").click()
            expect(page.get_by_role("button", name="replica 2")).to_be_focused()
        if state == "wrong":
            page.locator(".lp-reveal").click()
            expect(page.locator(".lp-is-wrong")).to_contain_text("It is not in sync.")
            expect(page.locator(".lp-is-right")).to_contain_text("Only replica 1 was in sync.")
        page.screenshot(path=screenshots / f"prediction_{theme}_{width}_{state}.png")
        for text in root.evaluate(READ):
            assert text["contrast"] >= 4.5, (state, text)
            assert text["size"] >= 13, (state, text)
        for button in page.locator("button:visible").all():
            assert button.bounding_box()["height"] >= least
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("comes", "shown"), [("lab-stepper", True), ("lab-prediction", False)])
def test_what_was_revealed_can_be_stepped_where_a_stepper_follows(card, comes, shown):
    asked = predict(QUESTION, choices=CHOICES)
    asked.settle("nobody")
    page = card(asked)
    page.evaluate(
        """looks => document.body.insertAdjacentHTML("beforeend",
          `<p style="height: 2000px"><div class=${looks}></div>
           <div class=lab-stepper style="height: 900px"><button class=ls-next>Next`)""",
        comes,
    )
    page.get_by_role("button", name="nobody").click()
    button = page.get_by_role("button", name="Step it")
    expect(button).to_be_hidden()
    page.locator(".lp-reveal").click()
    expect(button).to_be_visible(visible=shown)
    if shown:
        page.evaluate("document.querySelector('div.lab-stepper:empty').remove()")
        button.click()
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        expect(page.get_by_role("button", name="Next")).to_be_in_viewport()


def test_only_the_right_choice_has_a_check_and_only_once_it_is_asked_for(card):
    asked = predict(QUESTION, choices=CHOICES)
    asked.settle("nobody")
    page = card(asked)
    nobody = page.get_by_role("button", name="nobody")
    nobody.click()
    expect(nobody).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("✓")).to_have_count(0)
    page.locator(".lp-reveal").click()
    expect(page.locator(".lp-is-right")).to_contain_text("✓")
    expect(page.locator(".lp-is-wrong")).to_have_count(0)
    expect(page.locator(".lp-verdict")).to_have_text("You saw it coming.")


def test_a_card_keeps_what_a_question_is_about_readable(card):
    page = card(predict(QUESTION, choices=CHOICES))
    expect(page.locator(".lp-question code")).to_have_text("ISR")
    expect(page.locator(".lp-question")).to_have_text(QUESTION.replace("`", ""))
