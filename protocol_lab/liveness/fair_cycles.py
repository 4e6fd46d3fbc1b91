"""Finds fair cycles: strongly connected components, split where fairness demands it.

From some moment on an endless run visits only states that it visits again and again. These form a
strongly connected set (of a single state, if the run stops there). The largest such sets are the
components of the graph. In a component a fairness condition is met if one of its steps leads from a
member to a member, for then a run can take it again and again. If not:

- A weak condition is still met if its action is disabled in some member. If it is enabled in all of
  them, it is in every smaller set as well: the component has no fair cycle.
- For a strong condition the action must be disabled in all members. So the members where it is
  enabled are taken out, and the rest is split into components again.

When nothing has to be taken out any more, the remaining sets are the largest that a fair run can
visit forever; no fair cycle was lost. (This is how the emptiness of a Streett automaton is decided;
Emerson and Lei, 1987. TLC does the same.)
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.distance.step_graph import StepGraph
from protocol_lab.liveness.fairness_conditions import Condition
from protocol_lab.model.temporal_formulas import Fairness


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


@dataclass
class FairSets:
    """The largest sets of states that a fair run can visit forever.

    of[k] is the number of the set that state k belongs to, -1 for none. rounds: how often the
    graph was split into components.
    """

    of: np.ndarray
    count: int
    rounds: int


def fair_sets(
    graph: StepGraph,
    conditions: Conditions,
    region: np.ndarray,
    must: np.ndarray | None,
    watch: Callable[[], None],
) -> FairSets:
    """The fair sets within a region, a mask of states whose steps are known.

    must: a mask of states; every set has to contain at least one of them (None: no such demand).
    `watch` is called between the rounds and may raise.
    """
    active, sets, rounds = region.copy(), np.full(graph.count, -1, np.int32), 0
    required = np.ones(graph.count, np.bool_) if must is None else must
    found, steps = 0, graph.steps()
    while active.any():
        members, component = _components(steps, active, watch)
        order = np.argsort(component[members], kind="stable")
        members = members[order].astype(np.int32)
        bounds = np.flatnonzero(np.diff(component[members], prepend=-1))
        bounds = np.append(bounds, len(members)).astype(np.int64)
        watch()
        found = judge_components(
            members, bounds, component, graph.begins, graph.targets, graph.labels,
            conditions.begins, conditions.numbers, conditions.strong, required, active, sets, found,
        )  # fmt: skip
        rounds += 1
        watch()
    return FairSets(sets, found, rounds)


def _components(
    steps: tuple[np.ndarray, np.ndarray], active: np.ndarray, watch: Callable[[], None]
) -> tuple[np.ndarray, np.ndarray]:
    """(the active states, the number of each state's component or -1)."""
    members = np.flatnonzero(active)
    compact = np.full(len(active), -1, np.int32)
    compact[members] = np.arange(len(members), dtype=np.int32)
    inner = np.flatnonzero(active[steps[0]] & active[steps[1]])
    sources, targets = (compact[each[inner]] for each in steps)
    watch()
    size = len(members), len(members)
    # As a CSR array, for SciPy does not terminate with an edge listed twice.
    matrix = coo_array((np.ones(len(sources), np.float64), (sources, targets)), size).tocsr()
    _, numbers = connected_components(matrix, directed=True, connection="strong")
    component = np.full(len(active), -1, np.int32)
    component[members] = numbers
    return members, component


@kernel()
def judge_components(
    members, bounds, component, begins, targets, labels, condition_begins, condition_numbers,
    strong, required, active, sets, found,
) -> int:  # fmt: skip
    """Decide each component: it is fair, it has no fair cycle, or some members are taken out.

    The states of a fair one get its number in `sets`. `active` keeps those of a component that has
    to be split again. Returns the number of fair sets found so far.
    """
    count = strong.shape[0]
    possible_in = np.zeros(count, np.int64)  # members in which a condition's action is enabled
    taken = np.zeros(count, np.bool_)
    latest = np.full(count, -1, np.int64)  # the member that was counted last
    touched = np.empty(count, np.int64)
    for c in range(bounds.shape[0] - 1):
        first, last = bounds[c], bounds[c + 1]
        own = component[members[first]]
        touches = 0
        has_required = False
        for k in range(first, last):
            here = members[k]
            has_required = has_required or required[here]
            for at in range(begins[here], begins[here + 1]):
                inside = targets[at] >= 0 and component[targets[at]] == own
                label = labels[at]
                for n in range(condition_begins[label], condition_begins[label + 1]):
                    condition = condition_numbers[n]
                    if latest[condition] < 0:
                        touched[touches] = condition
                        touches += 1
                    if latest[condition] != here:
                        latest[condition] = here
                        possible_in[condition] += 1
                    taken[condition] = taken[condition] or inside
        hopeless, to_split = not has_required, False
        for t in range(touches):
            condition = touched[t]
            if not taken[condition]:
                if strong[condition]:
                    to_split = True
                elif possible_in[condition] == last - first:
                    hopeless = True
        for k in range(first, last):
            here = members[k]
            stays = to_split and not hopeless
            if stays:
                for at in range(begins[here], begins[here + 1]):
                    label = labels[at]
                    for n in range(condition_begins[label], condition_begins[label + 1]):
                        condition = condition_numbers[n]
                        stays = stays and (taken[condition] or not strong[condition])
            active[here] = stays
            if not hopeless and not to_split:
                sets[here] = found
        if not hopeless and not to_split:
            found += 1
        for t in range(touches):
            possible_in[touched[t]] = 0
            taken[touched[t]] = False
            latest[touched[t]] = -1
    return found
