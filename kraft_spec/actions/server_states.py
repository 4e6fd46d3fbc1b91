"""The transitions between the server states: what a server becomes when it learns something.

Each returns a `NewState`, which `apply_state` writes; so an action can look at the result of a
transition before it decides. A transition that Kafka forbids gives the illegal state, which the
invariant no_illegal_state reports.

The states that one action can lead to:

    unattached   -> unattached, voted, candidate, follower
    voted        -> unattached, voted, candidate, follower
    candidate    -> unattached, voted, candidate, leader, follower
    leader       -> unattached, voted, resigned, follower
    resigned     -> unattached, voted, candidate, follower
    follower     -> unattached, voted, candidate, follower

Also, any voter may lose its disk (dead_no_state). The original's README lists the single
transitions of Kafka's QuorumState; one action may do several of them, as the README says: on a vote
request of a later epoch a server of any state becomes unattached, and then voted.
"""

from typing import NamedTuple

from kraft_spec.model.names import (
    CANDIDATE,
    FENCED_LEADER_EPOCH,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    NOT_LEADER,
    OBSERVER,
    RESIGNED,
    UNATTACHED,
    VOTED,
    VOTER,
)
from protocol_lab import NONE, only


class NewState(NamedTuple):
    """What a transition decides about a server."""

    state: int
    epoch: int
    leader: int
    votes_recv: int
    voted_for: int


def apply_state(s, c, server, new) -> None:
    """Make the server what a transition says."""
    if c.resigned_writes_fixed and s.state[server] == LEADER and new.state != LEADER:
        fail_pending_writes(s, server)
    s.state[server] = new.state
    s.current_epoch[server] = new.epoch
    s.leader[server] = new.leader
    s.votes_recv[server] = new.votes_recv
    s.voted_for[server] = new.voted_for


def fail_pending_writes(s, server) -> None:
    """The clients that wait for a write of this server to be committed are told that it failed."""
    s.inv_neg_acked = s.inv_neg_acked | s.pending_ack[server]
    s.pending_ack[server] = 0


def illegal():
    """A transition that must not happen."""
    return NewState(ILLEGAL_STATE, 0, NONE, 0, NONE)


def no_transition(s, server):
    """The server's state does not change."""
    return NewState(
        s.state[server],
        s.current_epoch[server],
        s.leader[server],
        s.votes_recv[server],
        s.voted_for[server],
    )


# --- One for each server state ------------------------------------------------------------------


def to_voted(before, epoch, candidate):
    """A server that was `before` has voted for the candidate in this epoch."""
    if before.epoch == epoch and before.state != UNATTACHED:
        return illegal()
    return NewState(VOTED, epoch, NONE, 0, candidate)


def to_unattached(s, c, server, epoch, role):
    """A voter learns of a later epoch but not of its leader, or an observer loses its leader.

    It forgets its vote; an observer even in its own epoch.
    """
    if role == VOTER and epoch <= s.current_epoch[server]:
        return illegal()
    remembers = c.observer_vote_fixed and epoch == s.current_epoch[server]
    return NewState(UNATTACHED, epoch, NONE, 0, s.voted_for[server] if remembers else NONE)


def to_follower(s, server, leader, epoch):
    """The server has learned who leads in this epoch; it forgets its vote if the epoch is new."""
    present = s.current_epoch[server]
    if leader == server or epoch < present:
        return illegal()
    if epoch == present and (s.state[server] == FOLLOWER or s.state[server] == LEADER):
        return illegal()
    kept = NONE if epoch > present else s.voted_for[server]
    return NewState(FOLLOWER, epoch, leader, 0, kept)


def to_leader(s, server):
    """A candidate has won; it keeps its vote."""
    if s.state[server] != CANDIDATE:
        return illegal()
    return NewState(LEADER, s.current_epoch[server], server, 0, s.voted_for[server])


def to_resigned(s, server):
    """A leader gives up; it keeps its vote."""
    if s.state[server] != LEADER:
        return illegal()
    return NewState(RESIGNED, s.current_epoch[server], NONE, 0, s.voted_for[server])


def to_candidate(s, server):
    """The server starts an election in the next epoch, and votes for itself."""
    return NewState(CANDIDATE, s.current_epoch[server] + 1, NONE, only(server), server)


# --- From what a message says ------------------------------------------------------------------


def has_consistent_leader(s, server, leader, epoch) -> bool:
    """Can this be the leader of this epoch, as far as the server knows?

    No conflict: others may still take a server for the leader that has resigned or was removed.
    """
    present = s.current_epoch[server]
    if leader == server:
        if present == epoch and (s.role[server] == OBSERVER or s.state[server] == RESIGNED):
            return True
        return s.state[server] == LEADER
    own = s.leader[server]
    return epoch != present or leader == NONE or own in (NONE, leader)


def is_news_of_leader(s, server, leader) -> bool:
    """Does a message name another server as the leader, to a server that knows none?"""
    return leader != NONE and s.leader[server] == NONE and leader != server


def maybe_transition(s, c, server, leader, epoch):
    """What a server becomes that hears of this leader (or NONE) in this epoch."""
    if not has_consistent_leader(s, server, leader, epoch):
        return illegal()
    if epoch > s.current_epoch[server]:
        if leader == NONE:
            return to_unattached(s, c, server, epoch, s.role[server])
        return to_follower(s, server, leader, epoch)
    if is_news_of_leader(s, server, leader):
        return to_follower(s, server, leader, epoch)
    return no_transition(s, server)


def is_handled_by_common_rules(s, server, message) -> bool:
    """Do the rules that all responses share handle this one, so that nothing else is done?

    They do if it is of an earlier or later epoch, says that its sender does not lead, or names a
    leader to a server that knows none.
    """
    return (
        message.epoch != s.current_epoch[server]
        or message.error == FENCED_LEADER_EPOCH
        or message.error == NOT_LEADER
        or is_news_of_leader(s, server, message.leader)
    )


def by_common_rules(s, c, server, message):
    """What a server becomes on a response by the rules that all responses share."""
    epoch, present = message.epoch, s.current_epoch[server]
    if epoch < present:
        return no_transition(s, server)
    error = message.error
    if epoch > present or error in (FENCED_LEADER_EPOCH, NOT_LEADER):
        return maybe_transition(s, c, server, message.leader, epoch)
    if is_news_of_leader(s, server, message.leader):
        return to_follower(s, server, message.leader, epoch)
    return no_transition(s, server)
