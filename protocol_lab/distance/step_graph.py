"""The step graph of a finished search: each state's steps, their targets and labels.

A label is an action together with those parameters that fairness conditions distinguish. There are
so few labels that a step takes eight bytes. A step's other parameters are found again, uncompiled,
once a lasso is known.

The states were found by a search; here each is expanded once more, now that all of them have a
position. A step that changes nothing is left out, because no fairness condition counts it. A step
that leads outside the constraint, or to a state that was not stored, is kept with UNKNOWN as its
target: it can't be followed, but it shows that its action is enabled here. So enabledness is that
of the unconstrained spec, as with TLC.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from protocol_lab.checker.request import SearchRequest, Undecided, evaluation_error
from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.compiler.kernels import Kernels, SuccessorBuffer, constants_array, expand_some
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import Fairness, keys_of

UNKNOWN = -1
"""The target of a step that leads to no stored state."""

_CHUNK = 1024

_TO_FIND, _TO_SPLIT, _TO_SEARCH = 28, 28, 64
"""Bytes for a state while states are put in order to be found, and for a step and a state while the
graph is searched and split into components."""


class OutOfMemory(Undecided):
    """The steps do not fit into the memory that may be used; the text is the reason."""


class Enough(Exception):
    """Raised by what watches a graph being filled: the states left over are cut."""


class StepGraph:
    """The steps of states 0..count-1: those of k are targets[begins[k] : begins[k + 1]].

    labels[i] is the label of step i: the number of an entry of `label_of`, a pair (action's number,
    values of its keys). keys[action] names these. From number `len(model.spec.actions)` on come the
    `foreign` actions, which are no part of the spec, but have a fairness condition. `cut` marks
    states with a step that can't be computed: their steps are not known. `cut_reason` is the
    sentence for the first of them.
    """

    def __init__(
        self,
        model: Model,
        states: np.ndarray,
        fairness: list[Fairness],
        memory: int,
        foreign: Iterable[Action] = (),
    ):
        self.model, self.states, self.memory = model, states, memory
        self.actions = [*model.spec.actions, *foreign]
        declared = [*model.spec.fairness, *fairness]
        self.keys = [keys_of(action.name, declared) for action in self.actions]
        self._number_of: dict[tuple[int, tuple[int, ...]], int] = {}
        self.begins = np.zeros(len(states) + 1, np.int64)
        self.targets = np.empty(4 * len(states) + 8 * _CHUNK, np.int32)
        self.labels = np.empty(len(self.targets), np.int32)
        self.cut = np.zeros(len(states), np.bool_)
        self.cut_reason = ""
        self._prints, self._order = np.zeros(0, np.uint64), np.zeros(0, np.int32)
        self._widths = np.array([len(each) for each in self.keys], np.int64)

    @property
    def count(self) -> int:
        """How many states there are."""
        return len(self.states)

    @property
    def label_of(self) -> list[tuple[int, tuple[int, ...]]]:
        """For each label its action's number, and the values of its keys."""
        return list(self._number_of)

    @property
    def nbytes(self) -> int:
        """The bytes of the steps, without the states."""
        arrays = (self.begins, self.targets, self.labels, self.cut)
        return sum(each.nbytes for each in arrays)

    @property
    def leads_outside(self) -> bool:
        """Does a step of the spec's own actions lead to no stored state?"""
        own = np.array([action < len(self.model.spec.actions) for action, _ in self.label_of])
        return bool(own[self.labels[self.targets == UNKNOWN]].any()) if len(own) else False

    def fill(self, watch: Callable[[int], None]) -> None:
        """Expand every state. `watch` is called with the number of states done, and may raise:
        Enough, and the graph keeps what it has.

        Raises OutOfMemory, and LabError if something can't be compiled.
        """
        spec = replace(self.model.spec, actions=self.actions)
        self._extended = replace(self.model, spec=spec)
        kernels = Kernels(self._extended)
        self.expand = kernels.expand(self.keys)
        self.compile_seconds = kernels.compile_seconds
        self.constants = constants_array(self.model)
        self._check_memory(_TO_FIND * self.count)
        prints = fingerprints(self.states)
        self._order = np.argsort(prints).astype(np.int32)
        self._prints = prints[self._order]
        self._make_candidates(8 * _CHUNK)
        done, used = 0, 0
        try:
            while done < self.count:
                watch(done)
                done, used = self._fill_some(done, min(done + _CHUNK, self.count), used)
        except Enough:
            self.cut[done:], self.begins[done:] = True, used
        self.targets, self.labels = self.targets[:used].copy(), self.labels[:used].copy()
        del self._found
        self._check_memory(_TO_SPLIT * used + _TO_SEARCH * self.count)

    def _fill_some(self, begin: int, end: int, used: int) -> tuple[int, int]:
        """Expand the states [begin, end), or the first of them; returns (end, steps used)."""
        done, count = expand_some(
            begin, end,
            lambda begin, end: self._found.fill(self, self.states, begin, end),
            lambda: self._found.progress,
            lambda: self._make_candidates(2 * len(self._found.out)),
        )  # fmt: skip
        if done == begin:
            self._cut_off(begin)
            done = begin + 1
        if used + count > len(self.targets):
            self._check_memory(3 * self.targets.nbytes)
            size = 2 * (used + count)
            self.targets, self.labels = np.resize(self.targets, size), np.resize(self.labels, size)
        found, actions = self._found, self._found.action_of[:count]
        positions = self.find(found.out[:count])
        self.look_at(found, count, positions)
        used = connect(
            positions, self._labels(actions, found.key_of[:count]),
            actions >= len(self.model.spec.actions), found.parent_of, begin, done,
            self.begins, self.targets, self.labels, used,
        )  # fmt: skip
        return done, used

    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """The states that steps to stored states lead from, and those that they lead to."""
        sources = np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))
        known = self.targets != UNKNOWN
        return sources[known], self.targets[known]

    def find(self, rows: np.ndarray) -> np.ndarray:
        """The positions of these states, UNKNOWN for those that are not here."""
        prints = fingerprints(rows)
        at = np.searchsorted(self._prints[:-1], prints)  # the last one where there is no equal
        if not len(self._prints):
            return np.full(len(prints), UNKNOWN, np.int32)
        return np.where(self._prints[at] == prints, self._order[at], np.int32(UNKNOWN))

    def _labels(self, actions: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """The label of each step, from its action's number and the values of its keys."""
        used = np.arange(keys.shape[1]) < self._widths[actions][:, None]
        codes = np.zeros(len(actions), np.int64)
        for each in (actions, *np.where(used, keys, 0).T):
            least = each.min(initial=0)
            codes = codes * (each.max(initial=0) - least + 1) + each - least
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        numbers = []
        for action, *values in np.column_stack([actions, keys])[first].tolist():
            label = action, tuple(values[: self._widths[action]])
            numbers.append(self._number_of.setdefault(label, len(self._number_of)))
        return np.array(numbers, np.int32)[inverse]

    def look_at(self, found: SuccessorBuffer, count: int, positions: np.ndarray) -> None:
        """Called with steps that were found, and the positions of their targets."""

    def _cut_off(self, position: int) -> None:
        self.cut[position] = True
        row = self.states[position].tobytes()
        self.cut_reason = self.cut_reason or str(
            evaluation_error(self._extended, row, SearchRequest([], []))
        )

    def _make_candidates(self, room: int) -> None:
        self._check_memory(8 * room * (self.model.words + 4))
        self._found = SuccessorBuffer(
            room, self.model.words, _CHUNK, int(self._widths.max(initial=0))
        )

    def _check_memory(self, more_bytes: int) -> None:
        if self.states.nbytes + self.nbytes + more_bytes > self.memory:
            raise OutOfMemory(
                f"the steps between the states need more than the {self.memory / 2**30:.1f} GiB of"
                " memory that may be used: lower the constants, or raise --memory"
            )


def as_words(rows: list[bytes], words: int) -> np.ndarray:
    """Rows of bytes as compiled loops take them, each of so many words."""
    return np.frombuffer(bytearray().join(rows), np.uint64).reshape(len(rows), words)


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def connect(found, label_of, foreign, parent_of, begin, end, begins, targets, labels, used) -> int:
    """Write the steps of the states [begin, end): candidate k leads from parent_of[k] to found[k].

    A state's candidates stand together, in the order of the states. A candidate of a foreign action
    is a step only if an action of the spec makes the same one; else it is merely possible.
    Returns the number of steps used.
    """
    at = 0
    for source in range(begin, end):
        first, start = used, at
        begins[source] = first
        while at < found.shape[0] and parent_of[at] == source:
            at += 1
        for k in range(start, at):
            target = found[k]
            if target == source:
                continue
            if foreign[k]:
                real = False
                for other in range(start, at):
                    real = real or (not foreign[other] and found[other] == target)
                if not real:
                    target = -1
            known = False
            for earlier in range(first, used):
                known = known or (targets[earlier] == target and labels[earlier] == label_of[k])
            if not known:
                targets[used] = target
                labels[used] = label_of[k]
                used += 1
    begins[end] = used
    return used


UNREACHED, A_START = -2, -1


@kernel()
def reach(by_depth, levels, starts, region, begins, targets) -> tuple:
    """Search breadth first within a region from all starts, each counting with its own depth.

    by_depth[levels[d] : levels[d + 1]] are states of depth d, from which those in the mask `starts`
    are taken; begins, targets: as in `StepGraph`. Returns (before, order, depth): before[k] is the
    state before k on a shortest path, A_START if the path begins there, or UNREACHED; order has the
    states that were reached, nearest first; depth[k] is -1 for the others.
    """
    count = region.shape[0]
    before, depth_of = np.full(count, UNREACHED, np.int32), np.full(count, -1, np.int32)
    order = np.empty(count, np.int32)
    filled, begin, depth = 0, 0, 0
    while depth < levels.shape[0] - 1 or begin < filled:
        if depth < levels.shape[0] - 1:
            for place in range(levels[depth], levels[depth + 1]):
                k = by_depth[place]
                if starts[k] and region[k] and before[k] == UNREACHED:
                    before[k] = A_START
                    order[filled] = k
                    filled += 1
        end = filled
        for at in range(begin, end):
            here = order[at]
            depth_of[here] = depth
            for step in range(begins[here], begins[here + 1]):
                there = targets[step]
                if there >= 0 and region[there] and before[there] == UNREACHED:
                    before[there] = here
                    order[filled] = there
                    filled += 1
        begin = end
        depth += 1
    return before, order[:filled], depth_of
