"""What the protocols of a single ledger share: its metadata, its fragments, and its bookies.

A ledger is a short log. One client creates it, writes entries 1, 2, 3, ... to it and closes it;
afterwards nobody writes to it any more. Entries are stored on bookies: each on all bookies of an
ensemble, of which there are `write_quorum`, and the client tells its own caller that an entry is
written once `ack_quorum` of them have confirmed it. The last entry up to which everything is
confirmed is the client's LAC (last add confirmed); the last one it has sent is its LAP (last add
pushed).

The metadata stand in a store of their own (ZooKeeper's part) and are changed by compare-and-set on
their version. They hold the status, and the list of fragments: from which entry on which ensemble
stores the ledger. If a bookie fails, the client replaces it by beginning a new fragment after its
LAC, or by giving the last fragment another ensemble if nothing of it is confirmed yet.

Entry ids begin with 1 and a LAC of 0 means "nothing yet", as in the original specifications;
BookKeeper itself counts entries from 0, and its LAC begins with -1. An entry's data are the number
that the writer meant it to have, so that a mix-up would show.
"""

from bookkeeper_spec.model.constants import ANY, SMALLEST
from protocol_lab import (
    Int8,
    Named,
    Node,
    NodeSet,
    Per,
    Range,
    Seq,
    Struct,
    append,
    is_subset,
    members,
    nodes_up_to,
    size,
    smallest,
    submasks,
    with_node,
)

NIL, OPEN, IN_RECOVERY, CLOSED, INVALID, WITHDRAWN, ABORTED = range(7)
"""What a ledger or a client may be. NIL: it does not exist yet, or takes no part (any more)."""

Status = Named(
    ("nil", "open", "in_recovery", "closed", "invalid", "client_withdrawn", "recovery_aborted")
)


Bookie = Node("bookies")

EntryId = Node("send_limit")


SomeEntry = Range(1, "send_limit")

SomeLac = Range(0, "send_limit")


class Entry(Struct):
    """What the writer wrote: an id, and data."""

    id: Int8
    data: Int8


class Fragment(Struct):
    """The bookies that store the entries from `first_entry_id` on. The id counts from 1."""

    id: Int8
    ensemble: NodeSet(Bookie)
    first_entry_id: Int8


class PendingAddOp(Struct):
    """An entry that is not confirmed yet, and to which fragment and ensemble it was sent."""

    entry: Entry
    fragment_id: Int8
    ensemble: NodeSet(Bookie)


class StoredEntries(Struct):
    """What one bookie stores: under each entry id the set of data, which is one number or none."""

    data: Per(EntryId, NodeSet(EntryId))


class Ledger(Struct):
    """The ledger's metadata, and what each bookie holds of it."""

    meta_status: Status
    meta_fragments: Seq(Fragment, "send_limit + 1")
    meta_last_entry: Int8  # known once the ledger is closed
    meta_version: Int8
    b_entries: Per(Bookie, StoredEntries)
    b_lac: Per(Bookie, Int8)


class FencedLedger(Ledger):
    """A ledger with one writer: whoever takes over fences it, and closes it."""

    b_fenced: NodeSet(Bookie)  # those that take no adds any more but a recovery's


# --- Entries on bookies --------------------------------------------------------------------------


def store(s, bookie, entry, data, lac) -> None:
    """The bookie stores an entry, and the LAC that came with it, even a lower one than before."""
    s.b_entries[bookie].data[entry] = with_node(s.b_entries[bookie].data[entry], data)
    s.b_lac[bookie] = lac


def has_entry(s, bookie, entry) -> bool:
    """Does the bookie store an entry of this id?"""
    return s.b_entries[bookie].data[entry] != 0


def data_of(s, bookie, entry) -> int:
    """What the bookie stores under this id."""
    return smallest(s.b_entries[bookie].data[entry])


def copies(s, fragment, entry) -> int:
    """How many bookies of the fragment's ensemble store the entry."""
    return sum(1 for bookie in members(fragment.ensemble) if has_entry(s, bookie, entry))


# --- Fragments -----------------------------------------------------------------------------------


def last_fragment(fragments):
    """The fragment that entries are added to."""
    return fragments.items[fragments.length - 1]


def fragment_of_entry(fragments, entry) -> int:
    """Where in the list this entry's fragment stands: the last that begins at or before it."""
    position = fragments.length - 1
    while position > 0 and fragments.items[position].first_entry_id > entry:
        position -= 1
    return position


def update_fragments(fragments, current, first_entry_id, ensemble) -> None:
    """Begin a new fragment, or replace the ensemble of the last one if it begins there as well."""
    if first_entry_id == current.first_entry_id:
        fragments.items[fragments.length - 1].ensemble = ensemble
        return
    append(
        fragments,
        Fragment(id=fragments.length + 1, ensemble=ensemble, first_entry_id=first_entry_id),
    )


# --- Ensembles -----------------------------------------------------------------------------------


def is_in_use(s, ensemble) -> bool:
    """Does a fragment of the metadata have exactly this ensemble?"""
    fragments = s.meta_fragments
    return any(fragments.items[k].ensemble == ensemble for k in range(fragments.length))


def is_valid_ensemble(s, ensemble, include, exclude) -> bool:
    """Does it have all of `include` and none of `exclude`, and is it no fragment's yet?"""
    return is_subset(include, ensemble) and ensemble & exclude == 0 and not is_in_use(s, ensemble)


def comes_before(ensemble, other) -> bool:
    """Does the first of two sets have the smallest bookie in which they differ?

    Of sets of one size this is the order of their sorted lists: {1, 4} comes before {2, 3}.
    """
    return ensemble & (ensemble ^ other) & -(ensemble ^ other) != 0


def smallest_ensemble(s, c, include, exclude) -> int:
    """The first valid ensemble with all of `include` and none of `exclude`; 0 if there is none.

    The original takes an arbitrary one, always the same; TLC takes this one.
    """
    chosen = 0
    for others in submasks(nodes_up_to(c.bookies) & ~include & ~exclude):
        ensemble = include | others
        is_better = chosen == 0 or comes_before(ensemble, chosen)
        if is_better and size(ensemble) == c.write_quorum and not is_in_use(s, ensemble):
            chosen = ensemble
    return chosen


def bookies_to_choose(s, c, include, exclude) -> int:
    """The bookies of which an ensemble can be made, for the domain of a parameter."""
    chosen = nodes_up_to(c.bookies) & ~exclude
    if c.ensemble_choice == SMALLEST:
        chosen = smallest_ensemble(s, c, include, exclude)
    return chosen if size(chosen) >= c.write_quorum else no_ensemble(c)


def no_ensemble(c) -> int:
    """A placeholder where no ensemble can be chosen, so that the action is tried and says why."""
    return nodes_up_to(c.write_quorum)


def alike(c) -> int:
    """The bookies that are symmetric: none where the smallest ensemble is chosen among several."""
    return nodes_up_to(c.bookies) if c.ensemble_choice == ANY or c.write_quorum == c.bookies else 0
