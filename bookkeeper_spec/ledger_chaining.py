"""Ledgers chained to one log: who writes next closes what was there, and appends a ledger.

A ledger has one writer and an end. A log without end is a list of ledgers, which any client may
lead. A client that becomes the leader

1. reads the ledger list and the metadata of its last ledger, and remembers both versions,
2. closes that ledger, which fences it on the bookies,
3. creates a ledger,
4. appends it to the list, if the list is still the one that it has read,
5. writes.

What it models: clients, any of which may be chosen as the leader at any time, and which do not hear
of it at once. So a deposed client goes on as a leader until a version in the metadata store or a
fenced ledger stops it. A ledger takes one entry, which is enough to see an order; entries are
numbered through, across all ledgers.

What breaks: nothing that is meant. With close_fences=false, ours, closing is a matter of metadata
only, and entries get out of order in 12 steps: the bookies still accept the old leader's entry
after one of the next leader's. And one invariant of the original says something else than it
means: see only_one_ledger_open_at_a_time.

Left out: the election itself, how a ledger is replicated (see `bookkeeper.protocol`), and what
becomes of ledgers that were created and never got into the list: they stay open, and empty.

Source: LedgerChaining in the BookKeeper replication specs.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.draw.chaining import draw_ledger_chaining
from protocol_lab import (
    HOLDS,
    TAKEN,
    Bag,
    Bool,
    Int8,
    Limits,
    Named,
    Node,
    Per,
    Seq,
    Spec,
    Struct,
    add,
    append,
    choice,
    flag,
)

# --- Constants -------------------------------------------------------------------------------


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
    ] = 0
    ledger_slots: Annotated[
        int, Limits(1, 32, "storage: ledgers ever created", classes=(8, 32))
    ] = 8


BY_POSITION, BY_ID = 0, 1

# --- State -----------------------------------------------------------------------------------

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
    """Does the client think that it leads, how far is it, and what has it read (and when)?"""

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
    original="LedgerChaining",
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


# --- Leadership ------------------------------------------------------------------------------


@spec.action
def leader_chosen(s: State, c: Constants, client: Client):
    """Another client is to lead; whoever led before does not hear of it."""
    if s.md_leader == client:
        return "the client is the chosen leader already"
    s.md_leader = client
    return TAKEN


@spec.action
def become_leader(s: State, c: Constants, client: Client):
    """A client hears that it was chosen."""
    if s.c_state[client].leader:
        return "the client believes that it leads already"
    if s.md_leader != client:
        return "the client is not the chosen leader"
    s.c_state[client].leader = True
    s.c_state[client].status = GET_MD_FOR_CLOSING
    return TAKEN


def resign(mine) -> None:
    """Go back to waiting; whoever leads next closes what was left open."""
    mine.leader = False
    mine.status = WAITING


@spec.action
def abdicate(s: State, c: Constants, client: Client):
    """A client hears that another one was chosen."""
    if not s.c_state[client].leader:
        return "the client does not believe that it leads"
    if s.md_leader == client:
        return "the client is the chosen leader"
    resign(s.c_state[client])
    return TAKEN


def is_not_at(mine, status) -> bool:
    """Is the client no leader, as far as it knows, or at another point of its work?"""
    return not mine.leader or mine.status != status


# --- Closing the last ledger -----------------------------------------------------------------


@spec.action
def get_last_ledger(s: State, c: Constants, client: Client):
    """A new leader reads the ledger list, and the metadata of the last ledger if there is one."""
    mine = s.c_state[client]
    if is_not_at(mine, GET_MD_FOR_CLOSING):
        return "the client is no leader that has yet to read the metadata"
    mine.llist_version = s.md_llist_version
    mine.llist = s.md_llist
    mine.status = PENDING_CREATE_LEDGER
    if s.md_llist.length > 0:
        last = s.md_llist.items[s.md_llist.length - 1]
        mine.ledger = s.md_ledgers.items[last - 1]
        mine.status = CLOSE_LAST_LEDGER
    return TAKEN


@spec.action
def ledger_already_closed(s: State, c: Constants, client: Client):
    """The last ledger was closed when its metadata was read: nothing to close."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is no leader that is closing the last ledger"
    if mine.ledger.open:
        return "the last ledger was open when the client read its metadata"
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


def is_stale(s, mine) -> bool:
    """Has the ledger's metadata changed since the client read or wrote it?"""
    return mine.ledger.version < s.md_ledgers.items[mine.ledger.id - 1].version


def close_in_metadata(s, ledger_id) -> None:
    """Mark a ledger as closed, with a new version."""
    s.md_ledgers.items[ledger_id - 1].open = False
    s.md_ledgers.items[ledger_id - 1].version += 1


def is_on_bookies(s, ledger_id) -> bool:
    """Do the bookies know the ledger, by its entry or because it was fenced?"""
    return any(s.b_ledgers.items[k].id == ledger_id for k in range(s.b_ledgers.size))


def fence(s, ledger_id) -> None:
    """Fence a ledger on the bookies; one that they do not know is created fenced, and empty."""
    if not is_on_bookies(s, ledger_id):
        add(s.b_ledgers, BookieLedger(id=ledger_id, entry=NO_ENTRY, fenced=True))
    for k in range(s.b_ledgers.size):
        if s.b_ledgers.items[k].id == ledger_id:
            s.b_ledgers.items[k].fenced = True


@spec.action
def close_last_ledger_success(s: State, c: Constants, client: Client):
    """The leader fences the last ledger and closes it: nobody has touched its metadata."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is no leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    if c.close_fences:
        fence(s, mine.ledger.id)
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


@spec.action
def close_last_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has changed the ledger's metadata: read everything again."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is no leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    mine.status = GET_MD_FOR_CLOSING
    return TAKEN


# --- A new ledger ----------------------------------------------------------------------------


@spec.action
def create_ledger(s: State, c: Constants, client: Client):
    """The leader creates a ledger, which is not in the list yet."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_CREATE_LEDGER):
        return "the client is no leader that is about to create a ledger"
    append(s.md_ledgers, LedgerMetadata(id=s.md_next_lid, open=True, version=0))
    mine.ledger = LedgerMetadata(id=s.md_next_lid, open=True, version=0)
    mine.status = PENDING_APPEND_LEDGER
    s.md_next_lid += 1
    return TAKEN


@spec.action
def append_ledger_success(s: State, c: Constants, client: Client):
    """The leader appends its ledger to the list, which is still the one that it has read."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_APPEND_LEDGER):
        return "the client is no leader with a ledger to append"
    if mine.llist_version != s.md_llist_version:
        return "the ledger list has a later version"
    append(mine.llist, mine.ledger.id)
    s.md_llist = mine.llist
    s.md_llist_version += 1
    mine.llist_version = s.md_llist_version
    mine.status = HAS_OPEN_LEDGER
    return TAKEN


@spec.action
def append_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has appended a ledger: the client no longer leads, and its ledger is left."""
    mine = s.c_state[client]
    if is_not_at(mine, PENDING_APPEND_LEDGER):
        return "the client is no leader with a ledger to append"
    if mine.llist_version >= s.md_llist_version:
        return "the ledger list has not changed"
    resign(mine)
    return TAKEN


# --- Writing ---------------------------------------------------------------------------------


@spec.action
def write_to_ledger(s: State, c: Constants, client: Client):
    """The leader writes its ledger's one entry; the bookies refuse if the ledger is fenced."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is no leader with a ledger of its own"
    if is_on_bookies(s, mine.ledger.id):
        return "the ledger has its entry, or is fenced"
    add(s.b_ledgers, BookieLedger(id=mine.ledger.id, entry=s.next_entry_id, fenced=False))
    s.next_entry_id += 1
    return TAKEN


@spec.action
def close_own_ledger_success(s: State, c: Constants, client: Client):
    """The leader closes its own ledger, to chain the next one; there is nobody to fence."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is no leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


@spec.action
def close_own_ledger_bad_version(s: State, c: Constants, client: Client):
    """Somebody else has closed the leader's ledger: it no longer leads."""
    mine = s.c_state[client]
    if is_not_at(mine, HAS_OPEN_LEDGER):
        return "the client is no leader with a ledger of its own"
    if not is_on_bookies(s, mine.ledger.id):
        return "nothing was written to the ledger"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    resign(mine)
    return TAKEN


# --- Bounds ----------------------------------------------------------------------------------


@spec.constraint
def ledger_limit(s: State, c: Constants):
    """How far to look: no ledger is created once the next id has reached the limit."""
    if s.md_next_lid < c.ledger_limit:
        return HOLDS
    return "the next ledger id has reached ledger_limit"


# --- Properties ------------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """All variables hold what they are declared to hold."""
    if s.md_leader < 1 or s.md_leader > c.clients:
        return "the chosen leader is no client"
    if s.md_llist_version < 0:
        return "the ledger list's version is below 0"
    if s.md_ledgers.length != s.md_next_lid - 1:
        return "the metadata are not those of the ledgers 1 to the next id"
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


def is_listed(s, ledger_id) -> bool:
    """Is the ledger in the list?"""
    return any(s.md_llist.items[k] == ledger_id for k in range(s.md_llist.length))


@spec.invariant
def all_non_empty_ledgers_in_ledger_list(s: State, c: Constants):
    """No ledger that the bookies know is outside of the list: what is written can be read."""
    for k in range(s.b_ledgers.size):
        if not is_listed(s, s.b_ledgers.items[k].id):
            return "the bookies have a ledger that is not in the list"
    return HOLDS


@spec.invariant
def entry_order_maintained(s: State, c: Constants):
    """Whoever reads ledger after ledger meets the entries in the order of their writing.

    The bookies' ledgers stand in the order of their ids.
    """
    for later in range(s.b_ledgers.size):
        for earlier in range(later):
            entry = s.b_ledgers.items[later].entry
            if entry != NO_ENTRY and s.b_ledgers.items[earlier].entry > entry:
                return "an earlier ledger has a later entry"
    return HOLDS


def ledger_at(s, c, position) -> int:
    """Which ledger the next invariant looks up for a position of the list, counted from 0."""
    if c.open_ledgers_by == BY_POSITION:
        return position + 1
    return s.md_llist.items[position]


@spec.invariant
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


@spec.sometimes
def two_ledgers_hold_entries(s: State, c: Constants):
    """The log goes on in a second ledger."""
    return HOLDS if s.next_entry_id > 1 else "fewer than two entries are written"


# --- Situations that are worth finding ---------------------------------------------------------


@spec.situation
def a_deposed_leader_goes_on(s: State, c: Constants) -> bool:
    """A client with a ledger of its own believes that it leads, and another one was chosen."""
    return any(
        s.c_state[client].leader
        and s.c_state[client].status == HAS_OPEN_LEDGER
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
            if s.c_state[client].leader and s.c_state[client].status == HAS_OPEN_LEDGER
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
    return any(s.b_ledgers.items[k].entry == NO_ENTRY for k in range(s.b_ledgers.size))
