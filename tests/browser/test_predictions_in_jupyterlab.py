"""Predictions in a running JupyterLab: commit, reveal, and nothing told before."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASK = """from protocol_lab.teaching.predictions import predict
guess = predict("Can it be lost?", choices=[("yes", ""), ("no", "A crash is enough.")])
guess"""
TYPE = "number = predict('How many states?')\nnumber"
SETTLE = "guess.settle('yes')"
TELL = "number.settle(49, 'Seven times seven.')"


def test_a_prediction_is_committed_and_then_revealed(lab):
    notebook = lab([ASK, TYPE, SETTLE, TELL])
    notebook.run_all()
    chosen, typed = (notebook.page.locator(".lab-prediction").nth(k) for k in (0, 1))
    expect(chosen.locator(".lp-choices button")).to_have_text(["yes", "no"])
    for k in (0, 1):  # what plain Python needs
        expect(notebook.output(k).get_by_text("run this cell")).to_be_hidden()
    expect(notebook.output(2).get_by_text("yes.")).to_be_hidden()
    expect(notebook.output(3).get_by_text("Seven times seven")).to_be_hidden()
    chosen.get_by_role("button", name="no").click()
    expect(chosen).to_contain_text("You predict: no.")
    expect(chosen).not_to_contain_text("A crash is enough")
    chosen.locator(".lp-reveal").click()
    expect(chosen.locator(".lp-is-wrong")).to_contain_text("A crash is enough.")
    expect(chosen.locator(".lp-is-right")).to_contain_text("yes")
    typed.locator("input").fill("49 states")
    typed.locator("input").press("Enter")
    expect(typed).to_contain_text("You predict: 49 states.")
    typed.locator(".lp-reveal").click()
    expect(typed.locator(".lp-right")).to_contain_text("As you predicted: 49.")
    notebook.shoot("revealed")


def test_a_choice_keeps_the_focus_and_shift_enter_goes_on_and_keeps_it(lab):
    notebook = lab([ASK, SETTLE])
    notebook.run_all()
    asked = notebook.page.locator(".lab-prediction")
    asked.get_by_role("button", name="no").click()
    expect(asked).to_contain_text("You predict: no.")
    expect(asked.get_by_role("button", name="no")).to_be_focused()
    notebook.page.keyboard.press("Shift+Enter")  # the question's own cell, once more
    expect(notebook.page.locator(".lab-prediction")).to_contain_text("You predict: no.")
    notebook.page.keyboard.press("Shift+Enter")
    expect(notebook.output(1)).to_contain_text("you predicted no, the run says yes")
