"""What only a comparison of `bookkeeper.v4_13` with TLC needs."""

from bookkeeper_spec.tlc.multiplicity import change_count, resend_count
from bookkeeper_spec.tlc.variables import OF_V4_13 as PRINTED
from bookkeeper_spec.v4_13 import actions
from bookkeeper_spec.v4_13.model import W1, W2, SomeWriter
from protocol_lab import only


def of_add(s, c, bookie, writer: SomeWriter, entry, lac, lost) -> int:
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


MULTIPLICITIES = {
    actions.bookie_sends_add_confirmed_response: of_add,
    actions.w1_changes_ensemble: of_w1_ensemble_change,
    actions.w1_tries_invalid_ensemble_change: of_w1_ensemble_change,
    actions.w1_sends_pending_add_op: of_w1_resend,
    actions.w2_changes_ensemble: of_w2_ensemble_change,
    actions.w2_tries_invalid_ensemble_change: of_w2_ensemble_change,
    actions.w2_sends_pending_add_op: of_w2_resend,
}

__all__ = ["MULTIPLICITIES", "PRINTED"]
