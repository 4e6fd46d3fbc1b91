"""Bookies: one in limbo answers a read of an entry that it does not have with "unknown"."""

from typing import NamedTuple

from bookkeeper_spec.actions.bookies import (
    bookie_sends_add_confirmed_response as store_and_confirm,
)
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import Bookie, Ledger, SomeEntry, SomeLac, data_of, has_entry
from bookkeeper_spec.model.messages import (
    handle,
    is_earliest_request,
    its_own,
    send,
    sent,
    why_not_handle_add,
)
from bookkeeper_spec.with_limbo.model import Constants, State, same_kind
from protocol_lab import TAKEN, Range, Subset, contains, only, with_node


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
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_request(c, adds, entry, bookie):
            return "another recovery's request for an earlier entry is under way to this bookie"
    return store_and_confirm(s, c, bookie, client, entry, lac, lost)


def bookie_sends_read_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie fences the ledger, and answers: with the entry, that there is none, or unknown."""
    messages = s.messages[client]
    reads = messages.reads[entry - 1]
    if not contains(reads.requests.waiting, bookie):
        return "no read of this entry is under way from the client to this bookie"
    answer = messages.unknown if contains(s.b_limbo, bookie) else messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN
