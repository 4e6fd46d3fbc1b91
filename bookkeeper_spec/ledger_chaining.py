"""Ledgers chained to one log: the next leader closes the last ledger, and appends a new one.

A ledger has one writer and an end. A log without end is a list of ledgers, which any client may
lead. A client that becomes the leader

1. reads the ledger list and the metadata of its last ledger, and remembers both versions,
2. closes that ledger, which fences it on the bookies,
3. creates a ledger,
4. appends it to the list, if the list is still the one that it has read,
5. writes.

What it models: a metadata store, which has the ledger list and the metadata of each ledger, both
with a version and changed by compare-and-set; the bookies, all of them as one; and clients, any of
which may be chosen as the leader at any time, and which do not learn of it at once. So a deposed
client goes on as a leader until a version in the metadata store or a fenced ledger stops it. A
ledger takes one entry, which is enough to see an order; entries are numbered across all ledgers.

What breaks: nothing that is meant. With close_fences=false, ours, closing is a matter of metadata
only, and entries get out of order in 12 steps: the bookies still accept the old leader's entry
after one of the next leader's. And one invariant of the original does not say what it
means: see only_one_ledger_open_at_a_time.

Left out: the election itself, how a ledger is replicated (see `bookkeeper.protocol`), and what
becomes of ledgers that were created and never got into the list: they stay open, and empty.

Source: LedgerChaining.tla by Jack Vanlightly, https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.draw.chaining import draw_ledger_chaining
from bookkeeper_spec.draw.choices import CHAINING
from protocol_lab import *

# --- Constants -----------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and how far to look."""

    clients: Annotated[int, Limits(1, 5, "clients that may lead")] = 2
    ledger_limit: Annotated[
        int,
        Limits(
            1, 33, "constraint: look no further once the next ledger id is this", may_be_none=True
        ),
    ] = 4
    close_fences: Annotated[int, flag("does closing a ledger fence it on the bookies")] = 1
    open_ledgers_by: Annotated[
        str,
        choice("position", "id", meaning="what only_one_ledger_open_at_a_time looks ledgers up by"),
    ] = "position"
    ledger_slots: Annotated[int, storage(1, 32, "ledgers ever created")] = 8


CONFIGURATIONS = (
    Configuration("default", "two clients that take turns as the leader", "10,778 distinct states"),
    Configuration(
        "shipped",
        "three clients, as in LedgerChaining.cfg, which comes with the original",
        "375,963 distinct states",
        {"clients": 3},
    ),
)


# --- State ---------------------------------------------------------------------------------------

Client = Node("clients")
LedgerId = Int8.bounded_by("ledger_slots")
Version = Int8

Status = Named(
    "waiting",
    "get_md_for_closing",
    "close_last_ledger",
    "pending_create_ledger",
    "pending_append_ledger",
    "has_open_ledger",
)


NO_VERSION, NO_ENTRY = -1, -1


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


spec = Spec(
    "bookkeeper.ledger_chaining",
    State,
    Constants,
    __doc__,
    draw=draw_ledger_chaining,
    choices=CHAINING,
    original="LedgerChaining",
    configurations=CONFIGURATIONS,
    decisions=("leader_chosen",),
)


@spec.init
def init(s: State, c: Constants):
    """No ledgers. Client 1 is chosen, and nobody knows of it yet."""
    for client in range(1, c.clients + 1):
        s.c_state[client].llist_version = NO_VERSION
        s.c_state[client].ledger.version = NO_VERSION
    s.md_leader = 1
    s.md_next_lid = 1
    return TAKEN


# --- Reads and small changes ---------------------------------------------------------------------


def is_not_at(mine, status: Status) -> bool:
    """Does the client believe that it does not lead, or is it at another step?"""
    return not mine.leader or mine.status != status


def is_stale(s: State, mine) -> bool:
    """Has the ledger's metadata changed since the client read or wrote it?"""
    return mine.ledger.version < s.md_ledgers[mine.ledger.id - 1].version


def is_on_bookies(s: State, ledger_id) -> bool:
    """Do the bookies know the ledger, by its entry or because it was fenced?"""
    return any(ledger.id == ledger_id for ledger in s.b_ledgers)


def is_listed(s: State, ledger_id) -> bool:
    """Is the ledger in the list?"""
    return ledger_id in s.md_llist


def resign(mine) -> None:
    """Go back to waiting; whoever leads next closes what was left open."""
    mine.leader = False
    mine.status = "waiting"


def close_in_metadata(s: State, ledger_id) -> None:
    """Mark a ledger as closed, with a new version."""
    s.md_ledgers[ledger_id - 1].open = False
    s.md_ledgers[ledger_id - 1].version += 1


# --- A client takes over: it is chosen as the leader ---------------------------------------------


@spec.action
def leader_chosen(s: State, c: Constants, client: Client):
    """Another client is chosen as leader; the one before it does not learn of that."""
    if s.md_leader == client:
        return "the client is the chosen leader already"
    s.md_leader = client
    return TAKEN


@spec.action
def become_leader(s: State, c: Constants, client: Client):
    """A client learns that it was chosen."""
    if s.c_state[client].leader:
        return "the client believes that it leads already"
    if s.md_leader != client:
        return "the client is not the chosen leader"
    s.c_state[client].leader = True
    s.c_state[client].status = "get_md_for_closing"
    return TAKEN


@spec.action
def abdicate(s: State, c: Constants, client: Client):
    """A client learns that another one was chosen."""
    if not s.c_state[client].leader:
        return "the client does not believe that it leads"
    if s.md_leader == client:
        return "the client is the chosen leader"
    resign(s.c_state[client])
    return TAKEN


# --- It closes the last ledger -------------------------------------------------------------------


@spec.action
def get_last_ledger(s: State, c: Constants, client: Client):
    """A new leader reads the ledger list, and the metadata of the last ledger if there is one."""
    mine = s.c_state[client]
    if is_not_at(mine, "get_md_for_closing"):
        return "the client is not a leader that has yet to read the metadata"
    mine.llist_version = s.md_llist_version
    mine.llist = s.md_llist
    mine.status = "pending_create_ledger"
    if len(s.md_llist) > 0:
        mine.ledger = s.md_ledgers[last(s.md_llist) - 1]
        mine.status = "close_last_ledger"
    return TAKEN


@spec.action
def ledger_already_closed(s: State, c: Constants, client: Client):
    """The last ledger was closed when its metadata was read: nothing to close."""
    mine = s.c_state[client]
    if is_not_at(mine, "close_last_ledger"):
        return "the client is not a leader that is closing the last ledger"
    if mine.ledger.open:
        return "the last ledger was open when the client read its metadata"
    mine.status = "pending_create_ledger"
    return TAKEN


def fence(s: State, ledger_id) -> None:
    """Fence a ledger on the bookies; one that they do not know is created fenced, and empty."""
    if not is_on_bookies(s, ledger_id):
        add(s.b_ledgers, BookieLedger(id=ledger_id, entry=NO_ENTRY, fenced=True))
    for known in s.b_ledgers:
        if known.id == ledger_id and not known.fenced:
            fenced = BookieLedger(id=ledger_id, entry=known.entry, fenced=True)
            take(s.b_ledgers, known)
            add(s.b_ledgers, fenced)
            return


@spec.action
def close_last_ledger_success(s: State, c: Constants, client: Client):
    """The leader fences the last ledger and closes it: nobody has touched its metadata.

    The fence is what stops a deposed leader that has not learned of it. With `close_fences` off, 12
    steps to entry_order_maintained.
    """
    mine = s.c_state[client]
    if is_not_at(mine, "close_last_ledger"):
        return "the client is not a leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    if c.close_fences:
        fence(s, mine.ledger.id)
    mine.status = "pending_create_ledger"
    return TAKEN


@spec.action
def close_last_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has changed the ledger's metadata: read everything again."""
    mine = s.c_state[client]
    if is_not_at(mine, "close_last_ledger"):
        return "the client is not a leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    mine.status = "get_md_for_closing"
    return TAKEN


# --- It creates a ledger, and appends it to the list ---------------------------------------------


@spec.action
def create_ledger(s: State, c: Constants, client: Client):
    """The leader creates a ledger, which is not in the list yet."""
    mine = s.c_state[client]
    if is_not_at(mine, "pending_create_ledger"):
        return "the client is not a leader that is about to create a ledger"
    append(s.md_ledgers, LedgerMetadata(id=s.md_next_lid, open=True, version=0))
    mine.ledger = LedgerMetadata(id=s.md_next_lid, open=True, version=0)
    mine.status = "pending_append_ledger"
    s.md_next_lid += 1
    return TAKEN


@spec.action
def append_ledger_success(s: State, c: Constants, client: Client):
    """The leader appends its ledger to the list, which is still the one that it has read.

    Without the guard on the version two leaders overwrite each other's list, and a ledger with an
    entry is missing in it (the exercise `append_only_to_what_you_have_read`).
    """
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


@spec.action
def append_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has appended a ledger: the client no longer leads, and its ledger is left."""
    mine = s.c_state[client]
    if is_not_at(mine, "pending_append_ledger"):
        return "the client is not a leader with a ledger to append"
    if mine.llist_version >= s.md_llist_version:
        return "the ledger list has not changed"
    resign(mine)
    return TAKEN


# --- It writes, and closes its own ledger to chain the next one ----------------------------------


@spec.action
def write_to_ledger(s: State, c: Constants, client: Client):
    """The leader writes its ledger's one entry; the bookies refuse if the ledger is fenced."""
    mine = s.c_state[client]
    if is_not_at(mine, "has_open_ledger"):
        return "the client is not a leader with a ledger of its own"
    if is_on_bookies(s, mine.ledger.id):
        return "the ledger has its entry, or is fenced"
    add(s.b_ledgers, BookieLedger(id=mine.ledger.id, entry=s.next_entry_id, fenced=False))
    s.next_entry_id += 1
    return TAKEN


@spec.action
def close_own_ledger_success(s: State, c: Constants, client: Client):
    """The leader closes its own ledger, to chain the next one; there is nobody to fence."""
    mine = s.c_state[client]
    if is_not_at(mine, "has_open_ledger"):
        return "the client is not a leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    mine.status = "pending_create_ledger"
    return TAKEN


@spec.action
def close_own_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has closed the leader's ledger: it no longer leads."""
    mine = s.c_state[client]
    if is_not_at(mine, "has_open_ledger"):
        return "the client is not a leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    resign(mine)
    return TAKEN


# --- The bound on a search -----------------------------------------------------------------------


@spec.constraint
def ledger_limit(s: State, c: Constants):
    """How far to look: states whose next ledger id has reached the limit are not expanded."""
    if s.md_next_lid < c.ledger_limit:
        return HOLDS
    return "the next ledger id has reached ledger_limit"


# --- What is claimed -----------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """All variables hold what they are declared to hold."""
    if s.md_leader < 1 or s.md_leader > c.clients:
        return "the chosen leader is no client"
    if s.md_llist_version < 0:
        return "the ledger list's version is below 0"
    if len(s.md_ledgers) != s.md_next_lid - 1:
        return "the metadata are not those of the ledgers below the next id"
    for k in range(len(s.md_ledgers)):
        if s.md_ledgers[k].id != k + 1 or s.md_ledgers[k].version < NO_VERSION:
            return "a ledger's metadata are out of range"
    for ledger in s.b_ledgers:
        if ledger.id >= s.md_next_lid or ledger.entry < NO_ENTRY:
            return "a ledger on the bookies is out of range"
    for client in range(1, c.clients + 1):
        mine = s.c_state[client]
        if mine.llist_version < NO_VERSION or mine.ledger.version < NO_VERSION:
            return "a version that a client remembers is out of range"
    return HOLDS


@spec.invariant
def all_non_empty_ledgers_in_ledger_list(s: State, c: Constants):
    """No ledger that the bookies know is outside of the list: what is written can be read."""
    for ledger in s.b_ledgers:
        if not is_listed(s, ledger.id):
            return "the bookies have a ledger that is not in the list"
    return HOLDS


@spec.invariant
def entry_order_maintained(s: State, c: Constants):
    """A reader of the list, ledger after ledger, meets entries in the order of their writing."""
    for later in s.b_ledgers:
        for earlier in s.b_ledgers:
            if later.entry != NO_ENTRY and earlier.id < later.id and earlier.entry > later.entry:
                return "a ledger that is earlier in the list has a later entry"
    return HOLDS


def ledger_at(s: State, c: Constants, position) -> int:
    """Which ledger the next invariant looks up for a position of the list, counted from 0."""
    if c.open_ledgers_by == "position":
        return position + 1
    return s.md_llist[position]


@spec.invariant
def only_one_ledger_open_at_a_time(s: State, c: Constants):
    """No two ledgers of the list are open at once.

    The original looks up the metadata of ledger k for the k-th place of the list: that is the
    ledger there only while the list is 1, 2, 3, ... Once two created ledgers were left out of it,
    two ledgers that are not in the list can break it, which needs two clients and ledger_limit=6.
    open_ledgers_by=id is what is meant.
    """
    found = 0
    for position in range(len(s.md_llist)):
        if s.md_ledgers[ledger_at(s, c, position) - 1].open:
            found += 1
    return "two ledgers are open" if found > 1 else HOLDS


# --- Situations: the expected one must be reachable ----------------------------------------------


@spec.situation(expected=True)
def two_ledgers_hold_entries(s: State, c: Constants) -> bool:
    """The log goes on in a second ledger."""
    return s.next_entry_id > 1


@spec.situation
def a_deposed_leader_goes_on(s: State, c: Constants) -> bool:
    """A client with a ledger of its own believes that it leads, and another one was chosen."""
    return any(
        s.c_state[client].leader
        and s.c_state[client].status == "has_open_ledger"
        and s.md_leader != client
        for client in range(1, c.clients + 1)
    )


@spec.situation
def two_clients_have_a_ledger(s: State, c: Constants) -> bool:
    """Two clients believe that they lead, each with a ledger of its own in the list."""
    return (
        sum(
            1
            for client in range(1, c.clients + 1)
            if s.c_state[client].leader and s.c_state[client].status == "has_open_ledger"
        )
        > 1
    )


@spec.situation
def a_ledger_is_left_over(s: State, c: Constants) -> bool:
    """A ledger was created that no client will ever append."""
    return any(
        not is_listed(s, ledger_id)
        and not any(
            s.c_state[client].ledger.id == ledger_id
            and s.c_state[client].leader
            and s.c_state[client].llist_version == s.md_llist_version
            for client in range(1, c.clients + 1)
        )
        for ledger_id in range(1, s.md_next_lid)
    )


@spec.situation
def an_empty_ledger_is_in_the_list(s: State, c: Constants) -> bool:
    """A ledger of the list was fenced before anything was written to it."""
    return any(ledger.entry == NO_ENTRY for ledger in s.b_ledgers)
