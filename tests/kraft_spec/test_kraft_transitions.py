"""KRaft's rules that no count of TLC covers, on states that are made by hand.

They are transitions that never happen, the fixes that the kit adds, and sizes that no golden run
has.
"""

import pytest

from kraft_spec.actions.cluster import keeps_majority_with, keeps_majority_without
from kraft_spec.actions.replication import (
    commit_if_alone,
    commit_up_to,
    has_failed_fetch,
    is_held_by_quorum,
    learn_high_watermark,
)
from kraft_spec.actions.server_states import (
    enter,
    step_down,
    transition_to_follower,
    transition_to_unattached,
    transition_to_voted,
)
from kraft_spec.kip_853_with_end_quorum_epoch import EndQuorumEpochRequest
from kraft_spec.kip_853_with_requests import JoinRequest, JoinResponse, RemoveRequest
from kraft_spec.model import Entry, FetchResponse, RequestVoteRequest, pair
from protocol_lab import NONE, add, append
from tests.spec_checks import HandMade, nodes


def hand_made(**constants) -> HandMade:
    return HandMade.of("kraft.kip_853", **constants)


THREE = {"init_cluster_size": 3, "max_spawned_servers": 3}
FOUR = {"init_cluster_size": 4, "max_cluster_size": 4, "max_spawned_servers": 4, "hosts": 4}


def three(state: str = "follower", epoch: int = 2, leader: int = 0, vote: int = 0, **constants):
    """Three servers, of which server 2 is in this state."""
    made = hand_made(**THREE, **constants)
    s = made.s
    s.state[2], s.current_epoch[2], s.leader[2], s.voted_for[2] = state, epoch, leader, vote
    return made


LAST = {"epoch": 2, "last_log_epoch": 1, "last_log_offset": 1}
"""A candidate of epoch 2 with the initial log."""


# --- Transitions that Kafka forbids: no run should have one ---------------------------------------


def is_now(s, server: int) -> tuple:
    """What a transition decides about a server: state, epoch, leader and vote."""
    return s.state[server], s.current_epoch[server], s.leader[server], s.voted_for[server]


ILLEGAL = ("illegal_state", 0, 0, 0)


@pytest.mark.parametrize(
    ("state", "own", "epoch", "is_legal"),
    [
        ("unattached", 2, 2, True),
        ("follower", 1, 2, True),
        ("follower", 2, 2, False),
        ("voted", 2, 2, False),
    ],
)
def test_only_an_unattached_server_votes_in_its_own_epoch(state, own, epoch, is_legal):
    made = three(state, own)
    transition_to_voted(made.s, made.c, 2, epoch, 3)
    assert is_now(made.s, 2) == (("voted", epoch, 0, 3) if is_legal else ILLEGAL)


@pytest.mark.parametrize(
    ("role", "epoch", "is_legal"),
    [
        ("voter", 1, False),
        ("voter", 2, False),
        ("voter", 3, True),
        ("observer", 2, True),
        ("observer", 3, True),
    ],
)
def test_a_voter_becomes_unattached_only_in_a_later_epoch(role, epoch, is_legal):
    made = three("follower", 2, leader=1, vote=1)
    made.s.role[2] = role
    transition_to_unattached(made.s, made.c, 2, epoch)
    assert is_now(made.s, 2) == (("unattached", epoch, 0, 0) if is_legal else ILLEGAL)


@pytest.mark.parametrize(
    ("state", "leader", "epoch", "vote"),
    [
        ("unattached", 2, 2, None),  # itself
        ("unattached", 3, 1, None),  # of an earlier epoch
        ("follower", 3, 2, None),  # it follows another in this one
        ("leader", 3, 2, None),
        ("candidate", 3, 2, 1),  # it keeps its vote
        ("follower", 3, 3, 0),  # in a later epoch it forgets it
        ("leader", 3, 3, 0),
    ],
)
def test_a_server_follows_another_once_in_an_epoch(state, leader, epoch, vote):
    made = three(state, 2, vote=1)
    transition_to_follower(made.s, made.c, 2, leader, epoch)
    assert is_now(made.s, 2) == (ILLEGAL if vote is None else ("follower", epoch, leader, vote))


# --- Rules of the kit ----------------------------------------------------------------------------


@pytest.mark.parametrize(("epoch", "vote"), [(2, 1), (3, 0)])
def test_with_the_fix_an_unattached_server_remembers_its_vote_in_its_own_epoch_only(epoch, vote):
    made = three("follower", 2, leader=1, vote=1, observer_vote_fixed=True)
    made.s.role[2] = "observer"
    transition_to_unattached(made.s, made.c, 2, epoch)
    assert made.s.voted_for[2] == vote


def test_with_the_fix_only_who_stops_leading_fails_its_writes():
    made = three(resigned_writes_fixed=True)
    made.s.pending_ack[1] = nodes(1)
    enter(made.s, made.c, 1, "leader", 1, 1, 0)
    assert (made.s.inv_neg_acked, made.s.pending_ack[1]) == (0, nodes(1))
    step_down(made.s, made.c, 1)
    assert (made.s.inv_neg_acked, made.s.pending_ack[1]) == (nodes(1), 0)


@pytest.mark.parametrize(
    ("delays_only", "error", "peer", "expected"),
    [
        (False, "unknown_member", 1, True),
        (True, "unknown_member", 1, False),
        (True, "not_leader", 1, True),
        (False, "nil", 1, False),
        (False, "not_leader", 3, False),
    ],
)
def test_a_fetch_fails_by_an_error_of_the_leader(delays_only, error, peer, expected):
    made = three("follower", 1, leader=1, unknown_member_delays_only=delays_only)
    made.s.fetch_state[2].last_fetch_res.peer = peer
    made.s.fetch_state[2].last_fetch_res.error = error
    assert has_failed_fetch(made.s, made.c, 2) == expected


@pytest.mark.parametrize(
    ("fixed", "learned", "expected"),
    [(False, 1, 1), (False, 9, 9), (True, 1, 2), (True, 3, 3), (True, 9, 3)],
)
def test_with_the_fix_a_high_watermark_neither_falls_nor_is_beyond_the_log(
    fixed, learned, expected
):
    made = hand_made(**THREE, follower_hwm_fixed=fixed, log_slots=12)
    for _ in range(2):
        append(made.s.log[2], Entry(command="leader_change_record", epoch=1))
    made.s.hwm[2] = 2
    learn_high_watermark(made.s, made.c, 2, FetchResponse(result="ok", hwm=learned))
    assert made.s.hwm[2] == expected


def test_only_a_leader_outside_of_its_configuration_is_counted_by_the_broken_rule():
    made = hand_made(**FOUR, removed_leader_counts_itself=True)
    for peer in (3, 4):
        made.s.flwr_end_offset[1][peer] = 0
    assert not is_held_by_quorum(made.s, made.c, 1, 1)  # itself and server 2, of four
    made.s.config[1].members = nodes(2, 3)
    assert is_held_by_quorum(made.s, made.c, 1, 1)  # server 2 of two, and itself on top


# --- Links and majorities ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("down", "added", "expected"),
    [
        ((), True, True),
        (((1, 2),), True, True),  # 1, 3, and the new one: three of four
        (((1, 4),), True, True),  # three of four
        (((1, 2), (1, 3)), True, False),  # 1 and the new one: two of four
        (((1, 2), (1, 4)), True, False),
        (((2, 3), (2, 4)), True, True),  # only the leader's own links count
    ],
)
def test_the_majority_that_an_addition_needs(down, added, expected):
    made = hand_made(**THREE | {"max_spawned_servers": 4})
    made.s.net_connectivity &= ~nodes(*(pair(*each) for each in down))
    assert keeps_majority_with(made.s, 1, 4) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("members", "down", "observers", "relaxed", "expected"),
    [
        (nodes(1, 2, 3), (), (), False, True),  # 1 and 2 of three, without server 3
        (nodes(1, 2, 3), ((1, 2),), (), False, False),
        (nodes(1, 2, 3), ((1, 3),), (), False, True),
        (nodes(1, 2, 3), ((2, 3),), (), False, True),
        (nodes(1, 2, 3), (), (2,), False, False),  # a member that is no voter for itself
        (nodes(1, 3), (), (), False, False),  # one of two is not a majority
        (nodes(1, 3), (), (), True, True),  # but half of them
        (nodes(1, 2, 3), ((1, 2),), (), True, False),
    ],
)
def test_the_majority_that_a_removal_needs(members, down, observers, relaxed, expected):
    """Of server 3, by leader 1."""
    made = hand_made(**THREE, removal_guard_relaxed=relaxed)
    made.s.config[1].members = members
    made.s.net_connectivity &= ~nodes(*(pair(*each) for each in down))
    for each in observers:
        made.s.role[each] = "observer"
    assert keeps_majority_without(made.s, made.c, 1, 3) == expected


# --- Rules within actions ------------------------------------------------------------------------


def test_with_the_fix_a_later_vote_request_is_answered_as_before():
    made = hand_made(**THREE, max_epoch=3, stale_vote_request_fixed=True)
    s = made.s
    add(s.net_messages.vote_requests, RequestVoteRequest(source=2, dest=3, **LAST))
    assert made.after("handle_vote_request(message=RequestVoteRequest(dest=3))").voted_for[3] == 2
    s.current_epoch[3], s.state[3], s.leader[3] = 3, "unattached", 0
    after = made.after("handle_vote_request(message=RequestVoteRequest(dest=3))")
    assert (after.current_epoch[3], after.state[3]) == (3, "unattached")


def test_a_single_voter_commits_its_election_once_that_is_mended():
    fixed = {"single_voter_election_fixed": True, "single_voter_commit_fixed": True}
    made = hand_made(init_cluster_size=1, max_cluster_size=1, max_spawned_servers=1, **fixed)
    s = made.s
    s.state[1], s.current_epoch[1], s.votes_recv[1] = "candidate", 2, nodes(1)
    assert made.after("become_leader(server=1)").hwm[1] == 2


def test_a_removal_that_leaves_the_leader_alone_is_committed_at_once_if_that_is_mended():
    two = {"init_cluster_size": 2, "max_spawned_servers": 2, "max_remove_reconfigs": 1}
    remove = "accept_remove_voter_request(server=1, remove_server=2)"
    after = hand_made(**two).after(remove)
    assert (after.hwm[1], after.config[1].committed) == (1, 0)
    after = hand_made(**two, single_voter_commit_fixed=True).after(remove)
    assert (after.hwm[1], after.config[1].committed) == (2, 1)


@pytest.mark.parametrize("most", [2, 3])
def test_a_voter_is_added_only_below_max_cluster_size(most):
    made = hand_made(max_spawned_servers=3, max_cluster_size=most, max_add_reconfigs=1)
    made.s.server_ids[3].host = 3
    reason = made.refusal("accept_add_voter_request(server=1, add_server=3)")
    assert ("as many voters as max_cluster_size allows" in reason) == (most == 2)
    assert (reason == "") == (most == 3)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_leader_that_was_removed_and_added_again_resigns_if_it_commits_both(fixed):
    """The original asks whether one of the commands removed it, and not whether a later one added
    it: after a restart, which forgets the high watermark, it gives up as an observer."""
    made = hand_made(**THREE, old_removal_fixed=fixed)
    s = made.s
    s.state[2], s.leader[2], s.current_epoch[2], s.hwm[2] = "leader", 2, 2, 0
    for command, members in (("remove_voter_command", (1, 3)), ("add_voter_command", (1, 2, 3))):
        entry = Entry(command=command, epoch=1, id=2, server=2, members=nodes(*members))
        append(s.log[2], entry)
    s.hwm[2] = 2
    commit_up_to(s, made.c, 2, 3)
    assert (s.role[2], s.state[2], s.hwm[2]) == ("voter", "leader", 3)
    s.hwm[2] = 0
    commit_up_to(s, made.c, 2, 3)
    stays = ("voter", "leader", 3)
    assert (s.role[2], s.state[2], s.hwm[2]) == (stays if fixed else ("observer", "unattached", 0))
    assert s.config[2].members == nodes(1, 2, 3)
    if not fixed:
        assert "not a voter" in made.refusal("send_request_vote(server=2)")


def test_a_leader_that_is_no_member_any_more_resigns_with_the_fix_too():
    made = hand_made(**THREE, old_removal_fixed=True)
    s = made.s
    s.state[2], s.leader[2], s.current_epoch[2], s.hwm[2] = "leader", 2, 2, 1
    entry = Entry(command="remove_voter_command", epoch=2, id=2, server=2, members=nodes(1, 3))
    append(s.log[2], entry)
    s.config[2].members = entry.members
    commit_up_to(s, made.c, 2, 2)
    assert (s.role[2], s.state[2], s.hwm[2]) == ("observer", "unattached", 0)


def test_what_a_single_voter_has_committed_it_does_not_commit_again():
    made = hand_made(**THREE, single_voter_commit_fixed=True)
    s = made.s
    s.config[1].members = nodes(1)
    s.config[1].committed = False
    commit_if_alone(s, made.c, 1)  # the high watermark is at the end of the log
    assert (s.hwm[1], s.config[1].committed) == (1, 0)
    append(s.log[1], Entry(command="leader_change_record", epoch=1))
    commit_if_alone(s, made.c, 1)
    assert (s.hwm[1], s.config[1].committed) == (2, 1)


# --- The variants that add to KIP-853 ------------------------------------------------------------


def with_requests(**constants) -> HandMade:
    return HandMade.of("kraft.kip_853_with_requests", **constants)


def with_end_quorum_epoch(**constants) -> HandMade:
    return HandMade.of("kraft.kip_853_with_end_quorum_epoch", **constants)


# --- Requests to join ----------------------------------------------------------------------------


def with_observer(**constants) -> HandMade:
    """Two voters, of which server 1 leads; server 3 follows it as an observer."""
    made = with_requests(
        **{
            "init_cluster_size": 2,
            "max_spawned_servers": 3,
            "max_cluster_size": 3,
            "max_add_reconfigs": 1,
            "max_remove_reconfigs": 1,
            **constants,
        }
    )
    s = made.s
    s.server_ids[3].host = 3
    s.role[3], s.state[3], s.leader[3], s.current_epoch[3] = "observer", "follower", 1, 1
    s.config[3], s.log[3], s.hwm[3] = s.config[1], s.log[1], 1
    return made


HEAR = "handle_join_response(message=JoinResponse(dest=3))"


def answered(
    error: int = "not_leader", epoch: int = 2, leader: int = 2, source: int = 1
) -> HandMade:
    """The answer to server 3, which has asked server 1, is in flight; it waits for a fetch, too."""
    made = with_observer()
    s = made.s
    answer = JoinResponse(source=source, dest=3, epoch=epoch, leader=leader, error=error)
    add(s.membership.join_responses, answer)
    s.membership.asked[3] = 1
    s.fetch_state[3].pending_fetch.source = 3
    s.voted_for[3] = 2
    return made


def test_not_leader_turns_an_observer_to_the_leader_that_is_named():
    s = answered().after(HEAR)
    assert (s.state[3], s.leader[3], s.current_epoch[3]) == ("follower", 2, 2)
    assert (s.membership.asked[3], len(s.membership.join_responses)) == (NONE, 0)


def test_not_leader_without_a_leader_makes_an_observer_look_for_one():
    s = answered(leader=0).after(HEAR)
    assert (s.state[3], s.leader[3], s.current_epoch[3]) == ("unattached", 0, 2)
    assert s.fetch_state[3].pending_fetch.source == NONE
    # Also in its own epoch, in which it takes who resigned for the leader.
    s = answered(leader=0, epoch=1).after(HEAR)
    assert (s.state[3], s.leader[3], s.current_epoch[3]) == ("unattached", 0, 1)


def unchanged(made: HandMade, after) -> bool:
    """Is server 3 in the server state in which it was?"""
    names = ("role", "state", "leader", "current_epoch", "voted_for")
    return all(getattr(made.s, name)[3] == getattr(after, name)[3] for name in names)


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "nil"},
        {"error": "reconfig_in_progress"},
        {"epoch": 0, "leader": 0},  # of an earlier epoch
        {"epoch": 0},
        {"source": 2},  # it asked another
    ],
)
def test_no_other_answer_turns_it(answer):
    made = answered(**answer)
    s = made.after(HEAR)
    assert unchanged(made, s)
    assert s.membership.asked[3] == (1 if "source" in answer else NONE)


def test_who_is_a_voter_by_now_is_not_turned():
    made = answered()
    made.s.role[3] = "voter"
    assert unchanged(made, made.after(HEAR))


def test_an_answer_of_the_own_epoch_names_the_leader_too():
    made = answered(epoch=1, leader=2)
    s = made.s
    s.state[3], s.leader[3] = "unattached", NONE
    assert made.after(HEAR).leader[3] == 2


# --- Resignations --------------------------------------------------------------------------------


END = "accept_end_quorum_epoch_request(message=EndQuorumEpochRequest(dest=2))"


def ended(epoch: int = 1, **constants) -> HandMade:
    """Server 1 has announced to server 2 that it gives up; server 2 waits for a fetch."""
    made = with_end_quorum_epoch(**THREE, **{"max_epoch": 3, **constants})
    s = made.s
    s.state[1], s.leader[1], s.current_epoch[1] = "resigned", NONE, epoch
    add(s.end_quorum_requests, EndQuorumEpochRequest(source=1, dest=2, epoch=epoch))
    s.fetch_state[2].pending_fetch.source = 2
    s.pending_ack[2] = nodes(1)  # of an epoch in which it led
    return made


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_voter_that_hears_of_a_resignation_stands(epoch):
    s = ended(epoch).after(END)
    assert (s.state[2], s.current_epoch[2]) == ("candidate", epoch + 1)
    assert sorted(each.dest for each in list(s.net_messages.vote_requests)) == [1, 3]
    assert (s.inv_neg_acked, s.pending_ack[2]) == (nodes(1), 0)
    assert (s.fetch_state[2].pending_fetch.source, len(s.end_quorum_requests)) == (NONE, 0)


def test_a_voter_does_not_stand_beyond_max_epoch():
    assert "no later epoch is left" in ended(2, max_epoch=2).refusal(END)
    assert ended(1, max_epoch=2).refusal(END) == ""
    assert ended(2, max_epoch=2, test_liveness=True).refusal(END) == ""


@pytest.mark.parametrize(("role", "is_member"), [("observer", True), ("voter", False)])
def test_who_may_not_stand_learns_who_the_leader_was(role, is_member):
    """Also in the last epoch, in which no voter stands."""
    made = ended(2, max_epoch=2)
    made.s.role[2] = role
    made.s.config[2].members = nodes(1, 2, 3) if is_member else nodes(1, 3)
    s = made.after(END)
    assert (s.state[2], s.leader[2], s.current_epoch[2]) == ("follower", 1, 2)
    assert len(s.net_messages.vote_requests) == 0
    assert s.fetch_state[2].pending_fetch.source == NONE
    assert (s.inv_neg_acked, s.pending_ack[2]) == (nodes(1), 0)


@pytest.mark.parametrize(("state", "leader"), [("follower", 3), ("follower", 1), ("candidate", 0)])
def test_a_resignation_of_an_earlier_epoch_is_dropped(state, leader):
    made = ended(1, max_epoch=3)
    s = made.s
    s.state[2], s.leader[2], s.current_epoch[2] = state, leader, 2
    s = made.after(END)
    assert (s.state[2], s.leader[2], s.current_epoch[2]) == (state, leader, 2)
    assert (s.pending_ack[2], s.inv_neg_acked) == (nodes(1), 0)
    assert (s.fetch_state[2].pending_fetch.source, len(s.end_quorum_requests)) == (2, 0)


# --- What is lost --------------------------------------------------------------------------------


def test_a_server_that_restarts_has_asked_nobody():
    made = with_observer(max_restarts=1)
    made.s.membership.asked[3] = 1
    assert made.after("restart_with_state(server=3)").membership.asked[3] == NONE


def test_a_crash_loses_what_the_server_asked_and_was_asked():
    made = with_requests(**THREE, max_crashes=1, max_disconnected_pairs=2)
    s = made.s
    add(s.membership.remove_requests, RemoveRequest(dest=2, remove_server=3))
    add(s.membership.join_requests, JoinRequest(source=2, dest=1))
    add(s.membership.join_requests, JoinRequest(source=3, dest=1))
    s.membership.asked[2] = s.membership.asked[3] = 1
    after = made.after("crash_lose_state(server=2)").membership
    assert len(after.remove_requests) == 0
    assert [each.source for each in after.join_requests] == [3]
    assert (after.asked[2], after.asked[3]) == (NONE, 1)


LINKS = {"max_connectivity_changes": 1, "max_disconnected_pairs": 1}
CUT = "change_network_connectivity(down={2})"  # the link of servers 1 and 3


def sent(bag, kind) -> None:
    """Messages of one kind across the links of three servers."""
    for source, dest in ((1, 2), (1, 3), (3, 1), (2, 3)):
        add(bag, kind(source=source, dest=dest))


def test_announcements_are_lost_across_links_that_go_down():
    made = with_end_quorum_epoch(**THREE, **LINKS)
    sent(made.s.end_quorum_requests, EndQuorumEpochRequest)
    after = made.after(CUT).end_quorum_requests
    assert {(each.source, each.dest) for each in after} == {(1, 2), (2, 3)}


def test_announcements_are_lost_with_a_disk():
    made = with_end_quorum_epoch(**THREE, max_crashes=1, max_disconnected_pairs=2)
    sent(made.s.end_quorum_requests, EndQuorumEpochRequest)
    after = made.after("crash_lose_state(server=3)").end_quorum_requests
    assert [(each.source, each.dest) for each in after] == [(1, 2)]
