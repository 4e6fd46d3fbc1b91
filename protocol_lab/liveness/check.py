"""Checks a temporal property: does it hold on every fair run of a model?"""

from typing import Any, NoReturn

import numpy as np

from protocol_lab.checker.disagreement import beyond_compiled, defect, repeating
from protocol_lab.checker.options import TEMPORAL, takes_options, values_of
from protocol_lab.checker.request import SearchRequest, Undecided
from protocol_lab.checker.result import Result
from protocol_lab.compiler.kernels import Kernels, check_some, constants_array
from protocol_lab.errors import LabError
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
from protocol_lab.liveness.property_check import PropertyCheck
from protocol_lab.liveness.refinement import RefinementCheck, RefinementResult
from protocol_lab.liveness.vacuity import IMPOSSIBLE_FAIRNESS, NO_FAIR_RUN, FairRuns
from protocol_lab.model.declarations import Refinement
from protocol_lab.model.spec import Model, expect_model
from protocol_lab.model.step_text import initial_text, steps_between
from protocol_lab.model.temporal_formulas import ALWAYS, LEADS_TO, Formula, fairness_texts
from protocol_lab.system.memory import allowed_bytes

_ROWS = 1 << 16


@takes_options(SearchRequest, TEMPORAL)
def check_property(
    model: Model,
    what: str | Formula | Refinement,
    *,
    fairness: str = DECLARED,
    progress: bool = True,
    **options: Any,
) -> TemporalResult | RefinementResult:
    """Check a temporal property or a refinement of the spec by its name, or one that is given.

    fairness: one of FAIRNESS. progress: show a progress line. As with TLC, a property is judged on
    the runs that stay inside a constraint, while an action's enabledness is that of the
    unconstrained spec. If not all states were seen (max_states, a storage capacity), a lasso that
    was found still counts, and otherwise the verdict is undecided. It is undecided, too, if no fair
    run is left to judge; and one that holds says so if its premise is never true on a fair run.
    Interrupting gives an undecided result. Raises LabError for bad input.
    """
    expect_model(model)
    values = values_of(SearchRequest, check_property, model, TEMPORAL, options)
    claim = refinement_of(model, what)
    if claim is None:
        check: PropertyCheck = TemporalCheck(model, what, fairness)
    elif fairness == DECLARED:
        check = RefinementCheck(model, claim)
    else:
        raise LabError(
            f"{claim.name} is a refinement, which is checked step by step: leave fairness out."
        )
    memory = allowed_bytes(values.get("memory_gib"))
    options["keep_states"] = True
    explored = explore(model, invariants=[], progress=progress, **options)
    return check.run(explored, memory, progress, values.get("stopped"))


class TemporalCheck(PropertyCheck):
    """The check of one temporal property."""

    result: TemporalResult

    def __init__(self, model: Model, what: str | Formula, fairness: str):
        self.name, self.text, self.claims = claims_and_text(model, what)
        self.fairness, self.assumed = fairness, assumed_fairness(model, fairness)
        self.foreign = foreign_actions(model, self.assumed)

    def result_of(self, explored: Result) -> TemporalResult:
        """The result, with nothing judged yet."""
        return TemporalResult.of(
            explored,
            self.name,
            formula=self.text,
            assumption=self.fairness,
            fairness=fairness_texts(self.assumed),
        )

    def judge(self) -> None:
        """Check all claims; the violation with the shortest prefix goes into the result."""
        result, graph = self.result, self.graph
        self.initial = self.explored.per_depth[0]
        self.conditions = Conditions(graph, self.assumed)
        result.steps, result.conditions = len(graph.targets), len(self.conditions.all)
        runs = FairRuns(graph, self.conditions, self.watch)
        best: tuple[Lasso, Claim] | None = None
        never_true: list[dict[str, Any]] = []
        for claim in self.claims:
            judged = self._judged(claim)
            lasso = self._refute(claim, judged)
            if lasso and (best is None or len(lasso.prefix) < len(best[0].prefix)):
                best = lasso, claim
            asked = not best and result.exhaustive and claim.premise
            if asked and not runs.visit(self._where_premise(claim, judged)):
                never_true.append(claim.values)
        result.judged = True
        if best:
            self._show(*best)
        elif result.exhaustive and not runs.exist():
            raise Undecided(NO_FAIR_RUN if result.inside_constraint else IMPOSSIBLE_FAIRNESS)
        elif result.exhaustive:
            result.premise, result.never_true = self.claims[0].premise, never_true
            result.vacuous = len(never_true) == len(self.claims)

    def _where_premise(self, claim: Claim, judged: list[np.ndarray]) -> np.ndarray:
        """A mask of the states that make the claim demand something."""
        if not claim.formula.is_given:
            return judged[0]
        begin = beginnings(len(judged[0]), self.initial, judged[-1])
        if claim.formula.operator != LEADS_TO:
            return begin
        after = np.zeros(len(begin), np.bool_)
        after[Tree.from_states(self.graph, begin).by_depth] = True
        return after & judged[0]

    def _refute(self, claim: Claim, judged: list[np.ndarray]) -> Lasso | None:
        """A run that breaks the claim, given where its predicates are true; None if there is
        none."""
        p, *q = judged
        tree = Tree.of_search(self.explored.per_depth, self.explored.parents)
        if claim.formula.is_given:
            tree = Tree.from_states(self.graph, beginnings(len(p), self.initial, q[-1]))
        if claim.formula.operator == ALWAYS:
            prefix = tree.first(~p)
            return Lasso(prefix, []) if prefix else None
        wanted = refutation(claim.formula.operator, p, q[0] if q else None, tree)
        return find_lasso(self.graph, self.conditions, wanted, tree, self.watch)

    def _judged(self, claim: Claim) -> list[np.ndarray]:
        """For each predicate of a claim, a mask of the states in which it is true."""
        kernels, states = Kernels(self.model), self.explored.states
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
            self.watch()
        return [found >> k & 1 == 1 for k in range(len(claim.formula.predicates))]

    @repeating()
    def _explain(self, claim: Claim, row: bytes) -> NoReturn:
        """Raise the error that judging a state uncompiled raises."""
        for each in claim.formula.predicates:
            holds(self.model, row, each, claim.values)
        raise beyond_compiled()

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
