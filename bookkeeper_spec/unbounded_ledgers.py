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

Where to read what: here the state, and what is claimed; in `term_writer` how a client writes in its
term, in `terms` how a client takes over, and how it learns that another one has; in
`full_replication` how bookies are replaced, and what a write quorum is to promise.

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
from bookkeeper_spec.as_printed import OF_UNBOUNDED_LEDGERS
from bookkeeper_spec.clients import Client, KnownLedger
from bookkeeper_spec.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    EnsembleChoice,
    IgnoreLateReads,
    InflightLimit,
    MaxLostMessages,
    WriteQuorum,
)
from bookkeeper_spec.draw.events import client_lifelines, unbounded_events
from bookkeeper_spec.draw.ledger import draw_unbounded_ledgers
from bookkeeper_spec.full_replication import (
    all_entries_of_closed_ledger_reached_write_quorum,
    change_witnesses,
    client_changes_ensemble,
    client_resends_pending_add_op,
    no_dirty_reads,
    recovery_client_changes_ensemble,
    tail_fragments_reach_write_quorum,
)
from bookkeeper_spec.ledger import (
    CLOSED,
    NIL,
    OPEN,
    WITHDRAWN,
    Bookie,
    EntryId,
    Ledger,
    alike,
    fragment_of_entry,
)
from bookkeeper_spec.messages import Mail, count_lost_of, count_lost_of_fencing
from bookkeeper_spec.properties import (
    all_acked_entries_are_readable,
    are_clients_of_their_type,
    no_divergence_between_client_and_meta_data,
    within_lost_messages,
)
from bookkeeper_spec.recovery import count_lost_reads
from bookkeeper_spec.replacing import resend_witnesses
from bookkeeper_spec.term_writer import (
    bookie_sends_add_confirmed_response,
    client_closes_ledger_fail,
    client_closes_ledger_success,
    client_creates_ledger,
    client_receives_add_confirmed_response,
    client_sends_add_entry_requests,
    reasons_to_fail,
    unsent_values,
)
from bookkeeper_spec.terms import (
    bookie_rejects_request,
    bookie_sends_fencing_read_lafr_response,
    bookie_sends_read_response,
    client_changes_term_to_open,
    client_performs_recovery_write,
    client_receives_fencing_read_lafr_response,
    client_receives_recovery_read_response,
    client_sends_recovery_read_requests,
    client_starts_new_term,
    client_withdraws,
    recovery_client_receives_add_confirmed_response,
    recovery_client_sends_pending_add_op,
)
from protocol_lab import (
    HOLDS,
    NO_LIMIT,
    TAKEN,
    Array,
    Int8,
    Limits,
    NodeSet,
    Per,
    Spec,
    Struct,
    flag,
    is_subset,
    members,
    nodes_up_to,
    size,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has `Values`, and as many entry ids as values and terms after the first. Here the
    number of ids is given, as in the other protocols of a ledger: `values` follows from it.
    """

    bookies: BookieCount = 2
    clients: Annotated[int, Limits(1, 4, "clients, each of which may begin a term", (2, 3, 4))] = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: Annotated[
        int,
        Limits(
            "clients", 6, "entry ids: one a value, and one a client but the first", (1, 2, 4, 6)
        ),
    ] = 2
    inflight_limit: InflightLimit = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lafr: Annotated[int, flag("does the LAFR rise from the LAFR, not from the LAC")] = 0


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


class State(Ledger):
    """The ledger, its clients, the messages, and what was written: the last two are for checks."""

    meta_term: Int8
    b_term: Per(Bookie, Int8)
    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    sent_values: Int8  # so many values were sent, from 1 on
    acked_values: NodeSet(EntryId)


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
    printed=OF_UNBOUNDED_LEDGERS,
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
        lost += count_lost_of(c, messages.adds) + count_lost_of_fencing(messages)
        lost += count_lost_reads(c, messages)
        lost += size(messages.fence_refused.lost) + size(messages.read_refused.lost)
    return within_lost_messages(c, lost)


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
