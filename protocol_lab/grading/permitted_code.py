"""The part of Python that a submission's functions may use: the language of specs, and no more.

A submission is hostile until shown otherwise. Its functions are read as syntax trees, and one is
refused unless every node of its tree is of a listed kind, every name is its own or one of the
language, and every attribute a declared field. What is left can read and change one state, and
compute with whole numbers: it can't open, import, print, or reach an object of the interpreter.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

import protocol_lab
from protocol_lab.reader.unsupported_syntax import EXPRESSIONS, kind_of_syntax

LANGUAGE = frozenset(
    name
    for name in protocol_lab.__all__
    if name.islower() or name in ("HOLDS", "TAKEN", "NONE", "NO_LIMIT", "NodeSet")
) - {"choice", "extends", "flag", "storage", "enabled"}
"""The names of protocol_lab that a function of a protocol can use."""

BUILTINS = frozenset({"len", "range", "any", "all", "sum", "min", "max", "abs", "enumerate"})

_ANNOTATIONS = frozenset({"bool", "int", "str", "NodeSet", "State", "Constants"})

_PARTS_OF_LISTS = frozenset({"items", "length", "size"})

LARGEST, _LONGEST = 2**31, 200
"""The largest number and the longest text that may be written down."""

_STATEMENTS = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If,
    ast.Return, ast.Expr, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip

_OPERATORS = (
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.Invert,
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.Load, ast.Store,
)  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What a function may name besides its own variables: functions and record types to call,
    values to read, and the fields that records and constants have."""

    callables: frozenset[str]
    values: frozenset[str]
    fields: frozenset[str]

    def with_functions(self, names: Iterable[str]) -> "Scope":
        """The same with more functions to call."""
        return Scope(self.callables | frozenset(names), self.values, self.fields)


def refusal(function: ast.FunctionDef, scope: Scope) -> str:
    """Why a function can't be graded, naming the line; "" if it can."""
    try:
        _Reader(function, scope).read()
    except _Refused as refused:
        return str(refused)
    return ""


class _Refused(Exception):
    """The function has something that the language lacks; the text says what and where."""

    def __init__(self, node: ast.AST, function: ast.FunctionDef, said: str):
        line = getattr(node, "lineno", function.lineno)
        super().__init__(f"line {line}, in {function.name}: {said}")


class _Reader:
    """Reads one function."""

    def __init__(self, function: ast.FunctionDef, scope: Scope):
        self.function, self.scope = function, scope
        self.own = {each.arg for each in function.args.args}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.own.add(node.id)

    def read(self) -> None:
        """Raises _Refused."""
        arguments = self.function.args
        extra = (arguments.posonlyargs, arguments.kwonlyargs, arguments.defaults)
        if any(extra) or arguments.vararg or arguments.kwarg:
            raise self.refused(self.function, "parameters are plain names here")
        for name in self.own:
            self.expect_plain(self.function, name)
        for statement in self.function.body:
            self.statement(statement)

    def refused(self, node: ast.AST, said: str) -> _Refused:
        return _Refused(node, self.function, said)

    def expect_plain(self, node: ast.AST, name: str) -> None:
        known = self.scope.callables | self.scope.values | LANGUAGE | BUILTINS
        if name.startswith("_"):
            raise self.refused(node, f"names that begin with _ can't be used: {name}")
        if name in known:
            raise self.refused(node, f"{name} has a meaning already: choose another name")

    def statement(self, node: ast.stmt) -> None:
        if not isinstance(node, _STATEMENTS):
            raise self.refused(node, f"{kind_of_syntax(node)} can't be used in a protocol")
        if isinstance(node, ast.AnnAssign):
            self.annotation(node.annotation)
            self.expression(node.target)
            if node.value is not None:
                self.expression(node.value)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            else:
                self.expression(child)

    def expression(self, node: ast.AST) -> None:
        if isinstance(node, _OPERATORS):
            return
        if not isinstance(node, EXPRESSIONS):
            raise self.refused(node, f"{kind_of_syntax(node)} can't be used in a protocol")
        match node:
            case ast.Call():
                self.call(node)
                return
            case ast.Attribute():
                self.attribute(node)
            case ast.Name():
                self.name(node)
            case ast.Constant():
                self.constant(node)
            case ast.keyword(arg=None):
                raise self.refused(node.value, "** can't be used in a protocol")
            case ast.comprehension(is_async=1):
                raise self.refused(node.target, "async can't be used in a protocol")
        for child in ast.iter_child_nodes(node):
            self.expression(child)

    def call(self, node: ast.Call) -> None:
        known = self.scope.callables | LANGUAGE | BUILTINS
        if not isinstance(node.func, ast.Name):
            raise self.refused(node, f"only functions can be called, not {_shown(node.func)}")
        if node.func.id not in known or node.func.id in self.own:
            raise self.refused(node, f"there is no function {node.func.id} for protocols")
        for each in (*node.args, *node.keywords):
            self.expression(each)

    def attribute(self, node: ast.Attribute) -> None:
        if node.attr not in self.scope.fields | _PARTS_OF_LISTS:
            raise self.refused(node, f"no field is called {node.attr}")
        root = node.value
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Call) and getattr(root, "id", None) not in self.own:
            raise self.refused(node, f"{_shown(node)} is no part of the state")

    def name(self, node: ast.Name) -> None:
        constants = {"HOLDS", "TAKEN", "NONE", "NO_LIMIT"}
        if node.id not in self.own | self.scope.values | constants:
            raise self.refused(node, f"{node.id} has no value that a protocol can read")

    def constant(self, node: ast.Constant) -> None:
        said = node.value
        is_small = isinstance(said, int) and abs(said) <= LARGEST
        if not is_small and not (isinstance(said, str) and len(said) <= _LONGEST):
            raise self.refused(node, f"this value can't be used in a protocol: {_shown(node)}")

    def annotation(self, node: ast.expr) -> None:
        self_named = _ANNOTATIONS | self.scope.callables | self.scope.values
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self_named:
                continue
            is_call = isinstance(each, ast.Call) and getattr(each.func, "id", "") == "NodeSet"
            if not is_call and not isinstance(each, ast.Load):
                raise self.refused(node, f"this annotation can't be used: {_shown(node)}")


def annotation_refusal(function: ast.FunctionDef, scope: Scope) -> str:
    """Why the annotations of a function can't be evaluated; "" if they can."""
    reader = _Reader(function, scope)
    found = [each.annotation for each in function.args.args if each.annotation]
    try:
        for each in [*found, *([function.returns] if function.returns else [])]:
            reader.annotation(each)
    except _Refused as refused:
        return str(refused)
    return ""


def _shown(node: ast.AST) -> str:
    text = code_of(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def code_of(node: ast.AST) -> str:
    """A piece of a submission as Python code, or what stands for a piece that has none."""
    try:
        return ast.unparse(node)
    except ValueError:  # Python prints no number of more than 4,300 digits
        return "a number of thousands of digits"
    except RecursionError:
        return "an expression that is nested too deeply"
