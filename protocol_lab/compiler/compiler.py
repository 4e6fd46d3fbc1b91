"""Compiles plain functions, and hashes everything that the machine code depends on.

Actions are plain Python functions that call other plain functions. `Compiler.compiled` gives the
Numba version of one: its syntax tree is rewritten (`rewriting`), and all that it calls is compiled
the same way, except the functions that `operations` has versions of.
"""

import ast
import inspect
from collections.abc import Callable, Collection
from typing import Any

import numba
import numpy as np

from protocol_lab.compiler import code_generation, effects, inner_functions, loops, rewriting
from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.operations import (
    bags,
    constants_record,
    integers,
    lists,
    lookups,
    records,
    slots,
    unchanged,
)
from protocol_lab.compiler.unsupported_syntax import refuse
from protocol_lab.errors import Fault, LabError
from protocol_lab.language import arithmetic, loop_bound, node_sets
from protocol_lab.language.dependencies import (
    fields_read,
    is_plain,
    reachable,
    source_hash,
)
from protocol_lab.language.hashing import short_hash
from protocol_lab.language.source_code import code_of_file, parse, without_annotations
from protocol_lab.spec import named_values, set_syntax
from protocol_lab.spec.layout import Struct, StructLayout
from protocol_lab.spec.layouts_in_code import Layouts

_OWN = {
    **{
        name: getattr(records, name)
        for name in (
            *("get_item", "set_field", "set_item", "as_number"),
            *("equal", "unequal", "contained"),
        )
    },
    **integers.COMPILED_OPERATIONS,
    "_new_list": lists.new_list,
    "_watched": unchanged.watched,
    "Fault": Fault,
}
"""The functions that rewritten code calls by their names."""

_COMPILED_WITH = (
    *(
        arithmetic,
        bags,
        constants_record,
        effects,
        inner_functions,
        integers,
        lists,
        lookups,
        loop_bound,
        loops,
    ),
    *(named_values, node_sets, code_generation, records, rewriting, set_syntax, slots),
    unchanged,
)

_VERSIONS = (
    numba.__version__,
    np.__version__,
    *(code_of_file(each.__file__) for each in _COMPILED_WITH),
    code_of_file(__file__),
)
"""What all machine code depends on: versions, and the compiler's own sources without comments and
docstrings, so that after most updates of the kit the cached kernels are still found."""


def _as_compiled(value: Any) -> Any:
    """The compiled version that there is of a plain function; anything else as it is."""
    return lookups.COMPILED_APART.get(value, value) if inspect.isfunction(value) else value


class Compiler:
    """Compiles the functions of one model, each function once."""

    def __init__(
        self,
        layout: StructLayout,
        constants: type,
        left_out: frozenset[str] = frozenset(),
    ):
        self.left_out = left_out  # constants that are 0, and what they would add is not compiled
        self._layouts = Layouts(layout, constants)
        choices = {name: each.choices for name, each in self._layouts.limits.items()}
        self._setting = short_hash(repr(layout), repr(constants._fields), repr(choices), *_VERSIONS)
        self.record = records.numba_type(layout)
        self.state_at = records.make_state_at(self.record)
        self.constants_at = constants_record.make_constants_at(constants._fields)
        self._done: dict[int, Any] = {}
        self._running: set[int] = set()

    def hash_of(self, functions: list[Callable], *more: str) -> str:
        """A hash of everything that the machine code of these functions depends on."""
        fields = set().union(*(fields_read(each.__code__) for each in reachable(functions)))
        return source_hash(functions, self._setting, sorted(self.left_out & fields), *more)

    def compiled(self, function: Callable) -> Any:
        """The Numba version of a plain function (compiled when it is first called)."""
        key = id(function)
        if key in self._done:
            return self._done[key]
        if key in self._running:
            raise LabError(f"{function.__qualname__} calls itself; write it as a loop instead.")
        self._running.add(key)
        tree = without_annotations(parse(function))
        refuse(function, tree)
        tree, extra, names = rewriting.rewritten(
            function, tree, self.left_out, self.constructor, self._layouts
        )
        _refuse_own_names(function, names)
        module = ast.fix_missing_locations(ast.Module([*extra, tree], []))
        used = {each.id for each in ast.walk(module) if isinstance(each, ast.Name)}
        scope = {
            name: self.compiled(value) if is_plain(value) else _as_compiled(value)
            for name, value in names.items()
            if name in used
        }
        scope.update(__name__=__name__, **_OWN)
        exec(compile(module, inspect.getfile(function), "exec"), scope)
        own_hash = self.hash_of([function])
        for each in (*extra, tree):
            _name_apart(scope[each.name], f"{function.__module__}.{function.__name__}", own_hash)
        for helper in extra:
            scope[helper.name] = inner(scope[helper.name])
        self._running.remove(key)
        self._done[key] = inner(scope[tree.name])
        return self._done[key]

    def constructor(self, declared: type[Struct], fields: tuple[str, ...]) -> Any:
        """A compiled function that makes a record of a Struct class with these fields set."""
        if declared not in self._layouts.structs:
            name = declared.__name__
            if name in [each.__name__ for each in self._layouts.structs]:
                raise LabError(f"{name} was declared again: run the cell of the state again, too.")
            raise LabError(f"{name} is no part of this spec's state.")
        record = records.numba_type(self._layouts.structs[declared])
        return records.make_constructor(record, fields)


def _refuse_own_names(function: Callable, names: Collection[str]) -> None:
    """Raise LabError if the function, which reads these names, uses one of rewritten code."""
    code = function.__code__
    for name in (*names, *code.co_varnames, *code.co_cellvars):
        if name in _OWN or name in rewriting.GENERATED_NAMES:
            raise LabError(
                f"{function.__qualname__} can't be compiled with the name {name}, which compiled"
                " code uses itself: give it another one."
            )


def _name_apart(function: Callable, place: str, own_hash: str) -> None:
    """Give a function a name of its own in the machine code.

    Machine code from the cache is linked by names, so functions of the same name that different
    processes have compiled must have the same code. So the name contains the function's place and a
    hash.
    """
    function.__qualname__ = f"{place}.{function.__name__}_{own_hash}"
