"""The compiled loops of one model: they expand states, and evaluate their properties.

The loops themselves are the same for every spec (`loops`); what they call is generated
(`code_generation`) and compiled (`building`) action by action and property by property.

They work on uint64 arrays (rows, words per row).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from protocol_lab.compiler import loops
from protocol_lab.compiler.building import Builder, Watch
from protocol_lab.compiler.code_generation import (
    Piece,
    action_piece,
    guards_piece,
    predicate_piece,
    property_piece,
)
from protocol_lab.compiler.effects import first_guards
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

    def prepare(self, properties: list[Property], step_properties: list[Property]) -> None:
        """Compile all actions and these properties in one go, so that no core waits between."""
        self._builder.addresses(
            [
                *self._first_pieces(self._keys()),
                *self._property_pieces(properties, FAILS),
                *self._property_pieces(step_properties, STEP_FAILS),
            ]
        )

    def _keys(self) -> list[tuple[str, ...]]:
        """For each action, the parameters by which the spec's fairness distinguishes its steps."""
        spec = self.model.spec
        return [keys_of(each.name, spec.fairness) for each in spec.actions]

    def expand(self, keys: list[tuple[str, ...]] | None = None) -> Callable:
        """A function (rows, begin, end, constants, out, parent_of, action_of, multiplicity_of,
        degree_of, progress, key_of=None): see `loops.expand`.

        keys[k]: the parameters, or fields of a message parameter, that distinguish the k-th
        action's steps; their values are written into the rows of key_of (int64, 2-dimensional). By
        default those that the spec's fairness distinguishes, so that a spec has one such function.
        """
        if keys is None:
            keys = self._keys()
        width = max(map(len, keys), default=0)
        addresses = self._builder.addresses(self._first_pieces(keys))
        loop = self._builder.loop(loops.expand, loops.EXPAND)

        def expand(*arguments: Any, key_of: np.ndarray | None = None) -> tuple[int, int]:
            if key_of is None:
                out = arguments[4]
                key_of = np.empty((len(out) if width else 0, width), np.int64)
            try:
                return loop(*arguments, key_of, addresses, loops.new_table())
            except loops.NotRefused:
                addresses[:] = self._builder.addresses(self._pieces(keys))
            return loop(*arguments, key_of, addresses, loops.new_table())

        return expand

    def _pieces(self, keys: list[tuple[str, ...]]) -> list[Piece]:
        """The actions, each with the parameters that distinguish its steps."""
        actions = self.model.spec.actions
        return [action_piece(self.model, *each) for each in zip(actions, keys, strict=True)]

    def _first_pieces(self, keys: list[tuple[str, ...]]) -> list[Piece]:
        """What is compiled of the actions before the search: where a constant seems to rule one
        out, only the guards that say so. The rest of it is compiled if they are wrong."""
        return [
            whole if guards is None else guards_piece(self.model, action, guards)
            for action, whole, guards in zip(
                self.model.spec.actions, self._pieces(keys), self._guards, strict=True
            )
        ]

    @cached_property
    def _guards(self) -> list[Callable | None]:
        """For each action: see `first_guards`."""
        constants = self.model.constants
        return [first_guards(each.function, constants) for each in self.model.spec.actions]

    def check(self, properties: list[Property]) -> Callable:
        """A function (rows, count, wanted, constants, enabled, failed, before, parent_of).

        For rows[k] with wanted[k], bit i of failed[k] is set if properties[i] is in the bitmask
        `enabled` and does not hold.
        """
        return self._check(properties, FAILS)

    def check_steps(self, properties: list[Property]) -> Callable:
        """The same for properties of the step to a row from before[parent_of[k]]."""
        return self._check(properties, STEP_FAILS)

    def check_predicate(self, predicate: Callable) -> Callable:
        """The same for one function (s, c) that is true or false."""
        return self._check([Situation(predicate)], "")

    def _check(self, properties: list[Property], fails: str) -> Callable:
        addresses = self._builder.addresses(self._property_pieces(properties, fails))
        loop = self._builder.loop(loops.check, loops.CHECK)

        def check(rows, count, wanted, constants, enabled, failed, before, parent_of) -> None:
            loop(
                rows, count, wanted, constants, _NO_VALUES, enabled, failed, before, parent_of,
                addresses, loops.new_table(),
            )  # fmt: skip

        return check

    def _property_pieces(self, properties: list[Property], fails: str) -> list[Piece]:
        return [property_piece(each, fails) for each in properties]

    def judge(self, predicates: list[Callable], parameters: list[str]) -> Callable:
        """A function (rows, constants, values) -> an array whose bit i tells whether predicates[i]
        is true of a row.

        parameters: the names, beside s and c, that the predicates may take, in the order of values.
        """
        addresses = self._builder.addresses(
            [predicate_piece(each, parameters) for each in predicates]
        )
        loop = self._builder.loop(loops.check, loops.CHECK)

        def judge(rows, constants, values) -> np.ndarray:
            count = len(rows)
            found, nowhere = np.zeros(count, np.int64), np.zeros(count, np.int64)
            loop(
                rows, count, np.ones(count, np.uint8), constants, values, -1, found, rows, nowhere,
                addresses, loops.new_table(),
            )  # fmt: skip
            return found

        return judge

    def identify(
        self, functions: dict[str, Callable], source: str, called: dict[str, Any]
    ) -> Callable:
        """The loop that finds a state's key; its source and what it calls come from
        `state_identity`."""
        return self._builder.built("identify", "identify", functions, source, called)


def constants_array(model: Model) -> np.ndarray:
    """The constants as the array that the kernels take."""
    return np.array([int(value) for value in model.constants], np.int64)
