"""Checks a temporal property: does it hold on every fair run of a model?"""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from protocol_lab.checker.defect_report import defect
from protocol_lab.checker.options import TEMPORAL, takes_options, values_of
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import OUT_OF_MEMORY, SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.compiler.expansion import check_some
from protocol_lab.compiler.kernels import Kernels, constants_array
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.explore import explore
from protocol_lab.liveness.claims import (
    DECLARED,
    Claim,
    assumed_fairness,
    claims_and_text,
    holds,
    refinement_of,
)
from protocol_lab.liveness.lasso_check import breaks, judge_loop
from protocol_lab.liveness.lassos import Lasso, beginnings, find_lasso, path_to_breach, refutation
from protocol_lab.liveness.liveness_result import TemporalResult
from protocol_lab.liveness.refinement import RefinementResult, check_refinement
from protocol_lab.liveness.step_graph import Conditions, OutOfMemory, StepGraph
from protocol_lab.liveness.vacuity import IMPOSSIBLE_FAIRNESS, NO_FAIR_RUN, NO_STATE, FairRuns
from protocol_lab.semantics.step_text import initial_text, steps_between
from protocol_lab.spec.spec import Model, expect_model
from protocol_lab.spec.temporal_formulas import ALWAYS, Fairness, Formula, fairness_texts
from protocol_lab.system.interrupts import deferred_interrupts
from protocol_lab.system.memory import allowed_bytes

_ROWS = 1 << 16


class Stopped(Exception):
    """The check ends without a verdict; the text says why."""


@takes_options(SearchRequest, TEMPORAL)
def check_property(
    model: Model,
    what: str | Formula,
    *,
    fairness: str = DECLARED,
    progress: bool = True,
    **options: Any,
) -> TemporalResult | RefinementResult:
    """Check a temporal property of the spec by its name, a formula, or a refinement by its name.

    fairness: one of FAIRNESS. progress: show a progress line. As with TLC, a property is judged on
    the runs that stay inside a constraint, while an action's enabledness is that of the
    unconstrained spec. If not all states were seen (max_states, a storage capacity), a lasso that
    was found still counts, and otherwise the verdict is undecided. It is undecided, too, if no fair
    run is left to judge; and one that holds says so if its premise is never true on a fair run.
    Interrupting gives an undecided result. Raises LabError for bad input.
    """
    expect_model(model)
    if (claim := refinement_of(model, what)) is not None:
        if fairness != DECLARED:
            raise LabError(
                f"{claim.name} is a refinement, which is checked step by step: leave fairness out."
            )
        return check_refinement(model, claim, progress=progress, **options)
    values = values_of(SearchRequest, check_property, model, TEMPORAL, options)
    name, text, claims = claims_and_text(model, what)
    assumed = assumed_fairness(model, fairness)
    began = time.perf_counter()
    memory = values.get("memory_bytes") or allowed_bytes(None)
    explored = explore(
        model,
        invariants=[],
        progress=progress,
        **{**options, "memory_gib": memory / 2**30, "keep_states": True},
    )
    model = explored.model  # the result's model may have more storage
    result = _result_of(explored, name, text, assumed)
    result.assumption = fairness
    check = _Check(model, explored, assumed, memory, result, values.get("stopped"))
    try:
        with deferred_interrupts() as check.interrupted:
            check.run(claims, progress)
    except (Stopped, OutOfMemory) as stop:
        result.exhaustive = False
        result.undecided_reason = str(stop)
    except KeyboardInterrupt:
        result.exhaustive = False
        result.undecided_reason = "interrupted"
    except MemoryError:
        result.exhaustive = False
        result.undecided_reason = OUT_OF_MEMORY
    result.seconds = time.perf_counter() - began - result.compile_seconds
    return result


def _result_of(
    explored: Result, name: str, formula: str, assumed: list[Fairness]
) -> TemporalResult:
    result = TemporalResult(explored.model, "native", [])
    taken_over = ("per_depth", "per_action", "exhaustive", "undecided_reason", "never_reached")
    for each in (*taken_over, "compared"):
        setattr(result, each, getattr(explored, each))
    result.compile_seconds = explored.compile_seconds
    result.claim, result.formula = name, formula
    result.fairness = fairness_texts(assumed)
    return result


class _Check:
    """One check over the states of a finished exploration."""

    interrupted: Callable[[], bool]

    def __init__(
        self,
        model: Model,
        explored: Result,
        assumed: list[Fairness],
        memory: int,
        result: TemporalResult,
        stopped: Callable[[], bool] | None,
    ):
        self.model, self.explored, self.assumed, self.result = model, explored, assumed, result
        self.memory, self.stopped = memory, stopped
        self.initial = explored.per_depth[0] if explored.per_depth else 0

    def run(self, claims: list[Claim], progress: bool) -> None:
        """Check all claims; the violation with the shortest prefix goes into the result."""
        result = self.result
        if result.undecided_reason in ("interrupted", "stopped"):
            return
        if not self.initial:
            if result.exhaustive:
                raise Stopped(NO_STATE)
            return
        graph = StepGraph(self.model, self.explored.states, self.assumed, self.memory)
        with ProgressBar("steps", shown=progress, total=graph.count) as bar:
            graph.fill(lambda done: (bar.count(done), self._watch()))
        result.compile_seconds += graph.compile_seconds
        if result.exhaustive and graph.cut.any():  # by an action that is no part of the spec
            result.exhaustive, result.undecided_reason = False, graph.cut_reason
        conditions = Conditions(graph, self.assumed)
        result.steps, result.conditions = len(graph.targets), len(conditions.all)
        result.inside_constraint = result.exhaustive and graph.leads_outside
        runs = FairRuns(graph, conditions, self._watch)
        best: tuple[Lasso, Claim] | None = None
        never_true: list[dict[str, Any]] = []
        for claim in claims:
            judged = self._judged(claim, graph.states)
            lasso = self._refute(claim, judged, graph, conditions)
            if lasso and (best is None or len(lasso.prefix) < len(best[0].prefix)):
                best = lasso, claim
            asked = not best and result.exhaustive and claim.premise
            if asked and not runs.visit(self._where_premise(claim, judged)):
                never_true.append(claim.values)
        if best:
            self._show(*best)
        elif result.exhaustive and not runs.exist():
            inside = result.inside_constraint
            raise Stopped(NO_FAIR_RUN if inside else IMPOSSIBLE_FAIRNESS)
        elif result.exhaustive:
            result.premise, result.never_true = claims[0].premise, never_true
            result.vacuous = len(never_true) == len(claims)

    def _watch(self) -> None:
        if self.interrupted():
            raise Stopped("interrupted")
        if self.stopped and self.stopped():
            raise Stopped("stopped")

    def _where_premise(self, claim: Claim, judged: list[np.ndarray]) -> np.ndarray:
        """A mask of the states that make the claim demand something."""
        p, q = judged
        return beginnings(len(q), self.initial, q) if claim.formula.is_given else p

    def _refute(
        self, claim: Claim, judged: list[np.ndarray], graph: StepGraph, conditions: Conditions
    ) -> Lasso | None:
        """A run that breaks the claim, given where its predicates are true; None if there is
        none."""
        p, *q = judged
        parents = self.explored.parents
        if claim.formula.operator == ALWAYS and q:
            return path_to_breach(graph, p, beginnings(len(p), self.initial, *q))
        if claim.formula.operator == ALWAYS:
            return _path_to_first(~p, parents)
        wanted = refutation(claim.formula.operator, p, q[0] if q else None, self.initial)
        return find_lasso(graph, conditions, wanted, self.explored.per_depth, parents, self._watch)

    def _judged(self, claim: Claim, states: np.ndarray) -> list[np.ndarray]:
        """For each predicate of a claim, a mask of the states in which it is true."""
        kernels = Kernels(self.model)
        judge = kernels.judge(list(claim.formula.predicates), list(claim.values))
        self.result.compile_seconds += kernels.compile_seconds
        values = np.array([int(each) for each in claim.values.values()], np.int64)
        found = np.zeros(len(states), np.int64)
        constants = constants_array(self.model)
        for at in range(0, len(states), _ROWS):
            part = states[at : at + _ROWS]
            own = found[at : at + _ROWS]

            def run(count: int, part: np.ndarray = part, own: np.ndarray = own) -> None:
                own[:count] = judge(part[:count], constants, values)

            fine = check_some(len(part), run)
            if fine < len(part):
                self._explain(claim, part[fine].tobytes())
            self._watch()
        return [found >> k & 1 == 1 for k in range(len(claim.formula.predicates))]

    def _explain(self, claim: Claim, row: bytes) -> NoReturn:
        """Raise the error that judging a state uncompiled raises."""
        try:
            for each in claim.formula.predicates:
                holds(self.model, row, each, claim.values)
        except EvaluationError as error:
            raise Stopped(str(error)) from None
        raise defect(self.model, f"the predicates of {self.result.claim}", row)

    def _show(self, lasso: Lasso, claim: Claim) -> None:
        """Put the lasso into the result, after the uncompiled functions have confirmed it."""
        result, states = self.result, self.explored.states
        rows = [states[k].tobytes() for k in lasso.prefix + lasso.loop]
        result.violated, result.undecided_reason = result.claim, None
        result.parameters = claim.values
        result.trace_rows = rows
        result.initial = initial_text(self.model, rows[0])
        result.trace = steps_between(self.model, rows)
        if claim.formula.operator != ALWAYS:
            result.loop_from = len(lasso.prefix)
            result.why_fair = judge_loop(self.model, self.assumed, rows, result.loop_from)
        fair = all(each.met for each in result.why_fair)
        if not fair or not breaks(self.model, claim.formula, claim.values, rows, result.loop_from):
            raise defect(self.model, str(result.claim), rows[-1])


def _path_to_first(broken: np.ndarray, parents: np.ndarray) -> Lasso | None:
    """The path to the first state of a mask, in the order of the search."""
    found = np.flatnonzero(broken)
    if not len(found):
        return None
    way = [int(found[0])]
    while parents[way[-1]] >= 0:
        way.append(int(parents[way[-1]]))
    return Lasso(way[::-1], [])
