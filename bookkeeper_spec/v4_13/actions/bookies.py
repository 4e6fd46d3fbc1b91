"""Bookies: they store entries, are fenced, and answer both clients."""

from typing import NamedTuple

from bookkeeper_spec.actions.bookies import fence
from bookkeeper_spec.model.ledger import (
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    data_of,
    has_entry,
    store,
)
from bookkeeper_spec.model.messages import handle, its_own, reply_to, send, sent, why_not_handle_add
from bookkeeper_spec.v4_13.model import W1, SomeWriter
from protocol_lab import TAKEN, Range, Subset, contains, only, with_node


def bookie_sends_add_confirmed_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    writer: SomeWriter,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    adds = s.messages.adds[writer].of[entry - 1]
    reason = why_not_handle_add(c, s.messages.adds[writer], entry, lac, bookie)
    if len(reason) != 0:
        return reason
    if contains(s.b_fenced, bookie) and writer == W1:
        return "the ledger is fenced on this bookie"
    reason = reply_to(adds.requests[lac], adds.confirmed, bookie, lost)
    if len(reason) != 0:
        return reason
    store(s, bookie, entry, adds.data, lac)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of w1."""
    adds = s.messages.adds[W1].of[entry - 1]
    reason = why_not_handle_add(c, s.messages.adds[W1], entry, lac, bookie)
    if len(reason) != 0:
        return reason
    if not contains(s.b_fenced, bookie):
        return "the ledger is not fenced on this bookie"
    return reply_to(adds.requests[lac], adds.refused, bookie, lost)


def bookie_sends_fencing_read_lac_response(
    s: Ledger, c: NamedTuple, bookie: Bookie, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAC."""
    return fence(s, s.messages, bookie, s.b_lac[bookie], lost)


def bookie_sends_read_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie answers a recovery read: with the entry, or that it has no such entry."""
    requests = s.messages.reads[entry - 1].requests
    if not contains(requests.waiting, bookie):
        return "no read of this entry is under way to this bookie"
    answer = s.messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = s.messages.reads[entry - 1].responses[data_of(s, bookie, entry) - 1]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    handle(requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN
