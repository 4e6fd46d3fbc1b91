"""The compiled loops of the explorer.

For a model three kinds of loops are generated as source, written into a cache folder named by a
hash of everything that they depend on, and compiled there: `expand` (states to successors), `check`
(properties of rows) and `judge` (predicates with parameters). A second start loads the machine
code; an edited action has another hash and is compiled anew.

They work on uint64 arrays (rows, words per row) and release the GIL.
"""

import ast
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from platformdirs import user_cache_dir

from protocol_lab.declaring.layout import Named, Node
from protocol_lab.declaring.nodes import size
from protocol_lab.declaring.parameters import (
    Bound,
    Domain,
    Member,
    Range,
    Sequences,
    Subset,
    names_used,
)
from protocol_lab.declaring.parts import left_out
from protocol_lab.declaring.spec import Action, Model
from protocol_lab.declaring.temporal import keys_of
from protocol_lab.errors import LabError
from protocol_lab.exploring import compiling, records

compilations: list[str] = []
"""The kernels that this process compiled rather than loaded; a test counts them."""


class Kernels:
    """The compiled loops of one model (a spec and a layout), made when first asked for."""

    def __init__(self, model: Model):
        self.model = model
        self.compile_seconds = 0.0
        self.left_out = left_out(model.constants)
        self.compiler = compiling.Compiler(model.layout, self.left_out)

    def expand(self) -> Callable:
        """The loop over states, actions and parameters: see `_expand_source`.

        Where fairness tells steps of an action apart, it is the keyed one, with nobody reading the
        keys: so that a spec has one such kernel to compile.
        """
        spec = self.model.spec
        keys = [keys_of(action.name, spec.fairness) for action in spec.actions]
        if any(keys):
            return _without_keys(self.expand_keyed(keys), max(map(len, keys)))
        return self._build("expand", self._actions(), _expand_source(self.model))

    def expand_keyed(self, keys: list[tuple[str, ...]]) -> Callable:
        """`expand` that also writes what tells the steps of an action apart.

        keys[k]: parameters of the k-th action, or fields of a message parameter. The kernel takes
        one more array, key_of (int64, 2-dimensional), and writes their values into its rows.
        """
        return self._build("expand_keyed", self._actions(), _expand_source(self.model, keys))

    def _actions(self) -> dict[str, Callable]:
        functions = {}
        for k, action in enumerate(self.model.spec.actions):
            functions |= _named_functions(k, action)
        return functions

    def judge(self, predicates: list[Callable], parameters: list[str]) -> Callable:
        """A loop that sets bit i of found[k] where predicates[i] is true of row k.

        parameters: the names, beside s and c, that the predicates may take; the kernel gets their
        values as an array.
        """
        functions = {f"predicate_{k}": function for k, function in enumerate(predicates)}
        return self._build("judge", functions, _judge_source(self.model, functions, parameters))

    def check(self, properties: list[Callable]) -> Callable:
        """A loop that sets bit i of failed[k] where properties[i] does not hold on row k."""
        return self._check(properties, "len({name}(s, c)) != 0")

    def check_steps(self, properties: list[Callable]) -> Callable:
        """The same for properties of the step from a row's parent to it."""
        return self._check(properties, "len({name}(earlier, s, c)) != 0")

    def check_predicate(self, predicate: Callable) -> Callable:
        """The same for one function (s, c) that is true or false."""
        return self._check([predicate], "not {name}(s, c)")

    def identify(
        self, functions: dict[str, Callable], source: str, called: dict[str, Any]
    ) -> Callable:
        """The loop that finds what a state is known by; its text and what it calls: `identity`."""
        return self._build("identify", functions, source, called)

    def _check(self, properties: list[Callable], fails: str) -> Callable:
        functions = {f"property_{k}": function for k, function in enumerate(properties)}
        return self._build("check", functions, _check_source(self.model, functions, fails))

    def _build(
        self,
        name: str,
        functions: dict[str, Callable],
        source: str,
        called: dict[str, Any] | None = None,
    ) -> Callable:
        with _lock:
            return self._loaded_or_built(name, functions, source, called)

    def _loaded_or_built(
        self, name: str, functions: dict[str, Callable], source: str, called: dict[str, Any] | None
    ) -> Callable:
        began = time.perf_counter()
        key = compiling.source_hash(
            list(functions.values()),
            source,
            self.model.layout,
            self.model.spec.constants._fields,
            sorted(self.left_out),
            _versions(),
        )
        if key not in _loaded:
            path = cache_folder() / key / f"{name}.py"
            _write_once(path, source)
            self.compiler.kernel = key
            scope: dict[str, Any] = {
                "__name__": __name__,
                "Constants": self.model.spec.constants,
                "state_at": self.compiler.state_at,
                "sequence": compiling.inner(_sequence),
                "size_of": compiling.inner(size),
                "copy_row": compiling.inner(_copy_row),
                "keep": compiling.inner(_keep),
                "as_number": records.as_number,
                **(called or {}),
                **{each: self.compiler.compiled(function) for each, function in functions.items()},
            }
            exec(compile(source, str(path), "exec"), scope)
            scope[name].__qualname__ = f"{name}_{key}"
            try:
                kernel = njit(_SIGNATURES[name], nogil=True, cache=True, no_cfunc_wrapper=True)(
                    scope[name]
                )
            except (NumbaError, UnsupportedBytecodeError) as error:
                raise LabError(
                    f"{self.model.spec.name} can't be compiled: {_cause(error)}. Write it with"
                    ' numbers, loops and fields of the state only, or use engine="python".'
                ) from None
            if not kernel.stats.cache_hits:
                compilations.append(f"{self.model.spec.name} {name}")
            _loaded[key] = kernel
            self.compile_seconds += time.perf_counter() - began
        return _loaded[key]


@cache
def _without_keys(kernel: Callable, width: int) -> Callable:
    """`expand_keyed` as `expand`: the keys are written and forgotten."""

    def expand(*arguments: Any) -> tuple[int, int]:
        out = arguments[4]
        return kernel(*arguments, np.empty((len(out), width), np.int64))

    return expand


_loaded: dict[str, Callable] = {}
_lock = threading.Lock()
"""A search in the background and a learner's own may both want a kernel; one compiles at a time."""

_WORDS, _NUMBERS = types.uint64[:, ::1], types.int64[::1]
_EXPAND = (_WORDS, types.int64, types.int64, _NUMBERS, _WORDS, *[_NUMBERS] * 5)
_SIGNATURES = {
    "expand": types.UniTuple(types.int64, 2)(*_EXPAND),
    "expand_keyed": types.UniTuple(types.int64, 2)(*_EXPAND, types.int64[:, ::1]),
    "judge": types.void(_WORDS, types.int64, _NUMBERS, _NUMBERS, types.uint8[::1]),
    "identify": types.void(
        _WORDS, types.int64, types.uint8[::1], *[_NUMBERS] * 5, _WORDS, types.uint64[::1]
    ),
    "check": types.void(
        _WORDS, types.int64, types.uint8[::1], _NUMBERS, types.int64, _NUMBERS, _WORDS, _NUMBERS
    ),
}


def _cause(error: Exception) -> str:
    """The one line of Numba's long message that says what it does not understand, and where."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "- Resolution"))]
    ours = ("there is no field", "can't be stored", "can be assigned")
    causes = [line for line in told if any(each in line for each in ours)]
    place = next(
        (line for line in told if line.startswith("File ") and "expand.py" not in line), ""
    )
    line_number = place.partition("line ")[2].rstrip(":")
    where = f" (line {line_number})" if line_number.isdigit() else ""
    return (causes or told)[0].rstrip(".") + where


def cache_folder() -> Path:
    """Where compiled kernels are kept: $PROTOCOL_LAB_CACHE, or the user's cache folder."""
    return Path(os.environ.get("PROTOCOL_LAB_CACHE") or user_cache_dir("protocol-lab")) / "kernels"


def constants_array(model: Model) -> np.ndarray:
    """The constants as the kernels take them."""
    return np.array([int(value) for value in model.constants], np.int64)


def _versions() -> tuple[str, ...]:
    own = Path(__file__).parent
    code = "".join((own / f"{name}.py").read_text() for name in ("records", "compiling"))
    return numba.__version__, np.__version__, code


def _write_once(path: Path, source: str) -> None:
    try:
        if not path.exists():  # its time stamp is part of Numba's cache index: never rewritten
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(source)
            part.replace(path)
    except OSError as error:
        raise LabError(
            f"Compiled code can't be kept in {path.parent} ({error.strerror}): free some space or"
            " set PROTOCOL_LAB_CACHE to a folder that can be written."
        ) from None


def _named_functions(k: int, action: Action) -> dict[str, Callable]:
    """The plain functions that the loop calls for the k-th action, by the names it uses."""
    functions = {f"action_{k}": action.function}
    if action.witnesses:
        functions[f"witnesses_{k}"] = action.witnesses
    for name, domain in action.domains.items():
        match domain:
            case Range(low, high):
                bounds = {"low": low, "high": high}
            case Subset(of):
                bounds = {"mask": of}
            case Sequences(low, high, length):
                bounds = {"low": low, "high": high, "length": length}
            case _:
                bounds = {}
        for which, bound in bounds.items():
            if callable(bound):
                functions[f"{which}_{k}_{name}"] = bound
    return functions


def _expand_source(model: Model, keys: list[tuple[str, ...]] | None = None) -> str:
    """The text of `expand`, or with `keys` that of `expand_keyed`.

    It tries every action with every choice of parameters on rows[begin:end] and writes what they
    lead to into `out`, with the row's parent, the action's number and TLC's witness count. It
    stops early, before a state whose successors do not all fit. degree_of counts successors by
    state; progress[0] is the state at work, which tells where a CapacityExceeded came from.
    Returns (end of the states done, rows written).
    """
    fields = ", ".join(f"constants[{k}]" for k in range(len(model.constants)))
    name, key_of = ("expand", "") if keys is None else ("expand_keyed", ", key_of")
    lines = [
        f"def {name}(rows, begin, end, constants, out, parent_of, action_of, weight_of, degree_of,"
        f" progress{key_of}):",
        f"    c = Constants({fields})",
        "    room, written = out.shape[0] - 1, 0",
        "    for source in range(begin, end):",
        "        progress[0] = source",
        "        first = written",
        "        before = state_at(rows, source)",
        "        copy_row(rows, source, out, written)",
        "        s = state_at(out, written)",
    ]
    for k, action in enumerate(model.spec.actions):
        lines += _loops(k, action, model, keys[k] if keys else ())
    lines += [
        "        degree_of[source - begin] = written - first",
        "    return end, written",
    ]
    return "\n".join(lines) + "\n"


def _copy_row(rows, source, out, written):
    """Begin a successor: a copy of the state that it comes from."""
    for word in range(rows.shape[1]):
        out[written, word] = rows[source, word]


def _keep(rows, source, out, written, parent_of, action_of, weight_of, action, weight):
    """Note where a successor comes from, and begin the next, if there is room; how many there are.

    A function of its own, so that it is compiled once, and not for every action.
    """
    parent_of[written] = source
    action_of[written] = action
    weight_of[written] = weight
    written += 1
    if written < out.shape[0] - 1:
        for word in range(rows.shape[1]):
            out[written, word] = rows[source, word]
    return written


def _loops(k: int, action: Action, model: Model, key: tuple[str, ...]) -> list[str]:
    """The nested loops over the parameters of the k-th action, and the call in the middle."""
    lines, indent = [], " " * 8
    for name, domain in action.domains.items():
        for line in _loop(k, name, domain, action, model):
            lines.append(indent + line)
            indent += "    " if line.startswith("for ") else ""
    values = [f"{name}_{k}" for name in action.domains]
    weight = (
        f"witnesses_{k}({', '.join(['before', 'c', *values])})"
        if action.witnesses
        else "as_number(1)"
    )
    lines += [
        f"{indent}if len(action_{k}({', '.join(['s', 'c', *values])})) == 0:",
        *(
            f"{indent}    key_of[written, {at}] = {_numbered(path, k)}"
            for at, path in enumerate(key)
        ),
        f"{indent}    weight = {weight}",
        f"{indent}    written = keep(rows, source, out, written, parent_of, action_of, weight_of,"
        f" as_number({k}), weight)",
        f"{indent}    if written >= room:",
        f"{indent}        return source, first",
        f"{indent}    s = state_at(out, written)",
    ]
    return lines


def _numbered(path: str, k: int) -> str:
    """A parameter of the k-th action, or a field of one, as the loops call it."""
    name, dot, fields = path.partition(".")
    return f"{name}_{k}{dot}{fields}"


def _loop(k: int, name: str, domain: Domain, action: Action, model: Model) -> list[str]:
    """The loop over one parameter's domain: what comes before it, its head, how its body begins."""
    scope = {"s": "before", "c": "c", **{each: f"{each}_{k}" for each in action.domains}}

    def bound(which: str, bound: Bound) -> str:
        if not callable(bound):
            return over_constants(bound, model)
        return f"{which}_{k}_{name}({', '.join(scope[each] for each in names_used(bound))})"

    match domain:
        case Node(count):
            return [f"for {name}_{k} in range(1, c.{count} + 1):"]
        case Range(low, high):
            return [f"for {name}_{k} in range({bound('low', low)}, {bound('high', high)} + 1):"]
        case Named(names):
            return [f"for {name}_{k} in range({len(names)}):"]
        case Subset(of, wanted):
            mask = f"(1 << (c.{of.count} + 1)) - 2" if isinstance(of, Node) else bound("mask", of)
            # As `submasks` counts, but a generator would take much longer to compile.
            lines = [
                f"mask_{name} = {mask}",
                f"{name}_{k} = mask_{name}",
                f"for at_{name} in range(1 << size_of(mask_{name})):",
                f"{name}_{k} = ({name}_{k} - mask_{name}) & mask_{name}",
            ]
            if wanted is not None:
                count = over_constants(wanted, model)
                lines.append(f"if size_of({name}_{k}) != {count}: continue")
            return lines
        case Sequences(low, high, length):
            low, high = bound("low", low), bound("high", high)
            return [
                f"for at_{name} in range(max(0, {high} - {low} + 1) ** {bound('length', length)}):",
                f"{name}_{k} = sequence(at_{name}, {low}, {high}, {bound('length', length)})",
            ]
        case Member(path):
            layout = model.layout
            for each in path.split("."):
                layout = layout.fields[each]
            count = "length" if layout.kind == "seq" else "size"
            items = f"before.{path}.items"
            once = f"if at_{name} > 0 and {items}[at_{name}] == {items}[at_{name} - 1]: continue"
            return [
                f"for at_{name} in range(before.{path}.{count}):",
                *([once] if layout.kind == "bag" else []),
                f"{name}_{k} = {items}[at_{name}]",
            ]
    raise TypeError(f"{domain!r} is not a domain")


def _sequence(number, low, high, length):
    """The sequence of this number, counted from 0, of those that a `Sequences` gives."""
    items = np.empty(length, np.int64)
    for k in range(length - 1, -1, -1):
        items[k] = low + number % (high - low + 1)
        number //= high - low + 1
    return items


def over_constants(expression: int | str, model: Model) -> str:
    """A bound written over names of constants, as code that reads them from `c`."""
    tree = ast.parse(str(expression), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"c.{node.id}"
    return f"({ast.unparse(tree)})"


def _check_source(model: Model, functions: dict[str, Callable], fails: str) -> str:
    """The text of `check`.

    For rows[k] with wanted[k], failed[k] gets bit i if property i is in the bitmask `enabled` and
    does not hold. Step properties also look at before[parent_of[k]].
    """
    fields = ", ".join(f"constants[{k}]" for k in range(len(model.constants)))
    lines = [
        "def check(rows, count, wanted, constants, enabled, failed, before, parent_of):",
        f"    c = Constants({fields})",
        "    for k in range(count):",
        "        failed[k] = 0",
        "        if not wanted[k]:",
        "            continue",
        "        s = state_at(rows, k)",
    ]
    if "earlier" in fails:
        lines.append("        earlier = state_at(before, parent_of[k])")
    for bit, name in enumerate(functions):
        lines += [
            f"        if enabled & {1 << bit} and {fails.format(name=name)}:",
            f"            failed[k] |= {1 << bit}",
        ]
    return "\n".join(lines) + "\n"


def _judge_source(model: Model, functions: dict[str, Callable], parameters: list[str]) -> str:
    """The text of `judge`: values[i] is the value of parameters[i]."""
    fields = ", ".join(f"constants[{k}]" for k in range(len(model.constants)))
    scope = {"s": "s", "c": "c", **{each: f"values[{k}]" for k, each in enumerate(parameters)}}
    lines = [
        "def judge(rows, count, constants, values, found):",
        f"    c = Constants({fields})",
        "    for k in range(count):",
        "        s = state_at(rows, k)",
        "        found[k] = 0",
    ]
    for bit, (name, function) in enumerate(functions.items()):
        arguments = ", ".join(scope[each] for each in names_used(function))
        lines += [f"        if {name}({arguments}):", f"            found[k] |= {1 << bit}"]
    return "\n".join(lines) + "\n"
