"""The stepper as a plain object: it answers every command of the learner with a new board.

Python computes everything; the scripts in `js/` draw what it shows and send commands back, each a
small message {command: ..., ...}. `view` has what follows from the walk alone, and is shown at
once; `near`, `graph`, `find` and `reading` are computed in the background (`live`). Any error
reaches the learner as one sentence, and leaves the walk as it was. Nothing here needs Jupyter.
"""

import threading
from base64 import b64encode
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakSet

from protocol_lab.addresses import SITE
from protocol_lab.catalog import known_as
from protocol_lab.checker.result import Result
from protocol_lab.compiler.conditions import example
from protocol_lab.distance.path_to_state import FOUND, Found
from protocol_lab.drawing.pictures import FORMATS
from protocol_lab.errors import LabError, quoted
from protocol_lab.explain.wording import words
from protocol_lab.interchange.readers import names_no_steps, read_pasted
from protocol_lab.lessons.lesson_files import Lesson
from protocol_lab.lessons.played_lesson import PlayedLesson
from protocol_lab.model.spec import Model
from protocol_lab.stepper import panels
from protocol_lab.stepper.board import board
from protocol_lab.stepper.live import Live, Show
from protocol_lab.stepper.stage import Stage
from protocol_lab.stepper.starting_point import (
    Session,
    begin,
    origin_of,
    resumed,
    shipped_scenarios,
)
from protocol_lab.stepper.static_view import printed_lesson
from protocol_lab.teaching import record
from protocol_lab.teaching.challenges import Challenge, next_challenge, next_hint, par, progress
from protocol_lab.traces.scenario_format import Scenario, link_text
from protocol_lab.traces.walk import Moment, Walk

_OPEN: "WeakSet[PlainStepper]" = WeakSet()
"""All open steppers: those on the same walk show the same state."""


_ONE_AT_A_TIME = threading.RLock()
"""Held while a stepper changes: JupyterLab's messages come on a thread of their own, and cells run
on another. One for all steppers, since several may show one walk."""


class PlainStepper:
    """Walks through a protocol as it is told, and shows the values that the scripts draw.

    `of` is as for the widget (`Stepper`), a subclass that says how the values are shown: it
    overrides `show` and `shown_together`. Raises LabError.
    """

    def __init__(self, of: Model | Walk | Scenario | Challenge | Result | Lesson | Session):
        self.view: dict[str, Any] = {}
        self.near: dict[str, Any] = {}
        self.graph: dict[str, Any] = {}
        self.find: dict[str, Any] = {}
        self.reading: dict[str, Any] = {}
        self.lesson: dict[str, Any] = {}
        self._notice = ""
        self._export: dict[str, str] | None = None
        self._answers = 0
        self._number = 0
        self._computed: dict[str, Any] = {}
        self._shown = False  # in a browser; before that nothing is computed in the background
        self._tab, self._aim = "cluster", ""
        self._room: tuple[int, int] | None = None  # of the picture, in the browser
        self._is_presenting = False
        self._unfolded: set[str] = set()  # what the learner has opened of what can't happen
        self._seen: set[Moment] = set()
        self._options = panels.Options()
        self._stages: dict[int, Stage] = {}  # of the parts of a lesson
        self._live = Live()
        self._earlier: Session | None = None
        # What is shown: the walk, and the scenario, challenge or lesson that it is about.
        self.session = of if isinstance(of, Session) else begin(of)
        self._origin = origin_of(self.session)
        self._spoilers = False
        if self.session.lesson is not None:
            self.show("lesson", self.session.lesson.values)
        self.refresh()
        _OPEN.add(self)

    @property
    def walk(self) -> Walk:
        """The walk shown; it changes when a scenario is loaded."""
        return self.session.walk

    def close(self) -> None:
        """Stop its computations."""
        _OPEN.discard(self)
        self._live.close()

    # --- What is shown -----------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name by which the page knows it again."""
        return ""

    def show(self, part: str, values: dict[str, Any]) -> None:
        """Show a part: view, near, graph, find, reading or lesson."""
        setattr(self, part, values)

    def shown_together(self) -> AbstractContextManager:
        """A context whose parts are shown at once at its end."""
        return nullcontext()

    def refresh(self) -> None:
        """Show the current state of the walk, in one message, so that the page is drawn once."""
        with _ONE_AT_A_TIME, self.shown_together():
            self._refresh()

    def _refresh(self) -> None:
        session, walk, about = self.session, self.session.walk, self.session.challenge
        self._options.watched = session.watched
        self._seen.update(walk.moment.path())
        panel = panels.TABS[self._tab](walk, self._options)
        self._number += 1
        view = {
            **board(walk, session.watched, self._unfolded, self._seen, self._tab == "board"),
            "number": self._number,
            "answers": self._answers,
            "model": self.name,
            "origin": self._origin,
            "notice": self._notice or panel.get("notice", ""),
            "tab": self._tab,
            "tabs": panels.tabs_of(walk.model.spec),
            "panel": panel,
            "spoilers": self._spoilers,
            "aim": self._aim,
            "aims": [{"name": name, "label": words(name)} for name in session.watched_names],
            "scenario": session.about_scenario,
            "scenarios": session.shipped,
            "starts": session.starts,
            "more_starts": session.more_starts,
            "challenge": about and progress(about, walk, session.hints),
            "part": session.part if session.lesson else None,
            "beat": session.beat,
            "code": self._options.code and panels.code(walk, self._options),
            "board": self._board_of_lesson(),
            "earlier": self._earlier and self._earlier.title,
            "situations": [
                {"name": each.name, "label": each.label} for each in walk.model.spec.situations
            ],
            "example": example(walk.model),
            "formats": list(FORMATS),
            "export": self._export,
            "reading": bool(self.reading.get("working")),
        }
        self.show("view", view)
        self._compute()

    def _compute(self) -> None:
        """Start the background computations for the state shown, unless they are done."""
        if not self._shown:
            return
        walk, (model, aims) = self.walk, self._aims()
        near = self._spoilers and (model, walk.row, *aims)
        self._keep("near", near, lambda show: self._live.near(model, walk.row, aims, show))
        depth = self._options.depth
        graph = self._tab == "graph" and (walk.moment, depth)
        self._keep("graph", graph, lambda show: self._live.graph(walk, depth, show))

    def _keep(self, part: str, wanted: Any, compute: Callable[[Show], None]) -> None:
        """Compute a part anew, or mark its present value as valid for the current view."""
        if not wanted:
            self._live.cancel(part)
            self._computed.pop(part, None)
        elif self._computed.get(part) == wanted:
            self.show(part, {**getattr(self, part), "number": self._number})
        else:
            self._computed[part] = wanted
            self.show(part, {"number": self._number, "working": True})
            compute(self._shows(part))

    def _aims(self) -> tuple[Model, list[str]]:
        """What distances are measured to: a challenge's goal, or all or one of the watched
        invariants.

        They are invariants of the model that comes with them.
        """
        if self.session.challenge is not None:
            return self.session.goal
        return self.walk.model, [self._aim] if self._aim else self.session.watched_names

    def _shows(self, part: str) -> Show:
        """What shows an answer from the background, unless something else is wanted by then."""
        wanted = self._computed[part]

        def show(value: dict[str, Any]) -> None:
            with _ONE_AT_A_TIME:
                if self._computed.get(part) is wanted:
                    self.show(part, {"number": self._number, "working": False, **value})

        return show

    # --- What the learner asks for -----------------------------------------------------------

    def answer(self, message: Any) -> None:
        """Do what a message of the page asks for, and show the new board."""
        with _ONE_AT_A_TIME:
            self._answer(message)

    def _answer(self, message: Any) -> None:
        command = message.get("command") if isinstance(message, dict) else None
        if command == "room":
            self._take_room(message)  # the window was resized; the learner did nothing
            return
        self._notice, self._export = "", None
        if command != "choose":
            self._options.refused = ""
        try:
            self._commands()[message["command"]](message)
        except LabError as error:
            self._notice = str(error)
        except Exception as error:
            self._notice = f"That did not work ({type(error).__name__}: {error})."
        self._answers += 1
        self.refresh_safely()
        for other in list(_OPEN):
            if other is not self and other.walk is self.walk:
                other.refresh_safely()
        self._arrange_next_part()

    def _arrange_next_part(self) -> None:
        """Arrange the pictures of a lesson's next part while the reader is at this one: that takes
        longer than a beat may."""
        lesson, part = self.session.lesson, self.session.part + 1
        if lesson and self._room and part < len(lesson.walks) and part not in self._stages:
            self._stages[part] = self._new_stage()
            self._stages[part].draw(lesson.walks[part])

    def refresh_safely(self) -> None:
        """Show the current state, or a sentence that says why it can't be shown."""
        try:
            self.refresh()
        except Exception as error:
            sentence = f"This state can't be shown ({type(error).__name__}: {error})."
            self.show("view", {**self.view, "notice": sentence, "answers": self._answers})

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
            "restart": lambda message: self._begin(Walk.begin(walk.model, message["start"])),
            "load": self._load,
            "paste": self._paste,
            "stop_reading": lambda _: self._live.stop("reading"),
            "back": self._back,
            "resume": lambda message: self._show_session(resumed(message["saved"], walk.model)),
            "export": self._write,
            "open": self._open,
            "choose": self._choose,
            "look": self._look,
            "unfold": lambda message: self._unfolded.add(str(message["key"])),
            "fold": lambda message: self._unfolded.discard(str(message["key"])),
            "aim": self._take_aim,
            "spoilers": self._spoil,
            "find": self._find,
            "stop_finding": lambda _: self._live.stop("find"),
            "hint": self._hint,
            "shortest": self._lay_shortest,
            "next_challenge": self._open_next,
            "beat": self._go_to_beat,
            "answered": self._take_answer,
            "code": self._show_code,
            "print": lambda _: self._print(printed_lesson(self._the_lesson())),
        }

    def _take_room(self, message: dict) -> None:
        """Draw for the space that the picture has in the browser."""
        self._room = max(200, int(message["width"])), max(120, int(message["height"]))
        self._is_presenting = bool(message.get("presenting"))
        self._stages.clear()
        self._options.stage = self._stage_of_part()
        self.refresh_safely()

    def _stage_of_part(self) -> Stage:
        """The stage for the walk; each part of a lesson keeps its own."""
        return self._stages.setdefault(self.session.part, self._new_stage())

    def _new_stage(self) -> Stage:
        return Stage(self._room, self._is_presenting)

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

    # --- The lesson ---

    def _board_of_lesson(self) -> dict[str, Any] | None:
        """Who has said what, for a lesson whose spec has claims: it may stand beside the
        picture."""
        session = self.session
        told = session.lesson.claims_told(session.part) if session.lesson else []
        return {**panels.board(session.walk, self._options), "told": told} if told else None

    def _go_to_beat(self, message: dict) -> None:
        part = self.session.part
        self.session.go_to_beat(int(message["at"]))
        if part != self.session.part:
            self._origin = origin_of(self.session)
            self._options.stage = self._room and self._stage_of_part()

    def _take_answer(self, message: dict) -> None:
        """Note what a learner has answered; the run's answer is computed in the background where it
        is not known yet: some take a search."""
        lesson, number = self._the_lesson(), int(message["at"])
        chosen = message["chosen"]

        def done(beat: dict[str, Any] | LabError) -> None:
            with _ONE_AT_A_TIME:
                if isinstance(beat, LabError):
                    asked = self.lesson["beats"][number]
                    beat = {**asked, "ask": {**asked["ask"], "failed": str(beat)}}
                elif chosen is not None:
                    name = f"{lesson.lesson.name} {beat['ask']['question']}"
                    record.note("prediction", name, chosen == beat["ask"]["right"])
                if beat != self.lesson["beats"][number]:
                    beats = list(self.lesson["beats"])
                    beats[number] = beat
                    self.show("lesson", {**self.lesson, "beats": beats})

        self._live.submit("answer", lambda stopped: lesson.settle(number), done)

    def _show_code(self, message: dict) -> None:
        self._options.code = bool(message["shown"])

    def _print(self, text: str) -> None:
        self._export = {"format": "print", "file": "lesson.html", "text": text}

    def _the_lesson(self) -> PlayedLesson:
        if self.session.lesson is None:
            raise LabError("This is not a lesson: there are no questions.")
        return self.session.lesson

    # --- Another walk ---

    def _begin(self, of: Walk | Scenario) -> None:
        self._show_session(begin(of, like=self.walk.model))

    def _show_session(self, session: Session) -> None:
        """Show another session, and keep the current one."""
        self.session, self._earlier = session, self.session
        self._origin = origin_of(session)
        self._stages.clear()
        self.show("lesson", session.lesson.values if session.lesson else {})
        self._aim = ""
        self._options = panels.Options(stage=self._room and self._new_stage())

    def _back(self, _: dict) -> None:
        if self._earlier is None:
            raise LabError("There is no earlier walk to go back to.")
        self._show_session(self._earlier)

    def _load(self, message: dict) -> None:
        for each in shipped_scenarios(known_as(self.walk.model.spec)):
            if each.name == message["name"]:
                self._begin(each)
                return
        raise LabError(
            f"There is no scenario {quoted(message['name'])} any more; choose another one."
        )

    def _paste(self, message: dict) -> None:
        """Walk along a text; where its steps have to be found first, in the background."""
        text, model = str(message["text"]), self.walk.model
        if not names_no_steps(text):
            self._begin(read_pasted(text, model))
            return

        def done(read: Walk | Scenario | LabError) -> None:
            with _ONE_AT_A_TIME:
                self.show("reading", {"working": False})
                try:
                    if isinstance(read, LabError):
                        raise read
                    self._begin(read)
                    self._notice = ""
                except LabError as error:
                    self._notice = str(error)
                self.refresh_safely()

        show = self._shows_progress("reading", "Looking for its steps…")
        self._live.read(text, model, show, done)

    def _shows_progress(self, part: str, first: str) -> Callable[[str], None]:
        """What shows how far a search is; it shows the first text at once."""

        def show(text: str) -> None:
            self.show(part, {"working": True, "text": text})

        show(first)
        return show

    def _write(self, message: dict) -> None:
        if message["format"] not in FORMATS:
            raise LabError(
                f"There is no format {quoted(message['format'])}: use {', '.join(FORMATS)}."
            )
        ending, write = FORMATS[message["format"]]
        if message["format"] == "link":
            write = self._address
        name = self.walk.model.spec.name.rpartition(".")[2] + ending
        about = {"format": message["format"], "file": name}
        self._export = {**about, **_content(ending, write(self.walk))}

    @property
    def link(self) -> str:
        """The steps so far as a link, which also says for which challenge they are."""
        about = self.session.challenge if self._origin["in_catalog"] else None
        return link_text(self.walk, about.name if about else "")

    def _address(self, _: Walk) -> str:
        """The page that opens the link, if there is a site; a spec that no package has opens in the
        kit alone."""
        return f"{SITE}/#{self.link}" if SITE and self._origin["in_catalog"] else self.link

    # --- The tabs ---

    def _open(self, message: dict) -> None:
        if message["tab"] not in (known := panels.tabs_of(self.walk.model.spec)):
            raise LabError(f"There is no tab {quoted(message['tab'])}; use {', '.join(known)}.")
        self._tab = message["tab"]

    def _choose(self, message: dict) -> None:
        self._options.choose({key: message[key] for key in message if key != "command"})

    def _look(self, message: dict) -> None:
        self._options.refused, self._tab = str(message["step"]), "code"

    # --- How near ---

    def _take_aim(self, message: dict) -> None:
        names = self.session.watched_names
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

        def done(found: Found | LabError) -> None:
            with _ONE_AT_A_TIME:
                text = self._found(walk, begun, label, found)
                self.refresh_safely()
                self.show("find", {"working": False, "text": text})

        show = self._shows_progress("find", "Searching…")
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
        session = self.session
        challenge = self._the_challenge()

        def done(hint: str | LabError | None) -> None:
            if hint is not None:
                session.hints.append(str(hint))
                self.refresh_safely()

        walk, taken = session.walk, list(session.hints)
        self._live.submit("hint", lambda stopped: next_hint(challenge, walk, taken, stopped), done)

    def _lay_shortest(self, _: dict) -> None:
        """Put a shortest path beside the learner's, and open the comparison."""
        walk, mine = self.walk, self.walk.branch
        shown = progress(self._the_challenge(), walk, self.session.hints)
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

    def _open_next(self, _: dict) -> None:
        """Open the challenge that follows this one."""
        if (following := next_challenge(self._the_challenge())) is None:
            raise LabError("This is the last challenge of its kind.")
        self._show_session(begin(following))
        self._seek_par()

    def _the_challenge(self) -> Challenge:
        if self.session.challenge is None:
            raise LabError(
                "This is not a challenge: there are no hints, and no shortest path to show."
            )
        return self.session.challenge

    def _seek_par(self) -> None:
        challenge = self.session.challenge
        if challenge is not None:
            self._live.submit(
                "par", lambda stopped: par(challenge, stopped), lambda _: self.refresh_safely()
            )


def _content(ending: str, written: str) -> dict[str, str]:
    """What an export sends to the page: text to read, or an image and data to save."""
    if ending.endswith(".svg"):
        data = f"data:image/svg+xml;base64,{b64encode(written.encode()).decode()}"
        return {"image": data, "data": data}
    return {"text": written}
