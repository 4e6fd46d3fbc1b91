"""What the checks of a temporal property (`check`) and of a refinement (`refinement`) share.

All states are explored, then the steps between them are found, and then the claim is judged.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from protocol_lab.checker.progress import ProgressBar
from protocol_lab.checker.request import Undecided, ending
from protocol_lab.checker.result import Result
from protocol_lab.distance.step_graph import StepGraph
from protocol_lab.liveness.liveness_result import PropertyResult
from protocol_lab.liveness.vacuity import NO_STATE
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import Fairness
from protocol_lab.system.process import deferred_interrupts


class PropertyCheck(ABC):
    """One check of a claim, which a subclass knows.

    assumed: the fairness whose conditions the steps tell apart; foreign: the actions that it names
    and that are no part of the spec. watch: called now and then; ends the check if that is wanted.
    """

    assumed: Sequence[Fairness] = ()
    foreign: Sequence[Action] = ()
    model: Model
    explored: Result
    graph: StepGraph
    result: PropertyResult
    watch: Callable[[], None]

    @abstractmethod
    def result_of(self, explored: Result) -> PropertyResult:
        """The result, with nothing judged yet."""

    @abstractmethod
    def judge(self) -> None:
        """Judge the claim on the states and steps, and fill in the result."""

    def run(
        self, explored: Result, memory: int, progress: bool, stopped: Callable[[], bool] | None
    ) -> PropertyResult:
        """The result of the check, over the states of a finished exploration."""
        self.model, self.explored = explored.model, explored  # which may have more storage
        self.result = result = self.result_of(explored)
        with ending(result), deferred_interrupts() as interrupted:

            def watch() -> None:
                if interrupted():
                    raise Undecided("interrupted")
                if stopped and stopped():
                    raise Undecided("stopped")

            self.watch = watch
            if result.exhaustive and not result.distinct:
                raise Undecided(NO_STATE)
            if result.distinct and result.undecided_reason not in ("interrupted", "stopped"):
                self._find_steps(memory, progress)
                self.judge()
        return result

    def _find_steps(self, memory: int, progress: bool) -> None:
        states, result = self.explored.states, self.result
        self.graph = graph = StepGraph(self.model, states, self.assumed, memory, self.foreign)
        with ProgressBar("steps", shown=progress, total=graph.count) as bar:
            graph.fill(lambda done: (bar.count(done), self.watch()))
        result.compile_seconds += graph.compile_seconds
        if result.exhaustive and graph.cut.any():  # by an action that is no part of the spec
            result.exhaustive, result.undecided_reason = False, graph.cut_reason
        result.inside_constraint = result.exhaustive and graph.leads_outside
