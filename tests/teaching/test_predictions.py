"""Predictions: what counts as right, what is said of a wrong one, and what the page is told."""

import pytest
from IPython.display import HTML

from protocol_lab.catalog import load
from protocol_lab.explore import explore
from protocol_lab.notebook import source
from protocol_lab.teaching.exercises import shortest_path, wrong
from protocol_lab.teaching.guesses import is_same
from protocol_lab.teaching.prediction_field import PredictionField
from protocol_lab.teaching.predictions import predict

logs = load("kafka.finite_replicated_log")

YES_NO = [("yes", "It needs one more step."), ("no", "A crash is enough.")]


@pytest.mark.parametrize(
    ("guess", "fact"),
    [
        *[(49, 49), ("49", 49), ([49], 49), ({49}, 49), (49, {49}), ("49 states", 49)],
        *[("2", 2), (2, "2"), ("two", 2), ("1,323", 1323), ("1 323", 1323), (2.0, 2)],
        *[("a, b", {"b", "a"}), ("b and a", {"a", "b"}), ("{1, 2}", {2, 1}), ("[2; 1]", [1, 2])],
        *[("nothing", set()), (["b", "A_c"], {"a c", "B"}), ("a", ["a"])],
        *[(37, 37.2), ("37%", 37.2), ("37%", 0.372), ("37 %", "37%"), (0.37, "37%"), (0.4, 0.372)],
        *[("Yes", True), (True, "yes"), ("no, never", "no"), ("false", False)],
        *[("The Leader.", "leader"), ("weak_isr", "weak isr"), ("“never”", "never")],
    ],
)
def test_what_is_right_is_right_however_it_is_typed(guess, fact):
    assert predict("?", guess).settle(fact).passed


@pytest.mark.parametrize(
    ("guess", "fact"),
    [
        *[(True, 1), (1, True), ("yes", 1), (False, 0), (False, set()), ("no", 0)],
        *[("48", 49), ("between 40 and 49", 49), ("many", 49), ([4, 9], 49), (37.1, 37.2)],
        *[("a", {"a", "b"}), ("a, b, c", {"a", "b"}), ("replica 2", "replica 3"), ("", {"a"})],
        *[("3%", 37.2), ("yes", "no"), (490, 49), ("1,32", 132)],
    ],
)
def test_what_is_wrong_is_a_surprise(guess, fact):
    assert predict("?", guess).settle(fact).passed is False


@pytest.mark.parametrize(
    ("guess", "fact", "said"),
    [
        ("40", 49, "It is 9 too low."),
        (60, 49, "It is 11 too high."),
        (49, 1_960_000, "It is 40,000 times too low."),
        ("a, c", {"a", "b"}, "It lacks b, and c is not among them."),
        ("many", 49, "the run says 49. Because."),
    ],
)
def test_a_surprise_says_how_far_off_the_guess_was(guess, fact, said):
    assert said in predict("?", guess).settle(fact, "Because.").text


def test_who_chose_wrongly_is_told_why():
    text = predict("Can it?", "No", choices=YES_NO).settle("yes", "After a crash.").text
    assert text == "you predicted No, the run says yes. A crash is enough. After a crash."
    by_name = predict("How many?", 2, choices={2: "Each counts.", 3: ""}).settle(3)
    assert "Each counts." in by_name.text


def test_the_sentence_for_a_wrong_choice_may_stand_where_it_is_settled():
    wrong = {"yes": "A crash is enough."}
    asked = predict("Is it safe?", "yes", choices=["yes", "no"])
    assert asked.settle("no", wrong=wrong).text == (
        "you predicted yes, the run says no. A crash is enough."
    )
    assert predict("Is it safe?", "no").settle("no", wrong=wrong).text == "no."


def test_a_prediction_may_be_settled_by_an_exploration():
    found = shortest_path(logs.bind(), lambda s, c: s.logs[1].end_offset == 2)
    assert predict("After how many steps?", 2).settle(found).passed
    assert predict("After how many steps?", "Holds").settle(explore(logs.bind())).passed

    assert predict("After how many steps?", "never").settle(explore(logs.bind())).passed


def test_pictures_that_answer_are_folded_until_there_is_a_prediction():
    picture = HTML("<img alt='all is told'>")
    folded = predict("How many?").reveals(picture).data
    assert folded.startswith("<details><summary>What the run shows.")
    assert picture.data in folded
    assert predict("How many?", 49).reveals(picture) is picture
    assert predict("How many?").reveals("1 < 2").data.endswith(">1 &lt; 2</pre></details>")
    assert predict("How many?", 49).reveals(49).data.endswith(">49</pre>")


def test_source_code_that_answers_is_shown_as_code():
    revealed = predict("Who may?", "nobody").reveals(source(logs.actions[0].function)).data
    assert revealed.startswith("<pre ")
    assert f"def {logs.actions[0].name}(" in revealed
    assert "```" not in revealed


def test_without_a_prediction_the_answer_is_folded_away():
    feedback = predict("How many?").settle(49, "Seven times seven.")
    assert feedback.passed is None
    shown = feedback._repr_markdown_()
    assert shown.startswith("<details><summary>")
    assert "49. Seven times seven." in shown
    assert str(feedback) == "The run says: 49. Seven times seven."


def test_a_tag_in_a_judgement_stays_readable():
    shown = wrong("TypeError: <lambda>() takes 1, `a < b`")._repr_markdown_()
    assert shown == "> **✗ Not yet.** TypeError: &lt;lambda>() takes 1, `a < b`"


def test_the_text_form_says_what_can_be_answered():
    asked = predict("Can `it`?", choices=YES_NO)
    assert "“yes”, “no”" in asked._repr_markdown_()
    assert str(asked) == "Predict: Can `it`? (yes / no)"
    assert "you predict 49" in predict("How many?", 49)._repr_markdown_()


def test_the_page_is_told_the_answer_only_after_the_guess():
    asked = predict("Can it?", choices=YES_NO)
    field = PredictionField(asked)
    asked._field = field
    assert field.view["choices"] == ["yes", "no"]
    asked.settle("yes")
    assert (field.view["settled"], field.view["verdict"], field.view["guess"]) == (True, None, None)
    field._on_message(None, {"command": "commit", "guess": "no"})
    assert field.view["verdict"] == (
        "✗ A surprise: you predicted no, the run says yes. A crash is enough."
    )
    assert asked.settle("yes").passed is False
    assert field.view["told"]


def test_what_is_typed_is_committed_and_an_empty_field_is_not():
    asked = predict("How many?")
    field = PredictionField(asked)
    field._on_message(None, {"command": "commit", "guess": "  "})
    assert asked.guess is None
    field._on_message(None, {"command": "commit", "guess": " 49 "})
    assert asked.settle(49).passed


def test_two_reasons_for_a_yes_are_two_answers():
    assert is_same("no", "no: nobody asks")
    assert is_same("no: nobody asks", False)
    assert is_same("no: nobody asks", "no: nobody asks.")
    assert not is_same("no: all know", "no: nobody asks")
    assert not is_same("yes", "no: nobody asks")
