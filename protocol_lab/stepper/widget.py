"""The stepper as a Jupyter widget: it answers every command of the learner with a new board.

Python computes everything; the scripts in `js/` draw the traits and send commands back, each a
small message {command: ..., ...}. `view` has what follows from the walk alone, and is sent at once;
`near`, `graph` and `find` are computed in the background (`live`). Any error reaches the learner as
one sentence, and leaves the walk as it was.
"""

import json
import threading
from base64 import b64encode
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakSet

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from protocol_lab.catalog import known_as
from protocol_lab.checker.find import FOUND, Found
from protocol_lab.checker.result import Result
from protocol_lab.compiler.conditions import example
from protocol_lab.drawing import palette
from protocol_lab.drawing.picture_exports import FORMATS
from protocol_lab.errors import LabError, quoted
from protocol_lab.explain.wording import words
from protocol_lab.spec.spec import Model
from protocol_lab.stepper import panels
from protocol_lab.stepper.board import board
from protocol_lab.stepper.live import Live
from protocol_lab.stepper.resumption import origin_of, resumed
from protocol_lab.stepper.stage import Stage
from protocol_lab.stepper.starting_point import Session, begin, shipped_scenarios
from protocol_lab.stepper.static_view import static_html, static_text
from protocol_lab.teaching import feedback
from protocol_lab.teaching.challenges import Challenge, next_hint, par, progress
from protocol_lab.traces.readers import read_pasted
from protocol_lab.traces.scenarios import Scenario
from protocol_lab.traces.walk import Moment, Walk

_HERE = Path(__file__).parent
# A widget is one script: its parts are joined in this order, and share their names.
PARTS = tuple(
    _HERE / "js" / part
    for part in (
        "dom.js",
        "kernel.js",
        "memory.js",
        "header.js",
        "challenge.js",
        "panels.js",
        "viewer.js",
        "moves.js",
        "lists.js",
        "timeline.js",
        "controls.js",
        "drawers.js",
        "stepper.js",
    )
)

_ABOUT_THE_FILE = ("shortest", "hand-made", "Compare ")
"""Lines of a scenario's description that begin so say how it was found, not what it shows."""

_OPEN: "WeakSet[Stepper]" = WeakSet()
"""All open steppers: those on the same walk show the same state."""


_ONE_AT_A_TIME = threading.RLock()
"""Held while a stepper changes: JupyterLab's messages come on a thread of their own, and cells run
on another. One for all steppers, since several may show one walk."""


def style() -> str:
    """The style sheet, with the colours of the pictures from `palette`."""
    own = (_HERE / "stepper.css").read_text(encoding="utf-8")
    dark = own.replace("--dark-pictures: true;", palette.dark_variables())
    return f"{dark}\n{palette.theme_css('.lab-stepper')}\n"


class Stepper(anywidget.AnyWidget):
    """Walk through a protocol with buttons and arrow keys.

    `of` is a model (at its first initial state), a walk, a scenario, a challenge or an exploration
    that found a trace. `invariants` names those whose violations count; by default the spec's
    default ones, and those that the scenario, challenge or exploration is about. `spoilers`: show
    the distance to the nearest violation without being asked. Cells may change `stepper.walk`; the
    picture is updated after the cell.

    Raises LabError for a scenario that does not play, or an invariant that the spec does not have.
    """

    _esm = "\n".join(part.read_text(encoding="utf-8") for part in PARTS)
    _css = style()

    view = traitlets.Dict().tag(sync=True)
    near = traitlets.Dict().tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    find = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        of: Model | Walk | Scenario | Challenge | Result | Session,
        *,
        invariants: Collection[str] | None = None,
        spoilers: bool = False,
    ):
        super().__init__()
        self._notice = ""
        self._export: dict[str, str] | None = None
        self._answers = 0
        self._number = 0
        self._computed: dict[str, Any] = {}
        self._shown = False  # in a browser; before that nothing is computed in the background
        self._tab, self._aim = "cluster", ""
        self._room: tuple[int, int] | None = None  # of the picture, in the browser
        self._is_presenting = False
        self._unfolded: set[str] = set()  # the folded refusals that the learner has opened
        self._options = panels.Options()
        self._live = Live()
        self._earlier: Session | None = None
        self._session = of if isinstance(of, Session) else begin(of, invariants)
        self._origin = origin_of(self._session)
        self._spoilers = spoilers
        self.refresh()
        self.on_msg(self._on_message)
        _OPEN.add(self)
        _refresh_after_cells(self)

    @property
    def walk(self) -> Walk:
        """The walk shown; it changes when a scenario is loaded."""
        return self._session.walk

    @property
    def session(self) -> Session:
        """The session shown: the walk, and the scenario or challenge that it is about."""
        return self._session

    def close(self) -> None:
        """Remove the widget, and stop its computations."""
        _OPEN.discard(self)
        self._live.close()
        super().close()

    # --- What is shown -----------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the current state of the walk, in one message, so that the page is drawn once."""
        with _ONE_AT_A_TIME, self.hold_sync():
            self._refresh()

    def _refresh(self) -> None:
        session, walk = self._session, self._session.walk
        self._options.watched = session.watched
        panel = panels.TABS[self._tab](walk, self._options)
        self._number += 1
        self.view = {
            **board(walk, session.watched, self._unfolded),
            "number": self._number,
            "answers": self._answers,
            "model": self.model_id,
            "origin": self._origin,
            "notice": self._notice or panel.get("notice", ""),
            "tab": self._tab,
            "tabs": list(panels.TABS),
            "panel": panel,
            "spoilers": self._spoilers,
            "aim": self._aim,
            "aims": [{"name": name, "label": words(name)} for name in session.watched_names],
            "scenario": session.scenario and about_scenario(session.scenario),
            "scenarios": session.shipped,
            "starts": session.starts,
            "more_starts": session.more_starts,
            "challenge": session.challenge and self._challenge(),
            "earlier": self._earlier and self._earlier.title,
            "situations": _situations(walk.model),
            "example": example(walk.model),
            "formats": list(FORMATS),
            "export": self._export,
        }
        self._compute()

    def _challenge(self) -> dict[str, Any]:
        session = self._session
        return progress(self._the_challenge(), session.walk, session.hints)

    def _compute(self) -> None:
        """Start the background computations for the state shown, unless they are done."""
        if not self._shown:
            return
        walk, (model, aims) = self.walk, self._aims()
        near = self._spoilers and (model, walk.row, *aims)
        self._keep("near", near, self._near, model, aims)
        wanted = (walk.moment, self._options.depth)
        self._keep("graph", self._tab == "graph" and wanted, self._graph)

    def _keep(self, trait: str, wanted: Any, compute: Callable[..., None], *values: Any) -> None:
        """Compute a trait anew, or mark its present value as valid for the current view."""
        if not wanted:
            self._live.cancel(trait)
            self._computed.pop(trait, None)
        elif self._computed.get(trait) == wanted:
            setattr(self, trait, {**getattr(self, trait), "number": self._number})
        else:
            self._computed[trait] = wanted
            setattr(self, trait, {"number": self._number, "working": True})
            compute(*values)

    def _aims(self) -> tuple[Model, list[str]]:
        """What distances are measured to: a challenge's goal, or all or one of the watched
        invariants.

        They are invariants of the model that comes with them.
        """
        if self._session.challenge is not None:
            return self._session.goal
        return self.walk.model, [self._aim] if self._aim else self._session.watched_names

    def _near(self, model: Model, aims: list[str]) -> None:
        self._live.near(model, self.walk.row, aims, self._shows("near"))

    def _graph(self) -> None:
        self._live.graph(self.walk, self._options.depth, self._shows("graph"))

    def _shows(self, trait: str) -> Callable[[dict[str, Any]], None]:
        """What shows an answer from the background, unless something else is wanted by then."""
        wanted = self._computed[trait]

        def show(value: dict[str, Any]) -> None:
            with _ONE_AT_A_TIME:
                if self._computed.get(trait) is wanted:
                    setattr(self, trait, {"number": self._number, "working": False, **value})

        return show

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
        with _ONE_AT_A_TIME:
            self._answer(message)

    def _answer(self, message: Any) -> None:
        if isinstance(message, dict) and message.get("command") == "room":
            self._take_room(message)  # the window was resized; the learner did nothing
            return
        self._notice, self._export, self._options.refused = "", None, ""
        try:
            self._commands()[message["command"]](message)
        except LabError as error:
            self._notice = str(error)
        except Exception as error:
            self._notice = f"That did not work ({type(error).__name__}: {error})."
        self._answers += 1
        self._refresh_safely()
        for other in list(_OPEN):
            if other is not self and other.walk is self.walk:
                other._refresh_safely()

    def _refresh_safely(self) -> None:
        try:
            self.refresh()
        except Exception as error:
            sentence = f"This state can't be shown ({type(error).__name__}: {error})."
            self.view = {**self.view, "notice": sentence, "answers": self._answers}

    def _commands(self) -> dict[str, Callable[[dict], Any]]:
        walk = self.walk
        return {
            "shown": self._begin_computing,
            "take": lambda message: walk.take(str(message["step"])),
            "undo": lambda _: walk.undo(),
            "redo": lambda _: walk.redo(),
            "first": lambda _: walk.first(),
            "last": lambda _: walk.last(),
            "go_to": self._go_to,
            "go_along": self._go_along,
            "fork": lambda message: walk.fork(str(message["name"]).strip() or None),
            "take_over": lambda _: walk.fork(walk.new_name("my way")),
            "switch": lambda message: walk.switch(message["branch"]),
            "restart": self._restart,
            "load": self._load,
            "paste": lambda message: self._begin(read_pasted(message["text"], walk.model)),
            "back": self._back,
            "resume": self._resume,
            "export": self._write,
            "open": self._open,
            "choose": self._choose,
            "look": self._look,
            "unfold": lambda message: self._unfolded.add(str(message["key"])),
            "aim": self._take_aim,
            "spoilers": self._spoil,
            "find": self._find,
            "stop_finding": lambda _: self._live.stop_finding(),
            "hint": self._hint,
            "shortest": self._lay_shortest,
        }

    def _take_room(self, message: dict) -> None:
        """Draw for the space that the picture has in the browser."""
        self._room = max(200, int(message["width"])), max(120, int(message["height"]))
        self._is_presenting = bool(message.get("presenting"))
        self._options.stage = self._new_stage()
        self._refresh_safely()

    def _new_stage(self) -> Stage:
        return Stage(self._room, can_rearrange=True, for_audience=self._is_presenting)

    def _begin_computing(self, _: dict) -> None:
        self._shown = True
        self._seek_par()

    def _go_to(self, message: dict) -> None:
        if message["branch"] != self.walk.branch:
            self.walk.switch(message["branch"])
        self.walk.go_to(int(message["depth"]))

    def _go_along(self, message: dict) -> None:
        """Take several steps; none if one of them can't be taken."""
        walk, here, branch = self.walk, self.walk.moment, self.walk.branch
        try:
            for step in message["steps"]:
                walk.take(str(step))
        except LabError:
            walk.branch, walk.moment = branch, here
            raise

    # --- Another walk ---

    def _begin(self, of: Walk | Scenario) -> None:
        self._show_session(begin(of, like=self.walk.model))

    def _show_session(self, session: Session) -> None:
        """Show another session, and keep the current one."""
        self._session, self._earlier = session, self._session
        self._origin = origin_of(session)
        self._aim = ""
        self._options = panels.Options(stage=self._room and self._new_stage())

    def _restart(self, message: dict) -> None:
        self._begin(Walk.begin(self.walk.model, message["start"]))

    def _back(self, _: dict) -> None:
        if self._earlier is None:
            raise LabError("There is no earlier walk to go back to.")
        self._show_session(self._earlier)

    def _resume(self, message: dict) -> None:
        """Continue from what the page has kept of an earlier walk."""
        self._show_session(resumed(message["saved"], like=self.walk.model))

    def _load(self, message: dict) -> None:
        for each in shipped_scenarios(known_as(self.walk.model.spec)):
            if each.name == message["name"]:
                self._begin(each)
                return
        raise LabError(
            f"There is no scenario {quoted(message['name'])} any more; choose another one."
        )

    def _write(self, message: dict) -> None:
        if message["format"] not in FORMATS:
            raise LabError(
                f"There is no format {quoted(message['format'])}: use {', '.join(FORMATS)}."
            )
        ending, write = FORMATS[message["format"]]
        name = self.walk.model.spec.name.rpartition(".")[2] + ending
        about = {"format": message["format"], "file": name}
        if ending != ".gif":
            self._export = {**about, **_content(ending, write(self.walk))}
            return
        self._export = {**about, "working": True}  # seconds: in the background, of a copy

        def done(written: str | bytes | LabError) -> None:
            failed = isinstance(written, LabError)
            self._notice = str(written) if failed else ""
            self._export = None if failed else {**about, **_content(ending, written)}
            self._refresh_safely()

        walk = replace(self.walk, branches=dict(self.walk.branches))
        walk.moment = self.walk.moment
        self._live.ask("export", lambda stopped: write(walk), done)

    # --- The tabs ---

    def _open(self, message: dict) -> None:
        if message["tab"] not in panels.TABS:
            raise LabError(
                f"There is no tab {quoted(message['tab'])}; use {', '.join(panels.TABS)}."
            )
        self._tab = message["tab"]

    def _choose(self, message: dict) -> None:
        self._options.choose({key: message[key] for key in message if key != "command"})

    def _look(self, message: dict) -> None:
        self._options.refused, self._tab = str(message["step"]), "code"

    # --- How near ---

    def _take_aim(self, message: dict) -> None:
        names = self._session.watched_names
        if message["name"] and message["name"] not in names:
            raise LabError(
                f"{quoted(message['name'])} is not watched here; use {', '.join(names)}."
            )
        self._aim = message["name"]

    def _spoil(self, message: dict) -> None:
        self._spoilers = bool(message["shown"])

    # --- The way to a state ---

    def _find(self, message: dict) -> None:
        walk = self.walk
        picked = message.get("situation")
        if picked is not None:
            situation = next(each for each in walk.model.spec.situations if each.name == picked)
            condition, label = situation.function, situation.label
        else:
            condition = label = str(message["condition"]).strip()
        if not condition:
            raise LabError(f"Write a condition over s and c, such as {example(walk.model)!r}.")
        begun = walk.moment
        self.find = {"working": True, "text": "Searching…"}

        def show(states: int, depth: int) -> None:
            self.find = {"working": True, "text": f"{states:,} states seen, depth {depth}"}

        def done(found: Found | LabError) -> None:
            with _ONE_AT_A_TIME:
                text = self._found(walk, begun, label, found)
                self._refresh_safely()
                self.find = {"working": False, "text": text}

        self._live.find(walk, condition, show, done)

    def _found(self, walk: Walk, begun: Moment, label: str, found: Found | LabError) -> str:
        """Lay the path that was found ahead of where the search began; returns what to say about
        it."""
        if isinstance(found, LabError):
            return str(found)
        if found.verdict != FOUND or not found.steps:
            return found.text
        name = walk.new_name(f"to: {label}"[:40])
        walk.moment = begun
        walk.lay(name, [step.text for step in found.steps], f"on the way to: {label}")
        return f"{found.text} They lie ahead on the branch “{name}”."

    # --- The challenge ---

    def _hint(self, _: dict) -> None:
        session = self._session
        challenge = self._the_challenge()

        def done(hint: str | LabError | None) -> None:
            if hint is not None:
                session.hints.append(str(hint))
                self._refresh_safely()

        walk, taken = session.walk, list(session.hints)
        self._live.ask("hint", lambda stopped: next_hint(challenge, walk, taken, stopped), done)

    def _lay_shortest(self, _: dict) -> None:
        """Put a shortest path beside the learner's, and open the comparison."""
        walk, mine = self.walk, self.walk.branch
        shown = progress(self._the_challenge(), walk, self._session.hints)
        if shown["shortest"] is None:
            raise LabError("The shortest way is shown once you have found one.")
        name = "the shortest way"
        if name not in walk.branches:
            here = walk.moment
            walk.go_to(1 + shown["given"])
            walk.lay(name, shown["shortest"])
            walk.switch(mine)
            walk.moment = here
        self._tab = "compare"
        self._options.left, self._options.right, self._options.at = mine, name, 0

    def _the_challenge(self) -> Challenge:
        if self._session.challenge is None:
            raise LabError(
                "This is not a challenge: there are no hints, and no shortest path to show."
            )
        return self._session.challenge

    def _seek_par(self) -> None:
        challenge = self._session.challenge
        if challenge is not None:
            self._live.ask(
                "par", lambda stopped: par(challenge, stopped), lambda _: self._refresh_safely()
            )


feedback.steppers.append(Stepper)


def revived(saved: str) -> str:
    """Make a new stepper from what a page has kept of one whose kernel has ended.

    `saved` is JSON. Returns the model's id, by which the page finds it. Raises LabError.
    """
    return Stepper(resumed(json.loads(saved))).model_id


def _content(ending: str, written: str | bytes) -> dict[str, str]:
    """What an export sends to the page: text to read, or an image and data to save."""
    if isinstance(written, bytes):
        data = f"data:image/gif;base64,{b64encode(written).decode()}"
        return {"image": data, "data": data}
    if ending.endswith(".svg"):
        data = f"data:image/svg+xml;base64,{b64encode(written.encode()).decode()}"
        return {"image": data, "data": data}
    return {"text": written}


def about_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario's title and description as plain values, without the lines about its file."""
    return {
        "name": scenario.name,
        "title": scenario.title,
        "description": [
            line for line in scenario.description[1:] if not line.startswith(_ABOUT_THE_FILE)
        ],
    }


def _situations(model: Model) -> list[dict[str, str]]:
    return [{"name": each.name, "label": each.label} for each in model.spec.situations]


def _refresh_after_cells(stepper: Stepper) -> None:
    """Show what a cell does to the walk, until the widget is closed."""
    shell = get_ipython()
    if shell is None:
        return

    def refresh(*_: Any) -> None:
        if stepper.comm is None:
            shell.events.unregister("post_run_cell", refresh)
        else:
            stepper._refresh_safely()

    shell.events.register("post_run_cell", refresh)
