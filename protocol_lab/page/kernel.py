"""Runs in the page's worker: opens steppers from saved walks, and answers their commands.

Values go out as JSON, since the page is not Python. What the stepper computes in the background is
computed between two commands, as a page's Python has no threads; searches are WebAssembly, in
slices.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from protocol_lab.diagrams import state_graph
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import words
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import step_of
from protocol_lab.model.transitions import needed_attempts
from protocol_lab.page.searches import (
    Answer,
    answer_of,
    distances,
    expect_inside,
    is_broken,
    name_of,
    question,
)
from protocol_lab.spec_files import value_of_cells
from protocol_lab.stepper.live import Job, Live, Show, shown
from protocol_lab.stepper.plain_stepper import PlainStepper
from protocol_lab.stepper.starting_point import Session, resumed
from protocol_lab.teaching.challenges import remember_shortest
from protocol_lab.traces.walk import Moment, Walk

Tell = Callable[[str, str, str], Any]
"""tell(stepper, part, values): the values of a part that is shown, as JSON."""

Search = Callable[[str, str, str], Awaitable[str]]
"""search(module, question, stepper): what a search tells, as JSON; the progress of one that is for
a stepper goes to the page."""

_MOST_SECONDS = 10.0
"""How long plain Python may search: the page hears nothing meanwhile."""


class PageLive(Live):
    """The background computations of a page's stepper. Distances are searched for by
    WebAssembly."""

    most_seconds = _MOST_SECONDS

    def __init__(self, search: Search, name_of: Callable[[Model], str]):
        super().__init__()
        self._search, self._name_of = search, name_of
        self._latest = 0  # of the questions for distances
        self._asked: asyncio.Future | None = None

    def cancel(self, key: str) -> None:
        """Stop this key's job; its `done` is not called any more."""
        self._latest += key == "near"
        super().cancel(key)

    def submit(self, key: str, job: Job, done: Callable[[Any], None]) -> None:
        """Run job(stopped), which is stopped after a while: the page hears nothing meanwhile."""

        def limited(stopped: Callable[[], bool]) -> Any:
            until = time.monotonic() + _MOST_SECONDS
            return job(lambda: stopped() or time.monotonic() > until)

        super().submit(key, limited, done)

    def near(self, model: Model, row: bytes, invariants: list[str], show: Show) -> None:
        """Show the distances from a state, and after each step that can be taken."""
        self._latest += 1
        asked = self._show_near(self._latest, model, row, invariants, show)
        self._asked = asyncio.ensure_future(asked)

    async def _show_near(
        self, number: int, model: Model, row: bytes, invariants: list[str], show: Show
    ) -> None:
        async def ask(asked: dict[str, Any]) -> dict[str, Any]:
            return json.loads(await self._search(self._name_of(model), json.dumps(asked), ""))

        try:
            near = await distances(ask, model, row, invariants, lambda: number != self._latest)
            if near is None:
                return
            taken = [each for each in needed_attempts(model, row) if each.taken]
            show(shown(near, [step_of(model, row, each.action, each.args).text for each in taken]))
        except LabError as error:
            show({"notice": str(error)})
        except Exception as error:
            show({"notice": f"That did not work ({type(error).__name__}: {error})."})


class PageStepper(PlainStepper):
    """A stepper that tells the page each part that it shows. Its views have the walk's link."""

    def __init__(self, of: Session, key: str, tell: Tell, search: Search, room: Any = None):
        self._key, self._tell, self._search = key, tell, search
        super().__init__(of)
        self._live = PageLive(search, self._module_of)
        if room:
            self.answer({"command": "room", **room})

    def show(self, part: str, values: dict[str, Any]) -> None:
        """Show a part in the page."""
        if part == "view":
            values = {**values, "link": self.link}
        super().show(part, values)
        self.tell(part, values)

    def tell(self, part: str, values: Any) -> None:
        """Tell the page a part that only a page shows."""
        self._tell(self._key, part, json.dumps(values))

    def _module_of(self, model: Model) -> str:
        """The module that searches the walk's own model, or for its challenge's goal."""
        challenge = self.session.challenge
        is_own = challenge is None or model is self.walk.model
        return name_of(model, "" if is_own else challenge.name)

    async def search(self) -> None:
        """Search all states that can be reached from the one shown; the steps to a violation are
        laid ahead of it as a branch."""
        walk, begun, names = self.walk, self.walk.moment, self.session.watched_names
        try:
            for each in names:
                if is_broken(walk.model, each, [begun.row]):
                    text = f"Violated already here: {words(each)}. Search from an earlier state."
                    self.tell("search", {"working": False, "verdict": "violated", "text": text})
                    return
            expect_inside(walk.model, begun.row)
            asked = json.dumps(question(walk.model, names, [begun.row]))
            told = await self._search(self._module_of(walk.model), asked, self._key)
            answer = answer_of(walk.model, names, json.loads(told))
            text = self._laid(walk, begun, answer)
            self.tell("search", {"working": False, "verdict": answer.verdict, "text": text})
        except LabError as error:
            self.tell("search", {"working": False, "verdict": "undecided", "text": str(error)})

    def _laid(self, walk: Walk, begun: Moment, answer: Answer) -> str:
        """Lay the steps of an answer ahead of where the search began; returns what to say."""
        if not answer.steps or walk is not self.walk:
            return answer.text
        name = walk.new_name(f"to: {answer.end}"[:40])
        walk.moment = begun
        walk.lay(name, answer.steps, f"on the way to: {answer.end}")
        self.refresh_safely()
        return f"{answer.text} The steps lie ahead on the branch “{name}”."


class Kernel:
    """All steppers of a page, by their keys. draw(dot) gives a graph's drawing as SVG text."""

    def __init__(self, tell: Tell, draw: Callable[[str], str], search: Search):
        self._tell, self._search = tell, search
        self._steppers: dict[str, PageStepper] = {}
        self._searches: dict[str, asyncio.Future] = {}
        state_graph.drawn_by = draw

    def open(self, key: str, asked: str) -> None:
        """Begin a stepper where a saved walk stands.

        asked, as JSON: the `saved` walk of `starting_point.resumed`, the cells that are `needed`
        for its model if no package has its spec, for a challenge the steps of a `shortest` path,
        and the `room` for the picture, if it is known. A walk that can't be taken is told as the
        part "failed".
        """
        wanted = json.loads(asked)
        try:
            written = value_of_cells(wanted["needed"]) if wanted.get("needed") else None
            session = resumed(wanted["saved"], written)
            if session.challenge is not None and wanted.get("shortest"):
                remember_shortest(session.challenge, wanted["shortest"])
            room = wanted.get("room")
            self._steppers[key] = PageStepper(session, key, self._tell, self._search, room)
        except LabError as error:
            self._tell(key, "failed", json.dumps(str(error)))

    def answer(self, key: str, message: str) -> None:
        """Do what a message of the page asks a stepper for."""
        asked = json.loads(message)
        if asked["command"] == "search":
            self._searches[key] = asyncio.ensure_future(self._steppers[key].search())
        else:
            self._steppers[key].answer(asked)
