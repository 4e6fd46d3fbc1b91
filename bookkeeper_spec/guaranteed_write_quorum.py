"""A proposal: a client keeps every entry in hand until a write quorum has it, not an ack quorum.

In today's protocol a client forgets an entry once an ack quorum has confirmed it, so that a
fragment or a closed ledger may hold entries with fewer copies than were wanted. Here a client has a
second mark beside its LAC: the LAFR (last add fully replicated), up to which every entry is on a
write quorum. What differs from `bookkeeper.protocol`:

1. A pending add is dropped only once it and all before it are on a write quorum.
2. A new fragment begins after the LAFR: what is not fully replicated moves on.
3. A bookie that has confirmed an entry which is acknowledged, and moves on, is pinned: it can't be
   replaced, since that would take a confirmation away that the caller relies on.
4. A client closes its ledger only when nothing is pending.
5. So does a recovery, as before; now this means that everything is on a write quorum.
6. Recovery starts after the highest LAFR that the bookies know of, not after the LAC: otherwise
   entries on an ack quorum only would stay there. Requests carry the LAFR as well, and bookies keep
   the highest LAC and LAFR that they have seen.

An ack quorum is still enough to acknowledge an entry to the caller.

To read: `model`, then what is below; all else is as in `bookkeeper.protocol`.

What breaks: nothing that was found. tail_fragments_reach_write_quorum and
all_entries_of_closed_ledger_reached_write_quorum, which today's protocol does not promise, hold.

`liveness` holds where no message is lost and late reads are ignored, and is false elsewhere. So
waiting for a write quorum stops no ledger whose bookies answer.

Quirks of the original, kept as they are: those of `bookkeeper.protocol`. And which bookies failed
is left open: any of those that timed out may be replaced, or none. With none a recovery that has
taken an ensemble which is not in the metadata can begin a fragment with that same ensemble.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble.

Source: tweaks/ProtocolWithGuaranteedWriteQuorum.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec import model, properties, recovery, writing
from bookkeeper_spec.draw.ledger import draw_guaranteed_write_quorum
from bookkeeper_spec.model import *
from bookkeeper_spec.protocol import ledger_spec
from bookkeeper_spec.recovery import hear_of_fence, its_write_ensemble, recovery_start, write_back
from bookkeeper_spec.writing import (
    accept_add,
    close_ledger,
    drop_pending_ops,
    failed_bookies,
    fence,
    go_on_without,
    its_ensemble,
    its_new_bookies,
    max_contiguous_confirmed_entry,
    note_confirmation,
    publish_fragments,
    refuse_add,
    resend_pending_op,
    send_next_entry,
    why_not_add,
    why_not_change_metadata,
)
from protocol_lab import *

# --- Constants and state: LACs and LAFRs ---------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 2
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: Annotated[int, Limits(1, 4, "entries that the writer has to write")] = 1
    inflight_limit: InflightLimit = 1
    recovery_reads_fence: RecoveryReadsFence = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = "smallest"
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: Annotated[
        int, flag("do the LAC and the LAFR rise from where they are, not only if counted from 1")
    ] = 0


CONFIGURATIONS = (
    Configuration("default", "the smallest ensemble with a replica", "284,861 distinct states"),
    Configuration(
        "spare_bookie",
        "a third bookie can replace one that fails",
        "more than 3,000,000 distinct states",
        {"bookies": 3},
    ),
)


SomeMark = Range(0, "send_limit")

STAMPS = "(send_limit + 1) * (send_limit + 1)"
"""Room for requests to add one entry: one for each LAC and LAFR (see `stamp`)."""


class StampedAdds(Struct):
    """All messages between one client and the bookies about adding one entry."""

    data: Int8
    requests: Array(Mail, STAMPS)
    confirmed: Mail
    refused: Mail


class StampedAddMessages(Struct):
    """The adds of one client; entry 1 is the first item."""

    of: Array(StampedAdds, "send_limit")


class ClientMessages(model.ClientMessages):
    """As today, but that adds carry a LAFR too, and that bookies answer a fence with theirs."""

    adds: StampedAddMessages


class ClientState(model.ClientState):
    """A client of today with a LAFR."""

    lafr: Int8


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    b_lafr: Per(Bookie, Int8)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


def stamp(c, lac, lafr) -> int:
    """Where requests with this LAC and LAFR stand."""
    return lac * (c.send_limit + 1) + lafr


def stamp_of(c, writer) -> int:
    """The stamp of what a client sends now."""
    return stamp(c, writer.lac, writer.lafr)


def is_pinned(mine: Writer, bookie) -> bool:
    """Has the bookie confirmed an acknowledged entry that would move on to the next fragment?"""
    first = mine.lafr + 1  # pyright: ignore[reportAttributeAccessIssue]: of two variants' clients
    return any(bookie in mine.confirmed[entry] for entry in range(first, mine.lac + 1))


# --- The creator sends both marks, and drops what is on a write quorum ---------------------------


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC and LAFR, to its current ensemble."""
    mine = s.clients[client]
    reason = why_not_add(c, mine)
    if reason:
        return reason
    adds = s.messages[client].adds
    return send_next_entry(c, mine, adds, mine.lap + 1, stamp_of(c, mine), lost)


def receive_add_confirmed_response(s: State, c: Constants, client, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise LAC and LAFR; drop what is fully replicated."""
    mine = s.clients[client]
    reason = note_confirmation(mine, s.messages[client].adds, bookie, entry)
    if reason:
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
    """A bookie has stored an entry of the creator; once an ack quorum has, its caller is told."""
    if s.clients[client].status != "open":
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def client_closes_ledger_success(s, c, client: Client):
    """The creator closes the ledger at its LAC, once everything is on a write quorum."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if reason:
        return reason
    if len(mine.pending_add_ops) != 0:
        return "not everything is on a write quorum, as far as the client knows"
    close_ledger(s, mine, mine.lac)
    return TAKEN


# --- Bookies keep the highest LAC and LAFR; recoveries ask for the LAFR --------------------------


def why_not_come_to(s: State, c: Constants, bookie, client, entry, lac, lafr) -> str:
    """Why a bookie can't handle this request; "" if it can."""
    return why_not_handle_add(s.messages[client].adds, entry, stamp(c, lac, lafr), bookie)


def keep_marks(s, bookie, lac, lafr) -> None:
    """A bookie keeps the highest LAC and LAFR that came with any request."""
    s.b_lac[bookie] = max(s.b_lac[bookie], lac)
    s.b_lafr[bookie] = max(s.b_lafr[bookie], lafr)


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
    if reason:
        return reason
    reason = accept_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)
    if reason:
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
    if reason:
        return reason
    return refuse_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it knows the ledger or not, and tells its LAFR."""
    return fence(s, s.messages[client], bookie, s.b_lafr[bookie], lost)


# --- A new fragment begins after the LAFR, and a pinned bookie can't be replaced -----------------


def replacements(s: State, c: Constants, client, failed) -> NodeSet(Bookie):
    """The bookies for an ensemble without those that failed."""
    mine = s.clients[client]
    if mine.curr_fragment.id == 0:
        return placeholder_ensemble(c)
    return bookies_to_choose(s, c, mine.curr_fragment.ensemble & ~failed, failed)


def replace(s: State, c: Constants, client, failed: NodeSet(Bookie), ensemble) -> str:
    """Begin a new fragment after the LAFR, if no bookie that failed is pinned.

    A pinned bookie has confirmed an entry that is acknowledged and would move on; without the
    bookie too few would be left that have it (the exercise `pin_a_bookie`).
    """
    mine = s.clients[client]
    if any(is_pinned(mine, bookie) for bookie in failed):
        return "a bookie is pinned: it has confirmed an acknowledged entry that would move on"
    return go_on_without(s, c, client, failed, mine.lafr + 1, ensemble)


def client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    failed: Subset(failed_bookies),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Adds of the creator timed out: it replaces bookies that are not pinned."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if reason:
        return reason
    reason = replace(s, c, client, failed, ensemble)
    if reason:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    failed: Subset(failed_bookies),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Write backs timed out: the recovery replaces bookies, and tells nobody for now."""
    if s.clients[client].status != "in_recovery" or s.meta_status != "in_recovery":
        return "the client does not recover, or the ledger is closed"
    return replace(s, c, client, failed, ensemble)


def client_resends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != "open":
        return "the client has no open ledger"
    return resend_pending_op(mine, s.messages[client].adds, entry, stamp_of(c, mine), lost)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != "in_recovery":
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, stamp_of(c, mine), lost)


# --- A recovery begins after the highest LAFR, and its writes carry both marks -------------------


def client_receives_fencing_read_lafr_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lafr: SomeMark
):
    """A recovery learns that a bookie is fenced, and begins after the highest LAFR so far."""
    mine = s.clients[client]
    reason = hear_of_fence(mine, s.messages[client].fence_responses[lafr], bookie)
    if reason:
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
    return write_back(s, client, stamp_of(c, s.clients[client]), lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != "in_recovery":
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


# --- What a write quorum promises: invariants of both proposals ----------------------------------


def no_dirty_reads(s: State, c: Constants):
    """What a bookie of the ensemble takes for confirmed is on an ack quorum."""
    for bookie in range(1, c.bookies + 1):
        lac = s.b_lac[bookie]
        if lac > 0:
            fragment = s.meta_fragments[fragment_of_entry(s.meta_fragments, lac)]
            if bookie in fragment.ensemble and copies(s, fragment, lac) < c.ack_quorum:
                return "a bookie's LAC is on fewer bookies than an ack quorum"
    return HOLDS


def tail_fragments_reach_write_quorum(s: State, c: Constants):
    """All entries of all fragments but the last are on all bookies of their ensemble."""
    for k in range(len(s.meta_fragments) - 1):
        fragment, following = s.meta_fragments[k], s.meta_fragments[k + 1]
        for entry in range(fragment.first_entry_id, following.first_entry_id):
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry before the last fragment is not on a write quorum"
    return HOLDS


def all_entries_of_closed_ledger_reached_write_quorum(s: State, c: Constants):
    """All entries of a closed ledger are on all bookies of their ensemble."""
    if s.meta_status == "closed":
        for entry in range(1, s.meta_last_entry + 1):
            fragment = s.meta_fragments[fragment_of_entry(s.meta_fragments, entry)]
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry of the closed ledger is not on a write quorum"
    return HOLDS


# --- Situations ----------------------------------------------------------------------------------


def an_acknowledged_entry_is_not_fully_replicated(s: State, c: Constants) -> bool:
    """An entry is acknowledged, and not on a write quorum yet."""
    return any(
        s.clients[k].status == "open" and s.clients[k].lafr < s.clients[k].lac
        for k in range(1, c.clients + 1)
    )


def a_bookie_is_pinned(s: State, c: Constants) -> bool:
    """A bookie that timed out can't be replaced, since it has confirmed an acknowledged entry."""
    return any(
        s.clients[k].status == "open" and is_pinned(s.clients[k], bookie)
        for k in range(1, c.clients + 1)
        for bookie in failed_bookies(s, k)
    )


# --- The spec ------------------------------------------------------------------------------------

spec = ledger_spec(
    "guaranteed_write_quorum",
    __doc__,
    original="ProtocolWithGuaranteedWriteQuorum",
    draw=draw_guaranteed_write_quorum,
    state=State,
    constants=Constants,
    tlc="bookkeeper_spec.tlc",
    configurations=CONFIGURATIONS,
)

spec.action(bookie_sends_add_confirmed_response)
spec.action(bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lafr_response)
spec.action(writing.bookie_sends_read_response)
spec.action(writing.client_creates_ledger)
spec.action(client_sends_add_entry_requests)
spec.action(client_receives_add_confirmed_response)
spec.action(writing.client_receives_add_fenced_response)
spec.action(client_changes_ensemble)
spec.action(client_resends_pending_add_op)
spec.action(client_closes_ledger_success)
spec.action(writing.client_closes_ledger_fail)
spec.action(recovery.client_starts_recovery)
spec.action(client_receives_fencing_read_lafr_response)
spec.action(recovery.client_sends_recovery_read_requests)
spec.action(recovery.client_receives_recovery_read_response)
spec.action(client_writes_back_entry)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble)
spec.action(recovery_client_sends_pending_add_op)
spec.action(recovery.recovery_client_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(properties.all_acked_entries_are_readable)
spec.invariant(no_dirty_reads)
spec.invariant(tail_fragments_reach_write_quorum)
spec.invariant(all_entries_of_closed_ledger_reached_write_quorum)
spec.invariant(properties.no_out_of_order_entries)
spec.constraint(properties.max_lost_messages)
spec.situation(properties.recovery_closes_the_ledger, expected=True)
spec.property(properties.liveness)
spec.weakly_fair(NEXT)

spec.situation(an_acknowledged_entry_is_not_fully_replicated)
spec.situation(a_bookie_is_pinned)
