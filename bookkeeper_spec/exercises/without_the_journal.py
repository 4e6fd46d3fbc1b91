"""The exercise of notebooks/bookkeeper/01_a_bookie_gets_a_new_disk."""

from bookkeeper_spec import with_limbo
from bookkeeper_spec.model import NOT_STARTED, data_of, handle, has_entry, send, sent
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = with_limbo.spec

# --- Answer honestly ---------------------------------------------------------------------------


def bookie_sends_read_response(s, c, bookie, client, entry, lost):
    messages = s.messages[client]
    reads = messages.reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way from the client to this bookie"
    answer = messages.unknown if bookie in s.b_limbo else messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def a_recovery_closes_an_empty_ledger(s, c):
    """A recovery closes a ledger as empty."""
    return s.meta_last_entry == 0 and any(
        s.clients[client].status == "closed" and s.clients[client].recovery_phase != NOT_STARTED
        for client in range(1, c.clients + 1)
    )


@exercise(
    hints=[
        "Which bookie can't know whether it ever had the entry? `s.b_limbo` are those in limbo,"
        " and `bookie in s.b_limbo` asks.",
        "There is a third answer: `messages.unknown`, beside `messages.no_such_entry`.",
        "A bookie that is not in limbo must still be able to say no: else no recovery ever ends.",
    ],
    answer=bookie_sends_read_response,
    why="Only a negative answer is in doubt: what the bookie has, it has. BookKeeper does the same:"
    " `throwIfLimbo` stands where an entry was not found.",
)
def say_that_you_do_not_know(answer) -> Feedback:
    """Say that you do not know.

    This bookie says "no such entry" even if it may have lost the entry. Change its answer. The
    check explores one bookie, which may crash once: the invariants must hold, and a recovery must
    still be able to close a ledger, an empty one as well.
    """
    return repair(
        spec.bind(bookies=1, write_quorum=1),
        "bookie_sends_read_response",
        answer,
        must_reach=[a_recovery_closes_an_empty_ledger],
    )
