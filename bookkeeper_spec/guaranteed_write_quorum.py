"""A proposal: nothing is done with before it is on a write quorum, and not just on an ack quorum.

In today's protocol an entry that an ack quorum has confirmed is forgotten by the client, wherever
else it got to; a fragment or a closed ledger may hold entries with fewer copies than were wanted.
This proposal keeps such entries in hand. A client has a second mark beside its LAC: the LAFR (last
add fully replicated), up to which every entry is on a write quorum. What differs from
`bookkeeper.protocol`:

1. A pending add is dropped only once it and all before it are on a write quorum.
2. A new fragment begins after the LAFR: what is not fully replicated moves on.
3. A bookie that has confirmed an entry which is acknowledged, and moves on, is pinned: it can't be
   replaced, since that would take a confirmation away that the caller relies on.
4. A client closes its ledger only when nothing is pending.
5. So does a recovery, as before; now this means that everything is on a write quorum.
6. Recovery starts after the highest LAFR that the bookies know of, not after the LAC: else what is
   on an ack quorum only would stay there. Requests carry the LAFR as well, and bookies keep the
   highest LAC and LAFR that they have seen.

Acknowledging to the caller is as before: an ack quorum is enough.

Where to read what: here what differs, but for what the two proposals share, the pinned bookies
among it, which stands in `full_replication`; all else is today's (see `protocol`).

What breaks: nothing that was found. tail_fragments_reach_write_quorum and
all_entries_of_closed_ledger_reached_write_quorum, which today's protocol does not promise, hold.

Quirks of the original, kept as they are: those of `bookkeeper.protocol`. And which bookies failed
is left open: any of those that timed out may be replaced, or none. With none a recovery that has
taken an ensemble which is not in the metadata can begin a fragment with that same ensemble.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble.

Source: ProtocolWithGuaranteedWriteQuorum in the BookKeeper specifications.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec import protocol
from bookkeeper_spec.adding import (
    client_closes_ledger_fail,
    client_creates_ledger,
    client_receives_add_fenced_response,
    its_ensemble,
    why_not_add,
)
from bookkeeper_spec.bookies import (
    accept_add,
    add_witnesses,
    bookie_sends_read_response,
    fence,
    refuse_add,
)
from bookkeeper_spec.clients import Client, close_ledger, why_not_change_metadata
from bookkeeper_spec.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    ClientCount,
    EnsembleChoice,
    IgnoreLateReads,
    InflightLimit,
    MaxLostMessages,
    RecoveryReadsFence,
    WriteQuorum,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_guaranteed_write_quorum
from bookkeeper_spec.full_replication import (
    SomeMark,
    all_entries_of_closed_ledger_reached_write_quorum,
    change_witnesses,
    client_changes_ensemble,
    client_resends_pending_add_op,
    is_pinned,
    keep_marks,
    no_dirty_reads,
    recovery_client_changes_ensemble,
    stamp,
    stamp_of,
    tail_fragments_reach_write_quorum,
    why_not_come_to,
)
from bookkeeper_spec.ledger import IN_RECOVERY, OPEN, Bookie, FencedLedger, SomeEntry, alike
from bookkeeper_spec.messages import Mail, its_own
from bookkeeper_spec.properties import (
    all_acked_entries_are_readable,
    max_lost_messages,
    no_divergence_between_client_and_meta_data,
    no_out_of_order_entries,
    recovery_closes_the_ledger,
    type_ok,
)
from bookkeeper_spec.protocol import init
from bookkeeper_spec.recovery import (
    client_receives_recovery_read_response,
    client_sends_recovery_read_requests,
    client_starts_recovery,
    hear_of_fence,
    its_write_ensemble,
    recovery_client_closes_ledger,
    recovery_start,
    write_back,
)
from bookkeeper_spec.replacing import failed_bookies, its_new_bookies, resend_witnesses
from bookkeeper_spec.writing import (
    drop_pending_ops,
    max_contiguous_confirmed_entry,
    note_confirmation,
    resend_pending_op,
    send_next_entry,
)
from protocol_lab import (
    NO_LIMIT,
    TAKEN,
    Array,
    Int8,
    Limits,
    Per,
    Spec,
    Struct,
    Subset,
    flag,
    members,
    with_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 3
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: Annotated[
        int, Limits(1, 4, "entries that the writer has to write", classes=(1, 2, 4))
    ] = 1
    inflight_limit: InflightLimit = 1
    recovery_reads_fence: RecoveryReadsFence = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: Annotated[
        int, flag("do the LAC and the LAFR rise from where they are, not only if counted from 1")
    ] = 0


# --- State -----------------------------------------------------------------------------------


class StampedAdds(Struct):
    """All that one client and the bookies tell each other about adding one entry."""

    data: Int8
    requests: Array(Mail, "(send_limit + 1) * (send_limit + 1)")  # by LAC and LAFR: see `stamp`
    confirmed: Mail
    refused: Mail


class StampedAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(StampedAdds, "send_limit")


class ClientMessages(protocol.ClientMessages):
    """As today, but that adds carry a LAFR too, and that bookies answer a fence with theirs."""

    adds: StampedAddMessages


class ClientState(protocol.ClientState):
    """A client of today with a LAFR."""

    lafr: Int8


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


# --- Bookies ---------------------------------------------------------------------------------


def witnesses_of_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """The original says "not fenced, or of a recovery", and both may be true."""
    return add_witnesses(s, c, bookie, client, entry, lac, lost)


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
    """A bookie stores an entry, and keeps the highest LAC and LAFR that came with any."""
    reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
    if len(reason) != 0:
        return reason
    reason = accept_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)
    if len(reason) != 0:
        return reason
    data = s.messages[client].adds.of[entry - 1].data
    s.b_entries[bookie].data[entry] = with_node(s.b_entries[bookie].data[entry], data)
    keep_marks(s, bookie, lac, lafr)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of the creator."""
    reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
    if len(reason) != 0:
        return reason
    return refuse_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAFR."""
    return fence(s, s.messages[client], bookie, s.b_lafr[bookie], lost)


# --- Adding and confirming ---------------------------------------------------------------------


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC and LAFR, to its current ensemble."""
    mine = s.clients[client]
    reason = why_not_add(c, mine)
    if len(reason) != 0:
        return reason
    adds = s.messages[client].adds
    return send_next_entry(c, mine, adds, mine.lap + 1, stamp_of(c, mine), lost)


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is fully replicated."""
    mine = s.clients[client]
    reason = note_confirmation(mine, s.messages[client].adds, bookie, entry)
    if len(reason) != 0:
        return reason
    lac = max_contiguous_confirmed_entry(c, mine, mine.lac, c.ack_quorum)
    lafr = max_contiguous_confirmed_entry(c, mine, mine.lafr, c.write_quorum)
    mine.lac = max(mine.lac, lac)
    mine.lafr = max(mine.lafr, lafr)
    drop_pending_ops(mine, lafr)
    return TAKEN


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: on an ack quorum, its caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
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
    return resend_pending_op(mine, s.messages[client].adds, entry, stamp_of(c, mine), lost)


# --- Closing, and recovery ---------------------------------------------------------------------


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The creator closes the ledger at its LAC, once everything is on a write quorum."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum, as far as the client knows"
    close_ledger(s, mine, mine.lac)
    return TAKEN


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lafr: SomeMark
):
    """A recovery hears that a bookie is fenced, and begins after the highest LAFR so far."""
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[lafr], bookie)
    if len(reason) != 0:
        return reason
    start = recovery_start(mine, lafr)
    mine.lafr = max(mine.lafr, start)
    mine.lac = max(mine.lac, start)
    mine.lap = max(mine.lap, start)
    return TAKEN


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    return write_back(s, c, client, stamp_of(c, s.clients[client]), lost)


# --- The protocol ------------------------------------------------------------------------------

spec = Spec(
    "bookkeeper.guaranteed_write_quorum",
    State,
    Constants,
    __doc__,
    draw=draw_guaranteed_write_quorum,
    original="ProtocolWithGuaranteedWriteQuorum",
    lifelines=(client_lifelines,),
    events=client_events,
)


spec.symmetric(Bookie, among=alike)
spec.symmetric(Client)
spec.init(init)

spec.action(bookie_sends_add_confirmed_response, witnesses=witnesses_of_add)
spec.action(bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lafr_response)
spec.action(bookie_sends_read_response)
spec.action(client_creates_ledger)
spec.action(client_sends_add_entry_requests)
spec.action(client_receives_add_confirmed_response)
spec.action(client_receives_add_fenced_response)
spec.action(client_changes_ensemble, witnesses=change_witnesses)
spec.action(client_resends_pending_add_op, witnesses=resend_witnesses)
spec.action(client_closes_ledger_success)
spec.action(client_closes_ledger_fail)
spec.action(client_starts_recovery)
spec.action(client_receives_fencing_read_lafr_response)
spec.action(client_sends_recovery_read_requests)
spec.action(client_receives_recovery_read_response)
spec.action(client_writes_back_entry)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble, witnesses=change_witnesses)
spec.action(recovery_client_sends_pending_add_op, witnesses=resend_witnesses)
spec.action(recovery_client_closes_ledger)

# --- Properties --------------------------------------------------------------------------------

spec.invariant(type_ok)
spec.invariant(no_divergence_between_client_and_meta_data)
spec.invariant(all_acked_entries_are_readable)


spec.invariant(no_dirty_reads)
spec.invariant(tail_fragments_reach_write_quorum)
spec.invariant(all_entries_of_closed_ledger_reached_write_quorum)
spec.invariant(no_out_of_order_entries)
spec.constraint(max_lost_messages)


spec.sometimes(recovery_closes_the_ledger)


@spec.situation
def an_acknowledged_entry_is_not_fully_replicated(s: State, c: Constants) -> bool:
    """An entry is acknowledged, and not on a write quorum yet."""
    return any(
        s.clients[k].status == OPEN and s.clients[k].lafr < s.clients[k].lac
        for k in range(1, c.clients + 1)
    )


@spec.situation
def a_bookie_is_pinned(s: State, c: Constants) -> bool:
    """A bookie that timed out can't be replaced, since it has confirmed an acknowledged entry."""
    return any(
        s.clients[k].status == OPEN and is_pinned(s.clients[k], bookie)
        for k in range(1, c.clients + 1)
        for bookie in members(failed_bookies(s, c, k))
    )
