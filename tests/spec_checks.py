"""What the tests of every protocol ask: a spec by its constants, sampled states, two engines."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from protocol_lab.catalog import load, package_folder, spec_names
from protocol_lab.checker.request import SearchRequest
from protocol_lab.checker.result import Result
from protocol_lab.errors import CapacityExceeded
from protocol_lab.explore import explore
from protocol_lab.model.node_sets import as_mask
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import Attempt, attempts, initial
from protocol_lab.traces.scenario_format import linked_scenario
from protocol_lab.traces.scenarios import play, read_scenario
from protocol_lab.traces.walk import Walk

Case = tuple[str, tuple[tuple[str, object], ...]]
"""A spec's name and the constants to bind, hashable."""

ENGINES = ("native", "python")


def read_link(text: str, model: Model | None = None) -> Walk:
    """The walk of a link, at its end."""
    return play(linked_scenario(text), model)


def bind(name: str, **constants) -> Model:
    return load(name).bind(**constants)


def case(name: str, **constants) -> Case:
    return name, tuple(constants.items())


def packages() -> list[str]:
    """The protocols of the catalog, as in "kafka"."""
    return sorted({name.partition(".")[0] for name in spec_names()})


def scenario_files(package: str) -> list[Path]:
    return sorted(package_folder(package).glob("scenarios/*.txt"))


def cases_of(name: str) -> list[Case]:
    """A spec with its defaults, and with the constants of each of its scenarios."""
    scenarios = [read_scenario(path) for path in scenario_files(name.partition(".")[0])]
    told = [case(name, **each.constants) for each in scenarios if each.spec_name == name]
    return list(dict.fromkeys([case(name), *told]))


def sampled(which: Case, walks: int = 12, steps: int = 40) -> list[bytes]:
    """States on seeded random walks, each once; a walk ends where a step would not fit."""
    return walked(which, walks, steps)[0]


@cache
def walked(which: Case, walks: int, steps: int = 40) -> tuple[list[bytes], set[str]]:
    """The sampled states, and the names of the actions that were refused in them."""
    name, constants = which
    model, chance, found, refused = bind(name, **dict(constants)), random.Random(1), {}, set()
    starts = [each.row for each in initial(model)]
    for _ in range(walks):
        row = chance.choice(starts)
        for _ in range(steps):
            found[row] = None
            tried = list(attempts(model, row))
            refused |= refusals(tried)
            if any(isinstance(each.error, CapacityExceeded) for each in tried):
                break
            ahead = [each.row for each in tried if each.taken]
            if not ahead:
                break
            row = chance.choice(ahead)
    return list(found), refused


def refusals(tried: Iterable[Attempt]) -> set[str]:
    """The names of the actions that were refused; an attempt that fails is no refusal, and ends the
    test unless it is for want of room."""
    refused = set()
    for each in tried:
        if each.error is None:
            refused |= {each.action.name} if each.reason else set()
        elif not isinstance(each.error, CapacityExceeded):
            raise each.error
    return refused


@cache
def on_scenarios(which: Case) -> list[bytes]:
    """The states of the scenarios that have exactly these constants."""
    scenarios = [read_scenario(path) for path in scenario_files(which[0].partition(".")[0])]
    return [
        moment.row
        for each in scenarios
        if case(each.spec_name, **each.constants) == which
        for moment in play(each).path
    ]


def walk(model: Model, *steps: str) -> bytes:
    """The state after these steps from the first initial state."""
    row = next(initial(model)).row
    for step in steps:
        each = find_step(model, row, step)
        assert each.taken, f"{step}: {each.reason}"
        row = each.row
    return row


NO_SESSION = object()
"""Given as the session of a search whose levels the driver makes: no Spark is started for it."""


def spark_search(
    model: Model, asked: SearchRequest, session: Any = None, folder: Any = None, **options: Any
) -> Any:
    """A search on Spark, not begun, with these options beside what is asked."""
    from protocol_lab.spark.distributed_search import SparkSearch

    return SparkSearch(model, replace(asked, session=session, folder=folder, **options))


def agree(model: Model, **question) -> Result:
    """Explore on both engines, compare everything that they report, and return one result."""
    native, python = (explore(model, engine=engine, **question) for engine in ENGINES)
    for name in (
        "verdict",
        "per_depth",
        "per_action",
        "violated",
        "undecided_reason",
        "never_reached",
        "violating",
        "initial",
        "trace",
        "trace_rows",
    ):
        assert getattr(native, name) == getattr(python, name), name
    return native


def take_random_steps(walk: Walk, steps: int, seed: int) -> None:
    """Take so many random steps of a walk, or as many as are possible."""
    chance = random.Random(seed)
    for _ in range(steps):
        possible = [each for each in walk.attempts() if each.taken]
        if not possible:
            break
        walk.take(chance.choice(possible))


# --- States that are made by hand ----------------------------------------------------------------


@dataclass(frozen=True)
class HandMade:
    """A state that a test may write to, through `s`; `c` are the constants."""

    model: Model
    row: bytearray

    @classmethod
    def of(cls, spec_name: str, **constants: Any) -> "HandMade":
        """The initial state of a spec with these constants."""
        model = bind(spec_name, **constants)
        return cls(model, bytearray(next(initial(model)).row))

    @property
    def s(self) -> Any:
        return view(self.model.layout, self.row)

    @property
    def c(self) -> Any:
        return self.model.constants

    def after(self, step: str) -> Any:
        """The state after a step, which must be possible."""
        each = find_step(self.model, bytes(self.row), step)
        assert each.taken, f"{step}: {each.reason}"
        return view(self.model.layout, each.row)

    def refusal(self, step: str) -> str:
        """Why a step is not possible; "" if it is."""
        return find_step(self.model, bytes(self.row), step).reason


def nodes(*numbers: int) -> int:
    """A set of nodes, as a state has it."""
    return as_mask(numbers)
