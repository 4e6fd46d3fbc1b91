"""KRaft: what its prose claims, which constants mend and break what, storage, and size."""

import re
from functools import cache
from itertools import pairwise

import pytest

from kraft_spec import pre_vote
from kraft_spec.actions import cluster, elections, replication, server_states
from kraft_spec.model import ServerState
from protocol_lab import HOLDS
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import evaluate
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from tests.spec_checks import bind, walk

SPEC = "kraft.kip_853"
TWO = {"init_cluster_size": 2, "max_cluster_size": 2, "hosts": 2, "max_spawned_servers": 2}
ONE = {"init_cluster_size": 1, "max_cluster_size": 1, "hosts": 1, "max_spawned_servers": 1}
REMOVING = {
    "init_cluster_size": 3,
    "max_spawned_servers": 3,
    "min_cluster_size": 2,
    "max_cluster_size": 3,
    "max_epoch": 1,
    "max_values_per_epoch": 0,
    "max_remove_reconfigs": 1,
    "test_liveness": True,
}


@cache
def explored(engine: str = "native", names: tuple[str, ...] = (), **constants) -> Result:
    model = bind(SPEC, **constants)
    return explore(model, engine=engine, invariants=list(names), progress=False)


def played(stem: str, **constants):
    """The walk of a scenario, with some constants changed and without its claims."""
    scenario = read_scenario(next(path for path in scenarios_of(SPEC) if path.stem == stem))
    steps = [line.text for line in scenario.lines if line.kind == "step"]
    model = bind(SPEC, **(scenario.constants | constants))
    return model, steps


def fails_at(stem: str, **constants) -> tuple[int, str]:
    """Which step of a scenario can't be taken with these constants, and why; (0, "") if all can."""
    model, steps = played(stem, **constants)
    for number in range(len(steps)):
        each = find_step(model, walk(model, *steps[:number]), steps[number])
        if not each.taken:
            return number + 1, each.reason
    return 0, ""


# --- Size --------------------------------------------------------------------------------------


def test_a_state_of_three_servers_takes_at_most_1_kb():
    layout = bind(SPEC, init_cluster_size=3, max_spawned_servers=3).layout
    assert layout.size <= 1024
    messages = sum(layout.fields[name].size for name in ("net_messages", "net_messages_processed"))
    others = layout.size - messages - layout.fields["log"].size - layout.fields["fetch_state"].size
    told = (layout.size, messages, layout.fields["log"].size, layout.fields["fetch_state"].size)
    assert (*told, others) == (936, 734, 111, 24, 67)  # 6 of them fill the last word


# --- Defects of the original, and what mends them ------------------------------------------------


@pytest.mark.rarely
@pytest.mark.parametrize(
    ("constants", "fix", "name"),
    [
        (
            {**TWO, "max_epoch": 3, "max_values_per_epoch": 0},
            "stale_vote_request_fixed",
            "epoch_monotone",
        ),
        (
            {**TWO, "max_epoch": 2, "max_values_per_epoch": 0, "max_remove_reconfigs": 1},
            "observer_vote_fixed",
            "one_vote_in_an_epoch",
        ),
        ({**TWO, "max_epoch": 2}, "follower_hwm_fixed", "hwm_monotone"),
    ],
)
def test_a_fix_mends_the_property(constants, fix, name):
    assert explored(names=(name,), **constants).violated == name
    assert explored(names=(name,), **constants, **{fix: True}).verdict == "holds"


def test_the_fixes_stop_what_the_scenarios_show():
    assert fails_at("stale_vote_request_two_leaders", stale_vote_request_fixed=True)[0] == 13
    assert fails_at("observer_votes_twice", observer_vote_fixed=True)[0] == 15
    model, steps = played("removed_leader_cannot_restart", observer_vote_fixed=True)
    assert walk(model, *steps, "restart_with_state(server=2)")
    model, steps = played("single_voter_has_no_leader", single_voter_election_fixed=True)
    assert walk(model, *steps[:2], "become_leader(server=1)")
    model, steps = played("first_fetch_is_never_taken", first_fetch_fixed=True)
    assert walk(model, *steps[:2], "handle_fetch_response(message=FetchResponse(source=1))")
    model, steps = played("voter_resigns_by_an_old_removal", old_removal_fixed=True)
    assert view(model.layout, walk(model, *steps)).state[3] == "leader"


def told(constants: dict, *steps: str) -> tuple[set, set]:
    """The values of which clients were told that they are committed, and that they failed."""
    model = bind(SPEC, **constants)
    state = plain(view(model.layout, walk(model, *steps)))
    return state["inv_pos_acked"], state["inv_neg_acked"]


def test_a_leader_alone_tells_its_client_once_that_is_mended():
    steps = ["client_request(server=1, value=1)", "restart_with_state(server=1)"]
    alone = {**ONE, "max_restarts": 1}
    assert told(alone, *steps) == (set(), {1})
    assert told(alone | {"single_voter_commit_fixed": True}, *steps) == ({1}, set())


def test_a_leader_that_resigns_tells_its_client_once_that_is_mended():
    steps = ["client_request(server=1, value=1)", "check_quorum_resign(server=1)"]
    assert told({}, *steps) == (set(), set())
    assert told({"resigned_writes_fixed": True}, *steps) == (set(), {1})


# --- Figures in the docstrings --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "rule"),
    [
        ("observer_votes_twice", server_states.transition_to_unattached),
        ("vote_without_log_check", elections.is_log_good_enough),
        ("stale_vote_request_epoch_goes_back", elections.handle_vote_request),
        ("removed_leader_counts_itself", replication.is_held_by_quorum),
        ("hwm_over_earlier_epoch", replication.new_high_watermark),
        ("reconfigure_before_own_commit", cluster.reconfiguration_error),
    ],
)
def test_a_rule_says_how_long_its_counterexample_is(stem, rule):
    """The docstring has the number of states of the scenario, which `test_every_spec` plays."""
    _, steps = played(stem)
    assert f"{len(steps) + 1} states" in " ".join(rule.__doc__.split())


# --- Broken variants ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stem", "constant"),
    [
        ("reconfigure_before_own_commit", "reconfigure_before_own_commit"),
        ("hwm_over_earlier_epoch", "hwm_over_earlier_epoch"),
        ("vote_without_log_check", "vote_without_log_check"),
        ("removed_leader_counts_itself", "removed_leader_counts_itself"),
    ],
)
def test_what_is_broken_needs_its_constant(stem, constant):
    """Without it the story stops, or ends with nothing lost."""
    scenario = read_scenario(next(path for path in scenarios_of(SPEC) if path.stem == stem))
    [broken] = [line.text for line in scenario.lines if line.kind == "violates"]
    assert play(scenario).moment.depth == sum(line.kind == "step" for line in scenario.lines) + 1
    if fails_at(stem, **{constant: False}) == (0, ""):
        model, steps = played(stem, **{constant: False})
        row = walk(model, *steps)
        [function] = [each.function for each in model.spec.invariants if each.name == broken]
        assert evaluate(model, row, function) == HOLDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constants", "figures"),
    [({}, (156, 381, 18)), ({"fetch_outside_configuration": "accepted"}, (676, 1_461, 27))],
)
def test_figures_of_the_liveness_model(constants, figures):
    """TLC's, for the removal of server 3; see the golden runs with fairness for the verdicts."""
    model = bind(SPEC, **REMOVING, max_current_epoch=1, **constants)
    only_server_3 = "s.config[1].members == 14 or s.config[1].members == 6"
    result = explore(
        model, invariants=[], constraint=only_server_3, engine="python", progress=False
    )
    assert (result.distinct, result.generated, result.depth) == figures


# --- Server states -----------------------------------------------------------------------------


def listed_transitions(model) -> set[tuple[str, str]]:
    """The table in the docstring of the spec's `server_states`, and the loss of a disk.

    Without pre-vote whoever would be prospective is a candidate.
    """
    is_996 = model.spec.name == "kraft.kip_996"
    table = (pre_vote.server_states if is_996 else server_states).__doc__
    rows = re.findall(r"^    (\w+) +-> (.+)$", table, re.MULTILINE)
    listed = {(before, after) for before, row in rows for after in row.split(", ")}
    if getattr(model.constants, "pre_vote_off", False):
        listed |= {(before, "candidate") for before, after in listed if after == "prospective"}
    return listed | {(before, "dead_no_state") for before, _ in rows}


def transitions(walked) -> set[tuple[str, str]]:
    """The server states that follow each other on a walk."""
    layout = walked.model.layout
    servers = range(1, walked.model.constants.max_spawned_servers + 1)
    states = [view(layout, moment.row) for moment in walked.path]
    return {
        (ServerState.names[before.state[server]], ServerState.names[after.state[server]])
        for before, after in pairwise(states)
        for server in servers
        if before.state[server] != after.state[server]
        or before.current_epoch[server] != after.current_epoch[server]
        if ServerState.names[before.state[server]] not in ("nil", "dead_no_state")
    }


@pytest.mark.slow
def test_the_table_of_server_states_lists_every_transition_of_the_scenarios():
    seen = set()
    for path in scenarios_of("kraft"):
        walked = play(read_scenario(path))
        taken = transitions(walked)
        assert taken <= listed_transitions(walked.model), path.stem
        seen |= taken
    assert {("unattached", "voted"), ("voted", "voted"), ("leader", "voted")} <= seen
