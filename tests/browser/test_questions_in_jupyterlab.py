"""Questions in a running JupyterLab: a press settles them in their card, nothing is told before."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

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
