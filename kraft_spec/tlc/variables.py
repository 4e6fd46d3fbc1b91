"""Converts our state to those variables of the original that have another shape there.

In the original all messages are one set of records, a link is a set of two servers, and the value
of a log's entry is a client's value, a configuration or Nil. The values here are plain lists, dicts
and texts, as `protocol_lab.traces.tlc_values` describes them.
"""

from typing import Any

from kraft_spec.model.links import pair
from kraft_spec.model.names import (
    ADD_VOTER_COMMAND,
    APPEND_COMMAND,
    DIVERGING,
    LEADER_CHANGE_RECORD,
    OK,
    REMOVE_VOTER_COMMAND,
    Command,
    Error,
    Result,
)
from kraft_spec.model.state import has_started
from protocol_lab.language.node_sets import contains, members

Record = dict[str, Any]


def _started(s: Any, c: Any) -> list[int]:
    return [each for each in range(1, c.max_spawned_servers + 1) if has_started(s, each)]


def _error(error: int) -> Any:
    return Error.names[error] if error else 0


# --- Logs ----------------------------------------------------------------------------------------


def _value(entry: Any) -> Any:
    """An entry's value: a client's value, 0 for nothing, or the configuration of its command."""
    if entry.command == APPEND_COMMAND:
        return entry.value
    if entry.command == LEADER_CHANGE_RECORD:
        return 0
    changed = {ADD_VOTER_COMMAND: "new", REMOVE_VOTER_COMMAND: "old"}.get(entry.command)
    config = {"id": entry.id, "members": list(members(entry.members))}
    return config | {changed: entry.server} if changed else config


def _entry(entry: Any) -> Record:
    return {
        "command": Command.names[entry.command],
        "epoch": entry.epoch,
        "value": _value(entry),
    }


def log(s: Any, c: Any) -> list:
    """For each server the sequence of its entries."""
    return [
        (server, [_entry(s.log[server].items[k]) for k in range(s.log[server].length)])
        for server in _started(s, c)
    ]


def flwr_end_offset(s: Any, c: Any) -> list:
    """For each server the end offsets that it has noted, by member."""
    return [
        (server, [(each, s.flwr_end_offset[server][each]) for each in members(s.tracked[server])])
        for server in _started(s, c)
    ]


# --- Messages ------------------------------------------------------------------------------------


def _fetch_request(source: int, dest: int, fetch: Any) -> Record:
    return {
        "type": "FetchRequest",
        "source": source,
        "dest": dest,
        "epoch": fetch.epoch,
        "fetch_offset": fetch.fetch_offset,
        "last_fetched_epoch": fetch.last_fetched_epoch,
        "observer": bool(fetch.observer),
    }


def _fetch_response(message: Any) -> Record:
    told = {
        "type": "FetchResponse",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "leader": message.leader,
        "result": Result.names[message.result],
        "error": _error(message.error),
        "hwm": message.hwm,
        "correlation": _fetch_request(message.dest, message.source, message.correlation),
    }
    if message.result == OK:
        told["entries"] = [_entry(message.entry)] if message.entry.command else []
    if message.result == DIVERGING:
        told["diverging_epoch"] = message.diverging_epoch
        told["diverging_end_offset"] = message.diverging_end_offset
    return told


def _vote_request(message: Any) -> Record:
    return {
        "type": "RequestVoteRequest",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "last_log_epoch": message.last_log_epoch,
        "last_log_offset": message.last_log_offset,
    }


def _vote_response(message: Any) -> Record:
    return {
        "type": "RequestVoteResponse",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "leader": message.leader,
        "vote_granted": bool(message.vote_granted),
        "error": _error(message.error),
    }


def _begin_quorum(message: Any) -> Record:
    return {
        "type": "BeginQuorumEpochRequest",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
    }


def _items(bag: Any) -> list:
    return [bag.items[position] for position in range(bag.size)]


def _messages(kinds: Any) -> list[Record]:
    return [
        *map(_vote_request, _items(kinds.vote_requests)),
        *map(_vote_response, _items(kinds.vote_responses)),
        *map(_begin_quorum, _items(kinds.begin_quorum_requests)),
        *(_fetch_request(each.source, each.dest, each) for each in _items(kinds.fetch_requests)),
        *map(_fetch_response, _items(kinds.fetch_responses)),
    ]


def net_messages(s: Any, c: Any) -> list[Record]:
    """The messages in flight."""
    return _messages(s.net_messages)


def net_messages_processed(s: Any, c: Any) -> list[Record]:
    """The messages that were delivered or lost."""
    return _messages(s.net_messages_processed)


def net_connectivity(s: Any, c: Any) -> list:
    """For each pair of servers whether their link works."""
    return [
        ([low, high], contains(s.net_connectivity, pair(low, high)))
        for high in range(2, c.max_spawned_servers + 1)
        for low in range(1, high)
    ]


def fetch_state(s: Any, c: Any) -> list:
    """For each server the pending fetch request, and the last response."""
    return [(server, _fetch_state(s.fetch_state[server])) for server in _started(s, c)]


def _fetch_state(state: Any) -> Record:
    pending, last = state.pending_fetch, state.last_fetch_res
    return {
        "pending_fetch": pending.source and _fetch_request(pending.source, pending.dest, pending),
        "last_fetch_res": last.peer and {"peer": last.peer, "error": _error(last.error)},
    }


PRINTED = {
    each.__name__: each
    for each in (
        log,
        flwr_end_offset,
        net_messages,
        net_messages_processed,
        net_connectivity,
        fetch_state,
    )
}
