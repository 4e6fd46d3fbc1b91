"""BookKeeper without the journal: bookies may lose what they have confirmed, and know that.

What it models: a proposed change of the protocol. Without its journal a bookie that crashes forgets
entries that it has confirmed, and that it was fenced. It finds out when it starts again that it was
not shut down properly. From then on the ledger is fenced on it (`fence_on_unclean_shutdown`) and in
limbo (`set_limbo_on_unclean_shutdown`): asked for an entry that it does not have, it answers that
it does not know, and no longer that there is no such entry. Bookies crash up to `max_crashes`
times, once as in the original, while the ledger has a status for which that is allowed. A crash
with both measures off is also a disk that is replaced under the bookie's old id.

As BookKeeper 4.18.0 has it: `fence_closed_ledgers` off, since its check before a bookie starts
leaves closed ledgers unfenced, and `limbo_tells_lac` off, since a bookie in limbo answers the
fencing read with an error.

To read: `model`, then what is below, the crash and the answers of a bookie in limbo first; all else
is as in `bookkeeper.protocol`, or, where a recovery reads before it writes, in `v4_13`.

What breaks: no_divergence_between_client_and_meta_data, without either of the two. A bookie that is
not in limbo denies what it has lost, so that a recovery truncates the ledger. One that is not
fenced again takes an add of the creator after it has told a recovery that there is none. 13 states
each, with one bookie. With both, nothing that was found in the original's size. With two crashes
and `fence_closed_ledgers` off, two bookies forget the fence of a closed ledger, and both confirm
what its old writer adds: bookkeeper#4812, with quorums of 2.

Quirks of the original, kept as they are: those of `v4_13` that concern reads, since it is written
from that. Whether messages timed out, and which come earlier, is asked of all recoveries together.
A recovery that has changed the ensemble can't close the ledger, because the original says both that
the fragments become its own and that they stay; what is meant is the former, as
`close_with_own_fragments` has it. A recovery's LAC may never rise (see `count_from_lac`).

Left out: a recovery that is given up, reads by others.

Source: BookKeeperProtocolWithLimbo.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus, with the messages of MessagePassing_v4_13.tla: TLC
can't read it with the MessagePassing.tla that is there now.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec import model, properties, v4_13, writing
from bookkeeper_spec.draw.ledger import draw_with_limbo
from bookkeeper_spec.model import *
from bookkeeper_spec.properties import count_lost_fencing, count_lost_writes, within_lost_messages
from bookkeeper_spec.protocol import ledger_spec
from bookkeeper_spec.recovery import (
    last_ensemble,
    recovery_start,
    start_recovery,
    write_back_next_entry,
)
from bookkeeper_spec.v4_13 import (
    WRITE,
    act_upon_read_time_outs,
    ask_for_next_entry,
    asked_for,
    count_lost_reads,
    ensemble_to_read,
    forget_answers,
    has_asked,
    how_many_deny_it,
    how_many_have_it,
    its_write_ensemble,
    note_answer,
    read_time_outs,
    recover_entry,
    why_not_ask,
    why_not_begin_fragment,
    why_not_without_one,
    with_answer,
    without_one,
)
from bookkeeper_spec.writing import bookie_sends_add_confirmed_response as store_and_confirm
from bookkeeper_spec.writing import bookie_sends_fencing_read_lac_response as fence_and_tell_lac
from bookkeeper_spec.writing import (
    client_resends_pending_add_op,
    its_ensemble,
    its_new_bookies,
    publish_fragments,
    receive_confirmation,
    send_next_entry,
    why_not_change_metadata,
    withdraw,
)
from protocol_lab import *

# --- Constants and state -------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: model.BookieCount = 2
    clients: model.ClientCount = 2
    write_quorum: model.WriteQuorum = 2
    ack_quorum: model.AckQuorum = 1
    send_limit: model.SendLimit = 1
    allow_crash_when_ledger_open: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_in_recovery: Annotated[int, flag("may a bookie crash then")] = 1
    allow_crash_when_ledger_closed: Annotated[int, flag("may a bookie crash then")] = 1
    fence_on_unclean_shutdown: Annotated[
        int, flag("is the ledger fenced on a bookie that crashed")
    ] = 1
    set_limbo_on_unclean_shutdown: Annotated[
        int, flag("does a bookie that crashed know that it may have lost entries")
    ] = 1
    max_lost_messages: model.MaxLostMessages = NO_LIMIT
    ensemble_choice: model.EnsembleChoice = "smallest"
    close_with_own_fragments: Annotated[
        int, flag("can a recovery that has changed the ensemble close the ledger")
    ] = 0
    count_from_lac: model.CountFromLac = 0
    max_crashes: Annotated[int, Limits(0, 9, "times that a bookie may crash")] = 1
    fence_closed_ledgers: Annotated[
        int, flag("does fence_on_unclean_shutdown fence a ledger that is closed, too")
    ] = 1
    limbo_tells_lac: Annotated[int, flag("does a bookie in limbo tell a recovery its LAC")] = 1


CONFIGURATIONS = (
    Configuration("default", "one entry, which every bookie may forget", "97,065 distinct states"),
    Configuration(
        "shipped",
        "two entries, as in BookKeeperProtocolWithLimbo.cfg, which comes with the original",
        "not explored to the end",
        {"send_limit": 2},
    ),
)


class ClientState(model.KnownLedger):
    """A client; what follows is for recovery."""

    curr_read_entry: model.Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read,
    no_such_entry: NodeSet(Bookie)  # that it does not,
    is_unknown: NodeSet(Bookie)  # and that it does not know


class ClientMessages(model.WriteAndFenceMessages):
    """All that is or was under way between one client and the bookies."""

    reads: Array(v4_13.Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: model.Mail  # answers to reads that do not tell which entry was meant
    unknown: model.Mail


class State(model.FencedLedger):
    """The ledger, its clients, the messages between each of them and the bookies, and crashes."""

    b_limbo: NodeSet(Bookie)
    clients: Per(Client, ClientState)
    messages: Per(Client, ClientMessages)
    crashes: Int8


def same_kind(s: State, client, other) -> bool:
    """Do both recover, or neither? The original distinguishes only the creator from recoveries."""
    return recovers(s, client) == recovers(s, other)


# --- A bookie crashes, and forgets what it has confirmed, and that it was fenced -----------------


def lose(mail, bookie) -> None:
    """The message is lost after all: the bookie crashes before it handles it."""
    mail.lost |= mail.waiting & only(bookie)
    mail.waiting = without_node(mail.waiting, bookie)


def lose_requests(messages, bookie) -> None:
    """Lose all requests that are under way from a client to the bookie."""
    lose(messages.fence_requests, bookie)
    for reads in messages.reads:
        lose(reads.requests, bookie)
    for adds in messages.adds.of:
        for request in adds.requests:
            lose(request, bookie)


def restart_with_data_loss(s: State, c: Constants, bookie) -> str:
    """A bookie restarts with nothing stored; the requests that it has not handled are lost."""
    if s.crashes >= c.max_crashes:
        return "bookies have crashed max_crashes times"
    s.crashes += 1
    for entry in range(1, c.send_limit + 1):
        s.b_entries[bookie].data[entry] = nodes_up_to(0)
    s.b_lac[bookie] = 0
    s.b_fenced = without_node(s.b_fenced, bookie)
    if c.fence_on_unclean_shutdown and (c.fence_closed_ledgers or s.meta_status != "closed"):
        s.b_fenced = with_node(s.b_fenced, bookie)
    if c.set_limbo_on_unclean_shutdown:
        s.b_limbo = with_node(s.b_limbo, bookie)
    for client in range(1, c.clients + 1):
        lose_requests(s.messages[client], bookie)
    return TAKEN


def bookie_crashes_when_ledger_open(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is open."""
    if not c.allow_crash_when_ledger_open or s.meta_status != "open":
        return "the ledger is not open, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_in_recovery(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, while the ledger is recovered."""
    if not c.allow_crash_when_ledger_in_recovery or s.meta_status != "in_recovery":
        return "the ledger is not in recovery, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


def bookie_crashes_when_ledger_closed(s: State, c: Constants, bookie: Bookie):
    """A bookie crashes and loses what it stores, after the ledger was closed."""
    if not c.allow_crash_when_ledger_closed or s.meta_status != "closed":
        return "the ledger is not closed, or the constants forbid it"
    return restart_with_data_loss(s, c, bookie)


# --- Bookies: one in limbo does not count as fenced, if `limbo_tells_lac` is off ------------------


def bookie_sends_fencing_read_lac_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger and tells its LAC.

    One in limbo tells no LAC if `limbo_tells_lac` is off, so that a recovery does not count it as
    fenced, as in BookKeeper 4.18.0.
    """
    if bookie in s.b_limbo and not c.limbo_tells_lac:
        return "a bookie in limbo does not know its LAC"
    return fence_and_tell_lac(s, c, bookie, client, lost)


# --- Bookies: one in limbo answers a read of an entry that it does not have with "unknown" -------


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
    reason = why_not_handle_add(s.messages[client].adds, entry, lac, bookie)
    if reason:
        return reason
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_request(adds, entry, bookie):
            return "another recovery's request for an earlier entry is under way to this bookie"
    return store_and_confirm(s, c, bookie, client, entry, lac, lost)


def bookie_sends_read_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie fences the ledger, and answers: with the entry, that there is none, or unknown.

    A bookie that denies what it has lost makes the recovery cut it off: 12 steps to
    no_divergence_between_client_and_meta_data with one bookie and `set_limbo_on_unclean_shutdown`
    off (the exercise `say_that_you_do_not_know`).
    """
    messages = s.messages[client]
    reads = messages.reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way from the client to this bookie"
    denial = messages.unknown if bookie in s.b_limbo else messages.no_such_entry
    answer = answer_from(s, c, bookie, reads, entry, denial)
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- Clients: the creator ------------------------------------------------------------------------

# From here to the ensemble changes nothing has to do with limbo.


def client_sends_add_entry_requests(
    s: State, c: Constants, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, whatever is unconfirmed, to its current ensemble."""
    mine = s.clients[client]
    if mine.status != "open":
        return "the client has no open ledger"
    return send_next_entry(c, mine, s.messages[client].adds, mine.lap + 1, mine.lac, lost)


def client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookie."""
    return client_resends_pending_add_op(s, c, client, entry, lost)


def client_closes_ledger_fail(s: State, c: Constants, client: Client):
    """The creator tries to close the ledger, but somebody has changed it: it withdraws."""
    mine = s.clients[client]
    if mine.status != "open" or s.meta_status == "open":
        return "the client has no open ledger, or nobody recovers it"
    if mine.meta_version == s.meta_version:
        return "the client knows the latest metadata"
    withdraw(mine)
    return TAKEN


# --- Clients: recoveries -------------------------------------------------------------------------


def client_starts_recovery(s: State, c: Constants, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    return start_recovery(s, client, lost)


def write_ensemble(s: State, client) -> NodeSet(Bookie):
    """The bookies to which a recovery writes entries back."""
    return its_write_ensemble(s.clients[client])


def client_writes_back_entry(s: State, c: Constants, client: Client, lost: Subset(write_ensemble)):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine = s.clients[client]
    if mine.status != "in_recovery" or mine.recovery_phase != WRITE:
        return "the recovery has not read all there is"
    return write_back_next_entry(mine, s.messages[client].adds, mine.lac, lost)


def recovery_client_receives_add_confirmed_response(
    s: State, c: Constants, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != "in_recovery":
        return "the client does not recover"
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_answer(adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def recovery_client_closes_ledger(s: State, c: Constants, client: Client):
    """All that was read is written back: the recovery closes the ledger at its LAC."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.recovery_phase == WRITE)
    if reason:
        return reason
    if mine.fragments != s.meta_fragments and not c.close_with_own_fragments:
        return "the recovery has changed the ensemble (the original can't close then)"
    s.meta_fragments = mine.fragments
    close_ledger(s, mine, mine.lac)
    return TAKEN


# --- Ensemble changes: one bookie at a time, and not all that failed at once ---------------------


def write_time_outs(s: State, c: Constants, client) -> NodeSet(Bookie):
    """The bookies of which a client of this kind has lost an add, or an answer to one."""
    bookies = nodes_up_to(0)
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            bookies |= add_time_outs(s.messages[other].adds)
    return bookies


def replacements(s: State, c: Constants, client, bookie) -> NodeSet(Bookie):
    """The bookies for an ensemble without a bookie that timed out."""
    return without_one(s, c, s.clients[client], write_time_outs(s, c, client), bookie)


SomeEnsemble = Subset(replacements, "write_quorum")


def replace(s: State, c: Constants, client, bookie, ensemble) -> str:
    """Begin a new fragment after the LAC without the bookie."""
    mine = s.clients[client]
    time_outs = write_time_outs(s, c, client)
    reason = why_not_without_one(mine, time_outs, bookie)
    if reason:
        return reason
    reason = why_not_begin_fragment(s, mine, bookie, ensemble)
    if reason:
        return reason
    begin_fragment(c, mine, mine.fragments, mine.lac + 1, only(bookie), ensemble)
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            act_upon_add_time_outs(s.messages[other].adds, only(bookie))
    return TAKEN


def client_changes_ensemble(
    s: State, c: Constants, client: Client, bookie: Bookie, ensemble: SomeEnsemble
):
    """An add of the creator timed out: it replaces the bookie, in the metadata too."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if reason:
        return reason
    reason = replace(s, c, client, bookie, ensemble)
    if reason:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: State, c: Constants, client: Client, bookie: Bookie, ensemble: SomeEnsemble
):
    """A write back timed out: the recovery replaces the bookie, and tells nobody for now."""
    if s.clients[client].status != "in_recovery" or s.meta_status != "in_recovery":
        return "the client does not recover, or the ledger is closed"
    return replace(s, c, client, bookie, ensemble)


# --- Recovery reads: everything is read first, and there is a third answer, "unknown" -------------

# "Unknown" counts as an answer, but as neither yes nor no. All else is as in `v4_13`.


def client_receives_fencing_read_lac_response(
    s: State, c: Constants, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery learns that a bookie is fenced, and its LAC, which counts until somebody reads."""
    mine, answer = s.clients[client], s.messages[client].fence_responses[lac]
    if bookie not in answer.waiting:
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    start = recovery_start(mine, lac)
    has_anybody_read = any(has_asked(s.messages[other]) for other in range(1, c.clients + 1))
    if start > mine.lac and not has_anybody_read:
        mine.lac = start
        mine.lap = start
    handle(answer, bookie)
    return TAKEN


def read_ensemble(s: State, client) -> NodeSet(Bookie):
    """The bookies that a recovery asks for the entry after its LAP."""
    return ensemble_to_read(s.clients[client], s.clients[client].fragments)


def client_sends_read_requests(s: State, c: Constants, client: Client, lost: Subset(read_ensemble)):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    reason = why_not_ask(c, mine, s.messages[client])
    if reason:
        return reason
    ask_for_next_entry(mine, s.messages[client], mine.fragments, lost)
    return TAKEN


# --- Answers -------------------------------------------------------------------------------------

SomeAnswer = Named("ok", "no_such_entry", "unknown")


def lowest(answer: SomeAnswer) -> int:
    """The least id, and the least data: an answer without an entry has 0 for both."""
    return 1 if answer == "ok" else 0


def highest(c, answer: SomeAnswer) -> int:
    """The greatest id, and the greatest data: an answer with an entry may have any."""
    return c.send_limit if answer == "ok" else 0


ItsEntry, ItsData = Range(lowest, highest), Range(lowest, highest)


def messages_with(messages, answer: SomeAnswer, entry, data):
    """The messages with this answer to a client's read."""
    if answer == "ok":
        return messages.reads[entry - 1].responses[data - 1]
    return messages.unknown if answer == "unknown" else messages.no_such_entry


def received_all_responses(s, c, client, bookie, answer: SomeAnswer, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    mine, time_outs = s.clients[client], nodes_up_to(0)
    for other in range(1, c.clients + 1):
        time_outs |= read_time_outs(s.messages[other]) | s.messages[other].unknown.lost
    heard = how_many_have_it(mine, bookie, answer == "ok")
    heard += how_many_deny_it(mine, bookie, answer == "no_such_entry")
    heard += len(with_answer(answer == "unknown", mine.is_unknown, bookie))
    return heard + len(asked_for(mine.fragments, entry) & time_outs) == c.write_quorum


def why_not_decide(s: State, c: Constants, client, bookie, answer: SomeAnswer, entry, data) -> str:
    """Why this answer is not the last that a recovery waits for; "" if it is."""
    if bookie not in messages_with(s.messages[client], answer, entry, data).waiting:
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, client, bookie, answer, entry):
        return "the recovery waits for more answers"
    return TAKEN


def finish_read(s: State, c: Constants, client, bookie, answer: SomeAnswer, entry, data) -> None:
    """Take the answer, and forget all answers, and all clients' time-outs of these bookies."""
    mine = s.clients[client]
    handle(messages_with(s.messages[client], answer, entry, data), bookie)
    forget_answers(mine)
    mine.is_unknown = nodes_up_to(0)
    mine.fenced = with_node(mine.fenced, bookie)
    bookies = asked_for(mine.fragments, entry)
    for other in range(1, c.clients + 1):
        act_upon_read_time_outs(s.messages[other], bookies)
        act_upon_losses(s.messages[other].unknown, bookies)


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
    if bookie not in given.waiting:
        return "no such answer is under way from this bookie"
    if received_all_responses(s, c, client, bookie, answer, entry):
        return "this is the last answer that the recovery waits for"
    note_answer(mine, bookie, answer == "ok", answer == "no_such_entry", entry, data)
    mine.is_unknown = with_answer(answer == "unknown", mine.is_unknown, bookie)
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
    reason = why_not_decide(s, c, client, bookie, answer, entry, data)
    if reason:
        return reason
    if how_many_have_it(mine, bookie, answer == "ok") < c.ack_quorum:
        return "fewer bookies than an ack quorum have the entry"
    recover_entry(mine, answer == "ok", data)
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
    reason = why_not_decide(s, c, client, bookie, answer, entry, data)
    if reason:
        return reason
    denials = how_many_deny_it(mine, bookie, answer == "no_such_entry")
    if not has_quorum_coverage(c, denials, c.write_quorum):
        return "there may be an ack quorum of bookies that have the entry"
    mine.recovery_phase = WRITE
    finish_read(s, c, client, bookie, answer, entry, data)
    return TAKEN


# --- The bound on a search: how many messages are lost at a time ---------------------------------


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += count_lost_writes(messages.adds) + count_lost_fencing(messages)
        lost += count_lost_reads(messages) + len(messages.unknown.lost)
    return within_lost_messages(c, lost)


# --- Situations ----------------------------------------------------------------------------------


def a_bookie_is_in_limbo(s: State, c: Constants) -> bool:
    """A bookie has crashed, and does not know any more what it had."""
    return s.b_limbo != 0


def a_recovery_hears_that_a_bookie_does_not_know(s: State, c: Constants) -> bool:
    """A recovery has an answer from a bookie in limbo, which is neither yes nor no."""
    return any(
        s.clients[k].status == "in_recovery" and s.clients[k].is_unknown != 0
        for k in range(1, c.clients + 1)
    )


# --- The spec ------------------------------------------------------------------------------------

spec = ledger_spec(
    "with_limbo",
    __doc__,
    original="BookKeeperProtocolWithLimbo",
    draw=draw_with_limbo,
    state=State,
    constants=Constants,
    init=v4_13.init,
    tlc="bookkeeper_spec.tlc",
    configurations=CONFIGURATIONS,
)

spec.action(bookie_sends_add_confirmed_response)
spec.action(writing.bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lac_response)
spec.action(bookie_sends_read_response)
spec.action(bookie_crashes_when_ledger_open)
spec.action(bookie_crashes_when_ledger_in_recovery)
spec.action(bookie_crashes_when_ledger_closed)
spec.action(writing.client_creates_ledger)
spec.action(client_sends_add_entry_requests)
spec.action(writing.client_receives_add_confirmed_response)
spec.action(writing.client_receives_add_fenced_response)
spec.action(client_changes_ensemble)
spec.action(client_sends_pending_add_op)
spec.action(writing.client_closes_ledger_success)
spec.action(client_closes_ledger_fail)
spec.action(client_starts_recovery)
spec.action(client_receives_fencing_read_lac_response)
spec.action(client_sends_read_requests)
spec.action(client_receives_non_final_read)
spec.action(client_completes_read_successfully)
spec.action(client_completes_read_with_no_such_entry)
spec.action(client_writes_back_entry)
spec.action(recovery_client_receives_add_confirmed_response)
spec.action(recovery_client_changes_ensemble)
spec.action(writing.recovery_client_sends_pending_add_op)
spec.action(recovery_client_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(properties.no_out_of_order_entries)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(properties.all_acked_entries_are_readable, by_default=False)
spec.invariant(properties.all_committed_entries_reach_ack_quorum, by_default=False)
spec.constraint(max_lost_messages)
spec.situation(properties.recovery_closes_the_ledger, expected=True)
spec.property(properties.liveness)
spec.weakly_fair(NEXT)

spec.situation(a_bookie_is_in_limbo)
spec.situation(a_recovery_hears_that_a_bookie_does_not_know)
