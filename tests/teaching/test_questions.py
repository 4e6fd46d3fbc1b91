"""Questions: what a press computes, what a card is told before and after it, and what is kept."""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML, display

import protocol_lab.teaching.feedback as feedback_module
from protocol_lab.catalog import load
from protocol_lab.checker.progress import _CellLine, shown_by
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.notebook import source, step
from protocol_lab.stepper import Stepper
from protocol_lab.teaching import question_card, questions
from protocol_lab.teaching.exercises import with_invariant
from protocol_lab.teaching.feedback import wrong
from protocol_lab.teaching.questions import KEPT, ask, expect_same_answers, shown
from tests.toy_specs import letters, values_last

logs = load("kafka.finite_replicated_log")

CHOICES = {"yes": "A crash is enough.", "no": ""}


@pytest.fixture
def shell(monkeypatch):
    """A notebook's shell; what was asked and chosen before is not known."""
    running = InteractiveShell.instance()
    monkeypatch.setattr(questions, "get_ipython", lambda: running)
    monkeypatch.setattr(questions, "_asked", [])
    monkeypatch.setattr(questions, "_CHOSEN", {})
    yield running
    InteractiveShell.clear_instance()


def told(question):
    """The question as a saved notebook keeps it: as text, and as data."""
    kept = question.kept()
    return kept["text/markdown"], kept[KEPT]


def test_nothing_is_computed_and_nothing_told_before_a_choice():
    runs = []
    asked = ask("Is it safe?", CHOICES, lambda: runs.append("run") or False, "Nobody fetched it.")
    before = asked.to_json()
    assert runs == []
    assert [before[each] for each in ("right", "why", "because")] == [None, None, ""]
    asked.choose(0)
    assert runs == ["run"]
    after = asked.to_json()
    assert (after["chosen"], after["right"]) == (0, 1)
    assert (after["because"], after["why"]) == ("A crash is enough.", "Nobody fetched it.")


def test_who_gives_up_is_told_the_answer_and_nothing_is_recorded(monkeypatch):
    noted = []
    monkeypatch.setattr(questions, "note", lambda *outcome: noted.append(outcome))
    asked = ask("Is it safe?", CHOICES, lambda: "no")
    asked.choose(None)
    assert (asked.to_json()["chosen"], asked.to_json()["right"]) == (None, 1)
    assert noted == []
    asked.choose(1)
    assert noted == [("prediction", "Is it safe?", True)]


@pytest.mark.parametrize(
    ("fact", "choice"),
    [(True, "yes"), (1323, "1,323"), ({2, 1}, "1, 2"), (set(), "nothing"), ([3, "a"], "3, a")],
)
def test_what_the_run_says_is_found_among_the_choices(fact, choice):
    assert shown(fact) == choice
    assert ask("?", {"other": "", choice: ""}, lambda: fact).settled().right == 1


def fails(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: 7, "The run says '7', which is none of the choices: yes, no."),
        (fails(LabError("There is no broker 4.")), "There is no broker 4."),
        (fails(NameError("walk")), "The run failed: NameError: walk. Run the cells above"),
        (fails(KeyboardInterrupt()), "You have interrupted the run. Choose again"),
    ],
)
def test_a_run_that_fails_leaves_the_question_open_with_a_sentence(run, said):
    asked = ask("Is it safe?", CHOICES, run)
    asked.choose(1)
    assert asked.to_json()["failed"].startswith(said)
    assert asked.to_json()["right"] is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"choices": ["yes", "no"]}, "Give two choices or more with their sentences"),
        ({"choices": {"yes": ""}}, "Give two choices or more"),
        ({"run": "no"}, "run: give a function that computes the right choice"),
    ],
)
def test_a_question_that_cannot_be_settled_is_refused(given, said):
    with pytest.raises(LabError, match=said):
        ask(**{"question": "?", "choices": CHOICES, "run": lambda: "no", **given})


def test_what_follows_is_folded_with_the_answer(shell):
    model = logs.bind()

    def table():
        print("a | b")
        return [HTML("<pre>1\n\n2</pre>\n\n<i>3</i>"), explore(model)]

    then = [
        "So it is. See [the **talk**](03.ipynb).",
        table,
        lambda: source(logs.actions[0].function),
    ]
    text, data = told(ask("Is `it` safe?", CHOICES, lambda: False, lambda: "Why.", then))
    question, fold = text.split("<details>")
    assert question.strip().splitlines() == [
        *("> **Predict:** Is `it` safe?", ">", "> - yes", "> - no")
    ]
    assert fold.startswith("<summary>The answer. Choose first, then open it.</summary>\n\n**no**. ")
    assert "\n\nSo it is. See [the **talk**](03.ipynb).\n\n" in fold
    assert "```text\na | b\n```" in fold
    assert "\n\n<div><pre>1&#10;&#10;2</pre>  <i>3</i></div>\n\n" in fold  # no empty line ends it
    assert "✓ holds" in fold
    assert f"```python\n@spec.action\ndef {logs.actions[0].name}(" in fold
    assert data == {
        "question": "Is `it` safe?",
        "choices": ["yes", "no"],
        "whys": ["A crash is enough.", ""],
        "right": 1,
        "why": "Why.",
    }


def test_progress_of_the_run_does_not_follow_the_answer(shell):
    def run():
        line = display({"text/plain": "compiling 1 of 28"}, raw=True, display_id=True)
        line.update({"text/plain": "compiling 2 of 28"}, raw=True)
        line.update({"text/plain": ""}, raw=True)
        return "compiled"

    asked = ask("Is it safe?", CHOICES, lambda: False, "", [run])
    text, _ = told(asked)
    assert "compiled" in text
    assert "compiling" not in text


def test_a_stepper_that_follows_is_drawn_in_what_is_kept(shell):
    text, _ = told(ask("?", CHOICES, lambda: False, then=lambda: step(logs.bind())))
    assert text.count("lab-static") == 1
    assert "widget" not in text


def test_a_later_cell_that_changes_an_answer_is_noticed(shell, monkeypatch):
    monkeypatch.setenv(questions.ANSWERED, "1")
    state = {"safe": False, "after": "A crash."}
    asked = ask("Is it safe?", CHOICES, lambda: state["safe"], then=lambda: state["after"])
    asked._ipython_display_()
    expect_same_answers()
    for change in ({"safe": True}, {"safe": False, "after": "Two crashes."}):
        state |= change
        with pytest.raises(LabError, match="A later cell changes the answer of: Is it safe"):
            expect_same_answers()


def test_a_cell_that_runs_again_keeps_its_answer(shell):
    first = ask("Is it safe?", CHOICES, lambda: False)
    first.choose(0)
    again = ask("Is it safe?", CHOICES, lambda: False)
    again._ipython_display_()
    assert (again.chosen, again.answer.right) == (0, 1)
    other = ask("Is it safe?", {**CHOICES, "perhaps": ""}, lambda: False)
    other._ipython_display_()
    assert other.answer is None


def test_the_progress_of_a_run_goes_to_its_card():
    lines = []
    with shown_by(lines.append):
        bar = _CellLine(desc="a search", delay=0, mininterval=0, unit=" states")
        bar.update(3)
        bar.close()
    assert any("a search: 3 states" in line for line in lines)


# --- What is shown of a judgement ----------------------------------------------------------------


@pytest.fixture
def displayed_parts(monkeypatch):
    """What was displayed, in a notebook."""
    displayed = []
    for each in (feedback_module, question_card):
        monkeypatch.setattr(each, "display", lambda what, **_: displayed.append(what))
    monkeypatch.setattr(feedback_module, "get_ipython", lambda: object())
    return displayed


def test_a_counterexample_is_drawn_under_the_sentence_and_can_be_stepped(displayed_parts):
    found = explore(with_invariant(letters, values_last).bind())
    assert found.violated
    feedback = wrong("It breaks.", found)
    feedback._ipython_display_()
    sentences, drawing, button = displayed_parts
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
