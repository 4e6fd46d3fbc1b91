"""TLA+ expressions as nested tuples, ("kind", parts...), and the simplest form of each.

Names are ("name", text). What binds a name: fn, quant, filter, map, choose, let. Expressions are
values: they compare and hash, so that equal ones are found. `text` prints them.
"""

from collections.abc import Callable
from typing import Any

Expression = tuple

TRUE, FALSE = ("name", "TRUE"), ("name", "FALSE")
EMPTY = ("set", ())

_OPPOSITES = {"=": "#", "#": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPPOSITES |= {"\\in": "\\notin", "\\notin": "\\in"}


def name(text: str) -> Expression:
    """A name."""
    return ("name", text)


def number(value: int) -> Expression:
    """A whole number."""
    return ("num", value)


def string(value: str) -> Expression:
    """A string."""
    return ("str", value)


def boolean(value: bool) -> Expression:
    """TRUE or FALSE."""
    return TRUE if value else FALSE


def op(sign: str, left: Expression, right: Expression) -> Expression:
    """A binary operator; sums of numbers, and comparisons of constants, are computed."""
    if left[0] == right[0] == "num":
        a, b = left[1], right[1]
        match sign:
            case "+":
                return number(a + b)
            case "-":
                return number(a - b)
            case "*":
                return number(a * b)
            case "=" | "#" | "<" | ">" | "<=" | ">=":
                compare = {"=": a == b, "#": a != b, "<": a < b, ">": a > b, "<=": a <= b}
                return boolean(compare.get(sign, a >= b))
    if sign in ("=", "#") and left[0] == right[0] == "str":
        return boolean((left == right) == (sign == "="))
    if sign in ("=", "#") and left == right:
        return boolean(sign == "=")
    if sign == "+" and left == number(0):
        return right
    if sign in ("+", "-") and right[0] == "num":
        return _shifted(left, right[1] if sign == "+" else -right[1])
    if sign == "\\cup" and EMPTY in (left, right):
        return left if right == EMPTY else right
    if sign == "\\" and right == EMPTY:
        return left
    if sign == "\\in" and right == EMPTY:
        return FALSE
    if sign == "\\in" and right[0] == "set" and len(right[1]) == 1:
        return op("=", left, right[1][0])
    return ("op", sign, left, right)


def _shifted(left: Expression, by: int) -> Expression:
    """left + by, where left may itself be a sum with a number."""
    if left[0] == "op" and left[1] in ("+", "-") and left[3][0] == "num":
        by += left[3][1] if left[1] == "+" else -left[3][1]
        left = left[2]
    if by == 0:
        return left
    return ("op", "+", left, number(by)) if by > 0 else ("op", "-", left, number(-by))


def conj(parts: list[Expression]) -> Expression:
    """The conjunction, flat and without what does not matter."""
    return _junction("and", parts, TRUE, FALSE)


def disj(parts: list[Expression]) -> Expression:
    """The disjunction, flat and without what does not matter."""
    return _junction("or", parts, FALSE, TRUE)


def _junction(kind: str, parts: list, neutral: Expression, absorbing: Expression) -> Expression:
    found: list[Expression] = []
    for each in parts:
        for one in each[1] if each[0] == kind else (each,):
            if bare(one) == absorbing:
                return absorbing
            if bare(one) != neutral and one not in found:
                found.append(one)
    if not found:
        return neutral
    return found[0] if len(found) == 1 else (kind, tuple(found))


def bare(expression: Expression) -> Expression:
    """Without a note."""
    return expression[1] if expression[0] == "note" else expression


def note(expression: Expression, text: str) -> Expression:
    """An expression with a remark, which stands behind it as a comment."""
    return expression if expression[0] in ("note", "and") else ("note", expression, text)


def neg(expression: Expression) -> Expression:
    """The negation, as far inside as it goes."""
    kind = expression[0]
    if expression in (TRUE, FALSE):
        return FALSE if expression == TRUE else TRUE
    if kind == "not":
        return expression[1]
    if kind == "op" and expression[1] in _OPPOSITES:
        return ("op", _OPPOSITES[expression[1]], *expression[2:])
    if kind == "and":
        return disj([neg(each) for each in expression[1]])
    if kind == "or":
        return conj([neg(each) for each in expression[1]])
    if kind == "quant":
        other = "\\E" if expression[1] == "\\A" else "\\A"
        return quantified(other, expression[2], expression[3], neg(expression[4]))
    if kind == "if":
        return if_(expression[1], neg(expression[2]), neg(expression[3]))
    if kind == "note":
        return neg(expression[1])
    return ("not", expression)


def if_(condition: Expression, then: Expression, other: Expression) -> Expression:
    """IF, or what it amounts to where a branch is TRUE or FALSE."""
    if condition in (TRUE, FALSE):
        return then if condition == TRUE else other
    if then == other:
        return then
    if bare(then) == FALSE:
        told = neg(condition)
        return conj([note(told, then[2]) if then[0] == "note" else told, other])
    if bare(other) == FALSE:
        told = note(condition, other[2]) if other[0] == "note" else condition
        return conj([told, then])
    if bare(then) == TRUE:
        return disj([condition, other])
    if bare(other) == TRUE:
        return disj([neg(condition), then])
    if condition[0] == "not":
        return ("if", condition[1], other, then)
    return ("if", condition, then, other)


def quantified(sign: str, bound: str, domain: Expression, body: Expression) -> Expression:
    """\\A or \\E, or the body where that is decided."""
    if bare(body) in (TRUE, FALSE) and bare(body) == boolean(sign == "\\A"):
        return bare(body)
    return ("quant", sign, bound, domain, body)


def filtered(bound: str, domain: Expression, condition: Expression) -> Expression:
    """{bound \\in domain : condition}."""
    return domain if condition == TRUE else ("filter", bound, domain, condition)


def mapped(value: Expression, bound: str, domain: Expression) -> Expression:
    """{value : bound \\in domain}."""
    return domain if value == name(bound) else ("map", value, bound, domain)


def call(operator: str, *given: Expression) -> Expression:
    """An operator with its arguments."""
    return ("call", operator, tuple(given))


def between(low: Expression, high: Expression) -> Expression:
    """low..high."""
    return ("op", "..", low, high)


def index(function: Expression, at: Expression) -> Expression:
    """function[at], computed where the function is known."""
    if function[0] == "fn":
        return substitute(function[3], {function[1]: at})
    if function[0] == "tuple" and at[0] == "num" and 1 <= at[1] <= len(function[1]):
        return function[1][at[1] - 1]
    if function[0] == "except":
        found = read_through(function, ("i", at))
        if found is not None:
            return found
    return ("index", function, at)


def field(record: Expression, of: str) -> Expression:
    """record.of, computed where the record is known."""
    if record[0] == "record":
        return dict(record[1])[of]
    if record[0] == "if" and all(each[0] == "record" for each in record[2:]):
        return if_(record[1], field(record[2], of), field(record[3], of))
    if record[0] == "except":
        found = read_through(record, ("f", of))
        if found is not None:
            return found
    return ("field", record, of)


def read_through(changed: Expression, step: tuple) -> Expression | None:
    """One step into [base EXCEPT ...]; None if it is not known which clauses concern it."""
    base, inner = at(changed[1], step), []
    for path, value in changed[2]:
        same = is_same_step(path[0], step)
        if same is None:
            return None
        if same and len(path) == 1:
            base, inner = value, []
        elif same:
            inner.append((path[1:], value))
    return changed_at(base, inner)


def is_same_step(one: tuple, other: tuple) -> bool | None:
    """Do two steps of a path lead to the same place? None if that is not known."""
    if one == other:
        return True
    if one[0] == "f" or (one[1][0] == other[1][0] and one[1][0] in ("num", "str")):
        return False
    return None


def at(expression: Expression, step: tuple) -> Expression:
    """One step of a path into an expression."""
    return field(expression, step[1]) if step[0] == "f" else index(expression, step[1])


def follow(expression: Expression, path: tuple) -> Expression:
    """What is at the end of a path."""
    for step in path:
        expression = at(expression, step)
    return expression


def changed_at(base: Expression, clauses: list[tuple[tuple, Expression]]) -> Expression:
    """[base EXCEPT !path = value, ...]; a record or an earlier EXCEPT takes the changes in."""
    for path, value in clauses:
        base = _changed(base, path, value)
    return base


def _changed(base: Expression, path: tuple, value: Expression) -> Expression:
    if not path:
        return value
    if base[0] == "record" and path[0][0] == "f":
        parts = dict(base[1])
        parts[path[0][1]] = _changed(parts[path[0][1]], path[1:], value)
        return ("record", tuple(parts.items()))
    if follow(base, path) == value:
        return base
    if base[0] == "except":
        kept = list(base[2])
        for k in reversed(range(len(kept))):
            if kept[k][0] == path:
                kept[k] = (path, value)
                return ("except", base[1], tuple(kept))
            if not _are_apart(kept[k][0], path):
                break
        return ("except", base[1], (*kept, (path, value)))
    return ("except", base, ((path, value),))


def _are_apart(one: tuple, other: tuple) -> bool:
    return any(is_same_step(a, b) is False for a, b in zip(one, other, strict=False))


# --- Names -----------------------------------------------------------------------------------


def parts_of(expression: Expression) -> list[Expression]:
    """The expressions right below."""
    found: list[Expression] = []

    def note_it(each: Expression) -> Expression:
        found.append(each)
        return each

    rebuilt(expression, note_it)
    return found


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same with each part right below changed, in its simplest form."""
    kind, *parts = expression
    match kind:
        case "num" | "str" | "name" | "leaf" | "unchanged":
            return expression
        case "op":
            return op(parts[0], change(parts[1]), change(parts[2]))
        case "and":
            return conj([change(each) for each in parts[0]])
        case "or":
            return disj([change(each) for each in parts[0]])
        case "not":
            return neg(change(parts[0]))
        case "if":
            return if_(*(change(each) for each in parts))
        case "quant":
            return quantified(parts[0], parts[1], change(parts[2]), change(parts[3]))
        case "filter":
            return filtered(parts[0], change(parts[1]), change(parts[2]))
        case "map":
            return mapped(change(parts[0]), parts[1], change(parts[2]))
        case "fn" | "choose":
            return (kind, parts[0], change(parts[1]), change(parts[2]))
        case "call":
            return call(parts[0], *map(change, parts[1]))
        case "index":
            return index(change(parts[0]), change(parts[1]))
        case "field":
            return field(change(parts[0]), parts[1])
        case "record":
            return ("record", tuple((each, change(value)) for each, value in parts[0]))
        case "set" | "tuple":
            return (kind, tuple(map(change, parts[0])))
        case "except":
            clauses = [
                (tuple((s, change(v) if s == "i" else v) for s, v in path), change(value))
                for path, value in parts[1]
            ]
            return changed_at(change(parts[0]), clauses)
        case "let":
            defined = tuple((n, p, change(v), r) for n, p, v, r in parts[0])
            return ("let", defined, change(parts[1]))
        case "functions":
            return (kind, change(parts[0]), change(parts[1]))
        case "prefix":
            return ("prefix", parts[0], change(parts[1]))
        case "prime":
            return ("prime", change(parts[0]))
        case "box":
            return ("box", change(parts[0]), parts[1])
        case "note":
            return ("note", change(parts[0]), parts[1])
    raise ValueError(kind)


def names_in(expression: Expression) -> frozenset[str]:
    """The names that are free in an expression, operators included."""
    found = _names.get(expression)
    if found is None:
        found = _names[expression] = _free(expression)
    return found


_names: dict[Expression, frozenset[str]] = {}


def _free(expression: Expression) -> frozenset[str]:
    kind = expression[0]
    if kind == "name":
        return frozenset([expression[1]])
    if kind in ("num", "str", "unchanged", "leaf"):
        return frozenset()
    if kind in ("fn", "filter", "choose"):
        return names_in(expression[2]) | (names_in(expression[3]) - {expression[1]})
    if kind == "map":
        return names_in(expression[3]) | (names_in(expression[1]) - {expression[2]})
    if kind == "quant":
        return names_in(expression[3]) | (names_in(expression[4]) - {expression[2]})
    if kind == "let":
        found = names_in(expression[2])
        for defined, parameters, value, _ in reversed(expression[1]):
            found = (found | (names_in(value) - set(parameters))) - {defined}
        return found
    found = frozenset([expression[1]]) if kind == "call" else frozenset()
    return found.union(*map(names_in, parts_of(expression)))


def all_names(expression: Expression) -> frozenset[str]:
    """The names that are free or bound in an expression."""
    found = names_in(expression).union(*map(all_names, parts_of(expression)))
    if expression[0] == "let":
        for defined, parameters, _, _ in expression[1]:
            found |= {defined, *parameters}
    bound = binder_of(expression)
    return found if bound is None else found | {bound}


def binder_of(expression: Expression) -> str | None:
    """The name that an expression binds, if it is of a kind that does."""
    match expression:
        case ("fn" | "filter" | "choose", bound, _, _) | ("map", _, bound, _):
            return bound
        case ("quant", _, bound, _, _):
            return bound
    return None


def substitute(expression: Expression, values: dict[str, Expression]) -> Expression:
    """The expression with values for free names; bound names make way for those in the values."""
    values = {each: value for each, value in values.items() if each in names_in(expression)}
    if not values:
        return expression
    if expression[0] == "name":
        return values[expression[1]]
    incoming = frozenset().union(*map(names_in, values.values()))
    bound = binder_of(expression)
    if bound is not None:
        if bound in incoming:
            taken = incoming | names_in(expression) | {bound}
            renamed = unused(bound, taken)
            inner = {"fn": 3, "filter": 3, "choose": 3, "quant": 4, "map": 1}[expression[0]]
            parts = list(expression)
            parts[inner] = substitute(parts[inner], {bound: name(renamed)})
            parts[{"quant": 2, "map": 2}.get(expression[0], 1)] = renamed
            return substitute(tuple(parts), values)
        domain = {"fn": 2, "filter": 2, "choose": 2, "quant": 3, "map": 3}[expression[0]]
        inner = {k: v for k, v in values.items() if k != bound}
        return rebuilt(
            expression,
            lambda each: substitute(each, values if each is expression[domain] else inner),
        )
    if expression[0] == "let":
        (defined, parameters, value, recursive), *more = expression[1]
        body = ("let", tuple(more), expression[2]) if more else expression[2]
        clash = [each for each in (defined, *parameters) if each in incoming]
        if clash:
            taken = incoming | names_in(value) | names_in(body) | {defined, *parameters}
            new = {each: unused(each, taken) for each in clash}
            inside = {k: name(v) for k, v in new.items() if k != defined or recursive}
            value = rename_calls(substitute(value, inside), new if recursive else {})
            body = rename_calls(
                substitute(body, {k: name(v) for k, v in new.items() if k == defined}), new
            )
            parameters = tuple(new.get(each, each) for each in parameters)
            defined = new.get(defined, defined)
        kept = {k: v for k, v in values.items() if k not in parameters}
        return let(
            defined, parameters, substitute(value, kept), substitute(body, values), recursive
        )
    return rebuilt(expression, lambda each: substitute(each, values))


def rename_calls(expression: Expression, new: dict[str, str]) -> Expression:
    """The expression with other names for the operators that it calls."""
    if not new or not names_in(expression) & set(new):
        return expression
    if expression[0] == "call" and expression[1] in new:
        given = [rename_calls(each, new) for each in expression[2]]
        return call(new[expression[1]], *given)
    return rebuilt(expression, lambda each: rename_calls(each, new))


def unused(wanted: str, taken: Any) -> str:
    """The name, or the first of name_2, name_3, ... that is not taken."""
    k, found = 1, wanted
    while found in taken:
        k += 1
        found = f"{wanted}_{k}"
    return found


def let(
    defined: str,
    parameters: tuple[str, ...],
    value: Expression,
    body: Expression,
    recursive: bool = False,
) -> Expression:
    """LET, or the body with the value itself where that is short or used once."""
    is_tree = bool(leaves(body))  # what will stand at its leaves may have the name
    if defined not in names_in(body) and not is_tree:
        return body
    if not parameters and not is_tree and (uses(body, defined) == 1 or is_short(value)):
        return substitute(body, {defined: value})
    first = (defined, parameters, value, recursive)
    if body[0] == "let":
        return ("let", (first, *body[1]), body[2])
    return ("let", (first,), body)


def uses(expression: Expression, wanted: str) -> int:
    """How often a free name occurs."""
    if wanted not in names_in(expression):
        return 0
    if expression[0] == "name":
        return 1
    return sum(uses(each, wanted) for each in parts_of(expression))


def is_short(value: Expression) -> bool:
    """Is it a name, a number, or a field or item of one?"""
    match value:
        case ("name" | "num" | "str", _):
            return True
        case ("field", record, _):
            return is_short(record)
        case ("index", function, at):
            return is_short(function) and is_short(at)
        case ("op", "+" | "-", left, right):
            return left[0] in ("name", "num") and right[0] in ("name", "num")
        case ("set", ()):
            return True
    return False


def leaves_replaced(tree: Expression, replace: Callable[[int], Expression]) -> Expression:
    """A tree of IF and LET with other leaves in place of ("leaf", k)."""
    match tree:
        case ("leaf", k):
            return replace(k)
        case ("if", condition, then, other):
            return if_(condition, leaves_replaced(then, replace), leaves_replaced(other, replace))
        case ("let", defined, body):
            body = leaves_replaced(body, replace)
            for each, parameters, value, recursive in reversed(defined):
                body = let(each, parameters, value, body, recursive)
            return body
    return tree


def defined_in(tree: Expression) -> frozenset[str]:
    """The names that a tree of IF and LET defines on its way to its leaves."""
    match tree:
        case ("if", _, then, other):
            return defined_in(then) | defined_in(other)
        case ("let", defined, body):
            return defined_in(body).union(each[0] for each in defined)
    return frozenset()


def leaves(tree: Expression) -> list[int]:
    """The numbers of the leaves of a tree."""
    match tree:
        case ("leaf", k):
            return [k]
        case ("if", _, then, other):
            return leaves(then) + leaves(other)
        case ("let", _, body):
            return leaves(body)
    return []


def tidy(expression: Expression) -> Expression:
    """With each LET in its simplest form."""
    if expression[0] == "let":
        body = tidy(expression[2])
        for defined, parameters, value, recursive in reversed(expression[1]):
            body = let(defined, parameters, tidy(value), body, recursive)
        return body
    return rebuilt(expression, tidy)


def distinct(expression: Expression, taken: frozenset[str]) -> Expression:
    """With names for what is bound that nothing around it has, as TLA+ demands."""
    bound = binder_of(expression)
    if bound is not None:
        if bound in taken:
            spot = {"quant": 2, "map": 2}.get(expression[0], 1)
            inner = {"fn": 3, "filter": 3, "choose": 3, "quant": 4, "map": 1}[expression[0]]
            new = unused(bound, taken | names_in(expression[inner]))
            parts = list(expression)
            parts[spot], parts[inner] = new, substitute(parts[inner], {bound: name(new)})
            expression, bound = tuple(parts), new
        domain = expression[{"quant": 3, "map": 3}.get(expression[0], 2)]
        return rebuilt(
            expression,
            lambda each: distinct(each, taken if each is domain else taken | {bound}),
        )
    if expression[0] == "let":
        (defined, parameters, value, recursive), *more = expression[1]
        body = ("let", tuple(more), expression[2]) if more else expression[2]
        new = {}
        for each in (defined, *parameters):
            if each in taken:
                used = all_names(value) | all_names(body) | set(new.values())
                new[each] = unused(each, taken | used)
        inside = {k: name(v) for k, v in new.items() if k != defined}
        value = substitute(value, inside)
        if defined in new:
            called = {defined: new[defined]}
            value = rename_calls(value, called) if recursive else value
            body = rename_calls(substitute(body, {defined: name(new[defined])}), called)
        defined, parameters = new.get(defined, defined), tuple(new.get(p, p) for p in parameters)
        value = distinct(value, taken | {defined, *parameters})
        body = distinct(body, taken | {defined})
        first = (defined, parameters, value, recursive)
        if body[0] == "let":
            return ("let", (first, *body[1]), body[2])
        return ("let", (first,), body)
    return rebuilt(expression, lambda each: distinct(each, taken))
