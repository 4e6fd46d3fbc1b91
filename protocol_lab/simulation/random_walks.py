"""Random walks, many at a time: the compiled part of a simulation.

Some hundred walkers take a step together. A search's kernels find all possible steps of each; one
of them is drawn (`bias`), and the search's checks judge the state after it. So a simulation
compiles nothing that a search does not.

A walk depends only on the seed and its number, since it draws from a stream of its own. (With the
bias "rare" it also depends on the other walks of its batch.) A batch always has the same walks, and
batches are counted by number, so the outcome does not depend on the number of threads.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from protocol_lab.checker.compiled_model import CompiledModel
from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.compiler.kernel_cache import kernel
from protocol_lab.compiler.kernels import SuccessorBuffer, check_all
from protocol_lab.model.parameters import Domain, drawn
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import Attempt, initial
from protocol_lab.simulation.simulation_request import BIASES, SimulationRequest

# --- Bias -----------------------------------------------------------------------------------------
#
# The biases of a simulation: how a random walk draws its next step, compiled.
#
# Uniform walks are all alike. What is possible at every step (losing a message, giving up,
# beginning an election) happens early in nearly all of them, and what needs a long stretch without
# it never happens. Swarm testing (Groce, Zhang, Eide, Chen and Regehr, "Swarm Testing", 2012)
# chooses a random set of features for each test and leaves the others out, so that tests differ
# more from each other. Here each walk draws its own weights:
#
# - Each action has a weight between 1 and 1/256. No action is left out entirely, so that a walk
# does   not get stuck for lack of one that the others wait for. - Among an action's steps it draws
# evenly, or prefers the first, or the last. The first are those   with the smallest numbers and
# nodes, and with the empty subset: a walk that prefers first choices   loses few messages, one that
# prefers the last ones loses nearly all.
#
# Each walk draws from a random stream of its own, and its weights come from the same seed: so a
# walk does not depend on the others, nor on the machine.


_STEPS, _ACTIONS, _RARE, _SWARM = range(4)

_WEIGHTS = 5
"""How many different weights of actions there are: 1, 1/4, ... 1/256."""


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def next_random(chance, k) -> int:
    """The next 64 bits of stream k (SplitMix64)."""
    chance[k] += np.uint64(0x9E3779B97F4A7C15)
    mixed = chance[k]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel()
def streams(seed, numbers) -> np.ndarray:
    """The initial values of these walks' random streams."""
    found, own = np.empty(numbers.shape[0], np.uint64), np.empty(1, np.uint64)
    for k in range(numbers.shape[0]):
        own[0] = seed
        own[0] = next_random(own, 0) ^ np.uint64(numbers[k])
        found[k] = next_random(own, 0)
    return found


@kernel()
def draw(chance, among) -> np.ndarray:
    """One of `among` for every stream."""
    found = np.empty(chance.shape[0], np.int64)
    for k in range(chance.shape[0]):
        found[k] = np.int64(next_random(chance, k) % np.uint64(among))
    return found


@kernel()
def fraction(chance, k) -> float:
    """The next number of stream k, in [0, 1)."""
    return (next_random(chance, k) >> np.uint64(11)) / 9007199254740992.0


@kernel()
def pick(
    rows, out, parent_of, action_of, written, begin, end, chance, weight_seed, bias, taken, after,
    alive, picked,
) -> None:  # fmt: skip
    """Draw a successor for each of the walkers [begin, end) and write it to `after`.

    rows: the walkers' states. out[:written]: their successors, in the order of walkers and, for
    each, of actions. picked: the position of the drawn one among the walker's; alive: was there
    one? bias: an index into BIASES.
    """
    first = 0
    for walker in range(begin, end):
        last = first
        while last < written and parent_of[last] == walker:
            last += 1
        chosen = -1
        if bias == _SWARM:
            chosen = pick_weighted(rows, out, action_of, first, last, chance, weight_seed, walker)
        elif last > first:
            chosen_from, chosen_to = first, last
            if bias != _STEPS:
                chosen_from, chosen_to = pick_action(
                    action_of, first, last, chance, walker, bias, taken
                )
            among = np.uint64(chosen_to - chosen_from)
            chosen = chosen_from + np.int64(next_random(chance, walker) % among)
        if chosen >= 0:
            for word in range(out.shape[1]):
                after[walker, word] = out[chosen, word]
            taken[action_of[chosen]] += 1
            alive[walker] = 1
            picked[walker] = chosen - first
        first = last


@kernel()
def pick_action(action_of, first, last, chance, walker, bias, taken) -> tuple[int, int]:
    """The range of one action's successors within [first, last), drawn by the actions' weights."""
    total, k = 0.0, first
    while k < last:
        total += 1.0 if bias == _ACTIONS else 1.0 / (1.0 + taken[action_of[k]])
        action = action_of[k]
        while k < last and action_of[k] == action:
            k += 1
    point = fraction(chance, walker) * total
    begin = end = first
    while end < last and (end == first or point >= 0.0):
        begin, action = end, action_of[end]
        point -= 1.0 if bias == _ACTIONS else 1.0 / (1.0 + taken[action])
        while end < last and action_of[end] == action:
            end += 1
    return begin, end


@kernel()
def pick_weighted(rows, out, action_of, first, last, chance, weight_seed, walker) -> int:
    """One of the successors [first, last) that differ from the walker's state; -1 if none does.

    Among the actions that change the state it takes the one with the highest score u ** (1 /
    weight), u being random in [0, 1): so each is chosen in proportion to its weight (Efraimidis and
    Spirakis).
    """
    best, chosen, k = -1.0, -1, first
    while k < last:
        begin, leading_on = k, 0
        while k < last and action_of[k] == action_of[begin]:
            leading_on += leads_on(rows, out, walker, k)
            k += 1
        if leading_on == 0:
            continue
        bits = weight_bits(weight_seed, walker, action_of[begin])
        score = fraction(chance, walker) ** (4.0 ** (bits % np.uint64(_WEIGHTS)))
        if score > best:
            best = score
            skip = place(fraction(chance, walker), bits, leading_on)
            chosen = begin
            while skip > 0 or not leads_on(rows, out, walker, chosen):
                skip -= leads_on(rows, out, walker, chosen)
                chosen += 1
    return chosen


@kernel()
def leads_on(rows, out, walker, k) -> bool:
    """Does successor k differ from the walker's state?"""
    for word in range(out.shape[1]):
        if out[k, word] != rows[walker, word]:
            return True
    return False


@kernel()
def weight_bits(weight_seed, walker, action) -> int:
    """64 random bits for a walker and an action, always the same, from which its weight is made."""
    own = np.empty(1, np.uint64)
    own[0] = weight_seed[walker] ^ np.uint64(action + 1)
    return next_random(own, 0)


@kernel()
def place(point, bits, count) -> int:
    """One of 0..count-1, from a number in [0, 1): evenly, or with a preference for the first or
    last.

    Half of all walks' preferences are for the first ones, which do the least harm, a quarter for
    the last.
    """
    kind = (bits >> np.uint64(32)) % np.uint64(4)
    if kind == 1 or kind == 2:
        point = point**3
    if kind == 3:
        point = 1.0 - point**3
    return min(np.int64(point * count), count - 1)


# --- Random walks ---------------------------------------------------------------------------------


TOGETHER = 2048
"""Walks in a batch, unless they are very long."""

_CHUNK = 512
"""Walkers whose successors are computed at a time: few enough to fit into the processor's cache."""

_VISITS = 1 << 21
"""The most states that the walks of a batch visit, since something is kept of each."""

STARTS = 4_000
"""The most initial states in which walks begin: all of them, or this many drawn at random."""


@dataclass
class Violating:
    """A walk that met a violation: the steps it drew (positions among the successors), its initial
    state, and the invariant's name."""

    drawn: list[int]
    start: int
    name: str


@dataclass
class Batch:
    """The outcome of the walks [first, first + count).

    visits: the fingerprints of the states, a row for each walk, 0 after its end. at_depth[k]: the
    walks that took k steps or more. taken: steps by action. cut: how many walks ended since
    something could not be computed, in cut_at first. sample: one of the states after 0, 1, ...
    steps.
    """

    first: int
    count: int
    visits: np.ndarray
    at_depth: np.ndarray
    taken: np.ndarray
    violating: Violating | None = None
    cut: int = 0
    cut_at: bytes | None = None
    sample: list[bytes] = field(default_factory=list)


class Walks:
    """All walks of one simulation. `batch(k)` may be called from several threads at once."""

    def __init__(self, model: Model, request: SimulationRequest):
        self.model, self.request, self.steps = model, request, request.steps
        self.seed, self.bias = request.seed, BIASES.index(request.bias)
        self.compiled = CompiledModel(
            model,
            request.invariants,
            request.step_invariants,
            request.constraint,
            watch=request.compiling,
        )
        self.starts = list(islice(initial(model), STARTS + 1))
        self.are_starts_drawn = len(self.starts) > STARTS
        if self.are_starts_drawn:
            self.starts = _drawn_starts(model, self.seed) or self.starts
        self.start_rows = np.array([np.frombuffer(each.row, np.uint64) for each in self.starts])
        self.size = max(1, min(TOGETHER, _VISITS // (self.steps + 1)))
        began = time.perf_counter()
        self.batch(0, 1, lambda: False)  # compiles what is not compiled yet
        self.compile_seconds = self.compiled.compile_seconds + time.perf_counter() - began

    def batch(self, number: int, count: int, stopped: Callable[[], bool]) -> Batch:
        """Take the walks of a batch to their ends, or until `stopped`."""
        return _BatchOfWalks(self, number * self.size, count).run(stopped)


class _BatchOfWalks:
    """The walkers that have not ended; arrays have them in the order of their numbers."""

    def __init__(self, walks: Walks, first: int, count: int):
        self.walks, words = walks, walks.model.words
        actions = len(walks.model.spec.actions)
        self.numbers = np.arange(first, first + count)
        self.chance = streams(np.uint64(walks.seed & (2**64 - 1)), self.numbers)
        self.weight_seed = self.chance.copy()
        self.start = draw(self.chance, len(walks.starts))
        self.rows = walks.start_rows[self.start]
        self.drawn = np.zeros((count, walks.steps), np.int32)
        depths = np.zeros(walks.steps + 1, np.int64)
        visits = np.zeros((count, walks.steps + 1), np.uint64)
        self.result = Batch(first, count, visits, depths, np.zeros(actions, np.int64))
        self.found = SuccessorBuffer(8 * min(count, _CHUNK), words, _CHUNK)

    def run(self, stopped: Callable[[], bool]) -> Batch:
        """Step by step until all have ended."""
        ended = self._look(None, 0)
        for depth in range(1, self.walks.steps + 1):
            if self.result.violating is not None or stopped():
                return self.result
            before = self._keep(~ended)
            if not len(self.numbers):
                return self.result
            alive = self._step(depth)
            before = before[alive]
            self._keep(alive)
            ended = self._look(before, depth)
        return self.result

    def _keep(self, which: np.ndarray) -> np.ndarray:
        """Continue with these walkers only; returns their states."""
        if which.all():
            return self.rows
        self.numbers, self.start = self.numbers[which], self.start[which]
        self.chance, self.weight_seed = self.chance[which], self.weight_seed[which]
        self.rows = self.rows[which]
        return self.rows

    def _look(self, before: np.ndarray | None, depth: int) -> np.ndarray:
        """Note and check the walkers' states; returns which are outside the constraint."""
        compiled, count, result = self.walks.compiled, len(self.numbers), self.result
        failed, failed_steps = np.zeros(count, np.int64), np.zeros(count, np.int64)
        outside = np.zeros(count, np.int64)
        result.at_depth[depth] += count
        result.sample += [row.tobytes() for row in self.rows[:1]]
        result.visits[self.numbers - result.first, depth] = fingerprints(self.rows)
        faulty: set[int] = set()
        if bits := compiled.invariants | compiled.constraints:
            faulty |= self._check(compiled.check, bits, failed, self.rows)
        if compiled.check_constraint is not None:
            faulty |= self._check(compiled.check_constraint, 1, outside, self.rows)
        if compiled.check_steps is not None and before is not None:
            bits = compiled.step_invariants
            faulty |= self._check(compiled.check_steps, bits, failed_steps, before)
        broken = np.flatnonzero(failed & compiled.invariants | failed_steps)
        if len(broken):
            self._note_violation(int(broken[0]), failed, failed_steps, depth)
        outside |= failed & compiled.constraints
        ended = outside != 0
        for at in sorted(faulty):
            self._end_walk((self.rows if before is None else before)[at])
            ended[at] = True
        return ended

    def _check(
        self, check: Callable, bits: int, failed: np.ndarray, before: np.ndarray
    ) -> set[int]:
        """Fill in `failed`; returns the walkers for which that can't be computed."""
        wanted, own = np.ones(len(failed), np.uint8), np.arange(len(failed))
        constants = self.walks.compiled.constants
        return set(
            check_all(
                len(failed),
                wanted,
                lambda count: check(self.rows, count, wanted, constants, bits, failed, before, own),
            )
        )

    def _end_walk(self, row: np.ndarray) -> None:
        """End a walk in this state, because something can't be computed there or one step
        further."""
        self.result.cut += 1
        self.result.cut_at = self.result.cut_at or row.tobytes()

    def _note_violation(
        self, at: int, failed: np.ndarray, failed_steps: np.ndarray, depth: int
    ) -> None:
        name = next(
            name
            for name, (is_of_steps, bit) in self.walks.compiled.places.items()
            if (failed_steps if is_of_steps else failed)[at] >> bit & 1
        )
        drawn = self.drawn[self.numbers[at] - self.result.first, :depth].tolist()
        self.result.violating = Violating(drawn, int(self.start[at]), name)

    def _step(self, depth: int) -> np.ndarray:
        """Take a step with every walker; returns which of them could."""
        count, begin = len(self.numbers), 0
        alive = np.zeros(count, np.uint8)
        after = np.empty_like(self.rows)
        picked = np.zeros(count, np.int32)
        while begin < count:
            begin = self._step_some(begin, min(begin + _CHUNK, count), after, alive, picked)
        taken = alive == 1
        self.drawn[self.numbers[taken] - self.result.first, depth - 1] = picked[taken]
        self.rows = after
        return taken

    def _step_some(
        self,
        begin: int,
        end: int,
        after: np.ndarray,
        alive: np.ndarray,
        picked: np.ndarray,
    ) -> int:
        """Take a step with the walkers from `begin` on, as many as there is room for; returns where
        they end."""
        walks, found, full = self.walks, self.found, -1
        try:
            done, written = found.fill(walks.compiled, self.rows, begin, end)
        except MemoryError:
            raise
        except Exception:  # whatever it is: the message is found uncompiled
            done = full = int(found.progress[0])
            written = int(found.degree_of[: full - begin].sum())
        if done == begin and full < 0:  # one state has more successors than fit
            self.found = SuccessorBuffer(2 * len(found.out), self.rows.shape[1], _CHUNK)
            return begin
        pick(
            self.rows, found.out, found.parent_of, found.action_of, written, begin, done,
            self.chance, self.weight_seed, walks.bias, self.result.taken, after, alive, picked,
        )  # fmt: skip
        if full < 0:
            return done
        alive[full] = 2
        self._end_walk(self.rows[full])
        return full + 1


def _drawn_starts(model: Model, seed: int) -> list[Attempt]:
    """Initial states whose choices were drawn at random, if there are too many to take all."""
    chance = random.Random(seed)

    def one(name: str, domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
        return iter(drawn(domain, scope, chance))

    return [each for _ in range(STARTS) for each in initial(model, offered=one)]
