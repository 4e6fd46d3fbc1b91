"""What the proposals share in which nothing is done with before it is on a write quorum.

A client has a second mark beside its LAC: the LAFR (last add fully replicated), up to which every
entry is on a write quorum. Requests carry both, and bookies keep the highest of each.
"""

from typing import NamedTuple

from bookkeeper_spec.clients import Client, publish_fragments, why_not_change_metadata
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    OPEN,
    Ledger,
    SomeEntry,
    bookies_to_choose,
    copies,
    fragment_of_entry,
    no_ensemble,
)
from bookkeeper_spec.messages import why_not_handle_add
from bookkeeper_spec.replacing import failed_bookies, go_on_without, its_new_bookies
from bookkeeper_spec.writing import change_count, resend_pending_op
from protocol_lab import HOLDS, TAKEN, Range, Subset, contains, members

SomeMark = Range(0, "send_limit")


def stamp(c, lac, lafr) -> int:
    """Where requests with this LAC and LAFR stand."""
    return lac * (c.send_limit + 1) + lafr


def stamp_of(c, writer) -> int:
    """The stamp of what a client sends now."""
    return stamp(c, writer.lac, writer.lafr)


def why_not_come_to(s, c, bookie, client, entry, lac, lafr) -> str:
    """Why a bookie does not come to this request; "" if it does."""
    return why_not_handle_add(c, s.messages[client].adds, entry, stamp(c, lac, lafr), bookie)


def keep_marks(s, bookie, lac, lafr) -> None:
    """A bookie keeps the highest LAC and LAFR that came with any request."""
    s.b_lac[bookie] = max(s.b_lac[bookie], lac)
    s.b_lafr[bookie] = max(s.b_lafr[bookie], lafr)


# --- Replacing bookies -------------------------------------------------------------------------


def is_pinned(mine, bookie) -> bool:
    """Has the bookie confirmed an acknowledged entry that would move on to the next fragment?"""
    return any(
        contains(mine.confirmed[entry], bookie) for entry in range(mine.lafr + 1, mine.lac + 1)
    )


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


def change_witnesses(s, c, client, failed, ensemble) -> int:
    """As often as there are time-outs of all the failed bookies, and ensembles."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)


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


# --- Properties --------------------------------------------------------------------------------


def no_dirty_reads(s: Ledger, c: NamedTuple):
    """What a bookie of the ensemble takes for confirmed is on an ack quorum."""
    for bookie in range(1, c.bookies + 1):
        lac = s.b_lac[bookie]
        if lac > 0:
            fragment = s.meta_fragments.items[fragment_of_entry(s.meta_fragments, lac)]
            if contains(fragment.ensemble, bookie) and copies(s, fragment, lac) < c.ack_quorum:
                return "a bookie's LAC is on fewer bookies than an ack quorum"
    return HOLDS


def tail_fragments_reach_write_quorum(s: Ledger, c: NamedTuple):
    """All entries of all fragments but the last are on all bookies of their ensemble."""
    for k in range(s.meta_fragments.length - 1):
        fragment, following = s.meta_fragments.items[k], s.meta_fragments.items[k + 1]
        for entry in range(fragment.first_entry_id, following.first_entry_id):
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry before the last fragment is not on a write quorum"
    return HOLDS


def all_entries_of_closed_ledger_reached_write_quorum(s: Ledger, c: NamedTuple):
    """All entries of a closed ledger are on all bookies of their ensemble."""
    if s.meta_status == CLOSED:
        for entry in range(1, s.meta_last_entry + 1):
            fragment = s.meta_fragments.items[fragment_of_entry(s.meta_fragments, entry)]
            if copies(s, fragment, entry) < c.write_quorum:
                return "an entry of the closed ledger is not on a write quorum"
    return HOLDS
