"""What is known of a cluster and its partitions, moment by moment, from records and lines.

A cluster with KRaft has a metadata log: its records are the history. Without one (ZooKeeper, or
nobody has dumped it) the history is what the controller told the brokers, as far as they say so.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import merge
from itertools import pairwise
from pathlib import Path

from real_systems.kafka.logs.moments import NOTHING_KNOWN, Moment, decided
from real_systems.kafka.logs.reading.broker_lines import Said
from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.logs.reading.lines.file_lines import lines_of
from real_systems.kafka.logs.reading.metadata_log import (
    BROKER,
    MIN_ISR,
    OF_A_PARTITION,
    TOPIC,
    MetadataRecord,
    Snapshot,
    merged,
)
from real_systems.kafka.logs.reading.readings import Run, attributed, dated, here, read_file
from real_systems.kafka.logs.reading.sources import Kind, Sources
from real_systems.kafka.logs.reading.tool_output import (
    Described,
    LogOnDisk,
    Quorum,
    best,
    checkpoint_in,
    described_in,
    dumped_in,
    logs_in,
    quorum_in,
)
from real_systems.kafka.logs.reading.unread import Doubt, Unread, one_line
from real_systems.kafka.logs.told_histories import histories_in

_OF_A_TOPIC = ("TOPIC_RECORD", "REMOVE_TOPIC_RECORD")


@dataclass
class Cluster:
    """What is known.

    partitions: for each (as in t-0) its moments in order. said: what lines say, by time. records:
    the metadata log. snapshot: what was before it, if its first records are gone. elr_since: from
    which offset on there are eligible leader replicas. described, quorum, on_disk: what tools say,
    and replicas' logs, by partition. unread: what was not understood. doubts: lines of unknown
    brokers. remarks: sentences on where dates are from. disagreements: sentences on dumps that
    disagree. conflicts: for a partition a sentence on lines that contradict each other. configured:
    the nodes whose properties were read. systems: what there is a sign of, KRaft or ZooKeeper.
    voters: the controllers that vote, as far as they are said. begin: the first record's offset.
    gap: the first two neighbours between which records are missing.
    """

    partitions: dict[str, list[Moment]] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    records: list[MetadataRecord] = field(default_factory=list)
    snapshot: Snapshot | None = None
    min_isr: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)
    elr_since: int | None = None
    releases: set[str] = field(default_factory=set)
    static_min_isr: dict[int, int] = field(default_factory=dict)
    static_unclean: dict[int, bool] = field(default_factory=dict)
    described: dict[str, list[Described]] = field(default_factory=dict)
    quorum: list[Quorum] = field(default_factory=list)
    on_disk: dict[str, list[LogOnDisk]] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    configured: set[int] = field(default_factory=set)
    systems: set[str] = field(default_factory=set)
    voters: set[int] = field(default_factory=set)
    begin: int = field(init=False, default=0)
    gap: tuple[int, int] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.records:
            self.begin = self.records[0].offset
        offsets = pairwise(each.offset for each in self.records)
        self.gap = next((each for each in offsets if each[1] > each[0] + 1), None)

    @property
    def system(self) -> str:
        """KRaft or ZooKeeper, whichever the cluster has; "" if nothing tells, or both do."""
        return next(iter(self.systems)) if len(self.systems) == 1 else ""

    def ran_only_before(self, *release: int) -> bool:
        """Was every release that is said older than this one? False if none is said."""
        return bool(self.releases) and all(_number(each) < release for each in self.releases)

    def ran_only_since(self, *release: int) -> bool:
        """Was every release that is said this one or a newer one? False if none is said."""
        return bool(self.releases) and all(_number(each) >= release for each in self.releases)

    @property
    def has_metadata(self) -> bool:
        """Is there a metadata log, or a snapshot of it, among what was read?"""
        return bool(self.records or self.snapshot)

    @property
    def has_every_start(self) -> bool:
        """Is there a metadata log without a gap, so that each start of a broker is a record?"""
        return self.has_metadata and not self.gap

    @property
    def before(self) -> Sequence[MetadataRecord]:
        """The records of the snapshot, if there is one."""
        return self.snapshot.records if self.snapshot else ()

    def said_of(self, kind: str | None, partition: str | None = None) -> list[Said]:
        """What lines of this kind, or of any, say of this partition, or of any, by time. Under ""
        is what they say of a whole node."""
        return self._said_by.get((kind, partition), [])

    @cached_property
    def _said_by(self) -> dict[tuple[str | None, str | None], list[Said]]:
        found: dict[tuple[str | None, str | None], list[Said]] = defaultdict(list)
        for each in self.said:
            found[each.kind, None].append(each)
            found[each.kind, each.partition].append(each)
            found[None, each.partition].append(each)
        return found

    def about(self, partitions: Collection[str]) -> "Cluster":
        """The same, with nothing of other partitions than these."""
        said = [self.said_of(None, each) for each in ("", *partitions)]
        topics = {each.rpartition("-")[0] for each in partitions}
        of_each = [
            self._records_by_subject.get(each, []) for each in ("", *sorted(topics), *partitions)
        ]
        records = [record for _, record in merge(*of_each, key=lambda each: each[0])]
        before = [each for each in records if each.snapshot is not None]
        part = replace(
            self,
            partitions={each: self.partitions.get(each, []) for each in partitions},
            said=list(merge(*said, key=lambda each: each.entry.time)),
            records=[each for each in records if each.snapshot is None],
            snapshot=self.snapshot and Snapshot(self.snapshot.end, before),
            unread=[],
            doubts=[],
            remarks=[],
            on_disk={each: self.on_disk.get(each, []) for each in partitions},
            described={each: self.described.get(each, []) for each in partitions},
        )
        part.begin, part.gap = self.begin, self.gap
        return part

    @cached_property
    def registered(self) -> dict[int | None, list[int]]:
        """When each broker registered, which it does once for each of its starts."""
        found: dict[int | None, list[int]] = {}
        for each in self.records:
            if each.type == "REGISTER_BROKER_RECORD" and each.time is not None:
                found.setdefault(each.data["brokerId"], []).append(each.time)
        return found

    @cached_property
    def _records_by_subject(self) -> dict[str, list[tuple[int, MetadataRecord]]]:
        """The records about each partition and topic, and under "" all others, with their places;
        those of the snapshot come first."""
        found: dict[str, list[tuple[int, MetadataRecord]]] = defaultdict(list)
        for place, record in enumerate((*self.before, *self.records)):
            subject = ""
            if record.type in OF_A_PARTITION:
                subject = _name(self.names, record.data)
            elif record.type in _OF_A_TOPIC:
                subject = self.names.get(record.data["topicId"], "?")
            found[subject].append((place, record))
        return found

    @cached_property
    def topics(self) -> dict[str, str]:
        """The names of topics by their ids."""
        return {
            each.data["topicId"]: one_line(each.data["name"])
            for each in (*self.before, *self.records)
            if each.type == "TOPIC_RECORD"
        }

    def has_elr_at(self, moment: Moment) -> bool:
        """Are there eligible leader replicas when a partition is like this?"""
        offset = moment.place.rpartition(" ")[2]  # of a record or snapshot; tools print none
        if self.elr_since is None or not offset.isdecimal():
            return False
        return self.elr_since <= int(offset)

    def at(self, partition: str, time: int) -> Moment | None:
        """The partition as it was at this time."""
        earlier = [each for each in self.partitions.get(partition, []) if each.time <= time]
        return earlier[-1] if earlier else None

    def min_isr_at(self, partition: str, time: int) -> int | None:
        """min.insync.replicas of a partition's topic at this time, as far as the log says."""
        topic = partition.rpartition("-")[0]
        for which in (f"topic {topic}", "cluster"):
            known = [value for since, value in self.min_isr.get(which, []) if since <= time]
            if known and known[-1] is not None:
                return known[-1]
        return next(iter(self.static_min_isr.values()), None)

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of topics by their ids, as far as lines say them, too."""
        return _topics_in(self.said) | self.topics


def read_cluster(sources: Sources, topic: str | None = None, run: Run = here) -> Cluster:
    """Read all files of a cluster. Raises OSError.

    topic: of replicas' logs on disk only its are read; None: those of all but Kafka's own.
    """
    metadata = [*sources.of(Kind.METADATA), *sources.of(Kind.METADATA_SEGMENT)]
    files = [*metadata, *sources.of(Kind.LOG)]
    readings = list(zip(files, run(read_file, files), strict=True))
    remarks, undated = dated(readings)
    doubts = attributed(sources, readings)
    unread = [*sources.unread, *undated]
    said: list[Said] = []
    for _, reading in readings:
        said += reading.said
        unread += reading.unread
    said = sorted(_named(said), key=lambda each: each.entry.time)
    disagreements: list[str] = []
    dumps = [reading.records for _, reading in readings if reading.records]
    snapshot, records = merged(dumps, disagreements)
    cluster = Cluster(said=said, records=records, snapshot=snapshot, unread=unread, doubts=doubts)
    cluster.remarks, cluster.disagreements = remarks, disagreements
    cluster.releases = {each.fields["release"] for each in cluster.said_of("release")}
    for source in sources.of(Kind.PROPERTIES):
        _read_properties(cluster, source.path, source.node)
    _read_tools(cluster, sources, topic)
    _note_systems(cluster)
    _replay(cluster)
    told, cluster.conflicts = histories_in(cluster.said)
    cluster.partitions = told | cluster.partitions
    for partition, known in cluster.described.items():
        cluster.partitions.setdefault(partition, list(map(_described_moment, known)))
    return cluster


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _named(said: Sequence[Said]) -> Iterator[Said]:
    """The same, with the partitions' names where a line has a topic's id only."""
    names = _topics_in(said)
    for each in said:
        if each.partition or "topic_id" not in each.fields:
            yield each
        else:
            topic = each.fields["topic_id"]
            yield replace(each, partition=f"{names.get(topic, topic)}-{each.fields['index']}")


def _topics_in(said: Iterable[Said]) -> dict[str, str]:
    """The names of topics by their ids, as lines say them."""
    return {
        each.fields["topic_id"]: each.partition.rpartition("-")[0]
        for each in said
        if each.partition and "topic_id" in each.fields
    }


def _read_tools(cluster: Cluster, sources: Sources, topic: str | None) -> None:
    printed = [*sources.of(Kind.QUORUM), *sources.of(Kind.TOPICS)]
    cluster.quorum = [found for each in printed if (found := quorum_in(each))]
    for source in sources.of(Kind.TOPICS):
        for described, min_isr in described_in(source):
            if described:
                cluster.described.setdefault(described.partition, []).append(described)
            for its_topic, value in min_isr.items():
                cluster.min_isr.setdefault(f"topic {its_topic}", []).append((0, value))
    logs = [checkpoint_in(each) for each in sources.of(Kind.EPOCHS)]
    logs += map(dumped_in, sources.of(Kind.TOPIC))
    logs += logs_in(sources.of(Kind.TOPIC_SEGMENT), topic, cluster.unread)
    for log in logs:
        if log:
            cluster.on_disk.setdefault(log.partition, []).append(log)


def _described_moment(described: Described) -> Moment:
    """A partition of which nothing else is known: neither the time nor the epoch."""
    return replace(
        NOTHING_KNOWN,
        place=described.place,
        replicas=described.replicas,
        leader=described.leader,
        isr=described.isr,
        elr=described.elr or (),
        last_known=described.last_known or (),
    )


def _read_properties(cluster: Cluster, path: Path, node: int | None) -> None:
    if node is None:
        return
    cluster.configured.add(node)
    for _, line in lines_of(path):
        name, _, value = (each.strip() for each in line.partition("="))
        match name:
            case "min.insync.replicas" if value.isdecimal() and len(value) < 10:
                cluster.static_min_isr[node] = int(value)
            case "unclean.leader.election.enable":
                cluster.static_unclean[node] = value.lower() == "true"
            case "zookeeper.connect":
                cluster.systems.add("ZooKeeper")
            case "process.roles":
                cluster.systems.add("KRaft")
            case "controller.quorum.voters":
                cluster.voters.update(map(int, re.findall(r"\b(\d{1,10})@", value)))


_OF_KRAFT = re.compile(
    r"\[BrokerServer |\[QuorumController |PartitionRegistration\(|CandidateState\("
)
_OF_ZOOKEEPER = re.compile(
    r"\[Kafka ?Server (?:id=)?\d+\],? (?:started|shut)|LeaderAndIsr(?:Info|\(| request)"
    r"|eceived LeaderAndIsr|NonExistentPartition"
)
_TELLING = ("started", "shut_down", "told", "decided", "assigned", "stands")
"""Kinds of lines that differ under KRaft and under ZooKeeper."""


def _note_systems(cluster: Cluster) -> None:
    """Whether the cluster has KRaft or ZooKeeper, and who votes under KRaft."""
    if cluster.has_metadata or cluster.quorum:
        cluster.systems.add("KRaft")
    for kind in _TELLING:
        for each in cluster.said_of(kind):
            if _OF_KRAFT.search(each.entry.text):
                cluster.systems.add("KRaft")
            elif _OF_ZOOKEEPER.search(each.entry.text):
                cluster.systems.add("ZooKeeper")
    for release in cluster.releases:
        if not (2, 8) <= _number(release) < (4, 0):
            cluster.systems.add("KRaft" if _number(release) >= (4, 0) else "ZooKeeper")
    for each in cluster.records:
        if each.type == "LEADER_CHANGE":
            cluster.voters.update(voter["voterId"] for voter in each.data.get("voters") or ())
    cluster.voters.update(voter for each in cluster.quorum for voter in each.voters)


def _replay(cluster: Cluster) -> None:
    """The history of each partition, from the metadata log's records."""
    if cluster.snapshot:
        place = f"metadata snapshot {cluster.snapshot.end}"
        for record in cluster.snapshot.records:
            _apply(cluster, record, cluster.snapshot.time, place, cluster.snapshot.end)
    last_time = 0
    for record in cluster.records:
        last_time = time = record.time if record.time is not None else last_time
        _apply(cluster, record, time, record.place, record.offset)


def _apply(cluster: Cluster, record: MetadataRecord, time: int, place: str, offset: int) -> None:
    data, names = record.data, cluster.names
    match record.type:
        case "FEATURE_LEVEL_RECORD" if data["name"] == "eligible.leader.replicas.version":
            if cluster.elr_since is None and data["featureLevel"] > 0:
                cluster.elr_since = offset
        case "CONFIG_RECORD" if data["name"] == MIN_ISR:
            _note_min_isr(cluster, data, time)
        case "PARTITION_RECORD":
            cluster.partitions[_name(names, data)] = [decided(NOTHING_KNOWN, record, time, place)]
        case "PARTITION_CHANGE_RECORD":
            moments = cluster.partitions.setdefault(_name(names, data), [])
            before = moments[-1] if moments else NOTHING_KNOWN
            moments.append(decided(before, record, time, place))


def _name(names: dict[str, str], data: dict) -> str:
    """A partition by its topic's name; by the topic's id if no record or line has the name."""
    return f"{names.get(data['topicId'], data['topicId'])}-{data['partitionId']}"


def _note_min_isr(cluster: Cluster, data: dict, time: int) -> None:
    """A value, or None where it is removed."""
    value = data.get("value")
    if value is not None and not (str(value).isdecimal() and len(str(value)) < 10):
        return
    set_to = (time, None if value is None else int(value))
    if data["resourceType"] == TOPIC:
        cluster.min_isr.setdefault(f"topic {data['resourceName']}", []).append(set_to)
    elif data["resourceType"] == BROKER and data["resourceName"] == "":
        cluster.min_isr.setdefault("cluster", []).append(set_to)


def ends_at(cluster: Cluster, partition: str, time: int) -> dict[int, tuple[list[str], str]]:
    """For each broker what it last said of its own log up to this time, such as where that ended;
    and when it said so."""
    found: dict[int, tuple[list[str], str]] = {}
    for said in cluster.said_of(None, partition):
        if said.entry.time > time:
            break
        node, fields = said.entry.node, said.fields
        if node is not None and "end" in fields:
            facts = [f"log end {fields['end']}"]
            if "high_watermark" in fields:
                facts.append(f"high watermark {fields['high_watermark']}")
            found[node] = facts, f"said at {clock(said.entry.time)}"
    moments = cluster.partitions.get(partition) or [None]
    if moments[-1] is None or time >= moments[-1].time:
        for node, log in best(cluster.on_disk.get(partition, [])).items():
            facts = [f"epoch {epoch} from {first}" for epoch, first in log.epochs[-_LAST_EPOCHS:]]
            found[node] = facts + ([] if log.end is None else [f"log end {log.end}"]), "on disk"
    return found


_LAST_EPOCHS = 3
"""So many epochs of a log on disk are named."""


def partitions_of(cluster: Cluster, topic: str | None, partition: int | None) -> Iterable[str]:
    """The partitions that are asked about: without a topic all that do not belong to Kafka."""
    for name in sorted({*cluster.partitions, *(each.partition for each in cluster.said)} - {""}):
        its_topic, _, index = name.rpartition("-")
        wanted = its_topic == topic if topic else not its_topic.startswith("__")
        if wanted and (partition is None or int(index) == partition):
            yield name
