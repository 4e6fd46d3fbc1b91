"""Ensemble changes: a client replaces one bookie at a time, and not all that failed at once.

A bookie has timed out for a recovery if any recovery has lost an add to it: the original does not
tell them apart.
"""

from typing import NamedTuple

from bookkeeper_spec.actions.metadata import publish_fragments, why_not_change_metadata
from bookkeeper_spec.actions.replacing import begin_fragment, why_not_replace
from bookkeeper_spec.model.clients import Client
from bookkeeper_spec.model.ledger import IN_RECOVERY, Bookie, Ledger, bookies_to_choose, no_ensemble
from bookkeeper_spec.model.messages import act_upon_add_time_outs, add_time_outs
from bookkeeper_spec.v4_13.actions.replacing import is_valid_next_fragment
from bookkeeper_spec.with_limbo.model import same_kind
from protocol_lab import TAKEN, Subset, contains, only


def write_time_outs(s, c, client) -> int:
    """The bookies of which a client of this kind has lost an add, or an answer to one."""
    bookies = 0
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            bookies |= add_time_outs(c, s.messages[other].adds)
    return bookies


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
        return "the fragment would begin before an existing one"
    begin_fragment(c, mine, mine.fragments, mine.lac + 1, only(bookie), ensemble)
    for other in range(1, c.clients + 1):
        if same_kind(s, client, other):
            act_upon_add_time_outs(c, s.messages[other].adds, only(bookie))
    return TAKEN


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
