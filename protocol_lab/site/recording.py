"""Records all that the stepper shows of a model's states, for pages without a kernel.

A model with few states is recorded whole; of a larger one the states within some steps of the
page's paths. A recorded state has the steps that are possible in it, and the refusals with their
reasons; a moment (a step with the state that it leads to) has the rest: picture, invariants,
variables, code. What belongs to a walk (its timeline, its captions) is made in the browser, in
`js/recorded.js`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.diagrams.state_graph import state_leaves
from protocol_lab.distance.backward import ENDLESS, MISSING, DistanceMap
from protocol_lab.distance.nearest_violation import (
    ALL_STATES,
    EXACT,
    NEVER,
    UNKNOWN,
    Distance,
    Near,
    Nearness,
)
from protocol_lab.drawing.pictures import picture
from protocol_lab.drawing.state_table import state_table
from protocol_lab.explain.wording import constant_texts, first_line, spec_title
from protocol_lab.language.kept_results import keeping_results
from protocol_lab.semantics.step_text import initial_texts
from protocol_lab.semantics.transitions import evaluate, evaluate_step, is_inside
from protocol_lab.site.packing import Table, elements
from protocol_lab.spec.constants import show_text
from protocol_lab.spec.spec import Model
from protocol_lab.stepper import panels
from protocol_lab.stepper.board import actions, invariant
from protocol_lab.stepper.live import shown
from protocol_lab.stepper.stage import Stage
from protocol_lab.traces.events import Arrow, Event, events, lifelines
from protocol_lab.traces.walk import Moment, Walk

WHOLE = 10_000
"""A model with at most this many states is recorded whole."""

AROUND = 2
"""Of a larger model states are recorded up to this many steps away from a path."""

MOST = 40
"""Of a larger model this many states are recorded besides those of its paths."""

SEARCHED = 300_000
"""The most states that are explored to find distances."""

ROOMS = {"wide": (660, 440), "narrow": (352, 2000)}
"""The spaces for which pictures are recorded, in pixels: on a laptop's page, and on a phone."""

_STARTS = 20
"""At most this many initial states are offered."""


@dataclass(frozen=True)
class Aim:
    """What distances are measured to: invariants of a model with the same states and steps."""

    key: str
    model: Model
    invariants: tuple[str, ...]


@dataclass
class Recorder:
    """Records one model. `paths` are walks that the pages show; `aims`: for their distances.

    `scenarios` are offered for loading; their walks are among the paths.
    """

    model: Model
    paths: list[Walk] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)
    scenarios: list[dict[str, Any]] = field(default_factory=list)
    whole: int = WHOLE
    around: int = AROUND
    most: int = MOST
    weight: int = 1  # multiplies `most`, for a page whose readers should be able to go anywhere

    def explore(self) -> list[DistanceMap | None]:
        """For each aim the distances of all states; None where there are too many states."""
        found = []
        for aim in self.aims:
            nearness = Nearness(aim.model, aim.invariants, max_states=SEARCHED)
            found.append(nearness.map if nearness.prepare() else None)
        return found

    def record(self, maps: list[DistanceMap | None] | None = None) -> dict[str, Any]:
        """A table whose root has what `js/recording.js` reads; see `packing.Table`.

        maps: what `explore` has returned, perhaps in another process.
        """
        with keeping_results():
            return self._record(self.explore() if maps is None else maps)

    def _record(self, maps: list[DistanceMap | None]) -> dict[str, Any]:
        self._numbers: dict[bytes, int] = {}  # of the rows, in the order in which they are met
        self._distances = [_Distances(*each) for each in zip(self.aims, maps, strict=True)]
        walks = list(self._starts())
        longest = max([*self.paths, *walks], key=lambda each: len(each.path))
        self._stages = {name: Stage(room) for name, room in ROOMS.items()}
        self._sizes = {name: _size(each.draw(longest)) for name, each in self._stages.items()}
        starts = [
            {"init": each.init, "to": self._number(each.row), "moment": self._moment(each)}
            for each in walks
        ]
        recorded = self._record_states([each.row for each in walks])
        root = {
            "about": self._about(),
            "starts": starts,
            "scenarios": self.scenarios,
            "states": [recorded.get(row) for row in self._numbers],
            "plain": [self._plain(row) for row in self._numbers],
        }
        table = Table()
        return table.to_json(table.add(root))

    @property
    def is_whole(self) -> bool:
        """Is the model small enough that all its states are recorded?"""
        return any(0 < each.states <= self.whole for each in self._distances)

    def _about(self) -> dict[str, Any]:
        model = self.model
        return {
            "spec": known_as(model.spec),
            "constants_text": show_text(model.constants),
            "title": spec_title(model.spec.name),
            "meaning": first_line(model.spec.meaning),
            "constants": [
                {"text": text, "meaning": meaning} for text, meaning in constant_texts(model)
            ],
            "beginning": first_line(model.spec.inits[0].doc) or "The initial state.",
            "lifelines": lifelines(model),
            "sizes": self._sizes,
            "whole": self.is_whole,
        }

    def _starts(self) -> Iterator[Walk]:
        """Walks at the initial states that are offered, and at those of the paths."""
        texts = list(islice(initial_texts(self.model), _STARTS)) or [None]
        for text in dict.fromkeys([*texts, *(each.init for each in self.paths)]):
            yield Walk.begin(self.model, text)

    def _number(self, row: bytes) -> int:
        return self._numbers.setdefault(row, len(self._numbers))

    # --- States ---

    def _record_states(self, starts: list[bytes]) -> dict[bytes, Any]:
        """Record states breadth first from the starts and all states of the paths; by row.

        Of a large model only up to `around` steps away, and about `most` states beside those of
        the paths.
        """
        given = [
            moment.row
            for walk in self.paths
            for end in walk.branches.values()
            for moment in end.path()
        ]
        recorded: dict[bytes, Any] = {}
        level, steps = list(dict.fromkeys([*starts, *given])), 0
        most = len(level) + self.weight * self.most
        while level and (self.is_whole or steps <= self.around):
            following: dict[bytes, None] = {}
            for row in level:
                if steps and not self.is_whole and len(recorded) >= most:
                    break
                recorded[row], after = self._state(row)
                if is_inside(self.model, row):
                    following |= dict.fromkeys(after)
            level = [row for row in following if row not in recorded]
            steps += 1
        return recorded

    def _state(self, row: bytes) -> tuple[dict[str, Any], list[bytes]]:
        """The possible steps and the refusals in a state, and the rows that it leads to."""
        here = Moment(row)
        walk = Walk(self.model, here, {"main": here})
        attempts = walk.attempts()
        can, cannot = actions(walk, attempts)
        after = {}
        for each in attempts:
            if each.taken:
                moment = Moment(each.row, walk.step_of(each), here, depth=2)
                after[moment.step.text] = moment
        for choice in (each for action in can for each in action["choices"]):
            moment = after[choice["step"]]
            moved = Walk(self.model, here, {"main": moment})
            moved.moment = moment
            del choice["ahead"]
            choice |= {"to": self._number(moment.row), "moment": self._moment(moved)}
        rows = {step: moment.row for step, moment in after.items()}
        near = {each.aim.key: each.near(row, rows) for each in self._distances}
        return {
            "can": can,
            "cannot": cannot,
            "near": near,
        }, list(rows.values())

    def _plain(self, row: bytes) -> dict[str, Any]:
        """A state by itself, for a comparison of two, and for the graph."""
        lines = state_table(self.model, row)
        return {
            "picture": elements(picture(self.model, row)),
            "lines": [[each.name, "".join(piece.text for piece in each.value)] for each in lines],
            "leaves": [list(leaf) for leaf in state_leaves(self.model, row)],
        }

    def _moment(self, walk: Walk) -> dict[str, Any]:
        """What is shown of a walk's current state and of the step that led to it."""
        options = panels.Options()
        pictures = {}
        for name, stage in self._stages.items():
            drawn = panels.cluster(walk, panels.Options(stage=stage))
            pictures[name] = elements(drawn["svg"])
            self._sizes[name] = _size(drawn)
        table = panels.state(walk, options)
        previous = walk.moment.previous
        happened = previous and events(self.model, previous.row, walk.moment.step, walk.row)
        return {
            "pictures": pictures,
            "invariants": [invariant(walk, each) for each in walk.standings()],
            "lines": table["lines"],
            "tables": table["tables"],
            "code": panels.code(walk, options),
            "events": [_event(each) for each in happened or []],
        }


class _Distances:
    """The distances of a model's states to an aim, if the model could be explored."""

    def __init__(self, aim: Aim, found: DistanceMap | None):
        self.aim, self._map = aim, found
        self._invariants, self._step_invariants = aim.model.choose(aim.invariants)
        self.states = states_in([found])

    def near(self, row: bytes, steps: dict[str, bytes]) -> dict[str, Any]:
        """What a page shows for a state: whether the aim is reached, by which steps, and the
        distance.

        `steps`: the rows that the possible steps lead to. Without a map there is no distance.
        """
        met = self._is_met(row)
        by = [step for step, after in steps.items() if self._is_met(after, row)]
        if self._map is None:
            return {"met": met, "by": by}
        after = self._after(steps, by)
        exact = [each.steps for each in after if each.kind == EXACT]
        here = Distance(EXACT, min(exact) + 1) if exact else Distance(NEVER)
        near = Near(Distance(EXACT) if met else here, after, ALL_STATES, self.states, 0.0)
        return {"met": met, "by": by, **shown(near, list(steps))}

    def _after(self, steps: dict[str, bytes], by: list[str]) -> list[Distance]:
        if not steps:
            return []
        found = self._map.look_up(list(steps.values()))
        known = {MISSING: Distance(UNKNOWN), ENDLESS: Distance(NEVER)}
        return [
            Distance(EXACT) if step in by else known.get(each, Distance(EXACT, each))
            for step, each in zip(steps, found.tolist(), strict=True)
        ]

    def _is_met(self, row: bytes, before: bytes | None = None) -> bool:
        model = self.aim.model
        if any(evaluate(model, row, each.function) for each in self._invariants):
            return True
        return before is not None and any(
            evaluate_step(model, before, row, each.function) for each in self._step_invariants
        )


def states_in(maps: list[DistanceMap | None]) -> int:
    """How many states a model has, whose maps these are; 0 if they are too many to be explored."""
    return max((len(each.steps) for each in maps if each is not None), default=0)


def _size(drawn: dict[str, Any]) -> dict[str, float]:
    """The space that every picture so far fits into; zeros where the state was drawn as a table."""
    return {"width": drawn.get("width", 0), "height": drawn.get("height", 0)}


def _event(event: Event) -> dict[str, Any]:
    """An event of a sequence diagram; `identity` is that of the message."""
    if isinstance(event, Arrow):
        ends = {"source": event.source, "dest": event.dest, "text": event.label}
        return {"kind": event.kind, **ends, "identity": repr(event.identity)}
    return {"kind": event.kind, "at": event.at, "text": event.text}
