"""The compiled actions and properties of a model, the bits that stand for its properties, and its
initial states.

Every search over compiled code uses it: the native engine, the successor graph of distances,
simulation, and the tasks on Spark.

Plain Python makes the initial states, and tries some ten thousand choices a second. That is enough
for most specs; one that begins in every state of an invariant (Init = Inv, to see whether it is
inductive) has millions of choices. For the native engine the functions with `@spec.init` are then
compiled like actions: each value of the first parameter is a source, whose successors are the
initial states that begin with it. The order is that of `transitions.initial`, and what can't be
computed or compiled is left to it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from protocol_lab.compiler.building import Watch
from protocol_lab.compiler.expansion import SuccessorBuffer, expand_some
from protocol_lab.compiler.kernels import Kernels, constants_array
from protocol_lab.errors import LabError
from protocol_lab.model.parameters import Domain, number_of_values
from protocol_lab.model.spec import Action, Model, Property
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import start_text
from protocol_lab.model.transitions import Attempt, Offered, every_value, initial

MOST_PROPERTIES = 62
"""How many properties have a bit in a number of 64 bits, with one to spare and the sign."""

FEWEST = 20_000
"""From this many choices on it is sooner done in compiled code, which has to be compiled."""

MOST_FIRST = 20_000
"""The most values of the first parameter: the loop counts up to the wanted one each time."""

MOST_TOGETHER = 20_000_000
"""The most choices for one value of the first parameter: they take a second or two, in which the
search can't be interrupted."""

_TOGETHER = 1_000_000
"""About so many choices are tried at a time."""

_ROOM, _MOST_BYTES = 1 << 14, 64 << 20
"""How many rows there is room for at first, and the most memory that rows may take. If those with
one value of the first parameter take more, plain Python gives them one by one."""


class CompiledModel:
    """The functions of a model for one choice of what to check; see `Kernels` for their arguments.

    expand: takes all actions. check: evaluates the `properties` of a state, which are the chosen
    invariants, the expected situations and the constraints; check_steps: the spec's step
    invariants, or None if none is chosen. check_constraint and check_goal: the search's own
    conditions, in bit 0, or None. invariants, expected, constraints, step_invariants: their bits
    in the results. watch: see `building.Watch`. Raises LabError if something can't be compiled.
    """

    def __init__(
        self,
        model: Model,
        invariants: list[Property],
        step_invariants: list[Property],
        constraint: Callable[..., Any] | None = None,
        goal: Callable[..., Any] | None = None,
        watch: Watch = lambda *_: None,
    ):
        spec = model.spec
        self.model, self.constants = model, constants_array(model)
        self.kernels = kernels = Kernels(model, watch)
        self.properties = [*invariants, *spec.expected, *spec.constraints]
        if max(len(self.properties), len(spec.step_invariants)) > MOST_PROPERTIES:
            raise LabError(
                f"{spec.name} has more than {MOST_PROPERTIES} properties to check at once: name"
                " some of its invariants, as in invariants=[...] or --invariant."
            )
        kernels.prepare(self.properties, spec.step_invariants if step_invariants else [])
        self.expand = kernels.expand()
        self.check = kernels.check(self.properties)
        self.check_constraint = kernels.check_predicate(constraint) if constraint else None
        self.check_goal = kernels.check_predicate(goal) if goal else None
        self.check_steps = kernels.check_steps(spec.step_invariants) if step_invariants else None
        self.invariants = bits_of(self.properties, invariants)
        self.expected = bits_of(self.properties, spec.expected)
        self.constraints = bits_of(self.properties, spec.constraints)
        self.step_invariants = bits_of(spec.step_invariants, step_invariants)

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling, or loading, so far."""
        return self.kernels.compile_seconds


def bits_of(properties: list[Property], chosen: list[Property]) -> int:
    """The chosen properties as a bitmask, in which the first of all properties is bit 0."""
    return sum(1 << k for k, each in enumerate(properties) if each in chosen)


class InitialStates:
    """The initial states of a model. kernels: see `CompiledModel`."""

    def __init__(self, model: Model, kernels: Kernels):
        self.model, self.kernels = model, kernels

    def rows(self) -> Iterator[bytes]:
        """All of them, one at a time. Raises as `transitions.initial`."""
        for init in self.model.spec.inits:
            for turn, found in self._blocks(init):
                if isinstance(found, np.ndarray):
                    yield from (each.tobytes() for each in found)
                else:
                    yield from (each.row for each in self._plain(init, turn))

    def text_of(self, row: bytes) -> str | None:
        """The line init(...) that makes the first choice of this one; None if it is the only
        one."""
        for init in self.model.spec.inits:
            for turn, found in self._blocks(init):
                if isinstance(found, np.ndarray):
                    same = (found == np.frombuffer(row, np.uint64)).all(axis=1)
                    if not same.any():
                        continue
                    turn = int(turn[np.argmax(same)])
                for each in self._plain(init, turn):
                    if each.row == row:
                        return start_text(self.model, each)
        return None

    def _plain(self, init: Action, turn: int | None) -> Iterator[Attempt]:
        """Those of one function in plain Python: with one value of its first parameter, or all."""
        offered = every_value if turn is None else _only(init, turn)
        return initial(self.model, [init], offered)

    def _blocks(self, init: Action) -> Iterator[tuple[Any, np.ndarray | None]]:
        """The initial states by one function, in blocks: (the number of each one's first value,
        their rows). What plain Python has to find is (that number, or None for all; None)."""
        turns, choices = self._counts(init)
        start = None
        if choices >= FEWEST and turns <= MOST_FIRST and choices <= turns * MOST_TOGETHER:
            with suppress(LabError):  # it can't be compiled
                start = self.kernels.start(init)
        if start is None:
            yield None, None
            return
        constants, words = constants_array(self.model), self.model.words
        compiled = SimpleNamespace(expand=start, constants=constants)
        sources = np.zeros((turns, words), np.uint64)
        buffer = SuccessorBuffer(_ROOM, words, turns)

        def enlarge() -> bool:
            nonlocal buffer
            if 2 * buffer.out.nbytes > _MOST_BYTES:
                return False
            buffer = SuccessorBuffer(2 * len(buffer.out), words, turns)
            return True

        step, done = max(1, _TOGETHER * turns // choices), 0
        while done < turns:
            end, count = expand_some(
                done, min(done + step, turns),
                lambda begin, end: buffer.fill(compiled, sources, begin, end),
                lambda: buffer.progress,
                enlarge,
            )  # fmt: skip
            if end == done:  # one of them can't be computed, or they are too many
                yield done, None
            else:
                yield buffer.parent_of[:count], buffer.out[:count]
            done = max(end, done + 1)

    def _counts(self, init: Action) -> tuple[int, int]:
        """How many values the first parameter has, and about how many choices there are: where a
        domain depends on an earlier parameter, as many as with its first value."""
        counts = []
        scope = {"s": view(self.model.layout, bytes(self.model.layout.size))}
        scope["c"] = self.model.constants
        try:
            for name, domain in init.domains.items():
                counts.append(number_of_values(domain, scope))
                scope[name] = next(every_value(name, domain, scope), 0)
        except LabError:
            return 0, 0
        return (counts[0], prod(counts)) if counts else (1, 1)


def _only(init: Action, turn: int) -> Offered:
    """Offers one value of the first parameter, by its number, and all of the others."""
    first = next(iter(init.domains))

    def offered(name: str, domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
        found = every_value(name, domain, scope)
        return islice(found, turn, turn + 1) if name == first else found

    return offered
