"""KIP-853 with requests: voters are added and removed on request, by messages that are answered.

What it adds to `kraft.kip_853`: there a leader reconfigures by itself, whenever the model likes.
Here it acts on what it was asked, and on nothing else:

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

What breaks: nothing that `kraft.kip_853` does not break.

Left out: what `kraft.kip_853` leaves out, and the answer that Kafka sends only when the command is
committed.

Source: Jack Vanlightly's README of kip_853, "Reconfiguration"
(https://github.com/Vanlightly/kafka-tlaplus, kraft/kip_853/README.md). Kafka's AddRaftVoter and
RemoveRaftVoter (KIP-853) wait until the command is committed; see in_real_kraft.md.
"""

from typing import Annotated, NamedTuple

from kraft_spec import constants, kip_853, model
from kraft_spec.actions import cluster
from kraft_spec.actions.cluster import (
    add_voter_check,
    append_addition,
    append_removal,
    choosable_pairs,
    keeps_majority_with,
    keeps_majority_without,
    remove_voter_check,
    why_not_add,
    why_not_remove,
)
from kraft_spec.actions.cluster import change_network_connectivity as change_as_published
from kraft_spec.actions.cluster import crash_lose_state as crash_as_published
from kraft_spec.actions.cluster import restart_with_state as restart_as_published
from kraft_spec.actions.replication import why_not_answer
from kraft_spec.actions.server_states import maybe_transition, transition_to_unattached
from kraft_spec.draw.additions import REQUESTS, draw_with_requests
from kraft_spec.draw.events import declare_messages
from kraft_spec.draw.wording import ADMINISTRATOR
from kraft_spec.kip_853 import kip_853_spec
from kraft_spec.model import *
from protocol_lab import *


@extends(constants.Constants)
class Constants(NamedTuple):
    """Those of `kraft.kip_853`, and:"""

    request_slots: Annotated[int, storage(1, 20, "requests to join or to remove, and answers")] = 6


class JoinRequest(Struct):
    """An observer asks to be made a voter. Its number is its identity."""

    source: Server
    dest: Server


class JoinResponse(Struct):
    """The immediate answer: accepted, or an error; with the leader that its source knows."""

    source: Server
    dest: Server
    epoch: Epoch
    leader: Server
    error: Error


class RemoveRequest(Struct):
    """An administrator asks a server to have a voter removed."""

    dest: Server
    remove_server: Server


class RemoveResponse(Struct):
    """The answer to the administrator."""

    source: Server
    remove_server: Server
    leader: Server
    error: Error


class MembershipRequests(Struct):
    """The requests and answers in flight, and whose answer each joining server waits for."""

    join_requests: Bag(JoinRequest, "request_slots")
    join_responses: Bag(JoinResponse, "request_slots")
    remove_requests: Bag(RemoveRequest, "request_slots")
    remove_responses: Bag(RemoveResponse, "request_slots")
    asked: Per(Server, Server)  # NONE: the server does not wait for an answer


class State(model.State):
    """As in `kraft.kip_853`, with the requests."""

    membership: MembershipRequests


Join = Member("membership.join_requests")
JoinAnswer = Member("membership.join_responses")
Remove = Member("membership.remove_requests")
RemoveAnswer = Member("membership.remove_responses")

ACTIONS = tuple(
    each
    for each in kip_853.ACTIONS
    if each not in (cluster.accept_add_voter_request, cluster.accept_remove_voter_request)
)
"""Those of `kraft.kip_853` but for the reconfigurations that nobody asked for."""


# --- Joining -----------------------------------------------------------------------------------


def waits_for_join_answer(s, server) -> bool:
    """Is a request of the server to join in flight, or the answer to one?"""
    return any(request.source == server for request in s.membership.join_requests) or any(
        response.dest == server for response in s.membership.join_responses
    )


def send_join_request(s: State, c: Constants, server: Server, peer: Server):
    """An observer that has fetched what its leader has committed asks it to be made a voter.

    It asks again if the request or the answer was lost, or if it was accepted and the command did
    not arrive.
    """
    if not has_started(s, server):
        return "the server was never started"
    if s.role[server] != "observer":
        return "the server is not an observer"
    if s.state[server] != "follower" or s.leader[server] != peer:
        return "the server does not follow the peer"
    if len(s.log[server]) < s.hwm[peer]:
        return "the server lacks what is committed"
    if s.aux_ctrs.add_reconfig_ctr >= c.max_add_reconfigs:
        return "no addition is left (max_add_reconfigs)"
    if waits_for_join_answer(s, server):
        return "the server waits for an answer"
    send(s, s.membership.join_requests, JoinRequest(source=server, dest=peer))
    s.membership.asked[server] = peer
    return TAKEN


def answer_join(s, message, error: Error) -> None:
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
    reason = why_not_answer(s, message)
    if reason:
        return reason
    reason = why_not_add(s, c, server, add_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_with(s, server, add_server):
        return "the leader would not be connected to a majority of the voters"
    append_addition(s, c, server, add_server)
    answer_join(s, message, "nil")
    return TAKEN


def reject_join_request(s: State, c: Constants, message: Join):
    """A server that does not lead, or can't add the voter, says why."""
    server = message.dest
    error = add_voter_check(s, c, server, message.source)
    refusal = why_not_answer(s, message)
    if refusal:
        return refusal
    if error == "nil":
        return "nothing forbids the addition"
    answer_join(s, message, error)
    return TAKEN


def turn_to_leader(s, c, server, message) -> None:
    """An observer that asked a server that does not lead follows the leader, or looks for one."""
    epoch = message.epoch
    if s.role[server] != "observer" or epoch < s.current_epoch[server]:
        return
    if message.leader == NONE:
        transition_to_unattached(s, c, server, epoch)
        s.fetch_state[server] = FetchState()
    else:
        maybe_transition(s, c, server, message.leader, epoch)


def handle_join_response(s: State, c: Constants, message: JoinAnswer):
    """A joining server learns what became of its request; an answer to an old one is ignored."""
    server = message.dest
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if s.membership.asked[server] == message.source:
        s.membership.asked[server] = NONE
        if message.error == "not_leader":
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
    if len(s.membership.remove_requests) + len(s.membership.remove_responses) > 0:
        return "the administrator waits for an answer"
    request = RemoveRequest(dest=peer, remove_server=remove_server)
    add_once(s.membership.remove_requests, request)
    return TAKEN


def answer_removal(s, message, error: Error) -> None:
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
    if not is_receivable(s, message):
        return "the server has lost its disk"
    reason = why_not_remove(s, c, server, remove_server)
    if reason:
        return reason
    if c.test_liveness and not keeps_majority_without(s, c, server, remove_server):
        return "the leader would not be connected to a majority of the voters"
    append_removal(s, c, server, remove_server)
    answer_removal(s, message, "nil")
    return TAKEN


def reject_remove_request(s: State, c: Constants, message: Remove):
    """A server that does not lead, or can't remove the voter, says why."""
    error = remove_voter_check(s, c, message.dest, message.remove_server)
    if not is_receivable(s, message):
        return "the server has lost its disk"
    if error == "nil":
        return "nothing forbids the removal"
    answer_removal(s, message, error)
    return TAKEN


def handle_remove_response(s: State, c: Constants, message: RemoveAnswer):
    """The administrator reads the answer, and may ask again."""
    take(s.membership.remove_responses, message)
    return TAKEN


# --- What is lost --------------------------------------------------------------------------------


def restart_with_state(s: State, c: Constants, server: Server):
    """As in `kraft.kip_853`; the server no longer knows that it has asked to join."""
    reason = restart_as_published(s, c, server)
    if reason:
        return reason
    s.membership.asked[server] = NONE
    return TAKEN


def lose_requests_across(s, links: NodeSet(Pair)) -> None:
    """Requests to join, and the answers, are lost in flight across these links."""
    remove_across(s.membership.join_requests, links)
    remove_across(s.membership.join_responses, links)


def crash_lose_state(s: State, c: Constants, server: Server):
    """As in `kraft.kip_853`; what the server asked, and what it was asked, is gone, too."""
    reason = crash_as_published(s, c, server)
    if reason:
        return reason
    lose_requests_across(s, pairs_of(c, server))
    s.membership.asked[server] = NONE
    lose_removals_of(s, server)
    return TAKEN


def lose_removals_of(s, server) -> None:
    """An administrator's requests to this server are lost."""
    requests = s.membership.remove_requests
    k = 0
    while k < len(requests):
        if requests.items[k].dest == server:
            take(requests, requests.items[k])
        else:
            k += 1


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """As in `kraft.kip_853`; requests to join, and the answers, are lost, too."""
    reason = change_as_published(s, c, down)
    if reason:
        return reason
    lose_requests_across(s, down)
    return TAKEN


def within_messages_in_flight(s: State, c: Constants):
    """At most max_messages_in_flight messages are in flight."""
    asked = s.membership
    joining = len(asked.join_requests) + len(asked.join_responses)
    removing = len(asked.remove_requests) + len(asked.remove_responses)
    if messages_in_flight(s) + joining + removing > c.max_messages_in_flight:
        return "too many messages are in flight"
    return HOLDS


# --- Properties ----------------------------------------------------------------------------------


def is_last_command(s, server, command: Command, changed) -> bool:
    """Is it the last entry of the server's log that adds or removes this server?"""
    entry = last(s.log[server])
    return entry.command == command and entry.server == changed


def an_acceptance_is_in_the_log(before: State, after: State, c: Constants):
    """A server that accepts a request appends its command in the same step."""
    for answer in after.membership.join_responses:
        if (
            answer.error == "nil"
            and answer not in before.membership.join_responses
            and not is_last_command(after, answer.source, "add_voter_command", answer.dest)
        ):
            return "a request to join was accepted, and the command is not in the log"
    for reply in after.membership.remove_responses:
        removed = reply.remove_server
        if (
            reply.error == "nil"
            and reply not in before.membership.remove_responses
            and not is_last_command(after, reply.source, "remove_voter_command", removed)
        ):
            return "a request to remove was accepted, and the command is not in the log"
    return HOLDS


def nobody_waits_in_vain(s: State, c: Constants):
    """A server that has asked to join waits for the answer of another server that was started."""
    for server in range(1, c.max_spawned_servers + 1):
        asked = s.membership.asked[server]
        if asked != NONE and (asked == server or not has_started(s, asked)):
            return "a server waits for the answer of a server that was never started"
        if asked != NONE and s.state[server] == "dead_no_state":
            return "a server that has lost its disk waits for an answer"
    return HOLDS


def a_server_has_joined(s: State, c: Constants) -> bool:
    """A server that asked to join is a voter, and knows that its configuration is committed."""
    return any(
        s.role[server] == "voter"
        and s.config[server].committed
        and is_member(s, server, server)
        and s.membership.asked[server] == NONE
        for server in range(c.init_cluster_size + 1, c.max_spawned_servers + 1)
    )


def a_request_is_rejected(s: State, c: Constants) -> bool:
    """A server or the administrator is told that its request is rejected."""
    return any(answer.error != "nil" for answer in s.membership.join_responses) or any(
        answer.error != "nil" for answer in s.membership.remove_responses
    )


# --- Situations and liveness -------------------------------------------------------------------


def a_request_is_accepted(s: State, c: Constants) -> bool:
    """A request to join or to remove is accepted, and the sender does not know yet."""
    return any(answer.error == "nil" for answer in s.membership.join_responses) or any(
        answer.error == "nil" for answer in s.membership.remove_responses
    )


def a_server_waits_for_a_former_leader(s: State, c: Constants) -> bool:
    """A server has asked to join a server that no longer leads."""
    return any(
        s.membership.asked[server] != NONE and s.state[s.membership.asked[server]] != "leader"
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


def declare_requests(spec: Spec) -> None:
    """Register the actions and properties of this variant, and where its messages are."""
    spec.action(restart_with_state)
    spec.action(crash_lose_state)
    spec.action(change_network_connectivity)
    spec.action(send_join_request)
    spec.action(accept_join_request)
    spec.action(reject_join_request)
    spec.action(handle_join_response)
    spec.action(send_remove_request)
    spec.action(accept_remove_request)
    spec.action(reject_remove_request)
    spec.action(handle_remove_response)
    spec.invariant(nobody_waits_in_vain)
    spec.step_invariant(an_acceptance_is_in_the_log)
    spec.situation(a_server_has_joined, expected=True)
    spec.situation(a_request_is_rejected, expected=True)
    spec.constraint(within_messages_in_flight)
    spec.weakly_fair(
        accept_join_request,
        reject_join_request,
        handle_join_response,
        each=("message.dest", "message.source"),
    )
    spec.weakly_fair(accept_remove_request, reject_remove_request, each="message.dest")
    spec.weakly_fair(handle_remove_response, each="message.source")
    spec.property(join_requests_answered)
    spec.situation(a_request_is_accepted)
    spec.situation(a_server_waits_for_a_former_leader)
    declare_messages(spec, REQUESTS)


CONFIGURATIONS = (
    Configuration("default", "as kraft.kip_853, and nobody asks", "11,852 distinct states"),
    Configuration(
        "removal",
        "one of two voters is removed on request, in one epoch",
        "3,688 distinct states",
        {
            "max_cluster_size": 2,
            "hosts": 2,
            "max_epoch": 1,
            "max_values_per_epoch": 0,
            "max_remove_reconfigs": 1,
        },
    ),
)


spec = kip_853_spec(
    "kip_853_with_requests",
    __doc__,
    state=State,
    constants=Constants,
    actions=ACTIONS,
    draw=draw_with_requests,
    lifelines=(Server, ADMINISTRATOR),
    configurations=CONFIGURATIONS,
)
declare_requests(spec)
