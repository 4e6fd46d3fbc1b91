"""What the pages' Python answers, with the native search in place of WebAssembly."""

import asyncio
import json
import re
from dataclasses import replace

import pytest

from protocol_lab.explore import explore
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import evaluate
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.walk import Walk
from real_systems.bookkeeper import ledger_page, ledger_settings
from real_systems.kafka import cluster_page, cluster_settings
from real_systems.promise_page import _story
from real_systems.promise_table import Cell, Row, in_short, searched
from tests import ROOT
from tests.work_units import one_in, one_of


def asked(page, row: Row, column: str, what: str) -> dict:
    """The page's answer about a cell of its first settings; their changes count as kept."""
    settings = page.first
    models = {tuple(map(int, settings.model(row).constants)): settings.model(row)}

    async def search(module: str, text: str, _: str) -> str:
        wanted = json.loads(text)
        model = models.get(tuple(wanted["constants"]))
        return json.dumps(told(model, wanted["invariants"]))

    question = {"chosen": settings.values, "files": [], "for": what}
    question |= {"row": row.name, "column": column}
    return json.loads(asyncio.run(page.answer(json.dumps(question, default=str), search)))


def told(model: Model | None, invariants: list[str]) -> dict:
    """What the search in a page tells: how many states, and the states on shortest paths."""
    if model is None:
        return {"state": "COMPLETE", "distinct": 1, "paths": {}}
    found = explore(model, invariants=invariants, to_the_end=True, progress=False)
    paths = {name: path_to(model, name) for name in invariants if found.violating[name]}
    return {"state": "COMPLETE", "distinct": found.distinct, "paths": paths}


def path_to(model: Model, broken: str) -> list[str]:
    """The states on a shortest path to a broken invariant, in hexadecimal."""
    walk = Walk.begin(model)
    rows = [walk.row.hex()]
    for step in explore(model, invariants=[broken], progress=False).trace:
        walk.take(step.text)
        rows.append(walk.row.hex())
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "name", "steps"),
    one_of([(cluster_page.PAGE, "kill_and_power_cut", 7), (ledger_page.PAGE, "new_disk", 16)]),
    ids=["kafka", "bookkeeper"],
)
def test_a_cell_and_its_story(page, name, steps):
    row, column = page.first.row_named(name), page.first.column
    shown = asked(page, row, column, "cell")
    assert shown["text"] == f"lost · {steps}"
    assert shown["verdict"] == "lost"
    assert "run 4." in shown["more"]
    told_as = asked(page, row, column, "story")
    assert told_as["html"].count("<li>") == steps
    assert "A real cluster, 4." in told_as["html"]
    assert len(told_as["scenario"].splitlines()) == steps + 1
    assert told_as["scenario"].startswith(f"# spec: {page.first.model(row).spec.name}")


@pytest.mark.slow
def test_the_summary_comes_after_several_questions():
    """Another question need not wait for all of its searches."""
    page = replace(cluster_page.PAGE, found={}, modules={})
    row, summaries = page.first.row_named("kill_and_power_cut"), [""]
    while not summaries[-1]:
        before = len(page.found)
        summaries.append(asked(page, row, page.first.column, "summary")["html"])
        assert len(page.found) <= before + 4
    assert len(summaries) > 4
    assert "rows lose a record" in summaries[-1]


@pytest.mark.rarely
@pytest.mark.parametrize(
    "page", one_in(2, [cluster_page.PAGE, ledger_page.PAGE]), ids=["kafka", "bookkeeper"]
)
def test_each_story_plays_in_the_stepper_with_its_recordings_beside_it(page):
    """Of every golden cell: the stepper reads the scenario, and ends where a promise is broken."""
    for settings, row, (states, *_, steps, _) in page.first.golden_cells():
        cell = Cell(settings, row, states, tuple(steps))
        model = settings.model(row)
        paths = {name: [bytes.fromhex(each) for each in path_to(model, name)] for name in cell.lost}
        shown = _story(cell, paths, [])
        assert shown["html"].count("A real cluster") == len(cell.recordings)
        assert bool(shown["scenario"]) == bool(cell.lost)
        if cell.lost:
            walk = play(read_pasted(shown["scenario"], model), model)
            walk.last()
            broken = [each for each in model.spec.invariants if each.name in cell.lost]
            assert any(evaluate(model, walk.row, each.function) for each in broken)


@pytest.mark.parametrize(
    ("page", "text", "said"),
    [
        (cluster_page, "min.insync.replicas=9", "it must be a number from 1 to 5"),
        (ledger_page, "journalSyncData=maybe", "journalSyncData 'maybe': it must be on or off"),
        (ledger_page, "journalSyncData=true\njournalSyncData=false", "give one of them"),
        (ledger_page, "managedLedgerDefaultWriteQuorum=3", "write quorum 3: ask lab.py promise"),
    ],
)
def test_a_file_that_can_not_be_answered_gets_a_sentence(page, text, said):
    question = json.dumps({"for": "settings", "chosen": {}, "files": [["a", text]]})
    answer = asyncio.run(page.answer(question, None))
    assert said in json.loads(answer)["error"]


@pytest.mark.parametrize("page", [cluster_page.PAGE, ledger_page.PAGE], ids=["kafka", "bookkeeper"])
def test_the_first_table_is_whole(page):
    """Each row has each column, from golden cells."""
    shown = page._first_cells()
    assert list(shown) == [row.name for row in page.first.rows]
    assert all(list(cells) == list(page.first.columns) for cells in shown.values())


# --- docs/public_questions.md: each answer is what the search finds ------------------------------

SYSTEMS = {"kafka": cluster_settings, "bookkeeper": ledger_settings}
LINES = (ROOT / "docs/public_questions.md").read_text(encoding="utf-8").splitlines()
QUESTIONS = [line.split(" | ") for line in LINES if " | `" in line]


def answered(asked: str) -> str:
    """The cell on a line; asked: such as "kafka release=3.9 min_isr=2: kill"."""
    given, row = asked.rsplit(": ", 1)
    system, *words = given.split()
    settings = SYSTEMS[system].read([], **dict(each.split("=") for each in words))
    return in_short(searched(settings, settings.row_named(row)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "question", one_in(4, QUESTIONS), ids=[each[0].split("]")[0] for each in QUESTIONS]
)
def test_each_answer_is_what_the_search_finds(question):
    _, asked, said, _ = question
    assert [answered(each) for each in re.findall(r"`(.+?)`", asked)] == said.split("<br>")


def test_there_are_ten_of_kafka():
    assert sum("`kafka " in each[1] for each in QUESTIONS) >= 10
