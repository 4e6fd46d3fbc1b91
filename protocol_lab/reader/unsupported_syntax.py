"""Rejects Python that is not in the language of specs, with a readable error, before anything runs.

An action and all that it calls are compiled: they use numbers and the fields of the state, with if,
for, while and return. Anything else is refused here, with the function's name, the line, and what
to do instead. Plain Python could run some of it; it is refused all the same, so that no engine and
no stepper shows what a search would not confirm.
"""

import ast
import builtins
import inspect
from collections.abc import Callable, Iterable
from enum import Enum, EnumType
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from protocol_lab.errors import LabError, shortened
from protocol_lab.model import node_sets
from protocol_lab.model.evaluation import is_of_numpy
from protocol_lab.model.layout import Node, NodeSet, Struct
from protocol_lab.model.transitions import enabled
from protocol_lab.reader.dependencies import reachable
from protocol_lab.reader.reading import names_assigned, readable, reading
from protocol_lab.reader.side_effects import calls_what_changes
from protocol_lab.reader.source_code import (
    HELPERS,
    code_text,
    error_at,
    is_of_protocol,
    names_read,
    without_annotations,
)

REDUCERS = ("all", "any", "sum", "min", "max")
"""Python's own functions of a generator that can be compiled."""

LOW, HIGH = -(2**63), 2**63 - 1
"""The whole numbers that compiled code has."""

_IMPORT = "an import", "import it at the top of the module"
_TRY = "a try", "ask beforehand, in a guard"
_WITH = "a with", "leave it out: an action changes the state and nothing else"
_FUNCTION = "a function inside a function", "write it beside this one, and give it what it needs"
_CLASS = "a class inside a function", "declare it at the top of the module, as a Struct"
_AWAIT = "an async or await", "leave it out: a step is taken at once"
_GLOBAL = "a global name", "keep what changes in the state"
_RAISE = "a raise", "return the reason, as guards do"
_MATCH = "a match", "use if and elif"
_DELETE = "a del", "set the field to 0, write remove_at(sequence, index), or take(bag, item)"
_DICT = (
    "a dict",
    "give the state a field Per(...) for it, write an item as its struct, as in"
    " Message(kind='ask'), or choose with if and elif",
)
_DIVISION = "a division into fractions (/)", "use //"
_SET = "a set of Python's", "use a set of nodes, a list of numbers, [0] * n, or a tuple"

_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    **dict.fromkeys((ast.Import, ast.ImportFrom), _IMPORT),
    **dict.fromkeys((ast.Try, ast.TryStar), _TRY),
    ast.With: _WITH,
    **dict.fromkeys((ast.FunctionDef, ast.Lambda), _FUNCTION),
    ast.ClassDef: _CLASS,
    **dict.fromkeys((ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await), _AWAIT),
    **dict.fromkeys((ast.Global, ast.Nonlocal), _GLOBAL),
    ast.Raise: _RAISE,
    ast.Match: _MATCH,
    ast.Delete: _DELETE,
    **dict.fromkeys((ast.Dict, ast.DictComp), _DICT),
    ast.SetComp: _SET,
    ast.Div: _DIVISION,
}

EXPRESSIONS = (
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword),
    *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List),
    *(ast.GeneratorExp, ast.ListComp, ast.comprehension),
)
"""The kinds of expressions that a condition and a submission may have."""

CALLED = frozenset({"abs", "all", "any", "len", "max", "min", "range", "sum"})
"""Python's own functions that both a condition and a submission may call."""

_NAMES: dict[type[ast.AST], str] = {
    **{kind: name for kind, (name, _) in _REFUSED.items()},
    ast.Set: _SET[0],
    **dict.fromkeys((ast.Yield, ast.YieldFrom), "a yield"),
    **{ast.Lambda: "a lambda", ast.NamedExpr: "the assignment `:=`", ast.Starred: "a star"},
    **{ast.JoinedStr: "a formatted string", ast.Slice: "a slice"},
    **{ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.Is: "is", ast.IsNot: "is not"},
}


def kind_of_syntax(node: ast.AST) -> str:
    """What Python that is not permitted somewhere is called in a sentence."""
    return _NAMES.get(type(node), type(node).__name__)


_REFUSED_CALLS = {
    "divmod": "use // and %",
    "pow": "use **",
    "float": "numbers are whole",
    "round": "numbers are whole",
    "isinstance": 'a record tells its kind by a field: write m.kind == "Ask"',
    "reversed": "count down, as in range(n, 0, -1)",
}
"""Python's own functions that can't be called, and what to do instead."""

_BUILT_IN = (
    *("abs", "all", "any", "bool", "chr", "enumerate", "filter", "getattr", "hash", "int", "len"),
    *("list", "map", "max", "min", "ord", "print", "range", "set", "sorted", "str", "sum", "tuple"),
    *("type", "zip"),
)
"""Python's own functions that can be called."""

_INSTEAD = "use a tuple, as in (1, 2), or declare a field of the state"

_OUTSIDE: dict[type, str] = {
    list: _INSTEAD,
    set: _INSTEAD,
    frozenset: _INSTEAD,
    dict: "choose with if and elif, or declare a field of the state",
}
"""Global values that are no part of the state, and what to do instead."""

_GLOBAL_VALUES = (int, str, float, tuple, type(None), Enum, EnumType, type)
_GLOBAL_VALUES += (FunctionType, BuiltinFunctionType, ModuleType)

_permitted: WeakKeyDictionary[Callable, CodeType] = WeakKeyDictionary()
"""The functions that were not refused."""


def expect_language(functions: Iterable[Callable]) -> None:
    """Raise LabError if one of these functions, or one that they call, is not in the language."""
    for function in reachable([*functions]):
        if _permitted.get(function) is not function.__code__:
            _refuse_parameters(function)
            if any(readable([function])):
                refuse(function)
            _permitted[function] = function.__code__


def _refuse_parameters(function: Callable) -> None:
    code = function.__code__
    flags = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code.co_flags & flags or code.co_kwonlyargcount or code.co_posonlyargcount:
        raise LabError(
            f"{function.__qualname__} can't be compiled with * or / among its parameters: write"
            " them one by one, as in def is_ready(s, server)."
        )


def refuse(function: Callable) -> None:
    """Raise LabError if the function has something that can't be compiled, or not safely."""
    _refuse_parameters(function)
    tree, values = without_annotations(reading(function).apart), names_read(function)
    stored = {id(each.value) for each in ast.walk(tree) if _is_to_a_field(each)}
    compares = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    asked = {id(k) for e in compares for op, k in zip(e.ops, e.comparators) if _is_in(op)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    reduced = {id(k) for e in calls if getattr(e.func, "id", "") in REDUCERS for k in e.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and id(node) in stored:
            continue  # what the field wants instead is said where it is stored
        told = _REFUSED.get(type(getattr(node, "op", node)))
        match node:
            case ast.Call(func=ast.Name(name)) if name in _REFUSED_CALLS:
                told = f"{name}()", _REFUSED_CALLS[name]
            case ast.Call(func=ast.Name(name)) if hasattr(builtins, name) and name not in values:
                own = name in _BUILT_IN or name in reading(function).variables
                told = told if own else (f"{name}()", "use numbers, loops and fields of the state")
            case ast.Name(name, ast.Load()) if name in values:
                is_tuple = id(node) in asked and _has_texts(values[name])
                told = None if is_tuple else _of_value(name, values[name])
            case ast.Attribute(ast.Name(name), called) if inspect.ismodule(values.get(name)):
                if inspect.isfunction(getattr(values[name], called, None)):
                    raise LabError(  # else it would escape the hash of all that can be reached
                        f"{function.__qualname__} uses {name}.{called}: import it by its name,"
                        f" `from {values[name].__name__} import {called}`."
                    )
            case ast.FormattedValue() if node.format_spec is not None or node.conversion != -1:
                told = "a format in an f-string", "write the value alone, as in f'{s.n}'"
            case ast.GeneratorExp() if id(node) not in reduced:
                told = "a generator here", "write all, any, sum, min or max around it, or a loop"
            case ast.Constant(float() | complex()):
                told = f"the number {node.value}", "numbers are whole: divide with //"
            case ast.Constant(int()) if node.value > HIGH:
                told = f"the number {node.value}", "it needs more than 64 bits"
        if node is not tree and told is not None:
            what, instead = told
            raise LabError(
                f"{function.__qualname__} can't be compiled with {what} (line {node.lineno}):"
                f" {instead}."
            )
    for name, value in values.items():
        if isinstance(value, float) or (isinstance(value, int) and not LOW <= value <= HIGH):
            raise LabError(
                f"{function.__qualname__} can't be compiled with {name}, which is {value}: use a"
                " whole number of 64 bits."
            )
    refuse_ineffective(function)
    for node in ast.walk(tree):
        told = _of_order(node, values) or _of_enabled(function, node, values)
        if told is not None:
            raise error_at(function, node, told)


def _is_in(op: ast.cmpop) -> bool:
    return isinstance(op, ast.In | ast.NotIn)


def _has_texts(value: Any) -> bool:
    """Is it a collection of texts, which `s.mode in BUSY` makes a tuple of?"""
    return isinstance(value, list | set | frozenset) and any(isinstance(e, str) for e in value)


def _of_value(name: str, value: Any) -> tuple[str, str] | None:
    """What is told of a global value that compiled code can't read; None if it can."""
    for kind, instead in _OUTSIDE.items():
        if isinstance(value, kind):
            return f"{name}, a {kind.__name__} outside the state", instead
    known = isinstance(value, _GLOBAL_VALUES) or is_of_numpy(value)
    if known and not (isinstance(value, type) and _is_class_of_others(value)):
        return None
    if value is NodeSet or isinstance(value, Node | NodeSet):
        instead = (
            "store a value, not its type: a number, a name, NONE or only(node); a node is a number:"
            " write 1 for the first one"
        )
        return f"{name}, a type of fields", instead
    return f"{name}, which is no number, name or tuple", "keep it in the state or the constants"


def _is_class_of_others(value: type) -> bool:
    return not issubclass(value, Struct | tuple | Enum) and value.__module__ != "builtins"


def _of_order(node: ast.AST, values: dict[str, Any]) -> str | None:
    """What is told of code that would be evaluated in another order than Python's, or twice, where
    that may make a difference."""
    match node:
        case ast.Compare(_, ops, [*between, _]) if any(map(_is_equality, ops)):
            if calls_what_changes(between, values):
                return "give what is compared on both sides a name first"
            if any(map(_is_in, ops)) and calls_what_changes([node], values):
                return "give what is asked with `in` a name first"
        case ast.Assign([target]) | ast.AugAssign(target) if _is_computed(target):
            if calls_what_changes([node], values):
                return "give the result of the call a name first, a line before"
        case ast.BinOp(_, ast.Mult(), ast.List()) if calls_what_changes([node], values):
            return "write the list first, as in [0] * n"
        case ast.Call(ast.Name("all" | "any" as name), [ast.Tuple()]) if name not in values:
            return f"write `{'and' if name == 'all' else 'or'}` between the conditions"
        case ast.Call(ast.Name("min" | "max"), _, [ast.keyword("default", default)]):
            fixed = isinstance(default, ast.Name | ast.Constant)
            if not fixed and calls_what_changes([node], values):
                return "give the default a name first, a line before"
    return None


def _of_enabled(function: Callable, node: ast.AST, values: dict[str, Any]) -> str | None:
    """What is told of a call that leaves out the state where there is none called s."""
    match node:
        case ast.Call(ast.Name(name), [action]) if values.get(name) is enabled:
            code = function.__code__
            if not {"s", "c"} <= {*code.co_varnames, *code.co_freevars}:
                return f"say which state, as in {name}({ast.unparse(action)}, before, c)"
    return None


def _is_equality(op: ast.cmpop) -> bool:
    return isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn)


def _is_computed(target: ast.expr) -> bool:
    """Does it depend on values which field or slot this is, so that a change makes it another?"""
    match target:
        case ast.Attribute(value):
            return _is_computed(value)
        case ast.Subscript(value, index):
            return not isinstance(index, ast.Name | ast.Constant) or _is_computed(value)
    return isinstance(target, ast.Call | ast.IfExp)


def _is_to_a_field(node: ast.AST) -> bool:
    """Is it an assignment to a field of the state, or to an item of one?"""
    return isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name)


# --- Code without effect --------------------------------------------------------------------------
#
#     s.holder is not None       is always true: nobody is NONE, which is a number
#     with_node(s.holds, 1)      gives another set, which is not used: s.holds stays as it is
#
# A guard of the first kind may switch an action off, and then every invariant holds.


_CHANGED = {
    node_sets.with_node: "the set itself stays as it is: write {0} = with_node({0}, ...)",
    node_sets.without_node: "the set itself stays as it is: write {0} = without_node({0}, ...)",
}
"""What to write instead, where that is known."""


def refuse_ineffective(function: Callable) -> None:
    """Raise LabError if the function has such code."""
    if function.__module__ in HELPERS:
        return  # these call what only raises
    tree = reading(function).apart
    values, maybe_none = names_read(function), _maybe_none(function, tree)
    for node in ast.walk(tree):
        told = None
        if isinstance(node, ast.Compare):
            told = _of_comparison(node, values, maybe_none)
        elif isinstance(node, ast.Expr):
            told = _of_statement(node.value, values)
        if told is not None:
            raise error_at(function, node, told)


def _of_comparison(node: ast.Compare, values: dict[str, Any], maybe_none: set[str]) -> str | None:
    sides = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            continue
        other = right if _is_none(left) else left
        sign = "==" if isinstance(op, ast.Is | ast.Eq) else "!="
        if _is_none(left) or _is_none(right):
            if _is_never_none(other, values, maybe_none):
                shown = shortened(code_text(other), 60)
                return (
                    f"no value of a state is None: write {shown} {sign} NONE for a node, and"
                    " compare a number with 0 or -1"
                )
        elif isinstance(op, ast.Is | ast.IsNot):
            return f"this does not compare values: write {sign}"
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_never_none(node: ast.expr, values: dict[str, Any], maybe_none: set[str]) -> bool:
    """Is it an expression that can't be None? Some local variables and results can."""
    match node:
        case ast.Name(name):
            return name not in maybe_none
        case ast.Call(ast.Name(name)):
            called = values.get(name)
            return isinstance(called, type) or getattr(called, "__module__", "") in HELPERS
    return not (_is_none(node) or isinstance(node, ast.Call | ast.IfExp | ast.Tuple))


def _maybe_none(function: Callable, tree: ast.FunctionDef) -> set[str]:
    """The local variables that may really be None: those assigned None, or a call's result."""
    given = inspect.signature(function).parameters.values()
    found = {each.name for each in given if each.default is None}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(value=value) if not _is_never_none(value, {}, found):
                found |= {*names_assigned(node)}
    return found


def _of_statement(value: ast.expr, values: dict[str, Any]) -> str | None:
    if isinstance(value, ast.Constant) or not _only_returns(value, values):
        return None
    match value:
        case ast.Call(ast.Name(name), [nodes, *_]) if values.get(name) in _CHANGED:
            return _CHANGED[values[name]].format(code_text(nodes))
        case ast.Compare(left, [ast.Eq()], [right]):
            assigned = f"{code_text(left)} = {code_text(right)}"
            return f"this only compares: write {assigned} to assign, or use the result"
    return "this changes nothing, and its value is not used: assign or return it, or leave it out"


def _only_returns(value: ast.expr, values: dict[str, Any]) -> bool:
    """Is it known that evaluating the expression changes nothing, and was meant to? A function of
    the spec may have such a mistake itself."""
    acts = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    for node in ast.walk(value):
        name = getattr(node, "id", "")
        if isinstance(node, acts) or name == "print" or is_of_protocol(values.get(name)):
            return False
    return not calls_what_changes([value], values)
