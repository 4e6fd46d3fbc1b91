"""The exercises of notebooks/bookkeeper/05_without_the_journal."""

from bookkeeper_spec import with_limbo
from bookkeeper_spec.model import NOT_STARTED, data_of, handle, has_entry, send, sent
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = with_limbo.spec
LOST = "no_divergence_between_client_and_meta_data"

# --- Lose an entry -----------------------------------------------------------------------------


@exercise(
    hints=[
        "An answer that is under way survives the crash of the bookie that has sent it.",
        "Both bookies have to say that they have no e0. One has lost it, and the other one never"
        " got it: it is fenced before it comes to the add.",
    ],
    answer="""
        client_creates_ledger(client=1, ensemble={1, 2})
        client_sends_add_entry_requests(client=1, lost={})
        bookie_sends_add_confirmed_response(bookie=1, client=1, entry=1, lac=0, lost={})
        bookie_crashes_when_ledger_open(bookie=1)
        client_receives_add_confirmed_response(client=1, bookie=1, entry=1)
        client_starts_recovery(client=2, lost={})
        bookie_sends_fencing_read_lac_response(bookie=1, client=2, lost={})
        bookie_sends_fencing_read_lac_response(bookie=2, client=2, lost={})
        client_receives_fencing_read_lac_response(client=2, bookie=1, lac=0)
        client_receives_fencing_read_lac_response(client=2, bookie=2, lac=0)
        client_sends_read_requests(client=2, lost={})
        bookie_sends_read_response(bookie=1, client=2, entry=1, lost={})
        bookie_sends_read_response(bookie=2, client=2, entry=1, lost={})
        client_receives_non_final_read(client=2, bookie=1, answer=no_such_entry)
        client_completes_read_with_no_such_entry(client=2, bookie=2, answer=no_such_entry)
        recovery_client_closes_ledger(client=2)
    """,
    why="One crash, at the one bookie that had the entry. With an ack quorum of 1 that is more than"
    " was promised; but the reader is told that the entry never was, and that is worse than lost.",
)
def lose_it_on_two_bookies(answer) -> Feedback:
    """Lose an entry on two bookies.

    Two bookies, write quorum 2, ack quorum 1, and `set_limbo_on_unclean_shutdown=false`. Write the
    steps, one a line, after which `no_divergence_between_client_and_meta_data` fails. As few as you
    can: the check computes par.
    """
    model = spec.bind(set_limbo_on_unclean_shutdown="false")
    walk = take_steps(model, answer)
    if all(each.holds for each in walk.standings() if each.name == LOST):
        return wrong("After these steps the ledger has all that its writer has acknowledged.", walk)
    return against_par(len(walk.steps), run(model, invariants=[LOST]), "The entry is lost")


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
