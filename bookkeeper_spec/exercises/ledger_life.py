"""The exercises of notebooks/bookkeeper/01_a_ledgers_life."""

from bookkeeper_spec import v4_13
from bookkeeper_spec.model import Bookie, SomeEntry, copies, fragment_of_entry, handle
from bookkeeper_spec.v4_13 import W1
from protocol_lab import *
from protocol_lab.teaching.exercises import *

spec = v4_13.spec
SMALL = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2, "recovery_reads_fence": "true"}

# --- An ack quorum is enough -------------------------------------------------------------------


def is_acknowledged(s, c) -> bool:
    """Has w1 told its caller that e0 is written?"""
    return s.w1.lac == 1


@exercise(
    hints=[
        'Look at what is enabled after each step: `step("bookkeeper.v4_13")`. A bookie\'s answer'
        " needs a step of the bookie, and another one in which w1 takes it.",
        "Two of three bookies are an ack quorum here. It does not matter what becomes of the third,"
        " nor whether messages to it are lost.",
    ],
    answer="""
        w1_creates_ledger(ensemble={1, 2, 3})
        w1_sends_add_entry_requests(lost={3})
        bookie_sends_add_confirmed_response(bookie=1, writer=w1, entry=1, lac=0, lost={})
        w1_receives_add_confirmed_response(bookie=1, entry=1)
        bookie_sends_add_confirmed_response(bookie=2, writer=w1, entry=1, lac=0, lost={})
        w1_receives_add_confirmed_response(bookie=2, entry=1)
    """,
    why="Create, send; then two bookies store it, and w1 hears of each. No bookie was told that the"
    " ledger exists, and none of them knows that the entry is acknowledged: their LAC is 0.",
)
def acknowledge_an_entry(answer) -> Feedback:
    """Acknowledge an entry.

    Write the steps, one a line, after which w1 has acknowledged e0 to its caller, with three
    bookies, a write quorum of 3 and an ack quorum of 2. As few as you can: par is computed by the
    check.
    """
    model = spec.bind()
    walk = take_steps(model, answer)
    if not is_acknowledged(walk.state, model.constants):
        return wrong("After these steps w1's LAC is not 1.", walk)
    return against_par(len(walk.steps), shortest_path(model, is_acknowledged), "Acknowledged")


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
    why="This is what a caller relies on when it hears that an entry is written: ack_quorum - 1"
    " bookies may be lost. It says nothing of the write quorum, and nothing of the metadata: an"
    " entry may be on all bookies and beyond the end of the ledger (notebook 03).",
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
