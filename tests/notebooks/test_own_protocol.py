"""A spec from notebook cells: the notebook's figures, and what typical mistakes are told."""

import linecache
import re

import pytest

from notebooks.your_own import exercises
from protocol_lab import LabError
from protocol_lab.drawing import Bar, Card, Cluster, Entry, Lane, Message, Messages, Text, Value
from protocol_lab.drawing.changes import with_changes
from protocol_lab.explore import explore
from protocol_lab.teaching.exercises import Exercise
from protocol_lab.traces.walk import Walk
from tests.notebook_outputs import FOLDER, asks, code_cells, read
from tests.work_units import one_of

NOTEBOOK = FOLDER / "your_own" / "01_primary_backup.ipynb"


class Cells:
    """Cells as a kernel runs them: in one scope, their sources known to linecache only."""

    def __init__(self):
        self.scope = {"__name__": "__main__"}
        self.names = []

    def run(self, source: str) -> None:
        name = f"<cell {id(self)} {len(self.names)}>"
        self.names.append(name)
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), self.scope)

    @property
    def spec(self):
        return self.scope["spec"]


@pytest.fixture
def cells():
    made = Cells()
    yield made
    for name in made.names:
        linecache.cache.pop(name, None)


SOURCES = {cell.id: cell.source for cell in code_cells(read(NOTEBOOK))}
QUESTIONS = [cell.id for cell in code_cells(read(NOTEBOOK)) if asks(cell)]
KEPT = {cell.id: str(cell.outputs) for cell in code_cells(read(NOTEBOOK))}


def declared(cells, before: str = ""):
    """The notebook's spec as it is declared by the cells before this one (by all of them)."""
    cells.scope.clear()
    cells.scope.update(__name__="__main__", exercises=exercises, source=lambda *_: None)
    for name, source in SOURCES.items():
        if name == before:
            break
        is_part = re.search(r"^@spec|^spec\b|^class |^def |^from typing", source, re.MULTILINE)
        if is_part and name not in QUESTIONS:
            source = re.sub(
                r"^(import exercises|step\(two\)|exercises\..*|print\(.*)$", "", source, flags=re.M
            )
            cells.run(source)
    return cells.spec


def engines_agree(model, native: bool):
    results = [explore(model, engine="python", progress=False)]
    if native:
        results.append(explore(model, progress=False))
        for name in ("per_depth", "per_action", "verdict", "never_reached", "trace"):
            assert getattr(results[0], name) == getattr(results[1], name), name
    return results[0]


@pytest.mark.slow
@pytest.mark.parametrize("native", one_of([False, pytest.param(True, marks=pytest.mark.slow)]))
def test_the_story_of_the_notebook(cells, native):
    stages = ("own-guess-1", "own-guess-2", "own-guess-3", "own-restart-code", "own-guess-5")
    KEPT["own-restart-code"] = KEPT["own-explore-4"]  # which declares the worked answer as well
    sizes = [{"servers": 2}, {"servers": 2}, {"servers": 3}, {"servers": 3, "writes": 2}, {}]
    outcomes = {}
    for stage, constants in zip(stages, sizes, strict=True):
        model = declared(cells, before=stage).bind(**constants)
        found = outcomes[stage] = engines_agree(model, native)
        assert f"{found.distinct:,} distinct states, {found.generated:,} gen" in KEPT[stage]
        for step in found.trace or ():
            assert str(step) in KEPT[stage]
    assert [len(found.trace or ()) for found in outcomes.values()] == [4, 0, 5, 0, 6]
    assert outcomes["own-guess-2"].never_reached == ["answered_after_take_over"]
    assert outcomes["own-restart-code"].never_reached == []


def test_every_state_of_a_loss_is_drawn_with_what_changed(cells):
    spec = declared(cells)
    walk = Walk.along(explore(spec.bind(), engine="python", progress=False))
    pictures = [
        spec.draw(walk.model, each.row, each.previous and each.previous.row) for each in walk.path
    ]
    assert "acknowledged_is_kept is broken" in pictures[-1]
    assert "acknowledged_is_kept is broken" not in pictures[-2]
    assert any("was backup" in each for each in pictures)
    assert any(">new<" in each for each in pictures)


@pytest.mark.slow
def test_the_worked_answers_are_right_and_what_the_notebook_has_is_not(cells):
    spec = declared(cells)
    assert exercises.come_back_safely.check(spec).passed is False
    spec.action(exercises.restart)
    back = exercises.come_back_safely.check(spec)
    assert back.passed, back.text
    spec.actions[:] = [each for each in spec.actions if each.name != "restart"]
    spec.situations[:] = spec.situations[:1]
    assert exercises.answer_when_it_is_safe.check(spec).passed
    missing = exercises.come_back_safely.check(spec)
    assert "has no action `restart`" in missing.text
    cells.run(SOURCES["own-fix-1-code"])
    feedback = exercises.answer_when_it_is_safe.check(spec)
    assert "never reached: answered_after_take_over" in feedback.text


def test_whatever_is_answered_the_check_answers_in_a_sentence():
    tasks = [each for each in vars(exercises).values() if isinstance(each, Exercise)]
    assert len(tasks) == 2
    for task in tasks:
        assert task.title in task._repr_markdown_()
        for nonsense in (None, ..., "no idea", object, lambda: 1):
            assert task.check(nonsense).passed is False


# --- Cells that are run again ----------------------------------------------------------------

HEAD = """
from typing import NamedTuple
from protocol_lab import *
from protocol_lab import HOLDS, TAKEN

Server = Node("servers")

class Constants(NamedTuple):
    servers: int = 2

class Note(Struct):
    text: Int8

class State(Struct):
    n: Int8
    notes: Bag(Note, 4)
    log: Per(Server, Seq(Int8, 2))
"""
SPEC = 'spec = Spec("own.trial", State, Constants)\n'
INIT = """
@spec.init
def start(s, c):
    return TAKEN
"""
GO = """
@spec.action
def go(s, c, server: Server):
    if s.n >= 3:
        return "enough"
    s.n += 1
    return TAKEN
"""
FINE = """
@spec.invariant
def fine(s, c):
    return HOLDS if s.n <= 3 else "too many"
"""


def tried(cells, *sources, engine="python", **constants):
    for source in sources:
        cells.run(source)
    return explore(cells.spec.bind(**constants), engine=engine, progress=False)


def test_a_cell_that_is_run_again_replaces_what_it_declared(cells):
    once = tried(cells, HEAD, SPEC, INIT, GO, FINE)
    again = tried(cells, GO, INIT, FINE)
    assert (again.distinct, again.generated) == (once.distinct, once.generated) == (4, 7)
    edited = tried(cells, GO.replace("3", "5"), FINE.replace("3", "4"))
    assert (edited.violated, edited.violation_reason) == ("fine", "too many")
    assert [each.name for each in cells.spec.actions] == ["go"]


def test_two_functions_of_one_name_in_a_cell_are_a_mistake(cells):
    """Also in one that is run again; one function in it is replaced as ever."""
    for source in (HEAD, SPEC, INIT, FINE):
        cells.run(source)
    twins = GO + GO.replace("3", "5")
    for _ in range(2):
        with pytest.raises(LabError, match=r"two functions named 'go', in .* lines 2 and 9"):
            exec(compile(twins, "<one cell>", "exec"), cells.scope)
    for _ in range(2):
        exec(compile(GO, "<another cell>", "exec"), cells.scope)
    assert [each.name for each in cells.spec.actions] == ["go"]


def test_edited_constants_and_fields_count_without_the_cells_after_them(cells):
    tried(cells, HEAD, SPEC, INIT, GO)
    longer = HEAD.replace("    n: Int8", "    n: Int8\n    more: Int8")
    cells.run(longer.replace("servers: int = 2", "servers: int = 3\n    lossy: bool = True"))
    assert tried(cells, GO.replace("s.n += 1", "s.n += 1\n    s.more = c.lossy")).generated == 10
    assert tried(cells, lossy=False, servers=1).generated == 4


def test_a_struct_that_was_declared_again_asks_for_the_cell_of_the_state(cells):
    uses = GO.replace("s.n += 1", "add(s.notes, Note(text=1))\n    s.n += 1")
    tried(cells, HEAD, SPEC, INIT, uses)
    with pytest.raises(LabError, match="Note was declared again: run the cell of the state again"):
        tried(cells, "class Note(Struct):\n    text: Int8\n", engine="native")


# --- Mistakes --------------------------------------------------------------------------------

MISTAKES = {
    "no TAKEN": ((GO, "    return TAKEN\n", ""), "go returned None; return TAKEN"),
    "no TAKEN at first": ((INIT, "return TAKEN", "s.n = 1"), "start returned None; return TAKEN"),
    "rare field": (
        (GO, "s.n += 1", "s.n += 1\n    if s.n == 3:\n        s.m = 1"),
        "state has no field 'm'",
    ),
    "constant": ((GO, "s.n >= 3", "s.n >= c.server"), "no constant 'server'; there are: servers"),
    "default": ((GO, "server: Server", "server: Server = []"), "leave out the default of server"),
    "no bag": ((GO, "server: Server", "m: Member('n')"), "Member('n'): there is no Seq or Bag"),
    "range": ((GO, "server: Server", "k: Range(0, 'slots')"), "The size or bound 'slots' needs"),
    "plain constants": ((HEAD, "(NamedTuple)", ""), "class Constants(NamedTuple)"),
    "no default": ((HEAD, "servers: int = 2", "servers: int"), "servers has no default; write b"),
    "text constant": ((HEAD, "int = 2", "str = 'a'"), "The constant servers is a number"),
    "no init": ((INIT, INIT, "\n"), "own.trial has no initial state: write a function (s, c) wit"),
    "init refuses": ((INIT, "TAKEN", "'no'"), "every function with @spec.init refuses"),
    "two of a name": ((FINE, "def fine", "def go"), "already has something else named 'go'"),
}
"""Those that need cells or compiled code; more are in `end_to_end/test_typical_mistakes`."""


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_mistake_is_told_in_one_sentence(cells, engine, mistake):
    (where, old, new), sentence = MISTAKES[mistake]
    assert old in where
    parts = [
        part.replace(old, new) if part is where else part for part in (HEAD, SPEC, INIT, GO, FINE)
    ]
    with pytest.raises(LabError) as error:
        tried(cells, *parts, engine=engine)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


# --- Drawings that find what has changed -----------------------------------------------------


def test_what_differs_from_the_picture_before_is_marked():
    def picture(role, records, sent, committed=()):
        boxes = [Entry(k, each, committed=k in committed) for k, each in enumerate(records)]
        lane = Lane([[Text("Server 1")], [Text(role)]], boxes)
        told = [Card("Client", [Text(f"{len(committed)} answers")])]
        bar = [Bar("Quorum", [Value("leader", Text(role))])]
        on_the_way = [Messages("Sent", [Message(each) for each in sent])]
        return Cluster(lanes=[lane], bars=bar, cards=told, messages=on_the_way)

    before = picture("backup", ["a", "b", "c", "d"], ["x", "x"])
    now = with_changes(picture("primary", ["a", "q", "c"], ["x", "x", "x"], {2}), before)
    (lane,) = now.lanes
    assert [each[0].was for each in lane.lines] == [None, "backup"]
    marks = [(each.offset, each.mark, each.gone) for each in lane.entries]
    assert marks == [(0, "", ""), (1, "changed", "b"), (2, "committed", ""), (3, "truncated", "d")]
    assert [each.mark for each in now.messages[0].items] == ["", "", "new"]
    assert now.cards[0].lines[0].was == "0 answers"
    assert now.bars[0].values[0].value.was == "backup"
    again = with_changes(before, before)
    assert again == before
