"""Simulation: seeded random walks, for models that are too large to exhaust.

It can find a violation, but its verdict is never "holds". `random_walks` takes the walks,
`coverage_estimate` says how much of the state space they saw, and `shrinking` shortens the
counterexample.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from protocol_lab.checker.counterexample import add_trace
from protocol_lab.checker.cross_check import compare, spread
from protocol_lab.checker.disagreement import defect
from protocol_lab.checker.options import SIMULATION, takes_options, values_of
from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import ending, evaluation_error
from protocol_lab.checker.result import Result, compared_phrase, trace_lines, undecided_lines
from protocol_lab.model.spec import Model, expect_model
from protocol_lab.model.step_text import start_text
from protocol_lab.model.transitions import successors
from protocol_lab.quantities import counted
from protocol_lab.reader.dry_run import dry_run
from protocol_lab.simulation.coverage_estimate import Estimate, Sightings
from protocol_lab.simulation.random_walks import Batch, Violating, Walks
from protocol_lab.simulation.shrinking import shrink
from protocol_lab.simulation.simulation_request import BIASES, MOST_WALKS, WALKS, SimulationRequest
from protocol_lab.system.operating_system import cores
from protocol_lab.system.process import deferred_interrupts

OUT_OF_MEMORY = (
    "the system has no more memory for this process: lower the constants, or take shorter walks"
)
"""Why a simulation ended to which the system refused memory."""

MOST_SAMPLED = 10_000
"""Of a long simulation, about so many states at most are compared with plain Python."""


@dataclass(repr=False)
class Simulation(Result):
    """The outcome of a simulation: violated, with a trace that need not be a shortest one, or
    undecided.

    walks, steps: how many were taken. `per_depth` counts the visits to states after 0, 1, ...
    steps, repeated ones included, and `per_action` the steps. found_in: the number of steps of the
    walk that met the violation, before it was shortened to `trace`. why_not_shortened: the reason
    if `trace` is that whole walk. estimate: how much of the state space was seen.
    """

    walks: int = 0
    found_in: int | None = None
    why_not_shortened: str | None = None
    seed: int = 0
    bias: str = BIASES[0]
    estimate: Estimate | None = None

    @property
    def steps(self) -> int:
        """The steps that all walks took together."""
        return sum(self.per_action.values()) - self.per_action.get("init", 0)

    @property
    def distinct(self) -> int:
        """How many different states were seen (about, if they are many)."""
        return self.estimate.seen if self.estimate else 0

    @property
    def never_taken(self) -> list[str]:
        """The actions that no walk took."""
        return [name for name, count in self.per_action.items() if not count and name != "init"]

    @property
    def reached(self) -> list[str]:
        """Always empty: expected situations are not checked on walks."""
        return []

    def to_json(self) -> dict[str, Any]:
        """The fields of `simulate --json`."""
        estimate = self.estimate
        return {
            **super().to_json(),
            "collision_probability": None,  # nothing depends on it
            "walks": self.walks,
            "steps": self.steps,
            "seed": self.seed,
            "bias": self.bias,
            "found_in": self.found_in,
            "why_not_shortened": self.why_not_shortened,
            "seen": estimate and estimate.seen,
            "at_least_reachable": estimate and estimate.least,
            "new_in_one_more_walk": estimate and round(estimate.new, 4),
        }

    def __repr__(self) -> str:
        lines = [str(self.model)]
        if self.violated:
            assert self.trace is not None
            lines.append(f"✗ violated: {self.violated} after {counted(len(self.trace), 'step')}")
            if self.violation_reason:
                lines.append(f"  {self.violation_reason}")
            how = "shortened by leaving out needless steps; there may be a shorter path"
            if self.why_not_shortened:
                how = f"not shortened: {self.why_not_shortened}"
            lines.append(f"  found by a random walk of {counted(self.found_in, 'step')}, and {how}")
        else:
            reason, seen = self.undecided_reason, self.walks > 0
            lines += undecided_lines(self.model, self.invariants, reason, seen)
        rate = self.steps / self.seconds if self.seconds else 0
        lines.append(
            f"  {counted(self.walks, 'walk')} of {counted(self.steps, 'step')} in all,"
            f" seed {self.seed}; {self.seconds:.2f} s ({rate:,.0f} steps/s),"
            f" {self.compile_seconds:.2f} s compiling{compared_phrase(self)}"
        )
        if self.estimate:
            lines.append(f"  {self.estimate.text}")
        lines.append(
            "  taken: " + ", ".join(f"{name} {count:,}" for name, count in self.per_action.items())
        )
        if self.never_taken:
            lines.append(f"  never taken: {', '.join(self.never_taken)}")
        if self.trace is not None:
            lines += trace_lines(self.initial, self.trace)
        return "\n".join(lines)


@takes_options(SimulationRequest, SIMULATION)
def simulate(
    model: Model,
    *,
    invariants: Iterable[str] | None = None,
    progress: bool = True,
    **options: Any,
) -> Simulation:
    """Take random walks from the initial states until an invariant is broken.

    invariants: names, [] for none, None for the spec's default ones. A walk begins in any initial
    state, or, if there are very many, in one of some thousands that are drawn. It ends early where
    no step is possible, outside a constraint, or where a step does not fit into the storage. A
    counterexample is shortened by leaving out steps that it does not need. Interrupting returns
    what is known. Raises LabError for bad input.
    """
    expect_model(model)
    values = values_of(SimulationRequest, simulate, model, SIMULATION, options)
    chosen, chosen_steps = model.choose(invariants)
    request = SimulationRequest(chosen, chosen_steps, **values)
    dry_run(model, chosen + chosen_steps)
    result = Simulation(model, "simulation", request.names, seed=request.seed, bias=request.bias)
    run = violating = None
    with ending(result, OUT_OF_MEMORY), ProgressBar(model.spec.name, shown=progress) as bar:
        request.compiling = bar.compiling
        walks = Walks(model, request)
        result.compile_seconds = walks.compile_seconds
        run = _Run(walks, request, result, bar)
        with deferred_interrupts() as interrupted:
            violating = run.until_the_end(
                lambda: interrupted() or bool(request.stopped and request.stopped())
            )
    if run is not None and not interrupted():
        states = (run.sample[at] for at in spread(len(run.sample)))
        compare(walks.compiled, request, result, states)
    if violating is not None:
        _add_counterexample(result, request, walks, violating)
    return result


class _Run:
    """Runs batches of walks on threads, and counts them in the order of their numbers."""

    def __init__(
        self, walks: Walks, request: SimulationRequest, result: Simulation, bar: ProgressBar
    ):
        self.walks, self.result, self.bar = walks, result, bar
        self.wanted = request.walks or (WALKS if request.seconds is None else MOST_WALKS)
        self.until = time.perf_counter() + (request.seconds or math.inf)
        self.sightings = Sightings()
        self.taken = np.zeros(len(walks.model.spec.actions), np.int64)
        self.at_depth = np.zeros(walks.steps + 1, np.int64)
        self.cut = 0
        self.cut_at: bytes | None = None
        self.sample: list[bytes] = []
        self.over = False

    def until_the_end(self, interrupted: Callable[[], bool]) -> Violating | None:
        """Take all walks, or those up to the first violation, and fill in the result."""
        threads = cores()
        batches = -(-self.wanted // self.walks.size)
        waiting: deque[Future[Batch]] = deque()
        violating, why, next_one = None, None, 0
        with ThreadPoolExecutor(threads) as pool:
            try:
                while violating is None and (waiting or next_one < batches):
                    while next_one < batches and len(waiting) < 2 * threads and not self._is_over():
                        waiting.append(pool.submit(self._batch, next_one))
                        next_one += 1
                    if not waiting:
                        break
                    violating = self._count(self._await(waiting.popleft(), interrupted))
                    self.bar.update(self.result, 0)
                    if interrupted():
                        self.over, why = True, "interrupted"
            finally:
                self.over = True
        self._fill(why)
        return violating

    def _batch(self, number: int) -> Batch:
        first = number * self.walks.size
        return self.walks.batch(number, min(self.walks.size, self.wanted - first), self._is_over)

    def _await(self, future: "Future[Batch]", interrupted: Callable[[], bool]) -> Batch:
        while True:
            try:
                return future.result(timeout=0.1)
            except TimeoutError:
                self.over = self.over or interrupted()

    def _is_over(self) -> bool:
        return self.over or time.perf_counter() > self.until

    def _count(self, batch: Batch) -> Violating | None:
        result = self.result
        self.sightings.add(batch.visits)
        self.taken += batch.taken
        self.at_depth += batch.at_depth
        self.cut += batch.cut
        self.cut_at = self.cut_at or batch.cut_at
        if len(self.sample) < MOST_SAMPLED:
            self.sample += batch.sample
        result.walks += batch.count
        names = [each.name for each in self.walks.model.spec.actions]
        result.per_action = {
            "init": result.walks,
            **dict(zip(names, map(int, self.taken), strict=True)),
        }
        result.per_depth = [int(each) for each in self.at_depth if each]
        return batch.violating

    def _fill(self, why: str | None) -> None:
        result = self.result
        result.estimate = self.sightings.estimate()
        result.undecided_reason = why or (
            f"{counted(result.walks, 'random walk')} of up to {counted(self.walks.steps, 'step')},"
            f" seed {result.seed}"
        )
        if self.walks.are_starts_drawn:
            drawn = len(self.walks.starts)
            result.undecided_reason += f"; from {drawn:,} initial states that were drawn as well"
        if self.cut_at is not None:
            error = evaluation_error(self.walks.model, self.cut_at, self.walks.request)
            result.undecided_reason += f"; {self.cut:,} of them ended early: {error}"


def _add_counterexample(
    result: Simulation, request: SimulationRequest, walks: Walks, violating: Violating
) -> None:
    """Repeat the walk uncompiled, and put it into the result, shortened."""
    start = walks.starts[violating.start]
    result.undecided_reason = None
    try:
        rows = _replayed(result.model, start.row, violating.drawn)
        result.violated, result.found_in = violating.name, len(rows) - 1
        rows = _shortened(result, request, rows)
        add_trace(result, rows, request, start_text(result.model, start))
    except MemoryError:
        result.violated = result.trace = None
        result.undecided_reason = OUT_OF_MEMORY


def _replayed(model: Model, start: bytes, drawn: list[int]) -> list[bytes]:
    """The states of a walk that took these of its possible steps."""
    rows = [start]
    for at in drawn:
        taken = next(islice(successors(model, rows[-1]), at, None), None)
        if taken is None:
            raise defect(model, "the actions", rows[-1])
        rows.append(taken.row)
    return rows


def _shortened(result: Simulation, request: SimulationRequest, rows: list[bytes]) -> list[bytes]:
    """The path without steps that it does not need; if it can't be shortened, the path itself, and
    the result says why."""
    try:
        return shrink(result.model, request, rows, result.violated)
    except MemoryError:
        result.why_not_shortened = "the system has no more memory for this process"
    except KeyboardInterrupt:
        result.why_not_shortened = "interrupted"
    return rows
