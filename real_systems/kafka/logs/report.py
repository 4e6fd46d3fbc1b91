"""The answer to `logs`: what happened to each partition, and what a lesson says of it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from protocol_lab.checker.result import Verdict
from protocol_lab.errors import LabError, unknown, visible
from real_systems.kafka.logs.answers import facts
from real_systems.kafka.logs.answers.findings import Finding
from real_systems.kafka.logs.answers.rules import RULES, Answer, Lack, grouped, judge
from real_systems.kafka.logs.broker_events import (
    Event,
    events_of_brokers,
    events_of_replicas,
    in_order,
)
from real_systems.kafka.logs.histories import Cluster, partitions_of, read_cluster
from real_systems.kafka.logs.moments import Moment, moment_text
from real_systems.kafka.logs.notes import clock_differences, tool_notes
from real_systems.kafka.logs.reading.archives import unpacked
from real_systems.kafka.logs.reading.entries import by_day, time_in
from real_systems.kafka.logs.reading.readings import Run, here
from real_systems.kafka.logs.reading.sources import find_sources
from real_systems.kafka.logs.report_page import drawn_moments, folded, paragraph, whole_page
from real_systems.logged_runs import LogAnswer

CLUSTERS = Path(__file__).parent / "clusters"
"""Logs of real clusters that travel with the kit, an archive each, named after their story."""

_NICKNAMES = {
    "orange": "last_replica_without_elr_4.3.1",
    "violet": "last_replica_with_elr_4.3.1",
}
"""Names that do not tell what the logs are of, for the notebook that asks."""

_DAY = 24 * 3600 * 1000
_NO_LOG = (
    "is a log of Kafka: name a folder with server.log, controller.log, state-change.log, or with"
    " the output of kafka-dump-log."
)
_CHECK = "decisions that the controller's rules do not allow"
_FEW = 20
"""So many partitions are checked, and listed moment by moment, without being asked for."""


@dataclass
class Report:
    """What the logs say. `partitions`: those that were asked about; `period`: from when to when;
    `answer`: what was found, or why that can't be told; `notes`: what to know of the reading, such
    as files that were passed over and clocks that disagree; `checks`: for each partition whether
    the metadata log is a run of the controller's rules; `explained`: list it."""

    cluster: Cluster
    partitions: dict[str, list[Moment]]
    period: tuple[int, int]
    answer: Answer
    notes: list[str]
    checks: dict[str, LogAnswer] = field(default_factory=dict)
    explained: bool = False

    @property
    def findings(self) -> Sequence[Finding]:
        """What was found, in the order of time."""
        return self.answer.findings

    @property
    def verdict(self) -> str:
        """VIOLATED: found. HOLDS: nothing found, and that was enough to tell. Else UNDECIDED."""
        return self.answer.verdict

    @property
    def listed(self) -> list[str]:
        """The partitions whose time lines are shown: all, or of many those that something is said
        of, up to a few."""
        if len(self.partitions) <= _FEW:
            return list(self.partitions)
        about = {each.partition for each in self.findings}
        about |= {name for name, each in self.checks.items() if each.verdict != Verdict.HOLDS}
        return [each for each in self.partitions if each in about][:_FEW]

    def events(self, partition: str) -> list[Event]:
        """What happened to a partition's brokers since its first moment, in the order of time."""
        moments = self.partitions[partition]
        brokers = {each for moment in moments for each in moment.replicas}
        first, last = max(self.period[0], moments[0].time), self.period[1]
        told = [each for each in self.broker_events if each.broker in brokers]
        told += events_of_replicas(self.cluster, partition)
        return sorted((each for each in told if first <= each.time <= last), key=in_order)

    @cached_property
    def broker_events(self) -> list[Event]:
        """What happened to all brokers, at any time."""
        return events_of_brokers(self.cluster)

    def __str__(self) -> str:
        parts = self._other_notes
        for partition in self.listed:
            parts += ["", f"{self._title(partition)}:"]
            parts += [f"  {line}" for line in self.time_line(partition, events=True).split("\n")]
        if self.unlisted:
            parts += ["", self.unlisted]
        if self.checks:
            parts += ["", "Is the metadata log a run of the controller's rules?"]
        for partition, answer in self.checks.items():
            parts += [f"  {line}" for line in f"{partition}: {answer}".split("\n")]
            if self.explained:
                parts += [f"    {line}" for line in answer.run_text().split("\n")]
        parts += ["", str(self.answer)]
        return visible("\n".join(parts).lstrip("\n"))

    @property
    def _other_notes(self) -> list[str]:
        """Those that the answer does not have."""
        return [each for each in self.notes if each not in self.answer.unread]

    def _title(self, partition: str) -> str:
        replicas = ", ".join(map(str, self.partitions[partition][-1].replicas))
        return f"{partition}, replicas {replicas or 'not said'}"

    @property
    def unlisted(self) -> str:
        """A sentence on the partitions whose time lines are not shown; "" if there are none."""
        count = len(self.partitions) - len(self.listed)
        if not count:
            return ""
        return (
            f"{count:,} more partitions are not listed moment by moment: name one with --topic and"
            " --partition."
        )

    def as_json(self) -> dict[str, Any]:
        """The same for other programs; times are milliseconds since 1970. What brokers did with
        their replicas is said of the partitions that are listed."""
        return {
            **self.answer.as_json(),
            "releases": sorted(self.cluster.releases),
            "partitions": {
                name: [asdict(each) for each in moments]
                for name, moments in self.partitions.items()
            },
            "brokers": [vars(each) for each in self.broker_events],
            "replicas": {
                name: [vars(each) for each in events_of_replicas(self.cluster, name)]
                for name in self.listed
            },
            "findings": [asdict(each) for each in self.findings],
            "checks": {name: each.as_json() for name, each in self.checks.items()},
            "notes": self.notes,
        }

    def time_line(self, partition: str, events: bool = False) -> str:
        """What the controller decided on a partition, moment by moment, and nothing of what that
        means; with `events` also what happened to its brokers in between, and the days."""
        moments = self.partitions[partition]
        if not events:
            return "\n".join(map(moment_text, moments))
        lines = [(in_order(each), moment_text(each)) for each in moments]
        lines += [(in_order(each), f"    {each}") for each in self.events(partition)]
        lines.sort(key=lambda line: line[0])
        return "\n".join(by_day((time, text) for (time, _), text in lines))

    def _repr_html_(self) -> str:
        parts = [self.answer._repr_html_(), *map(paragraph, self._other_notes)]
        for partition, answer in self.checks.items():
            parts.append(folded(f"{partition}: {answer}", answer.run_text()))
        for partition in self.listed:
            moments = self.partitions[partition]
            parts.append(f"<h2>{escape(self._title(partition))}</h2>")
            parts.append(folded("Moment by moment", self.time_line(partition, events=True)))
            parts.append(drawn_moments(self.cluster, partition, moments, self.events(partition)))
        parts.append(paragraph(self.unlisted) if self.unlisted else "")
        return "".join(parts)

    def page(self) -> str:
        """One HTML page that needs nothing else."""
        return whole_page(self._repr_html_())


def recorded(name: str) -> Path:
    """The logs of a real cluster that travel with the kit, by the name of their story.

    Raises LabError with the known names if there are none.
    """
    known = {each.name.removesuffix(".tar.gz"): each for each in CLUSTERS.iterdir()}
    name = _NICKNAMES.get(name, name)
    if name not in known:
        raise unknown("recorded cluster", name, sorted([*known, *_NICKNAMES]))
    return known[name]


def read(
    folders: Sequence[str | Path],
    topic: str | None = None,
    partition: int | None = None,
    begin: str | None = None,
    end: str | None = None,
    check: bool = False,
    rules: str | None = None,
    engine: str | Run = "native",
    most_unpacked: int | None = None,
) -> Report:
    """Read the logs in these folders or archives.

    `topic` and `partition` cut it, and so do `begin` and `end`, as in "2026-11-25 02:19:00" or
    "02:19". A metadata log is checked against the controller's rules if few partitions are asked
    about, or if `check` says so; then the run that explains it is listed, too. `rules`: as if
    eligible leader replicas were "elr=on" or "elr=off", whatever the log says. `engine`: "native",
    or "spark" for large folders, with the same answers, or what runs the work. `most_unpacked`:
    bytes of what archives have, if that is to be little. Raises LabError.
    """
    eligible, run = _eligible(rules), _run(engine)
    try:
        with unpacked([Path(each) for each in folders], most_unpacked) as found:
            sources = find_sources(found)
            cluster = read_cluster(sources, topic, run)
    except OSError as error:
        raise LabError(f"{error.filename} can't be read ({error.strerror}).") from None
    known = cluster.partitions or cluster.said or cluster.records or cluster.quorum
    if not (known or cluster.unread or sources.files):
        raise LabError(f"Nothing in {' and '.join(map(str, folders))} {_NO_LOG}")
    chosen = list(partitions_of(cluster, topic, partition))
    if (topic or partition is not None) and not chosen:
        topics = sorted({each.rpartition("-")[0] for each in cluster.partitions})
        raise LabError(
            f"The logs say nothing of {topic or 'such a topic'}"
            f"{'' if partition is None else f', partition {partition}'}: they know"
            f" {', '.join(topics) or 'no topic'}."
        )
    times = [each.time for name in chosen for each in cluster.partitions.get(name, [])]
    times += [each.entry.time for each in cluster.said]
    times += [each.time for each in cluster.records if each.time is not None]
    day = max(times, default=0) // _DAY * _DAY
    first, last = _moment(begin, day, 0), _moment(end, day, max(times, default=0) + 1)
    if begin and end and first > last:
        raise LabError(f"{begin} is after {end}: give the earlier time with --from.")
    checked = cluster.has_metadata and bool(check or rules or len(chosen) <= _FEW)
    findings, lacks, checks = judge(cluster, chosen, eligible if checked else None, run)
    notes = [*cluster.remarks, *clock_differences(cluster), *tool_notes(cluster, chosen)]
    if cluster.has_metadata and not checked:
        notes.append(f"These are {len(chosen)} partitions: --check checks each one's records.")
    unread = [*map(str, [*cluster.unread, *cluster.doubts]), *cluster.disagreements]
    lacks += [
        Lack(name, each.missing, (_CHECK,))
        for name, each in checks.items()
        if each.verdict == Verdict.UNDECIDED
    ]
    breaches = [name for name, each in checks.items() if each.verdict == Verdict.VIOLATED]
    if cluster.gap or cluster.disagreements:  # what is missing, or of another cluster, explains it
        why = facts.metadata(cluster) or cluster.disagreements[0]
        lacks += [Lack(name, why, (_CHECK,)) for name in breaches]
        breaches = []
    if not chosen and not cluster.has_metadata:
        why = "no partition is named. Add the brokers' state-change.log, or the metadata log."
        if not known:
            lacks, why = [], f"nothing here says what happened to a partition, or {_NO_LOG}"
        lacks.append(Lack("", why, tuple(each.looks_for for each in RULES if not each.of_cluster)))
    known_times = [each for each in times if each and first <= each <= last]
    answer = Answer(
        sorted(
            (each for each in {*findings} if not each.time or first <= each.time <= last),
            key=lambda each: (each.time, each.partition, each.text),
        ),
        breaches,
        unread,
        grouped(lacks),
        sorted({each.entry.node for each in cluster.said if each.entry.node is not None}),
        (min(known_times, default=0), max(known_times, default=0)),
        chosen,
    )
    cut = {name: _between(cluster.partitions.get(name, []), first, last) for name in chosen}
    return Report(
        cluster,
        {name: each for name, each in cut.items() if each},
        (first, last),
        answer,
        [*unread, *notes],
        checks,
        explained=check,
    )


def _run(engine: str | Run) -> Run:
    """What runs the work of an engine. Raises LabError."""
    if callable(engine):
        return engine
    if engine == "native":
        return here
    if engine == "spark":
        from real_systems.kafka.logs.on_spark import on_spark

        return on_spark
    raise unknown("engine", engine, ["native", "spark"])


def _eligible(rules: str | None) -> str:
    """Whether there are eligible leader replicas, as the rules say. Raises LabError."""
    if rules is None:
        return "log"
    name, _, value = rules.replace(" ", "").partition("=")
    if name != "elr" or value not in ("on", "off"):
        raise LabError(f"{rules!r} names no rules: write elr=on or elr=off.")
    return value


def _between(moments: list[Moment], first: int, last: int) -> list[Moment]:
    """Those in this time, and the one that was so when it began."""
    earlier = [each for each in moments if each.time < first]
    return earlier[-1:] + [each for each in moments if first <= each.time <= last]


def _moment(text: str | None, day: int, otherwise: int) -> int:
    if text is None:
        return otherwise
    whole = time_in(text if len(text) > 16 else f"{text}:00")
    if whole is not None:
        return whole
    for clock_text in (text, f"{text}:00", f"{text}:00:00"):
        found = time_in(f"2000-01-01 {clock_text}")
        if found is not None:
            return day + found % _DAY
    raise LabError(f"{text!r} is no time: write 02:19, 02:19:30 or 2026-11-25 02:19:30.")
