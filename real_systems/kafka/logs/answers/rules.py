"""What is looked for in a cluster's logs, each with the facts that its silence needs; and what that
says of each partition.

A rule whose facts are not all known was not evaluated, whatever it has found. Partitions are judged
by themselves, here or on Spark.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from real_systems.kafka.logs.answers import facts, findings
from real_systems.kafka.logs.answers.facts import Fact
from real_systems.kafka.logs.answers.findings import Finding
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.reading.readings import Run, here
from real_systems.logged_runs import LogAnswer


@dataclass(frozen=True)
class Rule:
    """looks_for: in words. needs: the facts without which it means nothing that `find` finds
    nothing. of_cluster: these are needed once for the cluster, not for each partition."""

    looks_for: str
    find: Callable[[Cluster, str], Iterable[Finding]]
    needs: tuple[Fact, ...] = ()
    of_cluster: bool = False


RULES = [
    Rule("elections outside the ISR", findings.unclean_elections, (facts.decisions,)),
    Rule(
        "replicas that came back unclean, or with an empty disk, and were taken for complete",
        findings.unclean_returns,
        (facts.decisions, facts.restarts),
    ),
    Rule(
        "committed records that a follower truncated",
        findings.truncations_below_high_watermark,
        (facts.decisions, facts.own_lines, facts.high_watermarks),
    ),
    Rule(
        "truncations to a follower's own high watermark (before 0.11)",
        findings.truncations_to_the_high_watermark,
        (facts.decisions, facts.releases),
    ),
    Rule(
        "leaders that skipped another leader's epoch",
        findings.epochs_not_followed,
        (facts.decisions, facts.own_lines),
    ),
    Rule(
        "records not yet committed when the ISR fell below min.insync.replicas",
        findings.below_min_isr,
        (facts.decisions, facts.min_isr, facts.shrinks),
    ),
    Rule("brokers that ended themselves rather than truncate", findings.halts, (facts.own_lines,)),
    Rule("logs that part, among those on disk that are here", findings.logs_that_part),
    Rule("partitions without a leader, where kafka-topics printed them", findings.without_leader),
    Rule(
        "min.insync.replicas that an upgrade changed",
        findings.min_isr_of_the_upgrade,
        (facts.metadata, facts.properties),
        of_cluster=True,
    ),
    Rule(
        "brokers' own min.insync.replicas that an upgrade removed",
        findings.lost_broker_settings,
        (facts.metadata,),
        of_cluster=True,
    ),
    Rule(
        "epochs of the controllers' quorum within seconds",
        findings.epoch_storms,
        (facts.elections,),
        of_cluster=True,
    ),
]


@dataclass(frozen=True)
class Lack:
    """Why some rules were not evaluated. partition: "" for the cluster. looks_for: those rules."""

    partition: str
    why: str
    looks_for: tuple[str, ...]


def found_in(cluster: Cluster, partition: str = "") -> Iterator[Finding]:
    """What the rules find about a partition; without one about the cluster, and in lines that name
    no partition."""
    for rule in RULES:
        if not (partition and rule.of_cluster):
            yield from rule.find(cluster, partition)


def lacks_of(cluster: Cluster, partition: str = "") -> Iterator[Lack]:
    """What is missing for the rules about a partition, or about the cluster: a sentence each, with
    the rules that it keeps from being evaluated."""
    known: dict[Fact, str] = {}
    stopped: dict[str, list[str]] = {}
    for rule in RULES:
        if rule.of_cluster == bool(partition):
            continue
        for fact in rule.needs:
            if fact not in known:
                known[fact] = fact(cluster, partition)
            if known[fact]:
                stopped.setdefault(known[fact], []).append(rule.looks_for)
    for why, looks_for in stopped.items():
        yield Lack(partition, why, tuple(looks_for))


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
    shares = [
        Share(cluster.about(partitions[k : k + _AT_ONCE]), eligible)
        for k in range(0, len(partitions), _AT_ONCE)
    ]
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
