"""Elections that ask first: who gives up, who asks whether it would be elected, and who says yes.

A server that times out does not raise its epoch. It becomes a prospective and asks the other voters
whether they would vote for it (pre-vote). Only with a majority of yes it becomes a candidate of the
next epoch; otherwise it goes back to its leader. So a server that was cut off for a while can't
depose a leader that everybody else still hears from.

Timeouts need a cause, or are counted (max_disruptive_election_triggers).
"""

from kraft_spec.actions.elections import does_not_follow, is_log_good_enough, supports
from kraft_spec.actions.replication import (
    can_fetch_timeout,
    last_epoch,
    reset_end_offsets,
    why_not_answer,
)
from kraft_spec.actions.server_states import fail_pending_writes
from kraft_spec.pre_vote.model import *
from kraft_spec.pre_vote.server_states import (
    add_vote,
    is_handled_by_common_rules,
    maybe_handle_common_response,
    maybe_transition,
    step_down,
    transition_to_candidate,
    transition_to_follower,
    transition_to_leader,
    transition_to_prospective,
    transition_to_unattached,
)
from protocol_lab import *

VoteRequest = Member("net_messages.vote_requests")
VoteResponse = Member("net_messages.vote_responses")
BeginQuorum = Member("net_messages.begin_quorum_requests")

# --- Who gives up --------------------------------------------------------------------------------


def may_be_disrupted(s, c) -> bool:
    """May something still time out or resign for no reason?"""
    return s.aux_ctrs.disruptive_ctr < c.max_disruptive_election_triggers


def has_lost_majority(s, server) -> bool:
    """Do too few members fetch from this leader, seen from outside?"""
    voters = s.config[server].members
    supporters = sum(1 for peer in voters if peer != server and supports(s, server, peer))
    return supporters < len(voters) // 2 + (not is_member(s, server, server))


def check_quorum_resign(s: State, c: Constants, server: Server):
    """A leader from which no majority fetches any more gives up (KIP-595, check quorum).

    It may also give up for no reason, as often as max_disruptive_election_triggers allows. Its
    clients are told that their writes have failed.
    """
    if s.state[server] != "leader":
        return "the server is not a leader"
    has_reason = has_lost_majority(s, server)
    if not has_reason and not may_be_disrupted(s, c):
        return "a majority can fetch from the leader"
    step_down(s, c, server)
    reset_end_offsets(s, c, server, s.config[server].members)
    s.aux_ctrs.disruptive_ctr += not has_reason
    return TAKEN


def resigned_election_timeout(s: State, c: Constants, server: Server):
    """A resigned server goes to the next epoch, in which it may vote for another, or stand itself.

    No limit stops it, so that epochs up to max_epoch + 1 occur. If it stands, it does so in the
    epoch after that: the one between never has a leader.
    """
    if s.state[server] != "resigned":
        return "the server has not resigned"
    transition_to_unattached(s, c, server, s.current_epoch[server] + 1)
    return TAKEN


# --- Who asks ------------------------------------------------------------------------------------


def waits_for_votes(s, server, pre_vote) -> bool:
    """Is a request of the server for votes of this kind in flight, or an answer to one?"""
    return any(
        request.source == server and request.pre_vote == pre_vote
        for request in s.net_messages.vote_requests
    ) or any(
        response.dest == server and response.pre_vote == pre_vote
        for response in s.net_messages.vote_responses
    )


def has_lost_election(s, server) -> bool:
    """Has a candidate too few votes, and none under way?"""
    needed = len(s.config[server].members) // 2 + 1
    return not waits_for_votes(s, server, False) and len(s.votes_recv[server]) < needed


def send_vote_requests(s, server, pre_vote) -> None:
    """Ask the other members for votes in the present epoch, or whether they would give them."""
    for peer in without_node(s.config[server].members, server):
        request = RequestVoteRequest(
            source=server,
            dest=peer,
            epoch=s.current_epoch[server],
            last_log_epoch=last_epoch(s.log[server]),
            last_log_offset=len(s.log[server]),
            pre_vote=pre_vote,
        )
        send(s, s.net_messages.vote_requests, request)


def ask_for_votes(s, c, server) -> None:
    """The server has timed out: it asks whether it would be elected.

    It keeps its epoch, and forgets that it has fetched. Without pre-vote (pre_vote_off), as before
    Kafka 4.0, it is a candidate of the next epoch at once: 6 states until a server that was merely
    away deposes a healthy leader (scenario absent_server_deposes_the_leader).
    """
    if c.pre_vote_off:
        transition_to_candidate(s, c, server)
    else:
        transition_to_prospective(s, c, server)
    forget_fetches(s, server)
    send_vote_requests(s, server, not c.pre_vote_off)
    s.aux_ctrs.prevote_ctr += c.test_liveness


def has_no_epoch_left(s, c, server) -> bool:
    """Does max_epoch forbid a candidacy of the server?"""
    return not c.test_liveness and s.current_epoch[server] >= c.max_epoch


def voter_fetch_timeout(s: State, c: Constants, server: Server):
    """A follower has not heard from its leader for too long, and asks whether it would be elected.

    The cause is a fetch that was lost or answered with an error; or there is none, as often as
    max_disruptive_election_triggers allows.
    """
    if s.state[server] != "follower":
        return "the server does not follow"
    if s.role[server] != "voter":
        return "the server is not a voter"
    if c.pre_vote_off and has_no_epoch_left(s, c, server):
        return "no later epoch is left (max_epoch)"
    has_reason = can_fetch_timeout(s, c, server)
    if not has_reason and not may_be_disrupted(s, c):
        return "the server has no reason to give up its leader"
    ask_for_votes(s, c, server)
    s.aux_ctrs.disruptive_ctr += not has_reason
    return TAKEN


def voter_election_timeout(s: State, c: Constants, server: Server):
    """A voter without a leader asks whether it would be elected; so does a candidate that was not.

    A candidate that asks again stays in its epoch, and has only its own vote.
    """
    state = s.state[server]
    if state != "candidate" and state != "unattached":
        return "the server is neither unattached nor a candidate"
    if s.role[server] != "voter":
        return "the server is not a voter"
    if c.pre_vote_off and has_no_epoch_left(s, c, server):
        return "no later epoch is left (max_epoch)"
    has_reason = state == "unattached" or has_lost_election(s, server)
    if not has_reason and not may_be_disrupted(s, c):
        return "the election is not over"
    ask_for_votes(s, c, server)
    s.aux_ctrs.disruptive_ctr += not has_reason
    return TAKEN


def conclude_pre_vote(s: State, c: Constants, server: Server):
    """A prospective that would be elected stands; one that would not goes back to its leader.

    It knows that it would not as soon as nothing is in flight any more. Without the way back a
    prospective behind a cut link would ask for ever (prospective_never_gives_up). A server that is
    back with its leader has not fetched yet, so that it grants pre-votes until it has. Kafka
    concludes as soon as a majority has refused.
    """
    if s.state[server] != "prospective":
        return "the server has not asked"
    if s.role[server] != "voter":
        return "the server is not a voter"
    if has_no_epoch_left(s, c, server):
        return "no later epoch is left (max_epoch)"
    has_majority = is_majority(s.votes_recv[server], s.config[server].members)
    if not has_majority and c.prospective_never_gives_up:
        return "there is no majority"
    if not has_majority and waits_for_votes(s, server, True):
        return "answers are under way, and there is no majority yet"
    if has_majority:
        transition_to_candidate(s, c, server)
        send_vote_requests(s, server, False)
    elif s.leader[server] != NONE:
        transition_to_follower(s, c, server, s.leader[server], s.current_epoch[server])
    else:
        transition_to_unattached(s, c, server, s.current_epoch[server])
    return TAKEN


# --- Who says yes --------------------------------------------------------------------------------


def vote_error(s, message) -> Error:
    """The error that a vote request gets, whoever sends it."""
    if message.last_log_epoch > message.epoch:
        return "invalid_request"
    if message.epoch < s.current_epoch[message.dest]:
        return "fenced_leader_epoch"
    return "nil"


def would_vote(s, c, server) -> bool:
    """Would the server vote for somebody whose log is good enough?

    A leader would not, nor a follower that has fetched from its leader: it has no reason to believe
    that the leader is gone. Without this rule pre-vote is only a longer way to the same end: 9
    states until a healthy leader is deposed (pre_vote_without_fetch_rule; scenario
    contented_follower_grants). Nobody remembers a pre-vote.
    """
    if s.state[server] == "follower":
        return not s.has_fetch_success[server] or c.pre_vote_without_fetch_rule
    return s.state[server] in ("unattached", "prospective", "candidate", "resigned")


def may_vote_for(s, c, server, message) -> bool:
    """Does the server, as it is by now, vote for this candidate in its epoch?"""
    if s.state[server] != "unattached" and s.state[server] != "prospective":
        return False
    if s.voted_for[server] != NONE:
        return s.voted_for[server] == message.source
    return s.leader[server] == NONE and is_log_good_enough(s, c, server, message)


def answer_vote_request(s, message, grants, error: Error) -> None:
    """Send the answer to a vote request; it names the leader that the server knows by now."""
    response = RequestVoteResponse(
        source=message.dest,
        dest=message.source,
        epoch=s.current_epoch[message.dest],
        leader=s.leader[message.dest],
        vote_granted=grants,
        error=error,
        pre_vote=message.pre_vote,
    )
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.vote_requests, processed.vote_requests, message)
    add_once(messages.vote_responses, response)


def handle_vote_request(s: State, c: Constants, message: VoteRequest):
    """A server votes, or says that it would, or refuses.

    A request of a later epoch, even a pre-vote, makes its receiver unattached in that epoch: so a
    pre-vote can depose a leader, too (scenario restart_window). A refusal because of an error
    changes nothing; that fixes the epoch that goes back in `kraft.kip_853`.
    """
    server = message.dest
    reason = why_not_answer(s, message)
    if reason:
        return reason
    error = vote_error(s, message)
    grants = False
    if error == "nil":
        state = s.state[server]
        if message.epoch > s.current_epoch[server]:
            transition_to_unattached(s, c, server, message.epoch)
        if message.pre_vote:
            grants = would_vote(s, c, server) and is_log_good_enough(s, c, server, message)
        else:
            grants = may_vote_for(s, c, server, message)
        if grants and not message.pre_vote:
            add_vote(s, c, server, message.source)
        if s.state[server] != state:
            forget_fetches(s, server)
            fail_pending_writes(s, server)
    answer_vote_request(s, message, grants, error)
    return TAKEN


def handle_vote_response(s: State, c: Constants, message: VoteResponse):
    """A prospective or a candidate counts the answers to its question.

    It adopts a later epoch, or a leader, that the response names. A yes to an earlier question of
    the same epoch counts as well.
    """
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.role[server] != "voter":
        return "the server is not a voter"
    was_leader = s.state[server] == "leader"
    is_handled = is_handled_by_common_rules(s, server, message)
    maybe_handle_common_response(s, c, server, message)
    state = s.state[server]
    counts_it = state == "prospective" if message.pre_vote else state == "candidate"
    if not is_handled and message.vote_granted and counts_it:
        s.votes_recv[server] = with_node(s.votes_recv[server], peer)
    if was_leader and s.state[server] != "leader":
        reset_end_offsets(s, c, server, s.config[server].members)
    discard(s.net_messages.vote_responses, s.net_messages_processed.vote_responses, message)
    return TAKEN


# --- What a new leader does ----------------------------------------------------------------------


def become_leader(s: State, c: Constants, server: Server):
    """A candidate with a majority leads: it appends an entry of its epoch, and announces itself.

    As in `kraft.kip_853`, the only member of a configuration wins its election and can't lead: the
    original demands that the high watermark goes to the end of the log, and that it stays.
    """
    voters = s.config[server].members
    if s.state[server] != "candidate":
        return "the server is not a candidate"
    if not is_majority(s.votes_recv[server], voters):
        return "the votes are not a majority of the configuration"
    if len(voters) == 1 and s.hwm[server] != len(s.log[server]) + 1:
        return "the original demands that the high watermark moves, and that it stays"
    transition_to_leader(s, c, server)
    append(s.log[server], Entry(command="leader_change_record", epoch=s.current_epoch[server]))
    reset_end_offsets(s, c, server, voters)
    forget_fetches(s, server)
    for peer in without_node(voters, server):
        announce(s, server, peer, False)
    return TAKEN


def announce(s, server, peer, again) -> None:
    """The leader tells a member that it leads."""
    request = BeginQuorumEpochRequest(
        source=server,
        dest=peer,
        epoch=s.current_epoch[server],
        kind="again" if again else "first",
    )
    send(s, s.net_messages.begin_quorum_requests, request)


def was_told(s, server, peer) -> bool:
    """Has the server announced to the peer that it leads in its present epoch, if it arrived?"""
    epoch = s.current_epoch[server]
    return any(
        each.source == server and each.dest == peer and each.epoch == epoch
        for each in s.net_messages.begin_quorum_requests
    ) or any(
        each.source == server and each.dest == peer and each.epoch == epoch
        for each in s.net_messages_processed.begin_quorum_requests
    )


def resend_begin_quorum_epoch_request(s: State, c: Constants, server: Server, peer: Server):
    """A leader announces itself again to a member that the announcement did not reach.

    Not in epoch 1, in the original: a server whose addition in epoch 1 was announced in vain is a
    voter for the leader and waits for ever.
    """
    if s.state[server] != "leader":
        return "the server is not a leader"
    if server == peer:
        return "the server need not tell itself"
    if not is_member(s, peer, server):
        return "the peer is not in the leader's configuration"
    if s.current_epoch[server] <= 1:
        return "nothing is announced again in epoch 1"
    if was_told(s, server, peer):
        return "the peer was told, or will be"
    if not is_connected(s, server, peer):
        return "the link is down"
    if not does_not_follow(s, server, peer):
        return "the peer follows, or is in a later epoch"
    announce(s, server, peer, True)
    return TAKEN


def accept_begin_quorum_request(s: State, c: Constants, message: BeginQuorum):
    """A server learns who leads, and follows; it has not yet fetched from this leader.

    A request of an earlier epoch is ignored, and stays in flight.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if message.epoch < s.current_epoch[server]:
        return "the request is of an earlier epoch"
    maybe_transition(s, c, server, message.source, message.epoch)
    forget_fetches(s, server)
    fail_pending_writes(s, server)
    in_flight, processed = s.net_messages, s.net_messages_processed
    discard(in_flight.begin_quorum_requests, processed.begin_quorum_requests, message)
    return TAKEN
