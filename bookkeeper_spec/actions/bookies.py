"""Bookies: they store entries, are fenced, and answer.

Once the ledger is fenced on a bookie, the bookie stores what a recovery sends and refuses all other
adds.
"""

from typing import NamedTuple

from bookkeeper_spec.model.clients import Client, recovers
from bookkeeper_spec.model.ledger import (
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    data_of,
    has_entry,
    store,
)
from bookkeeper_spec.model.messages import its_own, reply_to, why_not_handle_add
from protocol_lab import TAKEN, Range, Subset, contains, with_node

# --- Adds ----------------------------------------------------------------------------------------


def accept_add(s, bookie, client, entry, stamp, lost) -> str:
    """A bookie says that it stores an entry. Once fenced, it does so for a recovery only."""
    adds = s.messages[client].adds.of[entry - 1]
    if contains(s.b_fenced, bookie) and not recovers(s, client):
        return "the ledger is fenced on this bookie"
    return reply_to(adds.requests[stamp], adds.confirmed, bookie, lost)


def refuse_add(s, bookie, client, entry, stamp, lost) -> str:
    """A bookie on which the ledger is fenced refuses an add, unless a recovery asks for it."""
    adds = s.messages[client].adds.of[entry - 1]
    if recovers(s, client):
        return "a recovery's adds are not refused"
    if not contains(s.b_fenced, bookie):
        return "the ledger is not fenced on this bookie"
    return reply_to(adds.requests[stamp], adds.refused, bookie, lost)


def bookie_sends_add_confirmed_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    reason = why_not_handle_add(c, s.messages[client].adds, entry, lac, bookie)
    if len(reason) != 0:
        return reason
    reason = accept_add(s, bookie, client, entry, lac, lost)
    if len(reason) != 0:
        return reason
    store(s, bookie, entry, s.messages[client].adds.of[entry - 1].data, lac)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of the creator."""
    reason = why_not_handle_add(c, s.messages[client].adds, entry, lac, bookie)
    if len(reason) != 0:
        return reason
    return refuse_add(s, bookie, client, entry, lac, lost)


# --- Fencing -------------------------------------------------------------------------------------


def fence(s, messages, bookie, mark, lost) -> str:
    """A bookie fences the ledger at a client's request, and answers with `mark`, the last entry
    that it knows to be confirmed.
    """
    if not contains(messages.fence_requests.waiting, bookie):
        return "no fence request of the client is under way to this bookie"
    reason = reply_to(messages.fence_requests, messages.fence_responses[mark], bookie, lost)
    if len(reason) != 0:
        return reason
    s.b_fenced = with_node(s.b_fenced, bookie)
    return TAKEN


def bookie_sends_fencing_read_lac_response(
    s: Ledger, c: NamedTuple, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAC."""
    return fence(s, s.messages[client], bookie, s.b_lac[bookie], lost)


# --- Reads ---------------------------------------------------------------------------------------


def bookie_sends_read_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie fences the ledger, and answers with the entry or that it has no such entry."""
    reads = s.messages[client].reads[entry - 1]
    if not contains(reads.requests.waiting, bookie):
        return "no read of this entry is under way from the client to this bookie"
    answer = reads.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    reason = reply_to(reads.requests, answer, bookie, lost)
    if len(reason) != 0:
        return reason
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    return TAKEN
