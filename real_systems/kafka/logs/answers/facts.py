"""What has to be known before the silence of the logs means anything.

A fact is a function of a cluster and a partition ("" for the cluster as a whole). It returns "" if
the fact is known, else a sentence: what is missing, and which file or command would add it. Nothing
in a log says that a line was left out; but decisions are numbered, and what one node writes has
its counterpart elsewhere. So a fact is known if every counterpart is there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from real_systems.kafka.logs.answers.findings import A_START, is_ordinary_step_back, start_of
from real_systems.kafka.logs.broker_events import away_at, events_of_brokers
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE, UNKNOWN, UNSAID, Moment
from real_systems.kafka.logs.reading.broker_lines import Said
from real_systems.kafka.logs.reading.entries import clock
from real_systems.kafka.picture import brokers_text

Fact = Callable[[Cluster, str], str]

_SECONDS = 1000
_AT_ONCE = 5 * _SECONDS
"""Within so much a broker writes of one change into its two logs."""
_SETTLED = 10 * _SECONDS
"""A decision that holds for so long reaches every broker that is there."""

ADD_A_DUMP = (
    "Add a controller's folder __cluster_metadata-0 with its *.log and *.checkpoint, as it is, or"
    " what `kafka-dump-log --cluster-metadata-decoder --files FILE,FILE` prints of these files."
)
_CONTROLLERS = (
    "Add controller.log and state-change.log of every broker that was the controller, and"
    " state-change.log and server.log of every replica, from the topic's creation on."
)


# --- The controller's decisions -------------------------------------------------------------------


def metadata(cluster: Cluster, _partition: str = "") -> str:
    """Every record of the metadata log, up to the end of what was read."""
    if cluster.system == "ZooKeeper":
        return ""
    if not cluster.has_metadata:
        either = "" if cluster.system else f" (or, under ZooKeeper: {_CONTROLLERS[4:-1]})"
        return f"there is no metadata log. {ADD_A_DUMP[:-1]}{either}."
    if late := begins_late(cluster):
        return late
    if cluster.gap:
        one, other = cluster.gap
        return (
            f"the metadata log's records between offsets {one} and {other} are missing."
            f" {ADD_A_DUMP}"
        )
    end = max((each.time for each in cluster.records if each.time is not None), default=0)
    last = cluster.said[-1].entry if cluster.said else None
    if last is not None and last.time > end + _SECONDS:
        return (
            f"the metadata log ends at {clock(end)}, and {last.place} is of {clock(last.time)}."
            " Dump it again, to its end."
        )
    return ""


def begins_late(cluster: Cluster) -> str:
    """A sentence, if the metadata log neither has its first record nor begins with a snapshot."""
    expected = cluster.snapshot.end if cluster.snapshot else 1
    if not cluster.records or cluster.begin <= expected:
        return ""
    return (
        f"the metadata log begins at offset {cluster.begin}, and what was before decides what may"
        f" follow. Add the earlier files, or a snapshot, {cluster.begin:020}-*.checkpoint or later,"
        " as it is or as `kafka-dump-log --cluster-metadata-decoder` prints it."
    )


def decisions(cluster: Cluster, partition: str) -> str:
    """Each leader and each ISR of the partition, from its creation on."""
    if partition in cluster.conflicts:
        return f"{cluster.conflicts[partition]}: are these logs of one cluster?"
    moments = cluster.partitions.get(partition, [])
    if missing := metadata(cluster):
        return _doubtful_leader(moments) + missing
    last = moments[-1] if moments else None
    if cluster.has_metadata:
        if last is None or last.version == UNKNOWN:
            return f"the metadata log has no record that creates it. {ADD_A_DUMP}"
        later = [each for each in _versions(cluster, partition) if each > last.version]
        if later:
            return (
                f"brokers speak of its partition epoch {later[0]}, and the metadata log ends with"
                f" {last.version}. Dump it again, to its end."
            )
    elif last is None:
        return f"no line says who leads it. {_CONTROLLERS}"
    elif hole := _first_hole(moments):
        return f"{_doubtful_leader(moments)}no line says {hole}. {_CONTROLLERS}"
    if last.leader in (NONE, UNSAID):
        return "it has no leader at the end of what was read. Add what was written later."
    return ""


def _versions(cluster: Cluster, partition: str) -> list[int]:
    said = cluster.said_of(None, partition)
    return sorted({each.fields["version"] for each in said if "version" in each.fields})


def _first_hole(moments: list[Moment]) -> str:
    """What no line says of a partition's history."""
    versions = [each.version for each in moments if each.version != UNKNOWN]
    for version in range(versions[-1] if versions else 0):
        if version not in versions:
            return f"what its partition epoch (zkVersion) {version} was"
    epochs = {each.epoch for each in moments}
    for epoch in range(max(epochs)):
        if epoch not in epochs:
            return f"who led in its leader epoch {epoch}"
    if any(each.leader == UNSAID for each in moments):
        return "who led at all times"
    return "who was in the ISR at first" if moments[0].isr is None else ""


def _doubtful_leader(moments: list[Moment]) -> str:
    """A leader that was not in the last ISR that is said, though others may have joined since."""
    isr = None
    for before, after in pairwise(moments):
        isr = before.isr or isr
        if isr and after.leader not in (NONE, UNSAID, before.leader, *isr, *before.elr):
            return (
                f"broker {after.leader} leads at {after.place}, which was not in the last ISR that"
                f" is said, {brokers_text(isr)}; but "
            )
    return ""


# --- What brokers did -----------------------------------------------------------------------------


def own_lines(cluster: Cluster, partition: str) -> str:
    """What each replica's broker did, from its own server.log and state-change.log."""
    moments = cluster.partitions.get(partition, [])
    if not moments or not moments[-1].replicas:
        return f"nothing says which brokers have a replica of it. {_remedy(cluster)}"
    fetches = _times(cluster.said_of("fetches"))
    own = _own(cluster, partition)
    last = moments[-1]
    for broker in {each for moment in moments for each in moment.replicas}:
        lines = own.get(broker, [])
        if not lines:
            return f"broker {broker}'s log does not say when it led or followed. Add its {_LOGS}."
        for each in lines:
            if each.kind != "told" and not _near(
                fetches.get(broker, []), each.entry.time, _AT_ONCE, _AT_ONCE
            ):
                at = clock(each.entry.time)
                return (
                    f"broker {broker}'s server.log has nothing of {at}, when it led or followed."
                    " Add all of it."
                )
        if broker not in fetches:
            return f"broker {broker}'s server.log is missing. Add it."
        is_behind = max(each.fields["epoch"] for each in lines) < last.epoch
        if is_behind and broker not in away_at(events_of_brokers(cluster), last.time + _SETTLED):
            return (
                f"broker {broker}'s log does not say that it took up leader epoch {last.epoch}."
                f" Add its {_LOGS}, to its end."
            )
    for moment, until in _reigns(moments):
        lines = own.get(moment.leader, [])
        if until - moment.time > _SETTLED and all(
            each.fields["epoch"] != moment.epoch for each in lines
        ):
            return (
                f"broker {moment.leader}'s log does not say that it led in epoch {moment.epoch}."
                f" Add its {_LOGS}, from {clock(moment.time)} on."
            )
    return ""


_LOGS = "server.log and state-change.log"


def _remedy(cluster: Cluster) -> str:
    return _CONTROLLERS if cluster.system == "ZooKeeper" else ADD_A_DUMP


def _own(cluster: Cluster, partition: str) -> dict[int, list[Said]]:
    """The lines in which each broker says that it leads, or follows a leader."""
    found: dict[int, list[Said]] = {}
    for kind in ("leads", "follows", "told"):
        for each in cluster.said_of(kind, partition):
            cached = "ached leader info" in each.entry.text
            if each.entry.node is not None and "epoch" in each.fields and not cached:
                found.setdefault(each.entry.node, []).append(each)
    return found


def _reigns(moments: list[Moment]) -> Iterator[tuple[Moment, int]]:
    """Each first moment of a leader, and when its epoch ended."""
    led = [each for each in moments if each.leader >= 0]
    firsts = [b for a, b in pairwise([None, *led]) if a is None or a.epoch != b.epoch]
    for each in firsts:
        later = [moment.time for moment in moments if moment.epoch > each.epoch]
        yield each, min(later, default=each.time)


def _times(said: Iterable[Said]) -> dict[int, list[int]]:
    """When each node wrote such a line."""
    found: dict[int, list[int]] = {}
    for each in said:
        node = each.fields.get("node", each.entry.node)
        if node is not None:
            found.setdefault(node, []).append(each.entry.time)
    return found


def _near(times: list[int], time: int, before: int, after: int) -> bool:
    """Is one of these, in order, at most so much before or after a time?"""
    place = bisect_left(times, time - before)
    return place < len(times) and times[place] <= time + after


def restarts(cluster: Cluster, partition: str) -> str:
    """For each start of a broker that was in sync whether it had been shut down cleanly."""
    kinds = ("came_back_clean", "came_back_unclean", "came_back_empty")
    lines = [each for kind in kinds for each in cluster.said_of(kind)]
    said_so = {(each.entry.node, start_of(cluster, each)) for each in lines}
    stops = _times(cluster.said_of("shut_down"))
    before: dict[int, int] = {}
    for time, broker in _starts(cluster, partition):
        since, before[broker] = before.get(broker, 0), time
        if cluster.has_every_start:  # then also a start after a clean stop says it
            is_known = (broker, time) in said_so
        else:
            is_known = any(since < each < time for each in stops.get(broker, [])) or any(
                node == broker and abs(each - time) <= A_START for node, each in said_so
            )
        if is_known or not _was_in_sync(cluster, partition, broker, time):
            continue
        return (
            f"nothing says whether broker {broker}, which starts at {clock(time)}, had been shut"
            " down cleanly. Add its server.log (since 2.6 it has a line with `clean shutdown"
            " file`), from before that time on."
        )
    return ""


def _starts(cluster: Cluster, partition: str) -> list[tuple[int, int]]:
    """When brokers started, as far as a record or a line shows it."""
    if cluster.has_metadata:
        return sorted((t, broker) for broker, times in cluster.registered.items() for t in times)
    lines = [
        *cluster.said_of("started"),
        *cluster.said_of("release"),
        *cluster.said_of("loaded", partition),
    ]
    for kind in ("leads", "follows"):
        said = cluster.said_of(kind, partition)
        lines += [each for each in said if each.fields.get("previous") == -1]
    return sorted({(t, node) for node, times in _times(lines).items() for t in times})


def _was_in_sync(cluster: Cluster, partition: str, broker: int, time: int) -> bool:
    """May a broker have been in the ISR or the ELR when it came back?"""
    moments = cluster.partitions.get(partition, [])
    at = [each for each in moments if each.time < time - _SECONDS][-1:]
    around = [each for each in moments if time - 30 * _SECONDS <= each.time <= time]
    return bool(at) and any(
        each.isr is None or broker in (*each.isr, *each.elr) for each in [*at, *around]
    )


def high_watermarks(cluster: Cluster, partition: str) -> str:
    """What each high watermark that went back means."""
    for each in cluster.said_of("truncates_committed", partition):
        if is_ordinary_step_back(cluster, each):
            which = "from 2.4 to 3.2" if cluster.releases else "in some releases"
            return (
                f"at {each.entry.place} a high watermark goes back, which {which} also happens when"
                " nothing is truncated. Add server.log from the broker's start on, with its release"
                " and its truncations."
            )
    return ""


# --- Settings and releases ------------------------------------------------------------------------


def min_isr(cluster: Cluster, partition: str) -> str:
    """min.insync.replicas, wherever the ISR was smaller than all replicas."""
    moments = cluster.partitions.get(partition, [])
    if all(each.isr is not None and len(each.isr) >= len(each.replicas) for each in moments):
        return ""
    topic = partition.rpartition("-")[0]
    if cluster.min_isr.get(f"topic {topic}"):
        return ""
    if cluster.has_metadata and (cluster.min_isr.get("cluster") or cluster.configured):
        return ""
    more = " and server.properties" if cluster.has_metadata else ""
    return f"min.insync.replicas is not said. Add what `kafka-topics --describe` prints{more}."


def shrinks(cluster: Cluster, partition: str) -> str:
    """What the leader had not yet committed whenever the ISR fell below min.insync.replicas."""
    lines = cluster.said_of("isr_shrinks", partition)
    for before, after in pairwise(cluster.partitions.get(partition, [])):
        least = cluster.min_isr_at(partition, after.time) or 1
        if after.isr is None or before.isr is None or after.leader < 0:
            continue
        if not len(after.isr) < least <= len(before.isr) or after.leader != before.leader:
            continue
        if not any(
            {*each.fields["isr"]} == {*after.isr}
            and "end" in each.fields
            and abs(each.entry.time - after.time) <= _SETTLED
            for each in lines
        ):
            return (
                f"nothing says which records broker {after.leader} had not yet committed when the"
                f" ISR fell to {brokers_text(after.isr)} at {clock(after.time)}. Its server.log has"
                " a line `Shrinking ISR` if it was the leader that noticed."
            )
    return ""


def releases(cluster: Cluster, partition: str) -> str:
    """That no broker ran a release before 0.11, or what those truncated."""
    if cluster.system == "KRaft":
        return ""
    moments = cluster.partitions.get(partition, [])
    told = {each.entry.node for each in cluster.said_of("release")}
    own = _own(cluster, partition)
    cuts = _times(cluster.said_of("truncates", partition))
    for broker in {each for moment in moments for each in moment.replicas}:
        if any(each.kind != "told" for each in own.get(broker, [])):
            continue  # it wrote lines of 1.0 or later
        if broker not in told:
            return (
                f"no line says which release broker {broker} ran (before 0.11 a follower truncates"
                " to its high watermark). Add its server.log, with its start."
            )
        if cluster.ran_only_since(0, 11):
            continue
        for each in _new_leaders(broker, own.get(broker, [])):
            if not _near(cuts.get(broker, []), each.entry.time, _AT_ONCE, _AT_ONCE):
                return (
                    f"broker {broker}'s server.log does not say where it truncated at"
                    f" {clock(each.entry.time)}. Add it."
                )
    return ""


def _new_leaders(broker: int, own: Iterable[Said]) -> Iterator[Said]:
    """The lines in which a follower is told of a new leader; the first one has nothing to cut."""
    before = None
    for each in own:
        leader = each.fields.get("leader")
        if "eceived" in each.entry.text and leader != before:
            if before is not None and leader not in (broker, NONE):
                yield each
            before = leader


def properties(cluster: Cluster, _partition: str = "") -> str:
    """What the brokers' own files said when an upgrade took min.insync.replicas over."""
    if cluster.elr_since in (None, 0):
        return ""
    brokers = {
        each.data["brokerId"] for each in cluster.records if each.type == "REGISTER_BROKER_RECORD"
    }
    unread = sorted(brokers - cluster.configured)
    if not unread:
        return ""
    return (
        f"what the files of brokers {brokers_text(unread)} set is not said. Add server.properties."
    )


# --- The quorum of controllers --------------------------------------------------------------------


def elections(cluster: Cluster, _partition: str = "") -> str:
    """Each candidacy of a controller: every epoch of the quorum has one."""
    if cluster.system == "ZooKeeper":
        return ""
    voters = cluster.voters
    if not voters:
        return (
            "nothing says which controllers vote. Add what `kafka-metadata-quorum ... describe"
            " --status` prints, and each controller's server.log (since 4.0 controller.log, too)."
        )
    heard = {each.entry.node for each in cluster.said}
    if silent := sorted(voters - heard):
        return (
            f"there is no log of controllers {brokers_text(silent)}. Add their server.log (since"
            " 4.0 controller.log, too)."
        )
    stood = {each.fields["epoch"] for each in cluster.said_of("stands")}
    epochs = stood | {
        each.fields["epoch"] for kind in ("wins", "deposed") for each in cluster.said_of(kind)
    }
    won = sum(each.type == "LEADER_CHANGE" for each in cluster.records)
    wins = len({each.fields["epoch"] for each in cluster.said_of("wins")})
    if {*range(min(epochs, default=0), max(epochs, default=-1) + 1)} - stood or wins < won:
        return (
            "the controllers' logs do not have all elections of their quorum. Add all of their"
            " server.log (since 4.0 controller.log, too)."
        )
    return ""
