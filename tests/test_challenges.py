"""Challenges are solvable, par is what the explorer finds, and the score follows from the walk;
fix-it exercises know right answers from wrong ones; situations are reachable, or said not to be."""

from dataclasses import replace

import pytest

from kafka_spec.exercises import adversary
from protocol_lab import HOLDS, TAKEN, LabError
from protocol_lab import challenges as module
from protocol_lab.catalog import load, spec_names
from protocol_lab.challenges import (
    FORBIDDEN,
    Challenge,
    Score,
    challenge_named,
    challenges_of,
    known_par,
    next_hint,
    par,
    progress,
    score,
    shortest,
)
from protocol_lab.declaring.spec import Property
from protocol_lab.exercises import repair, run
from tests.answers.adversary import OTHER_RIGHT, WRONG
from tests.toy_specs import counter, letters

ALL = challenges_of("kafka")

# --- Kafka's challenges ------------------------------------------------------------------------


def test_there_are_challenges_over_several_specs():
    assert len(ALL) >= 4
    assert len({each.spec_name for each in ALL}) >= 4
    assert len({each.name for each in ALL}) == len(ALL)
    assert [each.name for each in challenges_of("kafka.kip_101")] == ["truncate_a_committed_record"]
    assert challenges_of("toy.counter") == []
    assert challenge_named("lose_a_committed_message").spec_name == "kafka.unclean_leader_election"
    with pytest.raises(LabError, match=r"no challenge 'win'; there are: .*two_leaders_write"):
        challenge_named("win")


@pytest.mark.parametrize("challenge", ALL, ids=lambda each: each.name)
def test_a_challenge_is_complete_and_not_met_at_its_start(challenge):
    walk = challenge.begin()
    assert not challenge.is_met(walk, walk.moment)
    assert len(challenge.hints) >= 2
    assert challenge.task.endswith(".")
    shown = progress(challenge, walk)
    assert (shown["steps"], shown["solved"], shown["points"]) == (0, False, 0)
    assert shown["on_course"]


@pytest.mark.slow
@pytest.mark.parametrize("challenge", ALL, ids=lambda each: each.name)
def test_par_is_the_length_of_a_way_that_can_be_taken(challenge):
    best = shortest(challenge)
    assert 4 <= par(challenge) <= 20
    walk = challenge.begin()
    given = len(walk.steps)
    for step in best.steps[given:]:
        assert not challenge.is_met(walk, walk.moment)
        walk.take(step.text)
    assert challenge.is_met(walk, walk.moment)
    assert score(challenge, walk).points == 10


# --- Par, hints and the score --------------------------------------------------------------------


def at_four(s, c):
    """The counter is at four."""
    return s.n == 4


def nobody_writes(s, c):
    """All values are sent."""
    return s.next_value >= c.values


def _count(n, **more):
    return Challenge("to_four", "To four", "Count.", counter, hints=["Count on."], **more), n


def _walked(steps, **more):
    challenge, _ = _count(steps, **{"reach": at_four, **more})
    walk = challenge.begin()
    for _ in range(steps):
        walk.take("count()")
    return challenge, walk


def test_par_is_searched_for_once_and_only_when_asked():
    challenge, walk = _walked(0)
    assert known_par(challenge) is None
    assert progress(challenge, walk)["at_most"] is None
    assert par(challenge) == 4
    assert known_par(challenge) == 4
    assert [step.text for step in shortest(challenge).steps] == ["count()"] * 4


def test_a_search_for_par_can_be_stopped():
    challenge, _ = _walked(0)
    assert par(challenge, stopped=lambda: True) is None
    assert known_par(challenge) is None


def test_a_goal_that_nobody_reaches_has_no_par():
    challenge, walk = _walked(1, reach=None, breaks="never_to_three", constants={"limit": 2})
    assert par(challenge) is None
    assert next_hint(challenge, walk, ["one"]) == "No way leads from here to the goal: go back."


def test_a_step_invariant_may_be_the_goal():
    challenge, walk = _walked(3, reach=None, breaks="never_to_three")
    assert challenge.is_met(walk, walk.moment)
    assert par(challenge) == 3


def test_the_points():
    assert Score(10, 0, True, 10).points == 10
    assert Score(9, 0, True, 10).points == 10
    assert Score(12, 1, True, 10).points == 7
    assert Score(40, 5, True, 10).points == 1
    assert Score(4, 1, False, 10).points == 0
    assert Score(4, 1, False, 10).at_most == 9
    assert Score(11, 1, False, 10).at_most == 7
    assert Score(3, 0, True, None).points is None
    assert str(Score(1, 0, False, 4)) == "1 step so far; par is 4. Up to 10 points."
    assert str(Score(5, 1, True, 4)) == "Solved in 5 steps; par is 4, 1 hint taken: 8 points."


def test_undoing_costs_nothing_and_what_comes_after_the_goal_does_not_count():
    challenge, walk = _walked(2)
    par(challenge)
    walk.undo()
    assert progress(challenge, walk)["steps"] == 1
    for _ in range(4):
        walk.take("count()")
    shown = progress(challenge, walk)
    assert (shown["solved"], shown["steps"], shown["points"]) == (True, 4, 10)
    assert shown["mine"] == shown["shortest"] == ["count()"] * 4
    walk.first()
    assert progress(challenge, walk)["solved"]  # the best branch counts, wherever one stands


def test_given_steps_do_not_count_and_are_missed_if_undone():
    challenge, walk = _walked(0, given="count()  # one\ncount()  # two\n")
    assert [moment.caption for moment in walk.path] == ["", "one", "two"]
    assert par(challenge) == 2
    walk.take("count()")
    assert progress(challenge, walk)["steps"] == 1
    walk.first()
    shown = progress(challenge, walk)
    assert (shown["steps"], shown["on_course"], shown["solved"]) == (0, False, False)
    assert "given steps are not on this branch" in next_hint(challenge, walk, ["one"])


def test_the_given_steps_may_choose_an_initial_state():
    challenge = Challenge("go", "Go", "Go.", letters, reach=nobody_writes, given="init(first=1)")
    assert challenge.begin().state.next_value == 1
    assert challenge.given_steps == []


def test_hints_are_the_written_ones_and_then_the_next_step():
    challenge, walk = _walked(1)
    assert next_hint(challenge, walk, []) == "Count on."
    assert next_hint(challenge, walk, ["Count on."]) == (
        "On a shortest way from here, 3 steps long, the next is count()"
    )
    assert next_hint(challenge, walk, ["Count on."], stopped=lambda: True) is None
    for _ in range(3):
        walk.take("count()")
    assert next_hint(challenge, walk, ["Count on."]) == "You are there: the goal is reached."


def test_a_forbidden_action_is_there_and_refuses_in_every_engine():
    challenge, walk = _walked(0, forbidden=["count"])
    (only,) = walk.attempts()
    assert only.reason == FORBIDDEN
    assert par(challenge) is None
    with pytest.raises(LabError, match="no action 'jump'"):
        _walked(0, forbidden=["jump"])


def test_a_challenge_has_one_goal_that_is_known():
    with pytest.raises(LabError, match="needs one goal"):
        _count(0)
    with pytest.raises(LabError, match="no invariant 'nonsense'"):
        _walked(0, reach=None, breaks="nonsense")


@pytest.fixture(autouse=True)
def forgotten():
    """Par of one test is not known in the next, but for Kafka's, which take longer."""
    yield
    for each in [each for each in module._shortest if each not in ALL]:
        del module._shortest[each]


# --- Fix-it exercises ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_fixes_that_hold_pass_also_those_that_are_unlike_the_answer(name):
    task = getattr(adversary, name)
    for answer in [task.answer, *OTHER_RIGHT[name]]:
        feedback = task.check(answer)
        assert feedback.passed, feedback.text
        assert "progress is not broken" in feedback.text


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_fixes_that_forbid_too_much_or_too_little_are_told_so(name):
    for answer, told in WRONG[name]:
        feedback = getattr(adversary, name).check(answer)
        assert feedback.passed is False
        assert told in feedback.text, (answer.__name__, feedback.text)


def test_repair_judges_safety_and_progress():
    model = counter.bind(limit=3)

    def three_is_reached(s, c):
        """The counter reaches three."""
        return HOLDS if s.n == 3 else "not yet"

    def leap(s, c):
        if s.n > 0:
            return "once is enough"
        s.n += 1
        return TAKEN

    def jump(s, c):
        if s.n >= 3:
            return "that is enough"
        s.n += 1 if s.n != 1 else 2
        return TAKEN

    safe = {"invariants": ["never_to_three"]}
    assert "breaks after 2 steps: " in repair(model, "count", jump, **safe).text
    assert repair(model, "count", leap, **safe).passed
    told = repair(model, "count", leap, invariants=[], must_reach=[three_is_reached])
    assert told.passed is False
    assert "never: the counter reaches three" in told.text


# --- Situations ----------------------------------------------------------------------------------

UNREACHABLE = {
    "kafka.async_isr": ["the_leader_does_not_count_a_member"],
    "kafka.kip_101": ["two_replicas_lead_in_one_epoch"],
    "kafka.kip_279": ["two_replicas_lead_in_one_epoch"],
    "kafka.kip_320": [
        "two_replicas_lead_in_one_epoch",
        "the_elected_leader_lacks_a_committed_record",
    ],
    "kafka.kip_320_first_try": [
        "two_replicas_lead_in_one_epoch",
        "the_elected_leader_lacks_a_committed_record",
    ],
    "kafka.truncate_to_high_watermark": ["two_replicas_lead_in_one_epoch"],
}
"""The situations that exist in no state of the default configuration: all others do."""


def _reached(situation):
    function = situation.function

    def reached(s, c):
        return HOLDS if function(s, c) else "it is not so"

    reached.__name__ = situation.name
    return reached


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("kafka.id_sequence",) else pytest.mark.slow)
        for name in spec_names()
        if name.startswith("kafka.")
    ],
)
def test_situations_can_be_reached_or_are_known_not_to_be(name):
    spec = load(name)
    assert len(spec.situations) >= 2
    assert all(each.label and not each.label.endswith(".") for each in spec.situations)
    asked = [Property(_reached(each)) for each in spec.situations]
    found = run(replace(spec, sometimes_properties=asked).bind(), invariants=[])
    assert found.exhaustive
    assert found.never_reached == UNREACHABLE.get(name, [])
