"""Ledgers chained to one log: who writes next closes what was there, and appends a ledger.

A ledger has one writer and an end. A log without end is a list of ledgers, which any client may
lead. A client that becomes the leader

1. reads the ledger list and the metadata of its last ledger, and remembers both versions,
2. closes that ledger, which fences it on the bookies,
3. creates a ledger,
4. appends it to the list, if the list is still the one that it has read,
5. writes.

Where to read what: in `chain` the ledgers, the list and the clients; in `chain_takeover` steps 1
and 2, in `chain_writer` steps 3 to 5; here what is claimed.

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

from bookkeeper_spec.chain import HAS_OPEN_LEDGER, NO_ENTRY, NO_VERSION, State, is_listed
from bookkeeper_spec.chain_takeover import (
    abdicate,
    become_leader,
    close_last_ledger_bad_version,
    close_last_ledger_success,
    get_last_ledger,
    leader_chosen,
    ledger_already_closed,
)
from bookkeeper_spec.chain_writer import (
    append_ledger_bad_version,
    append_ledger_success,
    close_own_ledger_bad_version,
    close_own_ledger_success,
    create_ledger,
    write_to_ledger,
)
from bookkeeper_spec.draw.chaining import draw_ledger_chaining
from protocol_lab import HOLDS, TAKEN, Limits, Spec, choice, flag

# --- Constants -------------------------------------------------------------------------------

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
    ledger_slots: Annotated[
        int, Limits(1, 32, "storage: ledgers ever created", classes=(8, 32))
    ] = 8


# --- The protocol ----------------------------------------------------------------------------

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


spec.action(leader_chosen)
spec.action(become_leader)
spec.action(abdicate)
spec.action(get_last_ledger)
spec.action(ledger_already_closed)
spec.action(close_last_ledger_success)
spec.action(close_last_ledger_bad_version)
spec.action(create_ledger)
spec.action(append_ledger_success)
spec.action(append_ledger_bad_version)
spec.action(write_to_ledger)
spec.action(close_own_ledger_success)
spec.action(close_own_ledger_bad_version)


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
