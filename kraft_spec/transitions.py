"""What a server becomes when it learns something: the transitions between the server states.

Each gives a `NewState`, which `apply_state` writes; so an action can look at what a server would
become before it decides. A transition that Kafka forbids gives the illegal state, and the
invariant no_illegal_state shows how it came about.

    unattached   -> voted, candidate, follower
    voted        -> unattached, candidate, follower
    candidate    -> unattached, candidate, follower, leader
    leader       -> unattached, follower, resigned
    resigned     -> unattached, voted, candidate, follower
    follower     -> unattached, candidate, follower
"""

from typing import NamedTuple

from kraft_spec.types import (
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
    """Make the server what a transition says.

    A leader that steps down leaves its clients without an answer: the defect that
    resigned_writes_fixed mends.
    """
    if c.resigned_writes_fixed and s.state[server] == LEADER and new.state != LEADER:
        fail_pending_writes(s, server)
    s.state[server] = new.state
    s.current_epoch[server] = new.epoch
    s.leader[server] = new.leader
    s.votes_recv[server] = new.votes_recv
    s.voted_for[server] = new.voted_for


def fail_pending_writes(s, server) -> None:
    """Whoever waits for a write to be committed is told that it has failed."""
    s.inv_neg_acked = s.inv_neg_acked | s.pending_ack[server]
    s.pending_ack[server] = 0


def illegal():
    """A transition that must not happen."""
    return NewState(ILLEGAL_STATE, 0, NONE, 0, NONE)


def no_transition(s, server):
    """The server stays what it is."""
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
    """A voter learns of a later epoch and not who leads in it; or an observer loses its leader.

    In its own epoch, too, an observer forgets whom it voted for, and may vote again: the defect
    that observer_vote_fixed mends.
    """
    if role == VOTER and epoch <= s.current_epoch[server]:
        return illegal()
    kept = s.voted_for[server]
    if not c.observer_vote_fixed or epoch != s.current_epoch[server]:
        kept = NONE
    return NewState(UNATTACHED, epoch, NONE, 0, kept)


def to_follower(s, server, leader, epoch):
    """The server has learned who leads in this epoch; a vote is forgotten if the epoch is new."""
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
    """A leader abdicates; it keeps its vote."""
    if s.state[server] != LEADER:
        return illegal()
    return NewState(RESIGNED, s.current_epoch[server], NONE, 0, s.voted_for[server])


def to_candidate(s, server):
    """The server starts an election in the next epoch, and votes for itself."""
    return NewState(CANDIDATE, s.current_epoch[server] + 1, NONE, only(server), server)


# --- From what a message says ------------------------------------------------------------------


def has_consistent_leader(s, server, leader, epoch) -> bool:
    """May somebody else believe in this leader of this epoch, for all that the server knows?

    A server that has resigned, or that was removed, may be taken for the leader still.
    """
    present = s.current_epoch[server]
    if leader == server:
        if present == epoch and (s.role[server] == OBSERVER or s.state[server] == RESIGNED):
            return True
        return s.state[server] == LEADER
    own = s.leader[server]
    return epoch != present or leader == NONE or own in (NONE, leader)


def is_news_of_leader(s, server, leader) -> bool:
    """Does a message name a leader, to a server that knows none?"""
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
    """Is a response dealt with by what holds for all responses, so that nothing else is done?

    It is, if it is stale, or of a later epoch, or says that its sender does not lead, or tells of
    a leader.
    """
    return (
        message.epoch != s.current_epoch[server]
        or message.error == FENCED_LEADER_EPOCH
        or message.error == NOT_LEADER
        or is_news_of_leader(s, server, message.leader)
    )


def by_common_rules(s, c, server, message):
    """What a server becomes on a response, as far as that holds for all responses."""
    epoch, present = message.epoch, s.current_epoch[server]
    if epoch < present:
        return no_transition(s, server)
    error = message.error
    if epoch > present or error in (FENCED_LEADER_EPOCH, NOT_LEADER):
        return maybe_transition(s, c, server, message.leader, epoch)
    if is_news_of_leader(s, server, message.leader):
        return to_follower(s, server, message.leader, epoch)
    return no_transition(s, server)
