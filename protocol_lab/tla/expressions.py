"""TLA+ expressions as values, and the simplest form of each.

Every expression is an `E`: its kind, what is no expression in it (a sign, a name), and its parts.
What is bound by a quantifier, a function or a LET has a name of its own, such as "leader#7", in
the whole module, so that expressions can be put into each other; `text` shows the part before #.
"""

from collections.abc import Callable, Container
from functools import lru_cache
from itertools import chain, count
from typing import Any, NamedTuple


class E(NamedTuple):
    """An expression. The kinds that bind a name (`BINDERS`) have a domain and a body as parts."""

    kind: str
    head: Any = None
    parts: tuple["E", ...] = ()


Path = tuple[str | E, ...]
"""The way to a part of a record or function: names of fields, and indices."""

TRUE, FALSE, EMPTY = E("name", "TRUE"), E("name", "FALSE"), E("set")
BINDERS = frozenset(["\\A", "\\E", "filter", "map", "choose", "fn"])
_OPPOSITES = {"=": "#", "<": ">=", ">": "<=", "\\in": "\\notin"}
_OPPOSITES |= {other: sign for sign, other in _OPPOSITES.items()}
_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "=": int.__eq__,
    "#": int.__ne__,
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
}


def name(text: str) -> E:
    """A name."""
    return E("name", text)


def number(value: int) -> E:
    """A whole number."""
    return E("num", int(value))


def string(value: str) -> E:
    """A string."""
    return E("str", value)


def fresh(wanted: str) -> str:
    """A name that nothing else has; what stands before # is shown."""
    wanted = wanted.strip("_ ")
    return f"{wanted if wanted[:1].isalpha() else 'k'}#{next(_numbers)}"


_numbers = count()


def unused(wanted: str, taken: Container[str]) -> str:
    """The name, or the first of name_2, name_3, ... that is not taken."""
    others = (f"{wanted}_{k}" for k in count(2))
    return next(each for each in chain([wanted], others) if each not in taken)


def boolean(value: bool) -> E:
    """TRUE or FALSE."""
    return TRUE if value else FALSE


def op(sign: str, left: E, right: E) -> E:
    """A binary operator; what numbers and texts alone decide is computed."""
    if left.kind == right.kind == "num" and sign in _NUMBERS:
        found = _NUMBERS[sign](left.head, right.head)
        return boolean(found) if isinstance(found, bool) else number(found)
    if sign in ("=", "#") and (left == right or left.kind == right.kind == "str"):
        return boolean((left == right) == (sign == "="))
    if sign == "+" and left == number(0):
        return right
    if sign in ("+", "-") and right.kind == "num":
        by = right.head if sign == "+" else -right.head
        if left.kind == "op" and left.head in ("+", "-") and left.parts[1].kind == "num":
            by += left.parts[1].head if left.head == "+" else -left.parts[1].head
            left = left.parts[0]
        if by == 0:
            return left
        sign, right = ("+", number(by)) if by > 0 else ("-", number(-by))
    if sign in ("\\cup", "\\") and right == EMPTY:
        return left
    if sign == "\\cup" and left == EMPTY:
        return right
    if sign == "\\in" and right.kind == "set" and len(right.parts) < 2:
        return op("=", left, right.parts[0]) if right.parts else FALSE
    return E("op", sign, (left, right))


def conj(*parts: E) -> E:
    """The conjunction, flat and without what does not matter."""
    return _junction("and", parts, TRUE, FALSE)


def disj(*parts: E) -> E:
    """The disjunction, flat and without what does not matter."""
    return _junction("or", parts, FALSE, TRUE)


def _junction(kind: str, parts: tuple[E, ...], neutral: E, absorbing: E) -> E:
    found: dict[E, None] = {}
    for each in parts:
        for one in each.parts if each.kind == kind else (each,):
            if bare(one) == absorbing:
                return absorbing
            if bare(one) != neutral:
                found[one] = None
    if len(found) > 1:
        return E(kind, None, tuple(found))
    return next(iter(found), neutral)


def bare(expression: E) -> E:
    """Without a note."""
    return expression.parts[0] if expression.kind == "note" else expression


def note(expression: E, text: str) -> E:
    """An expression with a remark, which is shown as a comment."""
    return expression if expression.kind in ("note", "and") else E("note", text, (expression,))


def neg(expression: E) -> E:
    """The negation, as far inside as it goes."""
    kind, head, parts = expression
    if kind in ("not", "note"):
        return parts[0] if kind == "not" else neg(parts[0])
    if expression in (TRUE, FALSE):
        return boolean(expression == FALSE)
    if kind == "op" and head in _OPPOSITES:
        return E("op", _OPPOSITES[head], parts)
    if kind in ("and", "or"):
        return (disj if kind == "and" else conj)(*map(neg, parts))
    if kind in ("\\A", "\\E"):
        return E("\\E" if kind == "\\A" else "\\A", head, (parts[0], neg(parts[1])))
    if kind == "if":
        return if_(parts[0], neg(parts[1]), neg(parts[2]))
    return E("not", None, (expression,))


def in_order(guard: E) -> E:
    """A guard with => for \\/ where a later part looks something up that the earlier ones protect:
    in an action TLC tries every part of a disjunction, also if an earlier one is true."""
    kind, head, parts = guard
    if kind in ("and", "note", "if", "\\E"):
        return E(kind, head, tuple(map(in_order, parts)))
    if kind == "or" and any(map(_looks_up, parts[1:])):
        return E("op", "=>", (neg(parts[0]), in_order(disj(*parts[1:]))))
    return guard


def _looks_up(expression: E) -> bool:
    """Is there an item at a place that is computed, or an operator that gets such a place?"""
    given = expression.parts if expression.kind == "call" else expression.parts[1:]
    own = expression.kind in ("index", "call") and any(each.kind == "op" for each in given)
    return own or any(map(_looks_up, expression.parts))


def if_(condition: E, then: E, other: E) -> E:
    """IF, or what it amounts to where a branch is TRUE or FALSE."""
    if condition in (TRUE, FALSE) or then == other:
        return other if condition == FALSE else then
    for branch, test, rest in ((then, neg(condition), other), (other, condition, then)):
        if bare(branch) == FALSE:
            return conj(note(test, branch.head) if branch.kind == "note" else test, rest)
    if bare(then) == TRUE:
        return disj(condition, other)
    if bare(other) == TRUE:
        return disj(neg(condition), then)
    if condition.kind == "not":
        condition, then, other = condition.parts[0], other, then
    return E("if", None, (condition, then, other))


def quantified(sign: str, bound: str, domain: E, body: E) -> E:
    """\\A or \\E, or TRUE or FALSE where any domain gives that."""
    if bare(body) == boolean(sign == "\\A"):
        return bare(body)
    return E(sign, bound, (domain, body))


def filtered(bound: str, domain: E, test: E) -> E:
    """{bound \\in domain : test}."""
    return domain if test == TRUE else E("filter", bound, (domain, test))


def mapped(bound: str, domain: E, value: E) -> E:
    """{value : bound \\in domain}."""
    return domain if value == name(bound) else E("map", bound, (domain, value))


def call(operator: str, *given: E) -> E:
    """An operator with its arguments."""
    return E("call", operator, given)


def single(item: E) -> E:
    """{item}."""
    return E("set", None, (item,))


def between(low: E, high: E) -> E:
    """low..high."""
    return E("op", "..", (low, high))


def record(**parts: E) -> E:
    """[field |-> value, ...]."""
    return E("record", tuple(parts), tuple(parts.values()))


def at(whole: E, step: str | E) -> E:
    """whole.field or whole[index], computed where the whole is known."""
    if whole.kind == "except":
        found = _read_through(whole, step)
        if found is not None:
            return found
    if isinstance(step, str):
        if whole.kind == "record":
            return whole.parts[whole.head.index(step)]
        return E("field", step, (whole,))
    if whole.kind == "fn":
        return substitute(whole.parts[1], {whole.head: step})
    if whole.kind == "tuple" and step.kind == "num" and 1 <= step.head <= len(whole.parts):
        return whole.parts[step.head - 1]
    return E("index", None, (whole, step))


def follow(whole: E, path: Path) -> E:
    """What is at the end of a path."""
    for step in path:
        whole = at(whole, step)
    return whole


def _read_through(changed: E, step: str | E) -> E | None:
    """One step into [base EXCEPT ...]; None if it is not known which clauses concern it."""
    found, inner = at(changed.parts[0], step), []
    for path, value in clauses(changed):
        same = _is_same(path[0], step)
        if same is None:
            return None
        if same and len(path) == 1:
            found, inner = value, []
        elif same:
            inner.append((path[1:], value))
    for path, value in inner:
        found = changed_at(found, path, value)
    return found


def _is_same(one: str | E, other: str | E) -> bool | None:
    """Do two steps of a path lead to the same place? None if that is not known."""
    if one == other:
        return True
    if isinstance(one, str) or one.kind == other.kind == "num":
        return False
    return None


def clauses(changed: E) -> list[tuple[Path, E]]:
    """The clauses of [base EXCEPT !path = value, ...]: its head has the paths, with None for each
    index; the indices and values are its parts."""
    parts, found = iter(changed.parts[1:]), []
    for shape in changed.head:
        path = tuple(next(parts) if step is None else step for step in shape)
        found.append((path, next(parts)))
    return found


def changed_at(base: E, path: Path, value: E) -> E:
    """[base EXCEPT !path = value]; a record, or an earlier EXCEPT, takes the change in."""
    if not path or follow(base, path) == value:
        return base if path else value
    if base.kind == "record":
        parts = dict(zip(base.head, base.parts, strict=True))
        return record(**parts | {path[0]: changed_at(parts[path[0]], path[1:], value)})
    kept = clauses(base) if base.kind == "except" else []
    spot = len(kept)
    for k in reversed(range(len(kept))):
        if kept[k][0] == path:
            spot = k
        if all(_is_same(a, b) is not False for a, b in zip(kept[k][0], path, strict=False)):
            break
    kept[spot : spot + 1] = [(path, value)]
    shapes = tuple(tuple(s if isinstance(s, str) else None for s in each) for each, _ in kept)
    parts = [p for each, new in kept for p in (*(s for s in each if isinstance(s, E)), new)]
    return E("except", shapes, (base.parts[0] if base.kind == "except" else base, *parts))


def let(defined: str, value: E, body: E, given: tuple[str, ...] = ()) -> E:
    """LET, or the body with the value itself where that is short or used once. With parameters it
    is an operator that calls itself."""
    times = _uses(body, defined)
    if not times:
        return body
    if not given and (times == 1 or is_short(value)):
        return substitute(body, {defined: value})
    return E("let", (defined, given), (value, body))


def is_short(value: E) -> bool:
    """Is it a name, a number, or a field or an item of one?"""
    atoms = ("name", "num", "str")
    if value.kind == "op" and value.head in ("+", "-"):
        return all(each.kind in atoms for each in value.parts)
    return (
        value.kind in atoms
        or value == EMPTY
        or (value.kind in ("field", "index") and all(map(is_short, value.parts)))
    )


# --- All parts of an expression ------------------------------------------------------------------


def rebuilt(expression: E, change: Callable[[E], E]) -> E:
    """The same with each part changed, in its simplest form."""
    kind, head, old = expression
    if not old:
        return expression
    parts = tuple(map(change, old))
    if parts == old:
        return expression
    match kind:
        case "op":
            return op(head, *parts)
        case "and" | "or":
            return (conj if kind == "and" else disj)(*parts)
        case "not":
            return neg(*parts)
        case "if":
            return if_(*parts)
        case "index":
            return at(*parts)
        case "field":
            return at(parts[0], head)
        case "\\A" | "\\E":
            return quantified(kind, head, *parts)
        case "filter":
            return filtered(head, *parts)
        case "except":
            found = parts[0]
            for path, value in clauses(E(kind, head, parts)):
                found = changed_at(found, path, value)
            return found
        case "let":
            return let(head[0], *parts, head[1])
    return E(kind, head, parts)


@lru_cache(50_000)
def names_in(expression: E) -> frozenset[str]:
    """The names in an expression, those of operators and bound ones included."""
    own = [expression.head] if expression.kind in ("name", "call") else []
    return frozenset(own).union(*map(names_in, expression.parts))


def _uses(expression: E, wanted: str) -> int:
    if wanted not in names_in(expression):
        return 0
    own = expression.kind in ("name", "call") and expression.head == wanted
    return own + sum(_uses(each, wanted) for each in expression.parts)


def substitute(expression: E, values: dict[str, E]) -> E:
    """The expression with values for names."""
    if names_in(expression).isdisjoint(values):
        return expression
    if expression.kind == "name":
        return values[expression.head]
    return rebuilt(expression, lambda each: substitute(each, values))
