"""A proposal: a ledger that is written by one client after the other, and need not end.

In today's protocol a ledger has one writer, and whoever takes over closes it and goes on in
another. Here a client that takes over begins a new term of the same ledger. What differs from
`bookkeeper.guaranteed_write_quorum`, on which this is built:

1. The ledger has a term. Who takes over raises it in the metadata, and then on the bookies.
2. Fencing is by term: bookies reject every request of an older term than they know of, and raise
   theirs if the request's is newer. Who is rejected withdraws.
3. Recovery is how a term begins: read what there is, write it back, and open the ledger again.
4. A recovery's last write is an empty entry (NoOp) that truncates: the bookies delete whatever they
   have beyond it. So the same id may have other data in a later term, and the data have to be told
   from the ids: what clients want to write are values, and each is sent once.
5. A recovery sends the LAC and the LAFR with which it began.

What breaks: tail_fragments_reach_write_quorum, in 9 states, and in 29 states
all_entries_of_closed_ledger_reached_write_quorum. The LAFR is counted from the LAC, and not from
the LAFR: what is acknowledged but not on a write quorum is taken for fully replicated as soon as
another confirmation arrives. So a fragment is left, or a ledger closed, with an entry that is on
one bookie of two. That is the original as written; `count_from_lafr` counts from the LAFR, and
with the default constants and no loss both hold.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way (see `ignore_late_reads`). A client that has withdrawn
goes on hearing that bookies are fenced. A rejected read does not say which entry it was about, so a
bookie can reject one read of a client and no more. The NoOp of a recovery counts as an acknowledged
value if its last confirmation arrives after the ledger was opened again.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble, clients
that come back once they have withdrawn.

Source: ProtocolUnboundedLedgersAndGWQ in the BookKeeper specifications.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec import protocol
from bookkeeper_spec.clients import (
    FENCING,
    NOT_STARTED,
    Client,
    KnownLedger,
    are_clients_of_their_type,
    first_ensembles,
    last_ensemble,
    recovery_start,
)
from bookkeeper_spec.draw.events import client_lifelines, unbounded_events
from bookkeeper_spec.draw.ledger import draw_unbounded_ledgers
from bookkeeper_spec.guaranteed_write_quorum import (
    SomeMark,
    all_entries_of_closed_ledger_reached_write_quorum,
    change_witnesses,
    client_changes_ensemble,
    no_dirty_reads,
    no_divergence_between_client_and_meta_data,
    recovery_client_changes_ensemble,
    resend_pending_add_op,
    stamp,
    stamp_of,
    tail_fragments_reach_write_quorum,
)
from bookkeeper_spec.ledger import (
    ABORTED,
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    SMALLEST,
    WITHDRAWN,
    Bookie,
    EntryId,
    Fragment,
    SomeEntry,
    Status,
    StoredEntries,
    alike,
    data_of,
    fragment_of_entry,
    has_entry,
    last_fragment,
)
from bookkeeper_spec.messages import (
    Mail,
    count_lost_of,
    handle,
    ignore,
    is_earliest_answer,
    its_own,
    send,
    sent,
    were_adds_sent,
)
from bookkeeper_spec.protocol import (
    NEED_MORE_RESPONSES,
    NO_SUCH_ENTRY,
    OK,
    READ_WRITE,
    UNKNOWN,
    all_acked_entries_are_readable,
    answer_to_read,
    count_reads_under_way,
    has_quorum_coverage,
    ignore_reads_under_way,
    its_new_bookies,
    its_recovery_ensemble,
    its_write_ensemble,
    read_time_outs,
    resend_witnesses,
    why_not_answer,
)
from bookkeeper_spec.writing import (
    add_pending_op,
    next_to_write_back,
    position_of_op,
    send_adds,
)
from protocol_lab import (
    HOLDS,
    NO_LIMIT,
    TAKEN,
    Array,
    Int8,
    Limits,
    Named,
    NodeSet,
    Per,
    Range,
    Seq,
    Spec,
    Struct,
    Subset,
    append,
    choice,
    contains,
    flag,
    is_subset,
    members,
    nodes_up_to,
    only,
    size,
    take,
    with_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has `Values`, and as many entry ids as values and terms after the first. Here the
    number of ids is given, as in the other protocols of a ledger: `values` follows from it.
    """

    bookies: Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))] = 2
    clients: Annotated[int, Limits(1, 4, "clients, each of which may begin a term", (2, 3, 4))] = 2
    write_quorum: Annotated[int, Limits(1, "bookies", "bookies that store each entry")] = 2
    ack_quorum: Annotated[
        int, Limits(1, "write_quorum", "bookies that have to confirm each entry")
    ] = 1
    send_limit: Annotated[
        int,
        Limits(
            "clients", 6, "entry ids: one a value, and one a client but the first", (1, 2, 4, 6)
        ),
    ] = 2
    inflight_limit: Annotated[int, Limits(1, 6, "entries that may be unconfirmed at a time")] = 1
    max_lost_messages: Annotated[
        int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
    ] = NO_LIMIT
    ensemble_choice: Annotated[
        int, choice("smallest", "any", meaning="which available ensemble is taken")
    ] = SMALLEST
    ignore_late_reads: Annotated[
        int, flag("are reads that are under way ignored once an entry is decided about")
    ] = 0
    count_from_lafr: Annotated[int, flag("does the LAFR rise from the LAFR, not from the LAC")] = 0


def values(c) -> int:
    """How many values there are to be written: 1, 2, 3, ..."""
    return c.send_limit - c.clients + 1


def no_op(c) -> int:
    """The data of an empty entry. It is no value: no client but the first writes one."""
    return c.send_limit


# --- State -----------------------------------------------------------------------------------


class TermAdds(Struct):
    """All that one client, in its term, and the bookies tell each other about adding one entry."""

    data: Int8
    trunc: Int8  # does the entry truncate: 1 or 0
    requests: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # by LAC and LAFR: see `stamp`
    confirmed: Mail
    refused: Mail  # the term is old


class TermAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(TermAdds, "send_limit")


class ClientMessages(Struct):
    """All that is or was under way between one client and the bookies, in the client's term."""

    adds: TermAddMessages
    fence_requests: Mail
    fence_responses: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # the bookie's LAC and LAFR
    fence_refused: Mail
    reads: Array(protocol.Reads, "send_limit + 1")  # by the entry, from 1
    read_refused: Mail  # of whichever entry


class ClientState(KnownLedger):
    """A client. It has one term at most; what follows on the LAFR is for recovery."""

    term: Int8  # 0 for none
    lafr: Int8
    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    recovery_lac: Int8
    recovery_lafr: Int8
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    trunc_entry: Int8  # the empty entry that ends the recovery; 0 for none


class State(Struct):
    """The ledger, its clients, the messages, and what was written: the last two are for checks."""

    meta_status: Status
    meta_term: Int8
    meta_fragments: Seq(Fragment, "send_limit + 1")
    meta_last_entry: Int8  # known once the ledger is closed
    meta_version: Int8
    b_entries: Per(Bookie, StoredEntries)
    b_term: Per(Bookie, Int8)
    b_lac: Per(Bookie, Int8)
    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    sent_values: Int8  # so many values were sent, from 1 on
    acked_values: NodeSet(EntryId)


# --- Terms -----------------------------------------------------------------------------------

ADD, FENCE, READ = range(3)
Kind = Named(("add", "fence", "read"))


def is_stale(s, bookie, client) -> bool:
    """Is the client's term older than the bookie's?"""
    return s.clients[client].term < s.b_term[bookie]


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
    if (entry == 0) != (kind == FENCE) or (kind != ADD and lac + lafr > 0):
        return "there is no such request"
    request, answer = messages.fence_requests, messages.fence_refused
    if kind == ADD:
        reason = why_not_answer(s, c, bookie, client, entry, stamp(c, lac, lafr))
        if len(reason) != 0:
            return reason
        request = messages.adds.of[entry - 1].requests[stamp(c, lac, lafr)]
        answer = messages.adds.of[entry - 1].refused
    elif kind == READ:
        request, answer = messages.reads[entry - 1].requests, messages.read_refused
    if not contains(request.waiting, bookie):
        return "no such request is under way to this bookie"
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    handle(request, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def client_withdraws(
    s: State,
    c: Constants,
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
    mine.status = WITHDRAWN
    mine.meta_version = 0
    handle(answer, bookie)
    return TAKEN


# --- Creating and adding -----------------------------------------------------------------------


def client_creates_ledger(
    s: State, c: Constants, client: Client, ensemble: Subset(first_ensembles, "write_quorum")
):
    """A client chooses the first ensemble, and begins the first term; the bookies are not told."""
    mine = s.clients[client]
    if s.meta_status != NIL or mine.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = OPEN
    s.meta_term = 1
    s.meta_version = 1
    mine.status = OPEN
    mine.meta_version = 1
    mine.term = 1
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    return TAKEN


def its_ensemble(s, client) -> int:
    """The bookies to which the writer sends what it adds."""
    return s.clients[client].curr_fragment.ensemble if s.clients[client].status == OPEN else 0


def unsent_values(s, c, client, lost) -> int:
    """The original asks whether there is a value that was not sent: as often as there is one."""
    return values(c) - s.sent_values


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The writer sends the next value, with its LAC and LAFR, to its current ensemble."""
    mine, messages = s.clients[client], s.messages[client].adds
    entry, ensemble = mine.lap + 1, mine.curr_fragment.ensemble
    if mine.status != OPEN:
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "as many entries as may be are unconfirmed"
    if s.sent_values == values(c):
        return "every value was sent"
    if were_adds_sent(messages.of[entry - 1], stamp_of(c, mine), ensemble):
        return "this very request was sent before"
    s.sent_values += 1
    send_adds(messages.of[entry - 1], s.sent_values, stamp_of(c, mine), ensemble, lost)
    mine.lap = entry
    add_pending_op(mine, entry, s.sent_values)
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
    reason = why_not_answer(s, c, bookie, client, entry, stamp(c, lac, lafr))
    if len(reason) != 0:
        return reason
    adds = s.messages[client].adds.of[entry - 1]
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    if contains(sent(adds.confirmed), bookie):
        return "the bookie has sent this answer before"
    s.b_term[bookie] = s.clients[client].term
    s.b_entries[bookie].data[entry] = only(adds.data)
    if adds.trunc:
        for beyond in range(entry + 1, c.send_limit + 1):
            s.b_entries[bookie].data[beyond] = 0
    s.b_lac[bookie] = max(s.b_lac[bookie], lac)
    s.b_lafr[bookie] = max(s.b_lafr[bookie], lafr)
    handle(adds.requests[stamp(c, lac, lafr)], bookie)
    send(adds.confirmed, only(bookie), lost)
    return TAKEN


def reached(mine, known, quorum) -> int:
    """The last entry that was sent up to which, from `known` on, so many bookies confirmed all."""
    entry = known
    while entry < mine.lap and size(mine.confirmed[entry + 1]) >= quorum:
        entry += 1
    return entry


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is up to the LAFR."""
    mine, adds = s.clients[client], s.messages[client].adds
    mail = adds.of[entry - 1].confirmed
    if not contains(mail.waiting, bookie):
        return "no confirmation of this entry is under way from this bookie"
    if not is_earliest_answer(adds, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if not contains(mine.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    handle(mail, bookie)
    mine.confirmed[entry] = with_node(mine.confirmed[entry], bookie)
    lac = reached(mine, mine.lac, c.ack_quorum)
    lafr = reached(mine, mine.lafr if c.count_from_lafr else mine.lac, c.write_quorum)
    mine.lac = lac
    mine.lafr = max(mine.lafr, lafr)
    position = 0
    while position < mine.pending_add_ops.size:
        if mine.pending_add_ops.items[position].entry.id <= lafr:
            take(mine.pending_add_ops, mine.pending_add_ops.items[position])
        else:
            position += 1
    if mine.status == OPEN and lac >= entry:
        s.acked_values = with_node(s.acked_values, adds.of[entry - 1].data)
    return TAKEN


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the writer: on an ack quorum, its caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def client_resends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the writer sends a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    return resend_pending_add_op(s, c, client, entry, stamp_of(c, mine), lost)


# --- Closing -----------------------------------------------------------------------------------


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The writer of the present term closes the ledger at its LAC, once nothing is pending."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version or mine.term != s.meta_term:
        return "the metadata have changed since the client read them"
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum, as far as the client knows"
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = mine.lac
    mine.meta_version = s.meta_version
    mine.status = CLOSED
    return TAKEN


def reasons_to_fail(s, c, client) -> int:
    """The original says "not open, or another term, or another version": how many are true."""
    mine = s.clients[client]
    return (
        (s.meta_status != OPEN) + (mine.term != s.meta_term) + (mine.meta_version != s.meta_version)
    )


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The writer tries to close the ledger, but another has taken over: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    if reasons_to_fail(s, c, client) == 0:
        return "nobody has changed the metadata"
    mine.status = WITHDRAWN
    mine.meta_version = 0
    return TAKEN


# --- A term begins: fencing --------------------------------------------------------------------


def client_starts_new_term(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client takes over: it raises the term in the metadata, and asks the last ensemble to."""
    mine = s.clients[client]
    if mine.status != NIL:
        return "the client has had its part in this ledger"
    if s.meta_status != OPEN and s.meta_status != IN_RECOVERY:
        return "the ledger does not exist, or is closed"
    s.meta_status = IN_RECOVERY
    s.meta_version += 1
    s.meta_term += 1
    mine.status = IN_RECOVERY
    mine.meta_version = s.meta_version
    mine.term = s.meta_term
    mine.recovery_phase = FENCING
    mine.fragments = s.meta_fragments
    mine.curr_fragment = last_fragment(s.meta_fragments)
    mine.recovery_ensemble = mine.curr_fragment.ensemble
    send(s.messages[client].fence_requests, mine.recovery_ensemble, lost)
    return TAKEN


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie takes the new term over, and tells its LAC and LAFR."""
    messages = s.messages[client]
    if not contains(messages.fence_requests.waiting, bookie):
        return "no fence request of the client is under way to this bookie"
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    answer = messages.fence_responses[stamp(c, s.b_lac[bookie], s.b_lafr[bookie])]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_term[bookie] = s.clients[client].term
    handle(messages.fence_requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeMark, lafr: SomeMark
):
    """A recovery hears that a bookie has its term, and begins after the highest LAFR so far."""
    mine, answer = s.clients[client], s.messages[client].fence_responses[stamp(c, lac, lafr)]
    if mine.recovery_phase != FENCING:
        return "the client does not wait for bookies to be fenced"
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    start = recovery_start(mine, lafr)
    mine.fenced = with_node(mine.fenced, bookie)
    mine.recovery_lafr = max(mine.recovery_lafr, start)
    mine.recovery_lac = max(mine.recovery_lac, recovery_start(mine, lac))
    mine.lap = max(mine.lap, start)
    handle(answer, bookie)
    return TAKEN


# --- A term begins: reading --------------------------------------------------------------------


def client_sends_recovery_read_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left with an older term."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    if mine.recovery_phase == FENCING:
        if not has_quorum_coverage(c, size(mine.fenced), size(mine.recovery_ensemble)):
            return "there may be an ack quorum of bookies with an older term"
    elif mine.trunc_entry != 0:
        return "the recovery has read all there is"
    elif mine.curr_read_entry != 0:
        return "the recovery waits for answers to its last read"
    mine.recovery_phase = READ_WRITE
    mine.curr_read_entry = mine.lap + 1
    mine.fenced = 0
    send(s.messages[client].reads[mine.lap].requests, mine.recovery_ensemble, lost)
    return TAKEN


def bookie_sends_read_response(
    s: State, c: Constants, bookie: Bookie, client: Client, entry: SomeEntry, lost: Subset(its_own)
):
    """A bookie takes the term over, and answers with the entry or that it has no such entry."""
    reads = s.messages[client].reads[entry - 1]
    if not contains(reads.requests.waiting, bookie):
        return "no read of this entry is under way from the client to this bookie"
    if is_stale(s, bookie, client):
        return "the client's term is older than the bookie's"
    answer = reads.no_such_entry
    if has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_term[bookie] = s.clients[client].term
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def read_status(s, c, client, bookie, data) -> int:
    """What the recovery knows of its present entry with this answer."""
    mine, messages = s.clients[client], s.messages[client]
    negative = size(with_node(mine.read_responses, bookie))
    if data > 0:
        return OK
    if has_quorum_coverage(c, negative, c.write_quorum):
        return NO_SUCH_ENTRY
    time_outs = read_time_outs(c, messages) | messages.read_refused.lost
    heard = negative + size(mine.recovery_ensemble & time_outs)
    return UNKNOWN if heard == c.write_quorum else NEED_MORE_RESPONSES


def client_receives_recovery_read_response(
    s: State, c: Constants, client: Client, bookie: Bookie, data: Range(0, "send_limit")
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. Where there is no entry, an
    empty one that truncates ends the recovery. If nothing can be known, it is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    if mine.status != IN_RECOVERY or mine.curr_read_entry == 0:
        return "the client does not wait for answers to a read"
    if not contains(answer_to_read(s, client, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    status = read_status(s, c, client, bookie, data)
    under_way = count_reads_under_way(c, messages, mine.recovery_ensemble)
    under_way += size(messages.read_refused.waiting & mine.recovery_ensemble)
    if status != NEED_MORE_RESPONSES and under_way > 1 and not c.ignore_late_reads:
        return "the answer would decide, but other reads of the recovery are under way"
    handle(answer_to_read(s, client, data), bookie)
    if status == NEED_MORE_RESPONSES:
        mine.read_responses = with_node(mine.read_responses, bookie)
        return TAKEN
    ignore_reads_under_way(c, messages, mine.recovery_ensemble)
    ignore(messages.read_refused, mine.recovery_ensemble)
    entry = mine.curr_read_entry
    mine.curr_read_entry = 0
    mine.read_responses = 0
    if status == OK:
        mine.lap += 1
        add_pending_op(mine, entry, data)
        return TAKEN
    mine.recovery_ensemble = 0
    if status == UNKNOWN:
        mine.status = ABORTED
        return TAKEN
    mine.lap += 1
    mine.trunc_entry = entry
    messages.adds.of[entry - 1].trunc = 1
    add_pending_op(mine, entry, no_op(c))
    return TAKEN


# --- A term begins: writing back, and opening --------------------------------------------------


def recovery_stamp(c, mine) -> int:
    """The stamp of all that a recovery sends."""
    return stamp(c, mine.recovery_lac, mine.recovery_lafr)


def client_performs_recovery_write(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, or its empty last one, to its current ensemble."""
    mine, messages = s.clients[client], s.messages[client].adds
    if mine.status != IN_RECOVERY or mine.recovery_phase != READ_WRITE:
        return "the client does not read and write as a recovery does"
    entry = next_to_write_back(c, mine, messages)
    if entry == 0:
        return "every entry that was read was written back"
    data = mine.pending_add_ops.items[position_of_op(mine, entry)].entry.data
    ensemble = mine.curr_fragment.ensemble
    send_adds(messages.of[entry - 1], data, recovery_stamp(c, mine), ensemble, lost)
    return TAKEN


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_add_op(s, c, client, entry, recovery_stamp(c, mine), lost)


def client_changes_term_to_open(s: State, c: Constants, client: Client):
    """Everything is written back, and truncated: the client opens the ledger, and may write."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is open or closed"
    if mine.recovery_phase != READ_WRITE or mine.trunc_entry == 0:
        return "the recovery has not read all there is"
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum, as far as the client knows"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    s.meta_status = OPEN
    mine.status = OPEN
    mine.meta_version = s.meta_version
    mine.trunc_entry = 0
    mine.recovery_phase = NOT_STARTED
    mine.recovery_lac = 0
    mine.recovery_lafr = 0
    return TAKEN


# --- The protocol ------------------------------------------------------------------------------

spec = Spec(
    "bookkeeper.unbounded_ledgers",
    State,
    Constants,
    __doc__,
    draw=draw_unbounded_ledgers,
    original="ProtocolUnboundedLedgersAndGWQ",
    lifelines=(client_lifelines,),
    events=unbounded_events,
)

spec.symmetric(Bookie, among=alike)
spec.symmetric(Client)


@spec.init
def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


spec.action(bookie_rejects_request)
spec.action(bookie_sends_add_confirmed_response)
spec.action(bookie_sends_fencing_read_lafr_response)
spec.action(bookie_sends_read_response)
spec.action(client_withdraws)
spec.action(client_creates_ledger)
spec.action(client_sends_add_entry_requests, witnesses=unsent_values)
spec.action(client_receives_add_confirmed_response)
spec.action(client_changes_ensemble, witnesses=change_witnesses)
spec.action(client_resends_pending_add_op, witnesses=resend_witnesses)
spec.action(client_closes_ledger_success)
spec.action(client_closes_ledger_fail, witnesses=reasons_to_fail)
spec.action(client_starts_new_term)
spec.action(client_receives_fencing_read_lafr_response)
spec.action(client_sends_recovery_read_requests)
spec.action(client_receives_recovery_read_response)
spec.action(client_performs_recovery_write)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble, witnesses=change_witnesses)
spec.action(recovery_client_sends_pending_add_op, witnesses=resend_witnesses)
spec.action(client_changes_term_to_open)

# --- Properties --------------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if s.meta_status > CLOSED or s.meta_last_entry < 0 or s.meta_version < 0:
        return "the metadata hold what they can't"
    for bookie in range(1, c.bookies + 1):
        if s.b_term[bookie] < 0 or s.b_lac[bookie] < 0:
            return "a bookie's term or LAC is negative"
        for entry in range(1, c.send_limit + 1):
            if not is_subset(s.b_entries[bookie].data[entry], nodes_up_to(c.send_limit)):
                return "a bookie stores what nobody writes"
    return HOLDS if are_clients_of_their_type(s, c) else "a client holds what it can't"


spec.invariant(no_divergence_between_client_and_meta_data)


@spec.invariant
def all_committed_ids_are_readable(s: State, c: Constants):
    """Under every id up to a writer's LAC, some bookie of the fragment's ensemble has an entry."""
    return all_acked_entries_are_readable(s, c)


@spec.invariant
def all_acked_values_are_readable(s: State, c: Constants):
    """Every value that was acknowledged is on some bookie of an ensemble, under whichever id."""
    readable = 0
    if s.meta_status != NIL:
        for entry in range(1, c.send_limit + 1):
            position = fragment_of_entry(s.meta_fragments, entry)
            for bookie in members(s.meta_fragments.items[position].ensemble):
                readable |= s.b_entries[bookie].data[entry]
    return HOLDS if is_subset(s.acked_values, readable) else "an acknowledged value is lost"


spec.invariant(no_dirty_reads)
spec.invariant(tail_fragments_reach_write_quorum)
spec.invariant(all_entries_of_closed_ledger_reached_write_quorum)


@spec.invariant
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
            return "two bookies have other data for the same committed entry"
    return HOLDS


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += size(messages.fence_requests.lost) + count_lost_of(c, messages.adds)
        lost += size(messages.fence_refused.lost) + size(messages.read_refused.lost)
        for k in range(len(messages.fence_responses)):
            lost += size(messages.fence_responses[k].lost)
        for k in range(c.send_limit + 1):
            reads = messages.reads[k]
            lost += size(reads.requests.lost) + size(reads.no_such_entry.lost)
            for data in range(c.send_limit):
                lost += size(reads.responses[data].lost)
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


@spec.sometimes
def a_later_term_is_opened(s: State, c: Constants):
    """Somebody takes over, and the ledger is open again."""
    return HOLDS if s.meta_status == OPEN and s.meta_term > 1 else "no later term was opened"


@spec.sometimes
def an_old_writer_withdraws(s: State, c: Constants):
    """A client learns that another has taken over."""
    if any(s.clients[k].status == WITHDRAWN for k in range(1, c.clients + 1)):
        return HOLDS
    return "nobody has withdrawn"


@spec.situation
def two_terms_write_at_once(s: State, c: Constants) -> bool:
    """Two clients take themselves for the writer: only one has the term of the metadata."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == OPEN) > 1


@spec.situation
def an_id_has_two_data(s: State, c: Constants) -> bool:
    """Two bookies store other data under the same id, which is allowed beyond their LACs."""
    for entry in range(1, c.send_limit + 1):
        data = 0
        for bookie in range(1, c.bookies + 1):
            data |= s.b_entries[bookie].data[entry]
        if size(data) > 1:
            return True
    return False
