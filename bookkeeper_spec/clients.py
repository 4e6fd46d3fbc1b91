"""What the protocols with any number of clients share: their records, and the actions that agree.

Whichever client comes first creates the ledger; every other may recover it. A client does one or
the other, once: so who has begun a recovery sends adds that are accepted although the ledger is
fenced, and nobody else does.
"""

from typing import NamedTuple

from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    WITHDRAWN,
    Bookie,
    Fragment,
    Ledger,
    bookies_to_choose,
    is_ledger_of_its_type,
    last_fragment,
    no_ensemble,
    store,
)
from bookkeeper_spec.messages import AddMessages, Mail, handle, its_own, send, sent
from bookkeeper_spec.writing import Writer, is_writer_of_its_type
from protocol_lab import (
    HOLDS,
    TAKEN,
    Array,
    Node,
    Seq,
    Struct,
    Subset,
    append,
    contains,
    only,
    with_node,
)

Client = Node("clients")

NOT_STARTED, FENCING = 0, 1
"""The first phases of a recovery."""


class KnownLedger(Writer):
    """What every client has of the ledger."""

    fragments: Seq(Fragment, "send_limit + 1")  # a recoverer's may be ahead of the metadata's


class WriteAndFenceMessages(Struct):
    """The messages between one client and the bookies, but for reads."""

    adds: AddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC


def recovers(s, client) -> bool:
    """Has the client begun to recover the ledger, rather than created it?"""
    return s.clients[client].recovery_phase != NOT_STARTED


# --- Bookies ---------------------------------------------------------------------------------


def add_witnesses(s, c, bookie, client, entry, lac, lost) -> int:
    """The original says "not fenced, or of a recovery", and both may be true."""
    return 2 if recovers(s, client) and not contains(s.b_fenced, bookie) else 1


def confirm_add(s, bookie, client, entry, lac, lost) -> str:
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    adds = s.messages[client].adds.of[entry - 1]
    if contains(s.b_fenced, bookie) and not recovers(s, client):
        return "the ledger is fenced on this bookie"
    if contains(sent(adds.confirmed), bookie):
        return "the bookie has sent this answer before"
    store(s, bookie, entry, adds.data, lac)
    handle(adds.requests[lac], bookie)
    send(adds.confirmed, only(bookie), lost)
    return TAKEN


def refuse_add(s, bookie, client, entry, lac, lost) -> str:
    """A bookie on which the ledger is fenced refuses an add, unless a recovery asks for it."""
    adds = s.messages[client].adds.of[entry - 1]
    if recovers(s, client):
        return "a recovery's adds are not refused"
    if not contains(s.b_fenced, bookie):
        return "the ledger is not fenced on this bookie"
    if contains(sent(adds.refused), bookie):
        return "the bookie has sent this answer before"
    handle(adds.requests[lac], bookie)
    send(adds.refused, only(bookie), lost)
    return TAKEN


def bookie_sends_fencing_read_lac_response(
    s: Ledger, c: NamedTuple, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAC."""
    messages = s.messages[client]
    if not contains(messages.fence_requests.waiting, bookie):
        return "no fence request of the client is under way to this bookie"
    answer = messages.fence_responses[s.b_lac[bookie]]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(messages.fence_requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- The creator -----------------------------------------------------------------------------


def first_ensembles(s, c) -> int:
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == NIL else no_ensemble(c)


def client_creates_ledger(
    s: Ledger, c: NamedTuple, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble; the bookies are not told."""
    mine = s.clients[client]
    if s.meta_status != NIL or mine.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = OPEN
    s.meta_version = 1
    mine.status = OPEN
    mine.meta_version = 1
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    return TAKEN


def its_ensemble(s, client) -> int:
    """The bookies to which the creator sends what it adds."""
    return s.clients[client].curr_fragment.ensemble if s.clients[client].status == OPEN else 0


def receive_refusal(s, client, bookie, entry) -> str:
    """The creator hears that the ledger is fenced: somebody recovers it, and it withdraws."""
    mine = s.clients[client]
    if not contains(mine.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    mine.status = WITHDRAWN
    handle(s.messages[client].adds.of[entry - 1].refused, bookie)
    return TAKEN


def client_closes_ledger_success(s: Ledger, c: NamedTuple, client: Client):
    """The creator closes the ledger at its LAC, whenever it likes, if it knows the metadata."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = mine.lac
    mine.meta_version = s.meta_version
    mine.status = CLOSED
    return TAKEN


# --- Recovery --------------------------------------------------------------------------------


def can_be_recovered(s) -> bool:
    """Is the ledger open, or does another recover it already?"""
    return s.meta_status == OPEN or s.meta_status == IN_RECOVERY


def last_ensemble(s) -> int:
    """The bookies that a recovery fences."""
    return last_fragment(s.meta_fragments).ensemble if can_be_recovered(s) else 0


def start_recovery(s, client, lost) -> str:
    """Set the status and take the version, so that an older recovery can't close any more."""
    mine = s.clients[client]
    if mine.status != NIL:
        return "the client has had its part in this ledger"
    if not can_be_recovered(s):
        return "the ledger does not exist, or is closed"
    s.meta_status = IN_RECOVERY
    s.meta_version += 1
    mine.status = IN_RECOVERY
    mine.meta_version = s.meta_version
    mine.recovery_phase = FENCING
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    send(s.messages[client].fence_requests, mine.curr_fragment.ensemble, lost)
    return TAKEN


def recovery_start(mine, lac) -> int:
    """Where a recovery begins: after a bookie's LAC, and no earlier than the last fragment."""
    return max(lac, mine.curr_fragment.first_entry_id - 1)


# --- Types -----------------------------------------------------------------------------------


def are_clients_of_their_type(s, c) -> bool:
    """Are the clients' records what they are declared to be?"""
    return all(is_writer_of_its_type(c, s.clients[client]) for client in range(1, c.clients + 1))


def type_ok(s: Ledger, c: NamedTuple):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c):
        return "the metadata or a bookie hold what they can't"
    if not are_clients_of_their_type(s, c):
        return "a client holds what it can't"
    return HOLDS


def ledger_is_closed(s, c) -> bool:
    """The ledger is closed, and a client knows."""
    return s.meta_status == CLOSED and any(
        s.clients[client].status == CLOSED for client in range(1, c.clients + 1)
    )
