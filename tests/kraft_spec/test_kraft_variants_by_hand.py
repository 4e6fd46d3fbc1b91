"""The variants that add to KIP-853, rule by rule, on states that are made by hand."""

import pytest

from kraft_spec.kip_853_with_end_quorum_epoch import EndQuorumEpochRequest
from kraft_spec.kip_853_with_requests import JoinRequest, JoinResponse, RemoveRequest
from protocol_lab import NONE, add
from tests.hand_made import HandMade, nodes


def with_requests(**constants) -> HandMade:
    return HandMade.of("kraft.kip_853_with_requests", **constants)


def with_end_quorum_epoch(**constants) -> HandMade:
    return HandMade.of("kraft.kip_853_with_end_quorum_epoch", **constants)


THREE = {"init_cluster_size": 3, "max_spawned_servers": 3}


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
