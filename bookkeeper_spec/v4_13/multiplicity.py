"""How often TLC generates the same step of `bookkeeper.v4_13`."""

from bookkeeper_spec.tlc.multiplicity import change_count, resend_count
from bookkeeper_spec.v4_13.model import W1, W2
from protocol_lab import contains, only


def of_add(s, c, bookie, writer, entry, lac, lost) -> int:
    """Twice where both hold of the original's "not fenced, or of a recovery"."""
    return 2 if writer == W2 and not contains(s.b_fenced, bookie) else 1


def of_w1_ensemble_change(s, c, bookie, ensemble=0) -> int:
    """Time-outs of the bookie, times possible ensembles, whether the change is valid or not."""
    return change_count(s, c, s.w1, s.messages.adds[W1], only(bookie))


def of_w2_ensemble_change(s, c, bookie, ensemble=0) -> int:
    """Time-outs of the bookie, times possible ensembles, whether the change is valid or not."""
    return change_count(s, c, s.w2, s.messages.adds[W2], only(bookie))


def of_w1_resend(s, c, entry, lost) -> int:
    """Twice if both the fragment and the ensemble are other ones."""
    return resend_count(s.w1, entry)


def of_w2_resend(s, c, entry, lost) -> int:
    """Twice if both the fragment and the ensemble are other ones."""
    return resend_count(s.w2, entry)
