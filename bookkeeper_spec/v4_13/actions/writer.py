"""The writer w1: it creates the ledger, adds entries, receives confirmations, and closes it."""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import receive_confirmation, send_next_entry
from bookkeeper_spec.actions.metadata import close_ledger
from bookkeeper_spec.model.ledger import (
    NIL,
    OPEN,
    Bookie,
    Fragment,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    no_ensemble,
)
from bookkeeper_spec.model.messages import handle, why_not_hear_refusal
from bookkeeper_spec.v4_13.model import W1
from protocol_lab import TAKEN, Subset, append, contains

# --- w1 creates and adds -------------------------------------------------------------------------


def first_ensembles(s, c) -> int:
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == NIL else no_ensemble(c)


def w1_creates_ledger(s: Ledger, c: NamedTuple, ensemble: Subset(first_ensembles, "write_quorum")):
    """w1 chooses the first ensemble; the bookies are not told."""
    if s.meta_status != NIL or s.w1.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = OPEN
    s.meta_version = 1
    s.w1.status = OPEN
    s.w1.meta_version = 1
    s.w1.curr_fragment = s.meta_fragments.items[0]
    return TAKEN


def w1s_ensemble(s) -> int:
    """The bookies to which w1 sends what it adds."""
    return s.w1.curr_fragment.ensemble if s.w1.status == OPEN else 0


def w1_sends_add_entry_requests(s: Ledger, c: NamedTuple, lost: Subset(w1s_ensemble)):
    """w1 sends its next entry, with its LAC, to all bookies of its current ensemble."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return send_next_entry(c, s.w1, s.messages.adds[W1], s.w1.lap + 1, s.w1.lac, lost)


def w1_receives_add_confirmed_response(s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry of w1: the LAC may rise, and the caller is told."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return receive_confirmation(c, s.w1, s.messages.adds[W1], bookie, entry)


def w1_receives_add_fenced_response(s: Ledger, c: NamedTuple, bookie: Bookie, entry: SomeEntry):
    """w1 hears that the ledger is fenced: somebody recovers it, and w1 stops."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    reason = why_not_hear_refusal(s.messages.adds[W1], entry, bookie)
    if len(reason) != 0:
        return reason
    if not contains(s.w1.curr_fragment.ensemble, bookie):
        return "the bookie is not in w1's current ensemble"
    s.w1.status = NIL
    handle(s.messages.adds[W1].of[entry - 1].refused, bookie)
    return TAKEN


# --- w1 closes -----------------------------------------------------------------------------------


def w1_close_ledger_success(s: Ledger, c: NamedTuple):
    """w1 closes the ledger at its LAC, whenever it likes, if the metadata are as it knows them."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    if s.w1.meta_version != s.meta_version:
        return "the metadata have changed since w1 read them"
    close_ledger(s, s.w1, s.w1.lac)
    return TAKEN


def w1_close_ledger_fail(s: Ledger, c: NamedTuple):
    """w1 tries to close the ledger, but somebody recovers it. w1 goes on all the same."""
    if s.w1.status != OPEN or s.meta_status == OPEN:
        return "w1 has no open ledger, or nobody recovers it"
    if s.w1.meta_version == s.meta_version:
        return "w1 knows the latest metadata"
    s.w1.meta_version = 0
    return TAKEN
