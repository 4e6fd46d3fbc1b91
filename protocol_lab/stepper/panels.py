"""The content of the stepper's tabs, computed from the walk, as plain values for JSON.

A tab is a function (walk, options) -> content. `options` are what the learner chose in the tabs:
the state to compare with, the branches, the depth of the graph. They are kept while other tabs are
open.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from protocol_lab.diagrams.comparison import compare_branches
from protocol_lab.diagrams.sequence import sequence_diagram
from protocol_lab.drawing.pictures import READING_WIDTH, moment_picture
from protocol_lab.drawing.state_table import draw_state_table, state_columns
from protocol_lab.errors import LabError
from protocol_lab.explain.code_path import code_path
from protocol_lab.explain.explanation import why_refused
from protocol_lab.explain.tally import claims_of, tally
from protocol_lab.model.spec import Action, Model, Spec
from protocol_lab.model.step_text import find_step
from protocol_lab.stepper.stage import Stage
from protocol_lab.traces.scenario_format import split_caption
from protocol_lab.traces.walk import Moment, Walk

BEFORE = "before"
"""The default base of the State tab: the state before the one shown."""

_BESIDE_TWO = 62
"""Pixels of the panel's width that are beside and between two pictures: padding, a scrollbar and a
gap."""


@dataclass
class Options:
    """What the learner chose in the tabs."""

    base: str = BEFORE  # or the depth of a state on this branch
    depth: int = 0  # of the graph; 0: as deep as can be read
    left: str = ""  # the branches to compare; "": the main one, and the current or latest one
    right: str = ""
    at: int = 0  # of the comparison: steps after the fork
    tla: bool = False  # whether the code is shown in TLA+, too
    code: bool = False  # whether a lesson shows the code of its steps
    refused: str = ""  # a step that can't be taken here, whose code is shown; "": the last one's
    watched: list[str] | None = None
    stage: Stage | None = None  # None: the picture as it stands in files
    translated: tuple[Model, dict[str, str], str] | None = None  # what `_translated` has computed

    def choose(self, chosen: dict[str, Any]) -> None:
        """Set an option that the learner picked. Raises LabError if it can't be picked."""
        for name, value in chosen.items():
            known = type(getattr(self, name, None))
            if name not in _PICKED or not isinstance(value, known):
                raise LabError(f"{name}={value!r} can't be chosen here.")
        for name, value in chosen.items():
            setattr(self, name, value)


_PICKED = ("base", "depth", "left", "right", "at", "tla")


def cluster(walk: Walk, options: Options) -> dict[str, Any]:
    """The spec's picture; if drawing it fails, the reason and the state as a table."""
    try:
        if options.stage is not None:
            return {**options.stage.draw(walk), "notice": ""}
        return {"svg": moment_picture(walk.model, walk.moment), "notice": ""}
    except LabError as error:
        base = walk.moment.previous and walk.moment.previous.row
        return {"svg": draw_state_table(walk.model, walk.row, base), "notice": str(error)}


def sequence(walk: Walk, options: Options) -> dict[str, Any]:
    """Who sent what to whom so far."""
    return {"svg": sequence_diagram(walk, options.watched, named=True)}


def state(walk: Walk, options: Options) -> dict[str, Any]:
    """Every variable, with the differences from another state of the branch marked."""
    tables, lines = state_columns(walk.model, walk.row, _base(walk, options))
    bases = [{"value": BEFORE, "label": "the state before"}]
    bases += [{"value": str(each.depth), "label": _label(each)} for each in walk.path]
    return {
        "base": options.base,
        "bases": bases,
        "lines": [asdict(each) for each in lines],
        "tables": [asdict(each) for each in tables],
    }


def graph(walk: Walk, options: Options) -> dict[str, Any]:
    """The options of the graph, which is drawn in the background (`live`)."""
    return {"depth": options.depth}


def code(walk: Walk, options: Options) -> dict[str, Any]:
    """The code of the action that led here, or of one that is refused here, with the lines that
    ran."""
    previous, step = walk.moment.previous, walk.moment.step
    if options.refused:
        return _code(walk, options, walk.row, options.refused)
    if previous is None or step is None:
        return {"title": "No step was taken yet.", "lines": []}
    return _code(walk, options, previous.row, step.text)


def _code(walk: Walk, options: Options, row: bytes, step: str) -> dict[str, Any]:
    each = find_step(walk.model, row, step)
    path = code_path(walk.model, row, each.action, each.args)
    return {
        "title": step,
        "refused": not each.taken,
        "reason": each.reason,
        "values": "" if each.taken else str(why_refused(walk.model, row, each)),
        "notice": path.notice,
        "lines": [{"number": n.number, "text": n.text, "state": n.state} for n in path.lines],
        "tla": _tla(walk.model, options, each.action) if options.tla else None,
    }


def _tla(model: Model, options: Options, action: Action) -> dict[str, str]:
    """The action's definition in TLA+, or the reason why the spec has none."""
    if options.translated is None or options.translated[0] is not model:
        options.translated = (model, *_translated(model))
    _, definitions, reason = options.translated
    return {"text": definitions.get(action.function.__name__, ""), "reason": reason}


def _translated(model: Model) -> tuple[dict[str, str], str]:
    """A model's definitions in TLA+ by their names in Python, or why it can't be translated."""
    from protocol_lab.tla.module import written

    try:
        return written(model).definitions, ""
    except LabError as error:
        return {}, str(error)
    except Exception as error:
        return {}, f"This spec can't be translated ({type(error).__name__}: {error})."


def compare(walk: Walk, options: Options) -> dict[str, Any]:
    """Two branches side by side at the same number of steps."""
    left, right = _compared(walk, options)
    room = (options.stage.room[0] if options.stage else READING_WIDTH) - _BESIDE_TWO
    compared = compare_branches(walk, left, right, options.at, room)
    return {"branches": list(walk.branches), "left": left, "right": right, **compared}


def board(walk: Walk, options: Options) -> dict[str, Any]:
    """Who has said what: the spec's claims in this state."""
    return tally(walk.model, walk.row).values()


TABS: dict[str, Callable[[Walk, Options], dict[str, Any]]] = {
    each.__name__: each for each in (cluster, board, sequence, state, graph, code, compare)
}
"""Every tab by name, in the order of display; the scripts have their labels."""


def tabs_of(spec: Spec) -> list[str]:
    """The tabs that a spec has: one without claims has no board of them."""
    return [each for each in TABS if each != "board" or claims_of(spec)]


def _base(walk: Walk, options: Options) -> bytes | None:
    """The row that the State tab compares with; None in the initial state."""
    if options.base == BEFORE:
        return walk.moment.previous and walk.moment.previous.row
    known = {str(each.depth): each.row for each in walk.path}
    return known.get(options.base, walk.start.row)


def _label(moment: Moment) -> str:
    slide, _ = split_caption(moment.caption)
    about = f"slide {slide}" if slide else moment.step.text if moment.step else "the start"
    return f"state {moment.depth}: {about}"[:60]


def _compared(walk: Walk, options: Options) -> tuple[str, str]:
    """The branches to compare: those that were picked, or else the first and the current one."""
    names = list(walk.branches)
    left = options.left if options.left in names else names[0]
    others = [name for name in (options.right, walk.branch, *reversed(names)) if name != left]
    right = next((name for name in others if name in names), left)
    return left, right
