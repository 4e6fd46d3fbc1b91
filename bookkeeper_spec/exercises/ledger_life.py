"""The exercise of notebooks/bookkeeper/11_where_the_entries_are."""

from bookkeeper_spec import v4_13
from bookkeeper_spec.model import Bookie, SomeEntry, copies, fragment_of_entry, handle
from bookkeeper_spec.v4_13 import W1
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = v4_13.spec
SMALL = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2, "recovery_reads_fence": "true"}

# --- What an acknowledgement promises ----------------------------------------------------------


def acknowledged_is_on_an_ack_quorum(s, c):
    for entry in range(1, s.w1.lac + 1):
        position = fragment_of_entry(s.meta_fragments, entry)
        if copies(s, s.meta_fragments[position], entry) < c.ack_quorum:
            return "an acknowledged entry is on fewer bookies than an ack quorum"
    return HOLDS


def w1_receives_add_confirmed_response(s, c, bookie: Bookie, entry: SomeEntry):
    """One bookie is enough for w1: for this exercise only."""
    mail = s.messages.adds[W1].of[entry - 1].confirmed
    if s.w1.status != "open":
        return "w1 has no open ledger"
    if bookie not in mail.waiting:
        return "no confirmation of this entry is under way from this bookie"
    handle(mail, bookie)
    s.w1.confirmed[entry] = with_node(s.w1.confirmed[entry], bookie)
    s.w1.lac = max(s.w1.lac, entry)
    return TAKEN


impatient = with_action(
    spec, "w1_receives_add_confirmed_response", w1_receives_add_confirmed_response
)


@exercise(
    hints=[
        "What w1 has acknowledged are the entries from 1 to `s.w1.lac`.",
        "`copies(s, fragment, entry)` counts the bookies of a fragment's ensemble that store an"
        " entry, and `s.meta_fragments[fragment_of_entry(s.meta_fragments, entry)]` is the"
        " fragment of an entry.",
    ],
    answer=acknowledged_is_on_an_ack_quorum,
    why="This is what a caller relies on when it learns that an entry is written: ack_quorum - 1"
    " bookies may be lost. It says nothing of the write quorum, and nothing of the metadata: an"
    " entry may be on all bookies and beyond the end of the ledger (notebook 02).",
)
def say_what_is_promised(answer) -> Feedback:
    """Say what is promised.

    Write an invariant (s, c): whatever w1 has acknowledged is stored by at least `c.ack_quorum`
    bookies of its fragment's ensemble. The check explores the protocol, where it must hold, and a
    variation in which w1 acknowledges too early, where it must not.
    """
    found = run(with_invariant(spec, answer).bind(**SMALL))
    if found.violated:
        return wrong(
            f'After these {len(found.trace)} steps it says "{found.violation_reason}", and the'
            " promise is kept:",
            found,
        )
    broken = run(with_invariant(impatient, answer).bind(**SMALL))
    if not broken.violated:
        return wrong(
            "It holds where it should, but also where w1 acknowledges an entry that only one of"
            " two bookies has."
        )
    return right(
        f"It holds in all {found.distinct:,} states, and catches the writer that acknowledges too"
        f" early after {len(broken.trace)} steps."
    )
