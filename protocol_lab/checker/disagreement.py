"""Where compiled code and plain Python differ: at the bounds of compiled code, or by a defect.

Compiled code raises a Fault without a message, also where a number needs more than 64 bits or a
loop more than MOST_TURNS turns. Plain Python has neither bound. So that a loop without an end does
not stop the kit, what is repeated runs at most MOST_LINES lines.

Any other disagreement is a defect of the kit itself, and never shown as a verdict. The message has
what reproduces it: the spec, the constants, and the state's bytes.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from protocol_lab.compiler.rewriting import MOST_TURNS
from protocol_lab.errors import Fault, KitDefect
from protocol_lab.model import constants as constants_module
from protocol_lab.model.evaluation import called_by
from protocol_lab.model.spec import Model

MOST_LINES = 5 * MOST_TURNS
"""The most lines of Python that one call of a spec's function runs while it is repeated."""


@contextmanager
def repeating() -> Iterator[None]:
    """A context in which a function of a spec that runs too many lines is a Fault."""
    with called_by(_bounded):
        yield


def beyond_compiled() -> Fault:
    """Why compiled code is undecided where plain Python goes on."""
    return Fault(
        f"in compiled code a number needs more than 64 bits, or a loop does not end within"
        f' {MOST_TURNS:,} turns: engine="python" has neither bound'
    )


def _bounded(function: Callable, *arguments: Any, **named: Any) -> Any:
    left = MOST_LINES

    def trace(frame: FrameType, event: str, value: Any) -> Callable:
        nonlocal left
        left -= 1
        if left < 0:
            raise Fault(f"a loop does not end within {MOST_TURNS:,} turns")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return function(*arguments, **named)
    finally:
        sys.settrace(before)


def defect(model: Model, what: str, row: bytes) -> KitDefect:
    """The error to raise where compiled and plain code disagree on `what` in a state."""
    constants = constants_module.show_text(model.constants) or "the default constants"
    return KitDefect(
        f"This is a defect of the kit, not of your spec: compiled and plain code disagree on {what}"
        f" of {model.spec.name} with {constants}, in the state {row.hex()}. Please send this line,"
        " and the spec, to the maintainers."
    )
