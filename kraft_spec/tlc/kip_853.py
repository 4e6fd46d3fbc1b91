"""What only a comparison with TLC needs: multiplicities, and variables as it prints them.

TLC counts a step as generated once for each disjunct of the original's guard that is true, and each
value that satisfies an "exists". A function `of_ACTION` takes the action's arguments and gives that
number, so that ours is equal to TLC's.

In the original all messages are one set of records, a link is a set of two servers, and the value
of a log's entry is a client's value, a configuration or Nil. The functions of (s, c) give plain
lists, dicts and texts, as `protocol_lab.interchange.tlc_values` describes them.
"""

from typing import Any

from kraft_spec.actions import cluster, elections, replication
from kraft_spec.actions.replication import has_failed_fetch, has_lost_fetch, is_where_logs_agree
from kraft_spec.model import Command, Error, Pair, Result, down_pairs, has_started, pair, pairs_of
from protocol_lab import NodeSet

# --- Multiplicities ----------------------------------------------------------------------------


def of_connectivity(s, c, down: NodeSet(Pair)) -> int:
    """Of a change of the links: the number of pairs that satisfy the guard's "exists".

    If the number of links that are down stays the same, each link that goes down satisfies it; for
    a dead server, each of its links that is down does.
    """
    present, count = down_pairs(s, c), 1
    if len(present) == len(down):
        count = len(down & ~present)
    for server in range(1, c.max_spawned_servers + 1):
        if s.state[server] == "dead_no_state":
            count *= len(down & pairs_of(c, server))
    return count


def of_fetch_timeout(s, c, server) -> int:
    """Of a fetch timeout: both parts of the guard "a failed fetch, or a lost one" may be true."""
    if not c.test_liveness:
        return 1
    return has_failed_fetch(s, c, server) + has_lost_fetch(s, server)


def of_election(s, c, server) -> int:
    """Of an election: a follower begins one after a fetch timeout, which may have two causes."""
    return of_fetch_timeout(s, c, server) if s.state[server] == "follower" else 1


def of_position(s, c, message) -> int:
    """Of a fetch: both parts of the guard "at the start, or where the logs agree" may be true."""
    log = s.log[message.dest]
    return 1 + (message.fetch_offset == 1 and is_where_logs_agree(log, message))


MULTIPLICITIES = {
    cluster.change_network_connectivity: of_connectivity,
    elections.send_request_vote: of_election,
    elections.observer_fetch_timeout: of_fetch_timeout,
    replication.accept_fetch_request_from_voter: of_position,
    replication.accept_fetch_request_from_observer: of_position,
}

# --- Variables as TLC prints them --------------------------------------------------------------

Record = dict[str, Any]


def _started(s: Any, c: Any) -> list[int]:
    return [each for each in range(1, c.max_spawned_servers + 1) if has_started(s, each)]


def _error(error: int) -> Any:
    return Error.names[error] if error else 0


# --- Logs ----------------------------------------------------------------------------------------


def _value(entry: Any) -> Any:
    """An entry's value: a client's value, 0 for nothing, or the configuration of its command."""
    if entry.command == "append_command":
        return entry.value
    if entry.command == "leader_change_record":
        return 0
    changed = {"add_voter_command": "new", "remove_voter_command": "old"}.get(
        Command.names[entry.command]
    )
    config = {"id": entry.id, "members": list(entry.members)}
    return config | {changed: entry.server} if changed else config


def _entry(entry: Any) -> Record:
    return {
        "command": Command.names[entry.command],
        "epoch": entry.epoch,
        "value": _value(entry),
    }


def log(s: Any, c: Any) -> list:
    """For each server the sequence of its entries."""
    return [(server, [_entry(entry) for entry in s.log[server]]) for server in _started(s, c)]


def flwr_end_offset(s: Any, c: Any) -> list:
    """For each server the end offsets that it has noted, by member."""
    return [
        (server, [(each, s.flwr_end_offset[server][each]) for each in s.tracked[server]])
        for server in _started(s, c)
    ]


# --- Messages ------------------------------------------------------------------------------------


def fetch_request(source: int, dest: int, fetch: Any) -> Record:
    return {
        "type": "FetchRequest",
        "source": source,
        "dest": dest,
        "epoch": fetch.epoch,
        "fetch_offset": fetch.fetch_offset,
        "last_fetched_epoch": fetch.last_fetched_epoch,
        "observer": bool(fetch.observer),
    }


def fetch_response(message: Any) -> Record:
    told = {
        "type": "FetchResponse",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "leader": message.leader,
        "result": Result.names[message.result],
        "error": _error(message.error),
        "hwm": message.hwm,
        "correlation": fetch_request(message.dest, message.source, message.correlation),
    }
    if message.result == "ok":
        told["entries"] = [_entry(message.entry)] if message.entry.command else []
    if message.result == "diverging":
        told["diverging_epoch"] = message.diverging_epoch
        told["diverging_end_offset"] = message.diverging_end_offset
    return told


def vote_request(message: Any) -> Record:
    return {
        "type": "RequestVoteRequest",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "last_log_epoch": message.last_log_epoch,
        "last_log_offset": message.last_log_offset,
    }


def vote_response(message: Any) -> Record:
    return {
        "type": "RequestVoteResponse",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
        "leader": message.leader,
        "vote_granted": bool(message.vote_granted),
        "error": _error(message.error),
    }


def begin_quorum(message: Any) -> Record:
    return {
        "type": "BeginQuorumEpochRequest",
        "source": message.source,
        "dest": message.dest,
        "epoch": message.epoch,
    }


def _messages(kinds: Any) -> list[Record]:
    return [
        *map(vote_request, kinds.vote_requests),
        *map(vote_response, kinds.vote_responses),
        *map(begin_quorum, kinds.begin_quorum_requests),
        *(fetch_request(each.source, each.dest, each) for each in kinds.fetch_requests),
        *map(fetch_response, kinds.fetch_responses),
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
        ([low, high], pair(low, high) in s.net_connectivity)
        for high in range(2, c.max_spawned_servers + 1)
        for low in range(1, high)
    ]


def fetch_state(s: Any, c: Any) -> list:
    """For each server the pending fetch request, and the last response."""
    return [(server, _fetch_state(s.fetch_state[server])) for server in _started(s, c)]


def _fetch_state(state: Any) -> Record:
    pending, last = state.pending_fetch, state.last_fetch_res
    return {
        "pending_fetch": pending.source and fetch_request(pending.source, pending.dest, pending),
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
} | {"tracked": None}  # which the original does not have
