"""Loops: as a quantifier, a set, a sum or a function where they are one, else as a recursion."""

import ast
from dataclasses import replace
from typing import Any

from protocol_lab.language.reading import names_assigned
from protocol_lab.tla import expressions as tla
from protocol_lab.tla.calls import bind, bind_index, total
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.iteration import Through, listed_bag, through
from protocol_lab.tla.paths import Ends, joined
from protocol_lab.tla.values import (
    BOOL,
    NODES,
    TEXT,
    Scope,
    Translation,
    Value,
    common_type,
    converted,
    is_whole,
)


class _Passes:
    """One pass through a loop's body, as a tree whose leaves are its ends.

    Variables and cells that the body changes begin as names, `symbols`: from what they are at the
    beginning of a pass to what they are at its end.
    """

    def __init__(self, t: Translation, code: list[ast.stmt], scope: Scope):
        self.t, self.code, self.start = t, code, scope
        self.symbols: dict[str, str] = {}
        self.kinds: dict[str, Any] = {}

    def run(self, inner: Scope, first: Scope) -> None:
        """inner: the scope with the loop's variables. first: the scope before the loop."""
        assigned = {each for line in self.code for each in names_assigned(line)}
        changed: set[str] = set()
        for each in assigned:
            old = first.names.get(each)
            if old is not None and old.place is None and old.known is None:
                changed.add(each)
        while True:
            scope = inner
            self.symbols = {}
            for each in sorted(changed):
                symbol = self.t.fresh(each.rpartition(".")[2].strip(), scope)
                scope = scope.binding(symbol)
                self.symbols[each] = symbol
                if each in first.cells:
                    scope = scope.with_cell(each, tla.name(symbol))
                else:
                    kind = self.kinds.get(each, first.names[each].type)
                    scope = scope.named(each, Value(tla.name(symbol), kind))
                    self.kinds[each] = kind
            self.begin = scope
            self.ends: list[tuple[str, Scope, Value | None]] = []
            self.tree = self.t.block(
                self.code,
                scope,
                Ends(
                    lambda last: self._leaf("next", last),
                    lambda value, last: self._leaf("returned", last, value),
                    lambda last: self._leaf("broken", last),
                    lambda last: self._leaf("next", last),
                ),
            )
            more = {
                cell
                for _, last, _ in self.ends
                for cell in first.cells
                if last.cells[cell][0] != scope.cells[cell][0]
            }
            retyped = False
            for each in self.symbols:
                if each in first.cells:
                    continue
                kinds = [last.names[each].type for how, last, _ in self.ends if how != "returned"]
                kind = common_type([self.kinds[each], *kinds])
                retyped |= kind != self.kinds[each]
                self.kinds[each] = kind
            if more <= changed and not retyped:
                break
            changed |= more
        left = [last for how, last, _ in self.ends if how != "returned"]
        for each in list(self.symbols):
            if each not in first.cells and all(
                last.names[each].expression == tla.name(self.symbols[each]) for last in left
            ):
                del self.symbols[each]

    def _leaf(self, how: str, last: Scope, value: Value | None = None) -> Expression:
        self.ends.append((how, last, value))
        return ("leaf", len(self.ends) - 1)

    @property
    def has(self) -> set[str]:
        """How passes end."""
        return {self.ends[k][0] for k in tla.leaves(self.tree)}

    def after(self, each: str, k: int) -> Expression:
        """What a variable or cell is at an end."""
        last = self.ends[k][1]
        if each in self.start.cells:
            return last.cells[each][0]
        return converted(last.names[each], self.kinds[each])

    def whole(self, each: str) -> Expression:
        """What it is after a pass, as one expression."""
        return tla.tidy(tla.leaves_replaced(self.tree, lambda k: self.after(each, k)))

    def before(self, each: str) -> Expression:
        """What it is before the loop."""
        if each in self.start.cells:
            return self.start.cells[each][0]
        return converted(self.start.names[each], self.kinds[each])

    def put(self, scope: Scope, each: str, value: Expression) -> Scope:
        """The scope in which a variable or cell has this value."""
        if each in self.start.cells:
            return scope.with_cell(each, value)
        return scope.named(each, Value(value, self.kinds[each]))


def for_loop(t: Translation, node: ast.For, scope: Scope, ends: Ends) -> Expression:
    """What a for loop, and the code after it, amount to."""
    if node.orelse:
        raise t.fail(node, "an else of a loop has no translation to TLA+")
    items = through(t, node.target, node.iter, scope)
    bound, inner = bind_index(t, items, scope)
    again, todo = t.fresh("loop", inner), t.fresh("left", inner)
    inner = inner.binding(again, todo)
    passes = _Passes(t, node.body, scope)
    passes.run(inner, scope)
    has = passes.has
    if not passes.symbols and "returned" not in has:
        return ends.next(scope)
    if not passes.symbols and "broken" not in has:
        found = _first_return(t, node, items, bound, passes, scope, ends)
        if found is not None:
            return found
    if has <= {"next"}:
        last = _at_once(t, items, bound, passes, scope)
        if last is not None:
            return _bound(t, passes, last, scope, ends)
    if items.copies is not None:
        items = listed_bag(t, node.target, node.iter, scope)
        bound, inner = bind_index(t, items, scope)
        passes = _Passes(t, node.body, scope)
        passes.run(inner.binding(again, todo), scope)
    return _recursion(t, node, items, bound, (again, todo), passes, scope, ends)


def _bound(
    t: Translation, passes: _Passes, values: dict[str, Expression], scope: Scope, ends: Ends
) -> Expression:
    """Go on after a loop with these values, each under a name."""
    defined = []
    for each, value in values.items():
        value = tla.tidy(value)
        if not tla.is_short(value):
            wanted = passes.symbols[each]
            base = each.rpartition(".")[2].strip()
            if each in passes.start.cells:
                wanted = f"{base}_new"
            new = t.fresh(wanted, scope)
            scope = scope.binding(new)
            defined.append((new, value))
            value = tla.name(new)
        scope = passes.put(scope, each, value)
    rest = ends.next(scope)
    for new, value in reversed(defined):
        rest = ("let", ((new, (), value, False),), rest)
    return rest


def _first_return(
    t: Translation,
    node: ast.For,
    items: Through,
    bound: str,
    passes: _Passes,
    scope: Scope,
    ends: Ends,
) -> Expression | None:
    """A loop that only looks for an item: \\E, and if need be the first one."""
    returned = {
        k: passes.ends[k] for k in tla.leaves(passes.tree) if passes.ends[k][0] == "returned"
    }
    test = tla.tidy(tla.leaves_replaced(passes.tree, lambda k: tla.boolean(k in returned)))
    exists = tla.quantified("\\E", bound, items.domain, test)
    if items.whole is not None:
        exists = _by_item(t, items, passes, scope, node) or exists
    values = [value for _, _, value in returned.values()]
    first = values[0]
    plain = all(value.known is None and value.place is None for value in values)
    reasons = plain and all(v.type == TEXT and v.expression[0] == "str" for v in values)
    if reasons and all(v.expression[1] for v in values) and t.reasons_are_alike:
        same = True
    else:
        same = plain and all(value == first for value in values)
        inside = {bound, *tla.defined_in(passes.tree)}
        same = same and not inside & tla.names_in(first.expression)
    if same:
        return joined(
            t,
            lambda inner: tla.if_(exists, inner.returned(first, scope), inner.next(scope)),
            scope,
            ends,
        )
    if items.order == "sets":
        return None
    fitting = tla.filtered(bound, items.domain, test)
    chosen = ("choose", bound, fitting, TRUE)
    if items.order == "numbers":
        chosen = tla.call(t.use("Min"), fitting)

    def found(inner: Ends) -> Expression:
        value = tla.leaves_replaced(
            passes.tree,
            lambda k: (
                inner.returned(passes.ends[k][2], passes.ends[k][1].binding(bound))
                if k in returned
                else ("leaf", None)
            ),
        )
        return ("let", ((bound, (), chosen, False),), _without_others(value))

    return joined(t, lambda inner: tla.if_(exists, found(inner), inner.next(scope)), scope, ends)


def _without_others(tree: Expression) -> Expression:
    """A tree without the leaves that can't be reached."""
    match tree:
        case ("if", test, then, other):
            then, other = _without_others(then), _without_others(other)
            if ("leaf", None) in (then, other):
                return other if then == ("leaf", None) else then
            return tla.if_(test, then, other)
        case ("let", defined, body):
            body = _without_others(body)
            return body if body == ("leaf", None) else ("let", defined, body)
    return tree


def _by_item(
    t: Translation, items: Through, passes: _Passes, scope: Scope, node: ast.For
) -> Expression | None:
    """\\E item \\in Items(sequence), where the index does not matter."""
    bound, inner, domain = bind(t, items, scope)
    again = t.block(
        node.body,
        inner,
        Ends(lambda last: FALSE, lambda value, last: TRUE, None, lambda last: FALSE),
    )
    return tla.quantified("\\E", bound, domain, tla.tidy(again))


# --- All at once -----------------------------------------------------------------------------


def _at_once(
    t: Translation, items: Through, bound: str, passes: _Passes, scope: Scope
) -> dict[str, Expression] | None:
    """What each variable and cell is after all passes; None if that takes a recursion."""
    symbols = set(passes.symbols.values())
    found = {}
    for each, symbol in passes.symbols.items():
        value = passes.whole(each)
        others = symbols - {symbol}
        if tla.names_in(value) & others:
            return None
        made = _accumulated(t, items, bound, symbol, value, passes.before(each))
        if made is None and each in scope.cells:
            kind = scope.cells[each][1]
            made = _pointwise(t, items, bound, symbol, value, passes.before(each), kind)
        if made is None:
            return None
        found[each] = made
    return found


def _outcomes(value: Expression) -> list[Expression]:
    match value:
        case ("if", _, then, other):
            return _outcomes(then) + _outcomes(other)
        case ("let", _, body):
            return _outcomes(body)
    return [value]


def _mapped(value: Expression, change: Any) -> Expression:
    match value:
        case ("if", test, then, other):
            return tla.if_(test, _mapped(then, change), _mapped(other, change))
        case ("let", defined, body):
            body = _mapped(body, change)
            for each, parameters, its, recursive in reversed(defined):
                body = tla.let(each, parameters, its, body, recursive)
            return body
    return change(value)


def _accumulated(
    t: Translation, items: Through, bound: str, symbol: str, value: Expression, before: Expression
) -> Expression | None:
    """A count, a sum, a union, or the last of something."""
    own = tla.name(symbol)

    def added(outcome: Expression) -> Expression | None:
        match outcome:
            case ("op", "+", left, more) if left == own and symbol not in tla.names_in(more):
                return more
            case ("op", "+", more, right) if right == own and symbol not in tla.names_in(more):
                return more
            case ("op", "-", left, ("num", n)) if left == own:
                return tla.number(-n)
        return tla.number(0) if outcome == own else None

    def joined(outcome: Expression) -> Expression | None:
        match outcome:
            case ("op", "\\cup", left, more) if left == own and symbol not in tla.names_in(more):
                return more
        return tla.EMPTY if outcome == own else None

    outcomes = _outcomes(value)
    tests = _mapped(value, lambda outcome: tla.boolean(outcome != own))
    if symbol in tla.names_in(tests):
        return None
    if all(added(each) is not None for each in outcomes):
        steps = {added(each) for each in outcomes if each != own}
        if len(steps) == 1:
            gained = total(t, bound, items, tests, steps.pop())
        else:
            gained = total(t, bound, items, TRUE, _mapped(value, added))
        return tla.op("+", before, gained)
    if all(joined(each) is not None for each in outcomes):
        steps = {joined(each) for each in outcomes if each != own}
        domain = tla.filtered(bound, items.domain, tests)
        if len(steps) == 1:
            (step,) = steps
            if step[0] == "set" and len(step[1]) == 1:
                return tla.op("\\cup", before, tla.mapped(step[1][0], bound, domain))
            return tla.op("\\cup", before, ("prefix", "UNION", ("map", step, bound, domain)))
        all_of = ("map", _mapped(value, joined), bound, items.domain)
        return tla.op("\\cup", before, ("prefix", "UNION", all_of))
    rest = _mapped(value, lambda outcome: ("leaf", None) if outcome == own else outcome)
    if symbol in tla.names_in(rest):
        return None
    given = [each for each in outcomes if each != own]
    exists = tla.quantified("\\E", bound, items.domain, tests)
    if len(set(given)) == 1 and bound not in tla.names_in(given[0]):
        return tla.if_(exists, given[0], before)
    if items.order != "numbers":
        return None
    fitting = tla.filtered(bound, items.domain, tests)
    made = _mapped(value, lambda outcome: ("leaf", None) if outcome == own else outcome)
    latest = tla.call(t.use("Max"), fitting)
    last = tla.let(bound, (), latest, _without_others(made))
    if last == latest and before == tla.number(0):
        return tla.call(t.use("Max"), tla.op("\\cup", fitting, ("set", (tla.number(0),))))
    return tla.if_(exists, last, before)


def _pointwise(
    t: Translation,
    items: Through,
    bound: str,
    symbol: str,
    value: Expression,
    before: Expression,
    kind: Any,
) -> Expression | None:
    """A cell of which each pass changes its own item: a function made anew."""
    own = tla.name(symbol)
    prefixes: set[tuple] = set()

    def note(outcome: Expression) -> bool:
        if outcome == own:
            return True
        if outcome[0] != "except":
            return False
        for path, _ in outcome[2]:
            spots = [k for k, step in enumerate(path) if step == ("i", tla.name(bound))]
            if not spots:
                return False
            prefixes.add(path[: spots[0]])
        return note(outcome[1]) or (outcome[1][0] == "if" and all(map(note, _outcomes(outcome[1]))))

    if not all(map(note, _outcomes(value))) or len(prefixes) != 1:
        return None
    (prefix,) = prefixes
    for step in prefix:
        kind = _below(kind, step)
    here = (*prefix, ("i", tla.name(bound)))
    item = "item of this pass"

    def at_item(outcome: Expression) -> Expression:
        if outcome == own:
            return tla.name(item)
        inner = _mapped(outcome[1], at_item)
        return tla.changed_at(inner, [(path[len(here) :], new) for path, new in outcome[2]])

    made = _read_as(_mapped(value, at_item), tla.follow(own, here), tla.name(item))
    if symbol in tla.names_in(made):
        return None
    domain = t.types.domain(kind) if not _is_sequence(kind) else items.domain
    old = tla.follow(before, here)
    made = tla.substitute(made, {item: old})
    if domain != items.domain:
        made = tla.if_(tla.op("\\in", tla.name(bound), items.domain), made, old)
    new = ("fn", bound, domain, made)
    return tla.changed_at(before, [(prefix, new)]) if prefix else new


def _is_sequence(kind: Any) -> bool:
    from protocol_lab.spec.layout import Seq

    return isinstance(kind, Seq)


def _below(kind: Any, step: tuple) -> Any:
    from protocol_lab.tla.values import type_of

    return type_of(kind.field_types[step[1]] if step[0] == "f" else kind.item)


def _read_as(expression: Expression, old: Expression, new: Expression) -> Expression:
    if expression == old:
        return new
    return tla.rebuilt(expression, lambda each: _read_as(each, old, new))


# --- Recursion -------------------------------------------------------------------------------


def while_loop(t: Translation, node: ast.While, scope: Scope, ends: Ends) -> Expression:
    """What a while loop, and the code after it, amount to."""
    if node.orelse:
        raise t.fail(node, "an else of a loop has no translation to TLA+")
    leave = ast.copy_location(ast.Break(), node)
    test = ast.copy_location(ast.If(node.test, node.body, [leave]), node)
    again = t.fresh("loop", scope)
    passes = _Passes(t, [test], scope)
    passes.run(scope.binding(again), scope)
    return _recursion(t, node, None, "", (again, ""), passes, scope, ends)


def _recursion(
    t: Translation,
    node: ast.stmt,
    items: Through | None,
    bound: str,
    names: tuple[str, str],
    passes: _Passes,
    scope: Scope,
    ends: Ends,
) -> Expression:
    """The loop as an operator that calls itself. names: its own, and that of what is left to do."""
    kept, (again, todo) = list(passes.symbols), names
    inside = passes.begin.bound | set(passes.symbols.values())
    returns = [v for how, _, v in passes.ends if how == "returned"]
    if any(value.known is not None or is_whole(value.type) for value in returns):
        raise t.fail(node, "a loop that returns a part of the state has no translation to TLA+")
    kind = common_type([value.type for value in returns]) if returns else None
    shown = {TEXT: tla.string(""), BOOL: FALSE, NODES: tla.EMPTY}.get(kind, tla.number(0))

    def result(values: list[Expression], value: Expression | None = None) -> Expression:
        if returns:
            values = [*values, tla.boolean(value is not None), shown if value is None else value]
        return values[0] if len(values) == 1 else ("tuple", tuple(values))

    def next_pass(k: int) -> Expression:
        how, _, value = passes.ends[k]
        values = [passes.after(each, k) for each in kept]
        if how == "returned":
            return result(values, t.convert(value, kind, node))
        if how == "broken":
            return result(values)
        return tla.call(again, *step, *values)

    own = [tla.name(passes.symbols[each]) for each in kept]
    parameters = [passes.symbols[each] for each in kept]
    start = [passes.before(each) for each in kept]
    domain = None if items is None else items.domain
    if items is None:
        step: list[Expression] = []
        body = tla.leaves_replaced(passes.tree, next_pass)
        head: list[str] = []
        begin: list[Expression] = []
    elif domain[0] == "op" and domain[1] == "..":
        step = [tla.op("+", tla.name(bound), tla.number(1))]
        body = tla.leaves_replaced(passes.tree, next_pass)
        body = tla.if_(tla.op(">", tla.name(bound), domain[3]), result(own), body)
        head, begin = [bound], [domain[2]]
    else:
        rest = tla.op("\\", tla.name(todo), ("set", (tla.name(bound),)))
        step, head, begin = [rest], [todo], [domain]
        if items.order == "numbers":
            pick = tla.call(t.use("Min"), tla.name(todo))
        elif items.order == "sets":
            raise t.fail(node, "a loop through subsets that stops has no translation to TLA+")
        else:
            pick = ("choose", bound, tla.name(todo), TRUE)
        body = tla.leaves_replaced(passes.tree, next_pass)
        body = tla.let(bound, (), pick, body)
        done = tla.op("=", tla.name(todo), tla.EMPTY)
        body = tla.if_(done, result(own), body)
    call = tla.call(again, *begin, *start)
    defined = ((again, (*head, *parameters), tla.tidy(body), True),)
    many = len(kept) + 2 * bool(returns) > 1
    after = t.fresh("result", replace(scope, bound=inside)) if many or returns else None
    if after is None:
        if not kept:
            return ends.next(scope)
        only = kept[0]
        wanted = f"{only.rpartition('.')[2].strip()}_new"
        new = t.fresh(wanted, replace(scope, bound=inside))
        last = passes.put(scope.binding(new, again), only, tla.name(new))
        return ("let", defined, ("let", ((new, (), call, False),), ends.next(last)))
    last = scope.binding(after, again)
    for k, each in enumerate(kept):
        last = passes.put(last, each, tla.index(tla.name(after), tla.number(k + 1)))
    if returns:
        flag = tla.index(tla.name(after), tla.number(len(kept) + 1))
        value = Value(tla.index(tla.name(after), tla.number(len(kept) + 2)), kind)
        rest = joined(
            t,
            lambda inner: tla.if_(flag, inner.returned(value, last), inner.next(last)),
            last,
            ends,
        )
    else:
        rest = ends.next(last)
    return ("let", defined, ("let", ((after, (), call, False),), rest))
