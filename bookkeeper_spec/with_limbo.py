"""BookKeeper without the journal: bookies that may lose what they have confirmed, and know it.

What it models: a proposed change of the protocol. Without its journal a bookie that crashes forgets
entries that it has confirmed, and that it was fenced. It finds out when it starts again that it was
not shut down properly. From then on the ledger is fenced on it (`fence_on_unclean_shutdown`) and in
limbo (`set_limbo_on_unclean_shutdown`): asked for an entry that it does not have, it answers that
it does not know, and no longer that there is no such entry. One bookie crashes, once, while the
ledger has a status for which that is allowed.

Where to read what: here the state, the crash and what a bookie in limbo answers; in `limbo_reading`
how a recovery reads; in `limbo_replacing` and `limbo_clients` what else clients do otherwise than
in `protocol`, whose topics have the rest.

What breaks: no_divergence_between_client_and_meta_data, without either of the two. A bookie that is
not in limbo denies what it has lost, so that a recovery truncates the ledger. One that is not
fenced again takes an add of the creator after it has told a recovery that there is none. 13 states
each, with one bookie. With both, nothing that was found.

Quirks of the original, kept as they are: like `v4_13` it reads first and writes back afterwards, a
bookie can answer only one read of each client without an entry, and reads that timed out count only
while the answer in hand has the entry. Whether messages timed out, and which come earlier, is asked
of all recoveries together. A recovery that has changed the ensemble can't close the ledger, because
the original says both that the fragments become its own and that they stay; what is meant is the
former, as `close_with_own_fragments` has it. See also `count_from_lac`.

Left out: a second crash, a recovery that is given up, reads by others.

Source: BookKeeperProtocolWithLimbo in the BookKeeper specifications, with the messages of
BookKeeperProtocol_v4_13: with those it is shipped with it can't be read any more.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.adding import (
    client_closes_ledger_success,
    client_creates_ledger,
    client_receives_add_confirmed_response,
    client_receives_add_fenced_response,
)
from bookkeeper_spec.as_printed import OF_WITH_LIMBO
from bookkeeper_spec.bookies import (
    add_witnesses,
    bookie_sends_add_fenced_response,
    bookie_sends_fencing_read_lac_response,
)
from bookkeeper_spec.clients import Client, KnownLedger, WriteAndFenceMessages
from bookkeeper_spec.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    ClientCount,
    CountFromLac,
    EnsembleChoice,
    MaxLostMessages,
    SendLimit,
    WriteQuorum,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_with_limbo
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    OPEN,
    Bookie,
    Entry,
    FencedLedger,
    alike,
    data_of,
    has_entry,
)
from bookkeeper_spec.limbo_clients import (
    bookie_sends_add_confirmed_response,
    client_closes_ledger_fail,
    client_sends_add_entry_requests,
    client_sends_pending_add_op,
    client_starts_recovery,
    client_writes_back_entry,
    recovery_client_closes_ledger,
    recovery_client_receives_add_confirmed_response,
)
from bookkeeper_spec.limbo_reading import (
    client_completes_read_successfully,
    client_completes_read_with_no_such_entry,
    client_receives_fencing_read_lac_response,
    client_receives_non_final_read,
    client_sends_read_requests,
)
from bookkeeper_spec.limbo_replacing import (
    change_witnesses,
    client_changes_ensemble,
    recovery_client_changes_ensemble,
)
from bookkeeper_spec.messages import (
    Mail,
    count_lost_of,
    count_lost_of_fencing,
    handle,
    its_own,
    lose,
    send,
    sent,
)
from bookkeeper_spec.properties import (
    all_committed_entries_reach_ack_quorum,
    liveness,
    no_divergence_between_client_and_meta_data,
    no_out_of_order_entries,
    recovery_closes_the_ledger,
    type_ok,
    within_lost_messages,
)
from bookkeeper_spec.reading_first import Reads, count_lost_reads
from bookkeeper_spec.replacing import recovery_client_sends_pending_add_op, resend_witnesses
from protocol_lab import (
    HOLDS,
    NEXT,
    NO_LIMIT,
    TAKEN,
    Array,
    Int8,
    NodeSet,
    Per,
    Range,
    Spec,
    Subset,
    contains,
    flag,
    only,
    size,
    with_node,
    without_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 2
    clients: ClientCount = 2
    write_quorum: WriteQuorum = 2
    ack_quorum: AckQuorum = 1
    send_limit: SendLimit = 1
    allow_crash_when_ledger_open: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_in_recovery: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_closed: Annotated[int, flag("may a bookie crash then")] = 1
    fence_on_unclean_shutdown: Annotated[
        int, flag("is the ledger fenced on a bookie that crashed")
    ] = 1
    set_limbo_on_unclean_shutdown: Annotated[
        int, flag("does a bookie that crashed know that it may have lost entries")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    close_with_own_fragments: Annotated[
        int, flag("can a recovery that has changed the ensemble close the ledger")
    ] = 0
    count_from_lac: CountFromLac = 0


# --- State -----------------------------------------------------------------------------------


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read,
    no_such_entry: NodeSet(Bookie)  # that it does not,
    is_unknown: NodeSet(Bookie)  # and that it does not know


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # answers to reads that do not tell which entry was meant
    unknown: Mail


class State(FencedLedger):
    """The ledger, its clients, the messages between each of them and the bookies, and crashes."""

    b_limbo: NodeSet(Bookie)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    crashes: Int8


# --- A bookie crashes --------------------------------------------------------------------------


def restart_with_data_loss(s, c, bookie) -> str:
    """A bookie is back with nothing stored; the requests that it has not come to are lost."""
    if s.crashes > 0:
        return "a bookie has crashed already"
    s.crashes += 1
    for entry in range(1, c.send_limit + 1):
        s.b_entries[bookie].data[entry] = 0
    s.b_lac[bookie] = 0
    s.b_fenced = without_node(s.b_fenced, bookie)
    if c.fence_on_unclean_shutdown:
        s.b_fenced = with_node(s.b_fenced, bookie)
    if c.set_limbo_on_unclean_shutdown:
        s.b_limbo = with_node(s.b_limbo, bookie)
    for client in range(1, c.clients + 1):
        lose_requests(c, s.messages[client], bookie)
    return TAKEN


def lose_requests(c, messages, bookie) -> None:
    """Lose whatever is under way from a client to the bookie."""
    lose(messages.fence_requests, bookie)
    for k in range(c.send_limit + 1):
        lose(messages.reads[k].requests, bookie)
    for k in range(c.send_limit):
        for lac in range(c.send_limit + 1):
            lose(messages.adds.of[k].requests[lac], bookie)


def bookie_crashes_when_ledger_open(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is open."""
    if not c.allow_crash_when_ledger_open or s.meta_status != OPEN:
        return "the ledger is not open, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_in_recovery(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is recovered."""
    if not c.allow_crash_when_ledger_in_recovery or s.meta_status != IN_RECOVERY:
        return "the ledger is not in recovery, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_closed(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, after the ledger was closed."""
    if not c.allow_crash_when_ledger_closed or s.meta_status != CLOSED:
        return "the ledger is not closed, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


# --- What a bookie answers -----------------------------------------------------------------------


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


# --- The protocol ------------------------------------------------------------------------------

spec = Spec(
    "bookkeeper.with_limbo",
    State,
    Constants,
    __doc__,
    draw=draw_with_limbo,
    original="BookKeeperProtocolWithLimbo",
    lifelines=(client_lifelines,),
    events=client_events,
    printed=OF_WITH_LIMBO,
)


spec.symmetric(Bookie, among=alike)
spec.symmetric(Client)


@spec.init
def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


spec.action(bookie_sends_add_confirmed_response, witnesses=add_witnesses)
spec.action(bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lac_response)
spec.action(bookie_sends_read_response)
spec.action(bookie_crashes_when_ledger_open)
spec.action(bookie_crashes_when_ledger_in_recovery)
spec.action(bookie_crashes_when_ledger_closed)
spec.action(client_creates_ledger)
spec.action(client_sends_add_entry_requests)
spec.action(client_receives_add_confirmed_response)
spec.action(client_receives_add_fenced_response)
spec.action(client_changes_ensemble, witnesses=change_witnesses)
spec.action(client_sends_pending_add_op, witnesses=resend_witnesses)
spec.action(client_closes_ledger_success)
spec.action(client_closes_ledger_fail)
spec.action(client_starts_recovery)
spec.action(client_receives_fencing_read_lac_response)
spec.action(client_sends_read_requests)
spec.action(client_receives_non_final_read)
spec.action(client_completes_read_successfully)
spec.action(client_completes_read_with_no_such_entry)
spec.action(client_writes_back_entry)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble, witnesses=change_witnesses)
spec.action(recovery_client_sends_pending_add_op, witnesses=resend_witnesses)
spec.action(recovery_client_closes_ledger)


# --- Properties ----------------------------------------------------------------------------------

spec.invariant(type_ok)
spec.invariant(no_out_of_order_entries)


spec.invariant(no_divergence_between_client_and_meta_data)
spec.invariant(all_committed_entries_reach_ack_quorum, by_default=False)


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += count_lost_of(c, messages.adds) + count_lost_of_fencing(messages)
        lost += count_lost_reads(c, messages) + size(messages.unknown.lost)
    return within_lost_messages(c, lost)


spec.sometimes(recovery_closes_the_ledger)
spec.property(liveness)
spec.weakly_fair(NEXT)


@spec.situation
def a_bookie_is_in_limbo(s: State, c: Constants) -> bool:
    """A bookie has crashed, and does not know any more what it had."""
    return s.b_limbo != 0


@spec.situation
def a_recovery_hears_that_a_bookie_does_not_know(s: State, c: Constants) -> bool:
    """A recovery has an answer from a bookie in limbo, which is neither yes nor no."""
    return any(
        s.clients[k].status == IN_RECOVERY and s.clients[k].is_unknown != 0
        for k in range(1, c.clients + 1)
    )
