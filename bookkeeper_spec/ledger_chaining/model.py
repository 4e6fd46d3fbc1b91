"""The constants and the state of `bookkeeper.ledger_chaining`: the ledger list, the ledgers, the
bookies and the clients.

The metadata store has the ledger list and the metadata of each ledger. Both have a version and are
changed by compare-and-set. All bookies together are modelled as one, since a ledger's replication
is left out.
"""

from typing import Annotated, NamedTuple

from protocol_lab import (
    TAKEN,
    Bag,
    Bool,
    Configuration,
    Int8,
    Limits,
    Named,
    Node,
    Per,
    Seq,
    Struct,
    choice,
    flag,
    storage,
)

BY_POSITION, BY_ID = 0, 1


class Constants(NamedTuple):
    """The size of the model, and how far to look."""

    clients: Annotated[int, Limits(1, 5, "clients that may lead", classes=(3, 5))] = 2
    ledger_limit: Annotated[
        int,
        Limits(
            1, 33, "constraint: look no further once the next ledger id is this", may_be_none=True
        ),
    ] = 4
    close_fences: Annotated[int, flag("does closing a ledger fence it on the bookies")] = 1
    open_ledgers_by: Annotated[
        int,
        choice("position", "id", meaning="what only_one_ledger_open_at_a_time looks ledgers up by"),
    ] = BY_POSITION
    ledger_slots: Annotated[int, storage(1, 32, "ledgers ever created", classes=(8, 32))] = 8


CONFIGURATIONS = (
    Configuration("default", "two clients that take turns as the leader", "10,778 distinct states"),
    Configuration(
        "shipped",
        "three clients, as in LedgerChaining.cfg, which comes with the original",
        "375,963 distinct states",
        {"clients": 3},
    ),
)


Client = Node("clients")

LedgerId = Int8.bounded_by("ledger_slots")


Version = Int8

WAITING, GET_MD_FOR_CLOSING, CLOSE_LAST_LEDGER = 0, 1, 2


PENDING_CREATE_LEDGER, PENDING_APPEND_LEDGER, HAS_OPEN_LEDGER = 3, 4, 5

Status = Named(
    (
        "waiting",
        "get_md_for_closing",
        "close_last_ledger",
        "pending_create_ledger",
        "pending_append_ledger",
        "has_open_ledger",
    )
)


NO_VERSION = -1

NO_ENTRY = -1


class LedgerMetadata(Struct):
    """What the metadata store knows of a ledger; ids count from 1."""

    id: LedgerId
    open: Bool
    version: Version


class ClientState(Struct):
    """Whether a client believes that it leads, its progress, and what it has read."""

    leader: Bool
    status: Status
    llist: Seq(LedgerId, "ledger_slots")
    llist_version: Version
    ledger: LedgerMetadata


class BookieLedger(Struct):
    """A ledger that the bookies have: with its entry, or fenced before there was one."""

    id: LedgerId
    entry: Int8.bounded_by("ledger_slots")  # entries count from 0; NO_ENTRY in an empty one
    fenced: Bool


class State(Struct):
    """The clients, the metadata store, and the bookies as one."""

    c_state: Per(Client, ClientState)
    md_leader: Client
    md_llist: Seq(LedgerId, "ledger_slots")
    md_llist_version: Version
    md_ledgers: Seq(LedgerMetadata, "ledger_slots")  # ledger k at k - 1
    md_next_lid: LedgerId
    b_ledgers: Bag(BookieLedger, "ledger_slots")  # at most one of each id
    next_entry_id: Int8.bounded_by("ledger_slots")


def init(s: State, c: Constants):
    """No ledgers. Client 1 is chosen, and nobody knows of it yet."""
    for client in range(1, c.clients + 1):
        s.c_state[client].llist_version = NO_VERSION
        s.c_state[client].ledger.version = NO_VERSION
    s.md_leader = 1
    s.md_next_lid = 1
    return TAKEN


# --- Questions -----------------------------------------------------------------------------------


def is_not_at(mine, status) -> bool:
    """Does the client believe that it does not lead, or is it at another step?"""
    return not mine.leader or mine.status != status


def is_stale(s, mine) -> bool:
    """Has the ledger's metadata changed since the client read or wrote it?"""
    return mine.ledger.version < s.md_ledgers.items[mine.ledger.id - 1].version


def is_on_bookies(s, ledger_id) -> bool:
    """Do the bookies know the ledger, by its entry or because it was fenced?"""
    return any(s.b_ledgers.items[k].id == ledger_id for k in range(s.b_ledgers.size))


def is_listed(s, ledger_id) -> bool:
    """Is the ledger in the list?"""
    return any(s.md_llist.items[k] == ledger_id for k in range(s.md_llist.length))


# --- Effects -------------------------------------------------------------------------------------


def resign(mine) -> None:
    """Go back to waiting; whoever leads next closes what was left open."""
    mine.leader = False
    mine.status = WAITING


def close_in_metadata(s, ledger_id) -> None:
    """Mark a ledger as closed, with a new version."""
    s.md_ledgers.items[ledger_id - 1].open = False
    s.md_ledgers.items[ledger_id - 1].version += 1
