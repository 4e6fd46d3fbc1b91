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
        expect(notebook.output(k).get_by_text("in place of")).to_be_hidden()
    expect(notebook.output(2).get_by_text("yes.")).to_be_hidden()
    expect(notebook.output(3).get_by_text("Seven times seven")).to_be_hidden()
    chosen.get_by_role("button", name="no").click()
    expect(chosen).to_contain_text("You predict: no.")
    expect(chosen).not_to_contain_text("A crash is enough")
    chosen.locator(".lp-reveal").click()
    expect(chosen.locator(".lp-surprise")).to_contain_text("A crash is enough.")
    typed.locator("input").fill("49 states")
    typed.locator("input").press("Enter")
    expect(typed).to_contain_text("You predict: 49 states.")
    typed.locator(".lp-reveal").click()
    expect(typed.locator(".lp-right")).to_contain_text("As you predicted: 49.")
    notebook.shoot("revealed")
