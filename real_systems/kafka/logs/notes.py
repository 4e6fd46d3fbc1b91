"""What to know of the reading: where tools' output belongs, and clocks that disagree."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.moments import NONE, Moment
from real_systems.kafka.logs.reading.tool_output import Described
from real_systems.kafka.picture import brokers_text


def tool_notes(cluster: Cluster, partitions: Iterable[str]) -> Iterator[str]:
    """Sentences on what tools printed, and where in the history that belongs."""
    for partition in partitions:
        for each in cluster.described.get(partition, []):
            moments = [m for m in cluster.partitions[partition] if m.place != each.place]
            same = [m.place for m in moments if _is_like(m, each)]
            if same:
                yield f"{each.place} has {partition} as at {' and '.join(same)}."
            elif moments:
                leader = "none" if each.leader == NONE else each.leader
                yield (
                    f"{each.place} has {partition} as at no moment here: leader {leader}, ISR"
                    f" {brokers_text(each.isr)}."
                )
    last = cluster.records[-1].offset if cluster.records else None
    for each in cluster.quorum:
        if last is not None and each.committed is not None and each.committed > last + 1:
            yield (
                f"The metadata log here ends at offset {last}, and {each.place} has a high"
                f" watermark of {each.committed}: later records are missing."
            )
        whole = max(each.ends.values(), default=0)
        behind = [(node, end) for node, end in each.ends.items() if whole - end >= _BEHIND]
        if behind:
            nodes = ", ".join(f"node {node} up to {end}" for node, end in sorted(behind))
            yield (
                f"When {each.place} was printed, the metadata log ended at {whole}, and not all had"
                f" it: {nodes}. Such a node acts on what was decided before."
            )


_BEHIND = 10
"""Records of the metadata log; a controller writes some while it answers."""


def _is_like(moment: Moment, described: Described) -> bool:
    return (
        moment.leader == described.leader
        and set(moment.replicas) == set(described.replicas)
        and moment.isr is not None
        and set(moment.isr) == set(described.isr)
        and set(moment.elr) == set(described.elr if described.elr is not None else moment.elr)
    )


def clock_differences(cluster: Cluster) -> list[str]:
    """Sentences on brokers whose clocks can't agree with the metadata log's.

    A broker applies a change after it was written. One that seems to do so earlier has a clock that
    is behind, or, by whole quarters of an hour, another time zone.
    """
    written = {
        (partition, moment.version): moment.time
        for partition, moments in cluster.partitions.items()
        for moment in moments
    }
    apart: dict[int, list[int]] = defaultdict(list)
    for each in cluster.said:
        since = written.get((each.partition, each.fields.get("version", -1)))
        if each.kind in ("leads", "follows") and each.entry.node is not None and since is not None:
            apart[each.entry.node].append(each.entry.time - since)
    least = {node: min(found) for node, found in apart.items()}
    return [
        _difference(node, each)
        for node, each in least.items()
        if each < -_TOLERATED or each > _QUARTER // 2
    ]


_TOLERATED = 1000
_QUARTER = 15 * 60 * 1000


def _difference(node: int, apart: int) -> str:
    zones = round(apart / _QUARTER) * _QUARTER
    if zones and abs(apart - zones) < 60_000:
        return (
            f"Broker {node} writes its times in another zone, {zones / 3_600_000:+g} hours from the"
            " metadata log's, which are in UTC."
        )
    return (
        f"Broker {node}'s clock is {abs(apart) / 1000:.1f} s"
        f" {'behind' if apart < 0 else 'ahead of'} the controller's: compare its times with care."
    )
