"""Writes the API reference: pdoc makes it from the docstrings of the names that a spec imports."""

from pathlib import Path

from protocol_lab.errors import LabError, shortened

DOCUMENTED = (
    "protocol_lab",
    "protocol_lab.model",
    "protocol_lab.explore",
    "protocol_lab.liveness.check",
    "protocol_lab.checker.result",
    "protocol_lab.traces.walk",
    "protocol_lab.traces.events",
    "protocol_lab.drawing",
    "protocol_lab.notebook",
)
"""The documented modules: what specs, notebooks and tests of one's own use. A room's modules go
with it."""


def write_reference(folder: str | Path) -> Path:
    """Write the reference as HTML into a folder; returns its first page. Raises LabError."""
    try:
        import pdoc
    except ImportError:
        raise LabError("The API reference is made by pdoc: run `pip install pdoc`.") from None
    place = Path(folder)
    try:
        pdoc.pdoc(*DOCUMENTED, output_directory=place)
    except OSError as error:
        raise LabError(
            f"{shortened(place)} can't be written ({error.strerror}): choose another folder."
        ) from None
    return place / "index.html"
