"""The recovery by w2: it fences, reads everything, writes it back, and closes the ledger."""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import receive_confirmation
from bookkeeper_spec.actions.metadata import close_ledger
from bookkeeper_spec.actions.recovery import why_not_end_recovery, write_back_next_entry
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    NIL,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    SomeLac,
    last_fragment,
)
from bookkeeper_spec.model.messages import handle, send
from bookkeeper_spec.v4_13.actions.reading_first import (
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
)
from bookkeeper_spec.v4_13.model import FENCING, NO_SUCH_ENTRY, OK, W2, WRITE
from protocol_lab import TAKEN, Range, Subset, contains, size, with_node

# --- w2 fences -----------------------------------------------------------------------------------


def last_ensemble(s) -> int:
    """The bookies that a recovery fences."""
    return last_fragment(s.meta_fragments).ensemble if s.meta_status == OPEN else 0


def w2_place_in_recovery(s: Ledger, c: NamedTuple, lost: Subset(last_ensemble)):
    """w2 sets the status to IN_RECOVERY, and asks the last ensemble to fence and for the LACs."""
    if s.w2.status != NIL:
        return "w2 has begun its recovery before"
    if s.meta_status != OPEN:
        return "the ledger is not open"
    s.meta_status = IN_RECOVERY
    s.meta_version += 1
    s.w2.status = IN_RECOVERY
    s.w2.meta_version = s.meta_version
    s.w2.recovery_phase = FENCING
    s.w2.curr_fragment = last_fragment(s.meta_fragments)
    send(s.messages.fence_requests, s.w2.curr_fragment.ensemble, lost)
    return TAKEN


def w2_receives_fencing_read_lac_response(s: Ledger, c: NamedTuple, bookie: Bookie, lac: SomeLac):
    """w2 hears that a bookie is fenced. Until it reads, it begins after the highest LAC so far.

    And in any case no earlier than the last fragment, unless `lac_from_fragment` is off.
    """
    if not contains(s.messages.fence_responses[lac].waiting, bookie):
        return "no such answer is under way from this bookie"
    confirmed = max(lac, s.w2.curr_fragment.first_entry_id - 1) if c.lac_from_fragment else lac
    s.w2.fenced = with_node(s.w2.fenced, bookie)
    if confirmed > s.w2.lac and not has_asked(c, s.messages):
        s.w2.lac = confirmed
        s.w2.lap = confirmed
    handle(s.messages.fence_responses[lac], bookie)
    return TAKEN


# --- w2 reads ------------------------------------------------------------------------------------


def read_ensemble(s) -> int:
    """The bookies that w2 asks for the entry after its LAP."""
    return ensemble_to_read(s.w2, s.meta_fragments)


def w2_sends_read_requests(s: Ledger, c: NamedTuple, lost: Subset(read_ensemble)):
    """w2 asks for the next entry, once no ack quorum is left that is not fenced."""
    return ask_for_next_entry(c, s.w2, s.messages, s.meta_fragments, lost)


SomeAnswer = Range(0, "send_limit")
"""The entry that a bookie answers a read with; 0 for "no such entry"."""


def first_data(entry) -> int:
    """The least data: an answer without an entry has 0."""
    return min(entry, 1)


def last_data(c, entry) -> int:
    """The greatest data: an answer with an entry may have any."""
    return c.send_limit if entry > 0 else 0


ItsData = Range(first_data, last_data)


def meaning(entry) -> int:
    """What an answer with this entry means."""
    return OK if entry > 0 else NO_SUCH_ENTRY


def answer_to_read(s, entry, data):
    """The messages with this answer."""
    return s.messages.reads[entry - 1].responses[data - 1] if entry else s.messages.no_such_entry


def received_all_responses(s, c, bookie, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    answer = meaning(entry)
    time_outs = asked_for(s.meta_fragments, entry) & read_time_outs(c, s.messages)
    heard = positive(s.w2, bookie, answer) + negative(s.w2, bookie, answer)
    return heard + size(time_outs) == c.write_quorum


def why_not_decide(s, c, bookie, entry, data) -> str:
    """Why this answer is not the last that w2 waits for; "" if it is."""
    if not contains(answer_to_read(s, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, bookie, entry):
        return "w2 waits for more answers"
    return TAKEN


def note_fenced(s, c, bookie) -> None:
    """A bookie that has answered a read is fenced, if reads fence."""
    if c.recovery_reads_fence:
        s.w2.fenced = with_node(s.w2.fenced, bookie)


def finish_read(s, c, bookie, entry, data) -> None:
    """Take the answer, forget all answers about the entry, and act upon time-outs."""
    handle(answer_to_read(s, entry, data), bookie)
    forget_answers(s.w2)
    note_fenced(s, c, bookie)
    act_upon_read_time_outs(c, s.messages, asked_for(s.meta_fragments, entry))


def w2_receives_non_final_read(
    s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """w2 notes an answer to its read, and waits for more."""
    if not contains(answer_to_read(s, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if received_all_responses(s, c, bookie, entry):
        return "this is the last answer that w2 waits for"
    note_answer(s.w2, bookie, meaning(entry), entry, data)
    note_fenced(s, c, bookie)
    handle(answer_to_read(s, entry, data), bookie)
    return TAKEN


def w2_completes_read_successfully(
    s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """An ack quorum of bookies have the entry: it is to be written back, and the next one read."""
    reason = why_not_decide(s, c, bookie, entry, data)
    if len(reason) != 0:
        return reason
    if positive(s.w2, bookie, meaning(entry)) < c.ack_quorum:
        return "fewer bookies than an ack quorum have the entry"
    recover_entry(s.w2, meaning(entry), data)
    finish_read(s, c, bookie, entry, data)
    return TAKEN


def w2_completes_read_with_no_such_entry(
    s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """So many bookies do not have the entry that no ack quorum can: w2 has read what there is."""
    reason = why_not_decide(s, c, bookie, entry, data)
    if len(reason) != 0:
        return reason
    if negative(s.w2, bookie, meaning(entry)) < c.write_quorum - c.ack_quorum + 1:
        return "there may be an ack quorum of bookies that have the entry"
    s.w2.recovery_phase = WRITE
    finish_read(s, c, bookie, entry, data)
    return TAKEN


# --- w2 writes back and closes -------------------------------------------------------------------


def w2s_ensemble(s) -> int:
    """The bookies to which w2 writes entries back."""
    return its_write_ensemble(s.w2)


def w2_writes_back_entry(s: Ledger, c: NamedTuple, lost: Subset(w2s_ensemble)):
    """w2 writes an entry back, to the last ensemble, wherever it was read."""
    if s.w2.status != IN_RECOVERY or s.w2.recovery_phase != WRITE:
        return "w2 has not read all there is"
    return write_back_next_entry(c, s.w2, s.messages.adds[W2], s.w2.lac, lost)


def w2_receives_add_confirmed_response(s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry that w2 wrote back."""
    if s.w2.status != IN_RECOVERY:
        return "w2 does not recover"
    return receive_confirmation(c, s.w2, s.messages.adds[W2], bookie, entry)


def w2_closes_ledger(s: Ledger, c: NamedTuple):
    """Everything that was read is written back: w2 closes the ledger at its LAC."""
    reason = why_not_end_recovery(s, s.w2, s.w2.recovery_phase == WRITE)
    if len(reason) != 0:
        return reason
    close_ledger(s, s.w2, s.w2.lac)
    return TAKEN
