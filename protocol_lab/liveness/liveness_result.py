"""The result of checking a temporal property: a verdict, and a lasso that breaks it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from protocol_lab.checker.result import (
    Result,
    Verdict,
    cost_line,
    listed,
    reach_lines,
    trace_lines,
    undecided_lines,
)
from protocol_lab.liveness.claims import DECLARED
from protocol_lab.liveness.lasso_check import NEVER, FairnessOutcome
from protocol_lab.model.layout import NamedValue
from protocol_lab.model.temporal_formulas import Fairness
from protocol_lab.quantities import counted


@dataclass(repr=False)
class PropertyResult(Result):
    """The outcome for one claim. The counts are those of the exploration behind it.

    claim: its name, or the formula in words if it has none. `inside_constraint`: a constraint cut
    something off, so that "holds" is about the runs, or steps, that stay inside.
    """

    claim: str = ""
    inside_constraint: bool = False

    @classmethod
    def of(cls, explored: Result, claim: str, invariants: Iterable[str] = (), **more: Any) -> Self:
        """The result of a claim that was not judged yet."""
        names = ("per_depth", "per_action", "exhaustive", "undecided_reason", "never_reached")
        names += ("compared", "compile_seconds", "seconds")
        taken_over = {name: getattr(explored, name) for name in names}
        return cls(explored.model, "native", [*invariants], claim=claim, **taken_over, **more)

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --json`, and those of a claim."""
        more = {"property": self.claim, "inside_constraint": self.inside_constraint}
        return super().to_json() | more


@dataclass(repr=False)
class TemporalResult(PropertyResult):
    """The outcome for one temporal property.

    formula: it, in words. `assumption` is the chosen
    fairness, `fairness` its conditions in words. If violated, `trace` leads through the prefix and
    once around the loop (or ends where the run stays forever), `parameters` are the values for
    which the property fails, and `why_fair` says how the loop meets each condition. `conditions`
    counts the conditions that are enabled somewhere, `steps` the transitions that change something.
    `premise`: what has to come about before the property demands anything, in words;
    `never_true`: the values of the parameters for which it is true on no fair run; `vacuous`: it
    holds, but only because the premise is never true, whatever the parameters. `judged`: all
    states that were found were judged.
    """

    formula: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    assumption: str = DECLARED
    fairness: list[str] = field(default_factory=list)
    why_fair: list[FairnessOutcome] = field(default_factory=list)
    conditions: int = 0
    steps: int = 0
    premise: str = ""
    never_true: list[dict[str, Any]] = field(default_factory=list)
    vacuous: bool = False
    judged: bool = False

    @property
    def reservation(self) -> str:
        """What a verdict "holds" does not cover: "but somebody asks is never true on a fair run";
        "" if it holds of something."""
        if not self.never_true:
            return ""
        said = f"but {self.premise} is never true on a fair run"
        if self.vacuous:
            return said
        shown = [_assigned(each) for each in self.never_true]
        return f"{said} for {listed(shown, '; ')}"

    @property
    def claim_line(self) -> str | None:
        """The line of a scenario file that claims what was found; None for a formula without a
        name."""
        if self.violated is None or self.claim == self.formula:
            return None
        return f"!violates {self.claim}" + (
            "" if self.assumption == DECLARED else f" under {self.assumption}"
        )

    @property
    def stutters(self) -> bool:
        """Does the run stay in its last state forever?"""
        return self.loop_from is not None and self.loop_from == len(self.trace_rows)

    def to_json(self) -> dict[str, Any]:
        """The fields of `check --json`, and those of a temporal property."""
        return {
            **super().to_json(),
            "formula": self.formula,
            "parameters": {name: _named(value) for name, value in self.parameters.items()},
            "fairness": self.fairness,
            "vacuous": self.vacuous,
            "premise": self.premise or None,
            "premise_never_true": self.never_true,
            "loop_from": self.loop_from,
            "stutters": self.stutters,
            "why_fair": [each.text for each in self.why_fair],
            "conditions": self.conditions,
            "steps": self.steps,
        }

    def __repr__(self) -> str:
        return summary(self)


def summary(result: TemporalResult) -> str:
    """The outcome in a few lines for people."""
    lines = [str(result.model)]
    claim = result.claim + (f" ({result.formula})" if result.formula != result.claim else "")
    if result.verdict == Verdict.HOLDS:
        where = " that stays inside the constraint" if result.inside_constraint else ""
        but = f", {result.reservation}" if result.reservation else ""
        lines.append(f"✓ holds: {claim} on every fair run{where}{but}")
    elif result.verdict == Verdict.VIOLATED:
        chosen = _assigned(result.parameters)
        lines.append(f"✗ violated: {claim}{f' for {chosen}' if chosen else ''}")
        lines.append(f"  {_how(result)}")
    else:
        lines += undecided_lines(result.model, [claim], result.undecided_reason, result.judged)
    lines.append(f"  under {'; '.join(result.fairness) or 'no fairness: a run may stop anywhere'}")
    counts = [counted(result.distinct, "distinct state")]
    if result.steps or result.conditions:
        counts.append(f"{counted(result.steps, 'step')} between them")
        counts.append(counted(result.conditions, "fairness condition"))
    lines.append(f"  {', '.join(counts)}")
    lines.append(cost_line(result))
    lines += reach_lines(result)
    if result.trace is not None:
        lines += _trace_lines(result)
        lines += _fair_lines(result)
    return "\n".join(lines)


def _assigned(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_named(value)}" for name, value in values.items())


def _named(value: Any) -> Any:
    """The name of a named value; anything else as it is."""
    return value.names[value] if isinstance(value, NamedValue) else value


def _how(result: TemporalResult) -> str:
    """How the run goes on forever, in words."""
    if result.loop_from is None and not result.trace:
        return "in an initial state"
    if result.loop_from is None:
        return f"after {counted(len(result.trace), 'step')}"
    if result.stutters:
        return f"the run stops in state {result.loop_from}, and stays there for ever"
    states = len(result.trace_rows) - result.loop_from
    return (
        f"the run comes back to state {result.loop_from}, and goes round through"
        f" {counted(states, 'state')} for ever"
    )


def _trace_lines(result: TemporalResult) -> list[str]:
    lines = trace_lines(result.initial or "the initial state", result.trace)
    if result.stutters:
        lines.append("      ↻ stays there")
    elif result.loop_from is not None:
        lines[result.loop_from - 1] += "   ← the loop begins here"
        back = f"→ back to state {result.loop_from}"
        lines[-1] = f"  ↻ {result.loop_from} {result.trace[-1]}   {back}"
    return lines


def _fair_lines(result: TemporalResult) -> list[str]:
    if not result.why_fair:
        return []
    told = [each.text for each in result.why_fair if each.how != NEVER]
    never = _never_possible(result.why_fair)
    told += [f"never possible there: {', '.join(never)}"] if never else []
    return ["  why that is fair:", *(f"    {text}" for text in told)]


_MANY = 3
"""Of one assumption, more conditions than these are counted rather than named."""


def _never_possible(outcomes: list[FairnessOutcome]) -> list[str]:
    """The conditions whose action is never possible, those of one assumption together."""
    never: dict[Fairness, list[str]] = {}
    for each in outcomes:
        if each.how == NEVER:
            never.setdefault(each.condition.fairness, []).append(each.condition.action)
    named = []
    for assumed, actions in never.items():
        paths = ", ".join(assumed.each)
        of_it = sum(each.condition.fairness == assumed for each in outcomes)
        if 1 < len(actions) == of_it:
            named.append(f"{assumed.name} for each {paths}")
        elif len(actions) > _MANY:
            named.append(f"{assumed.name} for every other {paths} ({len(actions)} of {of_it})")
        else:
            named += actions
    return named
