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
from protocol_lab.spark.executor.task_reports import DEADLOCK, Finding, Report, TaskRequest, sums
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
    """The compiled kernels of a model with their buffers; a process needs only one."""

    def __init__(self, unpacked: UnpackedModel, task_request: TaskRequest):
        model = self.model = unpacked.model
        self.task_request = task_request
        spec = model.spec
        self.compiled = CompiledModel(
            model,
            [each for each in spec.invariants if each.name in task_request.invariants],
            [each for each in spec.step_invariants if each.name in task_request.step_invariants],
            unpacked.constraint,
            unpacked.goal,
        )
        self._bit_of = [
            next(k for k, each in enumerate(declared) if each.name == name)
            for names, declared in (
                (task_request.invariants, self.compiled.properties),
                (task_request.step_invariants, spec.step_invariants),
            )
            for name in names
        ]
        self._state_numbers = range(len(task_request.invariants))
        self._step_numbers = range(len(task_request.invariants), len(self._bit_of))
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
        report.violating = [0] * len(self._bit_of)
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
        if self.task_request.deadlock:
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
            self._count(steps, self._step_numbers, report)
            outside = self._failed(rows, inside == 0)
            goal = self._at_goal(rows, inside == 0)
        except _CannotCheck as fault:
            report.over = block.rows[found.parent_of[fault.at]].tobytes().hex()
            return begin
        self._find(rows, parents, outside, steps, goal, report)
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
        before, parent_of = (
            rows if before is None else before,
            failed if parent_of is None else parent_of,
        )
        could = check_some(
            len(rows),
            lambda count: check(
                rows, count, wanted, self.compiled.constants, bits, failed, before, parent_of
            ),
        )
        if could < len(rows):
            raise _CannotCheck(could)
        return failed

    def _failed(self, rows: np.ndarray, wanted: np.ndarray, more_bits: int = 0) -> np.ndarray:
        """The properties (bits) that do not hold in these states, where wanted."""
        bits = more_bits | sum(1 << self._bit_of[number] for number in self._state_numbers)
        if not bits or not wanted.any():
            return np.zeros(len(rows), np.int64)
        return self._run(self.compiled.check, rows, wanted.astype(np.uint8), bits)

    def _at_goal(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Where these states, if wanted, are what the search looks for (bool)."""
        if self.compiled.check_goal is None:
            return np.zeros(len(rows), bool)
        return wanted & (self._run(self.compiled.check_goal, rows, wanted.astype(np.uint8), 1) == 0)

    def _failed_steps(
        self, before: np.ndarray, rows: np.ndarray, parent_of: np.ndarray
    ) -> np.ndarray:
        if self.compiled.check_steps is None:
            return np.zeros(len(rows), np.int64)
        bits = sum(1 << self._bit_of[number] for number in self._step_numbers)
        return self._run(
            self.compiled.check_steps, rows, np.ones(len(rows), np.uint8), bits, before, parent_of
        )

    def _count(self, failed: np.ndarray, numbers: range, report: Report) -> None:
        """Count how often these invariants do not hold."""
        for number in numbers:
            report.violating[number] += int((failed >> self._bit_of[number] & 1).sum())

    def _find(
        self,
        rows: np.ndarray,
        parents: np.ndarray,
        failed: np.ndarray,
        failed_steps: np.ndarray,
        at_goal: np.ndarray,
        report: Report,
    ) -> None:
        """Put the smallest finding among these states into the report."""
        goal = len(self._bit_of)
        nothing = goal + 1
        first = np.where(at_goal, goal, nothing)
        for numbers, bits in (
            (reversed(self._step_numbers), failed_steps),
            (reversed(self._state_numbers), failed),
        ):
            for number in numbers:
                first[bits >> self._bit_of[number] & 1 == 1] = number
        broken = np.flatnonzero(first < nothing)
        if len(broken):
            prints = fingerprints(rows[broken])
            k = np.lexsort((parents[broken], first[broken], prints))[0]
            at = broken[k]
            row = rows[at].tobytes().hex()
            report.found(Finding(True, int(prints[k]), int(first[at]), int(parents[at]), row))

    def start(self, rows: np.ndarray, owners: int, report: Report) -> Iterator[Parcel]:
        """The same for the states to begin with: the initial ones as far as they are inside the
        constraint, or all that were given."""
        report.violating = [0] * len(self._bit_of)
        parents, actions = np.zeros(len(rows), np.uint64), np.full(len(rows), -1)
        try:
            inside = (
                np.ones(len(rows), np.uint8)
                if self.task_request.starts_given
                else self.inside(rows)
            )
            failed, goal = self._failed(rows, inside == 0), self._at_goal(rows, inside == 0)
        except _CannotCheck as fault:
            report.over = rows[fault.at].tobytes().hex()
            return
        self._find(rows, parents, failed, np.zeros_like(failed), goal, report)
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
        report.violating = [0] * len(self._bit_of)
        seen = before.of(owner, after.partitions)
        prints = [np.empty(0, np.uint64)]
        with UnvisitedCandidates(self.model.words, [run for _, run in seen]) as unseen:
            for parcel in parcels:
                unseen.add(parcel)
            for settled in unseen.settled():
                block = Block(after.depth, *settled)
                self._inspect(block, self.compiled.expected & ~reached, report)
                prints.append(block.fingerprints)
                yield block
        after.add(owner, np.concatenate(prints), seen)

    def _inspect(self, new: Block, expected: int, report: Report) -> None:
        """Check and count new states; `expected`: the expected situations to evaluate, as
        bits."""
        report.new += len(new)
        every = np.ones(len(new), bool)
        try:
            failed = self._failed(new.rows, every, expected)
            goal = self._at_goal(new.rows, every)
        except _CannotCheck as fault:
            report.over = new.rows[fault.at].tobytes().hex()
            return
        lacking = int(np.bitwise_and.reduce(failed, initial=-1))
        report.reached |= expected & ~lacking
        self._count(failed, self._state_numbers, report)
        self._find(new.rows, new.parents, failed, np.zeros_like(failed), goal, report)

    def violated_by(self, rows: np.ndarray) -> np.ndarray:
        """For each state a bit for each of the request's state invariants that it breaks."""
        failed = self._failed(rows, np.ones(len(rows), np.uint8))
        violated = np.zeros(len(rows), np.int64)
        for number in self._state_numbers:
            violated |= (failed >> self._bit_of[number] & 1) << number
        return violated

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
            failed = self._failed_steps(block.rows, rows, before)
            violated = np.zeros(count, np.int64)
            for k, number in enumerate(self._step_numbers):
                violated |= (failed >> self._bit_of[number] & 1) << k
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
