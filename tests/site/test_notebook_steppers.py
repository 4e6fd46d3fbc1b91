"""The steppers, questions and links of a notebook, read without running all of it."""

import json
import re

import pytest

from protocol_lab.addresses import link_to_notebook, link_to_page
from protocol_lab.notebook import load, step
from protocol_lab.site.build import notebook_names
from protocol_lab.site.notebook_steppers import STATIC, stepper_cells
from protocol_lab.site.pages import Pages, exercise_cells, run_in_a_page
from protocol_lab.spec_files import value_of_cells
from protocol_lab.teaching.questions import KEPT, STEPPER, ask
from tests import ROOT
from tests.work_units import one_of

DRAWING = {"data": {"text/html": '<div class="lab-static"></div>'}}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_only_what_a_stepper_needs_is_run():
    cells = [
        code("from protocol_lab.notebook import Walk, explore, load, step"),
        code('logs = load("kafka.finite_replicated_log").bind(log_size=2)\nprint("never printed")'),
        code('raise SystemExit("never run")'),
        code("walk = Walk.begin(logs)"),
        code('for record in (1,):\n    walk.take(f"append(replica=1, record={record})")'),
        code("%matplotlib inline"),
        code("step(walk)", DRAWING),
        code("walk = Walk.begin(logs.spec.bind(replicas=3))\nstep(walk)", DRAWING),
    ]
    first, second = stepper_cells("a notebook", cells)
    assert [first.number, second.number] == [6, 7]
    steps = [step.text for step in first.session.walk.steps]
    assert steps == ["append(replica=1, record=1)"]
    assert second.session.walk.model.constants.replicas == 3
    assert second.session.walk.steps == []
    assert first.needed == second.needed == ()


@pytest.mark.slow
def test_a_spec_that_a_cell_changes_has_the_change():
    cells = [
        code(
            "from protocol_lab import HOLDS\n"
            "from protocol_lab.notebook import explore, load, step\n"
            "from protocol_lab.teaching.exercises import with_invariant"
        ),
        code("def short(s, c):\n    return HOLDS if s.logs[1].end_offset < 2 else 'long'"),
        code("spec = with_invariant(load('kafka.finite_replicated_log'), short)"),
        code("step(explore(spec.bind(log_size=2)))", DRAWING),
    ]
    (found,) = stepper_cells("a notebook", cells)
    assert found.session.watched_names == ["short"]
    assert len(found.session.walk.path) == 3
    assert value_of_cells(found.needed).spec.invariants[-1].name == "short"
    assert run_in_a_page([[*found.needed], ["import numba"]]) == [True, False]


def test_an_exercise_comes_with_what_its_cell_needs_and_no_more():
    cells = [
        code("from protocol_lab import HOLDS, TAKEN\nfrom protocol_lab.notebook import load"),
        code("for s in (1, 2):\n    print(s)"),
        code("from kafka_spec.exercises import replication"),
        code("names = [replication for replication in load('kafka.kip_320').actions]"),
        code("replication.repair_leader_in_isr.check('')"),
        code("def within(s, c):\n    return HOLDS\n\n\nreplication.within.check(within)"),
        code("import pandas"),
        code("pandas.check(2)"),
    ]
    zombie, within = exercise_cells("notebooks/a.ipynb", cells)  # pandas is in no page
    assert zombie.needed == ["from kafka_spec.exercises import replication"]
    assert within.needed == ["from protocol_lab import HOLDS", *zombie.needed]


def test_a_page_has_the_module_beside_its_notebook():
    cells = [code("import exercises"), code("exercises.come_back_safely.check(None)")]
    (found,) = exercise_cells("notebooks/your_own/a.ipynb", cells)
    assert found.needed == ["from notebooks.your_own import exercises"]


def test_a_stepper_that_can_not_be_made_says_why():
    cells = [code("from nowhere import step"), code("step(1)", DRAWING)]
    (found,) = stepper_cells("a notebook", cells)
    assert (found.number, found.session) == (1, "ModuleNotFoundError: No module named 'nowhere'")


def settled(text):
    folded = f"<details><summary>The answer.</summary>\n\n{text}\n\n</details>"
    return {"data": {"text/markdown": folded}}


def test_a_question_has_its_card_and_what_follows_with_its_steppers(tmp_path):
    name = "notebooks/a.ipynb"
    (tmp_path / "notebooks").mkdir()
    then = [lambda: step(load("kafka.kip_320").bind(replicas=2)), "See [b](b.ipynb) and [c](c.py)."]
    kept = ask("Who?", {"1": "Dead.", "2": ""}, lambda: 2, "So it is.", then).kept()
    assert KEPT in kept
    drawn = f'<div><div class="{STATIC}">drawn</div></div>\n\n{STEPPER}'
    kept["text/markdown"] = re.sub(r"```text\n.*?```", drawn, kept["text/markdown"], flags=re.S)
    source = """from protocol_lab.notebook import load, step
ask("Who?", {"1": "Dead.", "2": ""}, lambda: undefined, then=[
    lambda: step(load("kafka.kip_320").bind(replicas=2)), lambda: undefined])"""
    cell = {**code(source), "id": "who", "metadata": {}}
    cell["outputs"] = [{"output_type": "display_data", "data": kept, "metadata": {}}]
    (tmp_path / name).write_text(json.dumps({"cells": [cell], "metadata": {}}), encoding="utf-8")
    (made,) = json.loads(Pages(tmp_path, [name, "notebooks/b.ipynb"]).source(name))["cells"]
    question, card, fold = ("".join(each["data"].values()) for each in made["outputs"])
    assert question.startswith("> **Predict:** Who?")
    asked = json.loads(re.search(r">(\{.*\})<", card)[1])
    assert asked == {
        **{"name": f"{name} who", "question": "Who?", "choices": ["1", "2"]},
        **{"whys": ["Dead.", ""], "right": 1, "why": "So it is."},
    }
    assert '<div class="lab-page-stepper" data-session="{&quot;frames' in fold
    assert "See [b](b.ipynb) and c." in fold
    assert STEPPER not in fold


def test_links_lead_to_pages_and_are_words_otherwise(tmp_path):
    page = tmp_path / "notebooks" / "a.md"
    page.parent.mkdir()
    page.write_text(
        "[b](../docs/b.md#term), [code](../lab.py), [far](https://example.org), [here](#x)",
        encoding="utf-8",
    )
    pages = Pages(tmp_path, ["notebooks/a.md", "docs/b.md"])
    assert pages.source("notebooks/a.md") == (
        "[b](../docs/b.md#term), code, [far](https://example.org), [here](#x)"
    )


def test_the_page_of_a_notebook_points_back_to_the_notebook(tmp_path):
    name = "notebooks/a.ipynb"
    (tmp_path / "notebooks").mkdir()
    cell = {"cell_type": "markdown", "metadata": {}, "source": [f"# A\n\n{link_to_page(name)}"]}
    text = json.dumps({"cells": [cell], "metadata": {}})
    (tmp_path / name).write_text(text, encoding="utf-8")
    (made,) = json.loads(Pages(tmp_path, [name]).source(name))["cells"]
    assert made["source"] == f"# A\n\n{link_to_notebook(name)}"


def test_code_that_nothing_runs_in_a_page_is_left_out(tmp_path):
    name = "a.ipynb"
    sources = ["import math", "print(math.pi)"]
    cells = [
        {"cell_type": "code", "source": [each], "outputs": [], "metadata": {}} for each in sources
    ]
    (tmp_path / name).write_text(json.dumps({"cells": cells, "metadata": {}}), encoding="utf-8")
    made = json.loads(Pages(tmp_path, [name]).source(name))["cells"]
    left_out = ["remove-input" in each["metadata"].get("tags", []) for each in made]
    assert left_out == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of(notebook_names(None)))
def test_every_stepper_of_every_notebook_is_made(name):
    pages = Pages(ROOT, [name])
    pages.source(name)
    assert pages.static == []
