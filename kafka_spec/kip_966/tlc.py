"""What only comparisons with TLC need: how often it counts a step, and variables as it prints them.

In the original all messages are one set of records, a broker has its own copy of the metadata log,
log and high watermark are in `partition_data`, and what is absent is Nil, where we have 0.
"""

from typing import Any

from kafka_spec.kip_966.broker import (
    is_among,
    learns_assignment,
    learns_leader_epoch,
    learns_leadership,
    proposed_isr,
    receive_metadata_update,
    send_alter_partition_request,
)
from kafka_spec.kip_966.controller import perform_partition_reassignment
from kafka_spec.kip_966.model import Broker, Error
from protocol_lab import NONE, NodeSet

# --- Multiplicities ----------------------------------------------------------------------------


def of_metadata_update(s, c, broker, offset) -> int:
    """Once for each reason why the record matters to the broker."""
    record = s.con_metadata_log[offset - 1]
    count = 0
    if learns_leadership(s, broker, record):
        count += 1
    if learns_leader_epoch(s, broker, record):
        count += 1
    if learns_assignment(s, broker, record):
        count += 1
    return count


def of_alter_partition(s, c, broker, timed_out: NodeSet(Broker)) -> int:
    """A request that was sent before: once if it is in flight, and once if it was delivered."""
    proposed, count = proposed_isr(s, c, broker, timed_out), 0
    if is_among(s, broker, proposed, s.messages.alter_requests):
        count += 1
    if is_among(s, broker, proposed, s.messages_discard.alter_requests):
        count += 1
    return max(count, 1)


def of_reassignment(s, c, adding: NodeSet(Broker), removing: NodeSet(Broker), leader) -> int:
    """Twice where some are added and others removed."""
    return 2 if len(adding) > 0 and len(removing) > 0 else 1


MULTIPLICITIES = {
    receive_metadata_update: of_metadata_update,
    send_alter_partition_request: of_alter_partition,
    perform_partition_reassignment: of_reassignment,
}

# --- Variables as TLC prints them --------------------------------------------------------------

Record = dict[str, Any]
NIL = "Nil"
NO_FLOOR = 10_000


def _brokers(c: Any) -> range:
    return range(1, c.broker_count + 1)


def _error(error: int) -> str:
    return Error.names[error]


def _change(record: Any, is_first: bool) -> Record:
    """A record of the metadata log; the first one says nothing of a reassignment."""
    told = {
        "type": "PartitionChangeRecord",
        "replicas": list(record.replicas),
        "isr": list(record.isr),
        "elr": list(record.elr),
        "last_known_elr": list(record.last_known_elr),
        "leader": record.leader,
        "leader_epoch": record.leader_epoch,
        "partition_epoch": record.partition_epoch,
    }
    if not is_first:
        told |= {"adding": list(record.adding), "removing": list(record.removing)}
    return told


def broker_metadata_log(s: Any, c: Any) -> list:
    """For each broker the records that it has."""
    records = [_change(record, k == 0) for k, record in enumerate(s.con_metadata_log)]
    return [records[: s.broker_metadata_log[broker]] for broker in _brokers(c)]


def broker_fetchers(s: Any, c: Any) -> list:
    """For each broker, and each peer, what it fetches there."""
    return [[_fetcher(s.broker_fetchers[one][peer]) for peer in _brokers(c)] for one in _brokers(c)]


def _fetcher(fetcher: Any) -> Record:
    partition = {
        "fetch_offset": fetcher.fetch_offset,
        "last_fetched_epoch": fetcher.last_fetched_epoch,
        "delayed": bool(fetcher.delayed),
    }
    return {
        "partition": partition if fetcher.has_partition else NIL,
        "pending_response": bool(fetcher.pending_response),
    }


def partition_leso(s: Any, c: Any) -> list:
    """For each broker where its log ended when it was elected."""
    return [s.partition_leso[broker] or NIL for broker in _brokers(c)]


def partition_replica_state(s: Any, c: Any) -> list:
    """For each broker what it knows of each other."""
    return [
        [
            {"leo": known.leo or NIL, "broker_epoch": known.broker_epoch}
            for known in (s.partition_replica_state[one][other] for other in _brokers(c))
        ]
        for one in _brokers(c)
    ]


def partition_pending_ap(s: Any, c: Any) -> list:
    """For each broker the request that it waits for."""
    waiting = (s.partition_pending_ap[broker] for broker in _brokers(c))
    return [
        {"epoch": each.epoch, "request": _alter_request(each.request) if each.epoch else NIL}
        for each in waiting
    ]


def aux_flo(s: Any, c: Any) -> list[int]:
    """For each broker the offset from which it may acknowledge."""
    return [s.aux_flo[broker] or NO_FLOOR for broker in _brokers(c)]


# --- Messages ------------------------------------------------------------------------------------


def _register_request(message: Any) -> Record:
    return {
        "type": "RegisterBrokerRequest",
        "broker_id": message.source,
        "broker_epoch": message.broker_epoch,
        "incarnation_id": message.incarnation_id,
        "source": message.source,
        "dest": "Controller",
    }


def _register_response(message: Any) -> Record:
    return {
        "type": "RegisterBrokerResponse",
        "broker_epoch": message.broker_epoch,
        "incarnation_id": message.incarnation_id,
        "metadata_offset": message.metadata_offset,
        "source": "Controller",
        "dest": message.dest,
    }


def _alter_request(message: Any) -> Record:
    return {
        "type": "AlterPartitionRequest",
        "isr": list(message.isr),
        "isr_and_epochs": [(each, message.epochs[each]) for each in message.isr],
        "leader": message.source,
        "leader_epoch": message.leader_epoch,
        "partition_epoch": message.partition_epoch,
        "broker_epoch": message.broker_epoch,
        "source": message.source,
        "dest": "Controller",
    }


def _alter_response(message: Any) -> Record:
    told = {
        "type": "AlterPartitionResponse",
        "error": _error(message.error),
        "request": _alter_request(message.request),
        "source": "Controller",
        "dest": message.dest,
    }
    if message.error == "nil":
        told |= {
            "replicas": list(message.replicas),
            "isr": list(message.isr),
            "leader": message.leader,
            "leader_epoch": message.leader_epoch,
            "partition_epoch": message.partition_epoch,
        }
    return told


def _fetch_request(message: Any) -> Record:
    return {
        "type": "FetchRequest",
        "broker_epoch": message.broker_epoch,
        "partition": {
            "leader_epoch": message.leader_epoch,
            "fetch_offset": message.fetch_offset,
            "last_fetched_epoch": message.last_fetched_epoch,
        },
        "source": message.source,
        "dest": message.dest,
    }


def _fetch_response(message: Any) -> Record:
    record = message.record
    diverging = {"epoch": message.diverging_epoch, "offset": message.diverging_offset}
    has_record = record.value != NONE
    told = {"epoch": record.epoch, "offset": record.offset, "value": record.value}
    partition = {
        "error": _error(message.error),
        "leader_epoch": message.leader_epoch,
        "fetch_offset": message.fetch_offset,
        "diverging_epoch": diverging if message.diverges else NIL,
        "hwm": message.hwm,
        "records": [told] if has_record else [],
    }
    if message.error == "nil" and not message.diverges:
        partition["type"] = "FetchResponse"
    return {
        "type": "FetchResponse",
        "partition": partition,
        "source": message.source,
        "dest": message.dest,
    }


def _messages(kinds: Any) -> list[Record]:
    return [
        *map(_register_request, kinds.register_requests),
        *map(_register_response, kinds.register_responses),
        *map(_alter_request, kinds.alter_requests),
        *map(_alter_response, kinds.alter_responses),
        *map(_fetch_request, kinds.fetch_requests),
        *map(_fetch_response, kinds.fetch_responses),
    ]


def messages(s: Any, c: Any) -> list[Record]:
    """The messages in flight."""
    return _messages(s.messages)


def messages_discard(s: Any, c: Any) -> list[Record]:
    """Those that were delivered or dropped."""
    return _messages(s.messages_discard)


PRINTED = {
    each.__name__: each
    for each in (
        broker_metadata_log,
        broker_fetchers,
        partition_leso,
        partition_replica_state,
        partition_pending_ap,
        aux_flo,
        messages,
        messages_discard,
    )
} | {"log": None, "hwm": None}  # together partition_data
