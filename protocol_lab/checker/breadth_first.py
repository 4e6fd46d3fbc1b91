"""The native engine: breadth-first search in this process, with the compiled loops of `kernels`.

Every level is cut into chunks of states, several of which are processed at once, on all cores
(`chunks`): expanded, entered into the visited set (`visited_set`), checked, and kept (`state_log`).
Then they are counted one after the other, in the order in which a search would handle one state at
a time. So the counts at a stop are those of the plain algorithm in `reference`.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from protocol_lab.checker.chunks import MOST_SUCCESSORS, Chunk, Workers, tally
from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.checker.counterexample import add_trace
from protocol_lab.checker.cross_check import compare, spread
from protocol_lab.checker.disagreement import beyond_compiled, repeating
from protocol_lab.checker.request import (
    GOAL,
    SearchRequest,
    Undecided,
    ending,
    memory_reason,
    too_many_states,
)
from protocol_lab.checker.result import Result
from protocol_lab.checker.state_log import MOST_STEPS, StateLog, chunk_states
from protocol_lab.checker.visited_set import KNOWN, NEW, OUTSIDE, PARTITIONS, VisitedSet
from protocol_lab.compiler.kernels import check_some, expand_some
from protocol_lab.errors import EvaluationError, SpecError
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate_step, fails, is_inside, is_true, successors
from protocol_lab.symmetry.state_identity import Identity
from protocol_lab.symmetry.symmetry_check import erased
from protocol_lab.system.memory import Budget, allowed_bytes
from protocol_lab.system.process import deferred_interrupts

TOO_MANY_STEPS = (
    f"more than {MOST_STEPS:,} steps are possible in one state: lower the constants that bound"
    " the parameters of actions"
)
"""Why a search is undecided at such a state."""


@dataclass
class _Event:
    """The reason why the search stops: after candidate `at` of the chunk (or before it, for a
    deadlock).

    parent: the position of the state that it was found from, or -1. error: the error to stop with,
    if a property can't be computed.
    """

    name: str
    at: int
    row: bytes
    parent: int
    error: Exception | None = None


class NativeSearch:
    """One search; `run` returns its result. The states found are in `log`."""

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
        self.properties, self.expected = self.compiled.properties, self.compiled.expected
        self._unmet = self.expected  # of those to evaluate in this level, what no state has yet
        self.violating = dict.fromkeys(request.names, 0)
        self.actions = [each.name for each in model.spec.actions]
        self.budget = Budget(allowed_bytes(request.memory_gib))
        self.log = StateLog(model, request, self.budget)
        self.visited = VisitedSet(self.budget)
        self.workers = Workers()
        self._is_constrained = bool(self.compiled.constraints) or request.constraint is not None
        self._states = chunk_states(model.words)
        self._room = 8 * self._states
        self._free: list[Chunk] = []
        self._ahead: list[tuple[Chunk, Future[None]]] = []
        self._with_too_many_steps: set[int] = set()

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search. Never raises for an
        interruption or a bound: the result says what is known. Raises SpecError for a function that
        fails, and KitDefect where compiled and plain code disagree."""
        result = self.result
        with ending(result), closing(self.workers):
            with deferred_interrupts() as self.interrupted:
                event = self._search()
            if event is None:
                result.exhaustive = True
            else:
                result.violated = event.name
                self._add_trace(event)
        self._finish()
        if not self.interrupted() and result.undecided_reason != "stopped":
            states = (self.log.row(at) for at in spread(result.distinct))
            compare(self.compiled, self.request, result, states)
        self.log.close()
        return result

    def _finish(self) -> None:
        result = self.result
        result.per_depth = [count for count in result.per_depth if count]
        result.memory_bytes = self.budget.most
        result.log = self.log
        result.never_reached = [
            each.name for k, each in enumerate(self.properties) if self._unmet >> k & 1
        ]
        if self.request.to_the_end:
            result.violating = self.violating

    def _search(self) -> _Event | None:
        event = self._start()
        level_begin = 0
        while event is None:
            level_end = self.log.stored
            if level_begin == level_end:
                return None
            self.result.per_depth.append(0)
            self.expected = self._unmet
            begin = level_begin
            while begin < level_end and event is None:
                begin, event = self._some_chunks(begin, level_end)
                self._report(self.log.stored - begin)
            level_begin = level_end
        return event

    def _report(self, frontier: int) -> None:
        """Report the progress. Raises Undecided if the search was stopped or interrupted."""
        self.request.report(self.result, frontier)
        if self.interrupted():
            raise Undecided("interrupted")

    def _start(self) -> _Event | None:
        """Enter the initial states, or the given ones."""
        rows = self.request.first_rows(self.model)
        self.result.per_depth.append(0)
        event, made = None, 0
        while event is None:
            part, error = _until_error(islice(rows, self._states))
            if part:
                chunk = self._chunk_of(part, 0, 1, -1)
                chunk.rows, chunk.base, chunk.begin = chunk.out, 0, -1
                event = self._process(chunk, -1 - made)
                made += len(part)
            if event is None and error is not None:
                raise error
            if not part:
                break
            self._report(self.log.stored)
        return event

    def _chunk_of(self, rows: list[bytes], actions: Any, multiplicities: Any, parent: int) -> Chunk:
        """A chunk with these candidates, found uncompiled."""
        chunk, count = self._new_chunk(), len(rows)
        if count > len(chunk.out):
            chunk.enlarge(count)
        chunk.out[:count] = np.frombuffer(b"".join(rows), np.uint64).reshape(
            count, self.model.words
        )
        chunk.action_of[:count], chunk.multiplicity_of[:count] = actions, multiplicities
        chunk.parent_of[:count] = parent
        chunk.count = count
        return chunk

    def _some_chunks(self, begin: int, level_end: int) -> tuple[int, _Event | None]:
        """Process the next chunks of the level; returns where they end, and what ends the
        search."""
        batch = self._expanded(begin, level_end)
        if begin in self._with_too_many_steps:
            raise Undecided(TOO_MANY_STEPS)
        if not batch:
            return begin, self._last_state(begin)
        checks = self._start_checks(batch)
        if self.workers.threads > 1 and batch[-1].is_whole:
            self._expand_ahead(batch[-1].done, level_end)
        begin, event = batch[-1].done, self._count_all(batch, checks)
        self.log.release(begin)
        return begin, event

    def _expanded(self, begin: int, level_end: int) -> list[Chunk]:
        """The next chunks, expanded; none if a step from the first state can't be computed.

        All but the last are whole chunks.
        """
        if not self._ahead or self._ahead[0][0].begin != begin:
            self._drop_ahead()
            self._expand_ahead(begin, level_end)
        batch: list[Chunk] = []
        for chunk, future in self._ahead:
            future.result()
            if chunk.done > chunk.begin:
                batch.append(chunk)
            if chunk.done < chunk.end:
                self._room = min(2 * self._room, MOST_SUCCESSORS * self._states)
            if not chunk.is_whole:
                break
        del self._ahead[: len(batch)]
        self._drop_ahead()
        return batch

    def _expand_ahead(self, begin: int, level_end: int) -> None:
        """Begin to expand the next chunks of the level, as many as are processed at once."""
        chunks: list[Chunk] = []
        while begin < level_end and len(chunks) < self.workers.batch:
            chunk = self._new_chunk()
            end = begin - begin % self._states + self._states
            chunk.begin, chunk.end = begin, min(end, level_end)
            chunk.rows, chunk.base = self.log.segment(begin)
            chunks.append(chunk)
            begin = chunk.end
        futures = self.workers.start([partial(self._expand, each) for each in chunks])
        self._ahead = list(zip(chunks, futures, strict=True))

    def _drop_ahead(self) -> None:
        for chunk, future in self._ahead:
            future.exception()
            self._free.append(chunk)
        self._ahead = []

    def _new_chunk(self) -> Chunk:
        while self._free:
            found = self._free.pop()
            if len(found.out) >= self._room:
                return found
        return Chunk(self._room, self.model.words)

    def _expand(self, chunk: Chunk) -> None:
        """Find the successors of a chunk's states, and their fingerprints."""
        done, chunk.count = expand_some(
            chunk.begin - chunk.base, chunk.end - chunk.base,
            lambda begin, end: chunk.fill(self.compiled, chunk.rows, begin, end),
            lambda: chunk.progress,
            lambda: self._enlarge(chunk),
        )  # fmt: skip
        chunk.done = chunk.base + done
        self._identify(chunk)

    def _enlarge(self, chunk: Chunk) -> bool:
        """Make room for more steps of the chunk's first state; False if it has too many."""
        most = MOST_STEPS + 2  # the loop works in two further rows
        if len(chunk.out) >= most:
            self._with_too_many_steps.add(chunk.begin)
            return False
        chunk.enlarge(min(2 * len(chunk.out), most))
        return True

    def _identify(self, chunk: Chunk) -> None:
        """Evaluate the constraints, and compute the fingerprints of the candidates."""
        count = chunk.count
        if self._is_constrained:
            chunk.inside[:count] = 1
        if chunk.begin >= 0 or self.request.starts is None:
            count = self._apply_constraints(chunk, count)
        prints, chunk.judged = self.identity.prints(chunk.out, count, chunk.inside)
        chunk.is_faulty_view = chunk.judged < count
        chunk.prints = prints
        chunk.verdicts[:count] = KNOWN
        if self._is_constrained:
            chunk.verdicts[:count][chunk.inside[:count] == 0] = OUTSIDE

    def _process(self, chunk: Chunk, source: int) -> _Event | None:
        """Enter, check and count a chunk that was found uncompiled; `source`: see
        `StateLog.add`."""
        self._identify(chunk)
        return self._count_all([chunk], self._start_checks([chunk]), source)

    def _start_checks(self, batch: list[Chunk]) -> list[Future[None]]:
        """Enter the chunks into the visited set, and begin to check and keep the new states."""
        self._enter(batch)
        tasks, at = [], self.log.stored
        for chunk in batch:
            tasks.append(partial(self._check_and_keep, chunk, at, self.expected))
            at += chunk.new
        return self.workers.start(tasks)

    def _enter(self, batch: list[Chunk]) -> None:
        """Enter the candidates into the visited set, each thread into partitions of its own."""
        threads = self.workers.threads if len(batch) > 1 else 1
        edges = [PARTITIONS * k // threads for k in range(threads + 1)]
        entered = self.workers.run(
            [partial(self._enter_own, batch, first, last) for first, last in pairwise(edges)]
        )
        for chunk, handled in zip(batch, zip(*entered, strict=True), strict=True):
            chunk.entered = min(count for count, _ in handled)
            chunk.new = sum(new for _, new in handled)
        has_room = self.log.make_room(sum(each.new for each in batch))
        if not has_room or any(each.entered < each.judged for each in batch):
            self._limit_to_room(batch)

    def _limit_to_room(self, batch: list[Chunk]) -> None:
        """If memory has run out, note which candidates there was room for."""
        room = self.log.room
        for chunk in batch:
            places = np.flatnonzero(chunk.verdicts[: chunk.entered] == NEW)
            if len(places) > room:
                chunk.entered = int(places[room])
            chunk.new = min(len(places), room)
            room -= chunk.new

    def _enter_own(self, batch: list[Chunk], first: int, last: int) -> list[tuple[int, int]]:
        """Enter the candidates of some partitions; returns for each chunk how many were handled,
        and how many of them are new."""
        handled, going = [], True
        for each in batch:
            entered = 0, 0
            if going:
                entered = self.visited.enter(first, last, each.prints, each.judged, each.verdicts)
            handled.append(entered)
            going = going and entered[0] == each.judged
        return handled

    def _check_and_keep(self, chunk: Chunk, at: int, expected: int) -> None:
        """Evaluate invariants on the new states and step invariants on all transitions; keep the
        new states, beginning at a position of the log.

        expected: the expected situations that were not reached so far, as bits.
        """
        count, compiled = chunk.entered, self.compiled
        if chunk.new:
            self.log.write(
                at, chunk.out, chunk.parent_of, chunk.begin - chunk.base, chunk.verdicts, count
            )
        wanted = (chunk.verdicts[:count] != KNOWN).astype(np.uint8)
        enabled, could = compiled.invariants | expected, count
        chunk.failed[:count] = 0
        if enabled:
            could = self._run(compiled.check, chunk, could, wanted, enabled, chunk.failed)
        if compiled.check_goal is not None:
            could = self._run(compiled.check_goal, chunk, could, wanted, 1, chunk.reached)
            chunk.reached[:could] = wanted[:could] & (chunk.reached[:could] == 0)
        if compiled.check_steps is not None:
            bits, every = compiled.step_invariants, np.ones(count, np.uint8)
            chunk.failed_steps[:count] = 0
            if chunk.begin >= 0:
                found = chunk.failed_steps
                could = self._run(compiled.check_steps, chunk, could, every, bits, found)
        chunk.checked = could
        chunk.new, chunk.unmet, chunk.per_action = self._tally(chunk, count)

    def _tally(self, chunk: Chunk, count: int) -> tuple[int, int, np.ndarray]:
        """A summary of the candidates [0, count): that of `chunks.tally`, and how many steps each
        action took."""
        per_action = np.zeros(len(self.actions) + 1, np.int64)
        new, unmet, chunk.broken = tally(
            chunk.verdicts, chunk.action_of, chunk.multiplicity_of, chunk.failed,
            chunk.failed_steps, chunk.reached, self.compiled.invariants, count, per_action,
        )  # fmt: skip
        return new, unmet, per_action

    def _count_all(
        self, batch: list[Chunk], checks: list[Future[None]], source: int | None = None
    ) -> _Event | None:
        """Count the chunks in their order; the first event ends the search."""
        for each in checks:
            each.exception()
        event = None
        for chunk, check in zip(batch, checks, strict=True):
            check.result()
            event = self._count(chunk, chunk.begin if source is None else source)
            if event is not None:
                break
        self._free += batch
        return event

    def _count(self, chunk: Chunk, source: int) -> _Event | None:
        """Count the candidates of a chunk, up to the first event."""
        self.now, count, ending = chunk, chunk.count, None
        dead = self._deadlock(chunk)
        if dead is not None:
            count = int(np.searchsorted(chunk.parent_of[:count], dead - chunk.base))
        if chunk.judged < count:
            count, ending = chunk.judged, self._why_not_judged(chunk)
        if chunk.entered < count:
            count, ending = chunk.entered, Undecided(memory_reason(self.budget.bound))
        room = self.request.max_states - self.log.stored
        if chunk.new > room:
            new = np.flatnonzero(chunk.verdicts[:count] == NEW)
            if len(new) > room:
                count, ending = int(new[room]), too_many_states(self.request.max_states)
        event = self._event(chunk, count)
        counted = count if event is None else event.at + 1
        new, unmet, per_action = chunk.new, chunk.unmet, chunk.per_action
        if counted < chunk.entered or chunk.checked < chunk.entered:
            new, unmet, per_action = self._tally(chunk, counted)
        self._unmet &= unmet
        self.log.add(new, source)
        self.result.per_depth[-1] += new
        names = ["init"] if chunk.begin < 0 else self.actions
        for name, more in zip(names, per_action, strict=False):
            self.result.per_action[name] += int(more)
        error = ending if event is None else event.error
        if error is not None:
            raise error
        if event is None and dead is not None:
            event = _Event("deadlock", -1, self.log.row(dead), self.log.parent(dead))
        return event

    def _deadlock(self, chunk: Chunk) -> int | None:
        """The position of the first state of a chunk where a run is stuck, if deadlocks are
        checked."""
        if not self.request.deadlock or chunk.begin < 0:
            return None
        stuck = np.flatnonzero(chunk.degree_of[: chunk.done - chunk.begin] == 0)
        return chunk.begin + int(stuck[0]) if len(stuck) else None

    @repeating()
    def _why_not_judged(self, chunk: Chunk) -> Exception:
        """The error in the first candidate whose constraints, or view, can't be computed."""
        row = chunk.out[chunk.judged].tobytes()
        try:
            if chunk.is_faulty_view:
                erased(self.model, row)
            else:
                is_inside(self.model, row, self.request.constraint)
        except (EvaluationError, SpecError) as error:
            return error
        return beyond_compiled()

    @repeating()
    def _last_state(self, position: int) -> _Event:
        """Repeat a state uncompiled, up to its step that can't be computed, for the error's
        message."""
        row = self.log.row(position)
        found, error = _until_error(successors(self.model, row))
        if len(found) > MOST_STEPS:
            raise Undecided(TOO_MANY_STEPS)
        rows, base = self.log.segment(position)
        chunk = self._chunk_of(
            [each.row for each in found],
            [self.actions.index(each.action.name) for each in found],
            [each.multiplicity for each in found],
            position - base,
        )
        chunk.begin, chunk.end, chunk.done = position, position + 1, position + 1
        chunk.rows, chunk.base, chunk.degree_of[0] = rows, base, 1
        event = self._process(chunk, position)
        if event is None:
            raise error or beyond_compiled()
        return event

    def _apply_constraints(self, chunk: Chunk, count: int) -> int:
        """Mark which of the candidates [0, count) are inside the constraints; returns how many
        could be judged."""
        compiled = self.compiled
        for check, enabled in (
            (compiled.check, compiled.constraints),
            (compiled.check_constraint, 1),
        ):
            if check is None or not enabled:
                continue
            count = self._run(check, chunk, count, chunk.inside, enabled, chunk.failed)
            chunk.inside[:count] &= chunk.failed[:count] == 0
        return count

    def _run(
        self,
        check: Callable,
        chunk: Chunk,
        count: int,
        wanted: np.ndarray,
        enabled: int,
        found: np.ndarray,
    ) -> int:
        """Check the candidates [0, count); returns how many of them could be checked."""
        return check_some(
            count,
            lambda count: check(
                chunk.out, count, wanted, self.compiled.constants, enabled, found, chunk.rows,
                chunk.parent_of,
            ),
        )  # fmt: skip

    def _event(self, chunk: Chunk, count: int) -> _Event | None:
        """The first violation among the candidates [0, count), or the first that can't be
        evaluated."""
        if not chunk.broken and chunk.checked >= count:
            return None
        could = min(chunk.checked, count)
        event = self._first_event(could)
        if event is None and could < count:
            event = self._judged(could)
        return event

    @repeating()
    def _judged(self, at: int) -> _Event:
        """Judge the candidate on which compiled code fails. It ends the search: by a violation, or
        since it can't be computed."""
        self.now.failed[at] = self.now.failed_steps[at] = self.now.reached[at] = 0
        try:
            self._judge(at)
            error = None
        except (EvaluationError, SpecError) as raised:
            error = raised
        event = self._first_event(at + 1, at)
        if event is None or error is not None:
            error = error or beyond_compiled()
            event = _Event("", at, self.now.out[at].tobytes(), self._parent(at), error)
        return event

    def _judge(self, at: int) -> None:
        """Judge one candidate uncompiled, in the order of the reference engine, up to its first
        violation."""
        model, request, now = self.model, self.request, self.now
        row, verdict = now.out[at].tobytes(), now.verdicts[at]
        if verdict == NEW:
            unmet = self.expected
            now.failed[at] = unmet  # none is reached if one of them can't be computed
            for k, each in enumerate(self.properties):
                if self.expected >> k & 1 and not fails(model, row, each):
                    unmet &= ~(1 << k)
            now.failed[at] = unmet
        if verdict != KNOWN:
            for each in request.invariants:
                if fails(model, row, each):
                    now.failed[at] |= 1 << self.properties.index(each)
                    if not request.to_the_end:
                        return
            if request.goal is not None and is_true(model, row, request.goal):
                now.reached[at] = 1
                return
        for each in request.step_invariants if now.begin >= 0 else ():
            earlier = now.rows[now.parent_of[at]].tobytes()
            if evaluate_step(model, earlier, row, each.function):
                now.failed_steps[at] |= 1 << model.spec.step_invariants.index(each)
                if not request.to_the_end:
                    return

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
            event = _Event(name, at, self.now.out[at].tobytes(), self._parent(at))
        if not self.request.to_the_end:
            return event
        self._count_violations(begin, count)
        if event is not None and self.result.violated is None:
            self.result.violated = event.name
            self._add_trace(event)
        return None

    def _broken(self, name: str, count: int) -> np.ndarray:
        """For each candidate, whether it breaks the invariant of this name."""
        is_of_steps, bit = self.compiled.places[name]
        failed = self.now.failed_steps if is_of_steps else self.now.failed
        return failed[:count] >> bit & 1 == 1

    def _count_violations(self, begin: int, count: int) -> None:
        """Count the new states that break an invariant, and the transitions that break a step
        invariant."""
        is_new = self.now.verdicts[begin:count] == NEW
        for name, (is_of_steps, _) in self.compiled.places.items():
            broken = self._broken(name, count)[begin:]
            self.violating[name] += int((broken if is_of_steps else broken & is_new).sum())

    def _parent(self, at: int) -> int:
        """The position of the state that a candidate was found from, or -1."""
        return self.now.base + int(self.now.parent_of[at])

    def _add_trace(self, event: _Event) -> None:
        rows = self.log.path(event.parent) if event.parent >= 0 else []
        rows.append(event.row)
        add_trace(self.result, rows, self.request)


def _until_error(items: Iterator[Any]) -> tuple[list[Any], Exception | None]:
    """The items up to the first that can't be computed, and the error of that one."""
    found = []
    try:
        for each in items:
            found.append(each)
    except (EvaluationError, SpecError) as error:
        return found, error
    return found, None
