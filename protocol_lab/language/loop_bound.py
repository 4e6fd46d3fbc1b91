"""Bounds the loops in a spec's functions, so that none runs forever.

Nothing can interrupt compiled code. So a `while`, or a loop over a range, that takes more than
MOST_TURNS turns is a Fault, in plain Python and compiled (`checked_turn` in
`compiler.operations.integers`). Other loops visit the items of a state, which are few.
"""

import ast
from collections.abc import Iterable, Iterator

from protocol_lab.errors import Fault

MOST_TURNS = 1_000_000
"""The most turns that a loop may take each time it is entered."""


def checked_turn(turns: int) -> int:
    """turns + 1; raises Fault if that is more than a loop may take."""
    if turns >= MOST_TURNS:
        raise Fault(f"a loop does not end within {MOST_TURNS:,} turns")
    return turns + 1


def checked_range(*bounds: int) -> Iterable[int]:
    """range(*bounds); raises Fault on the turn that is one too many for a loop."""
    numbers = range(*bounds)
    return numbers if len(numbers) <= MOST_TURNS else _counted(numbers)


def _counted(numbers: range) -> Iterator[int]:
    turns = 0
    for each in numbers:
        turns = checked_turn(turns)
        yield each


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
