"""What is shown of a judgement: its sentences, the counterexample as a picture, and a stepper."""

import pytest

import protocol_lab.teaching.feedback as feedback_module
from protocol_lab.explore import explore
from protocol_lab.stepper import Stepper
from protocol_lab.teaching.exercises import with_invariant
from protocol_lab.teaching.feedback import wrong
from tests.toy_specs import letters, values_last


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, in a notebook."""
    displayed = []
    monkeypatch.setattr(feedback_module, "display", lambda what, **_: displayed.append(what))
    monkeypatch.setattr(feedback_module, "get_ipython", lambda: object())
    return displayed


def test_a_counterexample_is_drawn_under_the_sentence_and_can_be_stepped(shown):
    found = explore(with_invariant(letters, values_last).bind())
    assert found.violated
    feedback = wrong("It breaks.", found)
    feedback._ipython_display_()
    sentences, drawing, button = shown
    assert "Not yet." in sentences["text/markdown"]
    assert drawing["text/html"].count("<img") == 2  # the last state; and all of them, folded
    assert f"All {len(found.trace) + 1} states" in drawing["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in button


def test_the_button_opens_the_stepper_at_the_start_of_the_counterexample():
    walk = wrong("It breaks.", explore(with_invariant(letters, values_last).bind())).walk
    place = feedback_module._stepping(walk)
    (button,) = place.children
    assert button.description == "step it"
    button.click()
    (stepper,) = place.children
    assert isinstance(stepper, Stepper)
    assert stepper.walk is walk
    assert walk.moment.depth == 1
