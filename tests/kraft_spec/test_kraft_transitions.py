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
from kraft_spec.model import Entry, FetchResponse, RequestVoteRequest, pair
from protocol_lab import add, append
from tests.hand_made import HandMade, nodes


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
