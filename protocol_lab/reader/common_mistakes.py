"""Rejects code that Python runs but that means something else in a spec.

    counter = 5                      a variable of the function; the state's field is s.counter
    State.counter = 5                the class of the state, not the state
    with_node(server, s.alive)       the set comes first
    random.randint(0, 1)             a choice that no trace records
    if is_ready and s.counter > 1    a function that is not called is always true

Each would leave a search with a wrong verdict, or with an error that does not say what to write.
"""

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from protocol_lab.model import node_sets
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout, is_struct, names_in
from protocol_lab.model.state_view import NEITHER, how_to_ask
from protocol_lab.reader.layouts_in_code import Layouts, is_container
from protocol_lab.reader.named_values import TAKE_ITEMS
from protocol_lab.reader.reading import reading
from protocol_lab.reader.side_effects import alternatives, calls_what_changes
from protocol_lab.reader.source_code import (
    HELPERS,
    code_text,
    error_at,
    names_read,
    without_annotations,
)
from protocol_lab.reader.value_flow import Body

_CHANGES = ("random", "secrets", "time", "datetime", "uuid", "os")
"""The modules whose functions do not give the same result each time."""

_GO_THROUGH = ("all", "any", "sum", "min", "max", "enumerate", "zip", "list", "sorted", "len")

_SETS_FIRST = (node_sets.with_node, node_sets.without_node, node_sets.contains)


def refuse_common_mistakes(function: Callable, code: Body) -> None:
    """Raise LabError for the first mistake in a function, which was followed."""
    for node, told in _mistakes(function, reading(function).apart, code):
        raise error_at(function, node, told)


def refuse_missing_prefixes(function: Callable, known: Layouts) -> None:
    """Raise LabError for the first name of a field or constant without `s.` or `c.`."""
    if "s" in inspect.signature(function).parameters:
        for node, told in _without_prefix(function, known):
            raise error_at(function, node, told)


def refuse_other_results(function: Callable) -> None:
    """Raise LabError if an action or property may return no text.

    A search meets most of these before, and says what was returned; one that is rare would only be
    told by the compiler.
    """
    for node in ast.walk(reading(function).as_written):
        if isinstance(node, ast.Return) and not all(map(_may_be_text, alternatives(node.value)[1])):
            told = "return a text: TAKEN, or HOLDS of a property, or else the reason"
            raise error_at(function, node, told)


def _may_be_text(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    return value is not None and not isinstance(value, ast.Compare | ast.Tuple | ast.List)


def _mistakes(
    function: Callable, tree: ast.FunctionDef, code: Body
) -> Iterator[tuple[ast.AST, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Global() | ast.Nonlocal():
                yield node, "keep what changes in the state: declare a field for it"
            case ast.Import([ast.alias(name), *_]) | ast.ImportFrom(name) if name in _CHANGES:
                yield node, _chance(name)
            case ast.While(ast.Constant()) if node.test.value and not _is_left(node.body):
                yield node, "this loop never ends: give it a condition, a break or a return"
            case ast.Assign([ast.Tuple(parts)]) if any(isinstance(k, ast.Starred) for k in parts):
                yield node, "a star can't be compiled: name the items one by one, or write a loop"
            case ast.Dict(keys=[]):
                yield node, "write a field by node, or a list of numbers, [0] * (c.servers + 1)"
            case ast.Call(ast.Name("next")) if "next" not in code.values:
                yield node, "next() can't be compiled: write a loop, or min(...) for the first node"
            case ast.Attribute():
                told = _of_attribute(node, code)
                if told:
                    yield node, told
            case ast.Subscript(ast.Name(name), ctx=ast.Store()):
                if isinstance(code.values.get(name), list | dict | set):
                    yield node, f"{name} is no part of the state: declare a field for it"
            case ast.Compare(left, ops, others) if not isinstance(ops[0], ast.In | ast.NotIn):
                for each in (left, *others):
                    if isinstance(each, ast.Set) and any(map(code.is_set, (left, *others))):
                        written = " | ".join(f"only({code_text(member)})" for member in each.elts)
                        told = "it is never true, since a set of nodes is no set of Python's"
                        yield node, f"{told}: write {written}"
            case ast.Call(ast.Name(name)):
                told = _of_call(node, code.values.get(name), function, code)
                if told:
                    yield node, told
        for each in _gone_through(node):
            told = _of_room(each, code)
            if told:
                yield each, told
        for each in _asked(node):
            if isinstance(each, ast.Name) and isinstance(code.values.get(each.id), FunctionType):
                yield (
                    node,
                    f"{each.id} is a function, which is always true: call it, {each.id}(...)",
                )
            layout = code.layout(each)
            if not isinstance(node, ast.Compare) and isinstance(layout, ArrayLayout | StructLayout):
                shown = code_text(each)
                at = each if isinstance(node, ast.comprehension) else node
                yield at, f"{shown} is {NEITHER}: {how_to_ask(layout, shown)}"
    for name, value in code.values.items():
        module = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
        if module in _CHANGES and not isinstance(value, type):
            used = (n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name)
            yield next(used, tree), _chance(name)


def _is_left(body: list[ast.stmt]) -> bool:
    """Does the body of a loop have a break of its own, or a return?"""
    for each in body:
        match each:
            case ast.Break() | ast.Return():
                return True
            case ast.If() if _is_left(each.body + each.orelse):
                return True
            case ast.For() | ast.While():
                if any(isinstance(inner, ast.Return) for inner in ast.walk(each)):
                    return True
    return False


def _chance(name: str) -> str:
    return (
        f"{name} does not give the same result each time, and a search tries all: make the choice a"
        " parameter, such as n: Range(0, 1)"
    )


def _without_prefix(function: Callable, known: Layouts) -> Iterator[tuple[ast.AST, str]]:
    """Names of fields and constants without `s.` and `c.`, and an assignment to `s` itself."""
    fields, constants, values = known.states["s"].fields, known.limits, names_read(function)
    # Without annotations and decorators: a spec may be named as a field is.
    tree = without_annotations(reading(function).apart)
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    added_to = [each.target for each in ast.walk(tree) if isinstance(each, ast.AugAssign)]
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store) and each not in added_to}
    bound.update(reading(function).parameters)
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name("s")]):
                yield node, "s is the state, and stays the same: assign its fields, as in s.x = 1"
            case ast.Assign([ast.Name(name)], value) if name in fields and name not in read:
                if not calls_what_changes([value], values):
                    told = f"nothing reads this variable: write s.{name} = {code_text(value)}"
                    yield node, told
            case ast.AugAssign(ast.Name(name), _, value) if name in fields:
                if name not in bound:
                    yield node, f"there is no variable {name}: write s.{name}"
            case ast.Name(name, ast.Load()):
                if name in bound or name in values or hasattr(builtins, name):
                    continue
                if name in fields or name in constants:
                    prefix = "s" if name in fields else "c"
                    yield node, f"there is no variable {name}: write {prefix}.{name}"


def _of_attribute(node: ast.Attribute, code: Body) -> str:
    owner = code.values.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if is_struct(owner) and node.attr in owner.field_types:
        return f"{owner.__name__} is a class, not the state: write s.{node.attr}"
    if isinstance(owner, list | dict | set) and not isinstance(node.ctx, ast.Load):
        return f"{code_text(node.value)} is no part of the state: declare a field for it"
    shown, layout = code_text(node.value), code.layout(node.value)
    if isinstance(layout, IntegerLayout) and layout.kind != "nodes":
        return f"{shown} is a single value, which has no {node.attr}: assign or compare it itself"
    if isinstance(layout, ArrayLayout) and layout.items_of:
        return (
            f"items are only read: write append({shown.removesuffix('.items')}, ...) and the like"
        )
    if isinstance(layout, ArrayLayout):
        to = f" for n in range(1, c.{layout.per_node} + 1)" * layout.per_node.isidentifier()
        return f"{shown} has no {node.attr}: write {shown}[n]{to}"
    return ""


def _of_call(node: ast.Call, called: Any, function: Callable, code: Body) -> str:
    if called is function:
        return "a function that calls itself can't be compiled: write a loop"
    if not isinstance(called, FunctionType) or called.__module__ not in HELPERS:
        return ""
    parameters = inspect.signature(called)
    try:
        parameters.bind(*node.args, **{each.arg or "": each.value for each in node.keywords})
    except TypeError:
        names = ", ".join(parameters.parameters)
        return f"write {called.__name__}({names})"
    if len(node.args) == 2 and called in (*_SETS_FIRST, *TAKE_ITEMS):
        first, second = node.args
        swapped = f"{called.__name__}({code_text(second)}, {code_text(first)})"
        if called in _SETS_FIRST and code.is_set(second):
            return f"the set of nodes comes first: write {swapped}"
        if called in TAKE_ITEMS and is_container(code.layout(second)):
            return f"the sequence or bag comes first: write {swapped}"
    return ""


def _gone_through(node: ast.AST) -> list[ast.expr]:
    """The expressions of which a node looks at every item, or asks how many there are."""
    match node:
        case ast.For(iter=items) | ast.comprehension(iter=items):
            return [items]
        case ast.Compare(ops=[ast.In() | ast.NotIn(), *_], comparators=[items, *_]):
            return [items]
        case ast.Call(ast.Name(name), [items, *_]) if name in _GO_THROUGH:
            return [items]
    return []


def _of_room(node: ast.expr, code: Body) -> str:
    """What is said of an array by node that has room for more nodes than there are: a loop has to
    go over their numbers."""
    layout = code.layout(node)
    if not isinstance(layout, ArrayLayout) or not layout.per_node:
        return ""
    if not code.layouts.roomy.intersection(names_in(layout.per_node)):
        return ""
    count = re.sub(r"\b(?=[a-zA-Z_])", "c.", layout.per_node)
    return (
        f"it has room for more nodes than there are: there are {count}, so go through them with"
        f" `for n in range(1, {count} + 1)`"
    )


def _asked(node: ast.AST) -> list[ast.expr]:
    """The expressions of which a node asks whether they are true, or equal to others."""
    match node:
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            return [test]
        case ast.BoolOp(_, values):
            return values
        case ast.UnaryOp(ast.Not(), operand):
            return [operand]
        case ast.comprehension(ifs=tests):
            return tests
        case ast.Call(ast.Name("any" | "all"), [ast.GeneratorExp(item)]):
            return [item]
        case ast.Call(ast.Name("bool"), [value]):
            return [value]
        case ast.Call(ast.Name("any" | "all"), [items]):
            return [ast.Subscript(items, ast.Constant(0))]
        case ast.Compare(left, _, others):
            return [left, *others]
    return []
