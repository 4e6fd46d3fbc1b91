"""Functions are evaluated in Python's order, in every engine: a sweep over where a call can stand.

Each template has holes. Each is filled with an expression that only reads, and with a call that
changes what the others read. What Python makes of the function is compared with the engines.
"""

import linecache
import re

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import initial, successors
from tests.work_units import one_in

PARTS = 4
"""A function with hundreds of branches takes long to compile."""

READS, CHANGES = "s.at", "turn(s)"
SIGNS = ("=", "+=")

HEAD = '''
from typing import Annotated, NamedTuple

from protocol_lab import *

Server = Node("servers")
Mode = Named("idle", "busy", "gone")


class Constants(NamedTuple):
    servers: int = 3


class Note(Struct):
    a: Int16
    b: Int16
    row: Array(Int16, 3)


class Box(Struct):
    a: Int16
    row: Array(Int16, 3)
    note: Note


class State(Struct):
    case: Int16
    start: Int16
    y: Int32
    at: Int16
    mode: Mode
    modes: Array(Mode, 3)
    nodes: NodeSet(Server)
    sets: Array(NodeSet(Server), 3)
    marks: Array(Int16, 3)
    per: Per(Server, Int16)
    grid: Per(Server, Array(Int16, 3))
    pairs: Array(Note, 3)
    box: Box
    line: Seq(Int16, 6)
    lines: Array(Seq(Int16, 6), 3)
    notes: Seq(Note, 4)
    bag: Bag(Int16, 8)
    bags: Array(Bag(Int16, 8), 3)


spec = Spec("order", State, Constants)


@spec.init
def start(s: State, c: Constants, at: Range(0, 2)):
    """Everything differs from what is beside it."""
    s.at = at
    s.start = at
    s.mode = "idle"
    for k in range(3):
        s.modes[k] = k
        s.sets[k] = only(k + 1)
        s.marks[k] = (k + 1) % 3
        s.per[k + 1] = (k + 2) % 3
        s.pairs[k].a = k
        s.box.row[k] = k + 10
        append(s.line, 2 - k)
        append(s.notes, Note(a=k, b=2 - k))
        add(s.bag, k)
        for i in range(3):
            s.grid[k + 1][i] = 3 * k + i
            append(s.lines[k], (k + i) % 3)
            add(s.bags[k], (k * i) % 3)
    s.nodes = only(1)
    return TAKEN


def turn(s) -> int:
    """Changes something of everything, and returns a number from 0 to 2."""
    s.at = (s.at + 1) % 3
    s.marks[s.at] = 2 - s.marks[s.at]
    s.per[s.at + 1] += 1
    s.grid[s.at + 1][s.at] += 1
    s.pairs[s.at].a += 5
    s.box.a += 1
    s.box.row[s.at] += 1
    s.line[s.at] = 2 - s.line[s.at]
    s.lines[s.at][0] = 2 - s.lines[s.at][0]
    s.notes[s.at].a += 1
    s.nodes = without_node(s.nodes, 1) if contains(s.nodes, 1) else only(1)
    s.sets[s.at] = with_node(s.sets[s.at], 1)
    s.mode = "busy" if s.mode == "idle" else "idle"
    return s.at


def double(x) -> int:
    return 2 * x


def two(a, b) -> int:
    return 3 * a + b


def three(a, b, c) -> int:
    return 9 * a + 3 * b + c


def pick(s, k):
    """Another name for one of the notes."""
    return s.pairs[k]


def poke(numbers) -> int:
    """Changes a local list."""
    numbers[0] = (numbers[0] + 1) % 3
    numbers[1] = numbers[0]
    return numbers[0]


def mode_of(s) -> Mode:
    """A name, after a change."""
    return s.modes[turn(s)]


def nodes_of(s) -> NodeSet(Server):
    """A set, after a change."""
    return s.sets[turn(s)]
'''

PLACES = (
    *("s.marks[A]", "s.per[1 + A]", "s.pairs[A].a", "s.grid[1 + A][B]", "s.pairs[A].row[B]"),
    *("s.box.row[A]", "s.line[A]", "s.notes[A].row[B]", "s.lines[A][B]", "pick(s, A).a"),
    *("last(s.notes).row[A]", "s.marks[s.marks[A]]", "s.marks[double(A) % 3]", "s.box.a", "s.y"),
)
"""What is read, and assigned by a line that calls nothing that changes."""

VALUES = (
    *("A + B * C", "A - B", "A // (1 + B)", "A % (1 + B)", "A << B", "A & B", "A ** B", "-A - ~B"),
    *("abs(A - B) + C", "min(A, B)", "max(A, B, C)", "two(A, B)", "three(A, B, C)"),
    *("three(A, c=B, b=C)", "three(c=A, a=B, b=C)", "three(two(A, B), C, double(B))"),
    *("two(double(s.at), A)", "two(A, double(s.at))", "two(max(A, B), min(C, s.at))"),
    *("1 if A < B else 5", "1 if A < B < C else 5", "1 if A <= B <= C <= s.at else 5"),
    *("1 if A == B else 5", "1 if A != B else 5", "1 if A == s.at == C else 5"),
    *("1 if is_in(s.bags[A], B) else 5", "1 if contains(s.sets[A], 1 + B) else 5"),
    *("1 if contains(node=1 + A, nodes=s.sets[B]) else 5",),
    *("find(s.bags[A], B)", "len(s.lines[A]) + B", "two(A and B, C)", "two(A or B, C)"),
    *("A and B or C", "two(not A, B)", "1 if A and (B or C) else 5", "B if A else C"),
    *("two(B if A > C else s.at, s.at)", "sum((A, B, C))", "sum(two(i, B) for i in range(1 + A))"),
    *("max((A, B))", "max(s.lines[A], default=7) + B"),
    *("sum(1 for i in s.lines[A] if i == B)", "1 if any(i == A for i in s.lines[B]) else 5"),
    *("1 if Note(a=A, b=B) == s.pairs[C] else 5",),
    *("1 if s.pairs[A] == Note(a=B, b=C) else 5", "1 if s.pairs[A] == s.notes[B] else 5"),
    *("two(1 if s.mode == 'idle' else 2, A)", "two(A, 1 if s.mode == 'idle' else 2)"),
    *("1 if s.mode == s.modes[A] else 5", "1 if mode_of(s) == s.mode else 5"),
    *("two(s.marks[A], s.marks[B])", "two(s.box.a, A)", "two(A, s.box.a)"),
    *("two(smallest(s.sets[A]), size(s.nodes) + B)", "len(f'{A} {B}')"),
)
"""What is computed."""

STATEMENTS = (
    "s.pairs[k] = Note(a=B, b=C)",
    "s.pairs[k] = Note(b=B, row=[C, s.at, C])",
    "s.pairs[k] = s.notes[B]",
    "s.notes[k].a += B",
    "s.lines[k][0] = B + C",
    "s.marks[k] += B",
    "s.grid[1][k] = B",
    "s.box.row = [A, B, C]",
    "s.modes[k] = mode_of(s)",
    "s.modes[k] = 'gone' if B else s.mode",
    "s.sets[k] = with_node(s.sets[B], 1 + C)",
    "s.sets[k] |= only(1 + B)",
    "s.nodes = with_node(s.nodes, 1 + A)",
    "append(s.lines[A], B)",
    "append(s.notes, Note(a=A, b=B))",
    "append(item=A, sequence=s.lines[B])",
    "add(s.bags[A], B)",
    "remove_at(s.lines[A], B)",
    "truncate(s.lines[A], B)",
    "s.lines[k][0] += pop_first(s.lines[B])",
    "s.marks[k] = pop_first(s.lines[B])",
    "p, q = A, B\ns.y = two(p, q)",
    "p = A\np += B\ns.y = two(p, C)",
    "v = [1] * 3\nv[k] = poke(v) + A\ns.y = three(v[0], v[1], v[2])",
    "v = [1] * 3\nv[k] += poke(v) + A\ns.y = three(v[0], v[1], v[2])",
    "v = [1] * 3\ns.y = two(v[0] + v[poke(v)] + v[0], A)",
    "v = [A] * (1 + B)\ns.y = two(v[0], len(v))",
    "if A < B:\n    s.y = 1 + C\nelif B < A:\n    s.y = 5 + C",
    "while A < B:\n    s.y += 1 + C\n    if s.y > 9:\n        break",
    "for i in range(A, 3 + B):\n    s.y = two(s.y, i)",
    "for i in (A, B, C):\n    s.y = two(s.y, i)",
    "for k, i in enumerate((A, B)):\n    s.y = three(s.y, k, i)",
    "for i in s.lines[A]:\n    s.y = two(s.y, i)\ns.y += B",
    "for i, j in zip(s.lines[A], s.lines[B]):\n    s.y += two(i, j)",
    "assert A >= 0, f'{B}'\ns.y = s.at",
    "if A > 2:\n    return f'{B} {C}'\ns.y = s.at",
    "if A > B:\n    return TAKEN if C < 3 else 'never'\ns.y = s.at",
)
"""Whole statements."""

NAME = "give the result of the call a name first, a line before"
COMPUTED = (("s.marks[A]", CHANGES), (f"s.marks[{CHANGES}]", "1"), ("pick(s, A).a", CHANGES))
REFUSED = (
    ("s.y = 1 if A == turn(s) == A else 5", "give what is compared on both sides a name first"),
    ("s.y = 1 if A < turn(s) in s.line else 5", "give what is compared on both sides a name first"),
    ("s.y = 1 if turn(s) in s.line else 5", "give what is asked with `in` a name first"),
    ("s.y = 1 if A in s.bags[turn(s)] else 5", "give what is asked with `in` a name first"),
    ("s.y = max(s.lines[A], default=turn(s))", "give the default a name first"),
    ("s.y = min((i for i in range(turn(s))), default=A)", "give the default a name first"),
    ("s.y = 1 if all((A < 2, turn(s) < 2)) else 5", "write `and` between the conditions"),
    ("s.y = two((w := turn(s)), w)", "assign in a line of its own"),
    *((f"{each} {sign} {value}", NAME) for sign in SIGNS for each, value in COMPUTED),
    ("v = turn(s) * [A]\ns.y = v[0]", "write the list first, as in [0] * n"),
)
"""What is not compiled, and what is said of it."""


def filled(template: str) -> list[str]:
    """The template with one call that changes something and otherwise reads, and with all calls."""
    holes = [each for each in "ABC" if re.search(rf"\b{each}\b", template)]
    choices = {(*"r" * k, "w", *"r" * (len(holes) - k - 1)) for k in range(len(holes))}
    found = []
    for choice in sorted({*choices, tuple("w" * len(holes))}):
        text = template
        for hole, kind in zip(holes, choice, strict=True):
            text = re.sub(rf"\b{hole}\b", CHANGES if kind == "w" else READS, text)
        found.append(text)
    return found


def all_bodies() -> list[str]:
    """What the actions do: each template with its holes filled."""
    stores = [re.sub(r"\b[AB]\b", READS, f"{each} {sign} 2") for each in PLACES for sign in SIGNS]
    reads = [f"s.y = two({each}, C) + s.at" for each in PLACES]
    values = [f"s.y = {each}" for each in VALUES]
    statements = [f"k = s.at\n{each}" for each in STATEMENTS]
    return [*stores, *(body for each in (*reads, *values, *statements) for body in filled(each))]


def declared(bodies: list[str]) -> Model:
    """A model whose one action does one of these, in each initial state."""
    lines = []
    for k, body in enumerate(bodies):
        lines += [f"    if case == {k}:", *(f"        {each}" for each in body.splitlines())]
    head = f"@spec.action\ndef act(s: State, c: Constants, case: Range(0, {len(bodies) - 1})):"
    once = ["    if s.case > 0:", '        return "done"', "    s.case = case + 1"]
    text = "\n".join([HEAD, head, *once, *lines, "    return TAKEN"])
    name = f"<order {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"__name__": name}
    exec(compile(text, name, "exec"), scope)
    return scope["spec"].bind()


def by_python(model: Model, row: bytes, case: int) -> bytes:
    """The state after the action's function was called as it is written."""
    after = bytearray(row)
    [action] = model.spec.actions
    assert action.function(view(model.layout, after), model.constants, case=case) == ""
    return bytes(after)


@pytest.mark.rarely
@pytest.mark.parametrize("part", one_in(4, range(PARTS)))
def test_all_engines_evaluate_in_pythons_order(part):
    bodies = all_bodies()[part::PARTS]
    model = declared(bodies)
    starts = [each.row for each in initial(model)]
    wanted = {by_python(model, row, k): bodies[k] for row in starts for k in range(len(bodies))}
    plainly = {each.row for row in starts for each in successors(model, row)}
    assert [body for row, body in wanted.items() if row not in plainly] == []
    result = explore(model, progress=False)
    assert result.verdict == "holds", str(result)
    found = {each.tobytes() for each in result.states}
    assert [body for row, body in wanted.items() if row not in found] == []
    assert result.distinct == len(wanted) + len(starts)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(("body", "told"), REFUSED)
def test_what_would_be_evaluated_in_another_order_is_refused(body, told, engine):
    with pytest.raises(LabError, match=re.escape(told)):
        explore(declared([body.replace("A", READS)]), engine=engine, progress=False)
