"""Ensemble changes: a new fragment begins after the LAFR, and a pinned bookie can't be replaced."""

from typing import NamedTuple

from bookkeeper_spec.actions.metadata import publish_fragments, why_not_change_metadata
from bookkeeper_spec.actions.replacing import (
    failed_bookies,
    go_on_without,
    its_new_bookies,
    resend_pending_op,
)
from bookkeeper_spec.guaranteed_write_quorum.model import Constants, State, is_pinned, stamp_of
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    OPEN,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    no_ensemble,
)
from protocol_lab import TAKEN, Subset, members


def replacements(s, c, client, failed) -> int:
    """The bookies for an ensemble without those that failed."""
    mine = s.clients[client]
    if mine.curr_fragment.id == 0:
        return no_ensemble(c)
    return bookies_to_choose(s, c, mine.curr_fragment.ensemble & ~failed, failed)


def replace(s, c, client, failed, ensemble) -> str:
    """Begin a new fragment after the LAFR, if no bookie that failed is pinned."""
    mine = s.clients[client]
    if any(is_pinned(mine, bookie) for bookie in members(failed)):
        return "a bookie is pinned: it has confirmed an acknowledged entry that would move on"
    return go_on_without(s, c, client, failed, mine.lafr + 1, ensemble)


def client_changes_ensemble(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    failed: Subset(failed_bookies),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Adds of the creator timed out: it replaces bookies that are not pinned."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    reason = replace(s, c, client, failed, ensemble)
    if len(reason) != 0:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: Ledger,
    c: NamedTuple,
    client: Client,
    failed: Subset(failed_bookies),
    ensemble: Subset(replacements, "write_quorum"),
):
    """Write backs timed out: the recovery replaces bookies, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    return replace(s, c, client, failed, ensemble)


def client_resends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    return resend_pending_op(mine, s.messages[client].adds, entry, stamp_of(c, mine), lost)


def recovery_client_sends_pending_add_op(
    s: State, c: Constants, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes a pending entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, stamp_of(c, mine), lost)
