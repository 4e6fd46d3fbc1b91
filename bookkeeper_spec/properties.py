"""What is claimed of a ledger: invariants, and what must eventually happen.

Then the bound on a search, and situations worth finding. The names are the original's. What only
one other variant claims is in that variant's own module.
"""

from bookkeeper_spec.model import *
from protocol_lab import *

# --- Types ---------------------------------------------------------------------------------------


def is_set_of_bookies(c, bookies) -> bool:
    """Are all of them bookies that there are?"""
    return is_subset(bookies, nodes_up_to(c.bookies))


def is_ledger_of_its_type(s, c) -> bool:
    """Are the metadata, and what bookies store of any ledger, what they are declared to be?"""
    return (
        s.meta_status in ("nil", "open", "in_recovery", "closed")
        and s.meta_last_entry >= 0
        and s.meta_version >= 0
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
            1 <= op.entry.id <= c.send_limit and is_set_of_bookies(c, op.ensemble)
            for op in writer.pending_add_ops
        )
    )


def are_clients_of_their_type(s, c) -> bool:
    """Are the clients' records what they are declared to be?"""
    return all(is_writer_of_its_type(c, s.clients[client]) for client in range(1, c.clients + 1))


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c) or not is_set_of_bookies(c, s.b_fenced):
        return "a value of the metadata or of a bookie is out of range"
    if not are_clients_of_their_type(s, c):
        return "a value of a client is out of range"
    return HOLDS


# --- Entries -------------------------------------------------------------------------------------


def no_divergence_between_client_and_meta_data(s, c):
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if s.meta_status == "closed" and mine.status != "nil" and mine.lac > s.meta_last_entry:
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS


def all_acked_entries_are_readable(s, c):
    """Every entry that a client has acknowledged is on some bookie of its fragment's ensemble."""
    fragments = s.meta_fragments
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == "open" or mine.status == "closed":
            for entry in range(1, mine.lac + 1):
                position = fragment_of_entry(fragments, entry)
                if copies(s, fragments[position], entry) == 0:
                    return "an acknowledged entry is on no bookie of its ensemble"
    return HOLDS


def all_committed_entries_reach_ack_quorum(s: State, c: Constants):
    """Once the ledger is closed, all its entries are stored by an ack quorum of their ensemble."""
    if s.meta_status != "closed":
        return HOLDS
    for entry in range(1, s.meta_last_entry + 1):
        position = fragment_of_entry(s.meta_fragments, entry)
        if copies(s, s.meta_fragments[position], entry) < c.ack_quorum:
            return "an entry of the closed ledger is stored by fewer bookies than an ack quorum"
    return HOLDS


def no_out_of_order_entries(s: State, c: Constants):
    """Every bookie stores under an id what the writer wrote under it."""
    for bookie in range(1, c.bookies + 1):
        for entry in range(1, c.send_limit + 1):
            if not is_subset(s.b_entries[bookie].data[entry], only(entry)):
                return "a bookie stores data under an id that the writer did not write there"
    return HOLDS


# --- Liveness ------------------------------------------------------------------------------------


def ledger_is_closed(s: State, c: Constants) -> bool:
    """The ledger is closed, and a client knows."""
    return s.meta_status == "closed" and any(
        s.clients[client].status == "closed" for client in range(1, c.clients + 1)
    )


def liveness():
    """The ledger is eventually closed. The original means to claim it under weak fairness of Next.

    TLC can't evaluate it as written there. It is false: a client that lost messages may stop.
    """
    return always_eventually(ledger_is_closed)


# --- The bound on a search: how many messages are lost at a time ----------------------------------


def count_lost_writes(messages) -> int:
    """How many add messages of the client are lost now."""
    return sum(
        len(adds.confirmed.lost)
        + len(adds.refused.lost)
        + sum(len(request.lost) for request in adds.requests)
        for adds in messages.of
    )


def count_lost_fencing(messages) -> int:
    """How many fence requests of a client, and answers to them, are lost now."""
    answers = sum(len(answer.lost) for answer in messages.fence_responses)
    return len(messages.fence_requests.lost) + answers


def count_lost_reads(messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return sum(
        len(reads.requests.lost)
        + len(reads.no_such_entry.lost)
        + sum(len(answer.lost) for answer in reads.responses)
        for reads in messages.reads
    )


def count_lost(messages) -> int:
    """How many messages between a client and the bookies are lost now."""
    writes = count_lost_writes(messages.adds) + count_lost_fencing(messages)
    return writes + count_lost_reads(messages)


def within_lost_messages(c, lost) -> str:
    """HOLDS if no more messages are lost now than max_lost_messages, else the reason why not."""
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        lost += count_lost(s.messages[client])
    return within_lost_messages(c, lost)


# --- Situations ----------------------------------------------------------------------------------


def recovery_closes_the_ledger(s: State, c: Constants) -> bool:
    """A recovery closes the ledger."""
    return any(
        s.clients[client].status == "closed" and recovers(s, client)
        for client in range(1, c.clients + 1)
    )


def two_clients_recover_at_once(s: State, c: Constants) -> bool:
    """Two clients recover the ledger at the same time."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == "in_recovery") > 1


def an_acknowledged_entry_was_not_read_yet(s: State, c: Constants) -> bool:
    """A recovery is under way, and has not read an entry that the writer has acknowledged."""
    return any(
        s.clients[k].status == "in_recovery"
        and s.clients[k].last_recoverable_entry == NO_ENTRY
        and s.clients[k].lap < s.clients[other].lac
        for k in range(1, c.clients + 1)
        for other in range(1, c.clients + 1)
        if s.clients[other].recovery_phase == NOT_STARTED
    )


def a_recovery_has_an_ensemble_of_its_own(s: State, c: Constants) -> bool:
    """A recovery has replaced a bookie, and the metadata do not know."""
    return any(
        s.clients[k].status == "in_recovery"
        and s.clients[k].curr_fragment.ensemble != last(s.meta_fragments).ensemble
        for k in range(1, c.clients + 1)
    )
