"""The functions that notebooks import: step, replay, explore, draw states, and see progress."""

import inspect
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from IPython.display import HTML, Markdown

from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.diagrams.lasso import lasso_picture
from protocol_lab.diagrams.sequence import sequence_diagram
from protocol_lab.diagrams.state_graph import state_graph
from protocol_lab.drawing.pictures import caption, image_html, picture_strip, wide_image_html
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import spec_title
from protocol_lab.explore import explore
from protocol_lab.interchange.readers import read_file
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.liveness.check import check_property
from protocol_lab.model.spec import Model
from protocol_lab.stepper import Stepper
from protocol_lab.stepper.static_view import static_html
from protocol_lab.teaching.challenges import challenge_named, shortest
from protocol_lab.teaching.overview import progress
from protocol_lab.teaching.questions import ask
from protocol_lab.traces.scenario_format import Scenario
from protocol_lab.traces.scenarios import play, scenario
from protocol_lab.traces.walk import Walk

__all__ = [
    "Walk",
    "ask",
    "challenge",
    "check_property",
    "diagram",
    "explore",
    "frames",
    "graph",
    "lasso",
    "lesson",
    "load",
    "progress",
    "replay",
    "scenario",
    "show",
    "solution",
    "source",
    "step",
    "strip",
]


def step(of: str | Model, configuration: str | None = None, /, **constants: Any) -> Stepper:
    """A stepper for a model, or for a spec's name with constants as `bind` takes them.

    Raises LabError.
    """
    return Stepper(load(of).bind(configuration, **constants) if isinstance(of, str) else of)


def replay(name: str, *, spec: str | Model | None = None) -> Stepper:
    """A stepper at the start of a scenario, with the scenario's steps to redo.

    name: a scenario's name, or the path of any file that the kit can read: a scenario, an exported
    walk, TLC's output, or a trace of Apalache or Quint in ITF. spec: the
    spec, or the model with its constants, that such a trace is about, where it does not say it.
    Raises LabError for an unknown scenario, and for a file that does not fit.
    """
    return Stepper(_read(name, spec))


def _read(name: str, spec: str | Model | None) -> Scenario | Walk:
    if spec is None and Path(name).suffix in ("", ".txt") and not _is_file(name):
        return scenario(name)
    model = load(spec).bind() if isinstance(spec, str) else spec
    try:
        found = read_file(name, model)
    except KeyboardInterrupt:
        raise LabError("You have interrupted the search for the steps of this trace.") from None
    if isinstance(found, Walk):
        found.first()
    return found


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def challenge(name: str) -> Stepper:
    """A stepper at the start of a challenge. Raises LabError for an unknown name."""
    return Stepper(challenge_named(name))


def lesson(name: str, beat: int = 1) -> Stepper:
    """The lesson of this name, such as "kafka/one_record", or in the file at this path, at a beat.

    Raises LabError for an unknown name, a malformed file, or a beat that it does not have.
    """
    stepper = Stepper(lesson_named(name))
    stepper.session.go_to_beat(beat - 1)
    stepper.refresh()
    return stepper


def solution(name: str) -> HTML:
    """A shortest path to a challenge's goal, folded: the steps after the given ones, and the
    states.

    Raises LabError for an unknown name.
    """
    chosen = challenge_named(name)
    walk = shortest(chosen)
    if walk is None:
        return HTML(f"<p>No path to the goal of {escape(chosen.title)} was found.</p>")
    first, *others = walk.path[len(chosen.begin().path) - 1 :]
    moments = [first, *others]
    steps = "\n".join(f"{k:3} {each.step}" for k, each in enumerate(others, 1))
    alternative = "; ".join(caption(walk.model, moment) for moment in moments)
    picture = image_html(picture_strip(walk, 2, moments), alternative)
    return HTML(
        f"<details><summary>A shortest way: {len(moments) - 1} steps</summary>"
        f"<pre>{escape(steps)}</pre>{picture}</details>"
    )


def show(walk: Walk) -> HTML:
    """The current state of a walk as the stepper shows it, without controls.

    Raises LabError if it is not a walk.
    """
    if not isinstance(walk, Walk):
        raise LabError("Give a walk: show(Walk.begin(model)), or step(model) for the stepper.")
    return HTML(static_html(walk))


def strip(of: Walk | str, columns: int = 1) -> HTML:
    """Pictures of all states of a walk, or of a scenario by name, with captions.

    Raises LabError for an unknown scenario.
    """
    walk = play(scenario(of)) if isinstance(of, str) else of
    alternative = "; ".join(caption(walk.model, moment) for moment in walk.path)
    return HTML(image_html(picture_strip(walk, columns, walk.path), alternative))


def frames(of: Walk | str, *depths: int, columns: int = 1) -> HTML:
    """Pictures of chosen states of a walk, or of a scenario by name, and below them all states,
    folded.

    Depths count states, the first being 1; -1 is the last. Raises LabError for an unknown scenario,
    or for a depth that the walk does not have.
    """
    walk = play(scenario(of)) if isinstance(of, str) else of
    path = walk.path
    if not depths or not all(1 <= abs(depth) <= len(path) for depth in depths):
        raise LabError(f"frames: give depths from 1 to {len(path)}; -1 is the last state.")
    chosen = [path[depth - 1 if depth > 0 else depth] for depth in depths]
    alternative = "; ".join(caption(walk.model, moment) for moment in chosen)
    return HTML(
        image_html(picture_strip(walk, columns, chosen), alternative)
        + f"<details><summary>All {len(path)} states</summary>{strip(walk).data}</details>"
    )


def diagram(of: Walk | str) -> HTML:
    """Who sends what to whom, up to the current state of a walk or in a scenario by name; a wide
    diagram can be scrolled.

    Raises LabError for an unknown scenario.
    """
    walk = play(scenario(of)) if isinstance(of, str) else of
    steps = "; ".join(each.text for each in walk.steps)
    return HTML(wide_image_html(sequence_diagram(walk), f"Sequence diagram: {steps}"))


def graph(model: Model, label: Callable[[Model, bytes], str] | None = None) -> HTML:
    """All states of a small model as one drawing; label: the text of a state.

    Raises LabError if there are too many to be read.
    """
    title = f"{spec_title(model.spec.name)}: states in columns by their distance from the start"
    return HTML(image_html(state_graph(model, label), title))


def lasso(of: Result | Walk) -> HTML:
    """A drawing of the run that breaks a temporal property. Raises LabError for a result that has
    no such run."""
    walk = of if isinstance(of, Walk) else Walk.along(of)
    return HTML(image_html(lasso_picture(walk), caption(walk.model, walk.path[-1])))


def source(*things: Any) -> Markdown:
    """The source code of functions and classes. Raises LabError for anything else."""
    try:
        texts = [inspect.getsource(each).rstrip() for each in things]
    except TypeError:
        raise LabError("Give functions or classes, without quotes: source(kip_320.init).") from None
    return Markdown("```python\n" + "\n\n\n".join(texts) + "\n```")
