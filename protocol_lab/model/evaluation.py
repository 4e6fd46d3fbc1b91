"""Calls a spec's plain functions as they were written; errors name their file and line.

Python runs the author's function, on its own integers. What has no value there (an index outside
its array, a division by zero) becomes a Fault, and any other error a SpecError; both name the
function, the file and the line.

`kept` keeps what functions of a state return: a recording draws each state once for every step that
leads to it. So what a state's invariants say, and how a drawing describes it, is computed once.
Elsewhere nothing is kept: a learner may edit a function between two calls.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

from protocol_lab.errors import Fault, LabError, SpecError, place
from protocol_lab.model.node_sets import IS_A_NUMBER

_KIT = Path(__file__).parent.parent

CONDITION = "<condition>"
"""The file name of a condition that a person typed."""

_IN_CONDITION = "in the condition"


_arguments: ContextVar[tuple] = ContextVar("arguments", default=())


@contextmanager
def given(*arguments: Any) -> Iterator[None]:
    """A context in which code of a spec runs that was given these arguments, as `states_given`
    says."""
    outer = _arguments.set(arguments)
    try:
        yield
    finally:
        _arguments.reset(outer)


_caller: ContextVar[Callable | None] = ContextVar("caller", default=None)


@contextmanager
def called_by(caller: Callable) -> Iterator[None]:
    """A context in which `evaluated` calls functions by this one: caller(function, *arguments)."""
    outer = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(outer)


def states_given() -> list[Any]:
    """The states that the running function was given: what it makes new is laid out as there."""
    return [each for each in _arguments.get() if hasattr(each, "_new_record")]


def evaluated(function: Callable, *arguments: Any, spec: str = "", **named: Any) -> Any:
    """Call a plain function, and return its result.

    spec: its name, for the message. Raises CapacityExceeded unchanged; Fault where an expression
    has no value; SpecError for any other error.
    """
    outer, caller = _arguments.set(arguments), _caller.get()
    try:
        if caller is not None:
            return caller(function, *arguments, **named)
        return function(*arguments, **named)
    except Exception as error:
        told = _without_value(error)
        if told:
            raise Fault(f"{told}, {_at(function, error)}") from None
        if isinstance(error, LabError | MemoryError):
            raise
        who = f"{spec}: {function.__name__}" if spec else function.__name__
        told = _remedy(error) or str(error).rstrip(".")
        raise SpecError(
            f"{who} failed with {type(error).__name__}: {told} ({_place(function, error)})."
        ) from error
    finally:
        _arguments.reset(outer)


def _without_value(error: Exception) -> str:
    """Why an expression has no value; "" for other errors."""
    said = str(error).rstrip(".")
    match error:
        case ZeroDivisionError():
            return "division by zero"
        case ValueError() if said == "negative shift count":
            return "a shift by a negative number of bits"
        case ValueError() if said.startswith(("min()", "max()")):
            return f"{said[:5]} of nothing"
        case Fault() | IndexError():
            return said
    return ""


_REMEDIES = {
    "argument of type 'int' is not": f"{IS_A_NUMBER}: if it is one, write contains(nodes, node)",
    "'int' object is not iterable": (
        f"{IS_A_NUMBER}: if it is one, write members(nodes); to count, write range(1, n + 1)"
    ),
    "object of type 'int' has no len()": (
        f"{IS_A_NUMBER}: if it is one, write size(nodes); the empty set is nodes_up_to(0)"
    ),
    "'Nodes' object has no attribute 'add'": (
        "a set of nodes is a value that does not change: write nodes = with_node(nodes, node)"
    ),
    "'Nodes' object has no attribute 'remove'": (
        "a set of nodes is a value that does not change: write nodes = without_node(nodes, node)"
    ),
    "'Nodes' object has no attribute 'discard'": (
        "a set of nodes is a value that does not change: write nodes = without_node(nodes, node)"
    ),
    "'int' object has no attribute": (
        "a number has no parts: what belongs to a node is in a field by node, as in s.votes[server]"
    ),
    "'Node' object is not callable": "a node is a number: write 1 for the first one",
    "int() argument must be": "store a value, not its type: a number, a name, NONE or only(node)",
    "'<=' not supported between instances of 'int' and 'str'": "an index is a whole number",
    "'float' object cannot be interpreted as an integer": "numbers are whole: divide with //",
    "unsupported operand type(s) for +: 'ArrayView'": "change one slot: s.votes[n] += 1",
    "__delitem__": "write remove_at(sequence, index), or take(bag, item)",
}
"""What to write instead, by the beginning of Python's own message."""


def _remedy(error: Exception) -> str:
    """What to write instead, for errors whose message does not say it; "" for others."""
    if isinstance(error, AssertionError):
        said = f"{error}; " if str(error) else ""
        return f"{said}assert can't be used here: return the reason, as a text"
    constants = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and hasattr(constants, "_fields"):
        return f"there is no constant {error.name!r}; there are: {', '.join(constants._fields)}"
    said = str(error)
    if re.search("not supported between instances of .*View'", said):
        return "an array, a list or a record has no order: compare an item or a field of it"
    if isinstance(error, TypeError) and "'NoneType'" in said:
        return "a function returned nothing: end every path through it with a return"
    if said == "can't set attribute":
        return "constants can't be changed: keep in the state what changes"
    return next((each for start, each in _REMEDIES.items() if said.startswith(start)), "")


def _at(function: Callable, error: Exception) -> str:
    where = _place(function, error)
    return where if where == _IN_CONDITION else f"at {function.__name__}, {where}"


def _place(function: Callable, error: BaseException) -> str:
    """Where in the spec it happened: the innermost function that does not belong to the kit."""
    code = function.__code__
    name, line = code.co_filename, code.co_firstlineno
    for frame, number in walk_tb(error.__traceback__):
        if not Path(frame.f_code.co_filename).is_relative_to(_KIT):
            name, line = frame.f_code.co_filename, number
    if name == CONDITION:
        return _IN_CONDITION
    return place(name, line)


Value = TypeVar("Value")

_kept: ContextVar[dict[Hashable, object] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping_results() -> Iterator[None]:
    """A context in which `kept` computes nothing twice; no spec may be edited meanwhile."""
    before = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(before)


def kept(key: Hashable, compute: Callable[[], Value]) -> Value:
    """The value for this key: computed, unless it was before in the same `keeping_results`."""
    values = _kept.get()
    if values is None:
        return compute()
    if key not in values:
        values[key] = compute()
    return values[key]


def is_of_numpy(value: Any) -> bool:
    """Is it an array or a number of numpy's, which is not imported where no code reads one?"""
    return (type(value).__module__ or "").partition(".")[0] == "numpy" and hasattr(value, "dtype")
