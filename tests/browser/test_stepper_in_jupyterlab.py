"""The stepper in a running JupyterLab."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_look(lab):
    notebook = lab(
        ["from protocol_lab.notebook import step\nstepper = step('kafka.kip_320')\nstepper"]
    )
    notebook.run_all()
    stepper = notebook.stepper()
    stepper.wait_for()
    for k in range(3):
        stepper.locator(".ls-choice").first.click()
        notebook.page.wait_for_timeout(500)
    notebook.shoot("after")
    notebook.shoot("widget", stepper)
