"""Exercises of notebooks/kraft/14_which_rules_does_kafka_add: rules that the original has not.

When is a voter added, when is an administrator answered, who makes room for a new voter, and what
does a fetch wait for? Each check puts one guard into `kraft.kip_853`.
"""

from collections.abc import Callable
from dataclasses import replace

from kraft_spec import kip_853, model
from kraft_spec.actions.cluster import accept_add_voter_request as add_as_published
from kraft_spec.actions.cluster import accept_remove_voter_request as remove_as_published
from kraft_spec.actions.cluster import append_removal, lose_disk
from kraft_spec.actions.replication import (
    commit_up_to,
    is_valid_fetch_position,
    new_high_watermark,
    reply,
    why_not_serve,
)
from kraft_spec.challenges import THREE_SERVERS
from kraft_spec.constants import Constants
from kraft_spec.kip_853 import kip_853_spec
from kraft_spec.model import Server, has_started, is_alive, is_member, pair, pairs_of
from protocol_lab import *
from protocol_lab.model.spec import Action, Property, Situation, Spec
from protocol_lab.teaching.exercises import *

FIXED = {
    "stale_vote_request_fixed": True,
    "observer_vote_fixed": True,
    "single_voter_commit_fixed": True,
    "first_fetch_fixed": True,
}
"""Without the defects of the original that would be found first."""


def starting_with(spec: Spec, arrange: Callable[..., str]) -> Spec:
    """The spec with this initial state instead of its own."""
    return replace(spec, inits=[Action(arrange, {})])


# --- Who has caught up ---------------------------------------------------------------------------

JOINING = {
    "init_cluster_size": 1,
    "min_cluster_size": 1,
    "max_cluster_size": 2,
    "hosts": 1,
    "max_spawned_servers": 2,
    "max_epoch": 1,
    "max_add_reconfigs": 1,
    "max_messages_in_flight": 2,
    "first_fetch_fixed": True,
}
"""One voter, a value, and a second server that may be started and added."""


def a_new_voter_has_what_is_committed(before: model.State, after: model.State, c: Constants):
    """A server that becomes a voter holds all that its leader knows to be committed."""
    for leader in range(1, c.max_spawned_servers + 1):
        if before.state[leader] == "leader" and after.state[leader] == "leader":
            for server in after.config[leader].members:
                is_new = not is_member(before, server, leader)
                if is_new and len(before.log[server]) < before.hwm[leader]:
                    return "the new voter lacks a committed entry"
    return HOLDS


def a_voter_is_added(s: model.State, c: Constants):
    """A second server is a voter."""
    return len(s.config[1].members) == 2


def with_catching_up(is_caught_up):
    """The action that adds a voter, with one guard more."""

    def accept_add_voter_request(s, c, server, add_server):
        if not is_caught_up(s, server, add_server):
            return "the server to be added has not caught up"
        return add_as_published(s, c, server, add_server)

    return accept_add_voter_request


def has_all_that_is_committed(s, leader, server):
    return len(s.log[server]) >= s.hwm[leader]


@exercise(
    hints=[
        "`len(s.log[server])` is how much it has fetched, `s.hwm[leader]` how much is committed.",
        "A leader that writes all the time always has an entry that the new server lacks. Which of"
        " its entries can a client already rely on?",
    ],
    answer=has_all_that_is_committed,
    why="The original has no such guard. Kafka has it since 3.9 (KIP-853): a server has caught up"
    " once a fetch of it has reached the end of the leader's log, if it has fetched within the last"
    " hour (`LeaderState.isReplicaCaughtUp`). The model has no clock, and the guard looks at both"
    " logs from outside.",
)
def who_has_caught_up(answer) -> Feedback:
    """Who has caught up? (KIP-853 as Kafka ships it, not part of the original)

    In the model a leader adds a server whose log is empty; Kafka asks first whether it has caught
    up. Write `is_caught_up(s, leader, server)`. The check puts it into `kraft.kip_853`: a new voter
    must hold all that is committed, and it must still be possible to add one.
    """
    expect_parameters(answer, "s", "leader", "server")
    claimed = replace(
        kip_853.spec,
        step_invariants=[Property(a_new_voter_has_what_is_committed)],
        situations=[Situation(a_voter_is_added, expected=True)],
    )
    return repair(
        claimed.bind(**JOINING),
        "accept_add_voter_request",
        with_catching_up(answer),
        invariants=["a_new_voter_has_what_is_committed"],
    )


# --- When the administrator is answered ----------------------------------------------------------

REMOVING = FIXED | {
    **THREE_SERVERS,
    "max_values_per_epoch": 0,
    "max_remove_reconfigs": 1,
    "max_disconnected_pairs": 1,
    "test_liveness": True,
    "max_current_epoch": 2,
    "max_messages_in_flight": 2,
}
"""Three voters, one of which is being removed; who hears nothing may stand for election."""


class Answered(model.State):
    """As in `kraft.kip_853`, and the servers that the administrator was told are removed."""

    told_removed: NodeSet(Server)


def server_3_is_being_removed(s: Answered, c: Constants):
    """Server 3 can't reach the leader, server 1, which has just appended its removal."""
    model.init(s, c)
    s.net_connectivity = without_node(s.net_connectivity, pair(1, 3))
    append_removal(s, c, 1, 3)
    return TAKEN


def a_removal_is_answered(s: Answered, c: Constants):
    """The administrator is told that a voter is removed."""
    return len(s.told_removed) > 0


def an_answer_is_kept(s: Answered, c: Constants):
    """The latest leader has no voter that the administrator was told is removed."""
    latest = 0
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "leader":
            latest = max(latest, s.current_epoch[server])
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "leader" and s.current_epoch[server] == latest:
            for member in s.config[server].members:
                if member in s.told_removed:
                    return (
                        "the latest leader has a voter that the administrator was told is removed"
                    )
    return HOLDS


def with_answer_when(may_answer):
    """`kraft.kip_853` in which a leader answers the administrator who asked for a removal."""
    spec = kip_853_spec("kip_853_answers", "A removal is answered.", state=Answered)

    @spec.action
    def answer_removal(s: Answered, c: Constants, server: Server, removed: Server):
        """A leader tells the administrator that the voter is removed."""
        if s.state[server] != "leader":
            return "the server is not a leader"
        if not has_started(s, removed) or is_member(s, removed, server):
            return "the other one is a voter"
        if removed in s.told_removed:
            return "the administrator was told before"
        if not may_answer(s, server):
            return "the leader does not answer yet"
        s.told_removed = with_node(s.told_removed, removed)
        return TAKEN

    spec.invariant(an_answer_is_kept)
    return starting_with(spec, server_3_is_being_removed), answer_removal


def once_it_is_committed(s, leader):
    return s.config[leader].committed


@exercise(
    hints=[
        "The command is in the leader's log. Who else has to have it, so that no later leader can"
        " be without it?",
        "`s.config[leader]` is the configuration that the leader assumes; besides `members` it has"
        " the field `committed`.",
    ],
    answer=once_it_is_committed,
    why="A command that is in one log only may still be truncated. Since 3.9 Kafka answers"
    " AddRaftVoter and RemoveRaftVoter when the record is committed, or with REQUEST_TIMED_OUT. A"
    " controller that adds itself (since 4.2) is answered when the record is appended:"
    " `AckWhenCommitted=false`, KIP-1186.",
)
def when_to_answer(answer) -> Feedback:
    """When is the administrator answered? (KIP-853 as Kafka ships it, not part of the original)

    Server 3 can't reach the leader. An administrator asks for its removal, and will switch it off
    on hearing that it votes no more. The removal stands in the leader's log. Write
    `may_answer(s, leader)`: may the leader answer now? The check puts it into `kraft.kip_853`: no
    later leader may have a voter that the administrator believes removed, and an answer must still
    be possible.
    """
    expect_parameters(answer, "s", "leader")
    spec, action = with_answer_when(answer)
    spec = replace(spec, situations=[Situation(a_removal_is_answered, expected=True)])
    return repair(spec.bind(**REMOVING), "answer_removal", action, invariants=["an_answer_is_kept"])


# --- Who makes room for itself -------------------------------------------------------------------

REPLACING = FIXED | {
    "init_cluster_size": 3,
    "min_cluster_size": 2,
    "max_cluster_size": 3,
    "hosts": 4,
    "max_spawned_servers": 4,
    "max_values_per_epoch": 0,
    "max_disconnected_pairs": 3,
    "max_add_reconfigs": 1,
    "max_remove_reconfigs": 1,
    "test_liveness": True,
    "max_current_epoch": 1,
    "max_messages_in_flight": 1,
}
"""Three voters on three hosts, and a server that starts with an empty disk."""


def server_3_has_lost_its_disk(s: model.State, c: Constants):
    """Servers 1 to 3 are voters, and server 1 leads; nothing is left of server 3."""
    model.init(s, c)
    s.net_connectivity = s.net_connectivity & ~pairs_of(c, 3)
    lose_disk(s, c, 3)
    return TAKEN


def a_host_has_one_disk(s: model.State, c: Constants):
    """The new server runs on the host of the lost one, or on another one that is free."""
    if has_started(s, 4) and s.server_ids[4].host in (1, 2):
        return "two servers run on one host"
    return HOLDS


def is_on_host_of(s, server, other) -> bool:
    """Do both run on one host, under one node id?"""
    return s.server_ids[server].host == s.server_ids[other].host


def only_the_replaced_is_removed(before: model.State, after: model.State, c: Constants):
    """Where a voter is removed, another server runs on its host."""
    for leader in range(1, c.max_spawned_servers + 1):
        if before.state[leader] == "leader" and after.state[leader] == "leader":
            for voter in before.config[leader].members:
                if not is_member(after, voter, leader):
                    is_replaced = any(
                        server != voter
                        and is_alive(before, server)
                        and is_on_host_of(before, server, voter)
                        for server in range(1, c.max_spawned_servers + 1)
                    )
                    if not is_replaced:
                        return "a voter is removed whose place nobody takes"
    return HOLDS


def the_new_server_is_a_voter(s: model.State, c: Constants):
    """The new server is a voter."""
    return any(
        s.state[leader] == "leader" and is_member(s, 4, leader)
        for leader in range(1, c.max_spawned_servers + 1)
    )


def add_if_id_is_free(s, c, server, add_server):
    """The leader adds a voter, unless its node id is already that of a voter (DUPLICATE_VOTER)."""
    for voter in s.config[server].members:
        if voter != add_server and is_on_host_of(s, voter, add_server):
            return "the node id is that of a voter"
    return add_as_published(s, c, server, add_server)


def with_removal_if(replaces):
    """The action that removes a voter, if a server that wants to join asks for it."""

    def accept_remove_voter_request(s, c, server, remove_server):
        is_asked = False
        for joining in range(1, c.max_spawned_servers + 1):
            if (
                is_alive(s, joining)
                and s.role[joining] == "observer"
                and has_started(s, remove_server)
                and replaces(s, joining, remove_server)
            ):
                is_asked = True
        if not is_asked:
            return "nobody asks for that"
        return remove_as_published(s, c, server, remove_server)

    return accept_remove_voter_request


def has_my_host_and_another_disk(s, server, voter):
    return server != voter and s.server_ids[server].host == s.server_ids[voter].host


@exercise(
    hints=[
        "The new server knows its own identity, and those of the voters:"
        " `s.server_ids[server].host` and `.disk_id`.",
        "It can't know which servers are gone, and need not: a host has one disk at a time.",
    ],
    answer=has_my_host_and_another_disk,
    why="With `controller.quorum.auto.join.enable` (KIP-1186, since 4.2) a controller that is an"
    " observer asks for itself. If its node id is that of a voter with another directory id, it"
    " sends RemoveRaftVoter for that one first, and AddRaftVoter only then"
    " (`KafkaRaftClient.pollFollowerAsObserver` 4.2.0). To remove a voter on another host is left"
    " to the administrator.",
)
def who_makes_room(answer) -> Feedback:
    """Who makes room? (KIP-1186 as Kafka ships it, not part of the original)

    Server 3 has lost its disk. A server with an empty disk starts, on the same host or on another
    one, and is to become a voter without an administrator. The leader refuses to add a server that
    has the node id (here: the host) of a voter. Write `replaces(s, server, voter)`: does the new
    server ask for the removal of this voter before it asks to join? The check puts it into
    `kraft.kip_853`: a voter may be removed only if the new server takes its place, and the new
    server must be able to become a voter.
    """
    expect_parameters(answer, "s", "server", "voter")
    spec = with_action(kip_853.spec, "accept_add_voter_request", add_if_id_is_free)
    spec = replace(
        starting_with(spec, server_3_has_lost_its_disk),
        constraints=[*spec.constraints, Property(a_host_has_one_disk)],
        step_invariants=[Property(only_the_replaced_is_removed)],
        situations=[Situation(the_new_server_is_a_voter, expected=True)],
    )
    return repair(
        spec.bind(**REPLACING),
        "accept_remove_voter_request",
        with_removal_if(answer),
        invariants=["only_the_replaced_is_removed"],
    )


# --- What a fetch waits for ----------------------------------------------------------------------

FETCHING = FIXED | {
    "init_cluster_size": 3,
    "max_cluster_size": 3,
    "hosts": 3,
    "max_spawned_servers": 3,
    "test_liveness": True,
}
"""Three voters and a value. No link fails, so that nobody has a reason for an election."""


def rest(s: model.State, c: Constants):
    """Nothing changes. A run may end where every follower has its leader's high watermark: this
    step is possible there, so that it is no deadlock."""
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "follower" and s.hwm[server] < s.hwm[s.leader[server]]:
            return "a follower does not know what is committed"
    return TAKEN


def an_answer_brings_something(before: model.State, after: model.State, c: Constants):
    """An answer brings an entry, or a later high watermark than the follower has."""
    for answer in after.net_messages.fetch_responses:
        if (
            answer not in before.net_messages.fetch_responses
            and answer.error == "nil"
            and answer.entry.command == "nil"
            and answer.hwm <= before.hwm[answer.dest]
        ):
            return "an answer brings neither an entry nor a later high watermark"
    return HOLDS


def with_waiting(waits):
    """The action that serves a voter's fetch: one at the log's end may have to wait."""

    def accept_fetch_request_from_voter(s, c, message):
        server, peer = message.dest, message.source
        reason = why_not_serve(s, c, message)
        if reason:
            return reason
        if message.observer or not is_valid_fetch_position(s.log[server], message):
            return "the request is from an observer, or the logs do not agree"
        is_news = s.flwr_end_offset[server][peer] != message.fetch_offset - 1
        is_at_end = message.fetch_offset > len(s.log[server])
        if not is_news and is_at_end and waits(s, server, message):
            return "the fetch waits"
        s.flwr_end_offset[server][peer] = message.fetch_offset - 1
        new_hwm = new_high_watermark(s, c, server)
        if new_hwm > s.hwm[server]:
            commit_up_to(s, c, server, new_hwm)
        if not is_at_end or not waits(s, server, message):
            reply(s, message, "ok", "nil", min(new_hwm, message.fetch_offset), 0)
        return TAKEN

    return accept_fetch_request_from_voter


def until_the_high_watermark_moves(s, leader, message):
    return s.hwm[message.source] >= s.hwm[leader]


@exercise(
    hints=[
        "The leader has no entry for the follower. What else does an answer carry?",
        "While a fetch waits, the follower's high watermark stays what it was when it asked. So"
        " `s.hwm[message.source]` stands for a field of the request.",
    ],
    answer=until_the_high_watermark_moves,
    why="Up to 4.0 a fetch at the log's end waited for records only, for up to 500 ms"
    " (`KafkaRaftClient.MAX_FETCH_WAIT_MS`), so a follower could learn that late that the last"
    " entry is committed. Since 4.1 (KIP-1166) a fetch has the field HighWatermark, and is answered"
    " when the leader's is higher.",
)
def what_a_fetch_waits_for(answer) -> Feedback:
    """What does a fetch wait for? (KIP-1166 as Kafka ships it, not part of the original)

    In the model a fetch is answered at once; in Kafka one that finds no record waits at the leader.
    Write `waits(s, leader, message)`: does this fetch, which is at the end of the leader's log,
    wait? The check puts it into `kraft.kip_853`, where a fetch may wait forever. When nothing more
    can happen all followers must know what is committed; and an answer must bring an entry or a
    later high watermark.
    """
    expect_parameters(answer, "s", "leader", "message")
    spec = with_action(kip_853.spec, "accept_fetch_request_from_voter", with_waiting(answer))
    spec = replace(
        spec,
        actions=[*spec.actions, Action(rest, {})],
        step_invariants=[Property(an_answer_brings_something)],
    )
    found = run(spec.bind(**FETCHING), invariants=["an_answer_brings_something"], deadlock=True)
    if found.violated == "an_answer_brings_something":
        return wrong("An answer brings neither an entry nor a later high watermark.", found)
    if found.violated:
        return wrong(
            "Nothing more can happen, and a follower does not know what is committed.", found
        )
    if not found.exhaustive:
        return wrong(f"That is undecided: {found.undecided_reason}.")
    return right(
        f"In all {found.distinct:,} states every answer brings something, and where nothing more"
        " can happen all followers know what is committed."
    )
