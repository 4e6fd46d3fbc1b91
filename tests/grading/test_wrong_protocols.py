"""Plausible mistakes in the other labs: each is found by the part that is about it."""

import pytest

from protocol_lab.grading.labs import load_lab
from tests.grading.submissions import graded, solution_with
from tests.work_units import one_in

NO_DISK = """
s.memory[server].term += 1
s.memory[server].voted_for = server
s.role[server] = "candidate"
s.votes[server] = only(server)
for other in range(1, c.servers + 1):
    if other != server:
        request = Envelope(kind="request", source=server, dest=other, records=s.records[server])
        request.term = s.memory[server].term
        add_once(s.messages, request)
"""

ANSWER = """
me = message.dest
if message.kind != "request" or message.term < s.memory[me].term:
    return "no"
if {refuses}:
    return "no"
if message.term > s.memory[me].term:
    s.role[me] = "follower"
s.memory[me] = Ballot(term=message.term, voted_for=message.source)
s.disk[me] = s.memory[me]
add_once(s.messages, Envelope(kind="vote", term=message.term, source=me, dest=message.source))
take(s.messages, message)
return TAKEN
"""

VOTED = "message.term == s.memory[me].term and s.memory[me].voted_for != message.source"

ANY_TERM = """
if message.kind != "vote" or s.role[message.dest] != "candidate":
    return "no"
s.votes[message.dest] = with_node(s.votes[message.dest], message.source)
take(s.messages, message)
return TAKEN
"""

UNFENCED = """
if s.recovery.phase != "reading" or bookie in s.crashed:
    return "no"
if bookie in s.recovery.having or bookie in s.recovery.lacking:
    return "the bookie has answered"
if has_entry(s, c, bookie, s.recovery.next):
    s.recovery.having = with_node(s.recovery.having, bookie)
else:
    s.recovery.lacking = with_node(s.recovery.lacking, bookie)
return TAKEN
"""

ONE_LACKS = """
if s.recovery.lacking == 0:
    return "nobody has said that it lacks the entry"
return TAKEN
"""

LAZY = 'return "not today"'

KEEPS_ALL = "return len(s.log[replica])"

TO_HIGH_WATERMARK = "return min(s.belief[replica].hw, len(s.log[replica]))"

ANY_LEADER = """
if follower == leader or s.belief[leader].leader != leader:
    return "it does not lead"
if len(s.log[follower]) >= len(s.log[leader]):
    return "the follower has caught up"
append(s.log[follower], s.log[leader][len(s.log[follower])])
return TAKEN
"""

ALONE = """
if not presumes_leadership(s, leader) or s.belief[leader].hw >= len(s.log[leader]):
    return "there is nothing to commit"
s.belief[leader].hw += 1
return TAKEN
"""

PUBLISHES_EARLY = """
if s.compactor.phase != "copying":
    return "the compactor does not copy"
s.current = s.compactor.ledger
s.horizon = s.compactor.end
s.compactor = Compactor()
return TAKEN
"""

COPIES_ALL = """
if s.compactor.phase != "copying" or s.compactor.position == s.compactor.end:
    return "there is nothing to copy"
append(s.ledgers[s.compactor.ledger].offsets, s.compactor.position)
s.compactor.position += 1
return TAKEN
"""

DELETES_ALL = """
if not s.ledgers[slot].exists:
    return "there is no ledger"
s.ledgers[slot] = Ledger()
return TAKEN
"""

WRONG = [
    ("isr_replication", "replicate", {"fetch": LAZY}, "never happens: All records are written"),
    ("isr_replication", "replicate", {"advance_hw": ALONE}, "strong_isr breaks after"),
    ("isr_replication", "new leaders", {"truncation_point": KEEPS_ALL}, "strong_isr breaks after"),
    (
        "isr_replication",
        "new leaders",
        {"truncation_point": TO_HIGH_WATERMARK},
        "strong_isr breaks after",
    ),
    ("isr_replication", "new leaders", {"fetch": ANY_LEADER}, "leaders_do_not_fetch breaks"),
    ("isr_replication", "in sync", {"expand_isr": LAZY}, "this can never happen any more: All"),
    ("compactor", "compact", {"publish": LAZY}, "never happens: All messages were sent"),
    ("compactor", "compact", {"publish": PUBLISHES_EARLY}, "readers_see_the_latest breaks after"),
    ("compactor", "compact", {"copy": COPIES_ALL}, "ledgers_are_compact breaks after"),
    ("compactor", "delete", {"delete_ledger": LAZY}, "this can never happen any more: Everything"),
    ("compactor", "delete", {"delete_ledger": DELETES_ALL}, " breaks after"),
    ("election", "vote", {"may_lead": LAZY}, "never happens: Somebody leads"),
    ("election", "vote", {"answer": ANSWER.format(refuses="False")}, "votes_are_cast breaks after"),
    ("election", "vote", {"count": ANY_TERM}, "votes_are_cast breaks after"),
    ("election", "vote", {"may_lead": "return TAKEN"}, "one_leader_a_term breaks after"),
    ("election", "restart", {"stand": NO_DISK}, "one_leader_a_term breaks after"),
    ("election", "restart", {"recover": "s.votes[server] = 0"}, "one_leader_a_term breaks after"),
    (
        "election",
        "logs",
        {"answer": ANSWER.format(refuses=VOTED)},
        "leaders_have_what_is_committed breaks after",
    ),
    ("ledger_recovery", "store and fence", {"add_entry": LAZY}, "never happens: All bookies have"),
    (
        "ledger_recovery",
        "store and fence",
        {"fence": "s.recovery.fenced = with_node(s.recovery.fenced, bookie)\nreturn TAKEN"},
        "nobody_else_is_fenced breaks after",
    ),
    ("ledger_recovery", "recover", {"may_begin": LAZY}, "never happens: The ledger is closed"),
    (
        "ledger_recovery",
        "recover",
        {"may_begin": "return TAKEN", "read_entry": UNFENCED},
        "confirmed_is_kept breaks after",
    ),
    ("ledger_recovery", "recover", {"may_close": "return TAKEN"}, "confirmed_is_kept breaks after"),
    ("ledger_recovery", "recover", {"may_close": ONE_LACKS}, "confirmed_is_kept breaks after"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part", "bodies", "reason"), one_in(3, WRONG))
def test_mistakes_are_found(name, part, bodies, reason, tmp_path):
    lab = load_lab(name)
    grade = graded(lab, solution_with(lab, **bodies), part, tmp_path)
    assert reason in grade.reason
    assert grade.points == 0
    if "breaks" in reason:
        assert grade.steps
        assert grade.picture.startswith("<svg")


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


WRONG_BACKUPS = [
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
@pytest.mark.parametrize(
    ("text", "part", "reason"),
    one_in(3, [pytest.param(*each, id=name) for name, *each in WRONG_BACKUPS]),
)
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
