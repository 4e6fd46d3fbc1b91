"""What a lesson would say of a cluster's logs: what went wrong or nearly did, where it is said, and
which notebook explains it. A clean rolling restart gets no finding.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import (
    NONE,
    NOTHING_KNOWN,
    Moment,
    follows_at_once,
    most_in_sync,
)
from real_systems.kafka.logs.reading.broker_lines import Said
from real_systems.kafka.logs.reading.entries import Entry, clock
from real_systems.kafka.logs.reading.metadata_log import BROKER, MIN_ISR, MetadataRecord
from real_systems.kafka.logs.reading.tool_output import best, partings
from real_systems.kafka.picture import brokers_text

_LAST_REPLICA = "kafka/01_one_power_cut"
_ELR = "kafka/18_what_does_elr_still_lose"
_TOLD_FAILED = "kafka/19_was_the_failed_send_written"
_TRUNCATION = "kafka/02_away_and_back"
_TALK = "kafka/03_the_talk"
_PRE_VOTE = "kraft/01_a_controller_comes_back"

_SECONDS = 1000
_STORM = 3
"""So many epochs, each within `_STORM_WITHIN` of the one before, are said to be one thing."""
_STORM_WITHIN = 5 * _SECONDS
A_START = 600 * _SECONDS
"""Within so much of a broker's start its log says whether it was shut down cleanly."""


@dataclass(frozen=True)
class Finding:
    """A sentence on what happened. time: milliseconds since 1970. place: where it is said.

    lesson: the notebook that explains it, as in kafka/02_away_and_back.
    """

    time: int
    partition: str
    text: str
    place: str
    lesson: str

    def __str__(self) -> str:
        subject = f"{self.partition}: " if self.partition else ""
        time = clock(self.time) if self.time else "at some time"
        return f"{time}  {subject}{self.text}  ({self.place}; {self.lesson})"


class Where(NamedTuple):
    """The time and the place of what is no line, no record and no moment."""

    time: int
    place: str


Found = tuple[Entry | MetadataRecord | Moment | Where, str, str]
"""What a rule finds in a partition: where that is said, what happened, and the lesson."""


# --- Elections ------------------------------------------------------------------------------------


def unclean_elections(cluster: Cluster, partition: str) -> Iterator[Found]:
    """A leader that may lack records, from whatever it is known: the state of the partition says
    so, or it was not in the ISR, or a line has these words."""
    flagged: set[int | None] = set()
    moments = cluster.partitions.get(partition, [])
    for before, after, in_sync in zip(
        [NOTHING_KNOWN, *moments], moments, most_in_sync(moments), strict=False
    ):
        if after.leader < 0 or not _is_unclean(cluster, before, after, in_sync):
            continue
        flagged.add(after.leader)
        known = [each.isr for each in moments if each.time <= before.time and each.isr]
        said = " (leaderRecoveryState 1)" if after.recovering else ""
        if after.leader in before.last_known:
            how = (
                f"broker {after.leader}, the last known leader, is elected, since nobody is left in"
                " the ISR and the ELR: more replicas came back without a clean shutdown than"
                " min.insync.replicas allows for"
            )
        else:
            how = f"broker {after.leader} is elected, which was not in the ISR"
            if known and after.leader not in known[-1]:
                isr = brokers_text(known[-1])
                how += f", now empty and last {isr}," if before.isr == () else f" {isr}"
            if before.elr:
                how += (
                    f" nor in the ELR {brokers_text(before.elr)}, whose members have every record"
                )
            how += ": an unclean election"
            if after.place.startswith("metadata") or _is_before_elr(cluster):
                how += ", configured or asked for"
        yield (
            after,
            f"an election that may have lost records{said}: {how}",
            _ELR if before.elr or before.last_known else _TALK,
        )
    words = [*cluster.said_of("elects_uncleanly", partition)]
    for said in [*words, *cluster.said_of("recovers", partition)]:
        # A line that is cut short may not name the leader; who writes it is the controller.
        leader = said.entry.node if said.kind == "recovers" else said.fields.get("leader")
        if said.kind == "elects_uncleanly" and said.fields.get("recovery") == "RECOVERED":
            continue  # 4.0 writes so of an election from the ELR
        if leader in flagged or (leader is None and flagged):
            continue
        flagged.add(leader)
        who = "a broker" if leader is None else f"broker {leader}"
        whose = "its" if said.kind == "recovers" else "the controller's"
        yield (
            said.entry,
            f"an election that may have lost records: {who} was elected without having been in the"
            f" ISR, as {whose} log says: an unclean election",
            _TALK,
        )


def _is_unclean(cluster: Cluster, before: Moment, after: Moment, in_sync: set[int] | None) -> bool:
    """May a new leader lack records? in_sync: all that can have been in the ISR or the ELR."""
    if after.recovering:
        return not before.recovering
    if in_sync is None or before.leader == after.leader or after.leader in in_sync:
        return False
    if after.place.startswith("metadata"):
        return not cluster.gap
    return _is_before_elr(cluster)  # lines do not always say who is in the ELR


def without_leader(cluster: Cluster, partition: str) -> Iterator[Found]:
    for each in cluster.described.get(partition, []):
        if each.leader < 0:
            yield (
                Where(0, each.place),
                f"it has no leader, and its ISR is {brokers_text(each.isr)}: nobody can write or"
                " read until one of these is back; any other broker would be an unclean election",
                _LAST_REPLICA,
            )


# --- Brokers that come back -----------------------------------------------------------------------


def unclean_returns(cluster: Cluster, partition: str) -> Iterator[Found]:
    """A broker that came back without a clean shutdown, or without its logs, and what it was to the
    partition."""
    for said in (*cluster.said_of("came_back_unclean"), *cluster.said_of("came_back_empty")):
        node = said.entry.node
        if node is None or (start := start_of(cluster, said)) is None:
            continue
        end = _loaded(cluster, partition, node, said.entry.time)
        time = said.entry.time
        if cluster.has_every_start:  # its records have a clock of their own
            time = min(max(time, start), start + _SECONDS)
        moment = cluster.at(partition, time)
        if moment is None or node not in moment.replicas:
            continue
        ends = "" if end is None else f"; its log ends at offset {end}"
        how = "without a clean shutdown"
        if said.kind == "came_back_empty":
            if end is not None:  # another of its folders has this log
                continue
            how = "with an empty log directory"
        if _stayed(cluster, partition, node, moment):
            gone = _taken_over(cluster, partition, node, time)
            yield (
                said.entry,
                f"broker {node} came back {how} and stayed in the ISR: with ELR off its log is"
                f" taken for complete{ends}{gone}",
                _LAST_REPLICA,
            )
        elif cluster.has_elr_at(moment) and _was_eligible(cluster, partition, node, time):
            yield (
                said.entry,
                f"broker {node} came back {how}: the controller takes it out of the ISR and the"
                f" ELR, since it may lack records{ends}",
                _LAST_REPLICA,
            )


def start_of(cluster: Cluster, said: Said) -> int | None:
    """The time of the start that a broker's line is about. Under KRaft it is that of the nearest
    record of a start, whatever clock the broker has; None if none is near."""
    time = said.entry.time
    if not cluster.has_every_start:
        return time
    near = [t for t in cluster.registered.get(said.entry.node, []) if abs(t - time) <= A_START]
    return min(near, key=lambda each: abs(each - time), default=None)


def _stayed(cluster: Cluster, partition: str, node: int, moment: Moment) -> bool:
    """Is it certain that a broker that came back at this moment was in the ISR and stayed there?"""
    if node not in (moment.isr or ()) or cluster.has_elr_at(moment):
        return False
    moments = cluster.partitions[partition]
    later = moments[moments.index(moment) + 1 :]
    if moment.place.startswith("metadata"):
        if not cluster.gap:
            return True
        led = next((each for each in later if each.leader != NONE), None)
        return led is not None and led.leader == node and not led.recovering  # a clean election
    return (
        _is_before_elr(cluster)
        and bool(later)
        and (follows_at_once(moment, later[0]) and node in (later[0].isr or ()))
    )


def _is_before_elr(cluster: Cluster) -> bool:
    """Is it certain that there are no eligible leader replicas, without a metadata log?"""
    return cluster.system == "ZooKeeper" or cluster.ran_only_before(4, 0)


def _was_eligible(cluster: Cluster, partition: str, node: int, time: int) -> bool:
    """Was it in the ISR or the ELR within the half minute before, and is it no longer after?"""
    recent = [
        each
        for each in cluster.partitions[partition]
        if time - 30 * _SECONDS <= each.time <= time + 5 * _SECONDS
    ]
    return any(
        node in (*(before.isr or ()), *before.elr) and node not in (*(after.isr or ()), *after.elr)
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


# --- Truncations ----------------------------------------------------------------------------------


def truncations_below_high_watermark(cluster: Cluster, partition: str) -> Iterator[Found]:
    flagged: set[tuple] = set()
    for said in cluster.said_of("truncates_committed", partition):
        end, high_watermark = said.fields["end"], said.fields["high_watermark"]
        key = said.entry.node, end, high_watermark
        if key in flagged or is_ordinary_step_back(cluster, said):
            continue
        flagged.add(key)
        who = "a broker" if said.entry.node is None else f"broker {said.entry.node}"
        yield (
            said.entry,
            f"{who} truncates to offset {end}, below its high watermark"
            f" {high_watermark}: it gives up a record that was committed",
            _TRUNCATION,
        )


def is_ordinary_step_back(cluster: Cluster, said: Said) -> bool:
    """May a high watermark go back though nothing was truncated? From 2.4 to 3.2 a follower takes
    over its leader's, which a new leader does not know at once."""
    if "Non-monotonic" not in said.entry.text:
        return False
    if cluster.ran_only_since(3, 3):
        return False
    return not any(
        each.entry.node == said.entry.node
        and each.fields["end"] < said.fields["high_watermark"]
        and abs(each.entry.time - said.entry.time) <= _SECONDS
        for each in cluster.said_of("truncates", said.partition)
    )


def truncations_to_the_high_watermark(cluster: Cluster, partition: str) -> Iterator[Found]:
    """Before 0.11 a follower truncates to its own high watermark, and may lead before it has copied
    again what it cut: the reason for KIP-101."""
    if not cluster.ran_only_before(0, 11):
        return
    moments = cluster.partitions.get(partition, [])
    for said in cluster.said_of("truncates", partition):
        node, time = said.entry.node, said.entry.time
        later = [each for each in moments if each.time > time]
        now = cluster.at(partition, time)
        if now is None or node is None or now.epoch == 0 or now.leader == node or not later:
            continue
        following = next((each for each in later if each.epoch > now.epoch), None)
        if following is None or following.leader != node or _copied(cluster, partition, node, time):
            continue
        yield (
            said.entry,
            f"broker {node} truncates to its high watermark, offset {said.fields['end']}, since it"
            f" follows broker {now.leader}, and leads from {clock(following.time)} on without"
            " having copied anything in between: what was acknowledged from there on is gone (until"
            " 0.10; since 0.11 it asks for the end of its epoch first)",
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


def epochs_not_followed(cluster: Cluster, partition: str) -> Iterator[Found]:
    """A leader that leads again, and whose last epoch, as its line says, was before that of another
    leader: it has not followed that one."""
    leaders = {
        each.epoch: each.leader
        for each in cluster.partitions.get(partition, [])
        if each.leader >= 0
    }
    for said in cluster.said_of("leads", partition):
        node, epoch = said.entry.node, said.fields["epoch"]
        previous = said.fields.get("previous", NONE)
        if node is None or previous < 0 or leaders.get(previous) != node:
            continue
        between = [each for each in range(previous + 1, epoch) if leaders.get(each, node) != node]
        if between:
            yield (
                said.entry,
                f"broker {node} leads in epoch {epoch} without having followed broker"
                f" {leaders[between[-1]]} in epoch {between[-1]}: it heard of both changes at once,"
                " and has truncated nothing",
                _TALK,
            )


# --- What is not yet committed --------------------------------------------------------------------


def below_min_isr(cluster: Cluster, partition: str) -> Iterator[Found]:
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
        if cluster.ran_only_before(3, 7):
            then = (
                "from now on that counts as committed and consumers read it, though producers with"
                " acks=all are told NOT_ENOUGH_REPLICAS_AFTER_APPEND (until 3.6)"
            )
        else:
            then = (
                "nobody reads that, producers with acks=all are told that it failed (a time-out),"
                " and it is committed all the same when enough replicas are back (since 3.7)"
            )
        yield (
            said.entry,
            f"the ISR is {brokers_text(fields['isr'])}, below min.insync.replicas {least}, and"
            f" {waits} not yet committed: {then}",
            _TOLD_FAILED,
        )


def halts(cluster: Cluster, partition: str) -> Iterator[Found]:
    for said in cluster.said_of("halts", partition):
        who = "a broker" if said.entry.node is None else f"broker {said.entry.node}"
        of = f", with a replica of topic {said.fields['name']}," if "name" in said.fields else ""
        yield (
            said.entry,
            f"{who}{of} ends itself, since its leader has fewer records than it has,"
            " and unclean elections are off: a leader has truncated what this broker still has",
            _TRUNCATION,
        )


def logs_that_part(cluster: Cluster, partition: str) -> Iterator[Found]:
    for one, other, offset in partings(list(best(cluster.on_disk.get(partition, [])).values())):
        moments = cluster.partitions.get(partition)
        yield (
            Where(moments[-1].time if moments else 0, one.place),
            f"the logs of brokers {one.node} and {other.node} part at offset {offset}: there they"
            f" have records of different leader epochs ({other.place}), and one of them gives up"
            " its own when it follows the other",
            _TRUNCATION,
        )


def min_isr_of_the_upgrade(cluster: Cluster, _partition: str) -> Iterator[Found]:
    """Switching ELR on writes a min.insync.replicas for the whole cluster."""
    known = [moments[0].time for moments in cluster.partitions.values() if moments[0].time]
    if cluster.elr_since in (None, 0) or not known:
        return
    for record, node, value in _min_isr_of_brokers(cluster):
        is_set_by_it = abs(record.offset - cluster.elr_since) < 30 and record.time > min(known)
        if node or not is_set_by_it or not str(value).isdecimal():
            continue
        others = {each for each in cluster.static_min_isr.values() if each != int(value)}
        if others:
            yield (
                record,
                f"the upgrade set min.insync.replicas to {int(value)} for the whole cluster, where"
                f" brokers' files say {max(others)}: it took the controller's value, and a broker's"
                " own is no longer looked at",
                _ELR,
            )


def lost_broker_settings(cluster: Cluster, _partition: str) -> Iterator[Found]:
    """A broker's own min.insync.replicas that the upgrade removes."""
    own: dict[str, str] = {}
    for record, node, value in _min_isr_of_brokers(cluster):
        if value is not None:
            own[node] = value
        elif node and node in own:
            yield (
                record,
                f"broker {node}'s own min.insync.replicas, {own[node]}, is removed: with ELR it can"
                " be set for the cluster or for a topic only",
                _ELR,
            )


def _min_isr_of_brokers(cluster: Cluster) -> Iterator[tuple[MetadataRecord, str, str | None]]:
    """The records that set or remove min.insync.replicas of a broker, or of all of them ("")."""
    for record in cluster.records:
        data = record.data
        if (
            record.type == "CONFIG_RECORD"
            and data["name"] == MIN_ISR
            and data["resourceType"] == BROKER
            and record.time is not None
        ):
            yield record, data["resourceName"], data.get("value")


def epoch_storms(cluster: Cluster, _partition: str) -> Iterator[Found]:
    """Epochs of the controllers' quorum that follow each other within seconds."""
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
        if len(storm) >= _STORM:
            epochs = [each.fields["epoch"] for each in storm]
            took = (storm[-1].entry.time - storm[0].entry.time) / _SECONDS
            yield (
                storm[0].entry,
                f"the controllers' quorum goes from epoch {epochs[0] - 1} to {epochs[-1]} within"
                f" {took:.0f} s: {_candidates(storm)}; {_outcome(cluster, storm)}",
                _PRE_VOTE,
            )


def _candidates(storm: list[Said]) -> str:
    """Who stood, and how often."""
    times = Counter(each.fields["node"] for each in storm)
    return " and ".join(
        f"controller {node} stands {'once' if count == 1 else f'{count} times'}"
        for node, count in sorted(times.items())
    )


def _outcome(cluster: Cluster, storm: list[Said]) -> str:
    """What the logs show of a storm's cause: a leader that was deposed, or that nobody ever won."""
    epochs = [each.fields["epoch"] for each in storm]
    deposed = [
        each.entry.node
        for each in cluster.said_of("deposed")
        if epochs[0] - 1 <= each.fields["epoch"] < epochs[-1] and each.entry.node is not None
    ]
    won = [each for each in cluster.said_of("wins") if epochs[0] <= each.fields["epoch"]]
    if deposed:
        return (
            f"controller {deposed[0]} led, and is deposed by that; pre-vote (KIP-996, since 4.0)"
            " ends it"
        )
    if not won:
        return "nobody is elected in any of these epochs, as far as the logs here say"
    return "why is not said"
