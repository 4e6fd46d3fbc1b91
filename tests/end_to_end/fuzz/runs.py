"""Temporal properties of a finite graph, judged once more by plain searches.

A run stops only in a state that may be `last`; else it goes on for ever. Fairness of single actions
is not known here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.end_to_end.fuzz.breadth_first import System


@dataclass
class RunGraph:
    """The states by their keys; `ahead` are the other states that one step leads to, `last` those
    in which a run may stop.

    labelled: the number of steps told apart by action and target, where all those of an action that
    lead outside the constraints count as one.
    """

    initial: list[tuple]
    ahead: dict[tuple, set[tuple]]
    last: set[tuple]
    labelled: int

    def staying(self, region: set[tuple]) -> set[tuple]:
        """The states from which some run stays in the region for ever."""
        kept = set(region)
        while True:
            gone = {k for k in kept if k not in self.last and not self.ahead[k] & kept}
            if not gone:
                return kept
            kept -= gone

    def comes_back(self, state: tuple) -> bool:
        """Is the state on a cycle?"""
        seen, waiting = set(), list(self.ahead[state])
        while waiting:
            key = waiting.pop()
            if key not in seen:
                seen.add(key)
                waiting += self.ahead[key]
        return state in seen

    def breaks(self, operator: str, p: set[tuple], q: set[tuple]) -> bool:
        """Does some run break the property? p, q: where its predicates are true."""
        every = set(self.ahead)
        match operator:
            case "always":
                return bool(every - p)
            case "eventually":
                return bool(self.staying(every - p) & set(self.initial))
            case "always eventually":
                return bool(self.staying(every - p))
            case "eventually always":
                return any(each in self.last or self.comes_back(each) for each in every - p)
            case "leads to":
                return bool(self.staying(every - q) & p)
        raise ValueError(operator)


def run_graph(
    system: System, inside: Callable[[object], bool], may_stop_anywhere: bool
) -> tuple[RunGraph, dict[tuple, object]]:
    """The graph of all reachable states inside, and the states by their keys."""
    states = {system.key(each): each for each in system.starts() if inside(each)}
    graph = RunGraph(list(states), {}, set(), 0)
    waiting = list(states)
    while waiting:
        key = waiting.pop()
        steps = {(action, system.key(e)): e for action, e, _ in system.steps(states[key])}
        changing = {(a, k): e for (a, k), e in steps.items() if k != key}
        if may_stop_anywhere or not changing:
            graph.last.add(key)
        graph.ahead[key] = set()
        labelled = set()
        for (action, after), state in changing.items():
            is_kept = inside(state)
            labelled.add((action, after if is_kept else None))
            if is_kept:
                graph.ahead[key].add(after)
                if after not in states:
                    states[after] = state
                    waiting.append(after)
        graph.labelled += len(labelled)
    return graph, states
