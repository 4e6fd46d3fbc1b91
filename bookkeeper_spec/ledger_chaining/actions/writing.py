"""The leader goes on: it creates a ledger, appends it to the list, writes to it, and closes it."""

from typing import NamedTuple

from bookkeeper_spec.ledger_chaining.model import (
    HAS_OPEN_LEDGER,
    PENDING_APPEND_LEDGER,
    PENDING_CREATE_LEDGER,
    BookieLedger,
    Client,
    LedgerMetadata,
    State,
    close_in_metadata,
    is_not_at,
    is_on_bookies,
    is_stale,
    resign,
)
from protocol_lab import TAKEN, add, append

# --- A new ledger --------------------------------------------------------------------------------


def create_ledger(s: State, c: NamedTuple, client: Client):
    """The leader creates a ledger, which is not in the list yet."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_CREATE_LEDGER):
        return "the client is not a leader that is about to create a ledger"
    append(s.md_ledgers, LedgerMetadata(id=s.md_next_lid, open=True, version=0))
    mine.ledger = LedgerMetadata(id=s.md_next_lid, open=True, version=0)
    mine.status = PENDING_APPEND_LEDGER
    s.md_next_lid += 1
    return TAKEN


def append_ledger_success(s: State, c: NamedTuple, client: Client):
    """The leader appends its ledger to the list, which is still the one that it has read."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_APPEND_LEDGER):
        return "the client is not a leader with a ledger to append"
    if mine.llist_version != s.md_llist_version:
        return "the ledger list has a later version"
    append(mine.llist, mine.ledger.id)
    s.md_llist = mine.llist
    s.md_llist_version += 1
    mine.llist_version = s.md_llist_version
    mine.status = HAS_OPEN_LEDGER
    return TAKEN


def append_ledger_bad_version(s: State, c: NamedTuple, client: Client):
    """Somebody else has appended a ledger: the client no longer leads, and its ledger is left."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_APPEND_LEDGER):
        return "the client is not a leader with a ledger to append"
    if mine.llist_version >= s.md_llist_version:
        return "the ledger list has not changed"
    resign(mine)
    return TAKEN


# --- Writing -------------------------------------------------------------------------------------


def write_to_ledger(s: State, c: NamedTuple, client: Client):
    """The leader writes its ledger's one entry; the bookies refuse if the ledger is fenced."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is not a leader with a ledger of its own"
    if is_on_bookies(s, mine.ledger.id):
        return "the ledger has its entry, or is fenced"
    add(s.b_ledgers, BookieLedger(id=mine.ledger.id, entry=s.next_entry_id, fenced=False))
    s.next_entry_id += 1
    return TAKEN


def close_own_ledger_success(s: State, c: NamedTuple, client: Client):
    """The leader closes its own ledger, to chain the next one; there is nobody to fence."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is not a leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


def close_own_ledger_bad_version(s: State, c: NamedTuple, client: Client):
    """Somebody else has closed the leader's ledger: it no longer leads."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is not a leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    resign(mine)
    return TAKEN
