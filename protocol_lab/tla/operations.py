"""Conditions, comparisons and arithmetic, and the same signs between sets of nodes."""

import ast

from protocol_lab.spec.layout import Array, Bag, Named, Per, Seq
from protocol_lab.spec.parameters import Sequences
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.assignments import as_stored
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.lookup import global_value
from protocol_lab.tla.values import (
    ALL_BUT,
    BOOL,
    INT,
    NODES,
    OwnList,
    Scope,
    Translation,
    Value,
    common_type,
    type_of,
)


def if_expression(t: Translation, node: ast.IfExp, scope: Scope) -> Value:
    """One value or another."""
    test = t.test(node.test, scope)
    if test in (TRUE, FALSE):
        return t.expression(node.body if test == TRUE else node.orelse, scope)
    values = [t.evaluated(each, scope) for each in (node.body, node.orelse)]
    kind = common_type([each.type for each in values])
    return Value(tla.if_(test, *(t.convert(each, kind, node) for each in values)), kind)


def and_or(t: Translation, node: ast.BoolOp, both: bool, parts: list, scope: Scope) -> Value:
    """`and` or `or` of several parts; as in Python it is one of them."""
    values = [t.evaluated(each, scope) for each in parts]
    if all(each.type == BOOL for each in values[:-1]) and values[-1].type in (BOOL, INT):
        tests = [t.condition(each, node) for each in values]
        return Value(tla.conj(tests) if both else tla.disj(tests), BOOL)
    raise t.fail(node, "`and` and `or` of what is no condition have no translation to TLA+")


def comparison(t: Translation, node: ast.Compare, scope: Scope) -> Expression:
    """A comparison, also a chain such as a < b < c."""
    sides = [t.expression(each, scope) for each in (node.left, *node.comparators)]
    found = []
    for k, sign in enumerate(node.ops):
        left, right = sides[k], sides[k + 1]
        if isinstance(sign, ast.In | ast.NotIn):
            member = membership(t, node, left, right, scope)
            found.append(tla.neg(member) if isinstance(sign, ast.NotIn) else member)
            continue
        found.append(_compared(t, node, sign, t.read(left, scope), t.read(right, scope)))
    return tla.conj(found)


def _compared(
    t: Translation, node: ast.AST, sign: ast.cmpop, left: Value, right: Value
) -> Expression:
    signs = {
        ast.Eq: "=",
        ast.NotEq: "#",
        ast.Lt: "<",
        ast.LtE: "<=",
        ast.Gt: ">",
        ast.GtE: ">=",
    }
    signs |= {ast.Is: "=", ast.IsNot: "#"}
    shown = signs[type(sign)]
    if left.known is not None or right.known is not None:
        raise t.fail(node, "this comparison has no translation to TLA+")
    if shown in ("=", "#"):
        kind = common_type([left.type, right.type])
        if isinstance(kind, Named) and INT in (left.type, right.type):
            pass
        elif BOOL in (left.type, right.type) and INT in (left.type, right.type):
            numbers = {tla.number(0): FALSE, tla.number(1): TRUE}
            side, other = (left, right) if left.type == INT else (right, left)
            if side.expression in numbers:
                same = numbers[side.expression] == TRUE
                told = other.expression if same else tla.neg(other.expression)
                return told if shown == "=" else tla.neg(told)
        elif kind == NODES:
            left, right = (_masked(t, each) for each in (left, right))
    else:
        kind = INT
    sides = (t.convert(each, kind, node) for each in (left, right))
    if kind == BOOL:
        a, b = sides
        return ("op", "=", a, b) if shown == "=" else ("op", "#", a, b)
    return tla.op(shown, *sides)


def _masked(t: Translation, value: Value) -> Value:
    """2 ** (n + 1) - 2 is the set 1..n."""
    match value.expression:
        case ("op", "-", ("op", "^", ("num", 2), power), ("num", 2)) if value.type == INT:
            return Value(t.types.up_to(tla.op("-", power, tla.number(1))), NODES)
    return value


def membership(
    t: Translation, node: ast.AST, left: Value, right: Value, scope: Scope
) -> Expression:
    """Is the item one of the others?"""
    item, of = t.read(left, scope), t.read(right, scope)
    if isinstance(of.known, range):
        of = Value(None, "list", known=[Value(tla.number(k), INT) for k in of.known])
    if isinstance(of.known, tuple | frozenset | set) and of.type == "object":
        parts = [global_value(t, node, "", each) for each in of.known]
        of = Value(None, "list", known=parts)
    if isinstance(of.known, list):
        kind = common_type([item.type, *(each.type for each in of.known)])
        parts = tuple(t.convert(each, kind, node) for each in of.known)
        return tla.op("\\in", t.convert(item, kind, node), ("set", parts))
    if of.type == NODES:
        return tla.op("\\in", t.convert(item, INT, node), of.expression)
    if isinstance(of.type, Bag | Seq | Array | Per | Sequences):
        kind = INT if isinstance(of.type, Sequences) else type_of(of.type.item)
        member = as_stored(t, item, kind, node)
        if isinstance(of.type, Bag):
            return tla.op("\\in", member, t.as_set(of.type, of.expression))
        return tla.op("\\in", member, tla.call(t.use("Items"), of.expression))
    raise t.fail(node, "what is asked with `in` is no set that TLA+ could have")


def operation(t: Translation, node: ast.BinOp, scope: Scope) -> Value:
    """Arithmetic, an operation on sets of nodes, or a list that repeats one item."""
    match node:
        case ast.BinOp(ast.List([each]), ast.Mult(), count):
            item = t.evaluated(each, scope)
            kind = OwnList(t.number(count, scope), item.type)
            return Value(("fn", "k", t.types.domain(kind), item.expression), kind)
    left, right = t.evaluated(node.left, scope), t.evaluated(node.right, scope)
    sets = {NODES, ALL_BUT}
    if isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor) and (
        left.type in sets or right.type in sets
    ):
        return _set_operation(t, node, left, right)
    if isinstance(node.op, ast.BitAnd | ast.BitOr) and left.type == right.type == BOOL:
        parts = [left.expression, right.expression]
        joined = tla.conj(parts) if isinstance(node.op, ast.BitAnd) else tla.disj(parts)
        return Value(joined, BOOL)
    a, b = (t.convert(each, INT, node) for each in (left, right))
    signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "\\div", ast.Mod: "%"}
    signs[ast.Pow] = "^"
    if type(node.op) in signs:
        return Value(tla.op(signs[type(node.op)], a, b), INT)
    raise t.fail(node, "bits of a number have no translation to TLA+, but sets of nodes do")


def _set_operation(t: Translation, node: ast.BinOp, left: Value, right: Value) -> Value:
    if isinstance(node.op, ast.BitAnd):
        if left.type == right.type == ALL_BUT:
            return Value(tla.op("\\cup", left.expression, right.expression), ALL_BUT)
        if left.type == ALL_BUT:
            left, right = right, left
        a = t.convert(left, NODES, node)
        if right.type == ALL_BUT:
            return Value(tla.op("\\", a, right.expression), NODES)
        return Value(tla.op("\\cap", a, t.convert(right, NODES, node)), NODES)
    a, b = (t.convert(each, NODES, node) for each in (left, right))
    if isinstance(node.op, ast.BitOr):
        return Value(tla.op("\\cup", a, b), NODES)
    return Value(tla.op("\\cup", tla.op("\\", a, b), tla.op("\\", b, a)), NODES)
