"""Challenges are solvable, par is what the explorer finds, and the score follows from the walk;
fix-it exercises know right answers from wrong ones."""

import pytest

from kafka_spec.exercises import adversary
from protocol_lab import TAKEN, LabError
from protocol_lab.teaching import challenges as module
from protocol_lab.teaching.challenges import (
    FORBIDDEN,
    Challenge,
    Score,
    challenges_of,
    known_par,
    next_hint,
    par,
    progress,
    score,
    shortest,
)
from protocol_lab.teaching.exercises import repair
from tests.answers.kafka import OTHER_RIGHT
from tests.notebook_outputs import notebooks, read
from tests.spec_checks import packages
from tests.toy_specs import counter
from tests.work_units import one_in

ALL = [challenge for package in packages() for challenge in challenges_of(package)]
every = pytest.mark.parametrize("challenge", ALL, ids=lambda each: each.name)

PARS = {
    "acknowledge_an_entry": 6,
    "two_clients_have_a_ledger": 10,
    "pin_a_bookie": 5,
    "crash_once": 12,
    "lose_it_on_two_bookies": 16,
    "drop_an_entry": 12,
    "outrun_the_fence": 15,
    "lose_what_one_yes_would_save": 13,
    "begin_too_early": 20,
    "leave_an_entry_behind": 8,
    "cross_the_logs": 4,
    "commit_as_a_zombie": 7,
    "lose_a_message": 7,
    "abuse_an_old_request": 6,
    "commit_without_the_eligible": 5,
    "save_offset_1": 5,
    "lose_a_record": 9,
    "two_leaders_write": 6,
    "one_copy_is_enough": 5,
    "finish_the_story": 8,
    "truncate_a_committed_record": 11,
    "nobody_fails": 10,
    "outwit_the_first_try": 12,
    "lead_by_an_overruled_decision": 11,
    "lose_a_committed_message": 15,
    "lose_it_on_4_1": 19,
    "acknowledge_a_value": 6,
    "elect_the_third": 5,
    "make_logs_part": 5,
    "join_the_cluster": 11,
    "kraft_count_yourself": 4,
    "kraft_two_leaders_write": 6,
    "kraft_wait_in_vain": 6,
    "kraft_epoch_goes_back": 7,
    "kraft_outvote_the_log": 10,
    "kraft_retire_the_leader": 12,
    "kraft_vote_twice": 10,
    "kraft_use_the_window": 8,
    "kraft_replace_the_leader": 10,
    "one_message_for_three": 7,
    "receive_it_twice": 7,
    "bring_a_key_back": 8,
    "never_finish": 9,
    "leave_a_ledger_behind": 12,
    "pull_the_rug": 12,
    "delete_what_the_cursor_names": 7,
}
"""How many steps of one's own the shortest way takes."""

# --- The challenges of all protocols -------------------------------------------------------------


def test_there_are_three_challenges_a_protocol():
    assert all(len(challenges_of(package)) >= 3 for package in packages())
    assert sorted(each.name for each in ALL) == sorted(PARS)


def test_every_challenge_is_in_a_notebook():
    sources = "".join(cell.source for path in notebooks() for cell in read(path).cells)
    assert [name for name in PARS if f'challenge("{name}")' not in sources] == []


@pytest.mark.slow
@every
def test_a_challenge_is_complete_and_not_met_at_its_start(challenge):
    walk = challenge.begin()
    assert not challenge.is_met(walk, walk.moment)
    assert len(challenge.hints) >= 2
    assert challenge.task.endswith(".")
    shown = progress(challenge, walk)
    assert (shown["steps"], shown["solved"], shown["points"]) == (0, False, 0)


@pytest.mark.slow
@pytest.mark.parametrize("challenge", one_in(4, ALL), ids=lambda each: each.name)
def test_par_is_the_length_of_a_way_that_can_be_taken(challenge):
    best = shortest(challenge)
    assert par(challenge) == PARS[challenge.name]
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


def test_a_goal_that_nobody_reaches_has_no_par():
    challenge, walk = _walked(1, reach=None, breaks="never_to_three", constants={"limit": 2})
    assert par(challenge) is None
    assert next_hint(challenge, walk, ["one"]) == "The goal can't be reached from here: go back."


def test_the_points():
    assert Score(10, 0, True, 10).points == 10
    assert Score(9, 0, True, 10).points == 10
    assert Score(12, 1, True, 10).points == 7
    assert Score(40, 5, True, 10).points == 1
    assert Score(4, 1, False, 10).points == 0
    assert Score(4, 1, False, 10).at_most == 9
    assert Score(11, 1, False, 10).at_most == 7
    assert Score(3, 0, True, None).points is None


def test_undoing_costs_nothing_and_what_comes_after_the_goal_does_not_count():
    challenge, walk = _walked(2)
    par(challenge)
    walk.undo()
    assert progress(challenge, walk)["steps"] == 1
    for _ in range(4):
        walk.take("count()")
    shown = progress(challenge, walk)
    assert (shown["solved"], shown["steps"], shown["points"]) == (True, 4, 10)
    assert shown["shortest"] == ["count()"] * 4
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
    assert (shown["steps"], shown["solved"]) == (0, False)
    assert "given steps are not on this branch" in next_hint(challenge, walk, ["one"])


def test_hints_are_the_written_ones_and_then_the_next_step():
    challenge, walk = _walked(1)
    assert next_hint(challenge, walk, []) == "Count on."
    assert next_hint(challenge, walk, ["Count on."]) == (
        "On a shortest way from here, 3 steps long, the next is count()"
    )
    assert next_hint(challenge, walk, ["Count on."], stopped=lambda: True) is None
    for _ in range(3):
        walk.take("count()")
    assert next_hint(challenge, walk, ["Count on."]) == "The goal is reached already."


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
    """Par of one test is not known in the next, but for those of the kit, which take longer."""
    yield
    for each in [each for each in module._shortest if each not in ALL]:
        del module._shortest[each]


# --- Fix-it exercises ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_RIGHT)
def test_fixes_that_hold_pass_also_those_that_are_unlike_the_answer(name):
    task = getattr(adversary, name)
    for answer in OTHER_RIGHT[name]:
        feedback = task.check(answer)
        assert feedback.passed, feedback.text
        assert "progress is not broken" in feedback.text


def test_repair_judges_safety_and_progress():
    model = counter.bind(limit=3)

    def three_is_reached(s, c):
        """The counter reaches three."""
        return s.n == 3

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
