"""What is looked for in a cluster's logs, each with the facts that its silence needs; and what that
says of each partition.

A rule whose facts are not all known was not evaluated, whatever it has found. Partitions are judged
by themselves, here or on Spark.

The answer is: found; nothing found, and what was read was enough to tell; or can't tell, with what
is missing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from typing import Any

from protocol_lab.checker.result import Verdict
from real_systems.kafka.logs.answers import facts, findings
from real_systems.kafka.logs.answers.facts import Fact
from real_systems.kafka.logs.answers.findings import Finding, Found
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.reading.entries import by_day, clock, day
from real_systems.kafka.logs.reading.readings import Run, here
from real_systems.logged_runs import LogAnswer


@dataclass(frozen=True)
class Rule:
    """looks_for: in words. needs: the facts without which it means nothing that `find` finds
    nothing. of_cluster: these are needed once for the cluster, not for each partition."""

    looks_for: str
    find: Callable[[Cluster, str], Iterable[Found]]
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
            for at, text, lesson in rule.find(cluster, partition):
                yield Finding(at.time, partition, text, at.place, lesson)


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


Judgement = tuple[list[Finding], list[Lack], dict[str, LogAnswer]]
"""What is found; why rules were not evaluated; and by partition whether the metadata log, if that
was checked, is a run of the controller's rules."""


def judge(
    cluster: Cluster, partitions: Sequence[str], eligible: str | None, run: Run = here
) -> Judgement:
    """What is said of the cluster and of each of these partitions. eligible: the rules for a check
    of the metadata log, see `check_partition`; None for no check."""
    found, lacks, checks = list(found_in(cluster)), list(lacks_of(cluster)), {}
    shares = [
        cluster.about(partitions[k : k + _AT_ONCE]) for k in range(0, len(partitions), _AT_ONCE)
    ]
    for some_found, some_lacks, some_checks in run(partial(judge_share, eligible), shares):
        found += some_found
        lacks += some_lacks
        checks |= some_checks
    return found, lacks, checks


def judge_share(eligible: str | None, cluster: Cluster) -> Judgement:
    """The same of the partitions of a share, of which `cluster` has what is known."""
    names = list(cluster.partitions)
    return (
        [found for each in names for found in found_in(cluster, each)],
        [lack for each in names for lack in lacks_of(cluster, each)],
        {each: check_partition(cluster, each, eligible) for each in names if eligible is not None},
    )


_NAMED = 5
"""So many partitions are named in a sentence."""

_REASONS = 20
"""So many reasons are listed."""

HEADLINES = {
    Verdict.VIOLATED: "Found",
    Verdict.HOLDS: "Nothing found, and what was read was enough to tell",
    Verdict.UNDECIDED: "Can't tell: nothing was found, but what was read is not enough",
}


@dataclass
class Answer:
    """findings: what was found. breaches: partitions whose metadata log is no run of the rules.
    unread: sentences on what was not understood, or may be of several brokers. lacks: why rules
    were not evaluated. nodes, period, partitions: what was read."""

    findings: Sequence[Finding]
    breaches: Sequence[str]
    unread: Sequence[str]
    lacks: Sequence[Lack]
    nodes: Sequence[int]
    period: tuple[int, int]
    partitions: Sequence[str]

    @property
    def _looked_for(self) -> list[str]:
        stopped = {each for lack in self.lacks for each in lack.looks_for}
        return [each.looks_for for each in RULES if each.looks_for not in stopped]

    @property
    def verdict(self) -> str:
        """VIOLATED: found. HOLDS: nothing found, and that was enough to tell. Else UNDECIDED."""
        if self.findings or self.breaches:
            return Verdict.VIOLATED
        return Verdict.UNDECIDED if self.unread or self.lacks else Verdict.HOLDS

    def __str__(self) -> str:
        lines = [f"{self._headline}:" if self.findings else f"{self._headline}."]
        lines += [f"  {line}" for line in by_day((each.time, str(each)) for each in self.findings)]
        for title, sentences in self._parts():
            lines += ["", f"{title}:", *(f"  {each}" for each in sentences)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = [f"{day(each.time)} {each}".strip() for each in self.findings]
        html = f"<h2>{escape(self._headline)}</h2>{listed(items, 'findings')}"
        for title, sentences in self._parts():
            html += f"<p>{escape(title)}:</p>{listed(sentences)}"
        return html

    def as_json(self) -> dict[str, Any]:
        """The same for other programs; times are milliseconds since 1970."""
        return {
            "answer": {
                Verdict.VIOLATED: "found",
                Verdict.HOLDS: "nothing found",
                Verdict.UNDECIDED: "can't tell",
            }[self.verdict],
            "unread": list(self.unread),
            "not looked for": [asdict(each) for each in self.lacks],
            "looked for": self._looked_for,
            "covers": {
                "nodes": list(self.nodes),
                "period": list(self.period),
                "partitions": list(self.partitions),
            },
        }

    @property
    def _headline(self) -> str:
        return HEADLINES[self.verdict]

    def _parts(self) -> Iterable[tuple[str, list[str]]]:
        if self.breaches:
            yield "The metadata log is no run of the controller's rules", list(self.breaches)
        if self.unread:
            yield "Not understood", [each.removeprefix("Not understood: ") for each in self.unread]
        if self.lacks:
            more = len(self.lacks) - _REASONS
            shown = list(map(_lack, self.lacks[:_REASONS]))
            shown += [f"and {more:,} more reasons: --json has them all."] if more > 0 else []
            yield "Not looked for, and what would make it possible", shown
        if self._looked_for:
            yield f"Looked for {self._covered()}", self._looked_for

    def _covered(self) -> str:
        """Where and when."""
        begin, end = self.period
        where = f"in {_names(self.partitions, 'no partition')}"
        if self.nodes:
            where += f", in the logs of nodes {', '.join(map(str, self.nodes))}"
        if begin:
            where += f", from {day(begin)} {clock(begin)} to {day(end)} {clock(end)}"
        return where


def grouped(lacks: Iterable[Lack]) -> list[Lack]:
    """One for each reason, for all partitions that have it."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for each in lacks:
        partitions, looks_for = found.setdefault(each.why, ([], []))
        partitions += (
            [each.partition] if each.partition and each.partition not in partitions else []
        )
        looks_for += [name for name in each.looks_for if name not in looks_for]
    return [
        Lack(_names(partitions, ""), why, tuple(looks_for))
        for why, (partitions, looks_for) in found.items()
    ]


def _lack(lack: Lack) -> str:
    where = f"{lack.partition}: " if lack.partition else ""
    return f"{where}{lack.why} Without it: {'; '.join(lack.looks_for)}."


def _names(names: Sequence[str], none: str) -> str:
    more = len(names) - _NAMED
    return (", ".join(names[:_NAMED]) or none) + (f" and {more:,} more" if more > 0 else "")


def listed(items: Iterable[str], kind: str = "") -> str:
    """Texts as a list in HTML; "" if there are none."""
    inside = "".join(f"<li>{escape(each)}</li>" for each in items)
    return f"<ul class='{kind}'>{inside}</ul>" if inside else ""
