"""BookKeeper today: the life of one ledger, with any number of clients that recover it.

What it models: a client creates a ledger, adds entries, replaces all bookies that fail at once,
and may close the ledger at any time. Other clients may recover it, several at a time: each fences
the bookies of the last fragment, reads from there on, writes back what it reads while it goes on
reading, and closes the ledger if nobody has changed the metadata meanwhile. Recovery reads fence,
and go to the bookies that were the last ensemble when the recovery began. A recovery keeps its
changes of the ensemble to itself until it closes: others must read where the entries were written.

An entry is recovered if one bookie has it. It does not exist once so many bookies say so that no
ack quorum can have it. If all have answered or timed out and neither is the case, the recovery is
given up.

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

from typing import Annotated, NamedTuple

from bookkeeper_spec.as_printed import OF_PROTOCOL
from bookkeeper_spec.clients import (
    FENCING,
    Client,
    KnownLedger,
    WriteAndFenceMessages,
    add_witnesses,
    bookie_sends_fencing_read_lac_response,
    client_closes_ledger_success,
    client_creates_ledger,
    confirm_add,
    its_ensemble,
    last_ensemble,
    ledger_is_closed,
    receive_refusal,
    recovery_start,
    refuse_add,
    start_recovery,
    type_ok,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_protocol
from bookkeeper_spec.ledger import (
    ABORTED,
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    SMALLEST,
    WITHDRAWN,
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    alike,
    all_committed_entries_reach_ack_quorum,
    bookies_to_choose,
    copies,
    data_of,
    fragment_of_entry,
    has_entry,
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
    count_lost_of,
    handle,
    ignore,
    is_earliest_answer,
    is_earliest_request,
    its_own,
    send,
    sent,
)
from bookkeeper_spec.writing import (
    add_pending_op,
    change_count,
    forget_confirmations,
    has_pending_resends,
    new_bookies_for,
    receive_confirmation,
    resend_count,
    resend_pending_op,
    send_next_entry,
    write_back_next_entry,
)
from protocol_lab import (
    HOLDS,
    NEXT,
    NO_LIMIT,
    TAKEN,
    Array,
    Int8,
    Limits,
    NodeSet,
    Per,
    Range,
    Spec,
    Struct,
    Subset,
    always_eventually,
    choice,
    contains,
    flag,
    only,
    size,
    with_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))] = 4
    clients: Annotated[int, Limits(1, 4, "clients, one of which creates the ledger", (2, 3, 4))] = 2
    write_quorum: Annotated[int, Limits(1, "bookies", "bookies that store each entry")] = 3
    ack_quorum: Annotated[
        int, Limits(1, "write_quorum", "bookies that have to confirm each entry")
    ] = 2
    send_limit: Annotated[
        int, Limits(1, 6, "entries that the creator has to write", classes=(1, 2, 4, 6))
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
        int, flag("does a LAC rise from where it is, and not only if counted from entry 1")
    ] = 0


# --- State -----------------------------------------------------------------------------------

READ_WRITE = 2
"""The phase of recovery after FENCING."""

NO_ENTRY = -1
"""The last recoverable entry of who does not know it; 0 means that no entry is recoverable."""


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


class State(Ledger):
    """The ledger, its clients, and the messages between each of them and the bookies."""

    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)


# --- Bookies ---------------------------------------------------------------------------------


def why_not_answer(s, c, bookie, client, entry, lac) -> str:
    """Why a bookie does not come to this request; "" if it does."""
    adds = s.messages[client].adds
    if not contains(adds.of[entry - 1].requests[lac].waiting, bookie):
        return "no such request is under way to this bookie"
    if not is_earliest_request(c, adds, entry, bookie):
        return "a request for an earlier entry is under way to this bookie"
    return TAKEN


def bookie_sends_add_confirmed_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    reason = why_not_answer(s, c, bookie, client, entry, lac)
    return reason if len(reason) != 0 else confirm_add(s, bookie, client, entry, lac, lost)


def bookie_sends_add_fenced_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of the creator."""
    reason = why_not_answer(s, c, bookie, client, entry, lac)
    return reason if len(reason) != 0 else refuse_add(s, bookie, client, entry, lac, lost)


def bookie_sends_read_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie fences the ledger, and answers with the entry or that it has no such entry."""
    reads = s.messages[client].reads[entry - 1]
    if not contains(reads.requests.waiting, bookie):
        return "no read of this entry is under way from the client to this bookie"
    answer = reads.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = reads.responses[data_of(s, bookie, entry) - 1]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- The creator -----------------------------------------------------------------------------


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC, to all bookies of its current ensemble."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    if mine.lap - mine.lac >= c.inflight_limit:
        return "as many entries as may be are unconfirmed"
    return send_next_entry(c, mine, s.messages[client].adds, lost)


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: the LAC may rise, and the caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def client_receives_add_fenced_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """The creator hears that the ledger is fenced: somebody recovers it, and it withdraws."""
    adds = s.messages[client].adds
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    if not contains(adds.of[entry - 1].refused.waiting, bookie):
        return "no refusal of this entry is under way from this bookie"
    if not is_earliest_answer(adds, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    return receive_refusal(s, client, bookie, entry)


def failed_bookies(s, c, client) -> int:
    """All bookies of the client's current ensemble to which an add has timed out."""
    return s.clients[client].curr_fragment.ensemble & add_time_outs(c, s.messages[client].adds)


def replacements(s, c, client) -> int:
    """The bookies for an ensemble without those that failed."""
    failed = failed_bookies(s, c, client)
    if failed == 0:
        return no_ensemble(c)
    return bookies_to_choose(s, c, s.clients[client].curr_fragment.ensemble & ~failed, failed)


def why_not_change_ensemble(s, c, client, ensemble) -> str:
    """Why a client can't take this ensemble instead of its current one; "" if it can."""
    mine, failed = s.clients[client], failed_bookies(s, c, client)
    if failed == 0:
        return "no add to a bookie of the current ensemble has timed out"
    if has_pending_resends(mine):
        return "adds are to be sent to the bookies of the new ensemble first"
    if not is_valid_ensemble(s, ensemble, mine.curr_fragment.ensemble & ~failed, failed):
        return "this is no ensemble of all good bookies and others that no fragment has"
    return TAKEN


def change_ensemble(s, c, client, ensemble) -> None:
    """Begin a new fragment after the LAC without the bookies that failed."""
    mine, failed = s.clients[client], failed_bookies(s, c, client)
    update_fragments(mine.fragments, mine.curr_fragment, mine.lac + 1, ensemble)
    mine.curr_fragment = last_fragment(mine.fragments)
    forget_confirmations(c, mine, failed)
    act_upon_add_time_outs(c, s.messages[client].adds, failed)


def change_witnesses(s, c, client, ensemble) -> int:
    """As often as there are time-outs of all the failed bookies, and ensembles."""
    mine, adds = s.clients[client], s.messages[client].adds
    return change_count(s, c, mine, adds, failed_bookies(s, c, client))


def client_changes_ensemble(
    s: State, c: Constants, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Adds of the creator timed out: it replaces all bookies that failed, in the metadata too."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    reason = why_not_change_ensemble(s, c, client, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, ensemble)
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    mine.meta_version = s.meta_version
    return TAKEN


def its_new_bookies(s, client, entry) -> int:
    """The bookies to which a client has not sent a pending add."""
    return new_bookies_for(s.clients[client], entry)


def resend_witnesses(s, c, client, entry, lost) -> int:
    """Twice if both fragment and ensemble are others."""
    return resend_count(s.clients[client], entry)


def client_resends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookies."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return resend_pending_op(c, s.clients[client], s.messages[client].adds, entry, lost)


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The creator tries to close the ledger, but somebody recovers it: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status == OPEN:
        return "the client has no open ledger, or nobody recovers it"
    mine.status = WITHDRAWN
    mine.meta_version = 0
    return TAKEN


# --- A recovery fences -------------------------------------------------------------------------


def client_starts_recovery(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    reason = start_recovery(s, client, lost)
    if len(reason) != 0:
        return reason
    s.clients[client].recovery_ensemble = s.clients[client].curr_fragment.ensemble
    return TAKEN


def client_receives_fencing_read_lac_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery hears that a bookie is fenced, and begins after the highest LAC so far.

    And no earlier than the last fragment: what is before it is confirmed.
    """
    mine, answer = s.clients[client], s.messages[client].fence_responses[lac]
    if mine.recovery_phase != FENCING:
        return "the client does not wait for bookies to be fenced"
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    start = recovery_start(mine, lac)
    if start > mine.lac:
        mine.lac = start
        mine.lap = start
    handle(answer, bookie)
    return TAKEN


# --- A recovery reads --------------------------------------------------------------------------

OK, NO_SUCH_ENTRY, UNKNOWN, NEED_MORE_RESPONSES = range(4)
"""What a recovery knows of an entry."""


def has_quorum_coverage(c, count, cohort_size) -> bool:
    """Are so many bookies of a cohort enough that every ack quorum has one of them?"""
    return count >= cohort_size - c.ack_quorum + 1


def its_recovery_ensemble(s, client) -> int:
    """The bookies from which a recovery reads."""
    return s.clients[client].recovery_ensemble


def client_sends_recovery_read_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_recovery_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    if mine.recovery_phase == FENCING:
        if not has_quorum_coverage(c, size(mine.fenced), size(mine.recovery_ensemble)):
            return "there may be an ack quorum of bookies that are not fenced"
    elif mine.last_recoverable_entry != NO_ENTRY:
        return "the recovery has read all there is"
    elif mine.curr_read_entry != 0:
        return "the recovery waits for answers to its last read"
    mine.recovery_phase = READ_WRITE
    mine.curr_read_entry = mine.lap + 1
    mine.fenced = 0
    send(s.messages[client].reads[mine.lap].requests, mine.recovery_ensemble, lost)
    return TAKEN


def answer_to_read(s, client, data):
    """The messages with this answer to the client's present read; 0 is "no such entry"."""
    reads = s.messages[client].reads[s.clients[client].curr_read_entry - 1]
    return reads.responses[data - 1] if data > 0 else reads.no_such_entry


def read_time_outs(c, messages) -> int:
    """The bookies of which the client has lost a read, or an answer to one."""
    bookies = 0
    for k in range(c.send_limit + 1):
        bookies |= messages.reads[k].requests.lost | messages.reads[k].no_such_entry.lost
        for data in range(c.send_limit):
            bookies |= messages.reads[k].responses[data].lost
    return bookies


def count_reads_under_way(c, messages, bookies) -> int:
    """How many reads to these bookies, and answers from them, are under way."""
    return sum(
        size(messages.reads[k].requests.waiting & bookies)
        + size(messages.reads[k].no_such_entry.waiting & bookies)
        + sum(
            size(messages.reads[k].responses[data].waiting & bookies)
            for data in range(c.send_limit)
        )
        for k in range(c.send_limit + 1)
    )


def read_status(s, c, client, bookie, data) -> int:
    """What the recovery knows of its present entry with this answer.

    It is generous with an entry that somebody has, and strict with one that nobody seems to have.
    """
    mine = s.clients[client]
    negative = size(with_node(mine.read_responses, bookie))
    if data > 0:
        return OK
    if has_quorum_coverage(c, negative, c.write_quorum):
        return NO_SUCH_ENTRY
    time_outs = size(mine.recovery_ensemble & read_time_outs(c, s.messages[client]))
    return UNKNOWN if negative + time_outs == c.write_quorum else NEED_MORE_RESPONSES


def ignore_reads_under_way(c, messages, bookies) -> None:
    """The entry is decided about: what is still under way will not be looked at."""
    for k in range(c.send_limit + 1):
        ignore(messages.reads[k].requests, bookies)
        ignore(messages.reads[k].no_such_entry, bookies)
        for data in range(c.send_limit):
            ignore(messages.reads[k].responses[data], bookies)


def client_receives_recovery_read_response(
    s: State, c: Constants, client: Client, bookie: Bookie, data: Range(0, "send_limit")
):
    """A recovery is answered with data, or 0 for "no such entry", and decides if it can.

    A recovered entry is to be written back, and the next one read. An entry that does not exist
    ends the reading. If nothing can be known, the recovery is given up.
    """
    mine, messages = s.clients[client], s.messages[client]
    if mine.status != IN_RECOVERY or mine.curr_read_entry == 0:
        return "the client does not wait for answers to a read"
    if not contains(answer_to_read(s, client, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    status = read_status(s, c, client, bookie, data)
    under_way = count_reads_under_way(c, messages, mine.recovery_ensemble)
    if status != NEED_MORE_RESPONSES and under_way > 1 and not c.ignore_late_reads:
        return "the answer would decide, but other reads of the recovery are under way"
    handle(answer_to_read(s, client, data), bookie)
    if status == NEED_MORE_RESPONSES:
        mine.read_responses = with_node(mine.read_responses, bookie)
        return TAKEN
    ignore_reads_under_way(c, messages, mine.recovery_ensemble)
    entry = mine.curr_read_entry
    mine.curr_read_entry = 0
    mine.read_responses = 0
    if status == OK:
        mine.lap += 1
        add_pending_op(mine, entry, data)
        return TAKEN
    mine.recovery_ensemble = 0
    if status == NO_SUCH_ENTRY:
        mine.last_recoverable_entry = entry - 1
    else:
        mine.status = ABORTED
    return TAKEN


# --- A recovery writes back, and closes --------------------------------------------------------


def its_write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    mine = s.clients[client]
    return mine.curr_fragment.ensemble if mine.recovery_phase == READ_WRITE else 0


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != READ_WRITE:
        return "the client does not read and write as a recovery does"
    return write_back_next_entry(c, mine, s.messages[client].adds, lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def recovery_client_changes_ensemble(
    s: State, c: Constants, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Write backs timed out: the recovery replaces the bookies, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    reason = why_not_change_ensemble(s, c, client, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, ensemble)
    return TAKEN


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes an unconfirmed entry to the new bookies."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_op(c, s.clients[client], s.messages[client].adds, entry, lost)


def recovery_client_closes_ledger(s: State, c: Constants, client: Client):
    """All that was read is written back: the recovery closes the ledger, with its own fragments."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    if mine.recovery_phase != READ_WRITE or mine.last_recoverable_entry == NO_ENTRY:
        return "the recovery has not read all there is"
    if mine.pending_add_ops.size != 0:
        return "not all that was read is written back"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    s.meta_status = CLOSED
    s.meta_last_entry = mine.last_recoverable_entry
    mine.meta_version = s.meta_version
    mine.status = CLOSED
    return TAKEN


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


@spec.invariant
def all_acked_entries_are_readable(s: State, c: Constants):
    """Every entry that a client has acknowledged is on some bookie of its fragment's ensemble."""
    fragments = s.meta_fragments
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == OPEN or mine.status == CLOSED:
            for entry in range(1, mine.lac + 1):
                position = fragment_of_entry(fragments, entry)
                if copies(s, fragments.items[position], entry) == 0:
                    return "an acknowledged entry is on no bookie of its ensemble"
    return HOLDS


spec.invariant(all_committed_entries_reach_ack_quorum)
spec.invariant(no_out_of_order_entries)


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += size(messages.fence_requests.lost) + count_lost_of(c, messages.adds)
        for k in range(c.send_limit + 1):
            reads = messages.reads[k]
            lost += size(messages.fence_responses[k].lost)
            lost += size(reads.requests.lost) + size(reads.no_such_entry.lost)
            for data in range(c.send_limit):
                lost += size(reads.responses[data].lost)
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


@spec.sometimes
def recovery_closes_the_ledger(s: State, c: Constants):
    """A recovery comes to its end."""
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == CLOSED and mine.last_recoverable_entry != NO_ENTRY:
            return HOLDS
    return "no recovery has closed the ledger"


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


@spec.property
def liveness():
    """The ledger is closed in the end. The original means to claim it under weak fairness of Next.

    As it is written there it can't be evaluated. It is false: who has lost messages may stop.
    """
    return always_eventually(ledger_is_closed)


spec.weakly_fair(NEXT)
