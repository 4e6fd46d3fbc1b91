"""Reports a defect of the kit itself: compiled code and plain Python disagree.

Such a disagreement is never shown as a verdict. A file is written with what a maintainer needs to
reproduce it: the spec's source, the constants, the state and the versions.
"""

import json
import platform
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from protocol_lab.errors import KitDefect, LabError
from protocol_lab.language.dependencies import reachable
from protocol_lab.language.source_code import source_lines
from protocol_lab.spec import constants as constants_module
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view


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
    declared += [*spec.sometimes_properties, *spec.constraints, *spec.ends]
    functions = [each.function for each in declared] + ([spec.erase] if spec.erase else [])
    return {
        f"{each.__module__}.{each.__qualname__}": _source(each) for each in reachable(functions)
    }


def _source(function: Callable) -> str:
    try:
        return "".join(source_lines(function)[0])
    except LabError:
        return ""
