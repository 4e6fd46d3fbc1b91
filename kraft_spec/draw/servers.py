"""The picture: a lane a server, messages on their way to them, and what clients were told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from kraft_spec.draw.wording import *
from kraft_spec.model import ServerState, has_started, is_connected, is_current_leader
from protocol_lab import NONE
from protocol_lab.drawing import *

LEGEND = (
    "solid border: some server knows that it is committed · ✓: this one does · dashed: nobody does"
    " · hatched: truncated just now · {1,2,3}, +4, −4: configuration entries · hw: high watermark,"
    " the first offset not known to be committed · highlighted: changed just now"
)


def never_stuck(s: Any, message: Any) -> bool:
    """Can a message of this kind always be handled?"""
    return False


def no_detail(message: Any) -> str:
    """What is said of a message whose label says all."""
    return ""


@dataclass(frozen=True)
class Kind:
    """One kind of messages: its name, where it is in the state, and functions of a message: its
    label, a detail, and whether it can no longer be handled. source, dest: the field that names the
    server, or the name of somebody else."""

    name: str
    path: str
    label: Callable[[Any], str]
    detail: Callable[[Any], str] = no_detail
    is_stuck: Callable[[Any, Any], bool] = never_stuck
    source: str = "source"
    dest: str = "dest"


@dataclass(frozen=True)
class Added:
    """What a variant adds to the picture.

    kinds: its kinds of messages. counters: what may happen, how often it has, and the limit. doing:
    by server, what it does instead of fetching. remarks: by server, what is said of it in addition.
    title: the protocol's. crashes: the constant that limits lost disks.
    """

    kinds: Sequence[Kind] = ()
    counters: Sequence[tuple[str, int, int]] = ()
    doing: Mapping[int, str] = field(default_factory=dict)
    remarks: Mapping[int, str] = field(default_factory=dict)
    title: str = "KRaft · KIP-853"
    crashes: str = "max_crashes"


def describe_servers(s: Any, c: Any, added: Added = Added()) -> Cluster:
    """Every server that was ever started, in a lane of its own."""
    servers = [server for server in range(1, c.max_spawned_servers + 1) if has_started(s, server)]
    lost = _lost(s, c, servers)
    return Cluster(
        title=added.title,
        bars=[_clients(s, c), *_left(s, c, added)],
        lanes=[_lane(s, c, server, servers, lost.get(server, {}), added) for server in servers],
        messages=[_messages_in_flight(s, added)],
        columns=3,
        lane_width=190 + 24 * c.max_spawned_servers,
        legend=LEGEND,
    )


draw_servers = drawing_of(describe_servers)


# --- Clients, and what may still happen ----------------------------------------------------------


def _clients(s: Any, c: Any) -> Bar:
    waiting = [
        f"{letter(value)} at server {server}"
        for server in range(1, c.max_spawned_servers + 1)
        for value in s.pending_ack[server]
    ]
    return Bar(
        "Clients",
        [
            Value("sent", Text(_values(s.inv_sent))),
            Value("acknowledged", Text(_values(s.inv_pos_acked))),
            Value("failed", Text(_values(s.inv_neg_acked))),
            Value("waiting", Text(", ".join(waiting) or "none")),
        ],
    )


def _values(values: Any) -> str:
    return ", ".join(map(letter, values)) or "none"


def _left(s: Any, c: Any, added: Added) -> list[Bar]:
    done = s.aux_ctrs
    return bounds_left(
        [
            ("restarts", done.restart_ctr, c.max_restarts),
            ("lost disks", done.crash_ctr, getattr(c, added.crashes)),
            ("additions", done.add_reconfig_ctr, c.max_add_reconfigs),
            ("removals", done.remove_reconfig_ctr, c.max_remove_reconfigs),
            ("changes of the links", s.net_connectivity_ctr, c.max_connectivity_changes),
            *added.counters,
        ]
    )


# --- Servers -----------------------------------------------------------------------------------


def _lane(
    s: Any, c: Any, server: int, servers: list[int], lost: dict[int, Any], added: Added
) -> Lane:
    dead = s.state[server] == "dead_no_state"
    doing = [_fetching(s, server, added.doing.get(server, ""))]
    doing += [added.remarks[server]] if server in added.remarks else []
    doing = [Text(each, "muted") for each in doing]
    leader = s.leader[server]
    return Lane(
        lines=[
            [Text(f"Server {server}", bold=True), Text(_identity(s, server), "muted")],
            [
                Text(_state(s, server), *_state_style(s, c, server)),
                Text("" if dead else f"epoch {s.current_epoch[server]}"),
            ],
            [_role(s, server), *([] if dead else [_vote(s, server)])],
            [] if dead else [_configuration(s, server, servers), *doing],
            *([_links(s, server, servers)] if c.max_connectivity_changes else []),
        ],
        entries=_entries(s, server, servers, lost),
        flags=[] if dead else [Flag(s.hwm[server], Text(f"hw {s.hwm[server]}"))],
        notes=difference(_log(s, server), _log(s, leader), leader, server, f"server {leader}"),
        badge=_badge(s, c, server),
        empty="its log is gone" if dead else "empty log",
    )


def _identity(s: Any, server: int) -> str:
    """Said of a server that is not the first on its host."""
    found = s.server_ids[server]
    return f"host {found.host}, disk {found.disk_id}" if found.disk_id else ""


def _state(s: Any, server: int) -> str:
    if s.state[server] == "follower":
        leader = s.leader[server]
        return f"follows {leader}" if leader else "follower"
    if s.state[server] == "dead_no_state":
        return "dead: its disk is lost"
    return ServerState.names[s.state[server]].replace("_", " ")


def _state_style(s: Any, c: Any, server: int) -> tuple[str, bool]:
    state = s.state[server]
    if state == "leader":
        return ("accent" if is_current_leader(s, c, server) else "ink"), True
    if state in ("dead_no_state", "illegal_state"):
        return "muted" if state == "dead_no_state" else "bad", True
    return ("ink", True) if state in ("candidate", "prospective") else ("muted", False)


def _role(s: Any, server: int) -> Text:
    if s.role[server] == "voter":
        return Text("● voter", "good")
    return Text("○ observer" if s.role[server] == "observer" else "", "muted")


def _vote(s: Any, server: int) -> Text:
    """For whom it voted, or who voted for it, or would."""
    voted_for = s.voted_for[server]
    if s.state[server] in ("candidate", "prospective"):
        voters = ", ".join(map(str, s.votes_recv[server])) or "none"
        says = "votes of" if s.state[server] == "candidate" else "yes from"
        return Text(f"{says} {voters}", bold=True)
    return Text("" if voted_for in (NONE, server) else f"voted for {voted_for}", "muted")


def _configuration(s: Any, server: int, servers: list[int]) -> Text:
    """The configuration that it uses, if another server uses another one."""
    config = s.config[server]
    others = (each for each in servers if s.state[each] != "dead_no_state")
    if all(s.config[each] == config for each in others):
        return Text("")
    if config.id == 0:
        return Text("no configuration", "muted")
    return Text(
        f"config {config.id}: {set_text(config.members)}" + (" ✓" if config.committed else " …")
    )


def _fetching(s: Any, server: int, instead: str) -> str:
    """What a leader knows about the others' logs, or a follower's pending fetch."""
    if s.state[server] == "leader":
        ends = [
            f"{member} at {s.flwr_end_offset[server][member]}"
            for member in s.tracked[server]
            if member != server
        ]
        return f"logs end: {', '.join(ends)}" if ends else "waits for nobody"
    if instead:
        return instead
    fetch = s.fetch_state[server]
    if fetch.pending_fetch.source != NONE:
        return f"fetches from {fetch.pending_fetch.dest}"
    last = fetch.last_fetch_res
    if last.peer != NONE and last.error != "nil":
        return f"error from {last.peer}"
    return ""


def _links(s: Any, server: int, servers: list[int]) -> list[Text]:
    """Which links are down, of those to servers that run."""
    running = [each for each in servers if s.state[each] != "dead_no_state"]
    down = [each for each in running if not is_connected(s, server, each)]
    if server not in running:
        return []
    return [Text(f"✗ no link to {list_text(down)}" if down else "all links work", "muted")]


def _badge(s: Any, c: Any, server: int) -> str:
    if s.state[server] == "dead_no_state":
        return "dead"
    if s.state[server] != "leader":
        return ""
    return "crown" if is_current_leader(s, c, server) else "ghost"


# --- Logs --------------------------------------------------------------------------------------


def _log(s: Any, server: int) -> Log:
    """What a server has; nothing for NONE."""
    return [] if server == NONE else [_record(entry) for entry in s.log[server]]


def _record(entry: Any) -> Shown:
    return Shown(entry_text(entry), entry.epoch)


def _entries(s: Any, server: int, servers: list[int], lost: dict[int, Any]) -> list[Entry]:
    """Those that a leader lacks are cut off rather than lost if a voter of its configuration has
    them."""
    voters = s.config[server].members
    committed = {each for other in servers for each in enumerate(_log(s, other)[: s.hwm[other]])}

    def is_kept(offset: int, record: Shown) -> bool:
        return any(record in _log(s, voter) for voter in voters)

    return entries_of(_log(s, server), committed, lost, s.hwm[server], is_kept)


def _lost(s: Any, c: Any, servers: list[int]) -> dict[int, dict[int, Shown]]:
    """By leader and offset: an acknowledged value that the leader lacks and another server has."""
    found: dict[int, dict[int, Shown]] = {}
    for leader in (each for each in servers if is_current_leader(s, c, each)):
        held = {entry.value for entry in s.log[leader]}
        for other in servers:
            for offset, entry in enumerate(s.log[other]):
                if entry.value in s.inv_pos_acked and entry.value not in held:
                    found.setdefault(leader, {})[offset] = _record(entry)
    return found


# --- Messages ----------------------------------------------------------------------------------


def is_stale_call(s: Any, message: Any) -> bool:
    """Is its epoch earlier than its receiver's, so that it stays in flight?"""
    return message.epoch < s.current_epoch[message.dest]


def _is_unwanted_answer(s: Any, message: Any) -> bool:
    """Does its receiver wait for another response, or for none?"""
    pending, correlation = s.fetch_state[message.dest].pending_fetch, message.correlation
    return (
        pending.dest != message.source
        or pending.epoch != correlation.epoch
        or pending.fetch_offset != correlation.fetch_offset
        or pending.last_fetched_epoch != correlation.last_fetched_epoch
        or pending.observer != correlation.observer
    )


KINDS = (
    Kind("vote request", "net_messages.vote_requests", vote_request_label, vote_request_detail),
    Kind("vote", "net_messages.vote_responses", vote_response_label, vote_response_detail),
    Kind(
        "begin quorum",
        "net_messages.begin_quorum_requests",
        begin_quorum_label,
        begin_quorum_detail,
        is_stale_call,
    ),
    Kind("fetch", "net_messages.fetch_requests", fetch_request_label, fetch_request_detail),
    Kind(
        "fetch answer",
        "net_messages.fetch_responses",
        fetch_response_label,
        fetch_response_detail,
        _is_unwanted_answer,
    ),
)


def _messages_in_flight(s: Any, added: Added) -> Messages:
    """All messages in flight; those that can no longer be handled come first, and faded."""
    items = []
    for kind in (*KINDS, *added.kinds):
        for message in attrgetter(kind.path)(s):
            source, dest = (getattr(message, end, end) for end in (kind.source, kind.dest))
            items.append(
                Message(
                    f"{source} → {dest} {kind.name}: {kind.label(message)}",
                    kind.detail(message),
                    faded=bool(kind.is_stuck(s, message)),
                    ends=(f"Server {source}", f"Server {dest}"),
                    short=kind.label(message),
                )
            )
    items.sort(key=lambda each: not each.faded)
    return Messages("Messages in flight", items, limit=16, folded="more", flies=True)
