"""How the lab election is graded: its parts, their trials, and hidden properties."""

from protocol_lab import HOLDS
from protocol_lab.grading.labs import Part

OWN = "role[{server}] memory[{server}] disk[{server}] votes[{server}]"

OF_DEST = "role[{message.dest}] memory[{message.dest}] disk[{message.dest}] votes[{message.dest}]"

CHANGES = {
    "time_out": f"{OWN} messages",
    "answer": f"{OF_DEST} messages",
    "count": f"{OF_DEST} messages",
    "lead": "role[{server}] has_led[{server}]",
    "restart": f"{OWN} restarted",
}

PARTS = (
    Part(
        name="vote",
        points=40,
        lines=46,
        minutes=40,
        writes=("stand", "answer", "count", "may_lead"),
        trials=(
            {"servers": 2, "candidates": 2, "terms": 2},
            {"servers": 3, "candidates": 2, "terms": 1},
            {"servers": 3, "candidates": 3, "terms": 1},
        ),
        invariants=("one_leader_a_term", "votes_are_cast"),
        reaches=("somebody_leads", "the_last_candidate_leads", "the_last_term_is_led"),
    ),
    Part(
        name="restart",
        points=20,
        lines=2,
        minutes=10,
        writes=("recover",),
        trials=({"servers": 3, "candidates": 2, "terms": 1, "restarts": 1},),
        invariants=("one_leader_a_term",),
        reaches=("the_last_candidate_leads", "the_last_term_is_led"),
    ),
    Part(
        name="logs",
        points=20,
        lines=0,
        minutes=10,
        writes=(),
        trials=({"servers": 3, "candidates": 2, "terms": 1, "logs": 1},),
        invariants=("one_leader_a_term", "leaders_have_what_is_committed"),
        reaches=("the_last_candidate_leads",),
    ),
    Part(
        name="somebody leads",
        points=20,
        lines=0,
        minutes=15,
        writes=(),
        trials=({"servers": 3, "candidates": 1, "terms": 2},),
        properties=("somebody_leads_for_good",),
    ),
)


def has_voted(s, voter, candidate, term) -> bool:
    """Has the voter given its vote of this term to the candidate, or gone on to a later term?"""
    known = s.memory[voter].term
    return known > term or (known == term and s.memory[voter].voted_for == candidate)


def votes_are_cast(s, c):
    """Votes, on their way or counted, are those of servers that have voted so."""
    for message in s.messages:
        is_cast = has_voted(s, message.source, message.dest, message.term)
        if message.kind == "vote" and not is_cast:
            return "a vote is on its way that nobody has given"
    for server in range(1, c.servers + 1):
        for voter in s.votes[server]:
            is_counted = s.role[server] == "candidate"
            if is_counted and not has_voted(s, voter, server, s.memory[server].term):
                return "a vote was counted that nobody has given"
    return HOLDS


def the_last_candidate_leads(s, c):
    """The candidate with the largest number leads."""
    return s.role[c.candidates] == "leader"


def the_last_term_is_led(s, c):
    """Somebody leads in the last term."""
    return any(s.has_led[n] == c.terms for n in range(1, c.servers + 1))
