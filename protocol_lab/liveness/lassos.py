"""Builds a lasso, a prefix and a loop, from a fair set of states.

Every property is refuted in the same way. A fair run breaks it if, from some moment on (a `start`),
it stays within a `region` forever, and visits `must` states again and again:

    eventually p          starts: initial states       region: not p    must: -
    always eventually p   starts: any state            region: not p    must: -
    eventually always p   starts: any state            region: all      must: not p
    p leads to q          starts: p and not q          region: not q    must: -

With given=r the initial states are those in which r holds, and a state is one that is reached from
them.

The prefix is a shortest one: no fair loop can be reached in fewer steps. The loop is kept short by
always going to the nearest state or step that meets another condition, and by leaving out detours;
it is not proved to be a shortest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.distance.step_graph import A_START, UNREACHED, StepGraph, reach
from protocol_lab.liveness.fair_cycles import Conditions, fair_sets
from protocol_lab.model.temporal_formulas import (
    ALWAYS_EVENTUALLY,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    LEADS_TO,
)

_MOST_ENTRIES = 16
"""How many of the nearest states on fair loops are tried to find a short loop."""

_LONG = 200
"""In loops with more steps than this no detours are looked for."""


@dataclass
class Refutation:
    """What a run must do to break a property: masks of states, as in the module's docstring."""

    starts: np.ndarray
    region: np.ndarray
    must: np.ndarray | None = None


@dataclass
class Lasso:
    """A lasso as positions of states: `prefix` from an initial state to the loop's first, then
    `loop`.

    loop: the states after the loop's first one, which is also the last of them; empty if the run
    stays there forever.
    """

    prefix: list[int]
    loop: list[int]


@dataclass
class Tree:
    """Shortest paths from initial states: `parents`, the state before each, or -1; by_depth, the
    states by their distance; those of depth d are by_depth[levels[d] : levels[d + 1]]."""

    by_depth: np.ndarray
    levels: np.ndarray
    parents: np.ndarray

    @classmethod
    def of_search(cls, per_depth: list[int], parents: np.ndarray) -> "Tree":
        """That of a breadth-first search, whose states are in its order."""
        levels = np.cumsum([0, *per_depth]).astype(np.int64)
        return cls(np.arange(len(parents)), levels, parents)

    @classmethod
    def from_states(cls, graph: StepGraph, starts: np.ndarray) -> "Tree":
        """That of the states which are reached from some of the initial ones."""
        everywhere = np.ones(graph.count, np.bool_)
        at_once = np.array([0, graph.count], np.int64)
        every = np.arange(graph.count)
        before, order, depth = reach(
            every, at_once, starts, everywhere, graph.begins, graph.targets
        )
        levels = np.cumsum([0, *np.bincount(depth[order])]).astype(np.int64)
        return cls(order.astype(np.int64), levels, np.where(before == UNREACHED, A_START, before))

    def first(self, states: np.ndarray) -> list[int] | None:
        """The path to the first state of a mask; None if there is none."""
        found = self.by_depth[states[self.by_depth]]
        return path_back(int(found[0]), self.parents)[::-1] if len(found) else None


def refutation(operator: str, p: np.ndarray, q: np.ndarray | None, tree: Tree) -> Refutation:
    """How a property is broken, given where its predicates hold, on runs along the tree."""
    reached, everywhere = np.zeros(len(p), np.bool_), np.ones(len(p), np.bool_)
    reached[tree.by_depth] = True
    q = p if q is None else q
    starts, region, must = {
        EVENTUALLY: ((tree.parents < 0) & ~p, ~p, None),
        ALWAYS_EVENTUALLY: (~p, ~p, None),
        EVENTUALLY_ALWAYS: (everywhere, everywhere, ~p),
        LEADS_TO: (p & ~q, ~q, None),
    }[operator]
    return Refutation(starts & reached, region, must)


def beginnings(count: int, initial: int, given: np.ndarray | None) -> np.ndarray:
    """A mask of the initial states, or of those of them where something given holds."""
    first = np.arange(count) < initial
    return first if given is None else first & given


def find_lasso(
    graph: StepGraph,
    conditions: Conditions,
    wanted: Refutation,
    tree: Tree,
    watch: Callable[[], None],
) -> Lasso | None:
    """A fair run that breaks the property, with a shortest prefix; None if there is none."""
    before, order, depth = reach(
        tree.by_depth, tree.levels, wanted.starts, wanted.region, graph.begins, graph.targets
    )
    watch()
    within = (before != UNREACHED) & ~graph.cut
    sets = fair_sets(graph, conditions, within, wanted.must, watch)
    if not sets.count:
        return None
    best = None
    candidates = order[sets.of[order] >= 0]
    nearest = candidates[depth[candidates] == depth[candidates[0]]]
    loops = _Loops(graph, conditions, sets.of, wanted.must)
    for entry in nearest[:_MOST_ENTRIES].tolist():
        loop = loops.through(entry)
        if best is None or len(loop) < len(best.loop):
            best = Lasso(_path_to(entry, before, tree.parents), loop)
        watch()
    return best


def _path_to(position: int, before: np.ndarray, parents: np.ndarray) -> list[int]:
    """A shortest path from an initial state: first along the search's tree to a start, then within
    the region."""
    within = path_back(position, before)
    return [*within[:-1], *path_back(within[-1], parents)][::-1]


def path_back(position: int, before: np.ndarray) -> list[int]:
    """The positions from this one back to where its path begins; before[k] is the one before k, or
    negative."""
    way = [position]
    while before[way[-1]] >= 0:
        way.append(int(before[way[-1]]))
    return way


class _Loops:
    """Closed walks within a fair set that meet all fairness conditions."""

    def __init__(
        self, graph: StepGraph, conditions: Conditions, sets: np.ndarray, must: np.ndarray | None
    ):
        self.graph, self.conditions, self.sets, self.must = graph, conditions, sets, must
        self.visited = np.zeros(graph.count, np.int32)
        self.origin = np.empty(graph.count, np.int32)
        self.turn = 0
        self._possible: dict[int, frozenset[int]] = {}

    def through(self, entry: int) -> list[int]:
        """The states of a fair loop from `entry` back to it, without the first."""
        walk = [entry]
        while True:
            pending, must = self._pending(walk)
            if not pending and not must:
                if walk[-1] == entry:
                    return self._without_detours(walk)[1:]
                pending = set()
            walk += self._onwards(walk[-1], pending, must, entry)

    def _pending(self, walk: list[int]) -> tuple[set[int], bool]:
        """(the conditions that a loop along this walk does not meet, whether it lacks a must
        state)."""
        states = set(walk)
        possible = [self._possible_in(each) for each in states]
        taken: set[int] = set()
        for here, there in pairwise(walk):
            taken |= self._counting(here, there)
        strong = self.conditions.strong
        unmet = {k for k in set().union(*possible) - taken if strong[k]}
        unmet |= {k for k in frozenset.intersection(*possible) - taken if not strong[k]}
        return unmet, self.must is not None and not any(self.must[each] for each in states)

    def _possible_in(self, state: int) -> frozenset[int]:
        """The conditions whose action is enabled in this state."""
        if state not in self._possible:
            graph = self.graph
            first, last = graph.begins[state], graph.begins[state + 1]
            labels = set(graph.labels[first:last].tolist())
            self._possible[state] = frozenset(k for each in labels for k in self._of(each))
        return self._possible[state]

    def _of(self, label: int) -> Iterator[int]:
        first, last = self.conditions.begins[label], self.conditions.begins[label + 1]
        return iter(self.conditions.numbers[first:last].tolist())

    def _counting(self, here: int, there: int) -> set[int]:
        """The conditions for which the step between these states counts."""
        graph, found = self.graph, set()
        for at in range(graph.begins[here], graph.begins[here + 1]):
            if graph.targets[at] == there:
                found.update(self._of(int(graph.labels[at])))
        return found

    def _onwards(self, here: int, pending: set[int], must: bool, entry: int) -> list[int]:
        """A shortest path within the set to what meets one more demand, or else back to `entry`."""
        graph, conditions = self.graph, self.conditions
        wanted = np.zeros(len(conditions.strong), np.bool_)
        wanted[list(pending)] = True
        self.turn += 1
        goal_state = self.must if must else np.zeros(0, np.bool_)
        goal, last_step = search(
            here, self.sets, graph.begins, graph.targets, graph.labels, conditions.begins,
            conditions.numbers, conditions.strong, wanted, goal_state,
            entry if not pending and not must else -1, self.visited, self.turn, self.origin,
        )  # fmt: skip
        way = [goal] if last_step < 0 else [last_step, goal]
        while way[0] != here:
            way.insert(0, int(self.origin[way[0]]))
        return way[1:]

    def _without_detours(self, walk: list[int]) -> list[int]:
        """The closed walk without those detours (parts that return to the same state) that fairness
        does not need."""
        if len(walk) > _LONG:
            return walk
        shorter = True
        while shorter:
            shorter = False
            for first in range(len(walk) - 1):
                for last in range(len(walk) - 1, first, -1):
                    rest = walk[: first + 1] + walk[last + 1 :]
                    if walk[first] == walk[last] and self._pending(rest) == (set(), False):
                        walk, shorter = rest, True
                        break
                if shorter:
                    break
        return walk


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def search(
    here, sets, begins, targets, labels, condition_begins, condition_numbers, strong, wanted, must,
    entry, visited, turn, origin,
) -> tuple[int, int]:  # fmt: skip
    """The nearest state that meets a demand, in the set that `here` belongs to, and the path to it.

    A demand is met by a step that counts for a wanted condition; by a state where a wanted weak one
    is impossible; by a state in `must`; by the state `entry`. Returns (state, the state before it
    if a step met the demand, else -1); origin[k] is the state before k. visited[k] == turn marks
    what this call has seen.
    """
    queue = [here]
    visited[here] = turn
    origin[here] = here
    possible = np.zeros(strong.shape[0], np.bool_)
    at = 0
    while at < len(queue):
        state = queue[at]
        at += 1
        possible[:] = False
        for step in range(begins[state], begins[state + 1]):
            label, there = labels[step], targets[step]
            inside = there >= 0 and sets[there] == sets[here]
            for n in range(condition_begins[label], condition_begins[label + 1]):
                possible[condition_numbers[n]] = True
                if inside and wanted[condition_numbers[n]]:
                    return there, state
        for k in range(strong.shape[0]):
            if wanted[k] and not strong[k] and not possible[k]:
                return state, -1
        if must.shape[0] > 0 and must[state]:
            return state, -1
        for step in range(begins[state], begins[state + 1]):
            there = targets[step]
            if there >= 0 and sets[there] == sets[here]:
                if there == entry:
                    return there, state
                if visited[there] != turn:
                    visited[there] = turn
                    origin[there] = state
                    queue.append(there)
    return -1, -1
