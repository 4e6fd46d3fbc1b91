"""Calls a spec's plain functions with checked arithmetic, and errors that name file and line.

`evaluated` runs a function on Python's own integers, but with the results of compiled code: each
operator is replaced by its checked function of `arithmetic`, and every loop is bounded (see
`loop_bound`), in the function and in all that it calls. An error becomes a Fault or a SpecError
that names the function, the file and the line.
"""

import ast
import builtins
import copy
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from traceback import walk_tb
from types import CellType, CodeType, FunctionType
from typing import Any

from protocol_lab.errors import Fault, LabError, SpecError
from protocol_lab.language import containers
from protocol_lab.language.arithmetic import OPERATIONS, as_call, checked_add, computed_once
from protocol_lab.language.loop_bound import checked_range, checked_turn, counting, is_range
from protocol_lab.language.node_sets import IS_A_NUMBER, as_nodes
from protocol_lab.language.reading import reading
from protocol_lab.language.source_code import COMPILED_OTHERWISE, place, without_annotations

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


def states_given() -> list[Any]:
    """The states that the running function was given: what it makes new is laid out as there."""
    return [each for each in _arguments.get() if hasattr(each, "_new_record")]


def evaluated(function: Callable, *arguments: Any, spec: str = "", **named: Any) -> Any:
    """Call a plain function with checked arithmetic, and return its result.

    spec: its name, for the message. Raises CapacityExceeded unchanged; Fault where an expression
    has no value; SpecError for any other error.
    """
    outer = _arguments.set(arguments)
    try:
        return as_checked(function)(*arguments, **named)
    except (Fault, IndexError, ZeroDivisionError) as error:
        raise Fault(f"{str(error).rstrip('.')}, {_at(function, error)}") from None
    except (LabError, MemoryError):
        raise
    except Exception as error:
        who = f"{spec}: {function.__name__}" if spec else function.__name__
        told = _remedy(error) or str(error).rstrip(".")
        raise SpecError(
            f"{who} failed with {type(error).__name__}: {told} ({_place(function, error)})."
        ) from error
    finally:
        _arguments.reset(outer)


_REMEDIES = {
    "argument of type 'int' is not": f"{IS_A_NUMBER}: if it is one, write contains(nodes, node)",
    "'int' object is not iterable": (
        f"{IS_A_NUMBER}: if it is one, write members(nodes); to count, write range(1, n + 1)"
    ),
    "object of type 'int' has no len()": f"{IS_A_NUMBER}: if it is one, write size(nodes)",
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


# --- Checked functions ---------------------------------------------------------------------------


def as_checked(value: Any) -> Any:
    """A plain function with checked arithmetic; anything else is returned unchanged.

    So is a function whose source can't be read.
    """
    try:
        return _made[value]
    except KeyError:
        pass
    except TypeError:  # not hashable, so not a plain function
        return value
    if not isinstance(value, FunctionType):
        return value
    _made[value] = value
    if value.__module__ != containers.__name__ and not hasattr(value, COMPILED_OTHERWISE):
        with suppress(LabError):
            _made[value] = _rewritten(value)
    return _made[value]


def as_checked_variant(
    function: FunctionType, change: Callable[[ast.FunctionDef], ast.FunctionDef]
) -> FunctionType:
    """A function whose syntax tree was changed, with checked arithmetic; its lines are the same.

    Raises LabError if the source of the function can't be read.
    """
    made = _rewritten(function, change)
    _made[made] = made
    return made


def checked_sum(items: Iterable, start: Any = 0) -> Any:
    """sum(items), which raises Fault as soon as it needs more than 64 bits."""
    for each in items:
        start = checked_add(start, each)
    return start


def _of_something(chosen: Callable) -> Callable:
    """min or max, which raises Fault where there is nothing to choose from."""

    def choose(*items: Any, **options: Any) -> Any:
        if len(items) == 1 and "default" not in options:
            items = (list(items[0]),)
            if not items[0]:
                raise Fault(f"{chosen.__name__}() of nothing")
        return chosen(*items, **options)

    return choose


NO_ISINSTANCE = 'a record tells its kind by a field: write m.kind == "Ask"'
"""Why there is no isinstance(); compiled code says the same."""


def _no_isinstance(*_: Any) -> bool:
    raise TypeError(NO_ISINSTANCE)


_made: dict[Any, Any] = {
    sum: checked_sum,
    min: _of_something(min),
    max: _of_something(max),
    abs: OPERATIONS["checked_abs"],
    isinstance: _no_isinstance,
}
"""The checked version of each function, once it was asked for."""


def _as_set(value: Any) -> Any:
    """A number that is declared as a set of nodes, such as 0, as one."""
    return as_nodes(value) if type(value) is int else value


_PUT_IN = {
    **OPERATIONS,
    "as_set": _as_set,
    "as_checked": as_checked,
    "checked_range": checked_range,
    "checked_turn": checked_turn,
}
"""The names that rewritten functions read in addition to their own."""


def _rewritten(
    function: FunctionType, change: Callable[[ast.FunctionDef], ast.FunctionDef] | None = None
) -> FunctionType:
    """The function with its operators and calls replaced; its global names stay the same.

    change: what to do with its syntax tree before.
    """
    rewriter = _Rewriter(function)
    tree = without_annotations(copy.deepcopy(reading(function).as_written))
    tree = rewriter.visit(tree if change is None else change(tree))
    tree.body[:0] = rewriter.arguments_as_sets(tree)
    if not rewriter.has_changed and change is None:
        return function
    free = [*function.__code__.co_freevars, *_PUT_IN]
    outer = ast.parse(f"def outer({', '.join(free)}): pass").body[0]
    outer.body = [tree]  # inside a function that has these names, so that they are free in it
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, function.__code__.co_filename, "exec")
    for _ in range(2):
        code = next(each for each in code.co_consts if isinstance(each, CodeType))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells.get(name) or CellType(_PUT_IN[name]) for name in code.co_freevars)
    return FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )


class _Rewriter(ast.NodeTransformer):
    """Replaces operators and called functions with checked ones, and bounds loops."""

    def __init__(self, function: FunctionType):
        self.known = function.__globals__
        declared = function.__annotations__.items()
        self.sets = {name for name, each in declared if getattr(each, "is_set", False)}
        self.has_changed = False
        self.loops = 0

    def arguments_as_sets(self, tree: ast.FunctionDef) -> list[ast.stmt]:
        """What the function does first with its arguments that are declared as sets of nodes."""
        found = []
        for each in tree.args.args:
            if each.arg in self.sets:
                target, value = ast.Name(each.arg, ast.Store()), ast.Name(each.arg, ast.Load())
                assignment = ast.Assign([target], self._as_set(ast.copy_location(value, each)))
                found.append(ast.copy_location(assignment, each))
        return found

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if "return" in self.sets and node.value is not None:
            node.value = self._as_set(node.value)
        return node

    def _as_set(self, value: ast.expr) -> ast.expr:
        self.has_changed = True
        call = ast.copy_location(ast.Call(ast.Name("as_set", ast.Load()), [value], []), value)
        return ast.fix_missing_locations(call)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self._replaced(node, as_call(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self._replaced(node, as_call(node))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        before, node.target = computed_once(node)
        before = [self.visit(each) for each in before]
        self.generic_visit(node)
        present = copy.copy(node.target)
        present.ctx = ast.Load()
        value = as_call(ast.copy_location(ast.BinOp(present, node.op, node.value), node))
        changed = ast.copy_location(ast.Assign([node.target], value), node)
        changed = self._replaced(node, changed if isinstance(value, ast.Call) else node)
        return [*before, changed]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and self._may_be_plain(node.func.id):
            call = ast.Call(ast.Name("as_checked", ast.Load()), [node.func], [])
            node.func = ast.fix_missing_locations(ast.copy_location(call, node.func))
            self.has_changed = True
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        self.has_changed = True
        self.loops += 1
        return counting(node, self.loops)

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._bounded(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        return self._bounded(node)

    def _bounded(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if is_range(node.iter):
            name = ast.copy_location(ast.Name("checked_range", ast.Load()), node.iter.func)
            node.iter.func = name
            self.has_changed = True
        return node

    def _may_be_plain(self, name: str) -> bool:
        """Can it be a plain function, rather than a class or one of Python's own that is left as it
        is?"""
        found = self.known.get(name, getattr(builtins, name, None))
        return not isinstance(found, type) and (
            name in self.known or not hasattr(builtins, name) or found in _made
        )

    def _replaced(self, node: ast.AST, by: ast.AST) -> ast.AST:
        self.has_changed |= by is not node
        return by
