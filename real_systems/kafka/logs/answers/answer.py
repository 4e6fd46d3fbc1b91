"""The answer to what is looked for: found; nothing found, and what was read was enough to tell; or
can't tell, with what is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from protocol_lab.checker.result import Verdict
from real_systems.kafka.logs.answers.findings import Finding
from real_systems.kafka.logs.answers.rules import RULES, Lack
from real_systems.kafka.logs.reading.entries import by_day, clock, day

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
    _looked_for: list[str] = field(init=False)

    def __post_init__(self) -> None:
        stopped = {each for lack in self.lacks for each in lack.looks_for}
        self._looked_for = [each.looks_for for each in RULES if each.looks_for not in stopped]

    @property
    def verdict(self) -> Verdict:
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
        html = f"<h2>{escape(self._headline)}</h2>{_list(items, 'findings')}"
        for title, sentences in self._parts():
            html += f"<p>{escape(title)}:</p>{_list(sentences)}"
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


def _list(items: Iterable[str], kind: str = "") -> str:
    inside = "".join(f"<li>{escape(each)}</li>" for each in items)
    return f"<ul class='{kind}'>{inside}</ul>" if inside else ""
