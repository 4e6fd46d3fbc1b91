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

from protocol_lab.checker.request import SearchRequest, evaluation_error
from protocol_lab.compiler.fingerprint import fingerprints, slot_of
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.compiler.kernels import Kernels, SuccessorBuffer, constants_array, expand_some
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import Fairness, keys_of

UNKNOWN = -1
"""The target of a step that leads to no stored state."""

_CHUNK = 1024

_TO_SPLIT, _TO_SEARCH = 28, 64
"""Bytes for a step and a state while the graph is searched and split into components."""


class OutOfMemory(Exception):
    """The steps do not fit into the memory that may be used; the text is the reason."""


class Enough(Exception):
    """Raised by what watches a graph being filled: the states left over are cut."""


class StepGraph:
    """The steps of states 0..count-1: those of k are targets[begins[k] : begins[k + 1]].

    labels[i] is the label of step i: the number of an entry of `label_of`, a pair (action's number,
    values of its keys). keys[action] names these. From number `len(model.spec.actions)` on come the
    `foreign` actions, which are no part of the spec, but have a fairness condition. `cut` marks
    states with a step that can't be computed: their steps are not known. `cut_reason` is the
    sentence for the first of them. `table` and `where` find a state's position.
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
        self.label_of: list[tuple[int, tuple[int, ...]]] = []
        self.begins = np.zeros(len(states) + 1, np.int64)
        self.targets = np.empty(4 * len(states) + 8 * _CHUNK, np.int32)
        self.labels = np.empty(len(self.targets), np.int32)
        self.cut = np.zeros(len(states), np.bool_)
        self.cut_reason = ""
        self.table, self.where = np.zeros(1, np.uint64), np.zeros(1, np.int32)
        self._names = _Names(self.keys)

    @property
    def count(self) -> int:
        """How many states there are."""
        return len(self.states)

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
        size = 1 << max(4, int(2 * self.count).bit_length())
        self._check_memory(12 * size)
        self.table, self.where = np.zeros(size, np.uint64), np.empty(size, np.int32)
        for at in range(0, self.count, 64 * _CHUNK):
            enter(fingerprints(self.states[at : at + 64 * _CHUNK]), at, self.table, self.where)
        self._make_candidates(8 * _CHUNK)
        done, used = 0, 0
        try:
            while done < self.count:
                watch(done)
                done, used = self._fill_some(done, min(done + _CHUNK, self.count), used)
        except Enough:
            self.cut[done:], self.begins[done:] = True, used
        self.targets, self.labels = self.targets[:used].copy(), self.labels[:used].copy()
        self.label_of = self._names.listed()
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
            positions, self._names.of(actions, found.key_of),
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
        return find(fingerprints(rows), self.table, self.where)

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
        self._found = SuccessorBuffer(room, self.model.words, _CHUNK, self._names.width)

    def _check_memory(self, more_bytes: int) -> None:
        if self.states.nbytes + self.nbytes + more_bytes > self.memory:
            raise OutOfMemory(
                f"the steps between the states need more than the {self.memory / 2**30:.1f} GiB of"
                " memory that may be used: lower the constants, or raise --memory"
            )


def as_words(rows: list[bytes], words: int) -> np.ndarray:
    """Rows of bytes as compiled loops take them, each of so many words."""
    return np.frombuffer(bytearray().join(rows), np.uint64).reshape(len(rows), words)


class _Names:
    """Numbers labels in the order in which they are met."""

    def __init__(self, keys: list[tuple[str, ...]]):
        self._widths = np.array([len(each) for each in keys], np.int64)
        self.width = int(self._widths.max(initial=0))
        self._known = np.zeros((64, self.width + 1), np.int64)
        self._used = 0

    def of(self, action_of: np.ndarray, key_of: np.ndarray) -> np.ndarray:
        """The label of each candidate, from its action's number and the values of its keys."""
        labels = np.empty(len(action_of), np.int32)
        done = 0
        while True:
            done, self._used = name(
                action_of, key_of, self._widths, self._known, self._used, labels, done
            )
            if done == len(labels):
                return labels
            self._known = np.concatenate([self._known, np.zeros_like(self._known)])

    def listed(self) -> list[tuple[int, tuple[int, ...]]]:
        """The action and the values of the keys of each label."""
        rows = self._known[: self._used].tolist()
        return [(action, tuple(values[: self._widths[action]])) for action, *values in rows]


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def enter(prints, first, table, where) -> None:
    """Enter the positions first, first + 1, ... of these fingerprints into a hash table."""
    for k in range(prints.shape[0]):
        slot = slot_of(table, prints[k])
        table[slot] = prints[k]
        where[slot] = first + k


@kernel()
def find(prints, table, where) -> np.ndarray:
    """The positions of these fingerprints in a hash table; UNKNOWN for those that it has not."""
    found = np.empty(prints.shape[0], np.int32)
    for k in range(prints.shape[0]):
        slot = slot_of(table, prints[k])
        found[k] = where[slot] if table[slot] == prints[k] else UNKNOWN
    return found


@kernel()
def name(action_of, key_of, widths, known, used, labels, done) -> tuple[int, int]:
    """Give candidates from `done` on the numbers of their entries in known[:used], which grows.

    Returns (candidates done, entries used); stops where `known` has no room for another one.
    """
    for k in range(done, labels.shape[0]):
        label = -1
        guess = labels[k - 1] if k > 0 else 0  # the steps of an action often stand together
        for step in range(used):
            at = (guess + step) % used
            same = known[at, 0] == action_of[k]
            for column in range(widths[action_of[k]]):
                same = same and known[at, column + 1] == key_of[k, column]
            if same:
                label = at
                break
        if label < 0:
            if used == known.shape[0]:
                return k, used
            known[used, 0] = action_of[k]
            for column in range(widths[action_of[k]]):
                known[used, column + 1] = key_of[k, column]
            label = used
            used += 1
        labels[k] = label
    return labels.shape[0], used


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
