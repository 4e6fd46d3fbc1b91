"""BookKeeper today: the life of one ledger, with any number of clients that recover it.

What it models: a client creates a ledger, adds entries, replaces all bookies that fail at once,
and may close the ledger at any time. Other clients may recover it, several at a time: each fences
the bookies of the last fragment, reads from there on, writes back what it reads while it goes on
reading, and closes the ledger if nobody has changed the metadata meanwhile. Recovery reads fence,
and go to the bookies that were the last ensemble when the recovery began. A recovery keeps its
changes of the ensemble to itself until it closes: others must read where the entries were written.

Where to read what, in the order in which an entry lives:
- ledger: the metadata, fragments and ensembles; messages: what is under way, and what is lost
- adding, writing: the creator adds entries, hears of them, and closes the ledger
- bookies: they store entries, are fenced, and answer
- replacing: bookies fail, and clients go on with others
- recovery: another client fences, reads, writes back and closes the ledger
- properties: what is claimed

What breaks: no_divergence_between_client_and_meta_data, if recovery reads do not fence
(`recovery_reads_fence` off): 14 states with 2 bookies and quorums of 2. As it is, nothing that was
found.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way. So two bookies that both have the entry block each
other, and few recoveries get past their first read: less is checked than it seems. What is meant is
that the others are ignored from then on: so does `ignore_late_reads`. Lost reads are never
forgotten, so that the time-out of one entry still counts for the next. See also `count_from_lac`.

Left out: bookies that lose data (see `with_limbo`), write quorums smaller than the ensemble.

Source: BookKeeperProtocol in the BookKeeper specifications.
"""

from typing import NamedTuple

from bookkeeper_spec.adding import (
    client_closes_ledger_fail,
    client_closes_ledger_success,
    client_creates_ledger,
    client_receives_add_confirmed_response,
    client_receives_add_fenced_response,
    client_sends_add_entry_requests,
)
from bookkeeper_spec.as_printed import OF_PROTOCOL
from bookkeeper_spec.bookies import (
    add_witnesses,
    bookie_sends_add_confirmed_response,
    bookie_sends_add_fenced_response,
    bookie_sends_fencing_read_lac_response,
    bookie_sends_read_response,
)
from bookkeeper_spec.clients import Client, KnownLedger, WriteAndFenceMessages
from bookkeeper_spec.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    ClientCount,
    CountFromLac,
    EnsembleChoice,
    IgnoreLateReads,
    InflightLimit,
    MaxLostMessages,
    RecoveryReadsFence,
    SendLimit,
    WriteQuorum,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_protocol
from bookkeeper_spec.ledger import (
    ABORTED,
    CLOSED,
    IN_RECOVERY,
    NIL,
    Bookie,
    FencedLedger,
    alike,
    last_fragment,
)
from bookkeeper_spec.messages import Mail
from bookkeeper_spec.properties import (
    all_acked_entries_are_readable,
    all_committed_entries_reach_ack_quorum,
    liveness,
    max_lost_messages,
    no_out_of_order_entries,
    recovery_closes_the_ledger,
    type_ok,
)
from bookkeeper_spec.recovery import (
    NO_ENTRY,
    client_receives_fencing_read_lac_response,
    client_receives_recovery_read_response,
    client_sends_recovery_read_requests,
    client_starts_recovery,
    client_writes_back_entry,
    recovery_client_closes_ledger,
    recovery_client_receives_add_confirmed_response,
)
from bookkeeper_spec.replacing import (
    change_witnesses,
    client_changes_ensemble,
    client_resends_pending_add_op,
    recovery_client_changes_ensemble,
    recovery_client_sends_pending_add_op,
    resend_witnesses,
)
from protocol_lab import HOLDS, NEXT, NO_LIMIT, TAKEN, Array, Int8, NodeSet, Per, Spec, Struct

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 4
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 3
    ack_quorum: AckQuorum = 2
    send_limit: SendLimit = 1
    inflight_limit: InflightLimit = 1
    recovery_reads_fence: RecoveryReadsFence = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    ignore_late_reads: IgnoreLateReads = 0
    count_from_lac: CountFromLac = 0


# --- State -----------------------------------------------------------------------------------


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    recovery_ensemble: NodeSet(Bookie)  # the last fragment's when recovery began: it is read from
    curr_read_entry: Int8  # the entry that is being read; 0 for none
    read_responses: NodeSet(Bookie)  # who answered that it does not have that entry
    last_recoverable_entry: Int8


class Reads(Struct):
    """A client asks for one entry, and is answered with its data or with "no such entry"."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1
    no_such_entry: Mail


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1


class State(FencedLedger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


# --- The protocol ------------------------------------------------------------------------------

spec = Spec(
    "bookkeeper.protocol",
    State,
    Constants,
    __doc__,
    draw=draw_protocol,
    original="BookKeeperProtocol",
    lifelines=(client_lifelines,),
    events=client_events,
    printed=OF_PROTOCOL,
)


spec.symmetric(Bookie, among=alike)
spec.symmetric(Client)


@spec.init
def init(s: State, c: Constants):
    """There is no ledger."""
    for client in range(1, c.clients + 1):
        s.clients[client].last_recoverable_entry = NO_ENTRY
    return TAKEN


spec.action(bookie_sends_add_confirmed_response, witnesses=add_witnesses)
spec.action(bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lac_response)
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
spec.action(client_receives_fencing_read_lac_response)
spec.action(client_sends_recovery_read_requests)
spec.action(client_receives_recovery_read_response)
spec.action(client_writes_back_entry)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble, witnesses=change_witnesses)
spec.action(recovery_client_sends_pending_add_op, witnesses=resend_witnesses)
spec.action(recovery_client_closes_ledger)


# --- Properties ----------------------------------------------------------------------------------

spec.invariant(type_ok)


@spec.invariant
def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """A closed ledger was closed by one client, at its LAC, and no writer's LAC is beyond the end.

    A recovery's may be: if another has closed the ledger before it, its entries are never read.
    """
    if s.meta_status != CLOSED:
        return HOLDS
    closers = 0
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == CLOSED and mine.lac == s.meta_last_entry:
            closers += 1
        if mine.status not in (NIL, IN_RECOVERY, ABORTED) and mine.lac > s.meta_last_entry:
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS if closers == 1 else "no client, or several, closed the ledger at their LAC"


spec.invariant(all_acked_entries_are_readable)
spec.invariant(all_committed_entries_reach_ack_quorum)
spec.invariant(no_out_of_order_entries)


spec.constraint(max_lost_messages)
spec.sometimes(recovery_closes_the_ledger)
spec.property(liveness)
spec.weakly_fair(NEXT)


@spec.situation
def two_clients_recover_at_once(s: State, c: Constants) -> bool:
    """Two clients recover the ledger at the same time."""
    return sum(1 for k in range(1, c.clients + 1) if s.clients[k].status == IN_RECOVERY) > 1


@spec.situation
def an_acknowledged_entry_was_not_read_yet(s: State, c: Constants) -> bool:
    """A recovery is under way, and has not read an entry that the writer has acknowledged."""
    return any(
        s.clients[k].status == IN_RECOVERY
        and s.clients[k].last_recoverable_entry == NO_ENTRY
        and s.clients[k].lap < s.clients[other].lac
        for k in range(1, c.clients + 1)
        for other in range(1, c.clients + 1)
        if s.clients[other].recovery_phase == 0
    )


@spec.situation
def a_recovery_has_an_ensemble_of_its_own(s: State, c: Constants) -> bool:
    """A recovery has replaced a bookie, and the metadata do not know."""
    return any(
        s.clients[k].status == IN_RECOVERY
        and s.clients[k].curr_fragment.ensemble != last_fragment(s.meta_fragments).ensemble
        for k in range(1, c.clients + 1)
    )
