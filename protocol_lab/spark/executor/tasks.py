"""The tasks of a level, on numpy arrays: expand states, and settle which ones are new.

A level has two stages. `Tasks.expand` turns stored states into candidates, a parcel for each
owner; `Tasks.settle`, run by the owner, drops what it has seen, checks the rest and gives the
new states of the next depth. The driver runs the very same two for small levels.

Which parent a state keeps does not depend on how the work was divided: of all that lead to it in
the level the smallest by (fingerprint, action number) is kept. So a search gives the same levels,
and the same trace, on one laptop and on any cluster.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernels import SuccessorBuffer, check_some
from protocol_lab.spark.executor.candidates import OutgoingCandidates, Parcel
from protocol_lab.spark.executor.deduplication import UnvisitedCandidates
from protocol_lab.spark.executor.level_files import Block
from protocol_lab.spark.executor.task_reports import DEADLOCK, Finding, Report, sums
from protocol_lab.spark.executor.visited_runs import VisitedRuns
from protocol_lab.spark.model_transfer import UnpackedModel

_CHUNK = 1024
"""States expanded at a time, as in the native engine."""


class _CannotCheck(Exception):
    """Something about row number `at` can't be computed."""

    def __init__(self, at: int):
        super().__init__(at)
        self.at = at


class Tasks:
    """The compiled kernels of a model with their buffers; a process needs only one.

    Broken properties are bits of one number: bit k is the k-th name of the request, which has the
    invariants first, then the step invariants.
    """

    def __init__(self, unpacked: UnpackedModel):
        model, constraint, request = unpacked
        self.model, self.request, spec = model, request, model.spec
        named = {each.name: each for each in [*spec.invariants, *spec.step_invariants]}
        steps = [named[name] for name in request.step_invariants]
        invariants = [named[name] for name in request.invariants]
        self.compiled = CompiledModel(model, invariants, steps, constraint)
        self._number_of_steps = range(len(invariants), len(invariants) + len(steps))
        self._bit_of_steps = [spec.step_invariants.index(each) for each in steps]
        self.compile_seconds = self.compiled.compile_seconds
        self._found = SuccessorBuffer(8 * _CHUNK, model.words, _CHUNK)

    def never_reached(self, reached: int) -> list[str]:
        """The expected situations that no state had, by name."""
        return [
            each.name
            for k, each in enumerate(self.compiled.properties)
            if self.compiled.expected & ~reached & 1 << k
        ]

    def _make_more_room(self) -> None:
        self._found = SuccessorBuffer(2 * len(self._found.out), self.model.words, _CHUNK)

    # --- First stage ------------------------------------------------------------------------

    def expand(self, blocks: Iterable[Block], owners: int, report: Report) -> Iterator[Parcel]:
        """All successors inside the constraint of these states, as parcels for their owners.

        Counts, deadlocks and what is outside the constraint go into the report. Ends early at a
        state whose successors can't be computed; the report names it.
        """
        report.per_action = [0] * len(self.model.spec.actions)
        report.violating = self._no_violations()
        candidates = OutgoingCandidates(self.model.words)
        for block in blocks:
            begin = 0
            while begin < len(block) and not report.over:
                begin = self._expand_chunk(block, begin, candidates, report)
                if candidates.are_many():
                    yield from self._parcels(candidates, owners, report)
        yield from self._parcels(candidates, owners, report)

    def _parcels(
        self, candidates: OutgoingCandidates, owners: int, report: Report
    ) -> Iterator[Parcel]:
        for parcel in candidates.parcels(owners):
            report.sent += len(parcel.rows)
            yield parcel

    def _expand_chunk(
        self, block: Block, begin: int, candidates: "OutgoingCandidates", report: Report
    ) -> int:
        end, found = min(begin + _CHUNK, len(block)), self._found
        try:
            done, count = found.fill(self.compiled, block.rows, begin, end)
        except MemoryError:
            raise
        except Exception:  # whatever it is, the driver repeats the state and finds the message
            report.over = block.rows[found.progress[0]].tobytes().hex()
            return begin
        if done == begin:  # one state has more successors than fit
            self._make_more_room()
            return begin
        if self.request.deadlock:
            for at in begin + np.flatnonzero(found.degree_of[: done - begin] == 0):
                print_, row = int(block.fingerprints[at]), block.rows[at].tobytes()
                report.found(Finding(False, print_, DEADLOCK, print_, row.hex()))
        rows, actions = found.out[:count], found.action_of[:count]
        parents = block.fingerprints[found.parent_of[:count]]
        taken = np.bincount(actions, found.multiplicity_of[:count], len(report.per_action))
        report.per_action = sums(report.per_action, [int(each) for each in taken])
        try:
            inside = self.inside(rows)
            steps = self._failed_steps(block.rows, rows, found.parent_of[:count])
            self._count(steps, report)
            outside = self.failed(rows, inside == 0)
        except _CannotCheck as fault:
            report.over = block.rows[found.parent_of[fault.at]].tobytes().hex()
            return begin
        self._find(rows, parents, outside | steps, report)
        candidates.add(found.out, count, inside, parents, actions)
        return done

    def inside(self, rows: np.ndarray) -> np.ndarray:
        """Does each state satisfy the constraint? (uint8)"""
        inside = np.ones(len(rows), np.uint8)
        compiled = self.compiled
        for check, bits in (
            (compiled.check, compiled.constraints),
            (compiled.check_constraint, 1),
        ):
            if check is not None and bits:
                inside &= self._run(check, rows, inside, bits) == 0
        return inside

    def _run(
        self,
        check: Callable,
        rows: np.ndarray,
        wanted: np.ndarray,
        bits: int,
        before: np.ndarray | None = None,
        parent_of: np.ndarray | None = None,
    ) -> np.ndarray:
        failed = np.zeros(len(rows), np.int64)
        before = rows if before is None else before
        parent_of = failed if parent_of is None else parent_of
        could = check_some(
            len(rows),
            lambda count: check(
                rows, count, wanted, self.compiled.constants, bits, failed, before, parent_of
            ),
        )
        if could < len(rows):
            raise _CannotCheck(could)
        return failed

    def failed(
        self, rows: np.ndarray, wanted: np.ndarray | None = None, more_bits: int = 0
    ) -> np.ndarray:
        """What these states break, where wanted; and the other properties whose bits are given."""
        bits = self.compiled.invariants | more_bits
        wanted = np.ones(len(rows), np.uint8) if wanted is None else wanted.astype(np.uint8)
        if not bits or not wanted.any():
            return np.zeros(len(rows), np.int64)
        return self._run(self.compiled.check, rows, wanted, bits)

    def _failed_steps(
        self, before: np.ndarray, rows: np.ndarray, parent_of: np.ndarray
    ) -> np.ndarray:
        """What the steps from before[parent_of[k]] to rows[k] break."""
        found, check = np.zeros(len(rows), np.int64), self.compiled.check_steps
        if check is not None:
            wanted, bits = np.ones(len(rows), np.uint8), self.compiled.step_invariants
            failed = self._run(check, rows, wanted, bits, before, parent_of)
            for number, bit in zip(self._number_of_steps, self._bit_of_steps, strict=True):
                found |= (failed >> bit & 1) << number
        return found

    def _no_violations(self) -> list[int]:
        return [0] * self._number_of_steps.stop

    def _count(self, broken: np.ndarray, report: Report) -> None:
        """Count how often each invariant does not hold."""
        counts = [int((broken >> k & 1).sum()) for k in range(self._number_of_steps.stop)]
        report.violating = sums(report.violating, counts)

    def _find(
        self, rows: np.ndarray, parents: np.ndarray, broken: np.ndarray, report: Report
    ) -> None:
        """Put the smallest finding among these states into the report."""
        places = np.flatnonzero(broken)
        if len(places):
            bits = broken[places]
            first = np.bitwise_count((bits & -bits) - 1)  # the number of the lowest bit
            prints = fingerprints(rows[places])
            k = np.lexsort((parents[places], first, prints))[0]
            row = rows[places[k]].tobytes().hex()
            parent = int(parents[places[k]])
            report.found(Finding(True, int(prints[k]), int(first[k]), parent, row))

    def start(self, rows: np.ndarray, owners: int, report: Report) -> Iterator[Parcel]:
        """The same for the initial states."""
        report.violating = self._no_violations()
        parents, actions = np.zeros(len(rows), np.uint64), np.full(len(rows), -1)
        try:
            inside = self.inside(rows)
            outside = self.failed(rows, inside == 0)
        except _CannotCheck as fault:
            report.over = rows[fault.at].tobytes().hex()
            return
        self._find(rows, parents, outside, report)
        candidates = OutgoingCandidates(self.model.words)
        candidates.add(rows, len(rows), inside, parents, actions)
        yield from self._parcels(candidates, owners, report)

    # --- Second stage -----------------------------------------------------------------------

    def settle(
        self,
        before: VisitedRuns,
        after: VisitedRuns,
        owner: int,
        parcels: Iterable[Parcel],
        reached: int,
        report: Report,
    ) -> Iterator[Block]:
        """The states among the candidates that the owner has not seen, by fingerprint.

        They are checked, and finally entered into the owner's visited set. `reached`: the expected
        situations that a state of an earlier level has, as bits; they are not evaluated any more.
        """
        report.violating = self._no_violations()
        seen = before.of(owner, after.partitions)
        prints = [np.empty(0, np.uint64)]
        with UnvisitedCandidates(self.model.words, [run for _, run in seen]) as unseen:
            for parcel in parcels:
                unseen.add(parcel)
            for block in unseen.settled(after.depth):
                self._inspect(block, self.compiled.expected & ~reached, report)
                prints.append(block.fingerprints)
                yield block
        after.add(owner, np.concatenate(prints), seen)

    def _inspect(self, new: Block, expected: int, report: Report) -> None:
        """Check and count new states; `expected`: the expected situations to evaluate, as
        bits."""
        report.new += len(new)
        try:
            failed = self.failed(new.rows, more_bits=expected)
        except _CannotCheck as fault:
            report.over = new.rows[fault.at].tobytes().hex()
            return
        lacking = int(np.bitwise_and.reduce(failed, initial=-1))
        report.reached |= expected & ~lacking
        broken = failed & self.compiled.invariants
        self._count(broken, report)
        self._find(new.rows, new.parents, broken, report)

    def edges(self, block: Block) -> Iterator["Edges"]:
        """All transitions from these states, some at a time. Only for states that were expanded
        before, so that nothing can go wrong."""
        begin = 0
        while begin < len(block):
            end, found = min(begin + _CHUNK, len(block)), self._found
            done, count = found.fill(self.compiled, block.rows, begin, end)
            if done == begin:
                self._make_more_room()
                continue
            rows, before = found.out[:count].copy(), found.parent_of[:count].copy()
            violated = self._failed_steps(block.rows, rows, before) >> self._number_of_steps.start
            inside = self.inside(rows)
            yield Edges(before, found.action_of[:count].copy(), rows, inside, violated)
            begin = done


class Edges(NamedTuple):
    """Transitions: parallel arrays over them.

    before: the position in its block of the state that they start from; rows: the states that they
    lead to; inside: are these inside the constraint? violated: a bit for each of the request's
    step invariants that the transition breaks.
    """

    before: np.ndarray
    actions: np.ndarray
    rows: np.ndarray
    inside: np.ndarray
    violated: np.ndarray
