"""Checks a temporal property: does it hold on every fair run of a model?"""

import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from protocol_lab.checker.disagreement import beyond_compiled, defect, repeating
from protocol_lab.checker.options import TEMPORAL, takes_options, values_of
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import OUT_OF_MEMORY, SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.compiler.kernels import Kernels, check_some, constants_array
from protocol_lab.distance.step_graph import OutOfMemory, StepGraph
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
from protocol_lab.liveness.fair_cycles import Conditions
from protocol_lab.liveness.fairness_conditions import foreign_actions
from protocol_lab.liveness.lasso_check import breaks, judge_loop
from protocol_lab.liveness.lassos import Lasso, Tree, beginnings, find_lasso, refutation
from protocol_lab.liveness.liveness_result import TemporalResult
from protocol_lab.liveness.refinement import RefinementResult, check_refinement
from protocol_lab.liveness.vacuity import IMPOSSIBLE_FAIRNESS, NO_FAIR_RUN, NO_STATE, FairRuns
from protocol_lab.model.spec import Model, expect_model
from protocol_lab.model.step_text import initial_text, steps_between
from protocol_lab.model.temporal_formulas import ALWAYS, LEADS_TO, Fairness, Formula, fairness_texts
from protocol_lab.system.memory import allowed_bytes
from protocol_lab.system.process import deferred_interrupts

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
    options |= {"memory_gib": memory / 2**30, "keep_states": True}
    explored = explore(model, invariants=[], progress=progress, **options)
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
        foreign = foreign_actions(self.model, self.assumed)
        graph = StepGraph(self.model, self.explored.states, self.assumed, self.memory, foreign)
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
            if asked and not runs.visit(self._where_premise(claim, judged, graph)):
                never_true.append(claim.values)
        result.judged = True
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

    def _where_premise(
        self, claim: Claim, judged: list[np.ndarray], graph: StepGraph
    ) -> np.ndarray:
        """A mask of the states that make the claim demand something."""
        if not claim.formula.is_given:
            return judged[0]
        begin = beginnings(len(judged[0]), self.initial, judged[-1])
        if claim.formula.operator != LEADS_TO:
            return begin
        after = np.zeros(len(begin), np.bool_)
        after[Tree.from_states(graph, begin).by_depth] = True
        return after & judged[0]

    def _refute(
        self, claim: Claim, judged: list[np.ndarray], graph: StepGraph, conditions: Conditions
    ) -> Lasso | None:
        """A run that breaks the claim, given where its predicates are true; None if there is
        none."""
        p, *q = judged
        tree = Tree.of_search(self.explored.per_depth, self.explored.parents)
        if claim.formula.is_given:
            tree = Tree.from_states(graph, beginnings(len(p), self.initial, q[-1]))
        if claim.formula.operator == ALWAYS:
            prefix = tree.first(~p)
            return Lasso(prefix, []) if prefix else None
        wanted = refutation(claim.formula.operator, p, q[0] if q else None, tree)
        return find_lasso(graph, conditions, wanted, tree, self._watch)

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

    @repeating()
    def _explain(self, claim: Claim, row: bytes) -> NoReturn:
        """Raise the error that judging a state uncompiled raises."""
        try:
            for each in claim.formula.predicates:
                holds(self.model, row, each, claim.values)
        except EvaluationError as error:
            raise Stopped(str(error)) from None
        raise Stopped(str(beyond_compiled()))

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
