"""What is said of each partition: what a lesson would say of it, and whether the metadata log is a
run of the controller's rules. Partitions are judged by themselves, here or on Spark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from real_systems.kafka.logs.answers.findings import Finding
from real_systems.kafka.logs.answers.rules import Lack, found_in, lacks_of
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.reading.readings import Run, here
from real_systems.logged_runs import LogAnswer

_AT_ONCE = 64
"""Partitions of one share."""


@dataclass(frozen=True)
class Share:
    """Some partitions, and what is known of these. eligible: the rules for a check of the metadata
    log, see `check_partition`; None for no check."""

    cluster: Cluster
    eligible: str | None


@dataclass(frozen=True)
class Judgement:
    """What is said of a partition. lacks: why rules were not evaluated. answer: None if the
    metadata log was not to be checked."""

    partition: str
    findings: list[Finding]
    lacks: list[Lack]
    answer: LogAnswer | None


def judge(
    cluster: Cluster, partitions: Sequence[str], eligible: str | None, run: Run = here
) -> Iterator[Judgement]:
    """What is said of each of these partitions; `eligible` as in a share."""
    rest = iter(partitions)
    shares = []
    while chosen := list(islice(rest, _AT_ONCE)):
        shares.append(Share(cluster.about(chosen), eligible))
    for found in run(judge_share, shares):
        yield from found


def judge_share(share: Share) -> list[Judgement]:
    """What is said of the partitions of a share."""
    cluster = share.cluster
    return [
        Judgement(
            each,
            list(found_in(cluster, each)),
            list(lacks_of(cluster, each)),
            None if share.eligible is None else check_partition(cluster, each, share.eligible),
        )
        for each in cluster.partitions
    ]
