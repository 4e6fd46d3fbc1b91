"""Plausible mistakes in the other labs: each is found by the part that is about it."""

import pytest

from protocol_lab.grading.labs import load_lab
from tests.grading.submissions import graded, solution_with

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
    (
        "ledger_recovery",
        "recover",
        {"may_close": ONE_LACKS},
        "confirmed_is_kept breaks after",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part", "bodies", "reason"), WRONG)
def test_mistakes_are_found(name, part, bodies, reason, tmp_path):
    lab = load_lab(name)
    grade = graded(lab, solution_with(lab, **bodies), part, tmp_path)
    assert reason in grade.reason
    assert grade.points == 0
    if "breaks" in reason:
        assert grade.steps
        assert grade.picture.startswith("<svg")
