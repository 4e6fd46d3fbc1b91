"""KRaft's helper functions, one by one, on states that are made by hand.

What is expected is what the original's operators give on the same arguments.
"""

import pytest

from kraft_spec.actions.cluster import keeps_majority_with, keeps_majority_without
from kraft_spec.actions.elections import (
    has_reason_for_election,
    has_too_few_votes,
    is_free_to_vote,
    supports,
)
from kraft_spec.actions.replication import (
    adopt_last_config,
    commit_if_alone,
    commit_up_to,
    end_offset_for_epoch,
    fetch_error,
    has_failed_fetch,
    highest_common_offset,
    is_answer_to,
    is_held_by_quorum,
    is_where_logs_agree,
    learn_high_watermark,
    new_high_watermark,
)
from kraft_spec.actions.server_states import (
    enter,
    has_consistent_leader,
    is_handled_by_common_rules,
    maybe_handle_common_response,
    maybe_transition,
    step_down,
    transition_to_follower,
    transition_to_leader,
    transition_to_unattached,
    transition_to_voted,
)
from kraft_spec.model import (
    BeginQuorumEpochRequest,
    Correlation,
    Entry,
    FetchRequest,
    FetchResponse,
    RequestVoteRequest,
    RequestVoteResponse,
    crosses,
    is_connected,
    is_majority,
    pair,
    pairs_of,
    pairs_of_the_dead,
)
from kraft_spec.tlc.kip_853 import of_connectivity
from protocol_lab import NONE, add, append, truncate
from protocol_lab.model.node_sets import as_nodes
from tests.hand_made import HandMade, nodes
from tests.spec_checks import walk


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

# --- Transitions that Kafka forbids --------------------------------------------------------------


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


@pytest.mark.parametrize(("epoch", "vote"), [(2, 1), (3, 0)])
def test_with_the_fix_an_unattached_server_remembers_its_vote_in_its_own_epoch_only(epoch, vote):
    made = three("follower", 2, leader=1, vote=1, observer_vote_fixed=True)
    made.s.role[2] = "observer"
    transition_to_unattached(made.s, made.c, 2, epoch)
    assert made.s.voted_for[2] == vote


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


def test_who_wins_and_who_resigns_keeps_its_vote():
    made = three("candidate", 2, vote=2)
    made.s.votes_recv[2] = nodes(2, 3)
    transition_to_leader(made.s, made.c, 2)
    assert is_now(made.s, 2) == ("leader", 2, 2, 2)
    assert made.s.votes_recv[2] == 0
    step_down(made.s, made.c, 2)
    assert is_now(made.s, 2) == ("resigned", 2, 0, 2)


def test_a_leader_that_is_an_observer_becomes_unattached():
    made = three("leader", 2, leader=2, vote=2)
    made.s.role[2] = "observer"
    step_down(made.s, made.c, 2)
    assert is_now(made.s, 2) == ("unattached", 2, 0, 0)


# --- What a message says of the leader -----------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "state", "epoch", "expected"),
    [
        ("voter", "leader", 2, True),
        ("voter", "leader", 1, True),
        ("voter", "resigned", 2, True),
        ("voter", "resigned", 1, False),
        ("voter", "follower", 2, False),
        ("observer", "unattached", 2, True),
        ("observer", "unattached", 3, False),
    ],
)
def test_who_may_be_called_the_leader_itself(role, state, epoch, expected):
    made = three(state, 2)
    made.s.role[2] = role
    assert has_consistent_leader(made.s, 2, 2, epoch) == expected


@pytest.mark.parametrize(
    ("own", "leader", "epoch", "expected"),
    [
        (0, 3, 2, ("follower", 2, 3, 1)),  # news
        (1, 1, 2, ("follower", 2, 1, 1)),  # nothing new
        (1, 0, 2, ("follower", 2, 1, 1)),
        (1, 3, 2, ILLEGAL),  # two leaders in one epoch
        (1, 3, 3, ("follower", 3, 3, 0)),
        (1, 0, 3, ("unattached", 3, 0, 0)),
    ],
)
def test_what_a_server_becomes_that_hears_of_a_leader(own, leader, epoch, expected):
    state = "follower" if own else "voted"
    made = three(state, 2, leader=own, vote=1)
    maybe_transition(made.s, made.c, 2, leader, epoch)
    assert is_now(made.s, 2) == expected


@pytest.mark.parametrize(
    ("own", "epoch", "error", "leader", "is_handled", "expected"),
    [
        (1, 2, "nil", 1, False, None),
        (1, 2, "unknown_leader", 1, False, None),
        (1, 2, "fenced_leader_epoch", 1, True, None),
        (1, 2, "not_leader", 1, True, None),
        (1, 2, "not_leader", 3, True, ILLEGAL),
        (1, 2, "nil", 3, False, None),
        (0, 2, "nil", 3, True, ("follower", 2, 3, 2)),
        (0, 1, "nil", 3, True, None),  # of an earlier epoch: whatever it says
        (1, 1, "not_leader", 3, True, None),
        (1, 3, "nil", 3, True, ("follower", 3, 3, 0)),
    ],
)
def test_the_rules_that_all_responses_share(own, epoch, error, leader, is_handled, expected):
    """expected: what the server becomes; None if it stays what it is."""
    made = three("follower" if own else "candidate", 2, leader=own, vote=2)
    response = FetchResponse(source=1, dest=2, epoch=epoch, error=error, leader=leader)
    assert is_handled_by_common_rules(made.s, 2, response) == is_handled
    expected = expected or is_now(made.s, 2)
    maybe_handle_common_response(made.s, made.c, 2, response)
    assert is_now(made.s, 2) == expected


@pytest.mark.parametrize("candidate", [1, 3])
def test_who_has_voted_may_vote_for_the_same_candidate_only(candidate):
    for state in ("unattached", "voted"):
        assert is_free_to_vote(three(state, 2, vote=3).s, 2, candidate) == (candidate == 3)
    assert is_free_to_vote(three("unattached", 3).s, 2, candidate)
    assert not is_free_to_vote(three("follower", 2, leader=1, vote=3).s, 2, candidate)


def test_with_the_fix_only_who_stops_leading_fails_its_writes():
    made = three(resigned_writes_fixed=True)
    made.s.pending_ack[1] = nodes(1)
    enter(made.s, made.c, 1, "leader", 1, 1, 0)
    assert (made.s.inv_neg_acked, made.s.pending_ack[1]) == (0, nodes(1))
    step_down(made.s, made.c, 1)
    assert (made.s.inv_neg_acked, made.s.pending_ack[1]) == (nodes(1), 0)


# --- Fetches -------------------------------------------------------------------------------------


FETCH = {"epoch": 2, "fetch_offset": 4, "last_fetched_epoch": 1, "observer": True}


@pytest.mark.parametrize(
    "other",
    [
        {"source": 3},
        {"dest": 3},
        {"epoch": 1},
        {"fetch_offset": 3},
        {"last_fetched_epoch": 2},
        {"observer": False},
    ],
)
def test_a_response_answers_only_the_request_that_it_was_sent_for(other):
    response = FetchResponse(source=1, dest=2, correlation=Correlation(**FETCH))
    assert is_answer_to(response, FetchRequest(source=2, dest=1, **FETCH))
    assert not is_answer_to(response, FetchRequest(**{"source": 2, "dest": 1, **FETCH, **other}))


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
    ("members", "observer", "epoch", "expected"),
    [
        (nodes(1, 2, 3), False, 1, "nil"),
        (nodes(1, 2, 3), True, 1, "nil"),
        (nodes(1, 3), True, 1, "nil"),
        (nodes(1, 3), False, 1, "unknown_member"),
        (nodes(1, 2, 3), False, 0, "fenced_leader_epoch"),
        (nodes(1, 2, 3), False, 2, "unknown_leader"),
    ],
)
def test_the_error_of_a_fetch(members, observer, epoch, expected):
    made = hand_made(**THREE, fetch_outside_configuration="rejected")
    made.s.config[1].members = members
    fetch = FetchRequest(source=2, dest=1, epoch=epoch, observer=observer)
    assert fetch_error(made.s, made.c, fetch) == expected


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


# --- Logs ----------------------------------------------------------------------------------------


def with_log(*epochs: int):
    """Three servers; server 1 has a log with these epochs after the first entry."""
    made = hand_made(**THREE)
    for epoch in epochs:
        append(made.s.log[1], Entry(command="leader_change_record", epoch=epoch))
    return made


@pytest.mark.parametrize(
    ("end", "epoch", "expected"),
    [(4, 3, 4), (9, 3, 4), (4, 2, 3), (2, 2, 2), (1, 3, 3), (3, 0, 0)],
)
def test_the_highest_common_offset(end, epoch, expected):
    """Of a log with the epochs 1, 2, 2, 3: the epoch decides, then the offset."""
    assert highest_common_offset(with_log(2, 2, 3).s.log[1], end, epoch) == expected


@pytest.mark.parametrize(("epoch", "expected"), [(0, 0), (1, 1), (2, 3), (3, 4), (4, 4)])
def test_the_end_offset_for_an_epoch(epoch, expected):
    assert end_offset_for_epoch(with_log(2, 2, 3).s.log[1], epoch) == expected


@pytest.mark.parametrize(
    ("offset", "epoch", "expected"),
    [
        (3, 2, True),
        (4, 2, True),
        (5, 2, False),  # beyond the last entry of this epoch
        (5, 4, True),
        (2, 1, True),
        (3, 1, False),
        (3, 3, False),  # the log has no entry of this epoch
        (5, 5, False),
        (1, 0, True),  # an empty log
    ],
)
def test_where_the_logs_agree(offset, epoch, expected):
    """The leader's log has the epochs 1, 2, 2, 4."""
    fetch = FetchRequest(fetch_offset=offset, last_fetched_epoch=epoch)
    assert is_where_logs_agree(with_log(2, 2, 4).s.log[1], fetch) == expected


def test_a_majority_has_members_only():
    assert is_majority(as_nodes(nodes(1, 2)), as_nodes(nodes(1, 2, 3)))
    assert not is_majority(as_nodes(nodes(1)), as_nodes(nodes(1, 2)))
    assert not is_majority(as_nodes(nodes(1, 4)), as_nodes(nodes(1, 2, 3)))
    assert not is_majority(as_nodes(nodes(1, 2, 4)), as_nodes(nodes(1, 2, 3)))


def test_a_log_without_a_configuration_gives_none():
    made = hand_made(**THREE)
    truncate(made.s.log[2], 0)
    adopt_last_config(made.s, 2, 1)
    assert (made.s.config[2].id, made.s.config[2].members, made.s.config[2].committed) == (0, 0, 0)


def test_what_no_majority_holds_moves_no_high_watermark():
    """Leader 1 knows of no follower: of four, it alone holds even the first entry."""
    made = hand_made(**FOUR)
    for peer in (2, 3, 4):
        made.s.flwr_end_offset[1][peer] = 0
    assert new_high_watermark(made.s, made.c, 1) == 1
    made.s.flwr_end_offset[1][2] = 1
    assert not is_held_by_quorum(made.s, made.c, 1, 1)  # two of four
    made.s.flwr_end_offset[1][3] = 1
    assert is_held_by_quorum(made.s, made.c, 1, 1)


def test_only_a_leader_outside_of_its_configuration_is_counted_by_the_broken_rule():
    made = hand_made(**FOUR, removed_leader_counts_itself=True)
    for peer in (3, 4):
        made.s.flwr_end_offset[1][peer] = 0
    assert not is_held_by_quorum(made.s, made.c, 1, 1)  # itself and server 2, of four
    made.s.config[1].members = nodes(2, 3)
    assert is_held_by_quorum(made.s, made.c, 1, 1)  # server 2 of two, and itself on top


# --- Links and majorities ------------------------------------------------------------------------


def test_a_server_reaches_itself_and_no_link_connects_it_with_itself():
    made = hand_made(**THREE)
    made.s.net_connectivity = 0
    assert is_connected(made.s, 1, 1)
    assert not is_connected(made.s, 1, 2)
    every = as_nodes(nodes(1, 2, 3))
    for each in (1, 2, 3):
        assert not crosses(BeginQuorumEpochRequest(source=each, dest=each), every)
    link = as_nodes(nodes(pair(1, 3)))
    assert crosses(BeginQuorumEpochRequest(source=3, dest=1), link)
    assert not crosses(BeginQuorumEpochRequest(source=3, dest=2), link)


@pytest.mark.parametrize("dead", [1, 2, 3])
def test_the_links_of_the_dead_are_those_of_any_server(dead):
    made = hand_made(**THREE)
    made.s.state[dead] = "dead_no_state"
    assert pairs_of_the_dead(made.s, made.c) == pairs_of(made.c, dead)


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


@pytest.mark.parametrize(
    ("members", "votes", "expected"),
    [
        (nodes(1, 2, 3), nodes(2), True),
        (nodes(1, 2, 3), nodes(2, 3), False),
        (nodes(1, 2), nodes(2), True),
        (nodes(2), nodes(2), False),
    ],
)
def test_an_election_is_lost_without_a_majority(members, votes, expected):
    made = three("candidate", 2, vote=2)
    made.s.config[2].members, made.s.votes_recv[2] = members, votes
    assert has_too_few_votes(made.s, 2) == expected


TELL = "resend_begin_quorum_epoch_request(server=1, peer=2)"


def out_of_reach(**changes: int | str):
    """Leader 1 in epoch 2, and server 2, which it has not told so."""
    made = hand_made(**THREE, test_liveness=True)
    s = made.s
    s.current_epoch[1] = 2
    s.state[2], s.current_epoch[2], s.leader[2] = "voted", 2, 0
    for name, value in changes.items():
        getattr(s, name)[2] = value
    return made


@pytest.mark.parametrize("messages", ["net_messages", "net_messages_processed"])
def test_a_leader_announces_itself_to_a_member_only_once(messages):
    for source, dest, is_told in ((1, 3, False), (3, 2, False), (1, 2, True)):
        made = out_of_reach()
        told = BeginQuorumEpochRequest(source=source, dest=dest, epoch=2)
        add(getattr(made.s, messages).begin_quorum_requests, told)
        assert ("was told before" in made.refusal(TELL)) == is_told


@pytest.mark.parametrize(
    ("changes", "is_needed"),
    [
        ({}, True),
        ({"state": "follower"}, False),
        ({"state": "follower", "current_epoch": 1}, True),
        ({"current_epoch": 1}, True),
        ({"current_epoch": 3}, False),
    ],
)
def test_a_leader_announces_itself_again_to_who_does_not_follow(changes, is_needed):
    made = out_of_reach(**changes)
    if is_needed:
        after = made.after(TELL).net_messages.begin_quorum_requests
        assert [(each.dest, each.epoch) for each in after] == [(2, 2)]
    else:
        assert "the peer follows, or is in a later epoch" in made.refusal(TELL)


@pytest.mark.parametrize(
    ("role", "epoch", "is_up", "expected"),
    [
        ("voter", 1, True, True),
        ("voter", 0, True, True),
        ("voter", 2, True, False),
        ("observer", 2, True, True),
        (NONE, 0, True, False),
        ("voter", 1, False, False),
        ("observer", 1, False, False),
    ],
)
def test_who_would_fetch_from_a_leader(role, epoch, is_up, expected):
    made = hand_made(**THREE)
    s = made.s
    s.role[2], s.current_epoch[2] = role, epoch
    if not is_up:
        s.net_connectivity &= ~nodes(pair(1, 2))
    assert supports(s, 1, 2) == expected


@pytest.mark.parametrize(
    ("state", "votes_of_3", "expected"),
    [
        ("unattached", nodes(3), True),
        ("resigned", nodes(3), True),
        ("follower", nodes(3), False),  # it has no reason to believe that the leader is gone
        ("voted", nodes(3), True),  # its candidate has lost
        ("voted", nodes(1, 3), False),
    ],
)
def test_a_reason_for_an_election(state, votes_of_3, expected):
    made = three(state, 2, vote=3)
    s = made.s
    s.state[3], s.votes_recv[3] = "candidate", votes_of_3
    assert has_reason_for_election(s, made.c, 2) == expected
    s.state[2] = "candidate"
    s.votes_recv[2] = votes_of_3
    assert has_reason_for_election(s, made.c, 2) == (votes_of_3 == nodes(3))


@pytest.mark.parametrize("dead", [1, 2, 3])
def test_a_change_of_links_counts_once_for_each_link_of_the_dead(dead):
    made = hand_made(**THREE)
    links = pairs_of(made.c, dead)
    made.s.state[dead] = "dead_no_state"
    assert of_connectivity(made.s, made.c, links) == 2
    made.s.net_connectivity &= ~links
    assert of_connectivity(made.s, made.c, as_nodes(nodes(1, 2, 3))) == 2


# --- Rules within actions ------------------------------------------------------------------------


def test_with_the_fix_a_later_vote_request_is_answered_as_before():
    made = hand_made(**THREE, max_epoch=3, stale_vote_request_fixed=True)
    s = made.s
    add(s.net_messages.vote_requests, RequestVoteRequest(source=2, dest=3, **LAST))
    assert made.after("handle_vote_request(message=RequestVoteRequest(dest=3))").voted_for[3] == 2
    s.current_epoch[3], s.state[3], s.leader[3] = 3, "unattached", 0
    after = made.after("handle_vote_request(message=RequestVoteRequest(dest=3))")
    assert (after.current_epoch[3], after.state[3]) == (3, "unattached")


def test_a_vote_for_who_is_no_voter_any_more_stays_in_flight():
    made = three("candidate", 2, vote=2)
    s = made.s
    s.votes_recv[2] = nodes(2)
    add(s.net_messages.vote_responses, RequestVoteResponse(source=3, dest=2, epoch=2))
    hear = "handle_vote_response(message=RequestVoteResponse(dest=2))"
    assert made.refusal(hear) == ""
    s.role[2] = "observer"
    assert "not a voter" in made.refusal(hear)


def test_a_server_in_an_illegal_state_does_not_stand():
    made = three("illegal_state", 0)
    assert "illegal state" in made.refusal("send_request_vote(server=2)")


def test_a_leader_that_learns_of_a_later_leader_fails_its_writes():
    made = hand_made(**THREE, max_epoch=2)
    s = made.s
    s.pending_ack[1] = nodes(1)
    add(s.net_messages.begin_quorum_requests, BeginQuorumEpochRequest(source=2, dest=1, epoch=2))
    after = made.after("accept_begin_quorum_request(message=BeginQuorumEpochRequest(dest=1))")
    assert (after.state[1], after.leader[1]) == ("follower", 2)
    assert (after.pending_ack[1], after.inv_neg_acked) == (0, nodes(1))


def test_who_loses_its_disk_fails_its_writes():
    made = hand_made(**THREE, max_crashes=1, max_disconnected_pairs=2)
    made.s.pending_ack[1] = nodes(1)
    after = made.after("crash_lose_state(server=1)")
    assert (after.pending_ack[1], after.inv_neg_acked) == (0, nodes(1))


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


def test_a_leader_that_commits_its_own_removal_forgets_how_far_all_are():
    made = hand_made(**THREE, max_remove_reconfigs=1)
    step = "accept_remove_voter_request(server=1, remove_server=1)"
    made = HandMade(made.model, bytearray(walk(made.model, step)))
    s = made.s
    s.flwr_end_offset[1][2] = s.flwr_end_offset[1][3] = 2
    commit_up_to(s, made.c, 1, 2)
    assert (s.state[1], s.role[1], s.leader[1]) == ("unattached", "observer", NONE)
    assert (s.hwm[1], s.tracked[1]) == (0, 0)
    assert [s.flwr_end_offset[1][each] for each in (1, 2, 3)] == [0, 0, 0]


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


@pytest.mark.parametrize(("hwm", "is_possible"), [(1, False), (2, True)])
def test_a_single_voter_leads_where_the_original_moves_no_high_watermark(hwm, is_possible):
    """It demands that the high watermark is the end of the log, with the entry of the new epoch."""
    made = hand_made(init_cluster_size=1, max_cluster_size=1, max_spawned_servers=1)
    s = made.s
    s.state[1], s.current_epoch[1], s.votes_recv[1], s.hwm[1] = "candidate", 2, nodes(1), hwm
    assert (made.refusal("become_leader(server=1)") == "") == is_possible


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
