"""An addition: voters are added and removed on request, by messages that are answered.

With membership_requests a leader acts on what it was asked, and on nothing else:

- A new server fetches as an observer until it has caught up, and then asks its leader to be made
  a voter. It goes on fetching, until the command that adds it is in its own log.
- An administrator asks any server to have a voter removed.

The server that is asked answers at once, and does not wait until the command is committed. It
accepts, or says why not; the first of these that applies decides:

    NotLeader            it does not lead; the answer names the leader, if it knows one
    AlreadyMember        (to join) the server is a voter already
    UnknownMember        (to remove) the server is not a voter; the original's prose says NotMember
    ReconfigInProgress   the last configuration is not committed
    LeaderNotReady       nothing of the leader's epoch is committed

On NotLeader a joining server turns to the leader that the answer names; if it names none, it looks
for one as an observer does. AlreadyMember is as good as accepted. After the last two errors, and
where the request or the answer was lost, it asks again. An acceptance is no promise: the leader may
be replaced before the command is committed.

A join request and its answer are lost with the link between the two; the administrator reaches
every server that has its disk, and asks for one thing at a time.

Source: Jack Vanlightly's README of kip_853, "Reconfiguration"
(https://github.com/Vanlightly/kafka-tlaplus, kraft/kip_853/README.md). Kafka's AddRaftVoter and
RemoveRaftVoter (KIP-853) wait until the command is committed; see in_real_kraft.md.
"""

from kraft_spec.actions.network import is_receivable, send
from kraft_spec.actions.reconfiguration import (
    add_voter_check,
    append_addition,
    append_removal,
    keeps_majority_with,
    keeps_majority_without,
    reason,
    remove_voter_check,
)
from kraft_spec.actions.server_states import apply_state, maybe_transition, to_unattached
from kraft_spec.extensions.added_messages import (
    JoinRequest,
    JoinResponse,
    RemoveRequest,
    RemoveResponse,
)
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import is_connected
from kraft_spec.model.names import (
    ADD_VOTER_COMMAND,
    DEAD_NO_STATE,
    FOLLOWER,
    LEADER,
    NO_ERROR,
    NOT_LEADER,
    OBSERVER,
    REMOVE_VOTER_COMMAND,
    VOTER,
    Server,
)
from kraft_spec.model.state import State, has_started, is_alive, is_member
from protocol_lab import (
    HOLDS,
    NONE,
    TAKEN,
    Member,
    Spec,
    add_once,
    erase,
    is_in,
    leads_to,
    size,
    take,
)

Join = Member("membership.join_requests")
JoinAnswer = Member("membership.join_responses")
Remove = Member("membership.remove_requests")
RemoveAnswer = Member("membership.remove_responses")


# --- Joining -----------------------------------------------------------------------------------


def waits_for_join_answer(s, server) -> bool:
    """Is a request of the server to join in flight, or the answer to one?"""
    requests, responses = s.membership.join_requests, s.membership.join_responses
    return any(requests.items[k].source == server for k in range(requests.size)) or any(
        responses.items[k].dest == server for k in range(responses.size)
    )


def send_join_request(s: State, c: Constants, server: Server, peer: Server):
    """An observer that has fetched what its leader has committed asks it to be made a voter.

    It asks again if the request or the answer was lost, or if it was accepted and the command did
    not arrive.
    """
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != OBSERVER:
        return "the server is not an observer"
    if s.state[server] != FOLLOWER or s.leader[server] != peer:
        return "the server does not follow the peer"
    if s.log[server].length < s.hwm[peer]:
        return "the server lacks what is committed"
    if s.aux_ctrs.add_reconfig_ctr >= c.max_add_reconfigs:
        return "no addition is left (max_add_reconfigs)"
    if waits_for_join_answer(s, server):
        return "the server waits for an answer"
    send(s, s.membership.join_requests, JoinRequest(source=server, dest=peer))
    s.membership.asked[server] = peer
    return TAKEN


def answer_join(s, message, error) -> None:
    """Take a request to join, and send the answer."""
    server = message.dest
    response = JoinResponse(
        source=server,
        dest=message.source,
        epoch=s.current_epoch[server],
        leader=s.leader[server],
        error=error,
    )
    take(s.membership.join_requests, message)
    add_once(s.membership.join_responses, response)


def accept_join_request(s: State, c: Constants, message: Join):
    """A leader makes the server that asks a voter: it appends the command, and accepts."""
    server, add_server = message.dest, message.source
    error = add_voter_check(s, c, server, add_server)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error != NO_ERROR:
        return reason(error)
    if not is_connected(s, server, add_server):
        return "the answer can't be sent: the link is down"
    if s.aux_ctrs.add_reconfig_ctr >= c.max_add_reconfigs:
        return "no addition is left (max_add_reconfigs)"
    if size(s.config[server].members) >= c.max_cluster_size:
        return "there are as many voters as max_cluster_size allows"
    if c.test_liveness and not keeps_majority_with(s, server, add_server):
        return "the leader would not be connected to a majority of the voters"
    append_addition(s, c, server, add_server)
    answer_join(s, message, NO_ERROR)
    return TAKEN


def reject_join_request(s: State, c: Constants, message: Join):
    """A server that does not lead, or can't add the voter, says why."""
    server = message.dest
    error = add_voter_check(s, c, server, message.source)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error == NO_ERROR:
        return "nothing forbids the addition"
    if not is_connected(s, server, message.source):
        return "the answer can't be sent: the link is down"
    answer_join(s, message, error)
    return TAKEN


def turn_to_leader(s, c, server, message) -> None:
    """An observer that asked a server that does not lead follows the leader, or looks for one."""
    epoch = message.epoch
    if s.role[server] != OBSERVER or epoch < s.current_epoch[server]:
        return
    if message.leader == NONE:
        apply_state(s, c, server, to_unattached(s, c, server, epoch, OBSERVER))
        erase(s.fetch_state, server)
    else:
        apply_state(s, c, server, maybe_transition(s, c, server, message.leader, epoch))


def handle_join_response(s: State, c: Constants, message: JoinAnswer):
    """A joining server learns what became of its request; an answer to an old one is ignored."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.membership.asked[server] == message.source:
        s.membership.asked[server] = NONE
        if message.error == NOT_LEADER:
            turn_to_leader(s, c, server, message)
    take(s.membership.join_responses, message)
    return TAKEN


# --- Removing ----------------------------------------------------------------------------------


def send_remove_request(s: State, c: Constants, peer: Server, remove_server: Server):
    """An administrator asks a server, whether it leads or not, to have a voter removed."""
    if not is_alive(s, peer):
        return "the server that would be asked does not run"
    if not has_started(s, remove_server):
        return "the server to be removed was never started"
    if s.aux_ctrs.remove_reconfig_ctr >= c.max_remove_reconfigs:
        return "no removal is left (max_remove_reconfigs)"
    if s.membership.remove_requests.size + s.membership.remove_responses.size > 0:
        return "the administrator waits for an answer"
    request = RemoveRequest(dest=peer, remove_server=remove_server)
    add_once(s.membership.remove_requests, request)
    return TAKEN


def answer_removal(s, message, error) -> None:
    """Take an administrator's request, and send the answer."""
    server = message.dest
    response = RemoveResponse(
        source=server,
        remove_server=message.remove_server,
        leader=s.leader[server],
        error=error,
    )
    take(s.membership.remove_requests, message)
    add_once(s.membership.remove_responses, response)


def accept_remove_request(s: State, c: Constants, message: Remove):
    """A leader removes a voter, perhaps itself: it appends the command, and accepts."""
    server, remove_server = message.dest, message.remove_server
    error = remove_voter_check(s, c, server, remove_server)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error != NO_ERROR:
        return reason(error)
    if s.aux_ctrs.remove_reconfig_ctr >= c.max_remove_reconfigs:
        return "no removal is left (max_remove_reconfigs)"
    if size(s.config[server].members) <= c.min_cluster_size:
        return "there would be fewer voters than min_cluster_size"
    if c.test_liveness and not keeps_majority_without(s, c, server, remove_server):
        return "the leader would not be connected to a majority of the voters"
    append_removal(s, c, server, remove_server)
    answer_removal(s, message, NO_ERROR)
    return TAKEN


def reject_remove_request(s: State, c: Constants, message: Remove):
    """A server that does not lead, or can't remove the voter, says why."""
    error = remove_voter_check(s, c, message.dest, message.remove_server)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error == NO_ERROR:
        return "nothing forbids the removal"
    answer_removal(s, message, error)
    return TAKEN


def handle_remove_response(s: State, c: Constants, message: RemoveAnswer):
    """The administrator reads the answer, and may ask again."""
    take(s.membership.remove_responses, message)
    return TAKEN


# --- Properties ----------------------------------------------------------------------------------


def is_last_command(s, server, command, changed) -> bool:
    """Is it the last entry of the server's log that adds or removes this server?"""
    log = s.log[server]
    last = log.items[max(0, log.length - 1)]
    return last.command == command and last.server == changed


def an_acceptance_is_in_the_log(before: State, after: State, c: Constants):
    """A server that accepts a request appends its command in the same step."""
    joins, old_joins = after.membership.join_responses, before.membership.join_responses
    for k in range(joins.size):
        answer = joins.items[k]
        if (
            answer.error == NO_ERROR
            and not is_in(old_joins, answer)
            and not is_last_command(after, answer.source, ADD_VOTER_COMMAND, answer.dest)
        ):
            return "a request to join was accepted, and the command is not in the log"
    removals, old_removals = after.membership.remove_responses, before.membership.remove_responses
    for k in range(removals.size):
        reply = removals.items[k]
        if (
            reply.error == NO_ERROR
            and not is_in(old_removals, reply)
            and not is_last_command(after, reply.source, REMOVE_VOTER_COMMAND, reply.remove_server)
        ):
            return "a request to remove was accepted, and the command is not in the log"
    return HOLDS


def nobody_waits_in_vain(s: State, c: Constants):
    """A server that has asked to join waits for the answer of another server that was started."""
    for server in range(1, c.max_spawned_servers + 1):
        asked = s.membership.asked[server]
        if asked != NONE and (asked == server or not has_started(s, asked)):
            return "a server waits for the answer of a server that was never started"
        if asked != NONE and s.state[server] == DEAD_NO_STATE:
            return "a server that has lost its disk waits for an answer"
    return HOLDS


def a_server_has_joined(s: State, c: Constants):
    """A server that asked to join is a voter, and knows that its configuration is committed."""
    for server in range(c.init_cluster_size + 1, c.max_spawned_servers + 1):
        if (
            s.role[server] == VOTER
            and s.config[server].committed
            and is_member(s, server, server)
            and s.membership.asked[server] == NONE
        ):
            return HOLDS
    return "no server has joined"


def a_request_is_rejected(s: State, c: Constants):
    """A server or the administrator is told that its request is rejected."""
    joins, removals = s.membership.join_responses, s.membership.remove_responses
    if any(joins.items[k].error != NO_ERROR for k in range(joins.size)):
        return HOLDS
    if any(removals.items[k].error != NO_ERROR for k in range(removals.size)):
        return HOLDS
    return "no request is rejected"


# --- Situations and liveness -------------------------------------------------------------------


def a_request_is_accepted(s: State, c: Constants) -> bool:
    """A request to join or to remove is accepted, and the sender does not know yet."""
    joins, removals = s.membership.join_responses, s.membership.remove_responses
    return any(joins.items[k].error == NO_ERROR for k in range(joins.size)) or any(
        removals.items[k].error == NO_ERROR for k in range(removals.size)
    )


def a_server_waits_for_a_former_leader(s: State, c: Constants) -> bool:
    """A server has asked to join a server that no longer leads."""
    return any(
        s.membership.asked[server] != NONE and s.state[s.membership.asked[server]] != LEADER
        for server in range(1, c.max_spawned_servers + 1)
    )


def waits_for_answer(s: State, c: Constants, server) -> bool:
    """Does the server wait for the answer to its request to join?"""
    return s.membership.asked[server] != NONE


def waits_for_no_answer(s: State, c: Constants, server) -> bool:
    """Was its request answered, or did it never ask?"""
    return s.membership.asked[server] == NONE


def join_requests_answered(server: Server):
    """A server that has asked to join is eventually told whether it may."""
    return leads_to(waits_for_answer, waits_for_no_answer)


def declare_membership_requests(spec: Spec) -> None:
    """Register the actions and properties that exist with membership_requests."""
    where = "membership_requests"
    spec.action(send_join_request, where=where)
    spec.action(accept_join_request, where=where)
    spec.action(reject_join_request, where=where)
    spec.action(handle_join_response, where=where)
    spec.action(send_remove_request, where=where)
    spec.action(accept_remove_request, where=where)
    spec.action(reject_remove_request, where=where)
    spec.action(handle_remove_response, where=where)
    spec.invariant(nobody_waits_in_vain, where=where)
    spec.step_invariant(an_acceptance_is_in_the_log, where=where)
    spec.sometimes(a_server_has_joined, where=where)
    spec.sometimes(a_request_is_rejected, where=where)
    spec.weakly_fair(
        accept_join_request,
        reject_join_request,
        handle_join_response,
        each=("message.dest", "message.source"),
    )
    spec.weakly_fair(accept_remove_request, reject_remove_request, each="message.dest")
    spec.weakly_fair(handle_remove_response, each="message.source")
    spec.property(join_requests_answered, where=where)
    spec.situation(a_request_is_accepted, where=where)
    spec.situation(a_server_waits_for_a_former_leader, where=where)
