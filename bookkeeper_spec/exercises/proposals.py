"""The exercise of notebooks/bookkeeper/14_two_proposals."""

from bookkeeper_spec import unbounded_ledgers
from bookkeeper_spec.writing import confirmed_from, drop_pending_ops, note_confirmation
from protocol_lab import *
from protocol_lab.teaching.exercises import *


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
    two bookies without any loss: all invariants must hold, and a client that takes over must still
    be able to close the ledger.
    """
    return repair(
        unbounded_ledgers.spec.bind(max_lost_messages=0),
        "recovery_client_receives_add_confirmed_response",
        answer,
        must_reach=[a_later_term_closes_the_ledger],
    )
