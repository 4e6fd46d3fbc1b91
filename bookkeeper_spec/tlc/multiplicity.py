"""Multiplicities of BookKeeper's actions: how often TLC counts one step as generated.

TLC counts a step once for each disjunct of the original's action, and each value of an "exists",
that yields it. A function `of_ACTION` takes the action's arguments.
"""

from bookkeeper_spec.model import Bookie, is_in_use, recovers
from bookkeeper_spec.writing import failed_bookies
from protocol_lab import NodeSet, nodes_up_to, subsets


def of_add(s, c, bookie, client, entry, lac, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return 2 if recovers(s, client) and bookie not in s.b_fenced else 1


def resend_count(writer, entry) -> int:
    """2 if both parts of the original's "another fragment, or another ensemble" are true."""
    for op in writer.pending_add_ops:
        if op.entry.id == entry:
            same_ensemble = op.ensemble == writer.curr_fragment.ensemble
            return 1 if same_ensemble or op.fragment_id == writer.curr_fragment.id else 2
    return 1


def of_resend(s, c, client, entry, lost) -> int:
    """As `resend_count`, for the entry that a client sends again."""
    return resend_count(s.clients[client], entry)


def count_lost_adds(messages, bookie) -> int:
    """The number of lost add messages between the client and this bookie."""
    return sum(
        (bookie in adds.confirmed.lost)
        + (bookie in adds.refused.lost)
        + sum(bookie in request.lost for request in adds.requests)
        for adds in messages.of
    )


def count_ensembles(s, c, include, exclude) -> int:
    """The number of valid ensembles that contain `include` and nothing of `exclude`."""
    return sum(
        1
        for others in subsets(nodes_up_to(c.bookies) & ~include & ~exclude)
        if len(include | others) == c.write_quorum and not is_in_use(s, include | others)
    )


def change_count(s, c, writer, messages, failed: NodeSet(Bookie)) -> int:
    """The product of each failed bookie's lost messages, times the number of possible ensembles.

    The original has an "exists" for a lost message of each bookie, and one for the ensemble.
    """
    count = 1
    for bookie in failed:
        count *= count_lost_adds(messages, bookie)
    if c.ensemble_choice == "smallest":
        good = writer.curr_fragment.ensemble & ~failed
        count *= count_ensembles(s, c, good, failed)
    return count


def of_ensemble_change(s, c, client, ensemble) -> int:
    """As `change_count`, for all bookies that have failed this client."""
    mine, adds = s.clients[client], s.messages[client].adds
    return change_count(s, c, mine, adds, failed_bookies(s, client))


def of_chosen_change(s, c, client, failed, ensemble) -> int:
    """As `change_count`, for the bookies that this step replaces."""
    return change_count(s, c, s.clients[client], s.messages[client].adds, failed)
