"""All states of a trial with the steps between them, and what is asked of each of these.

A small graph is built in plain Python, a larger one by compiled code; both are the same arrays.
Every state in it was expanded, so that a state without a way on is one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from protocol_lab.checker.result import Result
from protocol_lab.distance.step_graph import StepGraph, as_words
from protocol_lab.model.layout import ArrayLayout, StructLayout
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.step_text import initial_text, steps_between
from protocol_lab.model.temporal_formulas import Fairness
from protocol_lab.model.transitions import fails, levels
from protocol_lab.system.memory import allowed_bytes

# --- Frame conditions -----------------------------------------------------------------------------
#
# Which parts of the state each of a learner's actions may change.
#
# Invariants alone do not tell a protocol from one that edits what the invariants look at: whoever
# empties the list of promises breaks none. So a lab says for each action what it may change, as in
# "log[{update.dest}] updates", where {...} is a parameter of the step; anything else is a
# violation.


_PARAMETER = re.compile(r"\{([\w.]+)\}")


def parameters_in(allowed: str) -> tuple[str, ...]:
    """The parameters, or fields of a message parameter, that decide what may change."""
    return tuple(dict.fromkeys(_PARAMETER.findall(allowed)))


def permitted(allowed: str, values: Mapping[str, int]) -> list[str]:
    """The paths that a step with these values of `parameters_in` may change."""
    return _PARAMETER.sub(lambda found: str(values[found[1]]), allowed).split()


def left_alone(layout: Any, paths: list[str]) -> np.ndarray:
    """A mask of the bytes of a row that are in none of these paths."""
    mask = np.ones(layout.size, np.bool_)
    for path in paths:
        part, at = layout, 0
        for name in re.findall(r"\w+", path):
            if isinstance(part, ArrayLayout):
                at, part = at + part.offset(int(name)), part.item
            else:
                at, part = at + part.offsets[name], part.fields[name]
        mask[at : at + part.size] = False
    return mask


def path_of(layout: Any, at: int, path: str = "") -> str:
    """The path of the field, or of the item for a node, that has this byte."""
    match layout:
        case StructLayout(kind="struct", offsets=offsets, fields=fields):
            name = max((each for each in fields if offsets[each] <= at), key=offsets.get)
            return path_of(fields[name], at - offsets[name], f"{path}.{name}" if path else name)
        case ArrayLayout(item) if layout.per_node:
            index, within = divmod(at, item.size)
            return path_of(item, within, f"{path}[{layout.first + index}]")
    return path


# --- Trial graph ----------------------------------------------------------------------------------


_CHUNK = 1 << 16


@dataclass
class TrialGraph:
    """The states of a finished search, in its order, and their steps.

    parents: for each state the position of the one that it was found from, -1 for initial ones.
    Step i leads from sources[i] to targets[i], and its label is label_of[labels[i]]: an action, and
    the values of the parameters that its frame condition names.
    """

    model: Model
    states: np.ndarray
    parents: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    labels: np.ndarray
    label_of: list[tuple[str, Mapping[str, int]]]

    def breach(self, changes: Mapping[str, str]) -> tuple[str, str, Result] | None:
        """The first step that changes what its action must leave alone: the action, the part of
        the state, and the way there; None if there is none. changes: see above."""
        found: list[tuple[int, list[str]]] = []
        for number, (action, values) in enumerate(self.label_of):
            paths = permitted(changes[action], values) if action in changes else []
            step = self._first_outside(number, paths) if action in changes else None
            if step is not None:
                found.append((step, paths))
        if not found:
            return None
        step, paths = min(found, key=lambda each: each[0])
        before, after = self.states[self.sources[step]], self.states[self.targets[step]]
        changed = before.view(np.uint8) != after.view(np.uint8)
        outside = np.flatnonzero(changed & left_alone(self.model.layout, paths))
        way = self.way_to(int(self.sources[step]), after.tobytes())
        path = path_of(self.model.layout, int(outside[0]))
        return self.label_of[self.labels[step]][0], path, way

    def _first_outside(self, label: int, paths: list[str]) -> int | None:
        """The first step with this label that changes a byte outside these paths."""
        watched = np.flatnonzero(left_alone(self.model.layout, paths))
        data = self.states.view(np.uint8).reshape(len(self.states), -1)
        steps = np.flatnonzero(self.labels == label)
        for at in range(0, len(steps), _CHUNK):
            part = steps[at : at + _CHUNK]
            before, after = data[self.sources[part]], data[self.targets[part]]
            changed = (before[:, watched] != after[:, watched]).any(axis=1)
            if changed.any():
                return int(part[changed.argmax()])
        return None

    def first_that_never(self, goal: Property) -> Result | None:
        """The way to the first state from which no path leads to one with a property."""
        can = np.array([not fails(self.model, row.tobytes(), goal) for row in self.states])
        while True:
            before = self.sources[can[self.targets]]
            if can[before].all():
                break
            can[before] = True
        return None if can.all() else self.way_to(int(can.argmin()))

    def way_to(self, position: int, after: bytes | None = None) -> Result:
        """A shortest path to a state, and on to the row after it if that is given, as a result."""
        way = [position]
        while self.parents[way[-1]] >= 0:
            way.append(int(self.parents[way[-1]]))
        rows = [self.states[k].tobytes() for k in reversed(way)]
        rows += [] if after is None else [after]
        found = Result(self.model, "python", [])
        found.trace_rows, found.trace = rows, steps_between(self.model, rows)
        found.initial = initial_text(self.model, rows[0])
        return found


def plain_graph(model: Model, changes: Mapping[str, str]) -> TrialGraph:
    """The graph of a model with few states, in plain Python."""
    reached = {row: (depth, found) for depth, row, found in levels(model)}
    rows, position = list(reached), {row: k for k, row in enumerate(reached)}
    parents = [-1] * len(rows)
    names: dict[tuple, int] = {}
    steps = []
    for source, (depth, found) in enumerate(reached.values()):
        for each in found:
            target = position[each.row]
            if parents[target] < 0 and reached[each.row][0] > depth:
                parents[target] = source
            of = tuple(
                (path, _value(each.args, path))
                for path in parameters_in(changes.get(each.action.name, ""))
            )
            label = names.setdefault((each.action.name, of), len(names))
            steps.append((source, target, label))

    sources, targets, labels = np.array(steps, np.int64).reshape(-1, 3).T
    label_of = [(action, dict(of)) for action, of in names]
    states = as_words(rows, model.words)
    return TrialGraph(model, states, np.array(parents), sources, targets, labels, label_of)


def _value(args: Mapping[str, Any], path: str) -> int:
    name, *fields = path.split(".")
    return int(reduce(getattr, fields, args[name]))


def compiled_graph(explored: Result, changes: Mapping[str, str]) -> TrialGraph:
    """The graph of a search that kept all of its states. Raises OutOfMemory of `step_graph`, and
    LabError if something can't be compiled."""
    model, states = explored.model, explored.states
    keys = [
        Fairness((each.function,), parameters_in(changes[each.name]))
        for each in model.spec.actions
        if each.name in changes
    ]
    graph = StepGraph(model, states, keys, allowed_bytes(None))
    graph.fill(lambda done: None)

    label_of = [
        (graph.actions[action].name, dict(zip(graph.keys[action], values, strict=True)))
        for action, values in graph.label_of
    ]
    sources = np.repeat(np.arange(graph.count), np.diff(graph.begins))
    return TrialGraph(
        model, states, explored.parents, sources, graph.targets, graph.labels, label_of
    )
