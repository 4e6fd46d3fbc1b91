"""Elections: a voter asks for votes in the next epoch, and who has a majority leads.

The winner appends an entry of its epoch at once, and tells the others that it leads.
"""

from kraft_spec.committing import commit_if_alone
from kraft_spec.constants import Constants
from kraft_spec.failures import can_fetch_timeout, fetch_timeout_witnesses
from kraft_spec.logs import (
    is_at_or_before,
    is_majority,
    last_epoch,
    reset_end_offsets,
)
from kraft_spec.network import discard, is_connected, is_receivable, send
from kraft_spec.transitions import (
    apply_state,
    by_common_rules,
    fail_pending_writes,
    is_handled_by_common_rules,
    maybe_transition,
    no_transition,
    to_candidate,
    to_leader,
    to_unattached,
    to_voted,
)
from kraft_spec.types import (
    CANDIDATE,
    FENCED_LEADER_EPOCH,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    LEADER_CHANGE_RECORD,
    NO_ERROR,
    RESIGNED,
    UNATTACHED,
    VOTED,
    VOTER,
    BeginQuorumEpochRequest,
    Entry,
    RequestVoteRequest,
    RequestVoteResponse,
    Server,
    State,
    is_member,
)
from protocol_lab import (
    TAKEN,
    Member,
    add_once,
    append,
    erase,
    is_in,
    members,
    size,
    with_node,
    without_node,
)

VoteRequest = Member("net_messages.vote_requests")
VoteResponse = Member("net_messages.vote_responses")
BeginQuorum = Member("net_messages.begin_quorum_requests")


# --- Candidates --------------------------------------------------------------------------------


def has_too_few_votes(s, server) -> bool:
    """Has the server lost its election: no votes are under way, and it has no majority?"""
    requests, responses = s.net_messages.vote_requests, s.net_messages.vote_responses
    for position in range(requests.size):
        if requests.items[position].source == server:
            return False
    for position in range(responses.size):
        if responses.items[position].dest == server:
            return False
    needed = size(s.config[server].members) // 2 + 1
    return size(s.votes_recv[server]) < needed and s.state[server] != LEADER


def has_reason_for_election(s, c, server) -> bool:
    """Is nobody left who leads, or may soon lead, for all that can be seen from outside?"""
    state = s.state[server]
    if state == FOLLOWER:
        return can_fetch_timeout(s, c, server)
    if state == CANDIDATE:
        return has_too_few_votes(s, server)
    if state == VOTED:
        return has_too_few_votes(s, s.voted_for[server])
    return state in (UNATTACHED, RESIGNED)


def stand_for_election(s, c, server) -> None:
    """The server votes for itself in the next epoch, and asks the other members to vote."""
    apply_state(s, c, server, to_candidate(s, server))
    erase(s.fetch_state, server)
    for peer in members(without_node(s.config[server].members, server)):
        request = RequestVoteRequest(
            source=server,
            dest=peer,
            epoch=s.current_epoch[server],
            last_log_epoch=last_epoch(s.log[server]),
            last_log_offset=s.log[server].length,
        )
        send(s, s.net_messages.vote_requests, request)


def send_request_vote(s: State, c: Constants, server: Server):
    """A voter's fetch or election timeout: it becomes a candidate and asks the others to vote."""
    state = s.state[server]
    if s.role[server] != VOTER:
        return "the server is no voter"
    if state == LEADER:
        return "the server leads"
    if state == ILLEGAL_STATE:
        return "the server is in an illegal state"
    if not is_member(s, server, server):
        return "the server is not in its own configuration"
    if c.test_liveness and not has_reason_for_election(s, c, server):
        return "the server has no reason to hold an election"
    if not c.test_liveness and s.current_epoch[server] >= c.max_epoch:
        return "the last epoch is reached"
    stand_for_election(s, c, server)
    return TAKEN


def election_witnesses(s, c, server) -> int:
    """A follower may have two reasons, which TLC counts as two steps."""
    return fetch_timeout_witnesses(s, c, server) if s.state[server] == FOLLOWER else 1


# --- Votes -------------------------------------------------------------------------------------


def is_log_good_enough(s, c, server, message) -> bool:
    """Is the candidate's log at least as far on as the voter's own?"""
    log = s.log[server]
    return c.vote_without_log_check or is_at_or_before(
        log.length, last_epoch(log), message.last_log_offset, message.last_log_epoch
    )


def on_vote_request(s, c, server, message):
    """What the request's epoch alone makes of the server: unattached, if it is a later one."""
    if message.epoch > s.current_epoch[server]:
        return to_unattached(s, c, server, message.epoch, s.role[server])
    return no_transition(s, server)


def is_free_to_vote(s, before, server, candidate) -> bool:
    """Has a server that is `before` by now not voted for anybody else in the epoch?"""
    if before.state == UNATTACHED:
        return before.voted_for == 0 or before.voted_for == candidate
    return before.state == VOTED and s.voted_for[server] == candidate


def handle_vote_request(s: State, c: Constants, message: VoteRequest):
    """A server votes, or not: for the first who asks in an epoch and whose log is far enough on.

    Observers vote as well: the candidate may know of a configuration in which they do. A request
    of an earlier epoch is refused; but in the original an unattached server goes back to that
    epoch all the same, as if it had voted (see stale_vote_request_fixed).
    """
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if not is_connected(s, server, peer):
        return "the answer can't be sent: the link is down"
    state, epoch = s.state[server], s.current_epoch[server]
    is_stale = message.epoch < epoch
    new = on_vote_request(s, c, server, message)
    grants = is_free_to_vote(s, new, server, peer) and is_log_good_enough(s, c, server, message)
    if grants and new.state == UNATTACHED:
        new = to_voted(new, message.epoch, peer)
    if not (is_stale and c.stale_vote_request_fixed):
        apply_state(s, c, server, new)
    if not is_stale and new.state != state:
        erase(s.fetch_state, server)
        fail_pending_writes(s, server)
    response = RequestVoteResponse(
        source=server,
        dest=peer,
        epoch=epoch if is_stale else message.epoch,
        leader=new.leader,
        vote_granted=grants and not is_stale,
        error=FENCED_LEADER_EPOCH if is_stale else NO_ERROR,
    )
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.vote_requests, processed.vote_requests, message)
    add_once(messages.vote_responses, response)
    return TAKEN


def handle_vote_response(s: State, c: Constants, message: VoteResponse):
    """A candidate counts a vote; whoever gets a later epoch or a leader by it adopts that."""
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.role[server] != VOTER:
        return "the server is no voter (any more)"
    is_vote = (
        s.state[server] == CANDIDATE
        and message.vote_granted
        and not is_handled_by_common_rules(s, server, message)
    )
    apply_state(s, c, server, by_common_rules(s, c, server, message))
    if is_vote:
        s.votes_recv[server] = with_node(s.votes_recv[server], peer)
    discard(s.net_messages.vote_responses, s.net_messages_processed.vote_responses, message)
    return TAKEN


# --- Leaders -----------------------------------------------------------------------------------


def was_sent(s, messages, processed, message) -> bool:
    """Was the message sent before, delivered or not?"""
    return is_in(messages, message) or is_in(processed, message)


def has_begun_quorum(s, server) -> bool:
    """Has the server told a member already that it leads in its present epoch?"""
    for peer in members(without_node(s.config[server].members, server)):
        call = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        messages, processed = s.net_messages, s.net_messages_processed
        if was_sent(s, messages.begin_quorum_requests, processed.begin_quorum_requests, call):
            return True
    return False


def become_leader(s: State, c: Constants, server: Server):
    """A candidate with a majority leads: it appends an entry of its epoch, and tells the others.

    In the original the only member of a configuration wins its election and can't lead: the high
    watermark is to go to the end of the log, and to stay (see single_voter_election_fixed).
    """
    voters = s.config[server].members
    if s.state[server] != CANDIDATE:
        return "the server is no candidate"
    if not is_majority(s.votes_recv[server], voters):
        return "the votes are no majority of the configuration"
    contradicts = size(voters) == 1 and s.hwm[server] != s.log[server].length + 1
    if contradicts and not c.single_voter_election_fixed:
        return "a high watermark would have to move and to stay"
    if has_begun_quorum(s, server):
        return "the server has told a member already that it leads in this epoch"
    apply_state(s, c, server, to_leader(s, server))
    append(s.log[server], Entry(command=LEADER_CHANGE_RECORD, epoch=s.current_epoch[server]))
    commit_if_alone(s, c, server)
    reset_end_offsets(s, c, server, voters)
    erase(s.fetch_state, server)
    for peer in members(without_node(voters, server)):
        call = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        send(s, s.net_messages.begin_quorum_requests, call)
    return TAKEN


def has_been_called(s, server, peer) -> bool:
    """Has the server ever told the peer that it leads, in whatever epoch?"""
    calls = s.net_messages.begin_quorum_requests
    processed = s.net_messages_processed.begin_quorum_requests
    for position in range(calls.size):
        call = calls.items[position]
        if call.source == server and call.dest == peer:
            return True
    for position in range(processed.size):
        call = processed.items[position]
        if call.source == server and call.dest == peer:
            return True
    return False


def does_not_follow(s, server, peer) -> bool:
    """Is the peer in an earlier epoch, or in this one without following?"""
    own, theirs = s.current_epoch[server], s.current_epoch[peer]
    return own > theirs or (own == theirs and s.state[peer] != FOLLOWER)


def resend_begin_quorum_epoch_request(s: State, c: Constants, server: Server, peer: Server):
    """A leader repeats that it leads, to a member that it could not tell before."""
    if not c.test_liveness:
        return "only needed where what must happen at last is checked"
    if s.state[server] != LEADER:
        return "the server is not a leader"
    if server == peer:
        return "the server need not tell itself"
    if not is_member(s, peer, server):
        return "the peer is not in the leader's configuration"
    if has_been_called(s, server, peer):
        return "the peer was told"
    if not is_connected(s, server, peer):
        return "the link is down"
    if not does_not_follow(s, server, peer):
        return "the peer follows, or is in a later epoch"
    call = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
    send(s, s.net_messages.begin_quorum_requests, call)
    return TAKEN


def accept_begin_quorum_request(s: State, c: Constants, message: BeginQuorum):
    """A server learns who leads. Observers do as well: they may be about to become voters.

    A call of an earlier epoch is never answered, and stays under way.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if message.epoch < s.current_epoch[server]:
        return "the call is of an earlier epoch"
    apply_state(s, c, server, maybe_transition(s, c, server, message.source, message.epoch))
    erase(s.fetch_state, server)
    fail_pending_writes(s, server)
    calls, processed = s.net_messages, s.net_messages_processed
    discard(calls.begin_quorum_requests, processed.begin_quorum_requests, message)
    return TAKEN
