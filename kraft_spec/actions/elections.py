"""Elections: who gives up leading, who asks for votes, who gets them, and what a new leader does.

With test_liveness a timeout needs a cause; without, it can happen at any time.
"""

from kraft_spec.actions.replication import (
    can_fetch_timeout,
    commit_if_alone,
    is_at_or_before,
    last_epoch,
    reset_end_offsets,
    why_not_answer,
)
from kraft_spec.actions.server_states import (
    fail_pending_writes,
    is_handled_by_common_rules,
    maybe_handle_common_response,
    maybe_transition,
    step_down,
    transition_to_candidate,
    transition_to_leader,
    transition_to_unattached,
    transition_to_voted,
)
from kraft_spec.model import *
from protocol_lab import *

VoteRequest = Member("net_messages.vote_requests")
VoteResponse = Member("net_messages.vote_responses")
BeginQuorum = Member("net_messages.begin_quorum_requests")

# --- Who gives up --------------------------------------------------------------------------------


def supports(s, leader, peer) -> bool:
    """Would the peer, seen from outside, still fetch from this leader?"""
    is_voter = s.role[peer] == "voter" and s.current_epoch[peer] <= s.current_epoch[leader]
    return is_connected(s, leader, peer) and (is_voter or s.role[peer] == "observer")


def check_quorum_resign(s: State, c: Constants, server: Server):
    """A leader from which no majority fetches any more gives up (KIP-595, check quorum).

    With test_liveness that is judged from outside, by links and epochs (`supports`); without, any
    leader may give up at any time. Clients that wait for a write are told nothing: if the server is
    elected again, it may still commit the write (see resigned_writes_fixed).
    """
    if s.state[server] != "leader":
        return "the server is not a leader"
    voters = s.config[server].members
    supporters = sum(1 for peer in voters if peer != server and supports(s, server, peer))
    if c.test_liveness and supporters >= len(voters) // 2:
        return "a majority can fetch from the leader"
    step_down(s, c, server)
    return TAKEN


def observer_fetch_timeout(s: State, c: Constants, server: Server):
    """An observer waits no longer for its leader, and looks for one; it forgets its vote."""
    if s.role[server] != "observer":
        return "the server is not an observer"
    if c.test_liveness and not can_fetch_timeout(s, c, server):
        return "the server has no reason to give up its leader"
    transition_to_unattached(s, c, server, s.current_epoch[server])
    s.fetch_state[server] = FetchState()
    return TAKEN


# --- Who asks for votes --------------------------------------------------------------------------


def has_too_few_votes(s, server) -> bool:
    """Has the server lost its election, with no vote in flight and no majority?"""
    if any(request.source == server for request in s.net_messages.vote_requests):
        return False
    if any(response.dest == server for response in s.net_messages.vote_responses):
        return False
    needed = len(s.config[server].members) // 2 + 1
    return len(s.votes_recv[server]) < needed and s.state[server] != "leader"


def has_reason_for_election(s, c, server) -> bool:
    """Is there a reason for a fetch or election timeout of the server, seen from outside?"""
    if s.state[server] == "follower":
        return can_fetch_timeout(s, c, server)
    if s.state[server] == "candidate":
        return has_too_few_votes(s, server)
    if s.state[server] == "voted":
        return has_too_few_votes(s, s.voted_for[server])
    return s.state[server] in ("unattached", "resigned")


def stand_for_election(s, c, server) -> None:
    """The server votes for itself in the next epoch, and asks the other members to vote."""
    transition_to_candidate(s, c, server)
    s.fetch_state[server] = FetchState()
    for peer in without_node(s.config[server].members, server):
        request = RequestVoteRequest(
            source=server,
            dest=peer,
            epoch=s.current_epoch[server],
            last_log_epoch=last_epoch(s.log[server]),
            last_log_offset=len(s.log[server]),
        )
        send(s, s.net_messages.vote_requests, request)


def send_request_vote(s: State, c: Constants, server: Server):
    """A voter's fetch timeout or election timeout: it becomes a candidate and asks for votes.

    Only who is a voter in its own configuration may, also if it has been removed and does not know.
    Without test_liveness this can happen at any time, up to max_epoch. Since Kafka 4.0 a voter
    first asks whether a majority would vote for it (KIP-996); `kraft.kip_996` has that.
    """
    if s.role[server] != "voter":
        return "the server is not a voter"
    if s.state[server] == "leader":
        return "the server leads"
    if s.state[server] == "illegal_state":
        return "the server is in an illegal state"
    if not is_member(s, server, server):
        return "the server is not in its own configuration"
    if c.test_liveness and not has_reason_for_election(s, c, server):
        return "the server has no reason to hold an election"
    if not c.test_liveness and s.current_epoch[server] >= c.max_epoch:
        return "no later epoch is left (max_epoch)"
    stand_for_election(s, c, server)
    return TAKEN


# --- Who gets them -------------------------------------------------------------------------------


def is_log_good_enough(s, c, server, message) -> bool:
    """Does the candidate's log end at least as far on as the voter's own?

    Raft's election restriction (section 5.4.1): it keeps whatever is committed in the log of
    whoever is elected. Without it, 11 states to a leader that lacks an acknowledged value
    (vote_without_log_check, leader_has_all_acked_values).
    """
    log = s.log[server]
    return c.vote_without_log_check or is_at_or_before(
        len(log), last_epoch(log), message.last_log_offset, message.last_log_epoch
    )


def is_free_to_vote(s, server, candidate) -> bool:
    """Can the server, as it is by now, still vote for this candidate in its epoch?"""
    voted_for = s.voted_for[server]
    if s.state[server] == "unattached":
        return voted_for in (NONE, candidate)
    return s.state[server] == "voted" and voted_for == candidate


def answer_vote_request(s, message, epoch, grants) -> None:
    """Send the answer to a vote request, which was handled by a server of this epoch.

    A request of an earlier epoch is refused, and the answer has the server's own epoch.
    """
    is_stale = message.epoch < epoch
    response = RequestVoteResponse(
        source=message.dest,
        dest=message.source,
        epoch=max(message.epoch, epoch),
        leader=s.leader[message.dest],
        vote_granted=grants and not is_stale,
        error="fenced_leader_epoch" if is_stale else "nil",
    )
    messages, processed = s.net_messages, s.net_messages_processed
    discard(messages.vote_requests, processed.vote_requests, message)
    add_once(messages.vote_responses, response)


def handle_vote_request(s: State, c: Constants, message: VoteRequest):
    """A server votes for the first candidate of an epoch whose log is far enough on, or refuses.

    One vote in an epoch is what keeps two leaders apart. Observers vote, too: the candidate may
    have a configuration in which they are voters, and that they have not fetched yet; without their
    votes the cluster could get stuck (KIP-853). A request of an earlier epoch is refused, and yet
    the server may vote in that epoch: 8 states to an epoch that goes back (epoch_monotone;
    stale_vote_request_fixed fixes it, exercise refuse_without_a_trace).
    """
    server, peer = message.dest, message.source
    reason = why_not_answer(s, message)
    if reason:
        return reason
    state, epoch = s.state[server], s.current_epoch[server]
    is_stale = message.epoch < epoch
    if message.epoch > epoch:
        transition_to_unattached(s, c, server, message.epoch)
    grants = is_free_to_vote(s, server, peer) and is_log_good_enough(s, c, server, message)
    is_ignored = is_stale and c.stale_vote_request_fixed
    if grants and s.state[server] == "unattached" and not is_ignored:
        transition_to_voted(s, c, server, message.epoch, peer)
    if not is_stale and s.state[server] != state:
        s.fetch_state[server] = FetchState()
        fail_pending_writes(s, server)
    answer_vote_request(s, message, epoch, grants)
    return TAKEN


def handle_vote_response(s: State, c: Constants, message: VoteResponse):
    """A candidate counts a vote. A later epoch, or a leader, that the response names is adopted."""
    server, peer = message.dest, message.source
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.role[server] != "voter":
        return "the server is not a voter"
    is_vote = (
        s.state[server] == "candidate"
        and message.vote_granted
        and not is_handled_by_common_rules(s, server, message)
    )
    maybe_handle_common_response(s, c, server, message)
    if is_vote:
        s.votes_recv[server] = with_node(s.votes_recv[server], peer)
    discard(s.net_messages.vote_responses, s.net_messages_processed.vote_responses, message)
    return TAKEN


# --- What a new leader does ----------------------------------------------------------------------


def has_begun_quorum(s, server) -> bool:
    """Has the server already announced to a member that it leads in its present epoch?"""
    requests = s.net_messages.begin_quorum_requests
    processed = s.net_messages_processed.begin_quorum_requests
    for peer in without_node(s.config[server].members, server):
        request = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        if request in requests or request in processed:
            return True
    return False


def become_leader(s: State, c: Constants, server: Server):
    """A candidate with a majority leads: it appends an entry of its epoch, and announces itself.

    The entry is what it can commit at once, and with it all before it: entries of earlier epochs
    are not committed by counting (`new_high_watermark`), and no voter is added or removed before
    (`reconfiguration_error`). The only member of a configuration wins its election and can't lead:
    the original demands that the high watermark goes to the end of the log, and that it stays (see
    single_voter_election_fixed).
    """
    voters = s.config[server].members
    if s.state[server] != "candidate":
        return "the server is not a candidate"
    if not is_majority(s.votes_recv[server], voters):
        return "the votes are not a majority of the configuration"
    would_move = len(voters) == 1 and s.hwm[server] != len(s.log[server]) + 1
    if would_move and not c.single_voter_election_fixed:
        return "the original demands that the high watermark moves, and that it stays"
    if has_begun_quorum(s, server):
        return "the server has already told a member that it leads in this epoch"
    transition_to_leader(s, c, server)
    append(s.log[server], Entry(command="leader_change_record", epoch=s.current_epoch[server]))
    commit_if_alone(s, c, server)
    reset_end_offsets(s, c, server, voters)
    s.fetch_state[server] = FetchState()
    for peer in without_node(voters, server):
        request = BeginQuorumEpochRequest(source=server, dest=peer, epoch=s.current_epoch[server])
        send(s, s.net_messages.begin_quorum_requests, request)
    return TAKEN


def was_told(s, server, peer) -> bool:
    """Has the server ever announced to the peer that it leads, in whatever epoch?

    The original counts a message that was lost as processed: an announcement that is lost is never
    sent again, and the peer may wait for its leader for ever (docs/kraft_findings.md).
    """
    requests = s.net_messages.begin_quorum_requests
    processed = s.net_messages_processed.begin_quorum_requests
    return any(each.source == server and each.dest == peer for each in requests) or any(
        each.source == server and each.dest == peer for each in processed
    )


def does_not_follow(s, server, peer) -> bool:
    """Is the peer in an earlier epoch, or in this one without following?"""
    own, theirs = s.current_epoch[server], s.current_epoch[peer]
    return own > theirs or (own == theirs and s.state[peer] != "follower")


def resend_begin_quorum_epoch_request(s: State, c: Constants, server: Server, peer: Server):
    """A leader announces itself to a member that was out of reach when it was elected.

    Kafka repeats it every half fetch timeout, from 3.9 on to all voters (KAFKA-16536), from 4.2 on
    only to those that have not fetched meanwhile (KAFKA-16926).
    """
    if not c.test_liveness:
        return "only possible with test_liveness"
    if s.state[server] != "leader":
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

    Without BeginQuorumEpoch nobody would know whom to fetch from: a leader that nobody fetches from
    can't send anything (KIP-595). An observer follows, too: it may have been added as a voter, and
    has to know the leader to fetch the command that says so. A request of an earlier epoch is
    ignored, and stays in flight.
    """
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if message.epoch < s.current_epoch[server]:
        return "the request is of an earlier epoch"
    maybe_transition(s, c, server, message.source, message.epoch)
    s.fetch_state[server] = FetchState()
    fail_pending_writes(s, server)
    in_flight, processed = s.net_messages, s.net_messages_processed
    discard(in_flight.begin_quorum_requests, processed.begin_quorum_requests, message)
    return TAKEN
