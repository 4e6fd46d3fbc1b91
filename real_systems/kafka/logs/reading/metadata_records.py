"""Decodes the records of the metadata log from their bytes to what `metadata_log` has of a dump.

Of each type the fields that the kit reads, and those that lie before them. Source: the record types
of Kafka 3.3 to 4.3.1, https://github.com/apache/kafka, metadata/src/main/resources/common/metadata.
"""

import re
import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from real_systems.kafka.record_batches import unsigned_varint


@dataclass(frozen=True)
class _Layout:
    """A type of records, and its fields in their order, "name:type", with the version since which a
    record has it behind a slash; and those that have a number instead of a place. "!": without it
    the record says nothing."""

    name: str
    fields: str = ""
    tagged: str = ""


_LAYOUTS = {
    0: _Layout(
        "REGISTER_BROKER_RECORD",
        "brokerId:int32! isMigratingZkBroker:bool/2 incarnationId:uuid brokerEpoch:int64"
        " endPoints:[endpoint] features:[feature] rack:string fenced:bool"
        " inControlledShutdown:bool/1",
        "0=logDirs:[uuid] 1=cordonedLogDirs:[uuid]",
    ),
    1: _Layout("UNREGISTER_BROKER_RECORD", "brokerId:int32! brokerEpoch:int64"),
    2: _Layout("TOPIC_RECORD", "name:string! topicId:uuid!"),
    3: _Layout(
        "PARTITION_RECORD",
        "partitionId:int32! topicId:uuid! replicas:[int32]! isr:[int32]! removingReplicas:[int32]"
        " addingReplicas:[int32] leader:int32! leaderEpoch:int32! partitionEpoch:int32!"
        " directories:[uuid]/1",
        "0=leaderRecoveryState:int8 1=eligibleLeaderReplicas:[int32] 2=lastKnownElr:[int32]",
    ),
    4: _Layout(
        "CONFIG_RECORD", "resourceType:int8! resourceName:string! name:string! value:string"
    ),
    5: _Layout(
        "PARTITION_CHANGE_RECORD",
        "partitionId:int32! topicId:uuid!",
        "0=isr:[int32] 1=leader:int32 2=replicas:[int32] 3=removingReplicas:[int32]"
        " 4=addingReplicas:[int32] 5=leaderRecoveryState:int8 6=eligibleLeaderReplicas:[int32]"
        " 7=lastKnownElr:[int32] 8=directories:[uuid]",
    ),
    7: _Layout("FENCE_BROKER_RECORD", "id:int32! epoch:int64"),
    8: _Layout("UNFENCE_BROKER_RECORD", "id:int32! epoch:int64"),
    9: _Layout("REMOVE_TOPIC_RECORD", "topicId:uuid!"),
    10: _Layout("DELEGATION_TOKEN_RECORD"),
    11: _Layout("USER_SCRAM_CREDENTIAL_RECORD"),
    12: _Layout("FEATURE_LEVEL_RECORD", "name:string! featureLevel:int16!"),
    14: _Layout("CLIENT_QUOTA_RECORD"),
    15: _Layout("PRODUCER_IDS_RECORD"),
    17: _Layout(
        "BROKER_REGISTRATION_CHANGE_RECORD",
        "brokerId:int32! brokerEpoch:int64",
        "0=fenced:int8 1=inControlledShutdown:int8 2=logDirs:[uuid] 3=cordonedLogDirs:[uuid]",
    ),
    18: _Layout("ACCESS_CONTROL_ENTRY_RECORD"),
    19: _Layout("REMOVE_ACCESS_CONTROL_ENTRY_RECORD"),
    20: _Layout("NO_OP_RECORD"),
    21: _Layout("ZK_MIGRATION_STATE_RECORD"),
    22: _Layout("REMOVE_USER_SCRAM_CREDENTIAL_RECORD"),
    23: _Layout("BEGIN_TRANSACTION_RECORD"),
    24: _Layout("END_TRANSACTION_RECORD"),
    25: _Layout("ABORT_TRANSACTION_RECORD"),
    26: _Layout("REMOVE_DELEGATION_TOKEN_RECORD"),
    27: _Layout("REGISTER_CONTROLLER_RECORD"),
    28: _Layout("CLEAR_ELR_RECORD", "topicName:string"),
}
"""The types by their numbers; those that the kit does not read have no fields here."""

KINDS = {
    layout.name: dict(re.findall(r"(\w+):([\w\[\]]+)", f"{layout.fields} {layout.tagged}"))
    for layout in _LAYOUTS.values()
}
"""For each type the types of its fields."""

NEEDED = {layout.name: re.findall(r"(\w+):\S+!", layout.fields) for layout in _LAYOUTS.values()}
"""For each type the fields without which a record says nothing."""


def decoded(value: bytes) -> tuple[str, dict[str, Any]]:
    """A record's type and its fields, named as a dump names them. Types that the kit does not read
    have no fields.

    Raises ValueError, IndexError, struct.error or UnicodeDecodeError if it is not whole, or of a
    type or a frame that Kafka up to 4.3.1 does not have.
    """
    frame, place = unsigned_varint(value, 0)
    number, place = unsigned_varint(value, place)
    version, place = unsigned_varint(value, place)
    if frame != 1 or number not in _LAYOUTS:
        raise ValueError(f"type {number} in a frame of version {frame} is not known")
    layout = _LAYOUTS[number]
    data: dict[str, Any] = {}
    if not layout.fields:
        return layout.name, data
    for field in layout.fields.split():
        field, _, since = field.partition("/")
        if version >= int(since or 0):
            key, _, kind = field.rstrip("!").partition(":")
            data[key], place = _value(value, place, kind)
    tagged = dict(each.split("=") for each in layout.tagged.split())
    for tag, content in _tagged(value, place)[0]:
        key, _, kind = tagged.get(str(tag), "").partition(":")
        if key:
            data[key], _ = _value(content, 0, kind)
    return layout.name, data


def _tagged(data: bytes, place: int) -> tuple[list[tuple[int, bytes]], int]:
    """The fields that have numbers, each with the bytes of its value; and the place behind them."""
    count, place = unsigned_varint(data, place)
    found = []
    for _ in range(count):
        tag, place = unsigned_varint(data, place)
        size, place = unsigned_varint(data, place)
        if place + size > len(data):
            raise ValueError("a field is longer than its record")
        found.append((tag, data[place : place + size]))
        place += size
    return found, place


_Decoder = Callable[[bytes, int], tuple[Any, int]]


def _value(data: bytes, place: int, kind: str) -> tuple[Any, int]:
    """A value of a type, and the place behind it."""
    if not kind.startswith("["):
        return _DECODERS[kind](data, place)
    count, place = unsigned_varint(data, place)  # one more than there are; 0: none at all
    if count == 0:
        return None, place
    if count > len(data):
        raise ValueError("a list is longer than its record")
    values = []
    for _ in range(count - 1):
        each, place = _DECODERS[kind[1:-1]](data, place)
        values.append(each)
    return values, place


def _number(code: str) -> _Decoder:
    form = struct.Struct(f">{code}")
    return lambda data, place: (form.unpack_from(data, place)[0], place + form.size)


def _text(data: bytes, place: int) -> tuple[str | None, int]:
    size, place = unsigned_varint(data, place)  # one more than its bytes; 0: none at all
    if size == 0:
        return None, place
    end = place + size - 1
    if end > len(data):
        raise ValueError("a text is longer than its record")
    return data[place:end].decode(), end


def _uuid(data: bytes, place: int) -> tuple[str, int]:
    end = place + 16
    if end > len(data):
        raise ValueError("an id is longer than its record")
    return urlsafe_b64encode(data[place:end]).decode().rstrip("="), end


def _struct(*kinds: str) -> _Decoder:
    """A struct in a list, of which only the length matters."""

    def decode(data: bytes, place: int) -> tuple[None, int]:
        for kind in kinds:
            _, place = _DECODERS[kind](data, place)
        _, place = _tagged(data, place)
        return None, place

    return decode


_DECODERS: dict[str, _Decoder] = {
    "bool": _number("?"),
    "int8": _number("b"),
    "int16": _number("h"),
    "int32": _number("i"),
    "int64": _number("q"),
    "uint16": _number("H"),
    "string": _text,
    "uuid": _uuid,
    "endpoint": _struct("string", "string", "uint16", "int16"),
    "feature": _struct("string", "int16", "int16"),
}
