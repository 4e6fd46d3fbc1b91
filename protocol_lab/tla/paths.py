"""The paths through a piece of code: a tree of IF and LET with a leaf where each path ends.

Where two paths go on to the same code they are joined: what differs becomes an IF.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import E
from protocol_lab.tla.values import NOTHING, Scope, Value, common_type, converted, is_whole


@dataclass(frozen=True, eq=False)
class End:
    """Where a path ends. how: "next", "return", "break" or "continue"."""

    how: str
    scope: Scope
    value: Value = NOTHING


def leaf(how: str, scope: Scope, value: Value = NOTHING) -> E:
    """A tree of one path."""
    return E("leaf", End(how, scope, value))


def ends(tree: E) -> Iterator[End]:
    """The ends of all paths."""
    if tree.kind == "leaf":
        yield tree.head
    else:
        for each in tree.parts[1:]:
            yield from ends(each)


def goes_on(tree: E) -> bool:
    """Does a path go on to what comes next?"""
    return any(end.how == "next" for end in ends(tree))


def closed(tree: E, value: Callable[[End], E]) -> E:
    """The tree as an expression, with a value for each end."""
    if tree.kind == "leaf":
        return value(tree.head)
    if tree.kind == "let":
        return tla.let(tree.head[0], tree.parts[0], closed(tree.parts[1], value), tree.head[1])
    return tla.if_(tree.parts[0], *(closed(each, value) for each in tree.parts[1:]))


def continued(tree: E, go_on: Callable[[End], E]) -> E:
    """The tree with another tree in place of each leaf."""
    if tree.kind == "leaf":
        return go_on(tree.head)
    parts = tree.parts[0], *(continued(each, go_on) for each in tree.parts[1:])
    return E("let", tree.head, parts) if tree.kind == "let" else branch(*parts)


def then(tree: E, go_on: Callable[[Scope], E]) -> E:
    """The tree with what comes next."""
    return continued(tree, lambda end: go_on(end.scope) if end.how == "next" else E("leaf", end))


def branch(test: E, yes: E, no: E) -> E:
    """A tree of two; the paths that go on in both are joined, if that can be."""
    if test in (tla.TRUE, tla.FALSE):
        return yes if test == tla.TRUE else no
    if goes_on(yes) and goes_on(no):
        for tree, other, holds in ((yes, no, test), (no, yes, tla.neg(test))):
            if tree.kind == "let":
                rest = branch(holds, tree.parts[1], other)
                return E("let", tree.head, (tree.parts[0], rest))
            if tree.kind == "if":
                inner, stops, rest = tree.parts
                if goes_on(stops):
                    inner, stops, rest = tla.neg(inner), rest, stops
                if not goes_on(stops):
                    return branch(tla.conj(holds, inner), stops, branch(holds, rest, other))
        if yes.kind == no.kind == "leaf":
            return _joined(test, yes.head.scope, no.head.scope) or E("if", None, (test, yes, no))
    return E("if", None, (test, yes, no))


def _joined(test: E, yes: Scope, no: Scope) -> E | None:
    """One path in place of two; None if a variable is another part of the state on each."""
    names, cells, lets = {}, {}, []

    def one_of(wanted: str, a: E, b: E) -> E:
        found = tla.if_(test, a, b)
        if a == b or tla.is_short(found):
            return found
        lets.append((tla.fresh(wanted), found))
        return tla.name(lets[-1][0])

    common = [each for each in yes.names if each in no.names]
    for each in common:
        a, b = yes.names[each], no.names[each]
        if a != b and any(v.place or v.known is not None or is_whole(v.type) for v in (a, b)):
            return None
    for each in common:
        a, b = yes.names[each], no.names[each]
        names[each] = a
        if a != b:
            kind = common_type([a.type, b.type])
            names[each] = Value(one_of(each, converted(a, kind), converted(b, kind)), kind)
    for each in (cell for cell in yes.cells if cell in no.cells):
        wanted = each.partition(".")[2] + "_new"
        cells[each] = one_of(wanted, yes.cells[each], no.cells[each])
    tree = leaf("next", Scope(names, cells))
    for defined, value in reversed(lets):
        tree = E("let", (defined, ()), (value, tree))
    return tree
