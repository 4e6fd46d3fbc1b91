"""What the notebooks import: step a spec, replay a scenario, show states where nothing runs."""

from pathlib import Path
from typing import Any

from IPython.display import HTML

from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import LabError
from protocol_lab.pictures import caption, picture_strip
from protocol_lab.scenarios import Scenario, read_scenario, scenarios_of
from protocol_lab.spec import Model
from protocol_lab.static_view import image_html, static_html
from protocol_lab.stepper import Stepper
from protocol_lab.walk import Walk


def step(of: str | Model, **constants: Any) -> Stepper:
    """A stepper for a spec's name with constants, or for a model. Raises LabError."""
    return Stepper(load(of).bind(**constants) if isinstance(of, str) else of)


def scenario(name: str) -> Scenario:
    """The scenario of this name (its file's, without the ending), or at this path.

    Raises LabError with the known names if there is none.
    """
    if Path(name).suffix == ".txt":
        return read_scenario(name)
    packages = sorted({spec.partition(".")[0] for spec in spec_names()})
    files = {path.stem: path for package in packages for path in scenarios_of(package)}
    if name not in files:
        raise LabError(f"There is no scenario {name!r}; there are: {', '.join(files)}.")
    return read_scenario(files[name])


def replay(name: str) -> Stepper:
    """A stepper at the start of a scenario, with its steps ahead. Raises LabError."""
    return Stepper(scenario(name))


def show(walk: Walk) -> HTML:
    """Where a walk stands, as the stepper shows it, without anything to press."""
    return HTML(static_html(walk))


def strip(walk: Walk, columns: int = 1) -> HTML:
    """All states of the current branch with their captions, one picture after the other."""
    alternative = "; ".join(caption(walk.model, moment) for moment in walk.path)
    return HTML(image_html(picture_strip(walk, columns), alternative))
