"""Where the paths through a piece of code end, and one expression where they meet again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.tla import expressions as tla
from protocol_lab.tla.expressions import FALSE, TRUE, Expression
from protocol_lab.tla.values import Scope, Translation, Value, common_type, converted, is_whole


@dataclass
class Ends:
    """What happens after a piece of code: where it ends, returns, or leaves a loop."""

    next: Callable[[Scope], Expression]
    returned: Callable[[Value, Scope], Expression]
    broken: Callable[[Scope], Expression] | None = None
    continued: Callable[[Scope], Expression] | None = None


def joined(
    t: Translation, run: Callable[[Ends], Expression], scope: Scope, ends: Ends
) -> Expression:
    """Run code whose paths may meet at its end, and go on from there once."""
    reached: list[Scope] = []
    others: list[Callable[[], Expression]] = []

    def leaf(others_end: Callable[..., Expression], *given: Any) -> Expression:
        others.append(lambda: others_end(*given))
        return ("leaf", -len(others))

    def joins(last: Scope) -> Expression:
        reached.append(last)
        return ("leaf", len(reached) - 1)

    tree = run(
        Ends(
            joins,
            lambda value, last: leaf(ends.returned, value, last),
            ends.broken and (lambda last: leaf(ends.broken, last)),
            ends.continued and (lambda last: leaf(ends.continued, last)),
        )
    )

    def elsewhere(k: int) -> Expression:
        return others[-k - 1]()

    here = [k for k in tla.leaves(tree) if k >= 0]
    if len(here) <= 1:
        return tla.leaves_replaced(
            tree, lambda k: ends.next(reached[k]) if k >= 0 else elsewhere(k)
        )
    ended = {k: elsewhere(k) for k in tla.leaves(tree) if k < 0}
    merged = (
        met(t, tree, reached, scope)
        if all(tla.bare(each) == FALSE for each in ended.values())
        else None
    )
    if merged is None:
        return tla.leaves_replaced(tree, lambda k: ends.next(reached[k]) if k >= 0 else ended[k])
    last, bound = merged
    allowed = tla.leaves_replaced(tree, lambda k: TRUE if k >= 0 else ended[k])
    rest = tla.conj([allowed, ends.next(last)])
    for each, value in reversed(bound):
        rest = ("let", ((each, (), value, False),), rest)
    return rest


def met(
    t: Translation, tree: Expression, reached: list[Scope], scope: Scope
) -> tuple[Scope, list[tuple[str, Expression]]] | None:
    """The scope in which several paths meet; None if a variable is not the same kind of thing
    on all of them."""
    last, bound, inside = scope, [], tla.defined_in(tree)

    def is_outside(value: Value) -> bool:
        """Does it mean the same after the paths have met?"""
        path = value.place[1] if value.place else ()
        steps = [value.expression, *(at for step, at in path if step == "i")]
        return not any(inside & tla.names_in(each) for each in steps if each is not None)

    def chosen(values: list[Expression]) -> Expression:
        first = next(k for k in tla.leaves(tree) if k >= 0)
        return tla.leaves_replaced(tree, lambda k: values[k if k >= 0 else first])

    def named(wanted: str, value: Expression) -> Expression:
        nonlocal last
        if tla.is_short(value):
            return value
        name = t.fresh(wanted, last)
        last = last.binding(name)
        bound.append((name, value))
        return tla.name(name)

    names = set(reached[0].names).intersection(*(each.names for each in reached))
    for each in sorted(names):
        values = [path.names[each] for path in reached]
        if all(value == values[0] for value in values) and is_outside(values[0]):
            last = last.named(each, values[0])
            continue
        if any(value.known is not None or value.place for value in values):
            return None
        if is_whole(values[0].type):
            return None
        kind = common_type([value.type for value in values])
        made = named(each, chosen([converted(value, kind) for value in values]))
        last = last.named(each, Value(made, kind))
    for cell in reached[0].cells:
        if not all(cell in path.cells for path in reached):
            continue
        values = [path.cells[cell][0] for path in reached]
        made = values[0]
        if any(value != made for value in values) or inside & tla.names_in(made):
            made = named(f"{cell.rpartition('.')[2]}_new", chosen(values))
        last = last.with_cell(cell, made, reached[0].cells[cell][1])
    return last, bound
