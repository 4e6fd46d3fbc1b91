"""The notebook on reduction: its exercise, right and wrong, and the figures that it keeps."""

import ast
import importlib.util

import pytest

from benchmarks.reduction import LOSSES
from protocol_lab import nodes_up_to
from protocol_lab.catalog import load
from protocol_lab.simulation.simulate import simulate
from tests.notebook_outputs import FOLDER, code_cells, read

_PATH = FOLDER / "reduction" / "exercises.py"
_FOUND = importlib.util.spec_from_file_location("reduction_exercises", _PATH)
EXERCISES = importlib.util.module_from_spec(_FOUND)
_FOUND.loader.exec_module(EXERCISES)
ALIKE = EXERCISES.which_are_alike


def everybody(c):
    return nodes_up_to(c.replicas)


def nobody(c):
    return 0


def all_but_the_first(c):
    return nodes_up_to(c.replicas) & ~2


@pytest.mark.slow
def test_the_worked_answer_passes():
    assert ALIKE.check(ALIKE.answer).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (everybody, "With leader=1: kafka.async_isr declares its replicas symmetric, but tells 1"),
        (all_but_the_first, "With leader=3: kafka.async_isr declares its replicas symmetric"),
        (nobody, "This is sound, but more replicas are alike"),
        (6, "Write a function of the constants"),
    ],
)
def test_a_wrong_answer_is_told_why(answer, told):
    feedback = ALIKE.check(answer)
    assert feedback.passed is False
    assert told in feedback.text


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "seed"), [("rare", 5), ("swarm", 1)])
def test_the_kept_table_of_walks(bias, seed):
    """Two of its figures that are soon met; `benchmarks.reduction --biases` measures them all."""
    notebook = read(FOLDER / "reduction" / "01_same_answer_fewer_states.ipynb")
    [cell] = [cell for cell in code_cells(notebook) if cell.id == "predict-bias"]
    [kept] = [node for node in ast.parse(cell.source).body if isinstance(node, ast.Assign)][:1]
    walk = ast.literal_eval(kept.value)[bias][seed - 1]
    loss = LOSSES[1]
    model = load(loss.spec).bind(**loss.constants)
    met = simulate(model, walks=loss.walks, steps=loss.steps, seed=seed, bias=bias)
    assert (met.violated, met.walks) == (loss.violated, walk)
