"""Breadth-first search in this process, over the compiled loops of `kernels`.

Every level of the search is cut into chunks of states. A chunk is expanded, its successors are
checked against the constraint and entered into the table of fingerprints, and the new ones are
checked against the invariants, all in the order in which one state at a time would be handled: so
the counts at a stop are those of the plain algorithm in `reference`. Other cores expand the
next chunks meanwhile (`prefetch`).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.cross_check import compare
from protocol_lab.checker.defect_report import defect
from protocol_lab.checker.prefetch import Candidates, Prefetcher
from protocol_lab.checker.request import (
    GOAL,
    OUT_OF_MEMORY,
    SearchRequest,
    add_trace,
    is_inside,
    memory_reason,
)
from protocol_lab.checker.result import Result
from protocol_lab.compiler import fingerprint as table
from protocol_lab.compiler.expansion import check_some, expand_some, grown
from protocol_lab.errors import EvaluationError, SpecError
from protocol_lab.semantics.transitions import evaluate, evaluate_step, is_true, successors
from protocol_lab.spec.spec import Model
from protocol_lab.symmetry.permutations import erased
from protocol_lab.symmetry.state_identity import Identity
from protocol_lab.system.interrupts import deferred_interrupts
from protocol_lab.system.memory import allowed_bytes

_CHUNK = 1024
"""States expanded at a time: their successors fit into the processor's cache."""


@dataclass
class _Event:
    """Why the search stops: after candidate `at` of the chunk (or before it, for a deadlock).

    error: what it stops with, where a property can't be computed.
    """

    name: str
    at: int
    row: bytes
    parent: int
    error: Exception | None = None


class NativeSearch:
    """One search; `run` returns its result. Stored rows stay available in it."""

    def __init__(self, model: Model, request: SearchRequest):
        self.model, self.request = model, request
        self.compiled = CompiledModel(
            model,
            request.invariants,
            request.step_invariants,
            request.constraint,
            request.goal,
            request.compiling,
        )
        self.identity = Identity(self.compiled.kernels, request.symmetry, request.view)
        self.result = Result(model, "native", request.names)
        self.result.compile_seconds = self.compiled.compile_seconds
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self.properties, self.sometimes = self.compiled.properties, self.compiled.sometimes
        self.violating = dict.fromkeys(request.names, 0)
        self.actions = [each.name for each in model.spec.actions]
        self._allocate()

    def _allocate(self) -> None:
        words = self.model.words
        self.stored = 0
        self.store = np.empty((1 << 14, words), np.uint64)
        self.parents = np.empty(1 << 14, np.int64)
        self.table = np.zeros(1 << 16, np.uint64)
        self.prefetcher = Prefetcher(self.expand_into, words, _CHUNK)
        self.now = self.prefetcher.candidates()

    def expand_into(
        self, rows: np.ndarray, begin: int, end: int, into: Candidates
    ) -> tuple[int, int]:
        """Fill in the successors of rows[begin:end], as many as there is room for."""
        into.done, into.count = into.fill(self.compiled, rows, begin, end)
        return into.done, into.count

    def _make_larger(self, room: int) -> None:
        self.now = Candidates(room, self.model.words, _CHUNK)

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search. Never raises for an
        interruption or a bound: the result says what is known. Raises SpecError for a function that
        fails, and KitDefect where compiled and plain code disagree."""
        result, began = self.result, time.perf_counter()
        try:
            with deferred_interrupts() as self.interrupted:
                event = self._search(began)
            if event is None:
                result.exhaustive = True
            elif event.name:
                result.violated = event.name
                self._add_trace(event)
        except _Undecided as stop:
            result.undecided_reason = str(stop)
        except KeyboardInterrupt:
            result.undecided_reason = "interrupted"
        except MemoryError:
            result.undecided_reason = OUT_OF_MEMORY
        finally:
            self.prefetcher.close()
        result.seconds = time.perf_counter() - began
        self._finish()
        if not self.interrupted():
            compare(self)
        return result

    def _finish(self) -> None:
        result = self.result
        result.per_depth = [count for count in result.per_depth if count]
        result.states = self.store[: result.distinct]
        result.parents = self.parents[: result.distinct]
        result.never_reached = [
            each.name for k, each in enumerate(self.properties) if self.sometimes >> k & 1
        ]
        if self.request.to_the_end:
            result.violating = self.violating

    def _search(self, began: float) -> _Event | None:
        event = self._start(began)
        level_begin = 0
        while event is None:
            level_end = self.stored
            if level_begin == level_end:
                return None
            self.result.per_depth.append(0)
            begin = level_begin
            while begin < level_end and event is None:
                begin, event = self._chunk(begin, level_end)
                self._tell(began, level_end - begin + (self.stored - level_end))
            level_begin = level_end
        return event

    def _tell(self, began: float, frontier: int) -> None:
        """Say how far the search is. Raises _Undecided if it is not to go on."""
        if self.request.progress:
            self.request.progress(self.result, frontier, time.perf_counter() - began)
        if self.request.stopped and self.request.stopped():
            raise _Undecided("stopped")
        if self.interrupted():
            raise _Undecided("interrupted")

    def _start(self, began: float) -> _Event | None:
        """Enter the states to begin with; the uncompiled functions give the initial ones."""
        rows = self.request.first_rows(self.model)
        self.result.per_depth.append(0)
        event = None
        while event is None:
            part, error = _until_error(islice(rows, _CHUNK))
            if not part:
                _stop(error)
                return None
            for k, row in enumerate(part):
                self.now.out[k] = np.frombuffer(row, np.uint64)
            self.now.parent_of[: len(part)] = -1
            self.now.weight_of[: len(part)] = 1
            event = self._take_in(len(part), ["init"], None)
            if event is None:
                _stop(error)
            self._tell(began, self.stored)
        return event

    def _chunk(self, begin: int, level_end: int) -> tuple[int, _Event | None]:
        """Take in the next states of the level; the end of those, and what ends the search."""
        expanded = self.prefetcher.take(self.store, begin, level_end)
        if expanded is None:
            return self._expand_and_take_in(begin, min(begin + _CHUNK, level_end))
        self.prefetcher.give_back(self.now)
        self.now = expanded
        return self._take_in_chunk(begin)

    def _expand_and_take_in(self, begin: int, end: int) -> tuple[int, _Event | None]:
        done, _ = expand_some(
            begin, end,
            lambda begin, end: self.expand_into(self.store, begin, end, self.now),
            lambda: self.now.progress,
            lambda: self._make_larger(2 * len(self.now.out)),
        )  # fmt: skip
        return self._take_in_chunk(begin) if done > begin else (begin, self._last_state(begin))

    def _take_in_chunk(self, begin: int) -> tuple[int, _Event | None]:
        done, count = self.now.done, self.now.count
        dead = self._deadlock(begin, done)
        if dead is not None:
            count = int(np.searchsorted(self.now.parent_of[:count], dead))
        event = self._take_in(count, self.actions, self.store)
        if event is None and dead is not None:
            event = _Event("deadlock", -1, self._row(dead), int(self.parents[dead]))
        return done, event

    def _last_state(self, position: int) -> _Event:
        """Repeat a state uncompiled, up to its step that can't be computed: that has the words."""
        found, error = _until_error(successors(self.model, self._row(position)))
        if len(found) > len(self.now.out):
            self._make_larger(len(found))
        for k, each in enumerate(found):
            self.now.out[k] = np.frombuffer(each.row, np.uint64)
            self.now.action_of[k] = self.actions.index(each.action.name)
            self.now.weight_of[k] = each.multiplicity
        self.now.parent_of[: len(found)] = position
        event = self._take_in(len(found), self.actions, self.store)
        if event is None:
            _stop(error or defect(self.model, "the actions", self._row(position)))
        return event

    def _deadlock(self, begin: int, done: int) -> int | None:
        if not self.request.deadlock:
            return None
        dead = np.flatnonzero(self.now.degree_of[: done - begin] == 0)
        return begin + int(dead[0]) if len(dead) else None

    def _take_in(self, count: int, names: list[str], before: np.ndarray | None) -> _Event | None:
        """Store, check and count candidates [0, count); the first event ends the search."""
        self.now.inside[:count] = 1
        every, error = count, None
        if before is not None or self.request.starts is None:
            count = self._apply_constraints(count)
            if count < every:
                error = self._error_at(count, self._judge_inside, "a constraint")
        self._make_room(count)
        before_stored = self.stored
        prints, known = self.identity.prints(self.now.out, count, self.now.inside)
        if known < count:
            count = known
            error = self._error_at(count, lambda row: erased(self.model, row), "the view")
        handled, stored = table.insert(
            self.table, self.now.out, prints, count, self.now.inside, self.request.max_states,
            self.store, self.stored, self.parents, self.now.parent_of, self.now.verdicts,
        )  # fmt: skip
        event = self._check(handled, before)
        counted = handled if event is None else event.at + 1
        is_new = self.now.verdicts[:counted] == table.NEW
        new = int(np.count_nonzero(is_new))
        if self.sometimes and new:
            self.sometimes &= int(np.bitwise_and.reduce(self.now.failed[:counted][is_new]))
        self.stored = before_stored + new if event else stored
        per_action = np.bincount(
            self.now.action_of[:counted], weights=self.now.weight_of[:counted], minlength=len(names)
        )
        for name, more in zip(names, per_action, strict=False):
            self.result.per_action[name] += int(more)
        self.result.per_depth[-1] += new
        if event is not None and event.error is not None:
            _stop(event.error)
        if event is None and handled < count:
            raise _Undecided(f"more than {self.request.max_states:,} distinct states (max_states)")
        if event is None:
            _stop(error)
        return event

    def _error_at(self, at: int, judge: Callable[[bytes], Any], what: str) -> Exception:
        """What is raised by judging a candidate uncompiled, as it could not be judged compiled."""
        row = self.now.out[at].tobytes()
        try:
            judge(row)
        except (EvaluationError, SpecError) as error:
            return error
        return defect(self.model, what, row)

    def _judge_inside(self, row: bytes) -> bool:
        return is_inside(self.model, row, self.request.constraint)

    def _apply_constraints(self, count: int) -> int:
        """Tell which of the candidates [0, count) are inside; how many could be judged."""
        compiled = self.compiled
        for check, enabled in (
            (compiled.check, compiled.constraints),
            (compiled.check_constraint, 1),
        ):
            if check is None or not enabled:
                continue
            count = self._run(check, count, self.now.inside, enabled, self.now.failed, self.store)
            self.now.inside[:count] &= self.now.failed[:count] == 0
        return count

    def _run(
        self,
        check: Callable,
        count: int,
        wanted: np.ndarray,
        enabled: int,
        found: np.ndarray,
        before: np.ndarray,
    ) -> int:
        """Check the candidates [0, count); how many of them could be checked."""
        return check_some(
            count,
            lambda count: check(
                self.now.out, count, wanted, self.compiled.constants, enabled, found, before,
                self.now.parent_of,
            ),
        )  # fmt: skip

    def _check(self, count: int, before: np.ndarray | None) -> _Event | None:
        """Evaluate the properties on the states that count, and steps on all transitions."""
        now, could = self.now, count
        wanted = (now.verdicts[:count] != table.KNOWN).astype(np.uint8)
        compiled = self.compiled
        enabled = compiled.invariants | self.sometimes
        now.failed[:count] = 0
        if enabled:
            could = self._run(compiled.check, could, wanted, enabled, now.failed, self.store)
        now.reached[:count] = 0
        if compiled.check_goal is not None:
            could = self._run(compiled.check_goal, could, wanted, 1, now.reached, self.store)
            now.reached[:could] = wanted[:could] & (now.reached[:could] == 0)
        now.failed_steps[:count] = 0
        if compiled.check_steps is not None and before is not None:
            bits = compiled.step_invariants
            every = np.ones(count, np.uint8)
            could = self._run(compiled.check_steps, could, every, bits, now.failed_steps, before)
        event = self._first_event(could)
        if event is None and could < count:
            event = self._judged(could, count, before)
        return event

    def _judged(self, begin: int, count: int, before: np.ndarray | None) -> _Event | None:
        """Judge the candidates [begin, count) uncompiled, as the first can't be judged compiled.

        That one ends the search, unless it was a sometimes property that had been met by then.
        """
        is_new = self.now.verdicts[:count] == table.NEW
        met = ~int(np.bitwise_and.reduce(self.now.failed[:begin][is_new[:begin]], initial=-1))
        unmet = self.sometimes & ~met
        self.now.failed[begin:count] = 0
        self.now.failed_steps[begin:count] = self.now.reached[begin:count] = 0
        for at in range(begin, count):
            try:
                unmet = self._judge(at, unmet, before)
            except (EvaluationError, SpecError) as error:
                row, parent = self.now.out[at].tobytes(), int(self.now.parent_of[at])
                return _Event("", at, row, parent, error)
            event = self._first_event(at + 1, at)
            if event is not None:
                return event
        if unmet == self.sometimes:
            raise defect(self.model, "the properties", self.now.out[begin].tobytes())
        return None

    def _judge(self, at: int, unmet: int, before: np.ndarray | None) -> int:
        """Judge one candidate, in the order of the plain algorithm, up to its first violation.

        unmet: the sometimes properties to look at, as bits; returns those still unmet.
        """
        model, request, now = self.model, self.request, self.now
        row, verdict = now.out[at].tobytes(), now.verdicts[at]
        if verdict == table.NEW:
            now.failed[at] = unmet
            for k, each in enumerate(self.properties):
                if unmet >> k & 1 and not evaluate(model, row, each.function):
                    now.failed[at] &= ~(1 << k)
            unmet = int(now.failed[at])
        if verdict != table.KNOWN:
            for each in request.invariants:
                if evaluate(model, row, each.function):
                    now.failed[at] |= 1 << self.properties.index(each)
                    if not request.to_the_end:
                        return unmet
            if request.goal is not None and is_true(model, row, request.goal):
                now.reached[at] = 1
                return unmet
        for each in request.step_invariants if before is not None else ():
            earlier = before[now.parent_of[at]].tobytes()
            if evaluate_step(model, earlier, row, each.function):
                now.failed_steps[at] |= 1 << model.spec.step_invariants.index(each)
                if not request.to_the_end:
                    return unmet
        return unmet

    def _first_event(self, count: int, begin: int = 0) -> _Event | None:
        """The first violation among the candidates [begin, count)."""
        broken = begin + np.flatnonzero(
            self.now.failed[begin:count] & self.compiled.invariants
            | self.now.failed_steps[begin:count]
            | self.now.reached[begin:count]
        )
        event = None
        if len(broken):
            at = int(broken[0])
            named = (name for name in self.request.names if self._broken(name, count)[at])
            name = next(named, GOAL)
            event = _Event(name, at, self.now.out[at].tobytes(), int(self.now.parent_of[at]))
        if not self.request.to_the_end:
            return event
        self._count_violations(begin, count)
        if event is not None and self.result.violated is None:
            self.result.violated = event.name
            self._add_trace(event)
        return None

    def _broken(self, name: str, count: int) -> np.ndarray:
        """For each candidate, whether it breaks the invariant of this name."""
        for properties, failed in (
            (self.properties, self.now.failed),
            (self.model.spec.step_invariants, self.now.failed_steps),
        ):
            for k, each in enumerate(properties):
                if each.name == name:
                    return failed[:count] >> k & 1 == 1
        raise KeyError(name)

    def _count_violations(self, begin: int, count: int) -> None:
        """Add the new states that break an invariant, and the transitions that break a step's."""
        is_new = self.now.verdicts[begin:count] == table.NEW
        for each in self.request.invariants:
            broken = self._broken(each.name, count)[begin:]
            self.violating[each.name] += int((broken & is_new).sum())
        for each in self.request.step_invariants:
            self.violating[each.name] += int(self._broken(each.name, count)[begin:].sum())

    def _make_room(self, count: int) -> None:
        """Let the table and the store grow in large steps, and at the end as far as memory goes."""
        needed = self.stored + count
        if 2 * needed > len(self.table):
            factor = 4 if 8 * 4 * len(self.table) <= self._free_bytes() else 2
            self._check_memory(8 * factor * len(self.table))
            larger = np.zeros(factor * len(self.table), np.uint64)
            table.refill(larger, self.table)
            self.table = larger
        if needed > len(self.store):
            row = 8 * (self.model.words + 1)
            size = max(needed, min(2 * needed, self._free_bytes() // row))
            self._check_memory(row * size)
            self.store, self.parents = grown(self.store, size), grown(self.parents, size)

    @cached_property
    def _bound(self) -> int:
        return self.request.memory_bytes or allowed_bytes(None)

    def _free_bytes(self) -> int:
        """How much more the search may take, beside what it has."""
        return self._bound - self.store.nbytes - self.parents.nbytes - self.table.nbytes

    def _check_memory(self, more_bytes: int) -> None:
        if more_bytes > self._free_bytes():
            raise _Undecided(memory_reason(self._bound))

    def _row(self, position: int) -> bytes:
        return self.store[position].tobytes()

    def _add_trace(self, event: _Event) -> None:
        rows, position = [event.row], event.parent
        while position >= 0:
            rows.append(self._row(position))
            position = int(self.parents[position])
        rows.reverse()
        add_trace(self.result, rows, self.request)


class _Undecided(Exception):
    """The search ends without a verdict; the text says which bound was hit."""


def _until_error(items: Iterator[Any]) -> tuple[list[Any], Exception | None]:
    """The items up to the first that can't be computed, and what is wrong with that one."""
    found = []
    try:
        for each in items:
            found.append(each)
    except (EvaluationError, SpecError) as error:
        return found, error
    return found, None


def _stop(error: Exception | None) -> None:
    """End the search where something can't be computed; go on if there is no error."""
    if isinstance(error, EvaluationError):
        raise _Undecided(str(error)) from None
    if error is not None:
        raise error
