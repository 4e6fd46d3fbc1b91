"""Rewrites operators and loops, which compiled code checks.

Compiled code computes with 64 bits, Python with as many as it takes. A field has 32 bits at most,
so that only products, powers and shifts grow beyond: in compiled code such a number that needs more
than 64 bits is a Fault, as a division by zero is in both. Nothing can interrupt compiled code:
there a `while`, or a loop over a range, that takes more than MOST_TURNS turns is a Fault, too.
`operations.integers` has the functions that are called by the names in OPERATORS.
"""

import ast
from typing import Any

MOST_TURNS = 1_000_000
"""The most turns that a loop may take each time it is entered."""

OPERATORS: dict[type[ast.operator], str] = {
    ast.Mult: "checked_mul",
    ast.Pow: "checked_pow",
    ast.LShift: "checked_lshift",
    ast.RShift: "checked_rshift",
}
"""The checked operators, and the compiled functions that replace them."""


def checked_pow(base: Any, exponent: Any) -> Any:
    """base ** exponent, for which compiled code has an overload."""
    return base**exponent


def checked_lshift(number: Any, count: Any) -> Any:
    """number << count, for which compiled code has an overload."""
    return number << count


def checked_rshift(number: Any, count: Any) -> Any:
    """number >> count, for which compiled code has an overload."""
    return number >> count


OPERATIONS = {each.__name__: each for each in (checked_pow, checked_lshift, checked_rshift)}
"""The operations that compiled code overloads."""


def as_call(node: ast.BinOp) -> ast.expr:
    """The call that replaces an operator; the node itself if that operator is not checked."""
    name = OPERATORS.get(type(node.op))
    if name is None:
        return node
    call = ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])
    return ast.fix_missing_locations(ast.copy_location(call, node))


def is_range(items: ast.expr) -> bool:
    """Does a loop go over a range?"""
    return (
        isinstance(items, ast.Call)
        and isinstance(items.func, ast.Name)
        and (items.func.id == "range")
    )


def counting(loop: ast.While | ast.For, number: int) -> list[ast.stmt]:
    """The loop rewritten to count its turns, after its counter is set. number: of that counter."""
    turns = f"_turns_{number}"
    start, count = ast.parse(f"{turns} = 0\n{turns} = checked_turn({turns})").body
    for each in (*ast.walk(start), *ast.walk(count)):
        ast.copy_location(each, loop)
    loop.body.insert(0, count)
    return [start, loop]
