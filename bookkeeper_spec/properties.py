"""Invariants of a ledger, and what must be reachable.

The names are the original's. What only one other variant claims is in that variant's `properties`.
"""

from typing import NamedTuple

from bookkeeper_spec.model.clients import recovers
from bookkeeper_spec.model.constants import Constants
from bookkeeper_spec.model.ledger import (
    ABORTED,
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    Ledger,
    copies,
    fragment_of_entry,
)
from bookkeeper_spec.model.state import State
from protocol_lab import HOLDS, is_subset, nodes_up_to

# --- Types ---------------------------------------------------------------------------------------


def is_set_of_bookies(c, bookies) -> bool:
    """Are all of them bookies that there are?"""
    return is_subset(bookies, nodes_up_to(c.bookies))


def is_ledger_of_its_type(s, c) -> bool:
    """Are the metadata and the bookies' part of the state what they are declared to be?"""
    return (
        s.meta_status <= CLOSED
        and s.meta_last_entry >= 0
        and s.meta_version >= 0
        and is_set_of_bookies(c, s.b_fenced)
        and all(
            s.b_lac[bookie] >= 0
            and all(
                is_subset(s.b_entries[bookie].data[entry], nodes_up_to(c.send_limit))
                for entry in range(1, c.send_limit + 1)
            )
            for bookie in range(1, c.bookies + 1)
        )
    )


def is_writer_of_its_type(c, writer) -> bool:
    """Is a client's record what it is declared to be?"""
    return (
        writer.meta_version >= 0
        and writer.lap >= 0
        and writer.lac >= 0
        and writer.curr_fragment.id >= 0
        and is_set_of_bookies(c, writer.curr_fragment.ensemble)
        and is_set_of_bookies(c, writer.fenced)
        and all(
            is_set_of_bookies(c, writer.confirmed[entry]) for entry in range(1, c.send_limit + 1)
        )
        and all(
            1 <= writer.pending_add_ops.items[k].entry.id <= c.send_limit
            and is_set_of_bookies(c, writer.pending_add_ops.items[k].ensemble)
            for k in range(writer.pending_add_ops.size)
        )
    )


def are_clients_of_their_type(s, c) -> bool:
    """Are the clients' records what they are declared to be?"""
    return all(is_writer_of_its_type(c, s.clients[client]) for client in range(1, c.clients + 1))


def type_ok(s: Ledger, c: NamedTuple):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c):
        return "a value of the metadata or of a bookie is out of range"
    if not are_clients_of_their_type(s, c):
        return "a value of a client is out of range"
    return HOLDS


# --- Entries -------------------------------------------------------------------------------------


def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """A closed ledger was closed by one client, at its LAC, and no writer's LAC is beyond the end.

    A recovery's may be: if another has closed the ledger before it, its entries are never read.
    """
    if s.meta_status != CLOSED:
        return HOLDS
    closers = 0
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == CLOSED and mine.lac == s.meta_last_entry:
            closers += 1
        if mine.status not in (NIL, IN_RECOVERY, ABORTED) and mine.lac > s.meta_last_entry:
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS if closers == 1 else "no client, or several, closed the ledger at their LAC"


def no_lac_beyond_the_end(s, c) -> str:
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if s.meta_status == CLOSED and mine.status != NIL and mine.lac > s.meta_last_entry:
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS


def all_acked_entries_are_readable(s: Ledger, c: NamedTuple):
    """Every entry that a client has acknowledged is on some bookie of its fragment's ensemble."""
    fragments = s.meta_fragments
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == OPEN or mine.status == CLOSED:
            for entry in range(1, mine.lac + 1):
                position = fragment_of_entry(fragments, entry)
                if copies(s, fragments.items[position], entry) == 0:
                    return "an acknowledged entry is on no bookie of its ensemble"
    return HOLDS


def all_committed_entries_reach_ack_quorum(s: Ledger, c: NamedTuple) -> str:
    """Once the ledger is closed, all its entries are stored by an ack quorum of their ensemble."""
    if s.meta_status != CLOSED:
        return HOLDS
    for entry in range(1, s.meta_last_entry + 1):
        position = fragment_of_entry(s.meta_fragments, entry)
        if copies(s, s.meta_fragments.items[position], entry) < c.ack_quorum:
            return "an entry of the closed ledger is stored by fewer bookies than an ack quorum"
    return HOLDS


def no_out_of_order_entries(s: Ledger, c: NamedTuple) -> str:
    """Every bookie stores under an id what the writer wrote under it."""
    for bookie in range(1, c.bookies + 1):
        for entry in range(1, c.send_limit + 1):
            if not is_subset(s.b_entries[bookie].data[entry], 1 << entry):
                return "a bookie stores data under an id that the writer did not write there"
    return HOLDS


# --- Reachable -----------------------------------------------------------------------------------


def recovery_closes_the_ledger(s: Ledger, c: NamedTuple):
    """A recovery closes the ledger."""
    for client in range(1, c.clients + 1):
        if s.clients[client].status == CLOSED and recovers(s, client):
            return HOLDS
    return "no recovery has closed the ledger"
