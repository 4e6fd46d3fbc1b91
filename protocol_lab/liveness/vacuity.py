"""Is a verdict about something: is there a fair run, and does one ever meet a claim's premise?

"Holds on every fair run" is also true where there is no fair run, and "p leads to q" where p is
true on none. Both happen without anybody noticing: a constraint may cut off every run on which
fairness demands a step, and a configuration may be too small for p.

Where no step leads outside, every path can be prolonged to a fair run: it may go on to a component
that no step leaves, and take all of its steps again and again. So this is asked of the graph only
where some step leads to no stored state.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from protocol_lab.distance.step_graph import UNKNOWN, StepGraph, reach
from protocol_lab.liveness.fair_cycles import Conditions, fair_sets

NO_FAIR_RUN = (
    "no fair run stays inside the constraint, so nothing was judged: loosen the constraint, or"
    " assume less (--fairness none)"
)
NO_STATE = (
    "no fair run stays inside the constraint, for no initial state is inside it: loosen the"
    " constraint"
)
IMPOSSIBLE_FAIRNESS = (
    "no run is fair, so nothing was judged: fairness is assumed of what no step does; assume it of"
    " an action of the spec, or assume less (--fairness none)"
)
"""Why a property is undecided that no run can break."""


class FairRuns:
    """The fair runs of a graph whose states were all found.

    `watch` is called now and then and may raise.
    """

    def __init__(self, graph: StepGraph, conditions: Conditions, watch: Callable[[], None]):
        self.graph, self.conditions, self.watch = graph, conditions, watch

    @cached_property
    def _endings(self) -> np.ndarray | None:
        """A mask of the states that a fair run can visit forever; None if a fair run can begin with
        any path."""
        graph = self.graph
        if not len(self.conditions.all) or not (graph.targets == UNKNOWN).any():
            return None
        everywhere = np.ones(graph.count, np.bool_)
        return fair_sets(graph, self.conditions, everywhere, None, self.watch).of >= 0

    def exist(self) -> bool:
        """Is there any? All states of the graph can be reached."""
        return bool(self.graph.count if self._endings is None else self._endings.any())

    def visit(self, states: np.ndarray) -> bool:
        """Does one of them visit a state of this mask?"""
        endings, graph = self._endings, self.graph
        if endings is None or (endings & states).any():
            return bool(states.any())
        at_once = np.array([0, graph.count], np.int64)
        everywhere = np.ones(graph.count, np.bool_)
        _, reached, _ = reach(
            np.arange(len(states)), at_once, states, everywhere, graph.begins, graph.targets
        )
        return bool(endings[reached].any())
