"""What only a comparison of `bookkeeper.with_limbo` with TLC needs."""

from bookkeeper_spec import with_limbo, writing
from bookkeeper_spec.tlc.multiplicity import count_ensembles, count_lost_adds, of_add, of_resend
from bookkeeper_spec.tlc.variables import OF_WITH_LIMBO as PRINTED
from bookkeeper_spec.with_limbo import same_kind
from protocol_lab import only


def of_ensemble_change(s, c, client, bookie, ensemble) -> int:
    """The lost messages to or from the bookie, times the number of possible ensembles."""
    good = s.clients[client].curr_fragment.ensemble & ~only(bookie)
    time_outs = sum(
        count_lost_adds(s.messages[other].adds, bookie)
        for other in range(1, c.clients + 1)
        if same_kind(s, client, other)
    )
    if c.ensemble_choice == "smallest":
        return time_outs * count_ensembles(s, c, good, only(bookie))
    return time_outs


MULTIPLICITIES = {
    with_limbo.bookie_sends_add_confirmed_response: of_add,
    with_limbo.client_changes_ensemble: of_ensemble_change,
    with_limbo.client_sends_pending_add_op: of_resend,
    with_limbo.recovery_client_changes_ensemble: of_ensemble_change,
    writing.recovery_client_sends_pending_add_op: of_resend,
}

__all__ = ["MULTIPLICITIES", "PRINTED"]
