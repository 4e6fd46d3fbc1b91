"""Multiplicities of 4.13's actions: how often TLC counts one step as generated."""

from bookkeeper_spec.tlc.multiplicity import change_count, resend_count
from bookkeeper_spec.v4_13.model import W1, W2
from protocol_lab import contains, only


def of_add(s, c, bookie, writer, entry, lac, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return 2 if writer == W2 and not contains(s.b_fenced, bookie) else 1


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
