"""What only a comparison of `bookkeeper.guaranteed_write_quorum` with TLC needs."""

from bookkeeper_spec import guaranteed_write_quorum
from bookkeeper_spec.tlc.multiplicity import of_add, of_chosen_change, of_resend
from bookkeeper_spec.tlc.variables import OF_WRITE_QUORUM as PRINTED


def of_stamped_add(s, c, bookie, client, entry, lac, lafr, lost) -> int:
    """2 if both parts of the original's "not fenced, or a recovery's request" are true."""
    return of_add(s, c, bookie, client, entry, lac, lost)


MULTIPLICITIES = {
    guaranteed_write_quorum.bookie_sends_add_confirmed_response: of_stamped_add,
    guaranteed_write_quorum.client_changes_ensemble: of_chosen_change,
    guaranteed_write_quorum.client_resends_pending_add_op: of_resend,
    guaranteed_write_quorum.recovery_client_changes_ensemble: of_chosen_change,
    guaranteed_write_quorum.recovery_client_sends_pending_add_op: of_resend,
}

__all__ = ["MULTIPLICITIES", "PRINTED"]
