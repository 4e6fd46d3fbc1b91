"""Finds the comparisons that decided the result of a function.

`Deciding` starts at the return that was reached, goes back to what led there, and stops at
comparisons:

- In an `a and b` that is false, and an `a or b` that is true, it is the first operand that decides;
  else both do. `not`, and calls of the spec's predicates, are followed.
- In `all(...)` and `any(...)` it is the first element that decides, with its loop variables; if
  none does, all elements together.
- For the return itself: the tests around it; then earlier tests that would have led to the opposite
  result; then what the loops around it ran over.

Of a comparison those operands are shown that are read from the state, the constants and the
parameters. A guard has no effects, so its parts can safely be evaluated again.
"""

import ast
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

from protocol_lab.errors import LabError
from protocol_lab.explain.interpreter import CannotFollow, Frame, Run, names_in
from protocol_lab.explain.phrasing import (
    called,
    inlined,
    is_constants,
    is_long,
    is_node,
    names_constant,
    read,
    shortened,
    text_of,
    value_text,
)
from protocol_lab.model.layout import is_struct
from protocol_lab.model.parameters import Domain
from protocol_lab.model.transitions import enabled
from protocol_lab.reader.source_code import is_of_protocol

_MISSING = "–"


class Found(NamedTuple):
    """An operand; `given` if it is just a parameter, whose value the learner has chosen.

    `fixed` if it is a constant of the model.
    """

    text: str
    value: str
    given: bool = False
    fixed: bool = False


Group = list[Found]
"""The operands of one comparison."""


class Deciding:
    """Finds what decided one result; `domains` are those of the action's parameters.

    `where` collects the loop variables of the elements that decided, and their values.
    """

    def __init__(self, domains: dict[str, Domain], of_one_element: bool = False):
        self.domains, self.of_one_element = domains, of_one_element
        self.where: dict[str, str] = {}

    # --- Returns -----------------------------------------------------------------------------

    def returned(self, run: Run) -> list[Group]:
        """Why this return was reached, and why it gave this value."""
        frame, ended = run.frame, run.ended
        if ended is None:
            return self._passed_in(frame.source.body, frame, bool(run.value))
        around = list(frame.source.enclosing(ended))
        for each, _ in reversed(around):
            if isinstance(each, ast.For):
                frame = frame.inside(each.target)
                self._note_where(frame, names_in(each.target))
        truth = bool(run.value)
        groups = self.decided(ended.value, frame, truth)
        for each, block in around:
            if isinstance(each, ast.If) and bool(frame.evaluate(each.test)) == (block is each.body):
                groups += self.decided(each.test, frame, block is each.body)
        for each in (ended, *(each for each, _ in around)):
            block = frame.source.parents[each][1]
            groups += self._passed_in(block[: block.index(each)], frame, truth)
        for each, _ in around:
            if isinstance(each, ast.For):
                groups += self._drawn_from(each.iter, frame)
        return groups

    def _drawn_from(self, iterable: ast.expr, frame: Frame) -> list[Group]:
        """The collection that the deciding element came from, since only its elements were looked
        at."""
        return _one([found for found in self.operands(iterable, frame) if not found.fixed])

    def _note_where(self, frame: Frame, names: Iterable[str]) -> None:
        for name in names:
            if name not in frame.names and not name.startswith("_"):
                self.where[name] = value_text(frame.values[name])

    def _passed_in(self, block: list[ast.stmt], frame: Frame, truth: bool) -> list[Group]:
        """Why none of these statements returned the opposite result, the last one first."""
        return [group for each in reversed(block) for group in self._passed(each, frame, truth)]

    def _passed(self, statement: ast.stmt, frame: Frame, truth: bool) -> list[Group]:
        """Why a statement did not return the opposite result; nothing if it could not have."""
        if not _could_return(statement, frame, not truth):
            return []
        if isinstance(statement, ast.If) and frame.source.is_stable(statement.test):
            outcome = bool(frame.evaluate(statement.test))
            if frame.outcomes.get(statement, outcome) != outcome:
                return []  # what it reads was changed since
            skipped = statement.orelse if outcome else statement.body
            taken = statement.body if outcome else statement.orelse
            groups = self._passed_in(taken, frame, truth)
            if any(_could_return(each, frame, not truth) for each in skipped):
                groups += self.decided(statement.test, frame, outcome)
            return groups
        if isinstance(statement, ast.For):
            return self._loop_passed(statement, frame, truth)
        return []

    def _loop_passed(self, loop: ast.For, frame: Frame, truth: bool) -> list[Group]:
        inside = frame.inside(loop.target)

        def explain(each: Deciding) -> list[Group]:
            groups: list[Group] = []
            for statement in loop.body:
                if isinstance(statement, ast.Assign):
                    inside.execute(statement)
                groups += each._passed(statement, inside, truth)
            return groups

        return self._together([ast.comprehension(loop.target, loop.iter, [], 0)], inside, explain)

    # --- Tests -------------------------------------------------------------------------------

    def decided(self, node: ast.expr | None, frame: Frame, truth: bool) -> list[Group]:
        """Why an expression is true or false: the comparisons that decide it."""
        match node:
            case None | ast.Constant():
                return []
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.decided(operand, frame, not truth)
            case ast.BoolOp(op=op, values=values):
                return self._of_several(values, frame, truth, truth == isinstance(op, ast.And))
            case ast.Compare() if len(node.ops) > 1:
                return self._of_several(_pairs(node), frame, truth, truth)
            case ast.Compare(left=ast.Call(args=[text])) if _is_reason(text, frame):
                return self._reason_decided(text, frame)
            case ast.Name() if _is_reason(node, frame):
                return self._reason_decided(node, frame)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                outcome = bool(frame.evaluate(test))
                groups = self.decided(body if outcome else orelse, frame, truth)
                return groups + self.decided(test, frame, outcome)
            case ast.Name(id=name) if frame.meant(name) is not None:
                return self.decided(*frame.meant(name), truth)
            case ast.Call():
                return self._call_decided(node, frame, truth)
        return _one(self.operands(node, frame))

    def _reason_decided(self, node: ast.Name, frame: Frame) -> list[Group]:
        """Why a shared guard gave this reason.

        A guard that passed is not evaluated again: it may have had effects.
        """
        asked = frame.reasons.get(node.id)
        if asked is None or not frame.evaluate(node):
            return []
        return self.decided(asked, frame, True)

    def _of_several(
        self, values: list[Any], frame: Frame, truth: bool, all_decide: bool
    ) -> list[Group]:
        if all_decide:
            return _in_turn([self.decided(each, frame, truth) for each in values])
        first = next(each for each in values if bool(frame.evaluate(each)) == truth)
        return self.decided(first, frame, truth)

    def _call_decided(self, node: ast.Call, frame: Frame, truth: bool) -> list[Group]:
        function = called(node, frame)
        if function is bool and len(node.args) == 1:
            return self.decided(node.args[0], frame, truth)
        if function in (all, any) and isinstance(node.args[0], ast.GeneratorExp):
            return self._quantified(node.args[0], frame, truth, truth == (function is all))
        if is_of_protocol(function):
            try:
                return self.returned(Run(frame.called(function, node)).follow())
            except (LabError, CannotFollow):
                pass  # its source can't be read, so the call itself is shown
        return _one(self.operands(node, frame))

    def _quantified(
        self, node: ast.GeneratorExp, frame: Frame, truth: bool, all_decide: bool
    ) -> list[Group]:
        inside = frame.inside(*(each.target for each in node.generators))
        if all_decide:
            return self._together(
                node.generators, inside, lambda each: each.decided(node.elt, inside, truth)
            )
        for _ in inside.elements(node.generators):
            if bool(inside.evaluate(node.elt)) == truth:
                self._note_where(inside, _variables(node.generators))
                groups = self.decided(node.elt, inside, truth)
                for each in reversed(node.generators):
                    groups += self._drawn_from(each.iter, inside)
                return groups
        return []

    def _together(
        self,
        generators: list[ast.comprehension],
        inside: Frame,
        explain: Callable[["Deciding"], list[Group]],
    ) -> list[Group]:
        """What decided for each element, side by side; if there are no elements, why not.

        Within an element's own elements only the first are shown; all would be too many.
        """
        if self.of_one_element:
            return []
        names = _variables(generators)
        rows: list[dict[str, Found]] = []
        wheres: list[dict[str, str]] = []
        for _ in inside.elements(generators):
            each = Deciding(self.domains, of_one_element=True)
            each._note_where(inside, names)
            groups = explain(each)
            rows.append({found.text: found for group in groups for found in group})
            wheres.append(each.where)
        if not rows:
            return [group for e in generators for group in _one(self.operands(e.iter, inside))]
        if not any(rows):
            return []
        side_by_side = {
            name: [row.get(name, _MISSING) for row in wheres]
            for name in dict.fromkeys(name for row in wheres for name in row)
        }
        self.where |= {name: _listed(values, True) for name, values in side_by_side.items()}
        group = []
        for text in dict.fromkeys(text for row in rows for text in row):
            found = [row.get(text) for row in rows]
            values = [each.value if each else _MISSING for each in found]
            varies = any(re.search(rf"\b{name}\b", text) for name in side_by_side)
            group.append(Found(text, _listed(values, varies), any(f and f.given for f in found)))
        return [group]

    # --- Operands ----------------------------------------------------------------------------

    def operands(self, node: ast.expr, frame: Frame, is_one: bool = False) -> Group:
        """The parts of an expression that are read from state, constants or parameters.

        `is_one`: is the comparison's other side a node?
        """
        match node:
            case ast.Name(id=name):
                return self._name(name, frame, is_one)
            case ast.Attribute() | ast.Subscript():
                fixed = is_constants(frame.evaluate(node.value))
                return [Found(text_of(node, frame), read(node, frame), fixed=fixed)]
            case ast.Compare(left=left, comparators=[right]):
                nodes = any(is_node(each, frame, self.domains) for each in (left, right))
                return self._all([left, right], frame, nodes)
            case ast.BinOp(left=left, right=right):
                return self._all([left, right], frame, is_one)
            case ast.UnaryOp(operand=operand):
                return self.operands(operand, frame, is_one)
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self._all(parts, frame, is_one)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.operands(body if frame.evaluate(test) else orelse, frame, is_one)
            case ast.Constant():
                return []
            case ast.Call():
                return self._call(node, frame, is_one)
        return [Found(shortened(ast.unparse(node)), value_text(frame.evaluate(node), is_one))]

    def _all(self, nodes: list[ast.expr], frame: Frame, is_one: bool) -> Group:
        return [found for each in nodes for found in self.operands(each, frame, is_one)]

    def _name(self, name: str, frame: Frame, is_one: bool) -> Group:
        if names_constant(name, frame):
            return []
        if name in frame.loops:
            return [] if name in frame.names else [Found(name, value_text(frame.values[name]))]
        expression = frame.meant(name)
        if expression is not None:
            found = self.operands(*expression, is_one)
            if not any(is_long(each.text) for each in found):
                return found
        is_one = is_one or is_node(ast.Name(name), frame, self.domains)
        return [Found(name, value_text(frame.values[name], is_one), name in self.domains)]

    def _call(self, node: ast.Call, frame: Frame, is_one: bool) -> Group:
        function = called(node, frame)
        arguments = [*node.args, *(each.value for each in node.keywords)]
        if function in (sum, min, max) and isinstance(arguments[0], ast.GeneratorExp):
            return self._reduced(arguments[0], frame)
        inside = inlined(node, frame)
        if inside is not None:
            found = self.operands(*inside, is_one)
            if 0 < len(found) <= 2:
                return found
        if is_of_protocol(function) or function in (None, len, enabled):
            is_one = is_one or is_node(node, frame, self.domains)
            return [Found(text_of(node, frame), value_text(frame.evaluate(node), is_one))]
        return self._all(arguments, frame, is_one and not is_struct(function))

    def _reduced(self, node: ast.GeneratorExp, frame: Frame) -> Group:
        inside = frame.inside(*(each.target for each in node.generators))
        groups = self._together(
            node.generators, inside, lambda each: _one(each.operands(node.elt, inside))
        )
        return [found for group in groups for found in group]


def _variables(generators: list[ast.comprehension]) -> list[str]:
    return [name for each in generators for name in names_in(each.target)]


@lru_cache(5_000)
def _pairs(node: ast.Compare) -> list[ast.Compare]:
    """`a <= b < c` as `a <= b` and `b < c`."""
    sides = [node.left, *node.comparators]
    return [
        ast.copy_location(ast.Compare(left, [op], [right]), node)
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
    ]


@lru_cache(5_000)
def _returned(node: ast.stmt) -> list[ast.expr | None]:
    """The expressions that the returns in a statement return."""
    return [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]


def _could_return(statement: ast.stmt, frame: Frame, truth: bool) -> bool:
    """Does it contain a return whose value is of this truth, or is not known beforehand?"""
    for each in _returned(statement):
        match each:
            case ast.Constant(value=value):
                pass
            case ast.Name(id=name) if names_constant(name, frame):
                value = frame.look_up(name)
            case _:
                return True
        if bool(value) == truth:
            return True
    return False


def _is_reason(node: ast.expr, frame: Frame) -> bool:
    """Is it a text, which a shared guard has returned?"""
    return isinstance(node, ast.Name) and isinstance(frame.evaluate(node), str)


def _one(group: Group) -> list[Group]:
    return [group] if group else []


def _in_turn(groups: list[list[Group]]) -> list[Group]:
    """The first group of each, then the second of each, so that the first few come from all."""
    return [each for turn in zip_longest(*groups) for each in turn if each is not None]


def _listed(values: list[str], varies: bool) -> str:
    same = len(set(values)) == 1
    if same and (len(values) == 1 or not varies):
        return values[0]
    return shortened(" · ".join(values))
