"""Ensemble changes: w1 and w2 replace one bookie at a time, in the metadata at once."""

from typing import NamedTuple

from bookkeeper_spec.actions.replacing import (
    begin_fragment,
    new_bookies_for,
    resend_pending_op,
    why_not_replace,
)
from bookkeeper_spec.model.clients import has_pending_resends
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    INVALID,
    OPEN,
    Bookie,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    no_ensemble,
    smallest_ensemble,
)
from bookkeeper_spec.model.messages import act_upon_add_time_outs, add_time_outs
from bookkeeper_spec.v4_13.model import W1, W2
from protocol_lab import TAKEN, Subset, contains, only

# --- Both clients ------------------------------------------------------------------------------


def is_valid_next_fragment(s, first_entry_id) -> bool:
    """Does no fragment of the metadata begin after this entry?"""
    return all(
        s.meta_fragments.items[k].first_entry_id <= first_entry_id
        for k in range(s.meta_fragments.length)
    )


def replacements(s, c, writer, messages, bookie) -> int:
    """The bookies for an ensemble without a bookie that timed out."""
    if not contains(writer.curr_fragment.ensemble & add_time_outs(c, messages), bookie):
        return no_ensemble(c)
    return bookies_to_choose(s, c, writer.curr_fragment.ensemble & ~only(bookie), only(bookie))


def why_not_try(s, c, writer, messages, bookie) -> str:
    """Why a client can't try to replace this bookie; "" if it can."""
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    if writer.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    if not contains(writer.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    if not contains(add_time_outs(c, messages), bookie):
        return "no add to this bookie has timed out"
    return TAKEN


def change_ensemble(s, c, writer, messages, bookie, ensemble) -> str:
    """Begin a new fragment after the LAC without the bookie, and write that to the metadata."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if len(reason) != 0:
        return reason
    reason = why_not_replace(s, writer, only(bookie), ensemble)
    if len(reason) != 0:
        return reason
    if not is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would begin before an existing one"
    begin_fragment(c, writer, s.meta_fragments, writer.lac + 1, only(bookie), ensemble)
    s.meta_version += 1
    writer.meta_version = s.meta_version
    act_upon_add_time_outs(c, messages, only(bookie))
    return TAKEN


def try_invalid_ensemble_change(s, c, writer, messages, bookie) -> str:
    """Find that the new fragment would begin before an existing one."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if len(reason) != 0:
        return reason
    if is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would not begin before another"
    if smallest_ensemble(s, c, writer.curr_fragment.ensemble & ~only(bookie), only(bookie)) == 0:
        return "there is no other ensemble"
    writer.status = INVALID
    return TAKEN


# --- w1 ------------------------------------------------------------------------------------------


def w1s_replacements(s, c, bookie) -> int:
    """The bookies for an ensemble of w1 without one that timed out."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return no_ensemble(c)
    return replacements(s, c, s.w1, s.messages.adds[W1], bookie)


def w1_changes_ensemble(
    s: Ledger, c: NamedTuple, bookie: Bookie, ensemble: Subset(w1s_replacements, "write_quorum")
):
    """An add of w1 timed out: it replaces the bookie, and writes that to the metadata."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    return change_ensemble(s, c, s.w1, s.messages.adds[W1], bookie, ensemble)


def w1_tries_invalid_ensemble_change(s: Ledger, c: NamedTuple, bookie: Bookie):
    """w1 would have to begin a fragment before the last one. It never has to."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    return try_invalid_ensemble_change(s, c, s.w1, s.messages.adds[W1], bookie)


def w1s_new_bookies(s, entry) -> int:
    """The bookies to which w1 has not sent a pending add."""
    return new_bookies_for(s.w1, entry) if s.w1.status == OPEN else 0


def w1_sends_pending_add_op(
    s: Ledger, c: NamedTuple, entry: SomeEntry, lost: Subset(w1s_new_bookies)
):
    """After a change of the ensemble, w1 sends an unconfirmed entry to the new bookie."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return resend_pending_op(s.w1, s.messages.adds[W1], entry, s.w1.lac, lost)


# --- w2 ------------------------------------------------------------------------------------------


def w2s_replacements(s, c, bookie) -> int:
    """The bookies for an ensemble of w2 without one that timed out."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return no_ensemble(c)
    return replacements(s, c, s.w2, s.messages.adds[W2], bookie)


def w2_changes_ensemble(
    s: Ledger, c: NamedTuple, bookie: Bookie, ensemble: Subset(w2s_replacements, "write_quorum")
):
    """A write back timed out: w2 replaces the bookie, and writes that to the metadata."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "w2 does not recover"
    return change_ensemble(s, c, s.w2, s.messages.adds[W2], bookie, ensemble)


def w2_tries_invalid_ensemble_change(s: Ledger, c: NamedTuple, bookie: Bookie):
    """w2 would have to begin a fragment before the last one: recovery fails (defect 2)."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "w2 does not recover"
    return try_invalid_ensemble_change(s, c, s.w2, s.messages.adds[W2], bookie)


def w2s_new_bookies(s, entry) -> int:
    """The bookies to which w2 has not sent a pending add."""
    return new_bookies_for(s.w2, entry) if s.w2.status == IN_RECOVERY else 0


def w2_sends_pending_add_op(
    s: Ledger, c: NamedTuple, entry: SomeEntry, lost: Subset(w2s_new_bookies)
):
    """After a change of the ensemble, w2 writes an unconfirmed entry to the new bookie."""
    if s.w2.status != IN_RECOVERY:
        return "w2 does not recover"
    return resend_pending_op(s.w2, s.messages.adds[W2], entry, s.w2.lac, lost)
