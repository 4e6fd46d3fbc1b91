"""The exercises on liveness and on reduction: worked answers pass, wrong ones are told why not."""

import ast

import pytest

from benchmarks.reduction import LOSSES
from notebooks.reduction import exercises as reduction
from notebooks.temporal import exercises as temporal
from protocol_lab import always_eventually, eventually, leads_to, nodes_up_to
from protocol_lab.catalog import load
from protocol_lab.simulation.simulate import simulate
from tests.notebook_outputs import FOLDER, code_cells, read

BY_HAND, CLAIM = temporal.wait_for_ever, temporal.the_removed_server_learns
ALIKE = reduction.which_are_alike
LEADER = "controller_elect_leader(new_leader=1)"

WRONG = [
    (BY_HAND, LEADER, "is about whole runs: first say with !loops_to how this one goes on."),
    (BY_HAND, f"{LEADER}\n!loops_to 2", "the run satisfies records_are_committed_or_truncated."),
    (BY_HAND, BY_HAND.answer.replace("to 5", "to 4"), "this state is not state 4 again."),
    (
        BY_HAND,
        f"{LEADER}\nbecome_leader(request=LeaderAndIsrRequest(leader_epoch=0))\n"
        "leader_write(replica=1)\n!loops_to 4",
        "the loop is not fair: some fenced_become_follower_and_truncate is possible in every state",
    ),
    (BY_HAND, "leader_write(replica=1)", "the replica does not believe that it leads"),
    (CLAIM, eventually("True"), "It should fail where the fetches of who was removed are ignored"),
    (CLAIM, always_eventually("s.role[3] == 'observer'"), "It should hold where nobody is removed"),
    (CLAIM, "s.role[3] != 'voter'", "Give a formula"),
]


def marked(exercise):
    """KRaft takes its time to compile."""
    return pytest.mark.slow if exercise is CLAIM else ()


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        pytest.param(BY_HAND, BY_HAND.answer, id="by_hand"),
        pytest.param(CLAIM, CLAIM.answer, id="claim", marks=pytest.mark.slow),
        pytest.param(
            CLAIM,
            leads_to(
                "s.config[1].committed and not contains(s.config[1].members, 3)",
                "s.role[3] != 'voter'",
            ),
            id="claim_otherwise",
            # It is judged where nobody is removed, too, and holds there of nothing.
            marks=[pytest.mark.slow, pytest.mark.vacuous],
        ),
    ],
)
def test_right_answers(exercise, answer):
    feedback = exercise.check(answer)
    assert feedback.passed, feedback.text


@pytest.mark.parametrize(
    ("exercise", "answer", "told"), [pytest.param(*each, marks=marked(each[0])) for each in WRONG]
)
def test_wrong_answers_are_told_what_is_wrong(exercise, answer, told):
    feedback = exercise.check(answer)
    assert feedback.passed is False
    assert told in feedback.text


@pytest.mark.parametrize("exercise", [BY_HAND, CLAIM], ids=["by_hand", "claim"])
def test_the_task_is_complete(exercise):
    shown = exercise._repr_markdown_()
    assert exercise.title in shown
    assert len(exercise.hints) >= 2
    assert shown.count("<details>") == len(exercise.hints) + 1
    assert "Formula(" not in shown
    for nonsense in (None, ..., "no idea", object, {"replicas": 2}):
        assert exercise.check(nonsense).passed is False


def everybody(c):
    return nodes_up_to(c.replicas)


def nobody(c):
    return 0


def all_but_the_first(c):
    return nodes_up_to(c.replicas) & ~2


@pytest.mark.rarely
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


@pytest.mark.rarely
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
