"""What a lesson would say of a cluster's logs: what went wrong or nearly did, where it is said, and
which notebook explains it. A clean rolling restart gets no finding.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from real_systems.kafka.logs.histories import NONE, Cluster
from real_systems.kafka.logs.reading.broker_lines import Said
from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.logs.reading.tool_output import best, partings
from real_systems.kafka.picture import brokers_text

_LAST_REPLICA = "kafka/06_the_last_replica"
_REAL = "real/01_on_a_real_cluster"
_TRUNCATION = "kafka/02_truncation"
_TALK = "kafka/03_the_talk"
_PRE_VOTE = "kraft/08_asking_first"

_SECONDS = 1000
_STORM = 3
"""So many epochs, each within `_STORM_WITHIN` of the one before, are said to be one thing."""
_STORM_WITHIN = 5 * _SECONDS


@dataclass(frozen=True)
class Finding:
    """A sentence on what happened. time: milliseconds since 1970. place: where it is said.

    lesson: the notebook that explains it, as in kafka/02_truncation.
    """

    time: int
    partition: str
    text: str
    place: str
    lesson: str

    def __str__(self) -> str:
        subject = f"{self.partition}: " if self.partition else ""
        return f"{clock(self.time)}  {subject}{self.text}  ({self.place}; {self.lesson})"


def of_a_partition(cluster: Cluster, partition: str) -> list[Finding]:
    """All findings about a partition."""
    return [each for rule in _OF_A_PARTITION for each in rule(cluster, partition)]


def of_the_cluster(cluster: Cluster) -> list[Finding]:
    """All findings about the cluster as a whole."""
    return [each for rule in _OF_THE_CLUSTER for each in rule(cluster)]


def _unclean_elections(cluster: Cluster, partition: str) -> Iterator[Finding]:
    moments = cluster.partitions[partition]
    for before, after in pairwise(moments):
        if not after.recovering or before.recovering or after.leader == NONE:
            continue
        known = [each for each in moments if each.time <= before.time and each.isr]
        last_isr = known[-1].isr
        if after.leader in before.last_known:
            how = (
                f"broker {after.leader}, the last known leader, is elected, since nobody is left in"
                " the ISR and the ELR: more replicas came back without a clean shutdown than"
                " min.insync.replicas allows for"
            )
        else:
            how = f"broker {after.leader} is elected, which was not in the ISR"
            how += f" {brokers_text(last_isr)}"
            if before.elr:
                how += (
                    f" nor in the ELR {brokers_text(before.elr)}, whose members have every record"
                )
            how += ": an unclean election, configured or asked for"
        yield Finding(
            after.time,
            partition,
            f"an election that may have lost records (leaderRecoveryState 1): {how}",
            after.place,
            _LAST_REPLICA if before.elr or before.last_known else _TALK,
        )


def _unclean_returns(cluster: Cluster, partition: str) -> Iterator[Finding]:
    """A broker that came back without a clean shutdown, and what it was to the partition."""
    for said in cluster.said_of("came_back_unclean"):
        node, time = said.entry.node, said.entry.time
        moment = cluster.at(partition, time)
        if node is None or moment is None or node not in moment.replicas:
            continue
        end = _loaded(cluster, partition, node, time)
        ends = "" if end is None else f"; its log ends at offset {end}"
        if node in moment.isr and not cluster.has_elr_at(moment):
            gone = _taken_over(cluster, partition, node, time)
            yield Finding(
                time,
                partition,
                f"broker {node} came back without a clean shutdown and stayed in the ISR: with ELR"
                f" off its log is taken for complete{ends}{gone}",
                said.entry.place,
                _LAST_REPLICA,
            )
        elif cluster.has_elr_at(moment) and _was_eligible(cluster, partition, node, time):
            yield Finding(
                time,
                partition,
                f"broker {node} came back without a clean shutdown: the controller takes it out of"
                f" the ISR and the ELR, since it may lack records{ends}",
                said.entry.place,
                _LAST_REPLICA,
            )


def _was_eligible(cluster: Cluster, partition: str, node: int, time: int) -> bool:
    """Was it in the ISR or the ELR within the half minute before, and is it no longer after?"""
    recent = [
        each
        for each in cluster.partitions[partition]
        if time - 30 * _SECONDS <= each.time <= time + 5 * _SECONDS
    ]
    return any(
        node in (*before.isr, *before.elr) and node not in (*after.isr, *after.elr)
        for before, after in pairwise(recent)
    )


def _loaded(cluster: Cluster, partition: str, node: int, time: int) -> int | None:
    """Where a broker's log ended when it had started."""
    for said in cluster.said_of("loaded", partition):
        if said.entry.node == node and time - _SECONDS <= said.entry.time <= time + 60 * _SECONDS:
            return said.fields["end"]
    return None


def _taken_over(cluster: Cluster, partition: str, node: int, time: int) -> str:
    """Which records the others gave up when they followed it."""
    moments = [each for each in cluster.partitions[partition] if each.time >= time]
    led = next((each for each in moments if each.leader == node), None)
    if led is None:
        return ""
    until = next((each.time for each in moments if each.epoch > led.epoch), None)
    for said in cluster.said_of("truncates", partition):
        if (
            said.entry.node != node
            and said.entry.time >= led.time - _SECONDS
            and (until is None or said.entry.time < until)
        ):
            return (
                f"; it leads from {clock(led.time)} on, and broker {said.entry.node} truncates to"
                f" offset {said.fields['end']}: the records from offset {said.fields['end']} on are"
                " gone"
            )
    return f"; it leads from {clock(led.time)} on"


def _truncations_below_high_watermark(cluster: Cluster, partition: str) -> Iterator[Finding]:
    for said in cluster.said_of("truncates_committed", partition):
        end, high_watermark = said.fields["end"], said.fields["high_watermark"]
        yield Finding(
            said.entry.time,
            partition,
            f"broker {said.entry.node} truncates to offset {end}, below its high watermark"
            f" {high_watermark}: it gives up a record that was committed",
            said.entry.place,
            _TRUNCATION,
        )


def _truncations_to_the_high_watermark(cluster: Cluster, partition: str) -> Iterator[Finding]:
    """Before 0.11 a follower truncates to its own high watermark, and may lead before it has copied
    again what it cut: the reason for KIP-101."""
    if not cluster.releases or not all(_below(each, (0, 11)) for each in cluster.releases):
        return
    moments = cluster.partitions[partition]
    for said in cluster.said_of("truncates", partition):
        node, time = said.entry.node, said.entry.time
        later = [each for each in moments if each.time > time]
        now = cluster.at(partition, time)
        if now is None or node is None or now.epoch == 0 or now.leader == node or not later:
            continue
        following = next((each for each in later if each.epoch > now.epoch), None)
        if following is None or following.leader != node or _copied(cluster, partition, node, time):
            continue
        yield Finding(
            time,
            partition,
            f"broker {node} truncates to its high watermark, offset {said.fields['end']}, since it"
            f" follows broker {now.leader}, and leads from {clock(following.time)} on without"
            " having copied anything in between: what was acknowledged from there on is gone (until"
            " 0.10; since 0.11 it asks for the end of its epoch first)",
            said.entry.place,
            _TRUNCATION,
        )


def _copied(cluster: Cluster, partition: str, node: int, time: int) -> bool:
    """Does a line say that this follower was seen to have caught up since?"""
    return any(
        node in said.fields.get("isr", ()) and said.entry.time > time
        for said in cluster.said_of("isr_grows", partition)
    ) and not any(
        said.entry.time > time and said.fields.get("leader") == node
        for said in cluster.said_of("told", partition)
    )


def _epochs_not_followed(cluster: Cluster, partition: str) -> Iterator[Finding]:
    """A leader that leads again without having followed the leader in between."""
    moments = cluster.partitions[partition]
    leaders = {each.epoch: each.leader for each in moments}
    last: dict[int | None, Said] = {}
    for said in cluster.said_by_partition.get(partition, []):
        if said.kind not in ("leads", "follows"):
            continue
        node, epoch = said.entry.node, said.fields["epoch"]
        before = last.get(node)
        last[node] = said
        if before is None or said.kind != "leads" or before.kind != "leads":
            continue
        between = [
            leaders[each]
            for each in range(before.fields["epoch"] + 1, epoch)
            if leaders.get(each, NONE) not in (NONE, node)
        ]
        started = any(
            each.entry.node == node and before.entry.time < each.entry.time < said.entry.time
            for each in cluster.said_of("started")
        )
        if between and not started:
            yield Finding(
                said.entry.time,
                partition,
                f"broker {node} leads in epoch {epoch} without having followed broker"
                f" {between[-1]} in epoch {epoch - 1}: it heard of both changes at once, and has"
                " truncated nothing",
                said.entry.place,
                _TALK,
            )


def _below_min_isr(cluster: Cluster, partition: str) -> Iterator[Finding]:
    """The ISR falls below min.insync.replicas, and its leader has what is not yet committed."""
    for said in cluster.said_of("isr_shrinks", partition):
        fields = said.fields
        least = cluster.min_isr_at(partition, said.entry.time)
        if least is None or len(fields["isr"]) >= least or "end" not in fields:
            continue
        if fields["end"] <= fields["high_watermark"]:
            continue
        first, last = fields["high_watermark"], fields["end"] - 1
        waits = f"the record at offset {first}" if first == last else f"records {first} to {last}"
        if cluster.releases and all(_below(each, (3, 7)) for each in cluster.releases):
            then = (
                "from now on that counts as committed and consumers read it, though producers with"
                " acks=all are told NOT_ENOUGH_REPLICAS_AFTER_APPEND (until 3.6)"
            )
        else:
            then = (
                "nobody reads that, producers with acks=all are told that it failed (a time-out),"
                " and it is committed all the same when enough replicas are back (since 3.7)"
            )
        yield Finding(
            said.entry.time,
            partition,
            f"the ISR is {brokers_text(fields['isr'])}, below min.insync.replicas {least}, and"
            f" {waits} not yet committed: {then}",
            said.entry.place,
            _REAL,
        )


def _halts(cluster: Cluster, partition: str) -> Iterator[Finding]:
    for said in cluster.said_of("halts", partition):
        yield Finding(
            said.entry.time,
            partition,
            f"broker {said.entry.node} ends itself, since its leader has fewer records than it has,"
            " and unclean elections are off: a leader has truncated what this broker still has",
            said.entry.place,
            _TRUNCATION,
        )


def _logs_that_part(cluster: Cluster, partition: str) -> Iterator[Finding]:
    for one, other, offset in partings(list(best(cluster.on_disk.get(partition, [])).values())):
        moments = cluster.partitions.get(partition)
        yield Finding(
            moments[-1].time if moments else 0,
            partition,
            f"the logs of brokers {one.node} and {other.node} part at offset {offset}: there they"
            f" have records of different leader epochs ({other.place}), and one of them gives up"
            " its own when it follows the other",
            one.place,
            _TRUNCATION,
        )


def _min_isr_of_the_upgrade(cluster: Cluster) -> Iterator[Finding]:
    """Switching ELR on writes a min.insync.replicas for the whole cluster."""
    if cluster.elr_since in (None, 0):
        return
    created = min((moments[0].time for moments in cluster.partitions.values()), default=None)
    for record in cluster.records:
        data = record.data
        if (
            record.type == "CONFIG_RECORD"
            and data.get("name") == "min.insync.replicas"
            and data.get("resourceType") == 4
            and data.get("resourceName") == ""
            and abs(record.offset - cluster.elr_since) < 30
            and created is not None
            and record.time is not None
            and record.time > created
            and str(data.get("value")).isdecimal()
        ):
            value = int(data["value"])
            larger = {each for each in cluster.static_min_isr.values() if each != value}
            files = f", where brokers' files say {max(larger)}" if larger else ""
            if larger:
                yield Finding(
                    record.time,
                    "",
                    f"the upgrade set min.insync.replicas to {value} for the whole cluster{files}:"
                    " it took the controller's value, and a broker's own is no longer looked at",
                    f"metadata offset {record.offset}",
                    _REAL,
                )


def _lost_broker_settings(cluster: Cluster) -> Iterator[Finding]:
    """A broker's own min.insync.replicas that the upgrade removes."""
    own: dict[str, str] = {}
    for record in cluster.records:
        data = record.data
        if record.type != "CONFIG_RECORD" or data.get("name") != "min.insync.replicas":
            continue
        if data.get("resourceType") != 4 or data.get("resourceName") == "":
            continue
        node, value = data["resourceName"], data.get("value")
        if value is None and node in own and record.time is not None:
            yield Finding(
                record.time,
                "",
                f"broker {node}'s own min.insync.replicas, {own[node]}, is removed: with ELR it can"
                " be set for the cluster or for a topic only",
                f"metadata offset {record.offset}",
                _REAL,
            )
        elif value is not None:
            own[node] = value


def _epoch_storms(cluster: Cluster) -> Iterator[Finding]:
    """One controller that stands again and again: it was away, and the others have a leader."""
    stands: dict[int, Said] = {}
    for said in cluster.said_of("stands"):
        stands.setdefault(said.fields["epoch"], said)
    storms: list[list[Said]] = []
    for said in stands.values():
        if storms and said.entry.time - storms[-1][-1].entry.time <= _STORM_WITHIN:
            storms[-1].append(said)
        else:
            storms.append([said])
    for storm in storms:
        epochs = [each.fields["epoch"] for each in storm]
        if len(storm) < _STORM:
            continue
        yield Finding(
            storm[0].entry.time,
            "",
            f"the controllers' quorum goes from epoch {epochs[0] - 1} to {epochs[-1]} within"
            f" seconds: controller {storm[0].fields['node']} was away, comes back and deposes"
            " leaders; pre-vote (KIP-996, since 4.0) ends that",
            storm[0].entry.place,
            _PRE_VOTE,
        )


_OF_A_PARTITION: list[Callable[[Cluster, str], Iterable[Finding]]] = [
    _unclean_elections,
    _unclean_returns,
    _truncations_below_high_watermark,
    _truncations_to_the_high_watermark,
    _epochs_not_followed,
    _below_min_isr,
    _halts,
    _logs_that_part,
]

_OF_THE_CLUSTER: list[Callable[[Cluster], Iterable[Finding]]] = [
    _min_isr_of_the_upgrade,
    _lost_broker_settings,
    _epoch_storms,
]


def _below(release: str, limit: tuple[int, ...]) -> bool:
    return tuple(int(each) for each in release.split(".")[: len(limit)]) < limit
