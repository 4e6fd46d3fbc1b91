"""Invariants of `bookkeeper.ledger_chaining`, and what must be reachable."""

from bookkeeper_spec.ledger_chaining.model import (
    BY_POSITION,
    NO_ENTRY,
    NO_VERSION,
    Constants,
    State,
    is_listed,
)
from protocol_lab import HOLDS


def type_ok(s: State, c: Constants):
    """All variables hold what they are declared to hold."""
    if s.md_leader < 1 or s.md_leader > c.clients:
        return "the chosen leader is no client"
    if s.md_llist_version < 0:
        return "the ledger list's version is below 0"
    if s.md_ledgers.length != s.md_next_lid - 1:
        return "the metadata are not those of the ledgers below the next id"
    for k in range(s.md_ledgers.length):
        if s.md_ledgers.items[k].id != k + 1 or s.md_ledgers.items[k].version < NO_VERSION:
            return "a ledger's metadata are out of range"
    for k in range(s.b_ledgers.size):
        if s.b_ledgers.items[k].id >= s.md_next_lid or s.b_ledgers.items[k].entry < NO_ENTRY:
            return "a ledger on the bookies is out of range"
    for client in range(1, c.clients + 1):
        mine = s.c_state[client]
        if mine.llist_version < NO_VERSION or mine.ledger.version < NO_VERSION:
            return "a version that a client remembers is out of range"
    return HOLDS


def all_non_empty_ledgers_in_ledger_list(s: State, c: Constants):
    """No ledger that the bookies know is outside of the list: what is written can be read."""
    for k in range(s.b_ledgers.size):
        if not is_listed(s, s.b_ledgers.items[k].id):
            return "the bookies have a ledger that is not in the list"
    return HOLDS


def entry_order_maintained(s: State, c: Constants):
    """A reader of the list, ledger after ledger, meets the entries in the order of their writing.

    The bookies' ledgers stand in the order of their ids.
    """
    for later in range(s.b_ledgers.size):
        for earlier in range(later):
            entry = s.b_ledgers.items[later].entry
            if entry != NO_ENTRY and s.b_ledgers.items[earlier].entry > entry:
                return "a ledger that is earlier in the list has a later entry"
    return HOLDS


def ledger_at(s, c, position) -> int:
    """Which ledger the next invariant looks up for a position of the list, counted from 0."""
    if c.open_ledgers_by == BY_POSITION:
        return position + 1
    return s.md_llist.items[position]


def only_one_ledger_open_at_a_time(s: State, c: Constants):
    """No two ledgers of the list are open at once.

    The original looks up the metadata of ledger k for the k-th place of the list: that is the
    ledger there only while the list is 1, 2, 3, ... Once two created ledgers were left out of it,
    two ledgers that are not in the list can break it, which needs two clients and ledger_limit=6.
    open_ledgers_by=id is what is meant.
    """
    found = 0
    for position in range(s.md_llist.length):
        if s.md_ledgers.items[ledger_at(s, c, position) - 1].open:
            found += 1
    return "two ledgers are open" if found > 1 else HOLDS


# --- Reachable -----------------------------------------------------------------------------------


def two_ledgers_hold_entries(s: State, c: Constants):
    """The log goes on in a second ledger."""
    return HOLDS if s.next_entry_id > 1 else "fewer than two entries are written"
