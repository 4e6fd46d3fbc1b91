"""Recovery reads: everything is read first, and there is a third answer, "unknown".

All else is as in `v4_13.actions.reading_first`. A bookie in limbo does not know whether it had the
entry: that counts as an answer, but as neither yes nor no.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.recovery import recovery_start
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import Bookie, Ledger, SomeLac
from bookkeeper_spec.model.messages import act_upon_losses, handle
from bookkeeper_spec.v4_13.actions.reading_first import (
    act_upon_read_time_outs,
    ask_for_next_entry,
    asked_for,
    ensemble_to_read,
    forget_answers,
    has_asked,
    negative,
    note_answer,
    positive,
    read_time_outs,
    recover_entry,
    who_said,
)
from bookkeeper_spec.v4_13.model import OK, UNKNOWN, WRITE
from protocol_lab import TAKEN, Named, Range, Subset, contains, size, with_node

# --- Fenced bookies ------------------------------------------------------------------------------


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


# --- Requests ------------------------------------------------------------------------------------


def read_ensemble(s, client) -> int:
    """The bookies that a recovery asks for the entry after its LAP."""
    return ensemble_to_read(s.clients[client], s.clients[client].fragments)


def client_sends_read_requests(
    s: Ledger, c: NamedTuple, client: Client, lost: Subset(read_ensemble)
):
    """A recovery asks for the next entry, once no ack quorum is left that is not fenced."""
    mine = s.clients[client]
    return ask_for_next_entry(c, mine, s.messages[client], mine.fragments, lost)


# --- Answers -------------------------------------------------------------------------------------


SomeAnswer = Named(("ok", "no_such_entry", "unknown"))


def lowest(answer) -> int:
    """The least id, and the least data: an answer without an entry has 0 for both."""
    return 1 if answer == OK else 0


def highest(c, answer) -> int:
    """The greatest id, and the greatest data: an answer with an entry may have any."""
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
        return "fewer bookies than an ack quorum have the entry"
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
