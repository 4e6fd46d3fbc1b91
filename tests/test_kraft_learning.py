"""KRaft for learners: its challenges are solvable, its exercises know right answers from wrong."""

import pytest

from protocol_lab.challenges import challenges_of, par, progress, score, shortest

CHALLENGES = pytest.mark.parametrize(
    "challenge", challenges_of("kraft"), ids=lambda each: each.name
)


# --- Challenges --------------------------------------------------------------------------------


@CHALLENGES
def test_a_challenge_is_complete_and_not_met_at_its_start(challenge):
    walk = challenge.begin()
    assert not challenge.is_met(walk, walk.moment)
    assert len(challenge.hints) >= 2
    assert challenge.task.endswith(".")
    shown = progress(challenge, walk)
    assert (shown["steps"], shown["solved"], shown["points"]) == (0, False, 0)
    assert shown["on_course"]


@CHALLENGES
def test_par_is_the_length_of_a_way_that_can_be_taken(challenge):
    best = shortest(challenge)
    assert 4 <= par(challenge) <= 20
    walk = challenge.begin()
    for step in best.steps[len(walk.steps) :]:
        assert not challenge.is_met(walk, walk.moment)
        walk.take(step.text)
    assert challenge.is_met(walk, walk.moment)
    assert score(challenge, walk).points == 10


def test_pars():
    assert {each.name: par(each) for each in challenges_of("kraft")} == {
        "kraft_count_yourself": 4,
        "kraft_two_leaders_write": 6,
        "kraft_wait_in_vain": 6,
        "kraft_epoch_goes_back": 7,
        "kraft_outvote_the_log": 10,
        "kraft_retire_the_leader": 12,
        "kraft_vote_twice": 10,
    }
