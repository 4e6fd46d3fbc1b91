"""Multiplicities of BookKeeper's actions: how often TLC counts one step as generated.

TLC counts a step once for each disjunct of the original's action, and each value of an "exists",
that yields it. A function `of_ACTION` takes the action's arguments.
"""

from bookkeeper_spec.actions.replacing import failed_bookies
from bookkeeper_spec.model.clients import position_of_op, recovers
from bookkeeper_spec.model.constants import SMALLEST
from bookkeeper_spec.model.ledger import is_in_use
from protocol_lab import contains, nodes_up_to, size, submasks


def of_add(s, c, bookie, client, entry, lac, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return 2 if recovers(s, client) and not contains(s.b_fenced, bookie) else 1


def resend_count(writer, entry) -> int:
    """2 if both parts of the original's "another fragment, or another ensemble" are true."""
    op = writer.pending_add_ops.items[position_of_op(writer, entry)]
    same_ensemble = op.ensemble == writer.curr_fragment.ensemble
    return 1 if same_ensemble or op.fragment_id == writer.curr_fragment.id else 2


def of_resend(s, c, client, entry, lost) -> int:
    """As `resend_count`, for the entry that a client sends again."""
    return resend_count(s.clients[client], entry)


def count_lost_adds(c, messages, bookie) -> int:
    """The number of lost add messages between the client and this bookie."""
    return sum(
        contains(messages.of[k].confirmed.lost, bookie)
        + contains(messages.of[k].refused.lost, bookie)
        + sum(
            contains(messages.of[k].requests[stamp].lost, bookie)
            for stamp in range(len(messages.of[k].requests))
        )
        for k in range(c.send_limit)
    )


def count_ensembles(s, c, include, exclude) -> int:
    """The number of valid ensembles that contain `include` and nothing of `exclude`."""
    return sum(
        1
        for others in submasks(nodes_up_to(c.bookies) & ~include & ~exclude)
        if size(include | others) == c.write_quorum and not is_in_use(s, include | others)
    )


def change_count(s, c, writer, messages, failed) -> int:
    """The product of each failed bookie's lost messages, times the number of possible ensembles.

    The original has an "exists" for a lost message of each bookie, and one for the ensemble.
    """
    count = 1
    for bookie in range(1, c.bookies + 1):
        if contains(failed, bookie):
            count *= count_lost_adds(c, messages, bookie)
    if c.ensemble_choice == SMALLEST:
        good = writer.curr_fragment.ensemble & ~failed
        count *= count_ensembles(s, c, good, failed)
    return count


def of_ensemble_change(s, c, client, ensemble) -> int:
    """As `change_count`, for the bookies that have failed this client."""
    mine, adds = s.clients[client], s.messages[client].adds
    return change_count(s, c, mine, adds, failed_bookies(s, c, client))
