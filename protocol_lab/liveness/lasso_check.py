"""Checks one lasso with uncompiled functions: is its loop fair, and does it break the property?

It says why a loop is fair, with the reasons of guards. Every lasso that the compiled search finds
is checked by it once more, and so are lassos in scenario files.
"""

from dataclasses import dataclass, field
from typing import Any

from protocol_lab.liveness.claims import assumed_fairness, claims_of, holds, property_of
from protocol_lab.liveness.fairness_conditions import (
    Condition,
    declared_conditions,
    foreign_actions,
)
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import (
    ALWAYS,
    ALWAYS_EVENTUALLY,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    Fairness,
    Formula,
)
from protocol_lab.model.transitions import Attempt, attempts

NEVER, STEP_TAKEN, INTERRUPTED, UNMET = "never possible", "taken", "not always possible", "unmet"
NO_CHANGE = "would change nothing"
"""How a loop meets a condition: the action is enabled nowhere in it; it is taken; the condition is
weak and the action disabled somewhere; where it is possible, or in one such state if the condition
is weak, it would change nothing; or the loop does not meet it."""


@dataclass(frozen=True)
class FairnessOutcome:
    """How a loop meets one fairness condition, or does not.

    at: the number of the state (1 is the initial one) in which a step of it is taken, or is
    impossible for the `reason` given."""

    condition: Condition
    how: str
    at: int = 0
    reason: str = ""

    @property
    def met(self) -> bool:
        return self.how != UNMET

    @property
    def text(self) -> str:
        """The outcome in a sentence without its full stop."""
        action = self.condition.action
        if self.how == NEVER:
            return f"{action} is never possible in the loop"
        if self.how == STEP_TAKEN:
            return f"{action} is taken after state {self.at}"
        if self.how == NO_CHANGE:
            return (
                f"{action} is possible in state {self.at}, but would change nothing: such a step"
                " does not count"
            )
        if self.how == INTERRUPTED:
            why = f": {self.reason}" if self.reason else ""
            return f"{action} is not possible in state {self.at}{why}"
        every = "some state" if self.condition.strong else "every state"
        return f"{action} is possible in {every} of the loop and never taken"


def judge_loop(
    model: Model, fairness: list[Fairness], rows: list[bytes], loop_from: int
) -> list[FairnessOutcome]:
    """How the loop of a lasso meets every condition.

    rows: the states of the lasso; the last one is that of number `loop_from` (from 1) again, or is
    that number itself if the run stays there.
    """
    actions = [*model.spec.actions, *foreign_actions(model, fairness)]
    loop = rows[loop_from - 1 : -1] or rows[loop_from - 1 :]
    tried = [_by_condition(model, row, actions, fairness) for row in loop]
    found = dict.fromkeys(c for each in tried for c, steps in each.items() if steps.changing)
    attempted = dict.fromkeys(condition for each in tried for condition in each)
    for assumed in fairness:
        named = declared_conditions(model, assumed)
        tried_here = [each for each in attempted if each.fairness == assumed]
        stands_for_all = assumed.each and not named[0].values
        found |= dict.fromkeys((tried_here or named) if stands_for_all else named)
    found |= attempted
    outcomes = []
    for condition in found:
        steps = [each.get(condition, _Steps()) for each in tried]
        at = {
            how: [loop_from + k for k, each in enumerate(steps) if is_so(k, each)]
            for how, is_so in {
                STEP_TAKEN: lambda k, each: _after(rows, loop_from + k) in each.real,
                INTERRUPTED: lambda k, each: not each.changing,
                NO_CHANGE: lambda k, each: each.idle and not each.changing,
            }.items()
        }
        never = len(at[INTERRUPTED]) == len(loop)
        if at[STEP_TAKEN]:
            outcomes.append(FairnessOutcome(condition, STEP_TAKEN, at[STEP_TAKEN][0]))
        elif at[NO_CHANGE] and (never or not condition.strong):
            outcomes.append(FairnessOutcome(condition, NO_CHANGE, at[NO_CHANGE][0]))
        elif never:
            outcomes.append(FairnessOutcome(condition, NEVER))
        elif at[INTERRUPTED] and not condition.strong:
            [state, *_] = at[INTERRUPTED]
            reason = _refusal(model, rows[state - 1], actions, condition)
            outcomes.append(FairnessOutcome(condition, INTERRUPTED, state, reason))
        else:
            outcomes.append(FairnessOutcome(condition, UNMET))
    return outcomes


def _after(rows: list[bytes], number: int) -> bytes | None:
    """The state after the one of this number; None if the run stays there."""
    return rows[number] if number < len(rows) else None


@dataclass
class _Steps:
    """What a condition's action can do in a state: the states to which a step of it leads that
    changes something, those of them that a step of the spec leads to, and whether some step of it
    changes nothing."""

    changing: set[bytes] = field(default_factory=set)
    real: set[bytes] = field(default_factory=set)
    idle: bool = False


def _by_condition(
    model: Model, row: bytes, actions: list[Action], fairness: list[Fairness]
) -> dict[Condition, _Steps]:
    """The conditions whose action was tried in a state, with what it can do there."""
    own = {each.name for each in model.spec.actions}
    steps = {each.row for each in attempts(model, row) if each.taken}
    found: dict[Condition, _Steps] = {}
    for each in attempts(model, row, actions):
        if each.error is not None:
            continue
        for assumed in fairness:
            if assumed.counts(each.action.name, each.action.name in own):
                condition = Condition(assumed, tuple(value_at(each, p) for p in assumed.each))
                here = found.setdefault(condition, _Steps())
                if each.taken and each.row == row:
                    here.idle = True
                elif each.taken:
                    here.changing.add(each.row)
                    here.real |= {each.row} & steps
    return found


def value_at(each: Attempt, path: str) -> int:
    """A parameter of an attempt, or a field of one, as a number."""
    name, _, fields = path.partition(".")
    value = each.args[name]
    for step in fields.split(".") if fields else []:
        value = getattr(value, step)
    return int(value)


def _refusal(model: Model, row: bytes, actions: list[Action], condition: Condition) -> str:
    """Why a condition's action can't happen in a state: its reasons, the most frequent first."""
    if not condition.fairness.functions:
        return "no step is possible"
    counts: dict[str, int] = {}
    chosen = [each for each in actions if each.name in condition.fairness.names]
    for each in attempts(model, row, chosen):
        if each.error is None and condition.values == tuple(
            value_at(each, path) for path in condition.fairness.each
        ):
            counts[each.reason] = counts.get(each.reason, 0) + 1
    reasons = sorted(counts, key=lambda reason: -counts[reason])
    return "; or ".join(reasons[:2]) if reasons else "there is nothing for it to act on"


def why_not_broken(
    model: Model, rows: list[bytes], loop_from: int | None, name: str, fairness: str
) -> str:
    """Why a path of states is not a fair run that breaks a property; "" if it is one.

    rows, loop_from: as in `judge_loop`; None for a path that ends without a loop. Raises LabError
    for a name that the spec does not have.
    """
    claims = claims_of(model, property_of(model, name))
    is_run = claims[0].formula.operator == ALWAYS or loop_from is not None
    if not is_run:
        return f"{name} is about whole runs: first say with !loops_to how this one goes on."
    if not any(breaks(model, each.formula, each.values, rows, loop_from) for each in claims):
        return f"the run satisfies {name}."
    if loop_from is None:
        return ""
    assumed = assumed_fairness(model, fairness)
    unmet = [each for each in judge_loop(model, assumed, rows, loop_from) if not each.met]
    return f"the loop is not fair: {unmet[0].text}." if unmet else ""


def breaks(
    model: Model, formula: Formula, values: dict[str, Any], rows: list[bytes], loop_from: int | None
) -> bool:
    """Does the run along these states break the formula, by the formula's definition?

    loop_from as in `judge_loop`; None for a finite path, which can break only `always`.
    """
    p, *q = ([holds(model, row, each, values) for row in rows] for each in formula.predicates)
    if formula.is_given and not q[-1][0]:
        return False
    if formula.operator == ALWAYS:
        return not all(p)
    if loop_from is None:
        return False
    first = loop_from - 1
    if formula.operator == EVENTUALLY:
        return not any(p)
    if formula.operator == ALWAYS_EVENTUALLY:
        return not any(p[first:])
    if formula.operator == EVENTUALLY_ALWAYS:
        return not all(p[first:])
    return any(p[k] and not any(q[0][min(k, first) :]) for k in range(len(rows)))
