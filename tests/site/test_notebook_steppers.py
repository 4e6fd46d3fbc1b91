"""The steppers, predictions and links of a notebook, read without running all of it."""

import pytest

from protocol_lab.site.build import notebook_names
from protocol_lab.site.kept_predictions import predictions
from protocol_lab.site.notebook_steppers import stepper_sessions
from protocol_lab.site.packing import Table, elements
from protocol_lab.site.pages import Pages, glossary_terms
from tests import ROOT

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
    first, second = stepper_sessions("a notebook", cells)
    assert [first[0], second[0]] == [6, 7]
    assert [step.text for step in first[1].walk.steps] == ["append(replica=1, record=1)"]
    assert second[1].walk.model.constants.replicas == 3
    assert second[1].walk.steps == []


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
    ((_, session),) = stepper_sessions("a notebook", cells)
    assert session.watched_names == ["short"]
    assert len(session.walk.path) == 3


def test_a_stepper_that_can_not_be_made_says_why():
    cells = [code("from nowhere import step"), code("step(1)", DRAWING)]
    ((number, why),) = stepper_sessions("a notebook", cells)
    assert (number, why) == (1, "ModuleNotFoundError: No module named 'nowhere'")


def test_what_is_no_stepper_stays_a_drawing():
    cells = [
        code("from protocol_lab.notebook import Walk, load, show"),
        code("show(Walk.begin(load('kafka.finite_replicated_log').bind()))", DRAWING),
    ]
    assert list(stepper_sessions("a notebook", cells)) == []


def settled(text):
    folded = f"<details><summary>The answer.</summary>\n\n{text}\n\n</details>"
    return {"data": {"text/markdown": folded}}


def test_a_prediction_has_its_choices_and_the_answer_that_was_kept():
    cells = [
        code('guess = predict("Who?", choices={"the leader": "", "the leader and 2": "Not 2."})'),
        code("guess.settle(found)", settled("the leader and 2. Both.")),
        code('other = predict("How many?", None)'),
        code("other.settle(7)", settled("7. So many.")),
        code('unsettled = predict("And?", None)'),
    ]
    first, second = predictions(cells)
    assert (first.asked, first.settled, first.right) == (0, 1, 1)
    assert first.choices == [("the leader", ""), ("the leader and 2", "Not 2.")]
    assert (second.choices, second.right, second.answer) == ([], None, "7. So many.")


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


def test_the_glossary_gives_each_name_its_meaning():
    terms = glossary_terms((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert terms["safety"] == terms["liveness"] != terms["frontier"]
    assert "term" not in terms
    assert all(terms.values())


def test_equal_parts_of_a_recording_are_stored_once():
    table = Table()
    one, two = ({"picture": elements(f"<svg><g>{k}</g></svg>"), "n": [1, True]} for k in "ab")
    root = table.add([one, two, one])
    stored = table.to_json(root)
    assert stored["nodes"][root // 2][1] == stored["nodes"][root // 2][3]
    assert sum(node[0] == 0 for node in stored["nodes"]) == 4  # pictures, [1, True], the root
    assert True in stored["atoms"]
    assert 1 in [each for each in stored["atoms"] if each is not True]


@pytest.mark.slow
@pytest.mark.parametrize("name", notebook_names(None))
def test_every_stepper_of_every_notebook_is_made(name):
    pages = Pages(ROOT, [name])
    pages.source(name)
    assert pages.static == []
