"""BookKeeper without the journal: bookies that may lose what they have confirmed, and know it.

What it models: a proposed change of the protocol. Without its journal a bookie that crashes forgets
entries that it has confirmed, and that it was fenced. It finds out when it starts again that it was
not shut down properly. From then on the ledger is fenced on it (`fence_on_unclean_shutdown`) and in
limbo (`set_limbo_on_unclean_shutdown`): asked for an entry that it does not have, it answers that
it does not know, and no longer that there is no such entry. One bookie crashes, once, while the
ledger has a status for which that is allowed.

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

from bookkeeper_spec.as_printed import OF_WITH_LIMBO
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
    recovers,
    recovery_start,
    refuse_add,
    start_recovery,
    type_ok,
)
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_with_limbo
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    NIL,
    OPEN,
    SMALLEST,
    WITHDRAWN,
    Bookie,
    Entry,
    Ledger,
    SomeEntry,
    SomeLac,
    alike,
    all_committed_entries_reach_ack_quorum,
    bookies_to_choose,
    count_ensembles,
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
    act_upon_losses,
    add_time_outs,
    count_lost_adds,
    count_lost_of,
    handle,
    is_earliest_answer,
    is_earliest_request,
    its_own,
    lose,
    send,
    sent,
)
from bookkeeper_spec.v4_13 import (
    PENDING_READ_RESPONSE,
    READ,
    WRITE,
    has_quorum_coverage,
    is_valid_next_fragment,
)
from bookkeeper_spec.writing import (
    add_pending_op,
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
    Named,
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
    without_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))] = 2
    clients: Annotated[int, Limits(1, 4, "clients, one of which creates the ledger", (2, 3, 4))] = 2
    write_quorum: Annotated[int, Limits(1, "bookies", "bookies that store each entry")] = 2
    ack_quorum: Annotated[
        int, Limits(1, "write_quorum", "bookies that have to confirm each entry")
    ] = 1
    send_limit: Annotated[
        int, Limits(1, 6, "entries that the creator has to write", classes=(1, 2, 4, 6))
    ] = 1
    allow_crash_when_ledger_open: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_in_recovery: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_closed: Annotated[int, flag("may a bookie crash then")] = 1
    fence_on_unclean_shutdown: Annotated[
        int, flag("is the ledger fenced on a bookie that crashed")
    ] = 1
    set_limbo_on_unclean_shutdown: Annotated[
        int, flag("does a bookie that crashed know that it may have lost entries")
    ] = 1
    max_lost_messages: Annotated[
        int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
    ] = NO_LIMIT
    ensemble_choice: Annotated[
        int, choice("smallest", "any", meaning="which available ensemble is taken")
    ] = SMALLEST
    close_with_own_fragments: Annotated[
        int, flag("can a recovery that has changed the ensemble close the ledger")
    ] = 0
    count_from_lac: Annotated[
        int, flag("does a LAC rise from where it is, and not only if counted from entry 1")
    ] = 0


# --- State -----------------------------------------------------------------------------------


class ClientState(KnownLedger):
    """A client; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read,
    no_such_entry: NodeSet(Bookie)  # that it does not,
    is_unknown: NodeSet(Bookie)  # and that it does not know


class Reads(Struct):
    """A client asks for one entry, and is answered with its data."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1


class ClientMessages(WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # answers to reads that do not tell which entry was meant
    unknown: Mail


class State(Ledger):
    """The ledger, its clients, the messages between each of them and the bookies, and crashes."""

    b_limbo: NodeSet(Bookie)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    crashes: Int8


# --- What the guards ask ---------------------------------------------------------------------


def same_kind(s, client, other) -> bool:
    """Do both recover, or neither? The original does not tell clients of a kind apart here."""
    return recovers(s, client) == recovers(s, other)


def is_earliest_add(s, c, client, entry, bookie) -> bool:
    """Is no request for an earlier entry under way to this bookie, of any client of the kind?"""
    return all(
        is_earliest_request(c, s.messages[other].adds, entry, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )


def is_earliest_add_answer(s, c, client, entry, bookie) -> bool:
    """Is no answer about an earlier entry under way from it, to any client of the kind?"""
    return all(
        is_earliest_answer(s.messages[other].adds, entry, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )


def write_time_outs(s, c, client) -> int:
    """The bookies of which a client of this kind has lost an add, or an answer to one."""
    bookies = 0
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            bookies |= add_time_outs(c, s.messages[other].adds)
    return bookies


def read_time_outs(s, c) -> int:
    """The bookies of which any client has lost a read, or an answer to one."""
    bookies = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        bookies |= messages.no_such_entry.lost | messages.unknown.lost
        for k in range(c.send_limit + 1):
            bookies |= messages.reads[k].requests.lost
            for data in range(c.send_limit):
                bookies |= messages.reads[k].responses[data].lost
    return bookies


def read_was_sent(s, client, entry) -> bool:
    """Has the client asked for this entry?"""
    return sent(s.messages[client].reads[entry - 1].requests) != 0


def read_phase_has_started(s, c) -> bool:
    """Has any client asked for any entry?"""
    return any(
        read_was_sent(s, client, entry)
        for client in range(1, c.clients + 1)
        for entry in range(1, c.send_limit + 2)
    )


# --- Bookies ---------------------------------------------------------------------------------


def why_not_answer(s, c, bookie, client, entry, lac) -> str:
    """Why a bookie does not come to this request; "" if it does."""
    adds = s.messages[client].adds.of[entry - 1]
    if not contains(adds.requests[lac].waiting, bookie):
        return "no such request is under way to this bookie"
    if not is_earliest_add(s, c, client, entry, bookie):
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


# --- The creator -----------------------------------------------------------------------------


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, with its LAC, to all bookies of its current ensemble."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return send_next_entry(c, s.clients[client], s.messages[client].adds, lost)


def receive_add_confirmed_response(s, c, client, bookie, entry) -> str:
    """A bookie has stored an entry: the LAC may rise."""
    if not is_earliest_add_answer(s, c, client, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry of the creator: the LAC may rise, and the caller is told."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def client_receives_add_fenced_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """The creator hears that the ledger is fenced: somebody recovers it, and it withdraws."""
    adds = s.messages[client].adds
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    if not contains(adds.of[entry - 1].refused.waiting, bookie):
        return "no refusal of this entry is under way from this bookie"
    if not is_earliest_add_answer(s, c, client, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    return receive_refusal(s, client, bookie, entry)


def replacements(s, c, client, bookie) -> int:
    """The bookies for an ensemble without a bookie that timed out."""
    good = s.clients[client].curr_fragment.ensemble & ~only(bookie)
    failed = s.clients[client].curr_fragment.ensemble & write_time_outs(s, c, client)
    return (
        bookies_to_choose(s, c, good, only(bookie)) if contains(failed, bookie) else no_ensemble(c)
    )


def why_not_change_ensemble(s, c, client, bookie, ensemble) -> str:
    """Why a client can't replace this bookie so; "" if it can."""
    mine = s.clients[client]
    good = mine.curr_fragment.ensemble & ~only(bookie)
    if good == mine.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    if not contains(write_time_outs(s, c, client), bookie):
        return "no add to this bookie has timed out"
    if has_pending_resends(mine):
        return "adds are to be sent to the bookies of the new ensemble first"
    if not is_valid_ensemble(s, ensemble, good, only(bookie)):
        return "this is no ensemble of all good bookies and others that no fragment has"
    if not is_valid_next_fragment(s, mine.lac + 1):
        return "the fragment would begin before one that there is"
    return TAKEN


def change_ensemble(s, c, client, bookie, ensemble) -> None:
    """Begin a new fragment after the LAC without the bookie."""
    mine = s.clients[client]
    update_fragments(mine.fragments, mine.curr_fragment, mine.lac + 1, ensemble)
    mine.curr_fragment = last_fragment(mine.fragments)
    forget_confirmations(c, mine, only(bookie))
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            act_upon_add_time_outs(c, s.messages[other].adds, only(bookie))


def change_witnesses(s, c, client, bookie, ensemble) -> int:
    """As often as there are time-outs of the bookie, and ensembles."""
    good = s.clients[client].curr_fragment.ensemble & ~only(bookie)
    time_outs = sum(
        count_lost_adds(c, s.messages[other].adds, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )
    if c.ensemble_choice == SMALLEST:
        return time_outs * count_ensembles(s, c, good, only(bookie))
    return time_outs


def client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    ensemble: Subset(replacements, "write_quorum"),
):
    """An add of the creator timed out: it replaces the bookie, in the metadata too."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status != OPEN:
        return "the client has no open ledger, or somebody recovers it"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    reason = why_not_change_ensemble(s, c, client, bookie, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, bookie, ensemble)
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


def client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookie."""
    if s.clients[client].status != OPEN:
        return "the client has no open ledger"
    return resend_pending_op(c, s.clients[client], s.messages[client].adds, entry, lost)


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The creator tries to close the ledger, but somebody recovers it: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status == OPEN:
        return "the client has no open ledger, or nobody recovers it"
    if mine.meta_version == s.meta_version:
        return "the client knows the latest metadata"
    mine.status = WITHDRAWN
    mine.meta_version = 0
    return TAKEN


# --- A recovery fences -------------------------------------------------------------------------


def client_starts_recovery(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    return start_recovery(s, client, lost)


def client_receives_fencing_read_lac_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery hears that a bookie is fenced, and its LAC, which counts until somebody reads."""
    mine, answer = s.clients[client], s.messages[client].fence_responses[lac]
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    start = recovery_start(mine, lac)
    if start > mine.lac and not read_phase_has_started(s, c):
        mine.lac = start
        mine.lap = start
    handle(answer, bookie)
    return TAKEN


# --- A recovery reads --------------------------------------------------------------------------


def read_ensemble(s, client) -> int:
    """The bookies that a recovery asks for the entry after its LAP."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return 0
    return mine.fragments.items[fragment_of_entry(mine.fragments, mine.lap + 1)].ensemble


def client_sends_read_requests(s: State, c: Constants, client: Client, lost: Subset(read_ensemble)):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    if mine.recovery_phase != READ:
        if mine.recovery_phase != FENCING:
            return "the recovery is not about to read"
        if not has_quorum_coverage(c, mine.fenced, mine.curr_fragment.ensemble):
            return "there may be an ack quorum of bookies that are not fenced"
    if read_was_sent(s, client, mine.lap + 1):
        return "the recovery has asked for this entry before"
    mine.recovery_phase = PENDING_READ_RESPONSE
    send(s.messages[client].reads[mine.lap].requests, read_ensemble(s, client), lost)
    return TAKEN


OK, NO_SUCH_ENTRY, UNKNOWN = range(3)

SomeAnswer = Named(("ok", "no_such_entry", "unknown"))


def lowest(answer) -> int:
    """An answer without an entry has no id and no data: 0."""
    return 1 if answer == OK else 0


def highest(c, answer) -> int:
    """An answer with an entry may have any id and any data."""
    return c.send_limit if answer == OK else 0


ItsEntry, ItsData = Range(lowest, highest), Range(lowest, highest)


def messages_with(messages, answer, entry, data):
    """The messages with this answer to a client's read."""
    if answer == OK:
        return messages.reads[entry - 1].responses[data - 1]
    return messages.unknown if answer == UNKNOWN else messages.no_such_entry


def who_said(bookies, bookie, answer, what) -> int:
    """The bookies that gave this answer to the present read, this one perhaps included."""
    return with_node(bookies, bookie) if answer == what else bookies


def asked_for(mine, entry) -> int:
    """The bookies that may have timed out: the original looks only at an entry's that is here."""
    fragments = mine.fragments
    return fragments.items[fragment_of_entry(fragments, entry)].ensemble if entry > 0 else 0


def received_all_responses(s, c, client, bookie, answer, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    mine = s.clients[client]
    return (
        size(who_said(mine.has_entry, bookie, answer, OK))
        + size(who_said(mine.no_such_entry, bookie, answer, NO_SUCH_ENTRY))
        + size(who_said(mine.is_unknown, bookie, answer, UNKNOWN))
        + size(asked_for(mine, entry) & read_time_outs(s, c))
        == c.write_quorum
    )


def why_not_read(s, c, client, bookie, answer, entry, data) -> str:
    """Why this answer is not the last that a recovery waits for; "" if it is."""
    if not contains(messages_with(s.messages[client], answer, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, client, bookie, answer, entry):
        return "the recovery waits for more answers"
    return TAKEN


def finish_read(s, c, client, bookie, answer, entry, data) -> None:
    """Take the answer, forget what was found out about the entry, and act upon time-outs."""
    mine = s.clients[client]
    handle(messages_with(s.messages[client], answer, entry, data), bookie)
    mine.has_entry = 0
    mine.no_such_entry = 0
    mine.is_unknown = 0
    mine.curr_read_entry.id = 0
    mine.curr_read_entry.data = 0
    mine.fenced = with_node(mine.fenced, bookie)
    bookies = asked_for(mine, entry)
    for other in range(1, c.clients + 1):
        act_upon_read_time_outs(c, s.messages[other], bookies)


def act_upon_read_time_outs(c, messages, bookies) -> None:
    """Forget the time-outs of these bookies, which the original does for all clients at once."""
    act_upon_losses(messages.no_such_entry, bookies)
    act_upon_losses(messages.unknown, bookies)
    for k in range(c.send_limit + 1):
        act_upon_losses(messages.reads[k].requests, bookies)
        for data in range(c.send_limit):
            act_upon_losses(messages.reads[k].responses[data], bookies)


def client_receives_non_final_read(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    answer: SomeAnswer,
    entry: ItsEntry,
    data: ItsData,
):
    """A recovery notes an answer to its read, and waits for more."""
    mine, given = s.clients[client], messages_with(s.messages[client], answer, entry, data)
    if not contains(given.waiting, bookie):
        return "no such answer is under way from this bookie"
    if received_all_responses(s, c, client, bookie, answer, entry):
        return "this is the last answer that the recovery waits for"
    mine.has_entry = who_said(mine.has_entry, bookie, answer, OK)
    mine.no_such_entry = who_said(mine.no_such_entry, bookie, answer, NO_SUCH_ENTRY)
    mine.is_unknown = who_said(mine.is_unknown, bookie, answer, UNKNOWN)
    if answer == OK:
        mine.curr_read_entry.id = entry
        mine.curr_read_entry.data = data
    mine.fenced = with_node(mine.fenced, bookie)
    handle(given, bookie)
    return TAKEN


def client_completes_read_successfully(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    answer: SomeAnswer,
    entry: ItsEntry,
    data: ItsData,
):
    """An ack quorum of bookies have the entry: it is to be written back, and the next one read."""
    mine = s.clients[client]
    reason = why_not_read(s, c, client, bookie, answer, entry, data)
    if len(reason) != 0:
        return reason
    if size(who_said(mine.has_entry, bookie, answer, OK)) < c.ack_quorum:
        return "less than an ack quorum of bookies have the entry"
    mine.lap += 1
    add_pending_op(mine, mine.lap, data if answer == OK else mine.curr_read_entry.data)
    mine.recovery_phase = READ
    finish_read(s, c, client, bookie, answer, entry, data)
    return TAKEN


def client_completes_read_with_no_such_entry(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    answer: SomeAnswer,
    entry: ItsEntry,
    data: ItsData,
):
    """So many bookies deny the entry that no ack quorum can have it: all there is was read."""
    mine = s.clients[client]
    reason = why_not_read(s, c, client, bookie, answer, entry, data)
    if len(reason) != 0:
        return reason
    negative = size(who_said(mine.no_such_entry, bookie, answer, NO_SUCH_ENTRY))
    if negative < c.write_quorum - c.ack_quorum + 1:
        return "there may be an ack quorum of bookies that have the entry"
    mine.recovery_phase = WRITE
    finish_read(s, c, client, bookie, answer, entry, data)
    return TAKEN


# --- A recovery writes back, and closes --------------------------------------------------------


def its_write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    mine = s.clients[client]
    return mine.curr_fragment.ensemble if mine.recovery_phase == WRITE else 0


def client_writes_back_entry(
    s: State, c: Constants, client: Client, lost: Subset(its_write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != WRITE:
        return "the recovery has not read all there is"
    return write_back_next_entry(c, mine, s.messages[client].adds, lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return receive_add_confirmed_response(s, c, client, bookie, entry)


def recovery_client_changes_ensemble(
    s: State,
    c: Constants,
    client: Client,
    bookie: Bookie,
    ensemble: Subset(replacements, "write_quorum"),
):
    """A write back timed out: the recovery replaces the bookie, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    reason = why_not_change_ensemble(s, c, client, bookie, ensemble)
    if len(reason) != 0:
        return reason
    change_ensemble(s, c, client, bookie, ensemble)
    return TAKEN


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes an unconfirmed entry to the new bookie."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_op(c, s.clients[client], s.messages[client].adds, entry, lost)


def recovery_client_closes_ledger(s: State, c: Constants, client: Client):
    """All that was read is written back: the recovery closes the ledger at its LAC."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    if mine.recovery_phase != WRITE:
        return "the recovery has not read all there is"
    if mine.pending_add_ops.size != 0:
        return "not all that was read is written back"
    if mine.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    if mine.fragments != s.meta_fragments and not c.close_with_own_fragments:
        return "the recovery has changed the ensemble (the original can't close then)"
    s.meta_version += 1
    s.meta_fragments = mine.fragments
    s.meta_status = CLOSED
    s.meta_last_entry = mine.lac
    mine.meta_version = s.meta_version
    mine.status = CLOSED
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


@spec.invariant
def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if s.meta_status == CLOSED and mine.status != NIL and mine.lac > s.meta_last_entry:
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS


spec.invariant(all_committed_entries_reach_ack_quorum, by_default=False)


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += size(messages.fence_requests.lost) + count_lost_of(c, messages.adds)
        lost += size(messages.no_such_entry.lost) + size(messages.unknown.lost)
        for k in range(c.send_limit + 1):
            lost += size(messages.fence_responses[k].lost) + size(messages.reads[k].requests.lost)
            for data in range(c.send_limit):
                lost += size(messages.reads[k].responses[data].lost)
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


@spec.sometimes
def recovery_closes_the_ledger(s: State, c: Constants):
    """A recovery comes to its end."""
    for client in range(1, c.clients + 1):
        if s.clients[client].status == CLOSED and recovers(s, client):
            return HOLDS
    return "no recovery has closed the ledger"


@spec.property
def liveness():
    """The ledger is closed in the end. The original means to claim it under weak fairness of Next.

    As it is written there it can't be evaluated. It is false: who has lost messages may stop.
    """
    return always_eventually(ledger_is_closed)


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
