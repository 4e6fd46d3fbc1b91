"""The server states, and the rules by which a server goes from one to another.

Every change of a server's state, epoch, leader or vote is one of the functions `transition_to_...`,
apart from the loss of a disk. They stand for those of Kafka's QuorumState, and are named after
them. A transition that QuorumState forbids gives the illegal state, which the invariant
no_illegal_state reports.

The states that one action can lead to:

    unattached   -> unattached, voted, candidate, follower
    voted        -> unattached, voted, candidate, follower
    candidate    -> unattached, voted, candidate, leader, follower
    leader       -> unattached, voted, resigned, follower
    resigned     -> unattached, voted, candidate, follower
    follower     -> unattached, voted, candidate, follower

Also, any voter may lose its disk (dead_no_state). The original's README lists the single
transitions of QuorumState; one action may do several of them, as the README says: on a vote request
of a later epoch a server of any state becomes unattached, and then voted.
"""

from kraft_spec.model import *
from protocol_lab import *


def enter(s, c, server, state: ServerState, epoch, leader, voted_for) -> None:
    """Make the server what a transition has decided; it has no votes."""
    if c.resigned_writes_fixed and s.state[server] == "leader" and state != "leader":
        fail_pending_writes(s, server)
    s.state[server] = state
    s.current_epoch[server] = epoch
    s.leader[server] = leader
    s.voted_for[server] = voted_for
    s.votes_recv[server] = nodes_up_to(0)


def fail_pending_writes(s, server) -> None:
    """The clients that wait for a write of this server to be committed are told that it failed."""
    s.inv_neg_acked = s.inv_neg_acked | s.pending_ack[server]
    s.pending_ack[server] = nodes_up_to(0)


def transition_to_illegal_state(s, c, server) -> None:
    """A transition that must not happen."""
    enter(s, c, server, "illegal_state", 0, NONE, NONE)


# --- One for each server state ------------------------------------------------------------------


def transition_to_voted(s, c, server, epoch, candidate) -> None:
    """The server votes for the candidate in this epoch; in its own epoch only if unattached."""
    if s.current_epoch[server] == epoch and s.state[server] != "unattached":
        transition_to_illegal_state(s, c, server)
    else:
        enter(s, c, server, "voted", epoch, NONE, candidate)


def transition_to_unattached(s, c, server, epoch) -> None:
    """A voter learns of a later epoch but not of its leader, or an observer loses its leader.

    It forgets its vote; an observer even in its own epoch, so that it may vote twice: 16 states to
    two leaders in one epoch (scenario observer_votes_twice; see observer_vote_fixed).
    """
    is_later = epoch > s.current_epoch[server]
    if s.role[server] == "voter" and not is_later:
        transition_to_illegal_state(s, c, server)
    elif c.observer_vote_fixed and epoch == s.current_epoch[server]:
        enter(s, c, server, "unattached", epoch, NONE, s.voted_for[server])
    else:
        enter(s, c, server, "unattached", epoch, NONE, NONE)


def may_follow(s, server, leader, epoch) -> bool:
    """Another server's later epoch, or its own if it neither follows nor leads in that."""
    present = s.current_epoch[server]
    is_free = epoch == present and s.state[server] not in ("follower", "leader")
    return leader != server and (epoch > present or is_free)


def vote_in(s, server, epoch) -> Server:
    """For whom the server has voted in this epoch, its own or a later one."""
    return s.voted_for[server] if epoch == s.current_epoch[server] else NONE


def transition_to_follower(s, c, server, leader, epoch) -> None:
    """The server has learned who leads in this epoch; it forgets its vote if the epoch is new."""
    if may_follow(s, server, leader, epoch):
        enter(s, c, server, "follower", epoch, leader, vote_in(s, server, epoch))
    else:
        transition_to_illegal_state(s, c, server)


def transition_to_candidate(s, c, server) -> None:
    """The server starts an election in the next epoch, and votes for itself."""
    enter(s, c, server, "candidate", s.current_epoch[server] + 1, NONE, server)
    s.votes_recv[server] = only(server)


def transition_to_leader(s, c, server) -> None:
    """A candidate has won: it leads in its epoch, and keeps its vote."""
    enter(s, c, server, "leader", s.current_epoch[server], server, s.voted_for[server])


def step_down(s, c, server) -> None:
    """A leader gives up: a voter is resigned, and keeps its vote; an observer is unattached.

    In its own epoch it can't follow or vote for anybody else, so that no second leader writes other
    entries at the offsets of the first.
    """
    epoch = s.current_epoch[server]
    if s.role[server] == "voter":
        enter(s, c, server, "resigned", epoch, NONE, s.voted_for[server])
    else:
        transition_to_unattached(s, c, server, epoch)


# --- From what a message says ------------------------------------------------------------------


def has_consistent_leader(s, server, leader, epoch) -> bool:
    """Can this be the leader of this epoch, as far as the server knows?

    No conflict: others may still take a server for the leader that has resigned or was removed.
    """
    present = s.current_epoch[server]
    if leader == server:
        is_former = s.role[server] == "observer" or s.state[server] == "resigned"
        return s.state[server] == "leader" or (present == epoch and is_former)
    own = s.leader[server]
    return epoch != present or leader == NONE or own in (NONE, leader)


def is_news_of_leader(s, server, leader) -> bool:
    """Does a message name another server as the leader, to a server that knows none?"""
    return leader != NONE and s.leader[server] == NONE and leader != server


def maybe_transition(s, c, server, leader, epoch) -> None:
    """A message names this leader (or NONE) of this epoch: the server adopts what is news to it."""
    if not has_consistent_leader(s, server, leader, epoch):
        transition_to_illegal_state(s, c, server)
    elif epoch > s.current_epoch[server]:
        if leader == NONE:
            transition_to_unattached(s, c, server, epoch)
        else:
            transition_to_follower(s, c, server, leader, epoch)
    elif is_news_of_leader(s, server, leader):
        transition_to_follower(s, c, server, leader, epoch)


def is_handled_by_common_rules(s, server, message) -> bool:
    """Do the rules that all responses share handle this one, so that nothing else is done?

    They do if it is of an earlier or later epoch, says that its sender does not lead, or names a
    leader to a server that knows none.
    """
    return (
        message.epoch != s.current_epoch[server]
        or message.error in ("fenced_leader_epoch", "not_leader")
        or is_news_of_leader(s, server, message.leader)
    )


def maybe_handle_common_response(s, c, server, message) -> None:
    """What all responses have in common: a later epoch or a leader that they name is adopted, and
    one of an earlier epoch changes nothing.

    KafkaRaftClient calls this `maybeHandleCommonResponse`.
    """
    epoch, present = message.epoch, s.current_epoch[server]
    sender_does_not_lead = message.error in ("fenced_leader_epoch", "not_leader")
    if epoch > present or (epoch == present and sender_does_not_lead):
        maybe_transition(s, c, server, message.leader, epoch)
    elif epoch == present and is_news_of_leader(s, server, message.leader):
        transition_to_follower(s, c, server, message.leader, epoch)
