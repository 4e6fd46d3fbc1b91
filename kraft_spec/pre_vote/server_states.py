"""The server states, and the rules by which a server goes from one to another.

As in `kraft_spec.actions.server_states`, with one state more and one fewer: a prospective asks
whether it would be elected before it spends an epoch, and who has voted is unattached or still
prospective, with a vote. A resigned leader still names itself as the leader of its epoch.

    unattached   -> unattached, prospective, follower
    prospective  -> unattached, candidate, follower
    candidate    -> unattached, prospective, leader, follower
    leader       -> unattached, resigned, follower
    resigned     -> unattached, follower
    follower     -> unattached, prospective, follower

Also, any voter may lose its disk (dead_no_state). Without pre-vote (pre_vote_off) a server that
would become prospective becomes a candidate.
"""

from kraft_spec.actions.server_states import fail_pending_writes, may_follow, vote_in
from kraft_spec.model import *
from protocol_lab import *


def enter(s, c, server, state: ServerState, epoch, leader, voted_for) -> None:
    """Make the server what a transition has decided; it has no votes.

    The clients of a leader that gives up are told that their writes have failed.
    """
    if s.state[server] == "leader" and state != "leader":
        fail_pending_writes(s, server)
    s.state[server] = state
    s.current_epoch[server] = epoch
    s.leader[server] = leader
    s.voted_for[server] = voted_for
    s.votes_recv[server] = nodes_up_to(0)


def transition_to_illegal_state(s, c, server) -> None:
    """A transition that must not happen."""
    enter(s, c, server, "illegal_state", 0, NONE, NONE)


# --- One for each server state ------------------------------------------------------------------


def boot_unattached(s, c, server) -> None:
    """The server restarts without a leader; its vote is on disk."""
    enter(s, c, server, "unattached", s.current_epoch[server], NONE, s.voted_for[server])


def transition_to_unattached(s, c, server, epoch) -> None:
    """The server learns of a later epoch but not of its leader, or has asked in vain.

    Within its epoch it keeps its vote.
    """
    present = s.current_epoch[server]
    if epoch > present:
        enter(s, c, server, "unattached", epoch, NONE, NONE)
    elif epoch == present and s.state[server] == "prospective":
        enter(s, c, server, "unattached", epoch, NONE, s.voted_for[server])
    else:
        transition_to_illegal_state(s, c, server)


def add_vote(s, c, server, candidate) -> None:
    """The server votes in its epoch, and stays what it is: unattached, or prospective.

    A second vote is illegal in the original, even for the same candidate; nobody asks twice.
    """
    if s.voted_for[server] != NONE:
        transition_to_illegal_state(s, c, server)
    else:
        s.voted_for[server] = candidate


def transition_to_follower(s, c, server, leader, epoch) -> None:
    """The server has learned who leads in this epoch; it forgets its vote if the epoch is new."""
    if may_follow(s, server, leader, epoch):
        enter(s, c, server, "follower", epoch, leader, vote_in(s, server, epoch))
    else:
        transition_to_illegal_state(s, c, server)


def transition_to_prospective(s, c, server) -> None:
    """The server asks first. It keeps its epoch, its leader and its vote, and is for itself."""
    if s.state[server] in ("leader", "prospective"):
        transition_to_illegal_state(s, c, server)
    else:
        epoch, leader = s.current_epoch[server], s.leader[server]
        enter(s, c, server, "prospective", epoch, leader, s.voted_for[server])
        s.votes_recv[server] = only(server)


def transition_to_candidate(s, c, server) -> None:
    """The server starts an election in the next epoch, and votes for itself.

    Only a prospective may, unless nobody asks first (pre_vote_off).
    """
    if s.state[server] != "prospective" and not c.pre_vote_off:
        transition_to_illegal_state(s, c, server)
    else:
        enter(s, c, server, "candidate", s.current_epoch[server] + 1, NONE, server)
        s.votes_recv[server] = only(server)


def transition_to_leader(s, c, server) -> None:
    """A candidate has won: it leads in its epoch, and needs its vote no more."""
    enter(s, c, server, "leader", s.current_epoch[server], server, NONE)


def step_down(s, c, server) -> None:
    """A leader gives up. In its epoch it names itself as the leader, and follows nobody else."""
    enter(s, c, server, "resigned", s.current_epoch[server], server, NONE)


# --- From what a message says ------------------------------------------------------------------

FORMER = ("resigned", "prospective", "unattached")
"""The states in which a server may be named as the leader of its epoch, which it was."""


def has_consistent_leader(s, server, leader, epoch) -> bool:
    """Can this be the leader of this epoch, as far as the server knows?

    No conflict: others may still take a server for the leader that has resigned or was removed.
    """
    present = s.current_epoch[server]
    if leader == server:
        is_former = s.role[server] != "voter" or s.state[server] in FORMER
        return s.state[server] == "leader" or (present == epoch and is_former)
    own = s.leader[server]
    return epoch != present or leader == NONE or own in (NONE, leader)


def is_news_of_leader(s, server, leader) -> bool:
    """Does a message name a leader, to a server that knows none?"""
    return leader != NONE and s.leader[server] == NONE


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


def says_that_sender_does_not_lead(message) -> bool:
    """Does an answer say that its sender does not lead, or leads in a later epoch?"""
    return message.error in ("fenced_leader_epoch", "not_leader")


def is_handled_by_common_rules(s, server, message) -> bool:
    """Do the rules that all responses share handle this one, so that nothing else is done?

    They do if it is of an earlier or later epoch, or says that its sender does not lead; not if it
    names a leader and brings no error: then the server follows, and takes what the response brings.
    """
    return (
        message.epoch != s.current_epoch[server]
        or says_that_sender_does_not_lead(message)
        or (is_news_of_leader(s, server, message.leader) and message.error != "nil")
    )


def maybe_handle_common_response(s, c, server, message) -> None:
    """What all responses have in common: a later epoch or a leader that they name is adopted, and
    one of an earlier epoch changes nothing.
    """
    epoch, present = message.epoch, s.current_epoch[server]
    if epoch > present or (epoch == present and says_that_sender_does_not_lead(message)):
        maybe_transition(s, c, server, message.leader, epoch)
    elif epoch == present and is_news_of_leader(s, server, message.leader):
        transition_to_follower(s, c, server, message.leader, epoch)
