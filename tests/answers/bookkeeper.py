"""Plausible wrong answers to the exercises of the BookKeeper notebooks that need no long search."""

from bookkeeper_spec.ledger import IN_RECOVERY
from bookkeeper_spec.ledger_chaining import HAS_OPEN_LEDGER, PENDING_APPEND_LEDGER, is_not_at
from bookkeeper_spec.writing import confirmed_from, drop_pending_ops, note_confirmation
from protocol_lab import HOLDS, TAKEN, append, size

# --- append_only_to_what_you_have_read -------------------------------------------------------


def append_whatever_is_there(s, c, client):
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_APPEND_LEDGER):
        return "the client is no leader with a ledger to append"
    append(mine.llist, mine.ledger.id)
    s.md_llist = mine.llist
    s.md_llist_version += 1
    mine.llist_version = s.md_llist_version
    mine.status = HAS_OPEN_LEDGER
    return TAKEN


def append_nothing(s, c, client):
    return "the log is long enough"


# --- say_what_was_meant ----------------------------------------------------------------------


def by_position(s, c):
    found = 0
    for position in range(s.md_llist.length):
        if s.md_ledgers.items[position].open:
            found += 1
    return "two ledgers are open" if found > 1 else HOLDS


def nothing_is_claimed(s, c):
    return HOLDS


# --- say_when_a_ledger_is_fenced -------------------------------------------------------------


def all_are_fenced(fenced, ensemble, ack_quorum):
    return fenced == ensemble


def an_ack_quorum_is_fenced(fenced, ensemble, ack_quorum):
    return size(fenced) >= ack_quorum


# --- count_from_the_right_mark ---------------------------------------------------------------


def count_from_the_lac(s, c, client, bookie, entry):
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    reason = note_confirmation(mine, s.messages[client].adds, bookie, entry)
    if len(reason) != 0:
        return reason
    lac = confirmed_from(c, mine, mine.lac, c.ack_quorum)
    lafr = confirmed_from(c, mine, mine.lac, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    return TAKEN


WRONG = {
    "let_two_clients_have_a_ledger": [
        ("become_leader(client=1)", "there are not two such clients"),
        ("create_ledger(client=1)", "Step 1: create_ledger(client=1) can't happen here"),
    ],
    "append_only_to_what_you_have_read": [
        (append_whatever_is_there, "breaks after"),
        (append_nothing, "append_ledger_success never happens"),
    ],
    "say_what_was_meant": [
        (by_position, "only one ledger of the list is open"),
        (nothing_is_claimed, "but also where leaders leave the last ledger open"),
    ],
    "say_when_a_ledger_is_fenced": [
        (all_are_fenced, "that is enough, and you say otherwise"),
        (an_ack_quorum_is_fenced, "that is not enough, and you say otherwise"),
    ],
    "count_from_the_right_mark": [(count_from_the_lac, "breaks after 28 steps")],
    "pin_a_bookie": [
        (
            "client_creates_ledger(client=1, ensemble={1, 2})",
            "every bookie that has timed out can be replaced",
        ),
    ],
}
