"""Ensemble changes: a client replaces all bookies that failed.

The creator writes the new fragment to the metadata at once. A recovery keeps it to itself until it
closes the ledger: others must read where the entries were written.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.adding import send_adds
from bookkeeper_spec.actions.metadata import publish_fragments, why_not_change_metadata
from bookkeeper_spec.model.clients import Client, has_pending_resends, needs_resend, position_of_op
from bookkeeper_spec.model.ledger import (
    IN_RECOVERY,
    OPEN,
    Ledger,
    PendingAddOp,
    SomeEntry,
    bookies_to_choose,
    is_valid_ensemble,
    last_fragment,
    no_ensemble,
    update_fragments,
)
from bookkeeper_spec.model.messages import act_upon_add_time_outs, add_time_outs, were_adds_sent
from protocol_lab import TAKEN, Subset, add, take

# --- Another ensemble ----------------------------------------------------------------------------


def why_not_replace(s, writer, failed, ensemble) -> str:
    """Why a client can't replace its ensemble with this one; "" if it can."""
    good = writer.curr_fragment.ensemble & ~failed
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    if not is_valid_ensemble(s, ensemble, good, failed):
        return "the ensemble lacks a good bookie, has a failed one, or is a fragment's already"
    return TAKEN


def begin_fragment(c, writer, fragments, first_entry_id, failed, ensemble) -> None:
    """Use another ensemble from an entry on.

    The failed bookies' confirmations of these entries no longer count: the new ensemble does not
    have those bookies.
    """
    update_fragments(fragments, writer.curr_fragment, first_entry_id, ensemble)
    writer.curr_fragment = last_fragment(fragments)
    for entry in range(first_entry_id, c.send_limit + 1):
        writer.confirmed[entry] &= ~failed


def failed_bookies(s, c, client) -> int:
    """All bookies of the client's current ensemble to which an add has timed out."""
    return s.clients[client].curr_fragment.ensemble & add_time_outs(c, s.messages[client].adds)


def replacements(s, c, client) -> int:
    """The bookies for an ensemble without those that failed."""
    failed = failed_bookies(s, c, client)
    if failed == 0:
        return no_ensemble(c)
    return bookies_to_choose(s, c, s.clients[client].curr_fragment.ensemble & ~failed, failed)


def go_on_without(s, c, client, failed, first_entry_id, ensemble) -> str:
    """Begin a new fragment at an entry, without the bookies that failed."""
    mine = s.clients[client]
    reason = why_not_replace(s, mine, failed, ensemble)
    if len(reason) != 0:
        return reason
    begin_fragment(c, mine, mine.fragments, first_entry_id, failed, ensemble)
    act_upon_add_time_outs(c, s.messages[client].adds, failed)
    return TAKEN


def replace_failed(s, c, client, ensemble) -> str:
    """Begin a new fragment after the LAC, if bookies have failed."""
    failed = failed_bookies(s, c, client)
    if failed == 0:
        return "no add to a bookie of the current ensemble has timed out"
    return go_on_without(s, c, client, failed, s.clients[client].lac + 1, ensemble)


def client_changes_ensemble(
    s: Ledger, c: NamedTuple, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Adds of the creator timed out: it replaces all bookies that failed, in the metadata too."""
    mine = s.clients[client]
    reason = why_not_change_metadata(s, mine)
    if len(reason) != 0:
        return reason
    reason = replace_failed(s, c, client, ensemble)
    if len(reason) != 0:
        return reason
    publish_fragments(s, mine)
    return TAKEN


def recovery_client_changes_ensemble(
    s: Ledger, c: NamedTuple, client: Client, ensemble: Subset(replacements, "write_quorum")
):
    """Write backs timed out: the recovery replaces the bookies, and tells nobody for now."""
    if s.clients[client].status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "the client does not recover, or the ledger is closed"
    return replace_failed(s, c, client, ensemble)


# --- Sending again -------------------------------------------------------------------------------


def new_bookies_for(writer, entry) -> int:
    """The bookies of the current ensemble to which a pending add was not sent."""
    position = position_of_op(writer, entry)
    if position == writer.pending_add_ops.size:
        return 0
    return writer.curr_fragment.ensemble & ~writer.pending_add_ops.items[position].ensemble


def resend_pending_op(writer, messages, entry, stamp, lost) -> str:
    """Send a pending add to those bookies of the new ensemble that were not in its own."""
    position, ops = position_of_op(writer, entry), writer.pending_add_ops
    if position == ops.size:
        return "the entry is not pending"
    op, fragment = ops.items[position], writer.curr_fragment
    if not needs_resend(op, fragment):
        return "the entry was sent to the current ensemble"
    if any(
        ops.items[k].fragment_id == op.fragment_id and ops.items[k].ensemble == op.ensemble
        for k in range(position)
    ):
        return "an earlier entry that went to the same ensemble comes first"
    bookies = new_bookies_for(writer, entry)
    if were_adds_sent(messages.of[entry - 1], stamp, bookies):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], op.entry.data, stamp, bookies, lost)
    sent = PendingAddOp(entry=op.entry, fragment_id=fragment.id, ensemble=fragment.ensemble)
    take(ops, op)
    add(ops, sent)
    return TAKEN


def its_new_bookies(s, client, entry) -> int:
    """The bookies to which a client has not sent a pending add."""
    return new_bookies_for(s.clients[client], entry)


def client_resends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, the creator sends an unconfirmed entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != OPEN:
        return "the client has no open ledger"
    return resend_pending_op(mine, s.messages[client].adds, entry, mine.lac, lost)


def recovery_client_sends_pending_add_op(
    s: Ledger, c: NamedTuple, client: Client, entry: SomeEntry, lost: Subset(its_new_bookies)
):
    """After a change of the ensemble, a recovery writes an unconfirmed entry to the new bookies."""
    mine = s.clients[client]
    if mine.status != IN_RECOVERY:
        return "the client does not recover"
    return resend_pending_op(mine, s.messages[client].adds, entry, mine.lac, lost)
