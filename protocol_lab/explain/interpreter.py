"""Interprets a spec's function statement by statement, and records the path it takes.

Python itself evaluates every expression; only `if`, `for`, `while` and `return` are interpreted
here, so that afterwards it is known which return was reached and which tests led there.
`decisive_values` then evaluates single operands of those tests in the same `Frame`.
"""

import ast
import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from protocol_lab.model.state_view import View
from protocol_lab.reader.reading import Reading, names_assigned, reading
from protocol_lab.reader.source_code import enclosed

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Pass, ast.Assert, ast.Raise)


class CannotFollow(Exception):
    """A function has a return inside a statement that is not interpreted here, such as try."""


@dataclass(slots=True)
class Frame:
    """The names of one call, in which its expressions are evaluated: `values` are its own names,
    `outside` the module's. `assigned` is what records and lists were when they got their names.

    `given` has, for each parameter, the caller's expression and frame that it stands for; the
    outermost function's parameters stand for themselves, except those in `hidden` (state and
    constants). `loops` are the loop variables around the current expression, `names` those of the
    callers. `reasons` has the expression that last gave a local name its text, and `outcomes` that
    of the last test of each `if`.
    """

    source: Reading
    outside: dict[str, Any]
    values: dict[str, Any]
    given: dict[str, tuple[ast.expr, "Frame"]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    reasons: dict[str, ast.expr] = field(default_factory=dict)
    outcomes: dict[ast.If, bool] = field(default_factory=dict)
    assigned: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def outermost(
        cls, function: Callable, arguments: dict[str, Any], hidden: tuple[str, ...]
    ) -> "Frame":
        """The frame of a function called with these arguments."""
        return cls(
            reading(function),
            function.__globals__,
            enclosed(function) | arguments,
            hidden=frozenset(hidden),
            names=frozenset(arguments),
        )

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression of this function."""
        code, has_scopes = self.source.compiled(node)
        outside = {**self.outside, **self.values} if has_scopes else self.outside
        return eval(code, outside, self.values)

    def execute(self, node: ast.stmt) -> None:
        """Execute a simple statement."""
        code, has_scopes = self.source.compiled(node)
        outside = {**self.outside, **self.values} if has_scopes else self.outside
        exec(code, outside, self.values)
        for name in names_assigned(node):
            if isinstance(self.values[name], View | list):
                self.assigned[name] = _content(self.values[name])

    def look_up(self, name: str) -> Any:
        """The value of a name of the function or of its module; None if it has no value yet."""
        if name in self.values:
            return self.values[name]
        return self.outside.get(name, getattr(builtins, name, None))

    def alias(self, name: str) -> ast.expr | None:
        """The expression that a name stands for; None if it is none, or no longer.

        After `q = Vote(); old = q.ballot; q.ballot = 1` neither q nor old stands for one.
        """
        found = self.source.aliases.get(name)
        if found is None or any(map(self._is_changed, [name, *names_in(found)])):
            return None
        return found

    def meant(self, name: str) -> tuple[ast.expr, "Frame"] | None:
        """The expression that a parameter or a local name stands for, and the frame to evaluate it
        in."""
        if name in self.loops:
            return None
        alias = self.alias(name)
        return self.given.get(name) or (None if alias is None else (alias, self))

    def _is_changed(self, name: str) -> bool:
        return name in self.assigned and self.assigned[name] != _content(self.values[name])

    def called(self, function: Callable, node: ast.Call) -> "Frame":
        """The frame of a call that this function makes. Raises CannotFollow for `f(*x)`."""
        source = reading(function)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise CannotFollow
        given = dict(zip(source.parameters, node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg}
        defaults = function.__defaults__ or ()
        arguments = dict(
            zip(source.parameters[len(source.parameters) - len(defaults) :], defaults, strict=True)
        )
        arguments |= {name: self.evaluate(each) for name, each in given.items()}
        return Frame(
            source,
            function.__globals__,
            enclosed(function) | arguments,
            {name: (each, self) for name, each in given.items()},
            names=self.names | self.loops,
        )

    def inside(self, *targets: ast.expr) -> "Frame":
        """A copy in which these loop variables can be bound."""
        names = frozenset(name for target in targets for name in names_in(target))
        values, assigned = dict(self.values), dict(self.assigned)
        return replace(
            self, values=values, assigned=assigned, loops=self.loops | names, outcomes={}
        )

    def bind(self, target: ast.expr, value: Any) -> None:
        """Assign to a loop variable, or to a tuple of them."""
        if isinstance(target, ast.Name):
            self.values[target.id] = value
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise CannotFollow
        for each, part in zip(target.elts, value, strict=True):
            self.bind(each, part)

    def elements(self, generators: list[ast.comprehension]) -> Iterator[None]:
        """Bind the variables of a comprehension to its elements, one after the other."""
        if not generators:
            yield
            return
        first, *rest = generators
        for item in self.evaluate(first.iter):
            self.bind(first.target, item)
            if all(self.evaluate(each) for each in first.ifs):
                yield from self.elements(rest)


def names_in(node: ast.expr) -> list[str]:
    """The names that a loop assigns to, or that an expression reads."""
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


def _content(value: View | list) -> bytes | list:
    """What a record, an array or a list holds now."""
    return bytes(value) if isinstance(value, View) else list(value)


class Run:
    """One interpreted call, run when it is created: `value` is what it returned, `ended` the return
    statement.

    `ran` has every statement that was executed, in order. Raises what the function raises, and
    CannotFollow.
    """

    def __init__(self, frame: Frame):
        self.frame = frame
        self.ran: list[ast.stmt] = []
        self.value: Any = None
        self.ended: ast.Return | None = None

    def follow(self) -> "Run":
        """Run to the end."""
        ended = self._block(self.frame.source.body)
        self.ended = ended if isinstance(ended, ast.Return) else None
        return self

    def _block(self, statements: list[ast.stmt]) -> ast.stmt | None:
        """Execute a block; returns the return, break or continue that left it."""
        for statement in statements:
            self.ran.append(statement)
            left = self._statement(statement)
            if left is not None:
                return left
        return None

    def _statement(self, statement: ast.stmt) -> ast.stmt | None:
        match statement:
            case ast.If():
                outcome = bool(self.frame.evaluate(statement.test))
                self.frame.outcomes[statement] = outcome
                return self._block(statement.body if outcome else statement.orelse)
            case ast.Return():
                self.value = statement.value and self.frame.evaluate(statement.value)
                return statement
            case ast.For() | ast.While():
                return self._loop(statement)
            case ast.Break() | ast.Continue():
                return statement
        if not isinstance(statement, _SIMPLE):
            raise CannotFollow
        self.frame.execute(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if isinstance(self.frame.values[name], str):
                    self.frame.reasons[name] = value
        return None

    def _loop(self, statement: ast.For | ast.While) -> ast.stmt | None:
        for _ in self._rounds(statement):
            left = self._block(statement.body)
            if isinstance(left, ast.Return):
                return left
            if isinstance(left, ast.Break):
                return None
        return self._block(statement.orelse)

    def _rounds(self, statement: ast.For | ast.While) -> Iterator[None]:
        """Prepare the rounds of a loop one after the other, as long as there are any."""
        if isinstance(statement, ast.While):
            while self.frame.evaluate(statement.test):
                yield
        else:
            for item in self.frame.evaluate(statement.iter):
                self.frame.bind(statement.target, item)
                yield
