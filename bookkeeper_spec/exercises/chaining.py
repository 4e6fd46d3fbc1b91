"""The exercises of notebooks/bookkeeper/03_two_owners_of_one_topic and 14_two_proposals."""

from bookkeeper_spec.ledger_chaining import Client, is_not_at, spec
from protocol_lab import *
from protocol_lab.teaching.exercises import *

# --- The ledger list ---------------------------------------------------------------------------


def append_ledger_success(s, c, client):
    mine = s.c_state[client]
    if is_not_at(mine, "pending_append_ledger"):
        return "the client is not a leader with a ledger to append"
    if mine.llist_version != s.md_llist_version:
        return "the ledger list has a later version"
    append(mine.llist, mine.ledger.id)
    s.md_llist = mine.llist
    s.md_llist_version += 1
    mine.llist_version = s.md_llist_version
    mine.status = "has_open_ledger"
    return TAKEN


@exercise(
    hints=[
        "The client writes the list that it has in mind, and its own ledger behind it. What if"
        " somebody else has appended one since the client read the list?",
        "A guard that asks whether the client is still the chosen leader does not help: it may be"
        " deposed, and its write be under way. Only what is written with the list can tell.",
        "What the client has read has a version, `mine.llist_version`, and so has the list:"
        " `s.md_llist_version`.",
    ],
    answer=append_ledger_success,
    why="A compare-and-set: write the list only if it is the one that was read. It is all that the"
    " metadata store has to offer, and all that a log of ledgers needs besides fencing. Here the"
    " guard could also compare the lists themselves, since a ledger is never taken out.",
)
def append_only_to_what_you_have_read(answer) -> Feedback:
    """Append only to the list that you have read.

    `append_ledger_success` writes the list whenever a client has a ledger to append. Add the guard.
    The check explores the protocol with your function: no ledger with an entry may be missing in
    the list, entries must stay in order, and the log must still grow.
    """
    return repair(spec.bind(), "append_ledger_success", answer)


# --- The invariant -----------------------------------------------------------------------------


def only_one_open(s, c):
    found = 0
    for position in range(len(s.md_llist)):
        ledger_id = s.md_llist[position]
        if s.md_ledgers[ledger_id - 1].open:
            found += 1
    return "two ledgers of the list are open" if found > 1 else HOLDS


def close_last_ledger_success(s, c, client: Client):
    """The leader does not close the last ledger: for this exercise only."""
    if is_not_at(s.c_state[client], "close_last_ledger"):
        return "the client is not a leader that is closing the last ledger"
    s.c_state[client].status = "pending_create_ledger"
    return TAKEN


careless = with_action(spec, "close_last_ledger_success", close_last_ledger_success)


@exercise(
    hints=[
        "`s.md_llist[k]` is the id of the ledger at place k of the list, which has"
        " `len(s.md_llist)` places. The original uses k where it should use that id.",
        "Ledgers count from 1: the metadata of ledger n are `s.md_ledgers[n - 1]`, and its"
        " `open` says whether it is open.",
    ],
    answer=only_one_open,
    why="One more look-up. The original's invariant is true of a log that never left out a ledger,"
    " and those were all that its author's bounds let the model checker see: `md_next_lid < 4`.",
)
def say_what_was_meant(answer) -> Feedback:
    """Say what was meant.

    Write an invariant (s, c): at most one ledger *of the list* is open. The check explores the
    protocol up to five ledgers, where it must hold, and a variation in which leaders do not close
    the last ledger, where it must not.
    """
    found = run(with_invariant(spec, answer).bind(ledger_limit=6))
    if found.violated:
        return wrong(
            f'After these {len(found.trace)} steps it says "{found.violation_reason}", and only'
            " one ledger of the list is open:",
            found,
        )
    broken = run(with_invariant(careless, answer).bind())
    if not broken.violated:
        return wrong(
            "It holds where it should, but also where leaders leave the last ledger open: there"
            " two ledgers of the list can be open."
        )
    return right(
        f"It holds in all {found.distinct:,} states, and finds two open ledgers after"
        f" {len(broken.trace)} steps where leaders do not close the last one."
    )
