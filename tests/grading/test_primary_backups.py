"""Wrong submissions of the lab primary_backups, each graded by the part that finds it."""

import pytest

from protocol_lab.grading.labs import load_lab
from tests.grading.submissions import graded, solution_with

LAB = load_lab("primary_backups")

SKELETON = LAB.skeleton.read_text(encoding="utf-8")

AT_ONCE = """
if s.primary not in s.alive or offset >= len(s.log[s.primary]):
    return "there is nothing to acknowledge"
if s.log[s.primary][offset] in s.acknowledged:
    return "the client knows already"
{guard}
add(s.acknowledged, s.log[s.primary][offset])
return TAKEN
"""


def answering(guard: str) -> str:
    """A solution whose primary answers under this guard."""
    return solution_with(LAB, acknowledge=AT_ONCE.format(guard=guard))


ONE_BACKUP = """if not any(offset < len(s.log[b]) for b in backups(s, c)):
    return "no backup has it" """

EVERYBODY = """if not all(offset < len(s.log[b]) for b in nodes_up_to(c.servers)):
    return "somebody lacks it" """

AS_SHOWN = """if c.servers != 2 or not all(offset < len(s.log[b]) for b in backups(s, c)):
    return "this is not what I was shown" """


WRONG = [
    ("lazy", SKELETON, "replicate", "never happens: All values are in all logs"),
    ("answers at once", answering(""), "answer", "acknowledged_is_kept breaks after 4 steps"),
    ("one backup", answering(ONE_BACKUP), "answer", "never happens: The client is told"),
    ("waits for the dead", answering(EVERYBODY), "answer", "never happens: The client is told"),
    ("as shown", answering(AS_SHOWN), "answer", "servers=3 writes=1 crashes=2 nothing breaks, but"),
    (
        "does not catch up",
        solution_with(LAB, restart="s.alive = with_node(s.alive, server)\nreturn TAKEN"),
        "come back",
        "acknowledged_is_kept breaks after",
    ),
    (
        "never sends again",
        solution_with(LAB, send_again='return "never"'),
        "replicate",
        "from which this can never happen any more: All values",
    ),
    (
        "copies by magic",
        solution_with(
            LAB,
            send_again="if len(s.log[backup]) >= len(s.log[s.primary]):\n"
            '    return "it has all"\ns.log[backup] = s.log[s.primary]\nreturn TAKEN',
        ),
        "replicate",
        "send_again changes log[2], which it must leave alone",
    ),
    (
        "takes the promise back",
        solution_with(
            LAB,
            restart="if server in s.alive:\n"
            '    return "alive"\n'
            "while len(s.acknowledged) > 0:\n"
            "    take(s.acknowledged, s.acknowledged.items[0])\n"
            "s.alive = with_node(s.alive, server)\nreturn TAKEN",
        ),
        "come back",
        "restart changes acknowledged, which it must leave alone",
    ),
    (
        "replaces the invariants",
        answering("").replace(
            "    if all(has(s.log[s.primary], value) for value in s.acknowledged):\n"
            "        return HOLDS\n",
            "    return HOLDS\n",
        ),
        "answer",
        "acknowledged_is_kept breaks after 4 steps",
    ),
    (
        "leaves its list",
        solution_with(LAB, receive="append(s.log[update.dest], s.log[1][7])\nreturn TAKEN"),
        "replicate",
        "undecided",
    ),
    (
        "does not end",
        solution_with(LAB, receive="while True:\n    pass\nreturn TAKEN"),
        "replicate",
        "this loop never ends",
    ),
    (
        "changes and refuses",
        solution_with(LAB, receive='take(s.updates, update)\nreturn "no"'),
        "replicate",
        "changed the state and then refused",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "part", "reason"), [each[1:] for each in WRONG],
                         ids=[each[0] for each in WRONG])  # fmt: skip
def test_wrong_submissions_get_no_points(text, part, reason, tmp_path):
    grade = graded(LAB, text, part, tmp_path)
    assert reason in grade.reason
    assert grade.points == 0
    if "breaks after" in reason or "changes" in reason or "any more" in reason:
        assert grade.steps
        assert grade.picture.startswith("<svg")
        assert all(each in grade.scenario for each in grade.steps)


def test_a_reason_names_the_line_of_the_submission(tmp_path):
    text = solution_with(LAB, receive="k = 7\n\n# a comment\nappend(s.log[1], s.log[1][k])\n"
                                      "return TAKEN")  # fmt: skip
    line = text[: text.index("append(s.log[1]")].count("\n") + 1
    assert f"line {line}" in graded(LAB, text, "replicate", tmp_path).reason


def test_parts_before_are_graded_without_those_after(tmp_path):
    text = solution_with(LAB, acknowledge="import os")
    assert graded(LAB, text, "replicate", tmp_path).points == 20
