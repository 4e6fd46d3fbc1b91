"""Invariants of `bookkeeper.unbounded_ledgers`, and what must be reachable."""

from bookkeeper_spec.model.ledger import CLOSED, NIL, OPEN, WITHDRAWN, fragment_of_entry
from bookkeeper_spec.properties import all_acked_entries_are_readable, are_clients_of_their_type
from bookkeeper_spec.unbounded_ledgers.model import Constants, State
from protocol_lab import HOLDS, is_subset, members, nodes_up_to, size


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if s.meta_status > CLOSED or s.meta_last_entry < 0 or s.meta_version < 0:
        return "a value of the metadata is out of range"
    for bookie in range(1, c.bookies + 1):
        if s.b_term[bookie] < 0 or s.b_lac[bookie] < 0:
            return "a bookie's term or LAC is negative"
        for entry in range(1, c.send_limit + 1):
            if not is_subset(s.b_entries[bookie].data[entry], nodes_up_to(c.send_limit)):
                return "a bookie stores data that nobody writes"
    return HOLDS if are_clients_of_their_type(s, c) else "a value of a client is out of range"


def all_committed_ids_are_readable(s: State, c: Constants):
    """Under every id up to a writer's LAC, some bookie of the fragment's ensemble has an entry."""
    return all_acked_entries_are_readable(s, c)


def all_acked_values_are_readable(s: State, c: Constants):
    """Every value that was acknowledged is on some bookie of an ensemble, under whichever id."""
    readable = 0
    if s.meta_status != NIL:
        for entry in range(1, c.send_limit + 1):
            position = fragment_of_entry(s.meta_fragments, entry)
            for bookie in members(s.meta_fragments.items[position].ensemble):
                readable |= s.b_entries[bookie].data[entry]
    return HOLDS if is_subset(s.acked_values, readable) else "an acknowledged value is lost"


def no_log_divergence(s: State, c: Constants):
    """Up to their LACs, all bookies of an entry's ensemble that store it have the same data."""
    last = max(s.clients[client].lac for client in range(1, c.clients + 1))
    for entry in range(1, last + 1):
        position = fragment_of_entry(s.meta_fragments, entry)
        data = 0
        for bookie in members(s.meta_fragments.items[position].ensemble):
            if s.b_lac[bookie] >= entry:
                data |= s.b_entries[bookie].data[entry]
        if size(data) > 1:
            return "two bookies have different data for the same committed entry"
    return HOLDS


# --- Reachable -----------------------------------------------------------------------------------


def a_later_term_is_opened(s: State, c: Constants):
    """Somebody takes over, and the ledger is open again."""
    return HOLDS if s.meta_status == OPEN and s.meta_term > 1 else "no later term was opened"


def an_old_writer_withdraws(s: State, c: Constants):
    """A client learns that another has taken over."""
    if any(s.clients[k].status == WITHDRAWN for k in range(1, c.clients + 1)):
        return HOLDS
    return "nobody has withdrawn"
