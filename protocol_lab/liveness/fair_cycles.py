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
from itertools import islice, product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.distance.step_graph import StepGraph
from protocol_lab.errors import LabError
from protocol_lab.model.layout import IntegerLayout, Node
from protocol_lab.model.parameters import Member, domains_of
from protocol_lab.model.parameters import values as values_of
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import Fairness

# --- Fairness conditions --------------------------------------------------------------------------
#
# The fairness conditions of a model, and the steps that count for each.
#
# `weakly_fair(send, each="server")` is one condition for each server. A condition whose action is
# never enabled is met by every run, so a search lists only those that some label belongs to; what
# explains a loop names all.


_MOST = 1024
"""The most conditions of one assumption that are named one by one."""


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an assumption, and the values of its `each`; without these it stands
    for all conditions of the assumption."""

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
        if not self.values:
            return f"{name} for each {', '.join(each)}"
        shown = (f"{path}={value}" for path, value in zip(each, self.values, strict=True))
        return f"{f'({name})' if several else name}({', '.join(shown)})"

    @property
    def text(self) -> str:
        """The condition in words: "weak fairness of become_leader(server=2)"."""
        return f"{'strong' if self.strong else 'weak'} fairness of {self.action}"


def declared_conditions(model: Model, assumed: Fairness) -> list[Condition]:
    """The conditions of an assumption, one for every choice of its `each`.

    Where these depend on the state, or are too many, it is one that stands for all of them.
    """
    known = [_values(model, assumed.functions, path) for path in assumed.each]
    count = 1
    for each in known:
        count *= len(each)
    if not 0 < count <= _MOST:
        return [Condition(assumed)]
    return [Condition(assumed, each) for each in product(*known)]


def _values(model: Model, functions: tuple[Callable[..., str], ...], path: str) -> list[int]:
    """All values of a parameter, or of a message's field, as numbers; none if they depend on the
    state."""
    found: dict[int, None] = {}
    for function in functions:
        name, _, fields = path.partition(".")
        domain = domains_of(function, skip=2)[name]
        if isinstance(domain, Member):
            found |= dict.fromkeys(_field_values(model, domain, fields))
            continue
        try:
            each = islice(values_of(domain, {"c": model.constants}), _MOST + 1)
            found |= dict.fromkeys(map(int, each))
        except (KeyError, LabError, TypeError):  # it looks at the state, or is no number
            return []
    return list(found)


def _field_values(model: Model, domain: Member, fields: str) -> list[int]:
    layout = model.layout
    for each in domain.path.split("."):
        layout = layout.fields[each]
    layout = layout.fields["items"].item
    for each in fields.split("."):
        layout = layout.fields[each]
    if not isinstance(layout, IntegerLayout):
        return []
    if layout.nodes:
        return list(range(1, Node(layout.nodes).number(model.constants) + 1))
    return list(range(len(layout.names)))


def foreign_actions(model: Model, fairness: list[Fairness]) -> list[Action]:
    """The actions with a fairness condition that are no part of the spec."""
    own = {each.name for each in model.spec.actions}
    found = {function.__name__: function for each in fairness for function in each.functions}
    return [
        Action(function, domains_of(function, skip=2))
        for name, function in found.items()
        if name not in own
    ]


# --- Fair cycles ----------------------------------------------------------------------------------


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
