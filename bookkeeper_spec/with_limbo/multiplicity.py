"""The multiplicity of an ensemble change: how often TLC counts one step as generated."""

from bookkeeper_spec.model.constants import SMALLEST
from bookkeeper_spec.tlc.multiplicity import count_ensembles, count_lost_adds
from bookkeeper_spec.with_limbo.model import same_kind
from protocol_lab import only


def of_ensemble_change(s, c, client, bookie, ensemble) -> int:
    """The lost messages to or from the bookie, times the number of possible ensembles."""
    good = s.clients[client].curr_fragment.ensemble & ~only(bookie)
    time_outs = sum(
        count_lost_adds(c, s.messages[other].adds, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )
    if c.ensemble_choice == SMALLEST:
        return time_outs * count_ensembles(s, c, good, only(bookie))
    return time_outs
