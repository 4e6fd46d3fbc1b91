"""What a write quorum promises: invariants of both proposals."""

from typing import NamedTuple

from bookkeeper_spec.model.ledger import CLOSED, Ledger, copies, fragment_of_entry
from bookkeeper_spec.properties import no_lac_beyond_the_end
from protocol_lab import HOLDS, contains


def no_divergence_between_client_and_meta_data(s: Ledger, c: NamedTuple):
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    return no_lac_beyond_the_end(s, c)


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
