"""Compiles plain functions, and hashes everything that the machine code depends on.

Actions are plain Python functions that call other plain functions. `Compiler.compiled` gives the
Numba version of one: its syntax tree is rewritten (`rewriting`), and all that it calls is compiled
the same way, except the functions that `operations` has versions of.
"""

import ast
import copy
import inspect
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numba
import numpy as np

from protocol_lab.compiler import rewriting
from protocol_lab.compiler.code_generation import with_depths
from protocol_lab.compiler.inner_functions import inner
from protocol_lab.compiler.operations import bags, integers, lookups, records
from protocol_lab.errors import Fault, LabError
from protocol_lab.model import node_sets
from protocol_lab.model.layout import Struct, StructLayout
from protocol_lab.reader import layouts_in_code, named_values, value_flow
from protocol_lab.reader.dependencies import short_hash, source_hash
from protocol_lab.reader.layouts_in_code import Layouts
from protocol_lab.reader.reading import reading
from protocol_lab.reader.source_code import code_of_file, is_plain, names_read, without_annotations
from protocol_lab.reader.unsupported_syntax import refuse
from protocol_lab.reader.value_flow import ValueFlow

_OWN = {
    **{
        name: getattr(records, name)
        for name in (
            *("get_item", "set_field", "set_item", "as_number"),
            *("equal", "unequal", "contained"),
        )
    },
    **integers.COMPILED_OPERATIONS,
    "_new_list": integers.new_list,
    "_noted": bags.noted,
    "_expect_noted": bags.expect_noted,
    "_asked": records.asked,
    "Fault": Fault,
}
"""The functions that rewritten code calls by their names."""

_VERSIONS = (
    numba.__version__,
    np.__version__,
    *(code_of_file(str(each)) for each in sorted(Path(__file__).parent.rglob("*.py"))),
    *(
        code_of_file(each.__file__)
        for each in (named_values, value_flow, layouts_in_code, node_sets)
    ),
)
"""What all machine code depends on: versions, and the compiler's own sources without comments and
docstrings, so that after most updates of the kit the cached kernels are still found."""


def _as_compiled(value: Any) -> Any:
    """The compiled version that there is of a plain function; anything else as it is."""
    return lookups.COMPILED_APART.get(value, value) if inspect.isfunction(value) else value


class Compiler:
    """Compiles the functions of one model, each function once."""

    def __init__(self, layout: StructLayout, constants: type):
        self._layouts = Layouts(layout, constants)
        self._flow = ValueFlow(self._layouts)
        choices = {name: each.choices for name, each in self._layouts.limits.items()}
        self._setting = short_hash(repr(layout), repr(constants._fields), repr(choices), *_VERSIONS)
        self.record = records.numba_type(layout)
        self.state_at = records.make_state_at(self.record)
        self.constants_at = records.make_constants_at(constants._fields)
        self._done: dict[tuple, Any] = {}
        self._running: set[tuple] = set()

    def hash_of(self, functions: list[Callable], *more: str) -> str:
        """A hash of everything that the machine code of these functions depends on."""
        return source_hash(functions, self._setting, *more)

    def compiled(self, function: Callable, parameters: tuple[str, ...] | None = None) -> Any:
        """The Numba version of a plain function (compiled when it is first called).

        parameters: given for an action, whose answer then is a number: 0 if it was taken, else 1
        more than the number of these parameters that the refusal depends on.
        """
        key = id(function), parameters
        if key in self._done:
            return self._done[key]
        if key in self._running:
            raise LabError(f"{function.__qualname__} calls itself; write it as a loop instead.")
        self._running.add(key)
        refuse(function)
        apart = copy.deepcopy(reading(function).apart)
        body, tree = self._flow.follow_entry(function, apart), without_annotations(apart)
        if parameters is not None:
            with_depths(tree, parameters, names_read(function))
            tree.body += ast.parse(_NOTHING_RETURNED).body
        tree, extra, names = rewriting.rewritten(function, tree, self.constructor, body)
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
        own_hash = self.hash_of([function], *(parameters or ()))
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


_NOTHING_RETURNED = "raise TypeError"
"""The end of an action: a step that gets there returns nothing, and is repeated in plain Python,
which says so."""


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
