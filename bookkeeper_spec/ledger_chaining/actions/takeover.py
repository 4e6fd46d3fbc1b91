"""A client takes over: it is chosen as the leader, and closes the last ledger."""

from typing import NamedTuple

from bookkeeper_spec.ledger_chaining.model import (
    CLOSE_LAST_LEDGER,
    GET_MD_FOR_CLOSING,
    NO_ENTRY,
    PENDING_CREATE_LEDGER,
    BookieLedger,
    Client,
    State,
    close_in_metadata,
    is_not_at,
    is_on_bookies,
    is_stale,
    resign,
)
from protocol_lab import TAKEN, add, take

# --- Leadership ----------------------------------------------------------------------------------


def leader_chosen(s: State, c: NamedTuple, client: Client):
    """Another client is to lead; whoever led before does not hear of it."""
    if s.md_leader == client:
        return "the client is the chosen leader already"
    s.md_leader = client
    return TAKEN


def become_leader(s: State, c: NamedTuple, client: Client):
    """A client hears that it was chosen."""
    if s.c_state[client].leader:
        return "the client believes that it leads already"
    if s.md_leader != client:
        return "the client is not the chosen leader"
    s.c_state[client].leader = True
    s.c_state[client].status = GET_MD_FOR_CLOSING
    return TAKEN


def abdicate(s: State, c: NamedTuple, client: Client):
    """A client hears that another one was chosen."""
    if not s.c_state[client].leader:
        return "the client does not believe that it leads"
    if s.md_leader == client:
        return "the client is the chosen leader"
    resign(s.c_state[client])
    return TAKEN


# --- Closing the last ledger ---------------------------------------------------------------------


def get_last_ledger(s: State, c: NamedTuple, client: Client):
    """A new leader reads the ledger list, and the metadata of the last ledger if there is one."""
    mine = s.c_state[client]
    if is_not_at(mine, GET_MD_FOR_CLOSING):
        return "the client is not a leader that has yet to read the metadata"
    mine.llist_version = s.md_llist_version
    mine.llist = s.md_llist
    mine.status = PENDING_CREATE_LEDGER
    if s.md_llist.length > 0:
        last = s.md_llist.items[s.md_llist.length - 1]
        mine.ledger = s.md_ledgers.items[last - 1]
        mine.status = CLOSE_LAST_LEDGER
    return TAKEN


def ledger_already_closed(s: State, c: NamedTuple, client: Client):
    """The last ledger was closed when its metadata was read: nothing to close."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is not a leader that is closing the last ledger"
    if mine.ledger.open:
        return "the last ledger was open when the client read its metadata"
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


def fence(s, ledger_id) -> None:
    """Fence a ledger on the bookies; one that they do not know is created fenced, and empty."""
    if not is_on_bookies(s, ledger_id):
        add(s.b_ledgers, BookieLedger(id=ledger_id, entry=NO_ENTRY, fenced=True))
    for k in range(s.b_ledgers.size):
        known = s.b_ledgers.items[k]
        if known.id == ledger_id and not known.fenced:
            fenced = BookieLedger(id=ledger_id, entry=known.entry, fenced=True)
            take(s.b_ledgers, known)
            add(s.b_ledgers, fenced)  # in the same place: the order is by id and entry first


def close_last_ledger_success(s: State, c: NamedTuple, client: Client):
    """The leader fences the last ledger and closes it: nobody has touched its metadata."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is not a leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if is_stale(s, mine):
        return "the ledger's metadata has a later version"
    close_in_metadata(s, mine.ledger.id)
    if c.close_fences:
        fence(s, mine.ledger.id)
    mine.status = PENDING_CREATE_LEDGER
    return TAKEN


def close_last_ledger_bad_version(s: State, c: NamedTuple, client: Client):
    """Somebody else has changed the ledger's metadata: read everything again."""
    mine = s.c_state[client]
    if is_not_at(mine, CLOSE_LAST_LEDGER):
        return "the client is not a leader that is closing the last ledger"
    if not mine.ledger.open:
        return "the last ledger was closed already when the client read its metadata"
    if not is_stale(s, mine):
        return "the ledger's metadata has not changed"
    mine.status = GET_MD_FOR_CLOSING
    return TAKEN
