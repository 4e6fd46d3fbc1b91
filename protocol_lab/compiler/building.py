"""Compiles generated code, or loads it from the kernel cache.

Generated code has a hash of everything that it depends on, under which its machine code is kept
(`kernel_cache`). A second start loads it; code that calls an edited function has another hash and
is compiled anew.
"""

import gc
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import NumbaError, UnsupportedBytecodeError, types

from protocol_lab.compiler import code_generation, compiler, loops
from protocol_lab.compiler.inner_functions import GeneratedCompiler, inner
from protocol_lab.compiler.kernel_cache import kept_names, kernel, missing_kernels
from protocol_lab.compiler.operations import integers, records
from protocol_lab.errors import KitDefect, LabError, unexpected
from protocol_lab.model.node_sets import IS_A_NUMBER, size, smallest
from protocol_lab.model.spec import TRUE_OR_FALSE, Model
from protocol_lab.model.state_view import NEITHER, NO_INDEX
from protocol_lab.reader.side_effects import check_only_looks, may_refuse_changed
from protocol_lab.system.helper_processes import helped, helpers_at_hand
from protocol_lab.system.process import deferred_interrupts

compilations: list[str] = []
"""The names of what this process compiled rather than loaded; a test counts them."""

loaded: dict[str, Any] = {}
"""What this process has compiled or loaded, by its hash."""

MANY = 12
"""From this many pieces on, other processes help to compile; fewer are compiled sooner alone."""

_lock = threading.Lock()
"""A background search and a learner's own may need the same piece: one thread compiles at a
time."""

_ENTRANCES = {
    "piece": (
        loops.PIECE,
        {"no_cpython_wrapper": True, "pipeline_class": GeneratedCompiler},
    ),
    "identify": (
        types.void(
            *(types.uint64[:, ::1], types.int64, types.uint8[::1]),
            *[types.int64[::1]] * 5,
            *(types.uint64[:, ::1], types.uint64[:, ::1], types.uint64[::1]),
        ),
        {},
    ),
}
"""The kinds of generated functions: their types, and whether Python calls them, too."""

_SHARED = {
    "sequence_at": inner(integers.sequence_at),
    "size_of": inner(size),
    "smallest_of": inner(smallest),
    "keep": inner(loops.keep),
}
"""Functions that many pieces call, compiled once in a process."""

_NUMBA = [Path(each.__file__).parent for each in (numba, llvmlite)]

_GENERATED = "<generated>"
"""The file name that generated code has in error messages."""

TWO_KINDS = "has one kind on one path and another on another, as a list and an array"

_MIXED = re.compile(r"Cannot unify .* for '(?P<name>[^']+)', defined at .* \((?P<line>\d+)\)")
"""What Numba says of a variable or expression that is one of two kinds of values."""

_UNKNOWN = re.compile(r"No implementation of function Function\(<(\w+ )*'?(?P<name>\w+)")
_OUR_CALLS = {"get_item": "an index", "equal": "a comparison", "unequal": "a comparison"}
"""What Numba says of a call for which it has no code, and the calls that other syntax becomes."""

Watch = Callable[[str, int, int], None]
"""Called before each piece with its name, its number from 0, and how many there are."""


class Builder:
    """Compiles or loads the generated code of one model (a spec and a layout)."""

    def __init__(self, model: Model, watch: Watch):
        self.model, self.watch = model, watch
        self.seconds = 0.0
        self.compiler = compiler.Compiler(model.layout, model.spec.constants)

    def addresses(self, wanted: list[code_generation.Piece]) -> np.ndarray:
        """The addresses of the machine code of these pieces, for `loops`.

        If many were never compiled, they are compiled on all cores. An interruption is raised
        between two pieces, as KeyboardInterrupt.
        """
        keys = [self._key(each) for each in wanted]
        missing = sorted(self._missing(dict(zip(keys, wanted, strict=True))), key=_module_of)
        helpers = helpers_at_hand() if len(missing) >= MANY else 0
        work = [partial(self.built, each) for each in missing]
        if helpers:
            work += missing_kernels()
        with (
            deferred_interrupts() as interrupted,
            _without_garbage_collection(),
            helped(work, helpers) as own,
        ):
            began, own_seconds = time.perf_counter(), self.seconds
            for k in own:
                if k < len(missing):
                    self.watch(missing[k].name, k, len(missing))
                work[k]()
                if interrupted():
                    raise KeyboardInterrupt
            self.seconds = own_seconds + time.perf_counter() - began  # with the time waited
            found = []
            for k, (key, piece) in enumerate(zip(keys, wanted, strict=True)):
                self.watch(piece.name, k, len(wanted))
                found.append(_address(loaded[key] if key in loaded else self.built(piece)))
                if interrupted():
                    raise KeyboardInterrupt
        return np.array(found, np.int64)

    def _missing(self, wanted: dict[str, code_generation.Piece]) -> list[code_generation.Piece]:
        """The pieces, given by their keys, that neither this process nor the cache has; none if
        there is no cache."""
        missing = {key: each for key, each in wanted.items() if key not in loaded}
        if not missing or (kept := kept_names()) is None:
            return []
        return [each for key, each in missing.items() if f"piece_{key}" not in kept]

    def loop(self, loop: Any, signature: Any) -> Any:
        """One of `loops`, compiled or loaded."""
        with deferred_interrupts(), _lock, _without_garbage_collection():
            began = time.perf_counter()
            loop.compile(signature)
            self.seconds += time.perf_counter() - began
        return loop

    def built(self, piece: code_generation.Piece) -> Any:
        """The compiled version of a generated function. Raises LabError if it can't be compiled."""
        with deferred_interrupts(), _lock, _without_garbage_collection():
            key = self._key(piece)
            if key not in loaded:
                began = time.perf_counter()
                loaded[key] = self._load(key, piece)
                self.seconds += time.perf_counter() - began
            return loaded[key]

    def _key(self, piece: code_generation.Piece) -> str:
        return self.compiler.hash_of([*piece.functions.values()], piece.text)

    def inlined(self, piece: code_generation.Piece) -> Any:
        """A piece as a function that only compiled code calls, and which is compiled with that."""
        scope, add_functions = self._scope(piece)
        add_functions()
        scope["piece"].__qualname__ = f"inlined_{self._key(piece)}"
        return inner(scope["piece"])

    def _scope(self, piece: code_generation.Piece) -> tuple[dict[str, Any], Callable[[], None]]:
        """The names of generated code, itself included, and a function that adds the compiled
        functions that it calls."""
        scope: dict[str, Any] = {
            "__name__": __name__,
            "constants_at": self.compiler.constants_at,
            "state_at": self.compiler.state_at,
            **_SHARED,
            **{
                each: getattr(records, each)
                for each in ("as_number", "copy_state", "equal", "get_item", "read_only", "truth")
            },
            **{each: value for each, value in vars(loops).items() if type(value) is int},
            **{each: getattr(loops, each) for each in ("number_at", "put_number", "NotRefused")},
            **integers.COMPILED_OPERATIONS,
            **piece.called,
        }
        exec(compile(piece.text, _GENERATED, "exec"), scope)

        def add_functions() -> None:
            refused = records.nothing
            for each, function in piece.functions.items():
                parameters = piece.parameters if each == "function" else None
                scope[each] = self.compiler.compiled(function, parameters)
                if each != piece.acts:
                    check_only_looks(function)
                elif may_refuse_changed(function):
                    refused = records.check_unchanged
            scope["refused"] = refused

        return scope, add_functions

    def _load(self, key: str, piece: code_generation.Piece) -> Any:
        spec = self.model.spec.name
        scope, add_functions = self._scope(piece)
        scope[piece.kind].__qualname__ = f"{piece.kind}_{key}"
        signature, options = _ENTRANCES[piece.kind]
        try:
            built = kernel(
                signature, stamp=key, prepare=add_functions, no_cfunc_wrapper=True, **options
            )(scope[piece.kind])
        except (NumbaError, UnsupportedBytecodeError, RuntimeError, TypeError) as error:
            if _is_defect(error):
                raise KitDefect(f"{spec}, {piece.name}: {unexpected(error)}") from error
            cause = _cause(error)  # of the last two for types that it can't generate code for
            if TRUE_OR_FALSE in cause:  # said of a call in generated code, which has no line
                raise LabError(f"{spec}, {piece.name}: {TRUE_OR_FALSE}.") from None
            raise LabError(f"{spec} can't be compiled: {cause}. {_remedy(cause)}") from None
        if not built.stats.cache_hits:
            compilations.append(f"{spec} {piece.name}")
        return built


def _address(built: Any) -> int:
    """The address of the machine code of a generated function."""
    compiled = built.get_compile_result(loops.PIECE)
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def _is_defect(error: BaseException | None) -> bool:
    """Was it, or what led to it, raised neither by Numba nor as an error about the code?"""
    while error is not None and (frames := [*walk_tb(error.__traceback__)]):
        file = Path(frames[-1][0].f_code.co_filename)
        if not isinstance(error, NumbaError) and not any(map(file.is_relative_to, _NUMBA)):
            return True
        error = error.__cause__
    return False


def _module_of(piece: code_generation.Piece) -> str:
    """Where a piece's function was written: those of one module call much the same."""
    return piece.functions["function"].__module__ or ""


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """A context without garbage collection: it would scan the compiler's many objects again and
    again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _remedy(cause: str) -> str:
    """What to write instead."""
    if "with a text" in cause:
        return (
            "Where a helper is given a name, declare it: `def is_of(m, kind: Kind)`, where Kind is"
            " the field's Named(...)."
        )
    if TWO_KINDS in cause:
        return "Let each path of an if assign the field, or a variable of its own."
    if IS_A_NUMBER in cause:
        return (
            "If it is one, write contains(nodes, node), size(nodes) or members(nodes), or declare"
            " it: what a helper is given as in `def is_quorum(nodes: NodeSet(Server))`, what it"
            " returns as in `def others(me) -> NodeSet(Server)`; to count, write range(1, n + 1)."
        )
    return 'Write it with numbers, loops and fields of the state only, or use engine="python".'


def _cause(error: Exception) -> str:
    """The line of Numba's long message that says what it does not understand, and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("Failed in", "- Resolution"))]
    ours = (
        "there is no field",
        "can't be stored",
        "can be assigned",
        "in order",
        "assigned to",
        "with a text",
        "one whole number",
        IS_A_NUMBER,
        NO_INDEX,
        TRUE_OR_FALSE,
        NEITHER,
        "list of numbers",
        "a list can't be",
        "can't be compared",
    )
    causes = [line for line in said if any(each in line for each in ours)]
    if not causes and (mixed := _MIXED.match(said[0])):
        name = "a value" if mixed["name"].startswith("$") else mixed["name"].partition(".")[0]
        return f"{name} {TWO_KINDS} (line {mixed['line']})"
    if not causes and (unknown := _UNKNOWN.search(said[0])):
        what = _OUR_CALLS.get(unknown["name"], f"{unknown['name']}()")
        causes = [f"{what} of such a value is not supported"]
    places = [line for line in said if line.startswith("File ") and _GENERATED not in line]
    place = next(iter(places), "")
    line_number = place.partition("line ")[2].rstrip(":")
    where = f" (line {line_number})" if line_number.isdigit() else ""
    return (causes or said)[0].removeprefix("TypingError: ").rstrip(".") + where
