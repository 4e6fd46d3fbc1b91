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
from bookkeeper_spec.clients import (
    FENCING,
    Client,
    add_witnesses,
    client_creates_ledger,
    its_ensemble,
    recovers,
    recovery_start,
    refuse_add,
    type_ok,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_guaranteed_write_quorum
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    SMALLEST,
    Bookie,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    copies,
    fragment_of_entry,
    is_valid_ensemble,
    last_fragment,
    no_ensemble,
    no_out_of_order_entries,
    update_fragments,
)
from bookkeeper_spec.messages import (
    Mail,
    act_upon_add_time_outs,
    add_time_outs,
    handle,
    is_earliest_answer,
    its_own,
    send,
    sent,
    were_adds_sent,
)
from bookkeeper_spec.protocol import (
    NO_ENTRY,
    READ_WRITE,
    all_acked_entries_are_readable,
    bookie_sends_read_response,
    client_closes_ledger_fail,
    client_receives_add_fenced_response,
    client_receives_recovery_read_response,
    client_sends_recovery_read_requests,
    client_starts_recovery,
    its_write_ensemble,
    max_lost_messages,
    recovery_client_closes_ledger,
    resend_witnesses,
    why_not_answer,
)
from bookkeeper_spec.writing import (
    add_pending_op,
    change_count,
    has_pending_resends,
    needs_resend,
    new_bookies_for,
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
    Per,
    Range,
    Spec,
    Struct,
    Subset,
    choice,
    contains,
    flag,
    members,
    only,
    size,
    take,
    with_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))] = 3
    clients: Annotated[int, Limits(1, 4, "clients, one of which creates the ledger", (2, 3, 4))] = 2
    write_quorum: Annotated[int, Limits(1, "bookies", "bookies that store each entry")] = 2
    ack_quorum: Annotated[
        int, Limits(1, "write_quorum", "bookies that have to confirm each entry")
    ] = 1
    send_limit: Annotated[
        int, Limits(1, 4, "entries that the creator has to write", classes=(1, 2, 4))
    ] = 1
    inflight_limit: Annotated[int, Limits(1, 6, "entries that may be unconfirmed at a time")] = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence")] = 1
    max_lost_messages: Annotated[
        int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
    ] = NO_LIMIT
    ensemble_choice: Annotated[
        int, choice("smallest", "any", meaning="which available ensemble is taken")
    ] = SMALLEST
    ignore_late_reads: Annotated[
        int, flag("are reads that are under way ignored once an entry is decided about")
    ] = 0
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


class State(Ledger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


SomeMark = Range(0, "send_limit")


def stamp(c, lac, lafr) -> int:
    """Where requests with this LAC and LAFR stand."""
    return lac * (c.send_limit + 1) + lafr


def stamp_of(c, writer) -> int:
    """The stamp of what a client sends now."""
    return stamp(c, writer.lac, writer.lafr)


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
    reason = why_not_answer(s, c, bookie, client, entry, stamp(c, lac, lafr))
    if len(reason) != 0:
        return reason
    adds = s.messages[client].adds.of[entry - 1]
    if contains(s.b_fenced, bookie) and not recovers(s, client):
        return "the ledger is fenced on this bookie"
    if contains(sent(adds.confirmed), bookie):
        return "the bookie has sent this answer before"
    s.b_entries[bookie].data[entry] = with_node(s.b_entries[bookie].data[entry], adds.data)
    s.b_lac[bookie] = max(s.b_lac[bookie], lac)
    s.b_lafr[bookie] = max(s.b_lafr[bookie], lafr)
    handle(adds.requests[stamp(c, lac, lafr)], bookie)
    send(adds.confirmed, only(bookie), lost)
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
    reason = why_not_answer(s, c, bookie, client, entry, stamp(c, lac, lafr))
    if len(reason) != 0:
        return reason
    return refuse_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAFR."""
    messages = s.messages[client]
    if not contains(messages.fence_requests.waiting, bookie):
        return "no fence request of the client is under way to this bookie"
    answer = messages.fence_responses[s.b_lafr[bookie]]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(messages.fence_requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- Adding and confirming ---------------------------------------------------------------------


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC and LAFR, to its current ensemble."""
    mine, messages = s.clients[client], s.messages[client].adds
    entry, ensemble = mine.lap + 1, mine.curr_fragment.ensemble
    if mine.status != OPEN:
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "as many entries as may be are unconfirmed"
    if entry > c.send_limit:
        return "the client has sent everything that it has to send"
    if were_adds_sent(messages.of[entry - 1], stamp_of(c, mine), ensemble):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], entry, stamp_of(c, mine), ensemble, lost)
    mine.lap = entry
    add_pending_op(mine, entry, entry)
    return TAKEN


def reached(c, mine, known, quorum) -> int:
    """The last entry up to which all are confirmed by so many bookies (see count_from_lac)."""
    entry = known if c.count_from_lac else 0
    while entry < c.send_limit and size(mine.confirmed[entry + 1]) >= quorum:
        entry += 1
    return entry


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is fully replicated."""
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
    lac = reached(c, mine, mine.lac, c.ack_quorum)
    lafr = reached(c, mine, mine.lafr, c.write_quorum)
    mine.lac = max(mine.lac, lac)
    mine.lafr = max(mine.lafr, lafr)
    position = 0
    while position < mine.pending_add_ops.size:
        if mine.pending_add_ops.items[position].entry.id <= lafr:
            take(mine.pending_add_ops, mine.pending_add_ops.items[position])
        else:
            position += 1
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


# --- Replacing bookies -------------------------------------------------------------------------


def timed_out(s, c, client) -> int:
    """The bookies of the client's current ensemble to which an add has timed out."""
    return s.clients[client].curr_fragment.ensemble & add_time_outs(c, s.messages[client].adds)


def is_pinned(mine, bookie) -> bool:
    """Has the bookie confirmed an acknowledged entry that would move on to the next fragment?"""
    return any(
        contains(mine.confirmed[entry], bookie) for entry in range(mine.lafr + 1, mine.lac + 1)
    )


def replacements(s, c, client, failed) -> int:
    """The bookies for an ensemble without those that failed."""
    mine = s.clients[client]
    if mine.curr_fragment.id == 0:
        return no_ensemble(c)
    return bookies_to_choose(s, c, mine.curr_fragment.ensemble & ~failed, failed)


def why_not_change_ensemble(s, c, client, failed, ensemble) -> str:
    """Why a client can't take this ensemble instead of its current one; "" if it can."""
    mine = s.clients[client]
    if has_pending_resends(mine):
        return "adds are to be sent to the bookies of the new ensemble first"
    if any(is_pinned(mine, bookie) for bookie in members(failed)):
        return "a bookie is pinned: it has confirmed an acknowledged entry that would move on"
    if not is_valid_ensemble(s, ensemble, mine.curr_fragment.ensemble & ~failed, failed):
        return "this is no ensemble of all good bookies and others that no fragment has"
    return TAKEN


def change_ensemble(s, c, client, failed, ensemble) -> None:
    """Begin a new fragment after the LAFR without the bookies that failed."""
    mine = s.clients[client]
    update_fragments(mine.fragments, mine.curr_fragment, mine.lafr + 1, ensemble)
    mine.curr_fragment = last_fragment(mine.fragments)
    for entry in range(mine.lafr + 1, c.send_limit + 1):
        mine.confirmed[entry] &= ~failed
    act_upon_add_time_outs(c, s.messages[client].adds, failed)


def change_witnesses(s, c, client, failed, ensemble) -> int:
    """As often as there are time-outs of all the failed bookies, and ensembles."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)


def client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    failed: Subset(timed_out),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Adds of the creator timed out: it replaces bookies that are not pinned."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    reason = why_not_change_ensemble(s, c, client, failed, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, failed, ensemble)
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    mine.meta_version = s.meta_version
    return TAKEN


def recovery_client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    failed: Subset(timed_out),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Write backs timed out: the recovery replaces bookies, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    reason = why_not_change_ensemble(s, c, client, failed, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, failed, ensemble)
    return TAKEN


def its_new_bookies(s, client, entry) -> int:
    """The bookies to which a client has not sent a pending add."""
    return new_bookies_for(s.clients[client], entry)


def resend_pending_add_op(s, c, client, entry, carried, lost) -> str:
    """Send a pending add, with this stamp, to those bookies of the new ensemble that are new."""
    mine, messages = s.clients[client], s.messages[client].adds
    position, ops, fragment = position_of_op(mine, entry), mine.pending_add_ops, mine.curr_fragment
    if position == ops.size:
        return "the entry is not pending"
    op = ops.items[position]
    if not needs_resend(op, fragment):
        return "the entry was sent to the current ensemble"
    if any(
        ops.items[k].fragment_id == op.fragment_id and ops.items[k].ensemble == op.ensemble
        for k in range(position)
    ):
        return "an earlier entry that went to the same ensemble comes first"
    bookies = new_bookies_for(mine, entry)
    if were_adds_sent(messages.of[entry - 1], carried, bookies):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], op.entry.data, carried, bookies, lost)
    op.fragment_id = fragment.id
    op.ensemble = fragment.ensemble
    return TAKEN


def client_resends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends a pending entry to the new bookies."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return resend_pending_add_op(s, c, client, entry, stamp_of(c, s.clients[client]), lost)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_add_op(s, c, client, entry, stamp_of(c, s.clients[client]), lost)


# --- Closing, and recovery ---------------------------------------------------------------------


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The creator closes the ledger at its LAC, once everything is on a write quorum."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    if mine.pending_add_ops.size != 0:
        return "not everything is on a write quorum"
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = mine.lac
    mine.meta_version = s.meta_version
    mine.status = CLOSED
    return TAKEN


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lafr: SomeMark
):
    """A recovery hears that a bookie is fenced, and begins after the highest LAFR so far."""
    mine, answer = s.clients[client], s.messages[client].fence_responses[lafr]
    if mine.recovery_phase != FENCING:
        return "the client does not wait for bookies to be fenced"
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    start = recovery_start(mine, lafr)
    mine.lafr = max(mine.lafr, start)
    mine.lac = max(mine.lac, start)
    mine.lap = max(mine.lap, start)
    handle(answer, bookie)
    return TAKEN


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine, messages = s.clients[client], s.messages[client].adds
    if mine.status != IN_RECOVERY or mine.recovery_phase != READ_WRITE:
        return "the client does not read and write as a recovery does"
    entry = next_to_write_back(c, mine, messages)
    if entry == 0:
        return "every entry that was read was written back"
    data = mine.pending_add_ops.items[position_of_op(mine, entry)].entry.data
    ensemble = mine.curr_fragment.ensemble
    send_adds(messages.of[entry - 1], data, stamp_of(c, mine), ensemble, lost)
    return TAKEN


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


@spec.init
def init(s: State, c: Constants):
    """There is no ledger."""
    for client in range(1, c.clients + 1):
        s.clients[client].last_recoverable_entry = NO_ENTRY
    return TAKEN


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


@spec.invariant
def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, no client has a LAC beyond its end."""
    if s.meta_status == CLOSED and any(
        s.clients[k].status != NIL and s.clients[k].lac > s.meta_last_entry
        for k in range(1, c.clients + 1)
    ):
        return "a client has confirmed an entry that the closed ledger does not have"
    return HOLDS


spec.invariant(all_acked_entries_are_readable)


@spec.invariant
def no_dirty_reads(s: State, c: Constants):
    """What a bookie of the ensemble takes for confirmed is on an ack quorum."""
    for bookie in range(1, c.bookies + 1):
        lac = s.b_lac[bookie]
        if lac > 0:
            fragment = s.meta_fragments.items[fragment_of_entry(s.meta_fragments, lac)]
            if contains(fragment.ensemble, bookie) and copies(s, fragment, lac) < c.ack_quorum:
                return "a bookie's LAC is on fewer bookies than an ack quorum"
    return HOLDS


@spec.invariant
def tail_fragments_reach_write_quorum(s: State, c: Constants):
    """All entries of all fragments but the last are on all bookies of their ensemble."""
    for k in range(s.meta_fragments.length - 1):
        fragment, following = s.meta_fragments.items[k], s.meta_fragments.items[k + 1]
        for entry in range(fragment.first_entry_id, following.first_entry_id):
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry before the last fragment is not on a write quorum"
    return HOLDS


@spec.invariant
def all_entries_of_closed_ledger_reached_write_quorum(s: State, c: Constants):
    """All entries of a closed ledger are on all bookies of their ensemble."""
    if s.meta_status == CLOSED:
        for entry in range(1, s.meta_last_entry + 1):
            fragment = s.meta_fragments.items[fragment_of_entry(s.meta_fragments, entry)]
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry of the closed ledger is not on a write quorum"
    return HOLDS


spec.invariant(no_out_of_order_entries)
spec.constraint(max_lost_messages)


@spec.sometimes
def recovery_closes_the_ledger(s: State, c: Constants):
    """A recovery comes to its end."""
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == CLOSED and mine.last_recoverable_entry != NO_ENTRY:
            return HOLDS
    return "no recovery has closed the ledger"


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
        for bookie in members(timed_out(s, c, k))
    )
