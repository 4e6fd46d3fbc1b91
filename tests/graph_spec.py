"""Any graph of four states as a spec: which steps there are is told by the constants.

Bit 4 * from + to of a constant says that its action leads from one state to another, and bit k of
`starts`, `p` and `q` that it is so in state k. One compilation serves all graphs, so that the
temporal checks can be tried on thousands of them.
"""

from typing import Annotated, NamedTuple

from protocol_lab import HOLDS, TAKEN, Int8, Limits, Range, Spec, Struct

STATES = 4


class Constants(NamedTuple):
    a_steps: Annotated[int, Limits(0, 2**16 - 1, "steps of the action a")] = 0
    b_steps: Annotated[int, Limits(0, 2**16 - 1, "steps of the action b")] = 0
    f_steps: Annotated[int, Limits(0, 2**16 - 1, "steps of f, which is no action")] = 0
    starts: Annotated[int, Limits(1, 15, "initial states")] = 1
    inside: Annotated[int, Limits(0, 15, "states inside the constraint")] = 15
    p: Annotated[int, Limits(0, 15, "states where p is true")] = 0
    q: Annotated[int, Limits(0, 15, "states where q is true")] = 0


class State(Struct):
    at: Int8


spec = Spec("toy.graph", State, Constants, __doc__)


@spec.init
def init(s: State, c: Constants, at: Range(0, 3)):
    """One of the starts."""
    if not c.starts >> at & 1:
        return "no start"
    s.at = at
    return TAKEN


@spec.action
def a(s: State, c: Constants, to: Range(0, 3)):
    """A step of a."""
    if not c.a_steps >> (4 * s.at + to) & 1:
        return "no such step of a"
    s.at = to
    return TAKEN


@spec.action
def b(s: State, c: Constants, to: Range(0, 3)):
    """A step of b."""
    if not c.b_steps >> (4 * s.at + to) & 1:
        return "no such step of b"
    s.at = to
    return TAKEN


def f(s: State, c: Constants, to: Range(0, 3)):
    """An action that the spec does not have, for fairness conditions."""
    if not c.f_steps >> (4 * s.at + to) & 1:
        return "no such step of f"
    s.at = to
    return TAKEN


@spec.constraint
def inside(s: State, c: Constants):
    return HOLDS if c.inside >> s.at & 1 else "outside"


def p(s: State, c: Constants) -> bool:
    """Is p true?"""
    return c.p >> s.at & 1 == 1


def q(s: State, c: Constants) -> bool:
    """Is q true?"""
    return c.q >> s.at & 1 == 1
