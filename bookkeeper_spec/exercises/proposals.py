"""The exercises of notebooks/bookkeeper/07_two_proposals."""

from bookkeeper_spec import guaranteed_write_quorum, unbounded_ledgers
from bookkeeper_spec.guaranteed_write_quorum import a_bookie_is_pinned
from bookkeeper_spec.writing import confirmed_from, drop_pending_ops, note_confirmation
from protocol_lab import *
from protocol_lab.teaching.exercises import *

ONE_WRITER = {"bookies": 3, "clients": 1, "send_limit": 2, "max_lost_messages": 1}

# --- A bookie is pinned ------------------------------------------------------------------------


@exercise(
    hints=[
        "A bookie is pinned from the moment at which the client has acknowledged an entry that it"
        " has confirmed, until the entry is on a write quorum.",
        "An ack quorum is one bookie here. Which message to it has to be lost, so that it seems to"
        " have failed? Not one about the first entry.",
    ],
    answer="""
        client_creates_ledger(client=1, ensemble={1, 2})
        client_sends_add_entry_requests(client=1, lost={})
        bookie_sends_add_confirmed_response(bookie=1, client=1, entry=1, lac=0, lafr=0, lost={})
        client_receives_add_confirmed_response(client=1, bookie=1, entry=1)
        client_sends_add_entry_requests(client=1, lost={1})
    """,
    why="With b1 gone, the next fragment would begin at e0, since the LAFR is -1, on bookies that"
    " do not have e0; and c1 has told its caller that it is written. So c1 waits for b2, which it"
    " has asked already.",
)
def pin_a_bookie(answer) -> Feedback:
    """Pin a bookie.

    One writer with two entries, three bookies, a write quorum of 2 and an ack quorum of 1. Write
    the steps, one a line, after which a bookie has timed out and can't be replaced. As few as you
    can: the check computes par.
    """
    model = guaranteed_write_quorum.spec.bind(**ONE_WRITER)
    walk = take_steps(model, answer)
    if not a_bookie_is_pinned(walk.state, model.constants):
        return wrong("After these steps every bookie that has timed out can be replaced.", walk)
    return against_par(len(walk.steps), shortest_path(model, a_bookie_is_pinned), "It is pinned")


# --- Where to count from -----------------------------------------------------------------------


def recovery_client_receives_add_confirmed_response(s, c, client, bookie, entry):
    mine, adds = s.clients[client], s.messages[client].adds
    if mine.status != "in_recovery":
        return "the client does not recover"
    reason = note_confirmation(mine, adds, bookie, entry)
    if reason:
        return reason
    lac = confirmed_from(c, mine, mine.lac, c.ack_quorum)
    lafr = confirmed_from(c, mine, mine.lafr, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    return TAKEN


def a_later_term_closes_the_ledger(s, c):
    """Somebody takes over, opens the ledger again, and closes it."""
    return s.meta_status == "closed" and s.meta_term > 1


@exercise(
    hints=[
        "`confirmed_from(c, mine, known, quorum)` goes on from the entry after `known` for as long"
        " as enough bookies have confirmed. It believes that all up to `known` are.",
        "Of which entries does the client know that an ack quorum has them, and of which that a"
        " write quorum has them?",
    ],
    answer=recovery_client_receives_add_confirmed_response,
    why="Each mark is counted from itself. Counted from the LAC, the LAFR skips whatever is"
    " confirmed by an ack quorum and not by a write quorum, which is just what it was made to wait"
    " for. The writer counts in the same wrong way; with one entry of its own it does not show.",
)
def count_from_the_right_mark(answer) -> Feedback:
    """Count from the right mark.

    This is what a recovery of an unbounded ledger makes of a confirmation. Change it so that no
    ledger is closed with an entry that is not on a write quorum. The check explores two clients and
    two bookies without any loss: all invariants must hold, and whoever takes over must still be
    able to close the ledger.
    """
    return repair(
        unbounded_ledgers.spec.bind(max_lost_messages=0),
        "recovery_client_receives_add_confirmed_response",
        answer,
        must_reach=[a_later_term_closes_the_ledger],
    )
