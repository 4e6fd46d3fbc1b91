"""Where compiled code and plain Python differ: at the bounds of compiled code, or by a defect.

Compiled code raises a Fault without a message, also where a number needs more than 64 bits or a
loop more than MOST_TURNS turns. Plain Python has neither bound. So that a loop without an end does
not stop the kit, what is repeated runs at most MOST_LINES lines.

Any other disagreement is a defect of the kit itself, and never shown as a verdict. A file is
written with what a maintainer needs to reproduce it: the spec's source, the constants, the state
and the versions.
"""

import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import Any

from protocol_lab.compiler.arithmetic import MOST_TURNS
from protocol_lab.errors import Fault, KitDefect, LabError
from protocol_lab.model import constants as constants_module
from protocol_lab.model.evaluation import called_by
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view
from protocol_lab.reader.dependencies import reachable
from protocol_lab.reader.source_code import source_lines

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
    state = plain(view(model.layout, row))
    content = {
        "disagree_on": what,
        "spec": model.spec.name,
        "constants": constants_module.show(model.constants),
        "state": state,
        "row": row.hex(),
        "layout": str(model.layout.dtype),
        "versions": {
            "python": platform.python_version(),
            **{name: _version(name) for name in ("numba", "llvmlite", "numpy")},
            "machine": platform.machine(),
        },
        "source": _sources(model),
    }
    with tempfile.NamedTemporaryFile(
        "w", prefix="protocol-lab-defect-", suffix=".json", delete=False, encoding="utf-8"
    ) as stream:
        json.dump(content, stream, indent=1, default=_as_list)
    return KitDefect(
        f"This is a defect of the kit, not of your spec: compiled and plain code disagree on {what}"
        f" of {model.spec.name} in a state. Please send {Path(stream.name)} to the maintainers."
    )


def _version(package: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(package)
    return None  # as in a page


def _as_list(value: Any) -> Any:
    return sorted(value) if isinstance(value, set) else str(value)


def _sources(model: Model) -> dict[str, str]:
    """The source of every function of the spec, and of those that they call."""
    spec = model.spec
    declared = [*spec.inits, *spec.actions, *spec.invariants, *spec.step_invariants]
    declared += [*spec.expected, *spec.constraints, *spec.ends]
    functions = [each.function for each in declared] + ([spec.erase] if spec.erase else [])
    return {
        f"{each.__module__}.{each.__qualname__}": _source(each) for each in reachable(functions)
    }


def _source(function: Callable) -> str:
    try:
        return "".join(source_lines(function)[0])
    except LabError:
        return ""
