"""A proposal: a ledger that is written by one client after the other, and need not end.

In today's protocol a ledger has one writer, and a client that takes over closes it and goes on in
another. Here a client that takes over begins a new term of the same ledger. What differs from
`bookkeeper.guaranteed_write_quorum`, on which this is built:

1. The ledger has a term. A client that takes over raises it in the metadata, then on the bookies.
2. Fencing is by term: bookies reject every request of an older term than they know of, and raise
   theirs if the request's is newer. A client that is rejected withdraws.
3. Recovery is how a term begins: read what there is, write it back, and open the ledger again.
4. A recovery's last write is an empty entry (NoOp) that truncates: the bookies delete whatever they
   have beyond it. So the same id may have other data in a later term, and the data have to be told
   from the ids: clients write values, 1, 2, 3, ..., each of which is sent once. `sent_values` and
   `acked_values` count them for the invariants.
5. A recovery sends the LAC and the LAFR with which it began.

To read: `model`, then what is below; bookies are replaced as in `guaranteed_write_quorum`.

What breaks: tail_fragments_reach_write_quorum, in 9 states, and in 29 states
all_entries_of_closed_ledger_reached_write_quorum. The LAFR is counted from the LAC, and not from
the LAFR: what is acknowledged but not on a write quorum is taken for fully replicated as soon as
another confirmation arrives. So a fragment is left, or a ledger closed, with an entry that is on
one bookie of two. With `count_from_lafr`, which counts from the LAFR, both hold with the default
constants and no loss. `liveness` holds where no message is lost and late reads are ignored, and is
false elsewhere.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way (see `ignore_late_reads`). A client that has withdrawn
goes on hearing that bookies are fenced. A rejected read does not say which entry it was about, so a
bookie can reject one read of a client and no more. The NoOp of a recovery counts as an acknowledged
value if its last confirmation arrives after the ledger was opened again.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble, clients
that come back once they have withdrawn.

Source: tweaks/ProtocolUnboundedLedgersAndGWQ.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec import guaranteed_write_quorum, model, properties
from bookkeeper_spec.draw.events import unbounded_events
from bookkeeper_spec.draw.ledger import draw_unbounded_ledgers
from bookkeeper_spec.guaranteed_write_quorum import STAMPS, SomeMark, keep_marks, stamp, stamp_of
from bookkeeper_spec.guaranteed_write_quorum import client_closes_ledger_success as close_as_in_gwq
from bookkeeper_spec.model import *
from bookkeeper_spec.properties import (
    all_acked_entries_are_readable,
    are_clients_of_their_type,
    count_lost,
    is_ledger_of_its_type,
    within_lost_messages,
)
from bookkeeper_spec.protocol import ledger_spec
from bookkeeper_spec.recovery import (
    NEED_MORE_RESPONSES,
    NO_SUCH_ENTRY,
    SomeData,
    ask_for_next_entry,
    count_reads_under_way,
    hear_of_fence,
    its_recovery_ensemble,
    its_write_ensemble,
    last_ensemble,
    read_status,
    read_time_outs,
    recovery_start,
    start_recovery,
    take_answer,
    why_not_decide,
    why_not_end_recovery,
    why_not_hear_answer,
    write_back,
)
from bookkeeper_spec.writing import (
    add_pending_op,
    confirmed_from,
    create_ledger,
    drop_pending_ops,
    first_ensembles,
    its_ensemble,
    its_new_bookies,
    note_confirmation,
    publish_fragments,
    resend_pending_op,
    send_next_entry,
    why_not_add,
    withdraw,
)
from protocol_lab import *

# --- Constants and state: terms ------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has `Values`, and as many entry ids as values and terms after the first. Here the
    number of ids is given, as in the other protocols of a ledger: `values` follows from it.
    """

    bookies: model.BookieCount = 2
    clients: Annotated[int, Limits(1, 4, "clients, each of which may begin a term")] = 2
    write_quorum: model.WriteQuorum = 2
    ack_quorum: model.AckQuorum = 1
    send_limit: Annotated[
        int,
        Limits("clients", 6, "entry ids: one a value, and one a client but the first"),
    ] = 2
    inflight_limit: model.InflightLimit = 1
    max_lost_messages: model.MaxLostMessages = NO_LIMIT
    ensemble_choice: model.EnsembleChoice = "smallest"
    ignore_late_reads: model.IgnoreLateReads = 0
    count_from_lafr: Annotated[int, flag("does the LAFR rise from the LAFR, not from the LAC")] = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "one value, two clients and the smallest ensemble with a replica",
        "violated in 29 states, after 334,540 distinct states",
    ),
)


class TermAdds(Struct):
    """All messages between one client, in its term, and the bookies about adding one entry."""

    data: Int8
    trunc: Int8  # does the entry truncate: 1 or 0
    requests: Array(model.Mail, STAMPS)
    confirmed: model.Mail
    refused: model.Mail  # the term is old


class TermAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(TermAdds, "send_limit")


class ClientMessages(Struct):
    """All that is or was under way between one client and the bookies, in the client's term."""

    adds: TermAddMessages
    fence_requests: model.Mail
    fence_responses: Array(model.Mail, STAMPS)  # by the bookie's LAC and LAFR
    fence_refused: model.Mail
    reads: Array(model.Reads, "send_limit + 1")  # by the entry, from 1
    read_refused: model.Mail  # of whichever entry


class ClientState(model.KnownLedger):
    """A client. It has one term at most; what follows on the LAFR is for recovery."""

    term: Int8  # 0 for none
    lafr: Int8
    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    recovery_lac: Int8
    recovery_lafr: Int8
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    trunc_entry: Int8  # the empty entry that ends the recovery; 0 for none


class State(model.Ledger):
    """The ledger, its clients, the messages, and what was written: the last two are for checks."""

    meta_term: Int8
    b_term: Per(Bookie, Int8)
    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    sent_values: Int8  # so many values were sent, from 1 on
    acked_values: NodeSet(model.EntryId)


def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


def values(c) -> int:
    """How many values there are to be written: 1, 2, 3, ..."""
    return c.send_limit - c.clients + 1


def is_stale(s: State, bookie, client) -> bool:
    """Is the client's term older than the bookie's?"""
    return s.clients[client].term < s.b_term[bookie]


def serve(s: State, bookie, client, request, answer, lost) -> str:
    """A bookie answers a request, unless it is of an older term, and takes a newer term over."""
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    reason = reply_to(request, answer, bookie, lost)
    if reason:
        return reason
    s.b_term[bookie] = s.clients[client].term
    return TAKEN


# --- The writer of a term: creating, adding and closing ------------------------------------------


def client_creates_ledger(
    s: State, c: Constants, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble, and begins the first term; the bookies are not told."""
    reason = create_ledger(s, client, ensemble)
    if reason:
        return reason
    s.meta_term = 1
    s.clients[client].term = 1
    return TAKEN


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The writer sends the next value, with its LAC and LAFR, to its current ensemble."""
    mine, adds = s.clients[client], s.messages[client].adds
    reason = why_not_add(c, mine)
    if reason:
        return reason
    if s.sent_values == values(c):
        return "every value was sent"
    reason = send_next_entry(c, mine, adds, s.sent_values + 1, stamp_of(c, mine), lost)
    if reason:
        return reason
    s.sent_values += 1
    return TAKEN


def bookie_sends_add_confirmed_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie stores an entry instead of what it had, and nothing beyond it if it truncates."""
    messages = s.messages[client].adds
    adds = messages.of[entry - 1]
    reason = why_not_handle_add(messages, entry, stamp(c, lac, lafr), bookie)
    if reason:
        return reason
    reason = serve(s, bookie, client, adds.requests[stamp(c, lac, lafr)], adds.confirmed, lost)
    if reason:
        return reason
    s.b_entries[bookie].data[entry] = only(adds.data)
    if adds.trunc:
        for beyond in range(entry + 1, c.send_limit + 1):
            s.b_entries[bookie].data[beyond] = nodes_up_to(0)
    keep_marks(s, bookie, lac, lafr)
    return TAKEN


def receive_add_confirmed_response(s: State, c: Constants, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is up to the LAFR.

    The original counts the LAFR from the LAC, and takes for fully replicated what an ack quorum
    has: 28 steps to all_entries_of_closed_ledger_reached_write_quorum. `count_from_lafr` counts
    from the LAFR, as the exercise `count_from_the_right_mark` asks for.
    """
    mine, adds = s.clients[client], s.messages[client].adds
    reason = note_confirmation(mine, adds, bookie, entry)
    if reason:
        return reason
    lac = confirmed_from(c, mine, mine.lac, c.ack_quorum)
    known = mine.lafr if c.count_from_lafr else mine.lac
    lafr = confirmed_from(c, mine, known, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    if mine.status == "open" and lac >= entry:
        s.acked_values = with_node(s.acked_values, adds.of[entry - 1].data)
    return TAKEN


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the writer; once an ack quorum has, its caller is told."""
    if s.clients[client].status != "open":
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The writer of the present term closes the ledger at its LAC, once nothing is pending."""
    if s.clients[client].term != s.meta_term:
        return "the ledger is not in the client's term"
    return close_as_in_gwq(s, c, client)


def reasons_to_fail(s: State, c: Constants, client) -> int:
    """How many of these are true: the ledger is not open, has another term, or another version."""
    mine = s.clients[client]
    return (
        (s.meta_status != "open")
        + (mine.term != s.meta_term)
        + (mine.meta_version != s.meta_version)
    )


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The writer tries to close the ledger, but another has taken over: it withdraws."""
    mine = s.clients[client]
    if mine.status != "open":
        return "the client has no open ledger"
    if reasons_to_fail(s, c, client) == 0:
        return "nobody has changed the metadata"
    withdraw(mine)
    return TAKEN


# --- A term ends: bookies reject what is of an older one, and its client withdraws ---------------

Kind = Named("add", "fence", "read")


def bookie_rejects_request(
    s: State,
    c: Constants,
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
    if (entry == 0) != (kind == "fence") or (kind != "add" and lac + lafr > 0):
        return "there is no such request"
    request, answer = messages.fence_requests, messages.fence_refused
    if kind == "add":
        reason = why_not_handle_add(messages.adds, entry, stamp(c, lac, lafr), bookie)
        if reason:
            return reason
        request = messages.adds.of[entry - 1].requests[stamp(c, lac, lafr)]
        answer = messages.adds.of[entry - 1].refused
    elif kind == "read":
        request, answer = messages.reads[entry - 1].requests, messages.read_refused
    if bookie not in request.waiting:
        return "no such request is under way to this bookie"
    return reply_to(request, answer, bookie, lost)


def client_withdraws(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    kind: Kind,
    entry: Range(0, "send_limit"),
):
    """A client learns that its term is old, and gives up. The entry is that of an add, else 0."""
    mine, messages = s.clients[client], s.messages[client]
    if (entry != 0) != (kind == "add"):
        return "there is no such answer"
    answer = messages.fence_refused
    if kind == "add":
        answer = messages.adds.of[entry - 1].refused
        if not is_earliest_answer(messages.adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    elif kind == "read":
        answer = messages.read_refused
    if bookie not in answer.waiting:
        return "no such answer is under way from this bookie"
    withdraw(mine)
    handle(answer, bookie)
    return TAKEN


# --- A term begins: fencing ----------------------------------------------------------------------


def client_starts_new_term(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client takes over: it raises the term in the metadata, and asks the last ensemble to."""
    mine = s.clients[client]
    reason = start_recovery(s, client, lost)
    if reason:
        return reason
    s.meta_term += 1
    mine.term = s.meta_term
    mine.recovery_ensemble = mine.curr_fragment.ensemble
    return TAKEN


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie takes the new term over, and tells its LAC and LAFR."""
    messages = s.messages[client]
    answer = messages.fence_responses[stamp(c, s.b_lac[bookie], s.b_lafr[bookie])]
    if bookie not in messages.fence_requests.waiting:
        return "no fence request of the client is under way to this bookie"
    return serve(s, bookie, client, messages.fence_requests, answer, lost)


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeMark, lafr: SomeMark
):
    """A recovery learns that a bookie has its term, and begins after the highest LAFR so far."""
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[stamp(c, lac, lafr)], bookie)
    if reason:
        return reason
    start = recovery_start(mine, lafr)
    mine.recovery_lafr = max(mine.recovery_lafr, start)
    mine.recovery_lac = max(mine.recovery_lac, recovery_start(mine, lac))
    mine.lap = max(mine.lap, start)
    return TAKEN


# --- A term begins: reading ----------------------------------------------------------------------


def client_sends_recovery_read_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left with an older term."""
    return ask_for_next_entry(s, c, client, s.clients[client].trunc_entry != 0, lost)


def bookie_sends_read_response(
    s: State, c: Constants, bookie: Bookie, client: Client, entry: SomeEntry, lost: Subset(its_own)
):
    """A bookie takes the term over, and answers with the entry or that it has no such entry."""
    reads = s.messages[client].reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way from the client to this bookie"
    answer = answer_from(s, c, bookie, reads, entry, reads.no_such_entry)
    return serve(s, bookie, client, reads.requests, answer, lost)


def client_receives_recovery_read_response(
    s: State, c: Constants, client: Client, bookie: Bookie, data: SomeData
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. Where there is no entry, an
    empty one that truncates ends the recovery. If nothing can be known, it is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    ensemble = mine.recovery_ensemble
    reason = why_not_hear_answer(s, client, bookie, data)
    if reason:
        return reason
    time_outs = read_time_outs(messages) | messages.read_refused.lost
    status = read_status(c, mine, bookie, data, time_outs)
    under_way = count_reads_under_way(messages, ensemble)
    reason = why_not_decide(c, status, under_way + len(messages.read_refused.waiting & ensemble))
    if reason:
        return reason
    entry = mine.curr_read_entry
    take_answer(s, c, client, bookie, data, status)
    if status != NEED_MORE_RESPONSES:
        ignore(messages.read_refused, ensemble)
    if status == NO_SUCH_ENTRY:
        mine.lap += 1
        mine.trunc_entry = entry
        messages.adds.of[entry - 1].trunc = 1
        add_pending_op(mine, entry, c.send_limit)  # an empty entry, NoOp: no value has this number
    return TAKEN


# --- A term begins: writing back, and opening ----------------------------------------------------


def recovery_stamp(c, mine) -> int:
    """The stamp of all that a recovery sends."""
    return stamp(c, mine.recovery_lac, mine.recovery_lafr)


def client_performs_recovery_write(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, or its empty last one, to its current ensemble."""
    return write_back(s, client, recovery_stamp(c, s.clients[client]), lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote."""
    if s.clients[client].status != "in_recovery":
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != "in_recovery":
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, recovery_stamp(c, mine), lost)


def client_changes_term_to_open(s: State, c: Constants, client: Client):
    """Everything is written back, and truncated: the client opens the ledger, and may write."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.trunc_entry != 0)
    if reason:
        return reason
    publish_fragments(s, mine)
    s.meta_status = "open"
    mine.status = "open"
    mine.trunc_entry = 0
    mine.recovery_phase = NOT_STARTED
    mine.recovery_lac = 0
    mine.recovery_lafr = 0
    return TAKEN


# --- What is claimed, and what must be reachable --------------------------------------------------


def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    have_terms = all(s.b_term[bookie] >= 0 for bookie in range(1, c.bookies + 1))
    if not have_terms or not is_ledger_of_its_type(s, c):
        return "a value of the metadata or of a bookie is out of range"
    return HOLDS if are_clients_of_their_type(s, c) else "a value of a client is out of range"


def all_committed_ids_are_readable(s: State, c: Constants):
    """Under every id up to a writer's LAC, some bookie of the fragment's ensemble has an entry."""
    return all_acked_entries_are_readable(s, c)


def all_acked_values_are_readable(s: State, c: Constants):
    """Every value that was acknowledged is on some bookie of an ensemble, under whichever id."""
    readable = nodes_up_to(0)
    if s.meta_status != "nil":
        for entry in range(1, c.send_limit + 1):
            for bookie in ensemble_of(s, entry):
                readable |= s.b_entries[bookie].data[entry]
    return HOLDS if is_subset(s.acked_values, readable) else "an acknowledged value is lost"


def no_log_divergence(s: State, c: Constants):
    """Up to their LACs, all bookies of an entry's ensemble that store it have the same data."""
    last = max(s.clients[client].lac for client in range(1, c.clients + 1))
    for entry in range(1, last + 1):
        data = nodes_up_to(0)
        for bookie in ensemble_of(s, entry):
            if s.b_lac[bookie] >= entry:
                data |= s.b_entries[bookie].data[entry]
        if len(data) > 1:
            return "two bookies have different data for the same committed entry"
    return HOLDS


def a_later_term_is_opened(s: State, c: Constants) -> bool:
    """Somebody takes over, and the ledger is open again."""
    return s.meta_status == "open" and s.meta_term > 1


def an_old_writer_withdraws(s: State, c: Constants) -> bool:
    """A client learns that another has taken over."""
    return any(s.clients[k].status == "client_withdrawn" for k in range(1, c.clients + 1))


# --- The bound on a search: how many messages are lost at a time; situations ----------------------


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        refused = len(messages.fence_refused.lost) + len(messages.read_refused.lost)
        lost += count_lost(messages) + refused
    return within_lost_messages(c, lost)


def two_terms_write_at_once(s: State, c: Constants) -> bool:
    """Two clients believe that they are the writer: only one has the term of the metadata."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == "open") > 1


def an_id_has_two_data(s: State, c: Constants) -> bool:
    """Two bookies store different data under the same id, which is allowed beyond their LACs."""
    for entry in range(1, c.send_limit + 1):
        data = nodes_up_to(0)
        for bookie in range(1, c.bookies + 1):
            data |= s.b_entries[bookie].data[entry]
        if len(data) > 1:
            return True
    return False


# --- The spec ------------------------------------------------------------------------------------

spec = ledger_spec(
    "unbounded_ledgers",
    __doc__,
    original="ProtocolUnboundedLedgersAndGWQ",
    draw=draw_unbounded_ledgers,
    state=State,
    constants=Constants,
    init=init,
    events=unbounded_events,
    tlc="bookkeeper_spec.tlc",
    configurations=CONFIGURATIONS,
)

spec.action(bookie_rejects_request)
spec.action(bookie_sends_add_confirmed_response)
spec.action(bookie_sends_fencing_read_lafr_response)
spec.action(bookie_sends_read_response)
spec.action(client_withdraws)
spec.action(client_creates_ledger)
spec.action(client_sends_add_entry_requests)
spec.action(client_receives_add_confirmed_response)
spec.action(guaranteed_write_quorum.client_changes_ensemble)
spec.action(guaranteed_write_quorum.client_resends_pending_add_op)
spec.action(client_closes_ledger_success)
spec.action(client_closes_ledger_fail)
spec.action(client_starts_new_term)
spec.action(client_receives_fencing_read_lafr_response)
spec.action(client_sends_recovery_read_requests)
spec.action(client_receives_recovery_read_response)
spec.action(client_performs_recovery_write)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(guaranteed_write_quorum.recovery_client_changes_ensemble)
spec.action(recovery_client_sends_pending_add_op)
spec.action(client_changes_term_to_open)

spec.invariant(type_ok)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(all_committed_ids_are_readable)
spec.invariant(all_acked_values_are_readable)
spec.invariant(guaranteed_write_quorum.no_dirty_reads)
spec.invariant(guaranteed_write_quorum.tail_fragments_reach_write_quorum)
spec.invariant(guaranteed_write_quorum.all_entries_of_closed_ledger_reached_write_quorum)
spec.invariant(no_log_divergence)
spec.constraint(max_lost_messages)
spec.situation(a_later_term_is_opened, expected=True)
spec.situation(an_old_writer_withdraws, expected=True)
spec.property(properties.liveness)
spec.weakly_fair(NEXT)

spec.situation(two_terms_write_at_once)
spec.situation(an_id_has_two_data)
