"""The picture: a lane a server, messages as arrows between them, and what clients were told."""

from typing import Any

from kraft_spec.draw.wording import (
    ADMINISTRATOR,
    answer_detail,
    begin_quorum_detail,
    begin_quorum_label,
    end_quorum_label,
    entry_text,
    entry_with_epoch,
    fetch_request_detail,
    fetch_request_label,
    fetch_response_detail,
    fetch_response_label,
    join_request_label,
    join_response_label,
    remove_request_label,
    remove_response_label,
    set_text,
    vote_request_detail,
    vote_request_label,
    vote_response_detail,
    vote_response_label,
)
from kraft_spec.model.links import is_connected
from kraft_spec.model.names import (
    CANDIDATE,
    DEAD_NO_STATE,
    FOLLOWER,
    ILLEGAL_STATE,
    LEADER,
    NO_ERROR,
    OBSERVER,
    RESIGNED,
    UNATTACHED,
    VOTED,
    VOTER,
)
from kraft_spec.model.state import has_started, is_current_leader
from protocol_lab.drawing import (
    Bar,
    Cluster,
    CutLink,
    Entry,
    Flag,
    Lane,
    Message,
    Messages,
    Text,
    Value,
    drawing_of,
)
from protocol_lab.language.node_sets import members
from protocol_lab.spec.layout import NONE

LEGEND = (
    "✓ solid border: some server knows that it is committed · dashed: nobody does · hatched:"
    " truncated just now · {1,2,3}, +4, −4: configuration entries · hw: high watermark, the first"
    " offset not known to be committed · highlighted: changed just now"
)


def describe_servers(s: Any, c: Any) -> Cluster:
    """Every server that was ever started, in a lane of its own."""
    servers = [server for server in range(1, c.max_spawned_servers + 1) if has_started(s, server)]
    lost = _lost(s, c, servers)
    return Cluster(
        title="KRaft · KIP-853",
        bars=[_clients(s, c), *_left(s, c)],
        lanes=[_lane(s, c, server, servers, lost.get(server, {})) for server in servers],
        messages=[_messages_in_flight(s, c)],
        cut_links=[
            CutLink((one - 1, other - 1))
            for other in servers
            for one in range(1, other)
            if not is_connected(s, one, other)
            and DEAD_NO_STATE not in (s.state[one], s.state[other])
        ],
        columns=3,
        lane_width=190 + 24 * c.max_spawned_servers,
        note_width=88,
        traffic_width=150,
        legend=LEGEND,
    )


draw_servers = drawing_of(describe_servers)


# --- Clients, and what may still happen ----------------------------------------------------------


def _clients(s: Any, c: Any) -> Bar:
    waiting = [
        f"v{value} at server {server}"
        for server in range(1, c.max_spawned_servers + 1)
        for value in members(s.pending_ack[server])
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


def _values(values: int) -> str:
    return ", ".join(f"v{value}" for value in members(values)) or "none"


def _left(s: Any, c: Any) -> list[Bar]:
    """What is limited, and how often it may still happen."""
    counters = [
        ("restarts", c.max_restarts - s.aux_ctrs.restart_ctr, c.max_restarts),
        ("lost disks", c.max_crashes - s.aux_ctrs.crash_ctr, c.max_crashes),
        ("additions", c.max_add_reconfigs - s.aux_ctrs.add_reconfig_ctr, c.max_add_reconfigs),
        (
            "removals",
            c.max_remove_reconfigs - s.aux_ctrs.remove_reconfig_ctr,
            c.max_remove_reconfigs,
        ),
        (
            "changes of the links",
            c.max_connectivity_changes - s.net_connectivity_ctr,
            c.max_connectivity_changes,
        ),
    ]
    if c.max_empty_restarts:
        left = c.max_empty_restarts - s.aux_ctrs.empty_restart_ctr
        counters.append(("restarts with an empty disk", left, c.max_empty_restarts))
    shown = [Value(name, Text(str(left))) for name, left, limit in counters if limit]
    return [Bar("May still happen", shown)] if shown else []


# --- Servers -----------------------------------------------------------------------------------


def _lane(s: Any, c: Any, server: int, servers: list[int], lost: dict[int, Any]) -> Lane:
    dead = s.state[server] == DEAD_NO_STATE
    return Lane(
        lines=[
            [Text(f"Server {server}", bold=True), Text(_identity(s, server), "muted")],
            [Text(_state(s, server), *_state_style(s, c, server)), _role(s, server)],
            [] if dead else [Text(f"epoch {s.current_epoch[server]}"), _vote(s, server)],
            [] if dead else [_configuration(s, server)],
            [] if dead else [Text(each, "muted") for each in _fetching(s, c, server)],
        ],
        entries=_entries(s, server, servers, lost),
        flags=[] if dead else [Flag(s.hwm[server], Text(f"hw {s.hwm[server]}"))],
        notes=_difference(s, server),
        badge=_badge(s, c, server),
        empty="its log is gone" if dead else "empty log",
    )


def _identity(s: Any, server: int) -> str:
    found = s.server_ids[server]
    return f"host {found.host}, disk {found.disk_id}"


def _state(s: Any, server: int) -> str:
    match s.state[server]:
        case state if state == FOLLOWER:
            leader = s.leader[server]
            return f"follows {leader}" if leader else "follower"
        case state if state == CANDIDATE:
            return f"candidate, votes {set_text(s.votes_recv[server])}"
        case state if state == DEAD_NO_STATE:
            return "dead: its disk is lost"
        case state:
            return _STATE_NAMES[state]


_STATE_NAMES = {
    UNATTACHED: "unattached",
    LEADER: "leader",
    VOTED: "voted",
    RESIGNED: "resigned",
    ILLEGAL_STATE: "illegal state",
}


def _state_style(s: Any, c: Any, server: int) -> tuple[str, bool]:
    state = s.state[server]
    if state == LEADER:
        return ("accent" if is_current_leader(s, c, server) else "warning"), True
    if state in (DEAD_NO_STATE, ILLEGAL_STATE):
        return "bad", True
    return ("ink", True) if state == CANDIDATE else ("muted", False)


def _role(s: Any, server: int) -> Text:
    if s.role[server] == VOTER:
        return Text("● voter", "good")
    return Text("○ observer" if s.role[server] == OBSERVER else "", "warning")


def _vote(s: Any, server: int) -> Text:
    voted_for = s.voted_for[server]
    return Text("no vote" if voted_for == NONE else f"vote: {voted_for}", "muted")


def _configuration(s: Any, server: int) -> Text:
    config = s.config[server]
    if config.id == 0:
        return Text("no configuration", "muted")
    return Text(
        f"config {config.id}: {set_text(config.members)}" + (" ✓" if config.committed else " …")
    )


def _fetching(s: Any, c: Any, server: int) -> list[str]:
    """What a leader knows about the others' logs, or a follower's pending fetch."""
    if s.state[server] == LEADER:
        ends = [
            f"{member}: {s.flwr_end_offset[server][member]}"
            for member in members(s.tracked[server])
            if member != server
        ]
        return ["end offsets", ", ".join(ends)] if ends else ["waits for nobody"]
    if c.membership_requests and s.membership.asked[server] != NONE:
        return [f"asks {s.membership.asked[server]} to join"]
    fetch = s.fetch_state[server]
    if fetch.pending_fetch.source != NONE:
        return [f"fetches from {fetch.pending_fetch.dest}"]
    last = fetch.last_fetch_res
    if last.peer != NONE and last.error != NO_ERROR:
        return [f"error from {last.peer}"]
    return ["no fetch"]


def _badge(s: Any, c: Any, server: int) -> str:
    if s.state[server] == DEAD_NO_STATE:
        return "dead"
    if s.state[server] != LEADER:
        return ""
    return "crown" if is_current_leader(s, c, server) else "ghost"


# --- Logs --------------------------------------------------------------------------------------


def _log(s: Any, server: int) -> list[Any]:
    log = s.log[server]
    return [log.items[position] for position in range(log.length)]


def _entry(offset: int, entry: Any, **more: Any) -> Entry:
    text, epoch = entry_text(entry), entry.epoch
    return Entry(offset, text, f"epoch {epoch}", f"e{epoch}", epoch, **more)


def _entries(s: Any, server: int, servers: list[int], lost: dict[int, Any]) -> list[Entry]:
    mine = _log(s, server)
    shown = [
        _entry(
            offset,
            entry,
            committed=_is_known_to_be_committed(s, servers, offset, entry),
            gone=entry_with_epoch(lost[offset]) if offset in lost else "",
        )
        for offset, entry in enumerate(mine)
    ]
    missing = [
        _entry(offset, entry, mark="lost", gone=entry_with_epoch(entry))
        for offset, entry in lost.items()
        if offset >= len(mine)
    ]
    return shown + missing


def _is_known_to_be_committed(s: Any, servers: list[int], offset: int, entry: Any) -> bool:
    return any(
        offset < min(s.hwm[other], s.log[other].length) and s.log[other].items[offset] == entry
        for other in servers
    )


def _lost(s: Any, c: Any, servers: list[int]) -> dict[int, dict[int, Any]]:
    """By leader and offset: an acknowledged value that the leader lacks and another server has."""
    found: dict[int, dict[int, Any]] = {}
    for leader in (each for each in servers if is_current_leader(s, c, each)):
        held = {entry.value for entry in _log(s, leader)}
        for other in servers:
            for offset, entry in enumerate(_log(s, other)):
                if entry.value in members(s.inv_pos_acked) and entry.value not in held:
                    found.setdefault(leader, {})[offset] = entry
    return found


def _difference(s: Any, server: int) -> list[Text]:
    """Where a server's log diverges from that of its leader."""
    leader = s.leader[server]
    if leader in (NONE, server):
        return []
    mine, theirs = _log(s, server), _log(s, leader)
    for offset, (entry, other) in enumerate(zip(mine, theirs)):
        if entry != other:
            return [Text(f"differs from {leader} at offset {offset}", "warning")]
    if len(mine) > len(theirs):
        return [Text(f"longer than {leader}'s log", "warning")]
    return []


# --- Messages ----------------------------------------------------------------------------------


def _messages_in_flight(s: Any, c: Any) -> Messages:
    """All messages in flight; those that can no longer be handled come first, and faded."""
    under_way = s.net_messages
    kinds: list[tuple] = [
        ("vote request", under_way.vote_requests, vote_request_label, vote_request_detail, False),
        ("vote", under_way.vote_responses, vote_response_label, vote_response_detail, False),
        (
            "begin quorum",
            under_way.begin_quorum_requests,
            begin_quorum_label,
            begin_quorum_detail,
            _is_stale_call,
        ),
        ("fetch", under_way.fetch_requests, fetch_request_label, fetch_request_detail, False),
        (
            "fetch answer",
            under_way.fetch_responses,
            fetch_response_label,
            fetch_response_detail,
            _is_unwanted_answer,
        ),
    ]
    if c.end_quorum_epoch:
        words = s.end_quorum_requests
        kinds.append(("end quorum", words, end_quorum_label, begin_quorum_detail, _is_stale_call))
    if c.membership_requests:
        asked = s.membership
        kinds += [
            ("request", asked.join_requests, join_request_label, _no_detail, False),
            ("answer", asked.join_responses, join_response_label, answer_detail, False),
        ]
    items = _of_administrator(s.membership) if c.membership_requests else []
    for kind, bag, label, detail, is_stuck in kinds:
        for position in range(bag.size):
            message = bag.items[position]
            items.append(
                Message(
                    f"{message.source} → {message.dest} {kind}: {label(message)}",
                    detail(message),
                    faded=bool(is_stuck and is_stuck(s, message)),
                    ends=(message.source - 1, message.dest - 1),
                    short=label(message),
                )
            )
    items.sort(key=lambda each: not each.faded)
    return Messages("Messages in flight", items, limit=16, folded="more")


def _of_administrator(asked: Any) -> list[Message]:
    """An administrator's requests, and the answers to them."""
    found = []
    for position in range(asked.remove_requests.size):
        request = asked.remove_requests.items[position]
        found.append(Message(f"{ADMINISTRATOR} → {request.dest}: {remove_request_label(request)}"))
    for position in range(asked.remove_responses.size):
        answer = asked.remove_responses.items[position]
        name = f"{answer.source} → {ADMINISTRATOR}: {remove_response_label(answer)}"
        found.append(Message(name, answer_detail(answer)))
    return found


def _no_detail(message: Any) -> str:
    return ""


def _is_stale_call(s: Any, message: Any) -> bool:
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
