"""The card of a question on a bare page: its states, sizes and contrast, keys, and a poll;
questions in a running JupyterLab."""

import pytest
from playwright.sync_api import expect

from protocol_lab.teaching.question_card import CARD_SCRIPTS, card_style, joined
from protocol_lab.teaching.questions import ask
from tests.browser.stepper_page import READ

pytestmark = pytest.mark.browser

QUESTION = "Broker 1 dies after both followers have left the `ISR`. Which replica leads?"
CHOICES = {"broker 1": "It is dead.", "broker 2": "It is not in *sync*.", "nobody": ""}

_DRAW = """([script, view]) => {
  const make = new Function(`${script}; return questionCard;`)();
  const choose = (k) => window.ask(k).then((now) => card.show(now));
  const { question, choices } = view;
  const card = make(document.body, { question, choices, choose, giveUp: () => choose(null) });
}"""


_WAIT = """(script) => {
  const make = new Function(`${script}; return questionCard;`)();
  const never = () => {};
  const asked = { question: "?", choices: ["last"], choose: never, giveUp: never };
  window.waiting = make(document.body, asked);
}"""


@pytest.fixture
def card(browser):
    """Opens a page with the card of the question, in this theme and of this width."""
    pages = []

    def open_card(theme="light", width=1280):
        question = ask(QUESTION, CHOICES, lambda: "nobody", "Only broker 1 was in sync.")
        page = browser.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": 720})
        style = card_style()
        light = str(theme == "light").lower()
        page.set_content(f"<style>{style}</style><body data-jp-theme-light={light}>")

        def choose(k):
            question.choose(k)
            return question.to_json()

        page.expose_function("ask", choose)
        page.evaluate(_DRAW, [joined(*CARD_SCRIPTS), question.to_json()])
        return page

    yield open_card
    for page in pages:
        page.close()


def test_a_card_says_how_far_its_run_is(card):
    page = card()
    script = joined(*CARD_SCRIPTS)
    page.evaluate(_WAIT, script)
    page.get_by_role("button", name="last").click()
    verdict = page.locator(".lq-verdict").last
    expect(verdict).to_have_text("The run …")
    page.evaluate("waiting.tell('12,345 states, depth 6')")
    expect(verdict).to_have_text("12,345 states, depth 6")
    page.evaluate("waiting.show({ right: 0, chosen: 0 })")
    expect(verdict).to_have_text("You saw it coming.")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_card_can_be_read_and_pressed_in_each_state(card, screenshots, theme, width):
    page = card(theme, width)
    least = 44 if width <= 500 else 40
    for state in ("asked", "wrong"):
        if state == "wrong":
            page.get_by_role("button", name="broker 2").click()
            expect(page.locator(".lq-is-wrong")).to_contain_text("It is not in sync.")
            expect(page.locator(".lq-is-right")).to_contain_text("Only broker 1 was in sync.")
        page.screenshot(path=screenshots / f"question_{theme}_{width}_{state}.png")
        for text in page.locator(".lab-question").evaluate(READ):
            assert text["contrast"] >= 4.5, (state, text)
            assert text["size"] >= 13, (state, text)
        for button in page.locator("button:visible").all():
            assert button.bounding_box()["height"] >= least
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_one_key_answers_and_is_read_aloud(card):
    """What a screen reader is given: the group's name, each choice's state, and the verdict."""
    page = card()
    group = page.get_by_role("group", name=QUESTION.replace("`", ""))
    expect(page.locator(".lq-question code")).to_have_text("ISR")
    expect(page.get_by_text("✓")).to_have_count(0)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    mine = group.get_by_role("button", name="broker 2 · your guess wrong It is not in sync.")
    expect(mine).to_be_focused()
    expect(mine).to_have_attribute("aria-pressed", "true")
    right = group.get_by_role("button", name="nobody right Only broker 1 was in sync.")
    expect(right).to_have_attribute("aria-disabled", "true")
    surprise = "A surprise: you chose broker 2, the run says nobody."
    expect(page.get_by_role("status")).to_have_text(surprise)
    page.keyboard.press("Enter")  # nothing is chosen twice
    expect(page.get_by_role("status")).to_have_text(surprise)


def test_who_saw_it_coming_and_who_gives_up(card):
    page = card()
    page.get_by_role("button", name="nobody").click()
    expect(page.get_by_role("status")).to_have_text("You saw it coming.")
    expect(page.locator(".lq-is-wrong")).to_have_count(0)
    page = card()
    page.get_by_role("button", name="I don't want to guess").press("Enter")
    expect(page.get_by_role("status")).to_have_text("The run says: nobody.")
    expect(page.locator(".lq-is-right")).to_be_focused()  # for the button that had it is gone
    expect(page.get_by_text("your guess")).to_have_count(0)


def test_a_poll_counts_hands_and_waits_for_the_presenter(card):
    page = card()
    page.get_by_role("button", name="poll").click()
    one, two, nobody = page.locator(".lq-choices button").all()
    for choice in (two, nobody, two):
        choice.click()
    expect(page.get_by_role("status")).to_have_text("3 answers")
    expect(two).to_have_text("broker 2")
    expect(page.get_by_role("button", name="I don't want to guess")).to_be_hidden()
    page.get_by_role("button", name="Show what happens").click()
    expect(page.get_by_role("status")).to_have_text("1 of 3 saw it coming. The run says: nobody.")
    expect(two).to_have_text("broker 2 · 2 of 3")
    expect(one).to_have_text("broker 1 · 0 of 3")
    expect(nobody).to_contain_text("Only broker 1 was in sync.")


def test_a_poll_can_be_ended_without_an_answer(card):
    page = card()
    page.get_by_role("button", name="poll").click()
    page.get_by_role("button", name="broker 1").click()
    page.get_by_role("button", name="end the poll").click()
    expect(page.get_by_role("status")).to_have_text("Choose first. Nothing is graded.")
    page.get_by_role("button", name="nobody").click()
    expect(page.get_by_role("status")).to_have_text("You saw it coming.")


# --- In a running JupyterLab: nothing is told before a press -------------------------------------

ASK = """from protocol_lab.notebook import step
from protocol_lab.teaching.questions import ask

def lost():
    print("computed")
    return seen[-1]

ask(
    "Can it be lost?",
    {"yes": "", "no": "A crash is enough."},
    run=lambda: True,
    why="All who had it are gone.",
    then=["So it *can* be lost.", lost, lambda: step("kafka.finite_replicated_log")],
)"""
LATER = "seen = ['Seen later.']"


@pytest.mark.slow
def test_a_press_settles_a_question_in_its_card_and_opens_what_follows(lab):
    notebook = lab([ASK, LATER])
    notebook.run_all()
    output = notebook.output(0)
    expect(output.get_by_text("Predict: Can it")).to_be_hidden()  # the text where nothing runs
    expect(output.get_by_text("All who had it are gone.")).to_have_count(0)
    no = output.locator(".lq-choices button").nth(1)
    no.click()
    expect(output.locator(".lq-is-right")).to_contain_text("All who had it are gone.")
    expect(no).to_be_focused()
    expect(output.get_by_role("status").first).to_contain_text("A surprise: you chose no")
    then = output.locator(".lq-then")
    expect(then.locator("em")).to_have_text("can")
    expect(then).to_contain_text("computed")
    expect(then).to_contain_text("Seen later.")
    stepper = then.locator(".lab-stepper")
    expect(stepper).to_have_count(1)
    expect(then.locator(".lab-static")).to_be_hidden()
    stepper.locator(".ls-choice").first.click()
    expect(stepper).to_contain_text("state 2 of 2")
    notebook.shoot("answered")
    notebook.page.keyboard.press("Escape")
    notebook.run_all()  # as who presses Shift+Enter out of habit
    expect(notebook.output(0).locator(".lq-is-wrong")).to_contain_text("A crash is enough.")


@pytest.mark.rarely
def test_a_saved_notebook_has_the_answer_in_one_fold(lab):
    notebook = lab([ASK, LATER])
    notebook.run_all()
    notebook.output(0).get_by_role("button", name="I don't want to guess").click()
    expect(notebook.output(0).locator(".lq-then")).to_contain_text("Seen later.")
    kept = notebook.page.evaluate(
        "window.jupyterapp.shell.currentWidget.content.widgets[0].model.toJSON().outputs"
    )
    (text,) = [each["data"]["text/markdown"] for each in kept if "text/markdown" in each["data"]]
    text = "".join(text)
    assert text.index("<details>") < text.index("All who had it are gone.")
    assert "Seen later." in text
