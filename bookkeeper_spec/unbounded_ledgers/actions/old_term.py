"""A term ends: bookies reject what comes from an older term than they know of, and its client
withdraws.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import withdraw
from bookkeeper_spec.guaranteed_write_quorum.actions.bookies import why_not_come_to
from bookkeeper_spec.guaranteed_write_quorum.model import SomeMark, stamp
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import Bookie, Ledger
from bookkeeper_spec.model.messages import handle, is_earliest_answer, its_own, reply_to
from bookkeeper_spec.unbounded_ledgers.model import is_stale
from protocol_lab import TAKEN, Named, Range, Subset, contains

ADD, FENCE, READ = range(3)

Kind = Named(("add", "fence", "read"))


def bookie_rejects_request(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    kind: Kind,
    entry: Range(0, "send_limit"),
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie rejects what comes from an older term.

    Only adds carry a LAC and LAFR, and a fence request is about no entry: those are 0.
    """
    messages = s.messages[client]
    if not is_stale(s, bookie, client):
        return "the client's term is no older than the bookie's"
    if (entry == 0) != (kind == FENCE) or (kind != ADD and lac + lafr > 0):
        return "there is no such request"
    request, answer = messages.fence_requests, messages.fence_refused
    if kind == ADD:
        reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
        if len(reason) != 0:
            return reason
        request = messages.adds.of[entry - 1].requests[stamp(c, lac, lafr)]
        answer = messages.adds.of[entry - 1].refused
    elif kind == READ:
        request, answer = messages.reads[entry - 1].requests, messages.read_refused
    if not contains(request.waiting, bookie):
        return "no such request is under way to this bookie"
    return reply_to(request, answer, bookie, lost)


def client_withdraws(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    kind: Kind,
    entry: Range(0, "send_limit"),
):
    """A client hears that its term is old, and gives up. The entry is that of an add, else 0."""
    mine, messages = s.clients[client], s.messages[client]
    if (entry != 0) != (kind == ADD):
        return "there is no such answer"
    answer = messages.fence_refused
    if kind == ADD:
        answer = messages.adds.of[entry - 1].refused
        if not is_earliest_answer(messages.adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    elif kind == READ:
        answer = messages.read_refused
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    withdraw(mine)
    handle(answer, bookie)
    return TAKEN
