"""Bookies: they keep the highest LAC and LAFR that they have seen; recoveries ask for the LAFR."""

from bookkeeper_spec.actions.bookies import accept_add, fence, refuse_add
from bookkeeper_spec.guaranteed_write_quorum.model import Constants, SomeMark, State, stamp
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import Bookie, SomeEntry
from bookkeeper_spec.model.messages import its_own, why_not_handle_add
from protocol_lab import TAKEN, Subset, with_node


def why_not_come_to(s, c, bookie, client, entry, lac, lafr) -> str:
    """Why a bookie can't handle this request; "" if it can."""
    return why_not_handle_add(c, s.messages[client].adds, entry, stamp(c, lac, lafr), bookie)


def keep_marks(s, bookie, lac, lafr) -> None:
    """A bookie keeps the highest LAC and LAFR that came with any request."""
    s.b_lac[bookie] = max(s.b_lac[bookie], lac)
    s.b_lafr[bookie] = max(s.b_lafr[bookie], lafr)


def bookie_sends_add_confirmed_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie stores an entry, and keeps the highest LAC and LAFR that came with any."""
    reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
    if len(reason) != 0:
        return reason
    reason = accept_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)
    if len(reason) != 0:
        return reason
    data = s.messages[client].adds.of[entry - 1].data
    s.b_entries[bookie].data[entry] = with_node(s.b_entries[bookie].data[entry], data)
    keep_marks(s, bookie, lac, lafr)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    client: Client,
    entry: SomeEntry,
    lac: SomeMark,
    lafr: SomeMark,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of the creator."""
    reason = why_not_come_to(s, c, bookie, client, entry, lac, lafr)
    if len(reason) != 0:
        return reason
    return refuse_add(s, bookie, client, entry, stamp(c, lac, lafr), lost)


def bookie_sends_fencing_read_lafr_response(
    s: State, c: Constants, bookie: Bookie, client: Client, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAFR."""
    return fence(s, s.messages[client], bookie, s.b_lafr[bookie], lost)
