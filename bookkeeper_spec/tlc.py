"""How often TLC counts a step as generated, for comparisons with its counts.

TLC counts a step once for each disjunct of the original's action, and each value of an "exists",
that yields it. A function `of_ACTION` takes the action's arguments.
"""

from bookkeeper_spec import guaranteed_write_quorum, unbounded_ledgers, v4_13, with_limbo, writing
from bookkeeper_spec.model import Bookie, is_in_use, recovers
from bookkeeper_spec.unbounded_ledgers import reasons_to_fail, values
from bookkeeper_spec.v4_13 import W1, W2, SomeWriter
from bookkeeper_spec.with_limbo import same_kind
from bookkeeper_spec.writing import failed_bookies
from protocol_lab import NodeSet, nodes_up_to, only, subsets, without_node


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


def of_add_v4_13(s, c, bookie, writer: SomeWriter, entry, lac, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return 2 if writer == "w2" and bookie not in s.b_fenced else 1


def of_w1_ensemble_change(s, c, bookie, ensemble=0) -> int:
    """As `change_count`, for w1 and this bookie, whether the change is valid or not."""
    return change_count(s, c, s.w1, s.messages.adds[W1], only(bookie))


def of_w2_ensemble_change(s, c, bookie, ensemble=0) -> int:
    """As `change_count`, for w2 and this bookie, whether the change is valid or not."""
    return change_count(s, c, s.w2, s.messages.adds[W2], only(bookie))


def of_w1_resend(s, c, entry, lost) -> int:
    """As `resend_count`, for the entry that w1 sends again."""
    return resend_count(s.w1, entry)


def of_w2_resend(s, c, entry, lost) -> int:
    """As `resend_count`, for the entry that w2 sends again."""
    return resend_count(s.w2, entry)


def of_change_with_limbo(s, c, client, bookie, ensemble) -> int:
    """The lost messages to or from the bookie, times the number of possible ensembles."""
    good = without_node(s.clients[client].curr_fragment.ensemble, bookie)
    time_outs = sum(
        count_lost_adds(s.messages[other].adds, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )
    if c.ensemble_choice == "smallest":
        return time_outs * count_ensembles(s, c, good, only(bookie))
    return time_outs


def of_stamped_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return of_add(s, c, bookie, client, entry, lac, lost)


def unsent_values(s, c, client, lost) -> int:
    """Once for each value that was not sent: the original asks whether there is one."""
    return values(c) - s.sent_values


MULTIPLICITIES = {
    v4_13.bookie_sends_add_confirmed_response: of_add_v4_13,
    v4_13.w1_changes_ensemble: of_w1_ensemble_change,
    v4_13.w1_tries_invalid_ensemble_change: of_w1_ensemble_change,
    v4_13.w1_sends_pending_add_op: of_w1_resend,
    v4_13.w2_changes_ensemble: of_w2_ensemble_change,
    v4_13.w2_tries_invalid_ensemble_change: of_w2_ensemble_change,
    v4_13.w2_sends_pending_add_op: of_w2_resend,
    with_limbo.bookie_sends_add_confirmed_response: of_add,
    with_limbo.client_changes_ensemble: of_change_with_limbo,
    with_limbo.client_sends_pending_add_op: of_resend,
    with_limbo.recovery_client_changes_ensemble: of_change_with_limbo,
    writing.recovery_client_sends_pending_add_op: of_resend,
    guaranteed_write_quorum.bookie_sends_add_confirmed_response: of_stamped_add,
    guaranteed_write_quorum.client_changes_ensemble: of_chosen_change,
    guaranteed_write_quorum.client_resends_pending_add_op: of_resend,
    guaranteed_write_quorum.recovery_client_changes_ensemble: of_chosen_change,
    guaranteed_write_quorum.recovery_client_sends_pending_add_op: of_resend,
    unbounded_ledgers.client_sends_add_entry_requests: unsent_values,
    unbounded_ledgers.client_closes_ledger_fail: reasons_to_fail,
    unbounded_ledgers.recovery_client_sends_pending_add_op: of_resend,
    writing.bookie_sends_add_confirmed_response: of_add,
    writing.client_changes_ensemble: of_ensemble_change,
    writing.client_resends_pending_add_op: of_resend,
    writing.recovery_client_changes_ensemble: of_ensemble_change,
}
