"""The answer of a search by WebAssembly is a sentence that plain Python has confirmed."""

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model.transitions import initial, successors
from protocol_lab.page.searches import answer_of, expect_inside
from protocol_lab.traces.walk import Walk
from tests.toy_specs import counter, letters

TOLD = {"distinct": 12, "depth": 3, "seconds": 0.25, "violated": None, "path": None}


@pytest.mark.parametrize(
    ("state", "verdict", "words"),
    [
        ("COMPLETE", "holds", "Holds: 12 states were searched in 0.2 s"),
        ("GOING_ON", "undecided", "then it was stopped."),
        ("FULL", "undecided", "then more of them do not fit into the page."),
    ],
)
def test_every_end_has_its_sentence(state, verdict, words):
    answer = answer_of(counter.bind(), [], {**TOLD, "state": state})
    assert (answer.verdict, answer.steps) == (verdict, [])
    assert words in answer.text


def test_nothing_is_said_of_a_state_that_is_outside_the_constraint():
    """No state would be searched, and none of them breaks anything."""
    model = load("kafka.unclean_leader_election").bind(max_leader_epoch=1)
    (first,) = initial(model)
    expect_inside(model, first.row)
    walk = Walk.begin(model)
    walk.take("swap_preferred_leader(replica=2)")
    walk.take("preferred_leader_election()")
    with pytest.raises(LabError, match="Undecided: the leader epoch is beyond max_leader_epoch"):
        expect_inside(model, walk.row)


def test_a_fault_is_undecided_and_plain_python_says_where_it_is():
    model = letters.bind(slots=1, lossy=0)
    rows = [next(iter(initial(model))).row]
    with pytest.raises(EvaluationError) as stopped:
        rows.extend(first_steps(model, rows[-1]))
    told = {**TOLD, "state": "fault", "path": [each.hex() for each in rows]}
    answer = answer_of(model, [], told)
    assert answer.verdict == "undecided"
    assert str(stopped.value) in answer.text
    assert len(answer.steps) == len(rows) - 1


def first_steps(model, row):
    """The states along the first step of each, until one has no value."""
    while True:
        first, *_ = successors(model, row)
        row = first.row
        yield row


def test_what_plain_python_can_compute_is_undecided_in_compiled_code_alone():
    model = letters.bind()
    rows = [next(iter(initial(model))).row.hex()]
    told = {**TOLD, "state": "fault", "path": rows}
    said = answer_of(model, [], told).text
    assert "; in compiled code a number needs more than 64 bits, or a loop" in said
    assert said.endswith("has neither bound. That is after 0 steps from here.")
