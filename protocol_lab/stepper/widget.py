"""The stepper as a widget: it answers what the learner does with a new board.

All computing is done here; the scripts in `js/` draw the trait `view` and send commands back, each
a small message {command: ..., ...}. Nothing that goes wrong reaches the learner as anything but
one sentence, and the walk stays as it was.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from protocol_lab.declaring.spec import Model
from protocol_lab.drawing.wording import spec_title
from protocol_lab.errors import LabError
from protocol_lab.exploring.result import Result
from protocol_lab.stepper.board import board
from protocol_lab.stepper.static_view import static_html, static_text
from protocol_lab.stepping.exports import FORMATS
from protocol_lab.stepping.scenarios import (
    Scenario,
    parse_scenario,
    play,
    read_scenario,
    scenarios_of,
)
from protocol_lab.stepping.steps import initial_texts
from protocol_lab.stepping.walk import Walk

_HERE = Path(__file__).parent
# A widget is one script: its parts are joined in this order, and share their names.
_PARTS = ("dom.js", "panels.js", "timeline.js", "drawers.js", "stepper.js")


@dataclass
class _Session:
    """A walk with what is offered along with it, kept when another one begins."""

    walk: Walk
    scenario: Scenario | None
    watched: list[str] | None
    shipped: list[dict[str, str]]
    starts: list[str]


class Stepper(anywidget.AnyWidget):
    """Walk through a protocol with buttons and arrow keys.

    `of` is a model (at its first initial state), a walk, a scenario or an exploration that found
    a trace. `invariants` names those whose violations count; without it the spec's default ones
    do, and those that the scenario or the exploration broke. Cells may use `stepper.walk`; the
    picture follows after the cell.

    Raises LabError for a scenario that does not play, or an invariant that the spec does not have.
    """

    _esm = "\n".join((_HERE / "js" / part).read_text() for part in _PARTS)
    _css = (_HERE / "stepper.css").read_text()

    view = traitlets.Dict().tag(sync=True)

    def __init__(
        self, of: Model | Walk | Scenario | Result, *, invariants: Collection[str] | None = None
    ):
        super().__init__()
        self._notice = ""
        self._export: dict[str, str] | None = None
        self._answers = 0
        self._session = _session(of, invariants)
        self._earlier: _Session | None = None
        self.refresh()
        self.on_msg(self._on_message)
        _refresh_after_cells(self)

    @property
    def walk(self) -> Walk:
        """The walk shown; another one after a scenario was loaded."""
        return self._session.walk

    def refresh(self) -> None:
        """Show where the walk stands now."""
        session = self._session
        view = board(session.walk, session.watched)
        self.view = {
            **view,
            "notice": self._notice or view["notice"],
            "scenario": session.scenario and _about(session.scenario),
            "scenarios": session.shipped,
            "starts": session.starts,
            "earlier": self._earlier and _name(self._earlier),
            "formats": list(FORMATS),
            "export": self._export,
            "answers": self._answers,
        }

    def _ipython_display_(self) -> None:
        # The drawing is an output of its own: where the widget lives its style sheet hides the
        # drawing, and where it does not (a saved notebook) the drawing is what there is.
        walk, watched = self._session.walk, self._session.watched
        display(
            {"text/html": static_html(walk, watched), "text/plain": static_text(walk, watched)},
            raw=True,
        )
        bundle = self._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        display({kind: data[kind] for kind in data if kind != "text/plain"}, raw=True)

    # --- What the learner asks for -----------------------------------------------------------

    def _on_message(self, _: Any, message: Any, __: Any = None) -> None:
        self._notice, self._export = "", None
        try:
            self._commands()[message["command"]](message)
        except LabError as error:
            self._notice = str(error)
        except Exception as error:
            self._notice = f"That did not work ({type(error).__name__}: {error})."
        self._answers += 1
        self._refresh_safely()

    def _refresh_safely(self) -> None:
        try:
            self.refresh()
        except Exception as error:
            sentence = f"This state can't be shown ({type(error).__name__}: {error})."
            self.view = {**self.view, "notice": sentence, "answers": self._answers}

    def _commands(self) -> dict[str, Callable[[dict], Any]]:
        walk = self.walk
        return {
            "take": lambda message: walk.take(str(message["step"])),
            "undo": lambda _: walk.undo(),
            "redo": lambda _: walk.redo(),
            "first": lambda _: walk.first(),
            "last": lambda _: walk.last(),
            "go_to": self._go_to,
            "fork": lambda message: walk.fork(str(message["name"]).strip() or None),
            "switch": lambda message: walk.switch(message["branch"]),
            "restart": self._restart,
            "load": self._load,
            "paste": lambda message: self._begin(parse_scenario(message["text"], "your scenario")),
            "back": self._back,
            "export": self._write,
        }

    def _go_to(self, message: dict) -> None:
        if message["branch"] != self.walk.branch:
            self.walk.switch(message["branch"])
        self.walk.go_to(int(message["depth"]))

    def _begin(self, of: Walk | Scenario) -> None:
        self._session, self._earlier = _session(of), self._session

    def _restart(self, message: dict) -> None:
        self._begin(Walk.begin(self.walk.model, message["start"]))

    def _back(self, _: dict) -> None:
        if self._earlier is None:
            raise LabError("There is no earlier walk to go back to.")
        self._session, self._earlier = self._earlier, self._session

    def _load(self, message: dict) -> None:
        for each in _shipped(self.walk.model.spec.name):
            if each.name == message["name"]:
                self._begin(each)
                return
        raise LabError(f"There is no scenario {message['name']!r} any more; choose another one.")

    def _write(self, message: dict) -> None:
        if message["format"] not in FORMATS:
            raise LabError(f"There is no format {message['format']!r}: use {', '.join(FORMATS)}.")
        ending, write = FORMATS[message["format"]]
        name = self.walk.model.spec.name.rpartition(".")[2]
        self._export = {
            "format": message["format"],
            "file": name + ending,
            "text": write(self.walk),
        }


def _session(of: Any, invariants: Collection[str] | None = None) -> _Session:
    walk, scenario, broken = _begun(of)
    if invariants is None and broken:
        invariants = [each.name for group in walk.model.choose(None) for each in group] + broken
    if invariants is not None:
        walk.model.choose(invariants)  # are they all known?
    shipped = [{"name": each.name, "title": each.title} for each in _shipped(walk.model.spec.name)]
    watched = None if invariants is None else list(invariants)
    return _Session(walk, scenario, watched, shipped, initial_texts(walk.model))


def _begun(of: Any) -> tuple[Walk, Scenario | None, list[str]]:
    """A walk, the scenario that it follows, and the invariants that are known to break on it."""
    match of:
        case Walk():
            return of, None, []
        case Model():
            return Walk.begin(of, next(iter(initial_texts(of)), None)), None, []
        case Result():
            return Walk.along(of), None, [of.violated] if of.violated in of.invariants else []
        case Scenario():
            walk = play(of)
            walk.first()
            return walk, of, [line.text for line in of.lines if line.kind == "violates"]
    raise LabError(
        "A stepper needs a model (spec.bind(...)), a walk, a scenario or an exploration's result,"
        f" not {type(of).__name__}."
    )


def _shipped(spec_name: str) -> list[Scenario]:
    """The scenarios that come with a spec; none for a spec written in a cell."""
    try:
        return [read_scenario(path) for path in scenarios_of(spec_name)]
    except (ImportError, LabError):
        return []


def _about(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "title": scenario.title,
        "description": scenario.description[1:],
    }


def _name(session: _Session) -> str:
    title = session.scenario.title if session.scenario else spec_title(session.walk.model.spec.name)
    return f"{title}, {len(session.walk.path)} states"


def _refresh_after_cells(stepper: Stepper) -> None:
    """Follow what a cell does to the walk, until the widget is closed."""
    shell = get_ipython()
    if shell is None:
        return

    def refresh(*_: Any) -> None:
        if stepper.comm is None:
            shell.events.unregister("post_run_cell", refresh)
        else:
            stepper._refresh_safely()

    shell.events.register("post_run_cell", refresh)
