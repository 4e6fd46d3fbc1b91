"""The moments of a partition in the lessons' pictures, each with what it changed.

The pictures are narrow, so that a phone shows one and a screen several beside each other.
"""

from collections.abc import Iterable, Iterator, Sequence

from protocol_lab.drawing import Cluster as Picture
from protocol_lab.drawing import Lane, Text, draw_cluster
from protocol_lab.drawing.arrangement import Arrangement, arranged
from protocol_lab.drawing.changes import with_changes
from real_systems.kafka.logs.broker_events import Event, away_at
from real_systems.kafka.logs.histories import Cluster, ends_at
from real_systems.kafka.logs.moments import NONE, UNKNOWN, UNSAID, Moment
from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.picture import controller, replica_lane

Ends = dict[int, tuple[list[str], str]]

_UNKNOWN = "where its log ends is not said"

_NARROW = Arrangement(narrow=True, stacked=True, width=284)


def moment_pictures(
    cluster: Cluster, partition: str, moments: Sequence[Moment], events: Iterable[Event]
) -> Iterator[str]:
    """Each of these moments as SVG, with the differences from the one before it marked.

    events: what happened to brokers, by which the pictures tell who was away.
    """
    events = list(events)
    before = None
    for moment in moments:
        ends = ends_at(cluster, partition, moment.time)
        away = away_at(events, moment.time)
        ends |= {each: end for each in away if (end := _kept(cluster, partition, each, moment))}
        picture = now = describe(moment, ends, away)
        if before is not None:
            picture = with_changes(now, before)
        with arranged(_NARROW):
            yield draw_cluster(picture)
        before = now


def _kept(
    cluster: Cluster, partition: str, broker: int, moment: Moment
) -> tuple[list[str], str] | None:
    """Where the log of a broker that is away ends: nothing changes it, so that is what the broker
    says when it starts again. None if it never does."""
    for said in cluster.said_by_partition.get(partition, []):
        entry = said.entry
        if entry.node == broker and entry.time > moment.time and "end" in said.fields:
            fact = f"log end {said.fields['end']}"
            return [fact], f"as it says at {clock(entry.time)}, back again"
    return None


def describe(moment: Moment, ends: Ends, away: set[int]) -> Picture:
    """A moment as a picture.

    ends: what is known of each broker's own log, and since when; its records are not in the
    servers' logs. away: the brokers that are fenced or have shut down.
    """
    unsaid = moment.leader == UNSAID
    leader = None if moment.leader == NONE else "not said" if unsaid else moment.leader
    epoch = None if moment.epoch == UNKNOWN else moment.epoch
    replicas = {*moment.replicas, *(moment.isr or ()), moment.leader} - {NONE, UNSAID}
    return Picture(
        bars=[controller(leader, epoch, moment.isr, moment.elr, moment.last_known)],
        lanes=[
            _lane(each, moment, *ends.get(each, ([], _UNKNOWN)), each in away)
            for each in sorted(replicas)
        ],
        columns=0,
    )


def _lane(broker: int, moment: Moment, facts: list[str], since: str, is_away: bool) -> Lane:
    leads, notes = broker == moment.leader, [_note(each) for each in facts]
    return replica_lane(broker, leads, is_away, moment.isr, moment.elr, notes=notes, empty=since)


def _note(fact: str) -> Text:
    """Something about a log, as in "log end 7"."""
    topic, _, number = fact.rpartition(" ")
    return Text(fact, "muted", topic=topic, short=number)
