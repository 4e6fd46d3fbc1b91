"""Small specs whose temporal verdicts are not the ones that come to mind first; TLC gave them.

Each was written as a TLA+ module, too, and judged by TLC (2.19, without its deadlock check). Where
TLC finds no error and there is no run to find one on, the kit's verdict is undecided.
"""

import pytest

from protocol_lab import *
from protocol_lab.liveness.check import check_property


class State(Struct):
    x: Int8
    y: Int8


def start(s: State, c):
    return TAKEN


def increase(s: State, c):
    if s.x >= 5:
        return "5 is enough"
    s.x += 1
    return TAKEN


def flip(s: State, c):
    s.y = 1 - s.y
    return TAKEN


def stay(s: State, c):
    return TAKEN


def raise_y(s: State, c):
    if s.y:
        return "y is 1 already"
    s.y = 1
    return TAKEN


def go_round(s: State, c):
    s.x = (s.x + 1) % 3
    return TAKEN


def leave_0(s: State, c):
    """What `go_round` does in one of its states; no action of its own."""
    if s.x != 0:
        return "x is not 0"
    s.x = 1
    return TAKEN


def serve(s: State, c, node: Range(1, 2)):
    """Node 1 goes to and fro for ever; node 2 has its turn now and then, and only once."""
    if node == 1:
        s.x = (s.x + 1) % 2
        return TAKEN
    if s.x != 0 or s.y != 0:
        return "it is not the turn of node 2"
    s.y = 1
    return TAKEN


def up_to_2(s: State, c):
    return "x is above 2" if s.x > 2 else HOLDS


ASSUMED = {
    "weakly increase": ("weakly_fair", increase, ()),
    "strongly increase": ("strongly_fair", increase, ()),
    "weakly stay": ("weakly_fair", stay, ()),
    "weakly leave_0": ("weakly_fair", leave_0, ()),
    "weakly next": ("weakly_fair", NEXT, ()),
    "weakly each node": ("weakly_fair", serve, "node"),
    "weakly some node": ("weakly_fair", serve, ()),
    "strongly each node": ("strongly_fair", serve, "node"),
}


@pytest.mark.vacuous
@pytest.mark.parametrize(
    ("actions", "fairness", "constraint", "formula", "verdict", "loop_from"),
    [
        # A step that leads outside the constraint can't be taken, and yet it is possible:
        # where nothing else is, there is no fair run. TLC finds no error then; the kit says so.
        (
            (increase, flip), "weakly increase", up_to_2, eventually("s.x == 1"), "undecided", None,
        ),
        ((increase, flip), "weakly increase", up_to_2, eventually("s.x == 3"), "undecided", None),
        ((increase, flip), "strongly increase", up_to_2, eventually("s.x == 3"), "undecided", None),
        ((increase,), "weakly next", up_to_2, eventually_always("s.x == 2"), "undecided", None),
        ((increase,), "weakly next", up_to_2, eventually("s.x == 3"), "undecided", None),
        ((increase, flip), "weakly increase", None, eventually("s.x == 3"), "holds", None),
        ((increase,), "weakly next", None, eventually("s.x == 3"), "holds", None),
        # A step that changes nothing is no step: fairness of it asks for nothing.
        ((stay, raise_y), "weakly stay", None, eventually("s.y == 1"), "violated", 1),
        # Fairness of what is no action of its own: another action's step counts for it.
        ((go_round, flip), "weakly leave_0", None, eventually("s.x == 1"), "holds", None),
        ((go_round, flip), "weakly leave_0", None, eventually_always("s.x == 2"), "violated", 1),
        # For each node, or for some node; a turn that is possible only now and then.
        ((serve,), "weakly each node", None, eventually("s.y == 1"), "violated", 1),
        ((serve,), "weakly each node", None, eventually_always("s.y == 1"), "violated", 1),
        ((serve,), "weakly each node", None, always_eventually("s.y == 1"), "violated", 1),
        ((serve,), "weakly some node", None, eventually("s.y == 1"), "violated", 1),
        ((serve,), "strongly each node", None, eventually("s.y == 1"), "holds", None),
        ((serve,), "strongly each node", None, leads_to("s.x == 0", "s.y == 1"), "holds", None),
    ],
)  # fmt: skip
def test_verdicts_of_tlc(actions, fairness, constraint, formula, verdict, loop_from):
    spec = Spec("toy.surprising", State, meaning="Two numbers.")
    spec.init(start)
    for each in actions:
        spec.action(each)
    if constraint:
        spec.constraint(constraint)
    declare, what, each = ASSUMED[fairness]
    getattr(spec, declare)(what, each=each)
    found = check_property(spec.bind(), formula, progress=False)
    assert (found.verdict, found.loop_from) == (verdict, loop_from)
    assert all(standing.met for standing in found.why_fair)
