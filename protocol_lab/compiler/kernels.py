"""The compiled loops of one model: they expand states, and evaluate their properties.

The loops themselves are the same for every spec (`loops`); what they call is generated
(`code_generation`) and compiled (`building`) action by action and property by property.

They work on uint64 arrays (rows, words per row).
"""

from collections.abc import Callable
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from protocol_lab.compiler import loops
from protocol_lab.compiler.building import Builder, Watch
from protocol_lab.compiler.code_generation import (
    Piece,
    action_piece,
    first_guards,
    guards_piece,
    predicate_piece,
    property_piece,
)
from protocol_lab.model.spec import Model, Property, Situation
from protocol_lab.model.temporal_formulas import keys_of

_NO_VALUES = np.empty(0, np.int64)

FAILS, STEP_FAILS = "len(function(s, c)) != 0", "len(function(earlier, s, c)) != 0"
"""Does a property of a state, or of a step, not hold?"""


class Kernels:
    """The compiled loops of one model, each made when it is first needed.

    watch: see `building.Watch`. Compiling can be interrupted.
    """

    def __init__(self, model: Model, watch: Watch = lambda *_: None):
        self.model = model
        self._builder = Builder(model, watch)

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on compiling, or loading, so far."""
        return self._builder.seconds

    def of_search(
        self, properties: list[Property], step_properties: list[Property]
    ) -> tuple[Callable, Callable, Callable | None]:
        """`expand`, for steps as the spec's fairness tells them apart, and two functions (rows,
        count, wanted, constants, enabled, failed, before, parent_of): compiled in one go, so that
        no core waits between.

        For rows[k] with wanted[k], the first of the two sets bit i of failed[k] if properties[i] is
        in the bitmask `enabled` and does not hold. The second does the same for properties of the
        step to a row from before[parent_of[k]]; None if there are none.
        """
        spec = self.model.spec
        keys = [keys_of(each.name, spec.fairness) for each in spec.actions]
        pieces = [
            self._pieces(keys),
            [property_piece(each, FAILS) for each in properties],
            [property_piece(each, STEP_FAILS) for each in step_properties],
        ]
        addresses = self._builder.addresses([*chain.from_iterable(pieces)])
        actions, states, steps = np.split(addresses, np.cumsum([*map(len, pieces)])[:2])
        check_steps = self._check(steps) if step_properties else None
        return self._expand(keys, actions), self._check(states), check_steps

    def expand(self, keys: list[tuple[str, ...]]) -> Callable:
        """A function (rows, begin, end, constants, out, parent_of, action_of, multiplicity_of,
        degree_of, progress, key_of=None): see `loops.expand`.

        keys[k]: the parameters, or fields of a message parameter, that distinguish the k-th
        action's steps; their values are written into the rows of key_of (int64, 2-dimensional).
        """
        return self._expand(keys, self._builder.addresses(self._pieces(keys)))

    def _expand(self, keys: list[tuple[str, ...]], addresses: np.ndarray) -> Callable:
        width = max(map(len, keys), default=0)
        loop = self._builder.loop(loops.expand, loops.EXPAND)

        def expand(*arguments: Any, key_of: np.ndarray | None = None) -> tuple[int, int]:
            if key_of is None:
                out = arguments[4]
                key_of = np.empty((len(out) if width else 0, width), np.int64)
            try:
                return loop(*arguments, key_of, addresses, loops.new_table())
            except loops.NotRefused:
                addresses[:] = self._builder.addresses(self._pieces(keys, whole=True))
            return loop(*arguments, key_of, addresses, loops.new_table())

        return expand

    def _pieces(self, keys: list[tuple[str, ...]], whole: bool = False) -> list[Piece]:
        """The actions, each with the parameters that distinguish its steps.

        Where a constant seems to rule one out, only the guards that say so, unless it is to be
        whole: the rest of it is compiled if they are wrong.
        """
        model = self.model
        return [
            action_piece(model, action, key)
            if whole or guards is None
            else guards_piece(model, action, guards)
            for action, key, guards in zip(model.spec.actions, keys, self._guards, strict=True)
        ]

    @cached_property
    def _guards(self) -> list[Callable | None]:
        """For each action: see `first_guards`."""
        constants = self.model.constants
        return [first_guards(each.function, constants) for each in self.model.spec.actions]

    def check_predicate(self, predicate: Callable) -> Callable:
        """As the first check of `of_search`, for one function (s, c) that is true or false."""
        return self._check(self._builder.addresses([property_piece(Situation(predicate), "")]))

    def _check(self, addresses: np.ndarray) -> Callable:
        loop = self._builder.loop(loops.check, loops.CHECK)

        def check(
            rows, count, wanted, constants, enabled, found, before, parent_of, values=_NO_VALUES
        ) -> None:
            loop(
                rows, count, wanted, constants, values, enabled, found, before, parent_of,
                addresses, loops.new_table(),
            )  # fmt: skip

        return check

    def judge(self, predicates: list[Callable], parameters: list[str]) -> Callable:
        """A function (rows, constants, values) -> an array whose bit i tells whether predicates[i]
        is true of a row.

        parameters: the names, beside s and c, that the predicates may take, in the order of values.
        """
        pieces = [predicate_piece(each, parameters) for each in predicates]
        check = self._check(self._builder.addresses(pieces))

        def judge(rows, constants, values) -> np.ndarray:
            count, every = len(rows), np.ones(len(rows), np.uint8)
            found, nowhere = np.zeros(count, np.int64), np.zeros(count, np.int64)
            check(rows, count, every, constants, -1, found, rows, nowhere, values)
            return found

        return judge

    def identify(
        self, functions: dict[str, Callable], source: str, called: dict[str, Any]
    ) -> Callable:
        """The loop that finds a state's key; its source and what it calls come from
        `state_identity`."""
        piece = Piece("identify", source, functions, acts="erase", kind="identify", called=called)
        return self._builder.built(piece)


def constants_array(model: Model) -> np.ndarray:
    """The constants as the array that the kernels take."""
    return np.array([int(value) for value in model.constants], np.int64)


# --- Expansion ------------------------------------------------------------------------------------
#
# Runs a compiled loop over a range of states, up to one that can't be computed.
#
# A loop raises where something can't be computed: a step does not fit into the declared storage, or
# an expression has no value, or a function fails. The functions here then process the states before
# that one. The error's message is found by repeating the state in plain Python.
#
# The loop over actions also stops before a state whose successors do not fit into the buffer; if it
# has expanded nothing, the buffer is too small even for one state.


class SuccessorBuffer:
    """Room for the successors of some states, filled by the compiled loop over actions.

    By successor: `out`, the row; parent_of, the position of the state that it follows; action_of;
    multiplicity_of, how often TLC counts it; key_of, the keys that tell an action's steps apart, if
    there are any. By state: degree_of, the number of successors. progress: see `loops.expand`.
    """

    def __init__(self, room: int, words: int, states: int, keys: int | None = None):
        self.out = np.empty((room, words), np.uint64)
        self.parent_of, self.action_of, self.multiplicity_of = (
            np.zeros(room, np.int64) for _ in "123"
        )
        self.key_of = None if keys is None else np.zeros((room, keys), np.int64)
        self.degree_of = np.zeros(states, np.int64)
        self.progress = np.zeros(1, np.int64)

    def fill(self, compiled: Any, rows: np.ndarray, begin: int, end: int) -> tuple[int, int]:
        """Expand rows[begin:end], as many as there is room for: (where it ended, successors).

        compiled: has the loop `expand`, and the `constants`.
        """
        return compiled.expand(
            rows, begin, end, compiled.constants, self.out, self.parent_of,
            self.action_of, self.multiplicity_of, self.degree_of, self.progress, key_of=self.key_of,
        )  # fmt: skip


def grown(array: np.ndarray, size: int, fill: int | None = None) -> np.ndarray:
    """The array with this many rows; new rows have the value `fill`, or any if that is None."""
    larger = np.empty((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    if fill is not None:
        larger[len(array) :] = fill
    return larger


def expand_some(
    begin: int,
    end: int,
    run: Callable[[int, int], tuple[int, int]],
    progress: Callable[[], np.ndarray],
    enlarge: Callable[[], bool | None],
) -> tuple[int, int]:
    """Expand the rows [begin, end), or the first of them: (where it ended, how many successors).

    It ends at `begin` if a step of that state itself can't be computed. run: the compiled loop on
    [begin, end), which returns the same pair; progress: gives the array with the row it was at;
    enlarge: makes more room for candidates, or returns False, which also ends it.
    """
    while True:
        try:
            done, count = run(begin, end)
        except MemoryError:
            raise
        except Exception:
            end = int(progress()[0])  # first the states before the one that stopped it
            if end == begin:
                return begin, 0
            continue
        if done > begin:
            return done, count
        if enlarge() is False:
            return begin, 0


def check_some(count: int, run: Callable[[int], None]) -> int:
    """Check the first `count` rows, or those before the first that can't be: how many these are.

    run(n) is the compiled loop on the first n rows, which raises if one of them can't be checked.
    """
    if _runs(run, count):
        return count
    fine, end = 0, count  # the first `fine` rows can be checked, not so the first `end`
    while end - fine > 1:
        middle = (fine + end) // 2
        if _runs(run, middle):
            fine = middle
        else:
            end = middle
    run(fine)  # for what it writes
    return fine


def check_all(count: int, wanted: np.ndarray, run: Callable[[int], None]) -> list[int]:
    """Check those of the first `count` rows that can be checked; returns the others.

    As `check_some`; run(n) leaves out what is not wanted, and these are not wanted from now on.
    """
    faulty: list[int] = []
    while (fine := check_some(count, run)) < count:
        faulty.append(fine)
        wanted[fine] = 0
    return faulty


def _runs(run: Callable[[int], None], count: int) -> bool:
    try:
        run(count)
    except MemoryError:
        raise
    except Exception:
        return False
    return True
