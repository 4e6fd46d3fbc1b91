"""What differs in `with_limbo` from today's protocol although it has nothing to do with limbo.

It was written from the protocol of 4.13. So a recovery reads everything first and waits for all
answers, of which one more is "unknown", and bookies that fail are replaced one at a time. And the
original asks some things of all recoveries together, because it does not tell them apart: whether
an earlier message is under way, and who has timed out.
"""

from typing import NamedTuple

from bookkeeper_spec.adding import its_ensemble, withdraw
from bookkeeper_spec.bookies import confirm_add
from bookkeeper_spec.clients import (
    Client,
    close_ledger,
    publish_fragments,
    recovers,
    why_not_change_metadata,
)
from bookkeeper_spec.constants import SMALLEST
from bookkeeper_spec.ledger import (
    IN_RECOVERY,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    bookies_to_choose,
    count_ensembles,
    is_valid_next_fragment,
    no_ensemble,
)
from bookkeeper_spec.messages import (
    act_upon_add_time_outs,
    act_upon_losses,
    add_time_outs,
    count_lost_adds,
    handle,
    is_earliest_answer,
    is_earliest_request,
    its_own,
    why_not_handle_add,
)
from bookkeeper_spec.reading_first import (
    OK,
    UNKNOWN,
    WRITE,
    act_upon_read_time_outs,
    ask_for_next_entry,
    asked_for,
    ensemble_to_read,
    forget_answers,
    has_asked,
    its_write_ensemble,
    negative,
    note_answer,
    positive,
    read_time_outs,
    recover_entry,
    who_said,
)
from bookkeeper_spec.recovery import (
    last_ensemble,
    recovery_start,
    start_recovery,
    why_not_end_recovery,
)
from bookkeeper_spec.replacing import client_resends_pending_add_op, its_new_bookies
from bookkeeper_spec.writing import (
    begin_fragment,
    receive_confirmation,
    send_next_entry,
    why_not_replace,
    write_back_next_entry,
)
from protocol_lab import TAKEN, Named, Range, Subset, contains, only, size, with_node

# --- A recovery reads --------------------------------------------------------------------------


def has_anybody_asked(s, c) -> bool:
    """Has any client asked for any entry?"""
    return any(has_asked(c, s.messages[client]) for client in range(1, c.clients + 1))


def client_receives_fencing_read_lac_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, lac: SomeLac
):
    """A recovery hears that a bookie is fenced, and its LAC, which counts until somebody reads."""
    mine, answer = s.clients[client], s.messages[client].fence_responses[lac]
    if not contains(answer.waiting, bookie):
        return "no such answer is under way from this bookie"
    mine.fenced = with_node(mine.fenced, bookie)
    start = recovery_start(mine, lac)
    if start > mine.lac and not has_anybody_asked(s, c):
        mine.lac = start
        mine.lap = start
    handle(answer, bookie)
    return TAKEN


def read_ensemble(s, client) -> int:
    """The bookies that a recovery asks for the entry after its LAP."""
    return ensemble_to_read(s.clients[client], s.clients[client].fragments)


def client_sends_read_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(read_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    return ask_for_next_entry(c, mine, s.messages[client], mine.fragments, lost)


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


def received_all_responses(s, c, client, bookie, answer, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    mine, time_outs = s.clients[client], 0
    for other in range(1, c.clients + 1):
        messages = s.messages[other]
        time_outs |= read_time_outs(c, messages) | messages.unknown.lost
    return (
        positive(mine, bookie, answer)
        + negative(mine, bookie, answer)
        + size(who_said(mine.is_unknown, bookie, answer, UNKNOWN))
        + size(asked_for(mine.fragments, entry) & time_outs)
        == c.write_quorum
    )


def why_not_decide(s, c, client, bookie, answer, entry, data) -> str:
    """Why this answer is not the last that a recovery waits for; "" if it is."""
    if not contains(messages_with(s.messages[client], answer, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, client, bookie, answer, entry):
        return "the recovery waits for more answers"
    return TAKEN


def finish_read(s, c, client, bookie, answer, entry, data) -> None:
    """Take the answer, and forget all answers, and all clients' time-outs of these bookies."""
    mine = s.clients[client]
    handle(messages_with(s.messages[client], answer, entry, data), bookie)
    forget_answers(mine)
    mine.is_unknown = 0
    mine.fenced = with_node(mine.fenced, bookie)
    bookies = asked_for(mine.fragments, entry)
    for other in range(1, c.clients + 1):
        act_upon_read_time_outs(c, s.messages[other], bookies)
        act_upon_losses(s.messages[other].unknown, bookies)


def client_receives_non_final_read(
    s: Ledger,
    c: NamedTuple,
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
    note_answer(mine, bookie, answer, entry, data)
    mine.is_unknown = who_said(mine.is_unknown, bookie, answer, UNKNOWN)
    mine.fenced = with_node(mine.fenced, bookie)
    handle(given, bookie)
    return TAKEN


def client_completes_read_successfully(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    answer: SomeAnswer,
    entry: ItsEntry,
    data: ItsData,
):
    """An ack quorum of bookies have the entry: it is to be written back, and the next one read."""
    mine = s.clients[client]
    reason = why_not_decide(s, c, client, bookie, answer, entry, data)
    if len(reason) != 0:
        return reason
    if positive(mine, bookie, answer) < c.ack_quorum:
        return "less than an ack quorum of bookies have the entry"
    recover_entry(mine, answer, data)
    finish_read(s, c, client, bookie, answer, entry, data)
    return TAKEN


def client_completes_read_with_no_such_entry(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    answer: SomeAnswer,
    entry: ItsEntry,
    data: ItsData,
):
    """So many bookies deny the entry that no ack quorum can have it: all there is was read."""
    mine = s.clients[client]
    reason = why_not_decide(s, c, client, bookie, answer, entry, data)
    if len(reason) != 0:
        return reason
    if negative(mine, bookie, answer) < c.write_quorum - c.ack_quorum + 1:
        return "there may be an ack quorum of bookies that have the entry"
    mine.recovery_phase = WRITE
    finish_read(s, c, client, bookie, answer, entry, data)
    return TAKEN


# --- Recoveries that the original does not tell apart ---------------------------------------------


def same_kind(s, client, other) -> bool:
    """Do both recover, or neither? There is one creator, but there may be several recoveries."""
    return recovers(s, client) == recovers(s, other)


def bookie_sends_add_confirmed_response(
    s: Ledger,
    c: NamedTuple,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    reason = why_not_handle_add(c, s.messages[client].adds, entry, lac, bookie)
    if len(reason) != 0:
        return reason
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_request(c, adds, entry, bookie):
            return "another recovery's request for an earlier entry is under way to this bookie"
    return confirm_add(s, bookie, client, entry, lac, lost)


def recovery_client_receives_add_confirmed_response(
    s: Ledger, c: NamedTuple, client: Client, bookie: Bookie, entry: SomeEntry
):
    """A bookie has stored an entry that the recovery wrote back."""
    if s.clients[client].status != IN_RECOVERY:
        return "the client does not recover"
    for other in range(1, c.clients + 1):
        adds = s.messages[other].adds
        if same_kind(s, client, other) and not is_earliest_answer(adds, entry, bookie):
            return "an answer about an earlier entry is under way from this bookie"
    return receive_confirmation(c, s.clients[client], s.messages[client].adds, bookie, entry)


def write_time_outs(s, c, client) -> int:
    """The bookies of which a client of this kind has lost an add, or an answer to one."""
    bookies = 0
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            bookies |= add_time_outs(c, s.messages[other].adds)
    return bookies


# --- A bookie is replaced, one at a time ---------------------------------------------------------


def replacements(s, c, client, bookie) -> int:
    """The bookies for an ensemble without a bookie that timed out."""
    ensemble = s.clients[client].curr_fragment.ensemble
    if not contains(ensemble & write_time_outs(s, c, client), bookie):
        return no_ensemble(c)
    return bookies_to_choose(s, c, ensemble & ~only(bookie), only(bookie))


def replace(s, c, client, bookie, ensemble) -> str:
    """Begin a new fragment after the LAC without the bookie."""
    mine = s.clients[client]
    if not contains(mine.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    if not contains(write_time_outs(s, c, client), bookie):
        return "no add to this bookie has timed out"
    reason = why_not_replace(s, mine, only(bookie), ensemble)
    if len(reason) != 0:
        return reason
    if not is_valid_next_fragment(s, mine.lac + 1):
        return "the fragment would begin before one that there is"
    begin_fragment(c, mine, mine.fragments, mine.lac + 1, only(bookie), ensemble)
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            act_upon_add_time_outs(c, s.messages[other].adds, only(bookie))
    return TAKEN


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
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    ensemble: Subset(replacements, "write_quorum"),
):
    """An add of the creator timed out: it replaces the bookie, in the metadata too."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    reason = replace(s, c, client, bookie, ensemble)
    if len(reason) != 0:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    bookie: Bookie,
    ensemble: Subset(replacements, "write_quorum"),
):
    """A write back timed out: the recovery replaces the bookie, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    return replace(s, c, client, bookie, ensemble)


# --- What else differs from today's protocol -----------------------------------------------------


def client_sends_add_entry_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(its_ensemble)
):
    """The creator sends its next entry, whatever is unconfirmed, to its current ensemble."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    return send_next_entry(c, mine, s.messages[client].adds, mine.lap + 1, mine.lac, lost)


def client_sends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookie."""
    return client_resends_pending_add_op(s, c, client, entry, lost)


def client_closes_ledger_fail(s: Ledger, c: NamedTuple, client: Client):
    """The creator tries to close the ledger, but somebody has changed it: it withdraws."""
    mine = s.clients[client]
    if mine.status != OPEN or s.meta_status == OPEN:
        return "the client has no open ledger, or nobody recovers it"
    if mine.meta_version == s.meta_version:
        return "the client knows the latest metadata"
    withdraw(mine)
    return TAKEN


def client_starts_recovery(s: Ledger, c: NamedTuple, client: Client, lost: Subset(last_ensemble)):
    """A client sets the status to IN_RECOVERY, and asks the last ensemble to fence and for LACs."""
    return start_recovery(s, client, lost)


def write_ensemble(s, client) -> int:
    """The bookies to which a recovery writes entries back."""
    return its_write_ensemble(s.clients[client])


def client_writes_back_entry(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(write_ensemble)
):
    """A recovery writes an entry back, to its current ensemble, wherever it was read."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY or mine.recovery_phase != WRITE:
        return "the recovery has not read all there is"
    return write_back_next_entry(c, mine, s.messages[client].adds, mine.lac, lost)


def recovery_client_closes_ledger(s: Ledger, c: NamedTuple, client: Client):
    """All that was read is written back: the recovery closes the ledger at its LAC."""
    mine = s.clients[client]
    reason = why_not_end_recovery(s, mine, mine.recovery_phase == WRITE)
    if len(reason) != 0:
        return reason
    if mine.fragments != s.meta_fragments and not c.close_with_own_fragments:
        return "the recovery has changed the ensemble (the original can't close then)"
    s.meta_fragments = mine.fragments
    close_ledger(s, mine, mine.lac)
    return TAKEN
