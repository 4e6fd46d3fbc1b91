"""KRaft with pre-vote: each rule that can be broken changes what happens."""

import pytest

from kraft_spec import constants
from kraft_spec.pre_vote.model import LEFT_OUT, Constants
from protocol_lab.model.step_text import find_step
from protocol_lab.traces.scenarios import read_scenario, scenarios_of
from protocol_lab.traces.walk import Walk
from tests.spec_checks import bind

SPEC = "kraft.kip_996"


def walked(stem: str, **changed) -> tuple[Walk, str]:
    """As far as a scenario's steps go with some constants changed, and why no further."""
    scenario = read_scenario(next(path for path in scenarios_of(SPEC) if path.stem == stem))
    walk = Walk.begin(bind(SPEC, **(scenario.constants | changed)))
    for step in (line.text for line in scenario.lines if line.kind == "step"):
        attempt = find_step(walk.model, walk.row, step)
        if not attempt.taken:
            return walk, attempt.reason
        walk.take(step)
    return walk, ""


def test_what_means_nothing_here_is_left_out():
    assert set(LEFT_OUT) <= set(constants.Constants._fields)
    kept = set(constants.Constants._fields) - set(LEFT_OUT)
    assert kept <= set(Constants._fields)
    assert not set(LEFT_OUT) & set(Constants._fields)


@pytest.mark.parametrize(("pre_vote_off", "epoch"), [(True, 2), (False, 1)])
def test_without_pre_vote_a_server_that_was_away_deposes_the_leader(pre_vote_off, epoch):
    walk, reason = walked("absent_server_deposes_the_leader", pre_vote_off=pre_vote_off)
    assert not reason
    assert walk.state.current_epoch[1] == epoch
    assert (walk.state.state[1] == "leader") == (not pre_vote_off)


def test_without_the_rule_of_the_fetch_a_contented_follower_grants():
    walk, reason = walked("contented_follower_grants")
    assert not reason
    assert walk.state.state[1] == "unattached"
    walk, reason = walked("contented_follower_grants", pre_vote_without_fetch_rule=False)
    assert reason == "answers are under way, and there is no majority yet"
    assert walk.state.state[1] == "leader"


def test_a_prospective_that_never_gives_up_does_not_come_back():
    walk, _ = walked("absent_server_asks_first")
    assert (walk.state.state[3], walk.state.leader[3]) == ("follower", 1)
    walk, reason = walked("absent_server_asks_first", prospective_never_gives_up=True)
    assert (walk.state.state[3], reason) == ("prospective", "there is no majority")


def test_the_window_needs_the_restart():
    walk, _ = walked("restart_window")
    assert walk.state.state[1] == "unattached"
    _, reason = walked("restart_window", max_restarts=0)
    assert reason == "no restart is left (max_restarts)"
