"""The fairness conditions of a model, and the steps that count for each.

`weakly_fair(send, each="server")` is one condition for each server. A condition whose action is
never enabled is met by every run, so only those are listed that some label belongs to.
"""

from dataclasses import dataclass

import numpy as np

from protocol_lab.liveness.step_graph import StepGraph
from protocol_lab.spec.temporal_formulas import Fairness


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an assumption, and the values of its `each`."""

    fairness: Fairness
    values: tuple[int, ...] = ()

    @property
    def strong(self) -> bool:
        return self.fairness.strong

    @property
    def action(self) -> str:
        """The steps that count, as text: "become_leader(server=2)", "some become_leader", "some
        step of become_leader or resign", "some step"."""
        name, each = self.fairness.name, self.fairness.each
        if not self.fairness.functions:
            return name
        several = len(self.fairness.functions) > 1
        if not each:
            return f"some step of {name}" if several else f"some {name}"
        shown = (f"{path}={value}" for path, value in zip(each, self.values, strict=True))
        return f"{f'({name})' if several else name}({', '.join(shown)})"

    @property
    def text(self) -> str:
        """The condition in words: "weak fairness of become_leader(server=2)"."""
        return f"{'strong' if self.strong else 'weak'} fairness of {self.action}"


class Conditions:
    """All conditions of a graph, by number, in the form that the compiled loops take.

    Those of label i are numbers[begins[i] : begins[i + 1]]; strong[k] tells the kind of number k.
    """

    def __init__(self, graph: StepGraph, fairness: list[Fairness]):
        own = len(graph.model.spec.actions)
        found: dict[Condition, int] = {}
        of_label = []
        for action, values in graph.label_of:
            keys = dict(zip(graph.keys[action], values, strict=True))
            name = graph.actions[action].name
            met = [
                Condition(each, tuple(keys[path] for path in each.each))
                for each in fairness
                if each.counts(name, action < own)
            ]
            of_label.append([found.setdefault(each, len(found)) for each in met])
        self.all = list(found)
        self.strong = np.array([each.strong for each in self.all], np.bool_)
        self.begins = np.cumsum([0, *map(len, of_label)]).astype(np.int64)
        self.numbers = np.array([k for numbers in of_label for k in numbers], np.int32)
