"""The graph of states and steps, kept in memory so that it can be searched repeatedly.

`explore` forgets a transition once it is counted. A `Graph` keeps it, as the position of its
target: a second search over the same states, backwards or from another state, then follows numbers
and runs no action. It grows on demand, a chunk of states at a time.

As everywhere, states outside a constraint are checked but not kept. If one of them breaks an
invariant, that is noted at the state before it, as for a transition that breaks a step invariant.
"""

import numpy as np

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.disagreement import repeating
from protocol_lab.compiler.expansion import SuccessorBuffer, check_all, expand_some, grown
from protocol_lab.compiler.fingerprint import fingerprints, slot_of
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.model.transitions import needed_attempts

CHUNK = 512
"""States expanded at a time, in a few milliseconds; then a search checks whether to stop."""

BROKEN, BROKEN_STEP, CUT = 1, 2, 4
"""The flags of a state in `Graph.flags`: it breaks a chosen invariant; a step from it does, or
leads outside the constraint to a state that does; a step from it, a property of the state, or one
of a target can't be computed."""

_OUTSIDE = -1


class GraphFull(Exception):
    """The graph has reached its bound of states or of bytes; the text says which."""


class Graph:
    """The states met so far, by position: `rows`, `flags`, and the `targets` of their steps.

    degrees[k] is -1 for a state that was not expanded yet; else its successors are
    targets[begins[k] : begins[k] + degrees[k]], each once, without itself and those outside the
    constraint. `max_states` and `memory_bytes` bound it, to within one chunk.
    """

    def __init__(self, compiled: CompiledModel, max_states: int, memory_bytes: int):
        self.compiled, self.model = compiled, compiled.model
        self.max_states, self.memory_bytes = max_states, memory_bytes
        self.stored = self.used = 0
        self.rows = np.empty((1 << 10, self.model.words), np.uint64)
        self.flags = np.zeros(1 << 10, np.uint8)
        self.begins = np.zeros(1 << 10, np.int64)
        self.degrees = np.full(1 << 10, -1, np.int32)
        self.targets = np.empty(1 << 13, np.int32)
        self.table = np.zeros(1 << 12, np.uint64)
        self.where = np.empty(1 << 12, np.int32)
        self._make_candidates(8 * CHUNK)

    @property
    def nbytes(self) -> int:
        """The bytes that the graph keeps."""
        return sum(
            each.nbytes
            for each in (
                *(self.rows, self.flags, self.begins, self.degrees),
                *(self.targets, self.table, self.where),
            )
        )

    def enter(self, rows: list[bytes], before: bytes | None = None) -> tuple[np.ndarray, ...]:
        """Keep these states; `before` is the state whose steps led to them, or None.

        Returns (the position of each, -1 outside the constraint; whether it, or its step, breaks an
        invariant).
        """
        count = len(rows)
        self._fill(rows)
        self.found.parent_of[:count] = 0
        earlier = None if before is None else as_words([before])
        failed, failed_steps, targets, _ = self._keep(count, earlier, every=True)
        return targets.copy(), failed | failed_steps

    def expand(self, positions: np.ndarray) -> None:
        """Find the successors of up to CHUNK states that were not expanded yet.

        Raises GraphFull, and LabError if an action is faulty.
        """
        if self.stored >= self.max_states:
            raise GraphFull(f"more than {self.max_states:,} states")
        sources, done = self.rows[positions], 0
        while done < len(positions):
            done = self._expand_some(sources, positions, done)

    def _expand_some(self, sources: np.ndarray, positions: np.ndarray, begin: int) -> int:
        """Expand sources[begin:], or as many as fit into the buffer; returns where it ended."""
        done, count = expand_some(
            begin, len(sources),
            lambda begin, end: self.found.fill(self.compiled, sources, begin, end),
            lambda: self.found.progress,
            lambda: self._make_candidates(2 * len(self.found.out)),
        )  # fmt: skip
        if done == begin:
            return self._expand_cut(sources, positions, begin)
        self._take_in(count, sources, positions, begin, done)
        return done

    def _expand_cut(self, sources: np.ndarray, positions: np.ndarray, at: int) -> int:
        """Expand one state uncompiled: those of its steps that fit."""
        with repeating():
            tried = list(needed_attempts(self.model, sources[at].tobytes()))
        rows = [each.row for each in tried if each.taken]
        self._fill(rows)
        self.found.parent_of[: len(rows)] = at
        self.flags[positions[at]] |= CUT
        self._take_in(len(rows), sources, positions, at, at + 1)
        return at + 1

    def _take_in(
        self, count: int, sources: np.ndarray, positions: np.ndarray, begin: int, end: int
    ) -> None:
        """Keep candidates [0, count), the successors of positions[begin:end], and their steps."""
        failed, failed_steps, targets, faulty = self._keep(count, sources, every=False)
        parents = positions[self.found.parent_of[:count]]
        self.flags[parents[faulty]] |= CUT
        self.flags[parents[failed & (targets == _OUTSIDE) | failed_steps]] |= BROKEN_STEP
        if self.used + count > len(self.targets):
            self._check_memory(self.targets.nbytes)
            self.targets = grown(self.targets, 2 * (self.used + count))
        self.used = connect(
            targets, self.found.parent_of, positions, begin, end, self.targets, self.used,
            self.begins, self.degrees,
        )  # fmt: skip

    def _keep(
        self, count: int, before: np.ndarray | None, every: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]:
        """Check and keep candidates [0, count); with `every`, check again those known already.

        Returns (breaks an invariant, its step breaks one, position) of each candidate, and the
        candidates that can't be judged.
        """
        compiled = self.compiled
        rows, failed, wanted = self.found.out[:count], self.failed[:count], self.wanted[:count]
        wanted[:] = 1
        failed[:] = 0
        faulty: list[int] = []
        if compiled.constraints:
            faulty += self._check(compiled.check, compiled.constraints, count, before)
        inside = (failed == 0).astype(np.uint8)
        inside[faulty] = 0
        self._make_room(count)
        known = self.stored
        targets = self.target_of[:count]
        self.stored = insert(
            fingerprints(rows), rows, inside, self.table, self.where, self.rows, known, targets
        )
        if not every:
            wanted[:] = (targets >= known) | (targets == _OUTSIDE)
        failed[:] = 0
        wanted[faulty] = 0
        if compiled.invariants:
            faulty += self._check(compiled.check, compiled.invariants, count, before)
        breaks = failed != 0
        self.flags[targets[breaks & (targets != _OUTSIDE)]] |= BROKEN
        failed[:] = 0
        if compiled.check_steps is not None and before is not None:
            wanted[:] = 1
            faulty += self._check(compiled.check_steps, compiled.step_invariants, count, before)
        stored = targets[faulty]
        self.flags[stored[stored != _OUTSIDE]] |= CUT
        return breaks, failed != 0, targets, faulty

    def _check(self, check, bits: int, count: int, before: np.ndarray | None) -> list[int]:
        before = self.found.out if before is None else before  # used for steps only
        return check_all(
            count,
            self.wanted,
            lambda count: check(
                self.found.out, count, self.wanted, self.compiled.constants, bits, self.failed,
                before, self.found.parent_of,
            ),
        )  # fmt: skip

    def _fill(self, rows: list[bytes]) -> None:
        if len(rows) > len(self.found.out):
            self._make_candidates(len(rows))
        if rows:
            self.found.out[: len(rows)] = as_words(rows)

    def _make_candidates(self, room: int) -> None:
        self.found = SuccessorBuffer(room, self.model.words, CHUNK)
        self.failed = np.zeros(room, np.int64)
        self.wanted = np.ones(room, np.uint8)
        self.target_of = np.empty(room, np.int32)

    def _make_room(self, count: int) -> None:
        needed = self.stored + count
        if 2 * needed > len(self.table):
            self._check_memory(3 * (self.table.nbytes + self.where.nbytes))
            self.table, self.where = refilled(self.table, self.where)
        if needed > len(self.rows):
            size = 2 * needed
            self._check_memory(self.rows.nbytes + self.begins.nbytes)
            self.rows, self.begins = grown(self.rows, size), grown(self.begins, size)
            self.flags, self.degrees = grown(self.flags, size, 0), grown(self.degrees, size, -1)

    def _check_memory(self, more_bytes: int) -> None:
        if self.nbytes + more_bytes > self.memory_bytes:
            raise GraphFull(f"more than {self.memory_bytes / 2**20:,.0f} MiB of memory")


def as_words(rows: list[bytes]) -> np.ndarray:
    """Rows of bytes as the kernels take them."""
    return (
        np.frombuffer(bytearray().join(rows), np.uint64).reshape(len(rows), -1)
        if rows
        else _NO_WORDS
    )


_NO_WORDS = np.empty((0, 0), np.uint64)


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def insert(prints, rows, inside, table, where, store, stored, targets) -> int:
    """Keep new rows in store[stored:]; targets[k] becomes the position of row k, -1 outside.

    table and where: a hash table from fingerprints (0 = empty) to positions. Returns the number of
    rows stored.
    """
    for k in range(rows.shape[0]):
        targets[k] = -1
        if not inside[k]:
            continue
        slot = slot_of(table, prints[k])
        if table[slot] == np.uint64(0):
            table[slot] = prints[k]
            where[slot] = stored
            for word in range(rows.shape[1]):
                store[stored, word] = rows[k, word]
            stored += 1
        targets[k] = where[slot]
    return stored


@kernel()
def connect(found, parent_of, positions, begin, end, targets, used, begins, degrees) -> int:
    """Write the steps of positions[begin:end], found[k] being a successor of parent_of[k].

    `found` has the successors of each state together, in the order of the states. Returns the
    number of targets used.
    """
    k = 0
    for source in range(begin, end):
        here, first = positions[source], used
        while k < found.shape[0] and parent_of[k] == source:
            target = found[k]
            known = target < 0 or target == here
            for earlier in range(first, used):
                known = known or targets[earlier] == target
            if not known:
                targets[used] = target
                used += 1
            k += 1
        begins[here] = first
        degrees[here] = used - first
    return used


@kernel()
def refilled(table, where) -> tuple[np.ndarray, np.ndarray]:
    """The hash table, four times as large."""
    larger = np.zeros(4 * table.shape[0], np.uint64)
    positions = np.empty(4 * table.shape[0], np.int32)
    for old in range(table.shape[0]):
        if table[old] != np.uint64(0):
            slot = slot_of(larger, table[old])
            larger[slot], positions[slot] = table[old], where[old]
    return larger, positions


@kernel()
def find(prints, table, where) -> np.ndarray:
    """The positions of these fingerprints in a hash table; -1 for an unknown one."""
    found = np.empty(prints.shape[0], np.int32)
    for k in range(prints.shape[0]):
        slot = slot_of(table, prints[k])
        found[k] = where[slot] if table[slot] == prints[k] else -1
    return found
