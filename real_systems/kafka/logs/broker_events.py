"""What happened to a partition's brokers between the controller's decisions on it: restarts, clean
or not, fencing, truncations, and where each broker's log ended. Only what a record or a line says.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE, Moment
from real_systems.kafka.logs.reading.broker_lines import Said
from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.logs.reading.metadata_log import (
    FENCED,
    UNFENCED,
    UNREGISTERED,
    MetadataRecord,
    registrations,
)
from real_systems.kafka.picture import brokers_text

_GONE = {FENCED, "has shut down", UNREGISTERED}
_BACK = {UNFENCED, "has started"}

_ONE_TRUNCATION = 100
"""Milliseconds within which a broker says the same thing again, as when it truncates."""


@dataclass(frozen=True)
class Event:
    """Something that a broker did, or that was done to it.

    time: milliseconds since 1970. place: where it is said. text: what, as in "is fenced".
    """

    time: int
    broker: int
    text: str
    place: str

    def __str__(self) -> str:
        return f"{clock(self.time)}  broker {self.broker} {self.text}  ({self.place})"


def events_of_brokers(cluster: Cluster) -> list[Event]:
    """What brokers did, and what the controller knew of them, in the order of time."""
    told = (*_of_records(cluster.records), *_of_lines(cluster, ""))
    return sorted(told, key=lambda each: each.time)


def events_of_replicas(cluster: Cluster, partition: str) -> list[Event]:
    """What brokers did with their replicas of a partition, in the order of time."""
    return list(_of_lines(cluster, partition))


def in_order(each: Event | Moment) -> tuple[int, float]:
    """Sorts by time, and the metadata log's records of one time by their offsets."""
    kind, _, offset = each.place.rpartition(" ")
    return each.time, int(offset) if kind == "metadata offset" else inf


def away_at(events: Iterable[Event], time: int) -> set[int]:
    """The brokers that were fenced, or had shut down, at this time."""
    away: set[int] = set()
    for each in events:
        if each.time <= time and each.text in _GONE:
            away.add(each.broker)
        elif each.time <= time and each.text in _BACK:
            away.discard(each.broker)
    return away


# --- What the metadata log says -------------------------------------------------------------------


def _of_records(records: Iterable[MetadataRecord]) -> Iterator[Event]:
    """What becomes of the brokers' registrations; a record that changes nothing gives nothing."""
    known: dict[int, str] = {}
    time = 0
    for record in records:
        time = time if record.time is None else record.time
        for broker, text in registrations(record):
            if known.get(broker) != text:
                known[broker] = text
                yield Event(time, broker, text, record.place)


# --- What lines say -------------------------------------------------------------------------------


def _of_lines(cluster: Cluster, partition: str) -> Iterator[Event]:
    below = {
        (said.entry.node, said.fields["end"]): said.entry.time
        for said in cluster.said_of("truncates_committed", partition)
    }
    written: dict[tuple[int, str], int] = {}
    for said in cluster.said_of(None, partition):
        broker, time = said.fields.get("node", said.entry.node), said.entry.time
        if said.kind == "truncates":
            twin = below.get((broker, said.fields["end"]), 0)
            if abs(time - twin) <= _ONE_TRUNCATION:
                continue
        text = _text(said)
        if text and broker is not None and time - written.get((broker, text), 0) > _ONE_TRUNCATION:
            written[broker, text] = time
            yield Event(time, broker, text, said.entry.place)


_TEXTS = {
    "came_back_clean": "starts after a clean shutdown",
    "came_back_empty": "starts with an empty log directory",
    "came_back_unclean": "starts without a clean shutdown before",
    "started": "has started",
    "shut_down": "has shut down",
    "loaded": "loads its log{ends}",
    "leads": "leads in epoch {epoch}{ends}",
    "follows": "{follows} in epoch {epoch}{ends}",
    "truncates": "truncates its log to offset {end}",
    "truncates_committed": (
        "truncates its log to offset {end}, below its high watermark {high_watermark}"
    ),
    "isr_shrinks": "shrinks the ISR to {members}{ends}",
    "isr_grows": "expands the ISR to {members}{ends}",
    "recovers": "is elected though it may lack records",
    "halts": "ends itself rather than truncate its log",
}


def _text(said: Said) -> str:
    """What a line says of a broker and its log; "" for what is said elsewhere."""
    fields = said.fields
    ends = f", log end {fields['end']}" if "end" in fields else ""
    if ends and "high_watermark" in fields:
        ends += f", high watermark {fields['high_watermark']}"
    leader = fields.get("leader")
    follows = "follows" if leader is None else f"follows broker {leader}"
    return _TEXTS.get(said.kind, "").format(
        ends=ends,
        follows="knows of no leader" if leader == NONE else follows,
        members=brokers_text(fields.get("isr", ())),
        **fields,
    )
