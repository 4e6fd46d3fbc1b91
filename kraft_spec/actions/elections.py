"""Elections: a voter asks for votes in the next epoch, and whoever has a majority leads.

The winner appends an entry of its epoch at once, and announces itself to the other members.
"""

from kraft_spec.actions.failures import can_fetch_timeout
from kraft_spec.actions.high_watermark import commit_if_alone
from kraft_spec.actions.logs import is_at_or_before, is_majority, last_epoch, reset_end_offsets
from kraft_spec.actions.network import discard, is_receivable, send
from kraft_spec.actions.server_states import (
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
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.messages import (
    BeginQuorumEpochRequest,
    Entry,
    RequestVoteRequest,
    RequestVoteResponse,
)
from kraft_spec.model.names import (
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
    Server,
)
from kraft_spec.model.state import State, is_member
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
    """Has the server lost its election, with no vote in flight and no majority?"""
    requests, responses = s.net_messages.vote_requests, s.net_messages.vote_responses
    if any(requests.items[k].source == server for k in range(requests.size)):
        return False
    if any(responses.items[k].dest == server for k in range(responses.size)):
        return False
    needed = size(s.config[server].members) // 2 + 1
    return size(s.votes_recv[server]) < needed and s.state[server] != LEADER


def has_reason_for_election(s, c, server) -> bool:
    """Is there a reason for a fetch or election timeout of the server, seen from outside?"""
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
    """A voter's fetch timeout or election timeout: it becomes a candidate and asks for votes.

    Without test_liveness this can happen at any time, up to max_epoch.
    """
    state = s.state[server]
    if s.role[server] != VOTER:
        return "the server is not a voter"
    if state == LEADER:
        return "the server leads"
    if state == ILLEGAL_STATE:
        return "the server is in an illegal state"
    if not is_member(s, server, server):
        return "the server is not in its own configuration"
    if c.test_liveness and not has_reason_for_election(s, c, server):
        return "the server has no reason to hold an election"
    if not c.test_liveness and s.current_epoch[server] >= c.max_epoch:
        return "no later epoch is left (max_epoch)"
    stand_for_election(s, c, server)
    return TAKEN


# --- Votes -------------------------------------------------------------------------------------


def is_log_good_enough(s, c, server, message) -> bool:
    """Does the candidate's log end at least as far on as the voter's own?"""
    log = s.log[server]
    return c.vote_without_log_check or is_at_or_before(
        log.length, last_epoch(log), message.last_log_offset, message.last_log_epoch
    )


def on_vote_request(s, c, server, message):
    """What the request's epoch alone makes of the server: unattached, if the epoch is later."""
    if message.epoch > s.current_epoch[server]:
        return to_unattached(s, c, server, message.epoch, s.role[server])
    return no_transition(s, server)


def is_free_to_vote(s, before, server, candidate) -> bool:
    """Can the server, which is `before` by now, still vote for this candidate in the epoch?"""
    if before.state == UNATTACHED:
        return before.voted_for == 0 or before.voted_for == candidate
    return before.state == VOTED and s.voted_for[server] == candidate


def handle_vote_request(s: State, c: Constants, message: VoteRequest):
    """A server votes for the first candidate of an epoch whose log is far enough on, or refuses.

    Observers vote, too: the candidate may have a configuration in which they are voters, and that
    they have not fetched yet; without their votes the cluster could get stuck. A request of an
    earlier epoch is refused, and yet the new state is applied.
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
    """A candidate counts a vote. A later epoch, or a leader, that the response names is adopted."""
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.role[server] != VOTER:
        return "the server is not a voter"
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


def has_begun_quorum(s, server) -> bool:
    """Has the server already announced to a member that it leads in its present epoch?"""
    requests = s.net_messages.begin_quorum_requests
    processed = s.net_messages_processed.begin_quorum_requests
    for peer in members(without_node(s.config[server].members, server)):
        request = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        if is_in(requests, request) or is_in(processed, request):
            return True
    return False


def become_leader(s: State, c: Constants, server: Server):
    """A candidate with a majority leads: it appends an entry of its epoch, and announces itself.

    The only member of a configuration wins its election and can't lead: the original demands that
    the high watermark goes to the end of the log, and that it stays.
    """
    voters = s.config[server].members
    if s.state[server] != CANDIDATE:
        return "the server is not a candidate"
    if not is_majority(s.votes_recv[server], voters):
        return "the votes are not a majority of the configuration"
    would_move = size(voters) == 1 and s.hwm[server] != s.log[server].length + 1
    if would_move and not c.single_voter_election_fixed:
        return "the original demands that the high watermark moves, and that it stays"
    if has_begun_quorum(s, server):
        return "the server has already told a member that it leads in this epoch"
    apply_state(s, c, server, to_leader(s, server))
    append(s.log[server], Entry(command=LEADER_CHANGE_RECORD, epoch=s.current_epoch[server]))
    commit_if_alone(s, c, server)
    reset_end_offsets(s, c, server, voters)
    erase(s.fetch_state, server)
    for peer in members(without_node(voters, server)):
        request = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        send(s, s.net_messages.begin_quorum_requests, request)
    return TAKEN


def was_told(s, server, peer) -> bool:
    """Has the server ever announced to the peer that it leads, in whatever epoch?"""
    requests = s.net_messages.begin_quorum_requests
    processed = s.net_messages_processed.begin_quorum_requests
    return any(
        requests.items[k].source == server and requests.items[k].dest == peer
        for k in range(requests.size)
    ) or any(
        processed.items[k].source == server and processed.items[k].dest == peer
        for k in range(processed.size)
    )


def does_not_follow(s, server, peer) -> bool:
    """Is the peer in an earlier epoch, or in this one without following?"""
    own, theirs = s.current_epoch[server], s.current_epoch[peer]
    return own > theirs or (own == theirs and s.state[peer] != FOLLOWER)


def resend_begin_quorum_epoch_request(s: State, c: Constants, server: Server, peer: Server):
    """A leader announces itself to a member that was out of reach when it was elected."""
    if not c.test_liveness:
        return "only possible with test_liveness"
    if s.state[server] != LEADER:
        return "the server is not a leader"
    if server == peer:
        return "the server need not tell itself"
    if not is_member(s, peer, server):
        return "the peer is not in the leader's configuration"
    if was_told(s, server, peer):
        return "the peer was told before"
    if not is_connected(s, server, peer):
        return "the link is down"
    if not does_not_follow(s, server, peer):
        return "the peer follows, or is in a later epoch"
    request = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
    send(s, s.net_messages.begin_quorum_requests, request)
    return TAKEN


def accept_begin_quorum_request(s: State, c: Constants, message: BeginQuorum):
    """A server learns who leads, and follows.

    An observer does so, too: it may have been added as a voter, and has to know the leader to fetch
    the command that says so. A request of an earlier epoch is ignored, and stays in flight.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if message.epoch < s.current_epoch[server]:
        return "the request is of an earlier epoch"
    apply_state(s, c, server, maybe_transition(s, c, server, message.source, message.epoch))
    erase(s.fetch_state, server)
    fail_pending_writes(s, server)
    in_flight, processed = s.net_messages, s.net_messages_processed
    discard(in_flight.begin_quorum_requests, processed.begin_quorum_requests, message)
    return TAKEN
