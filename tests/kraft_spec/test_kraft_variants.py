"""The variants that add to KIP-853: requests, resignations, identities, pre-votes."""

import pytest

from kraft_spec import constants
from kraft_spec.challenges import TWO_SERVERS
from kraft_spec.pre_vote.model import LEFT_OUT, Constants
from protocol_lab import HOLDS
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import evaluate, successors
from protocol_lab.traces.scenarios import play, scenario
from protocol_lab.traces.walk import Walk
from tests.spec_checks import agree, bind, walk

SPEC = "kraft.kip_853"
REQUESTS, END_QUORUM = f"{SPEC}_with_requests", f"{SPEC}_with_end_quorum_epoch"
EMPTY_DISKS, REPLACEMENT = f"{SPEC}_with_empty_disks", "kraft.kip_853_disk_replacement"
JOINING = {
    "init_cluster_size": 2,
    "min_cluster_size": 2,
    "max_cluster_size": 3,
    "hosts": 2,
    "max_spawned_servers": 3,
    "max_epoch": 1,
    "max_values_per_epoch": 0,
    "max_current_epoch": 1,
    "max_messages_in_flight": 2,
    "test_liveness": True,
    "first_fetch_fixed": True,
    "max_add_reconfigs": 1,
}


def steps_of(stem: str) -> list[str]:
    return [line.text for line in scenario(stem).lines if line.kind == "step"]


def refusal(model, row: bytes, step: str) -> str:
    return find_step(model, row, step).reason


def errors_on(stem: str) -> list[str]:
    """The errors of the answers to requests on a scenario's way, in their order."""
    played, found = play(scenario(stem)), []
    names = played.model.layout.fields["membership"].fields["join_responses"].fields["items"]
    names = names.item.fields["error"].names
    for moment in played.path:
        asked = view(played.model.layout, moment.row).membership
        for bag in (asked.join_responses, asked.remove_responses):
            found += [names[answer.error] for answer in bag]
    return [each for k, each in enumerate(found) if k == 0 or found[k - 1] != each]


# --- What they add -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [REQUESTS, END_QUORUM, EMPTY_DISKS, REPLACEMENT])
def test_each_leaves_the_original_as_it_is_where_it_does_nothing(spec):
    """The first states of each, without a request, a resignation or a lost disk: the same steps."""
    plain, added = bind(SPEC, **TWO_SERVERS), bind(spec, **TWO_SERVERS)
    steps = ["send_fetch_request(server=2, peer=1)", "client_request(server=1, value=1)"]
    for taken in range(3):
        ours, theirs = (
            {each.action.name for each in successors(model, walk(model, *steps[:taken]))}
            for model in (plain, added)
        )
        assert ours - theirs <= {"accept_remove_voter_request"}
        assert theirs - ours <= {"send_remove_request"}


@pytest.mark.parametrize("spec", [REQUESTS, END_QUORUM, EMPTY_DISKS, REPLACEMENT])
def test_its_own_actions_are_the_fair_ones(spec):
    """An action that a variant has replaced is assumed to be fair in its own version."""
    declared = bind(spec).spec
    functions = {each.name: each.function for each in declared.actions}
    for assumed in declared.fairness:
        assert [functions.get(each.__name__) for each in assumed.functions] == [*assumed.functions]


# --- Requests ------------------------------------------------------------------------------------


def test_every_error_of_the_document_is_answered():
    joins = errors_on("join_request_is_redirected")
    removals = errors_on("requests_to_remove_are_rejected")
    assert joins == ["not_leader", "leader_not_ready", "nil", "already_member"]
    assert removals == [
        "not_leader",
        "nil",
        "reconfig_in_progress",
        "unknown_member",
        "leader_not_ready",
    ]


def test_who_asks_the_wrong_server_turns_to_the_leader_or_looks_for_one():
    model = scenario("join_request_is_redirected").model()
    steps = steps_of("join_request_is_redirected")
    told = steps.index("handle_join_response(message=JoinResponse(dest=3))") + 1
    s = view(model.layout, walk(model, *steps[:told]))
    assert (s.leader[3], s.current_epoch[3], s.membership.asked[3]) == (2, 2, 0)
    # Had nobody been elected, the answer would name nobody.
    asked = steps.index("send_join_request(server=3, peer=1)")
    elected = steps.index("send_request_vote(server=2)")
    row = walk(
        model,
        *steps[:elected],
        "check_quorum_resign(server=1)",
        steps[asked],
        "reject_join_request(message=JoinRequest(source=3))",
        "handle_join_response(message=JoinResponse(dest=3))",
    )
    s = view(model.layout, row)
    assert (s.leader[3], s.state[3]) == (0, "unattached")
    assert refusal(model, row, "send_join_request(server=3, peer=1)")


def test_a_lost_request_is_sent_again():
    constants = scenario("join_request_is_redirected").constants
    model = bind(REQUESTS, **constants, max_connectivity_changes=2, max_disconnected_pairs=1)
    steps = steps_of("join_request_is_redirected")
    ask = "send_join_request(server=3, peer=1)"
    row = walk(model, *steps[: steps.index("send_request_vote(server=2)")], ask)
    assert "waits for an answer" in refusal(model, row, ask)
    cut = find_step(model, row, "change_network_connectivity(down={2})")  # the link of 1 and 3
    assert len(view(model.layout, cut.row).membership.join_requests) == 0
    assert find_step(model, cut.row, ask).taken


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "reached"), [(REQUESTS, "a_request_is_rejected"), (END_QUORUM, "a_successor_leads")]
)
def test_the_claims_hold(spec, reached):
    """Two servers, one removed, two epochs: on both engines as far as 1,000 states."""
    removing = bind(spec, **TWO_SERVERS, max_epoch=2, max_remove_reconfigs=1)
    assert agree(removing, max_states=1_000, progress=False).violated is None
    result = explore(removing, max_states=75_000, progress=False)
    assert result.violated is None
    assert reached not in result.never_reached


# --- Resignations --------------------------------------------------------------------------------


def test_without_the_word_a_follower_needs_more_steps():
    """The same story until the leader has gone: with the word one step, else four."""
    given = scenario("resigned_leader_says_so")
    steps = steps_of("resigned_leader_says_so")[:11]
    silent = bind(SPEC, **given.constants)
    row = walk(silent, *steps)
    stands = "send_request_vote(server=3)"
    for more in (
        "handle_fetch_response(message=FetchResponse(dest=3))",
        "send_fetch_request(server=3, peer=1)",
        "reject_fetch_request(message=FetchRequest(source=3))",
        "handle_fetch_response(message=FetchResponse(dest=3))",
    ):
        assert "no reason" in refusal(silent, row, stands)
        row = find_step(silent, row, more).row
    assert find_step(silent, row, stands).taken


# --- Identities ----------------------------------------------------------------------------------


def test_the_story_of_the_lost_disk_needs_the_ignored_identity():
    played = play(scenario("empty_server_votes"))
    [claim] = [
        each for each in played.model.spec.invariants if each.name == "leader_has_all_acked_values"
    ]
    assert evaluate(played.model, played.path[-1].row, claim.function)
    model, steps = scenario("empty_server_is_another").model(), steps_of("empty_server_votes")
    row = walk(model, *steps[:9])
    asked = view(model.layout, row).net_messages.vote_requests
    assert [each.dest for each in asked] == [1]
    [other] = [each for each in model.spec.invariants if each.name == claim.name]
    assert evaluate(model, row, other.function) == HOLDS


def test_a_lost_server_comes_back_once_and_as_another():
    model = scenario("empty_server_is_another").model()
    row = walk(model, "crash_lose_state(server=2)", "restart_without_state(server=2)")
    s = view(model.layout, row)
    assert (s.server_ids[4].host, s.server_ids[4].disk_id) == (2, 1)
    assert (s.server_ids[2].host, s.server_ids[2].disk_id) == (2, 0)
    twice = {**scenario("empty_server_is_another").constants, "max_empty_restarts": 2}
    again = bind(EMPTY_DISKS, **twice)
    row = walk(again, "crash_lose_state(server=2)", "restart_without_state(server=2)")
    assert "runs on its host" in refusal(again, row, "restart_without_state(server=2)")
    assert "has its disk" in refusal(again, row, "restart_without_state(server=1)")


@pytest.mark.slow
def test_with_ignored_identity_a_server_is_told_that_it_leads():
    """The shortest story: the leader comes back with nothing, and hears that it is the leader."""
    constants = {"max_crashes": 1, "max_disconnected_pairs": 1, "max_empty_restarts": 1}
    model = bind(
        EMPTY_DISKS, **TWO_SERVERS, **constants, identity_ignored=True, max_values_per_epoch=0
    )
    result = explore(model, engine="python", progress=False)
    assert result.violated == "no_illegal_state"
    lost = explore(model, engine="python", invariants=["a_lost_server_stays_lost"], progress=False)
    assert [each.action for each in lost.trace] == ["crash_lose_state", "restart_without_state"]


@pytest.mark.rarely
def test_who_asks_to_join_is_answered():
    """Weak fairness of the answers is enough; without it a request may lie for ever."""
    model = bind(REQUESTS, **JOINING)
    result = check_property(model, "join_requests_answered", progress=False)
    assert result.verdict == "holds"
    lazy = check_property(model, "join_requests_answered", fairness="none", progress=False)
    assert (lazy.verdict, lazy.stutters) == ("violated", True)


# --- Pre-vote ------------------------------------------------------------------------------------


PRE_VOTE = "kraft.kip_996"


def walked(stem: str, **changed) -> tuple[Walk, str]:
    """As far as a scenario's steps go with some constants changed, and why no further."""
    walk = Walk.begin(bind(PRE_VOTE, **(scenario(stem).constants | changed)))
    for step in steps_of(stem):
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
