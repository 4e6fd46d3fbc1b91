"""How clients replace all bookies that failed: the creator, and a recovery.

The creator writes the new fragment to the metadata at once. A recovery keeps it to itself until it
closes the ledger: others must read where the entries were written.
"""

from typing import NamedTuple

from bookkeeper_spec.clients import Client, publish_fragments, why_not_change_metadata
from bookkeeper_spec.ledger import (
    IN_RECOVERY,
    OPEN,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    no_ensemble,
)
from bookkeeper_spec.messages import act_upon_add_time_outs, add_time_outs
from bookkeeper_spec.writing import (
    begin_fragment,
    change_count,
    new_bookies_for,
    resend_count,
    resend_pending_op,
    why_not_replace,
)
from protocol_lab import TAKEN, Subset

# --- Another ensemble ----------------------------------------------------------------------------


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


def change_witnesses(s, c, client, ensemble) -> int:
    """As often as there are time-outs of all the failed bookies, and ensembles."""
    mine, adds = s.clients[client], s.messages[client].adds
    return change_count(s, c, mine, adds, failed_bookies(s, c, client))


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


def its_new_bookies(s, client, entry) -> int:
    """The bookies to which a client has not sent a pending add."""
    return new_bookies_for(s.clients[client], entry)


def resend_witnesses(s, c, client, entry, lost) -> int:
    """Twice if both fragment and ensemble are others."""
    return resend_count(s.clients[client], entry)


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
