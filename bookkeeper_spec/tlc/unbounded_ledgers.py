"""What only a comparison of `bookkeeper.unbounded_ledgers` with TLC needs."""

from bookkeeper_spec import guaranteed_write_quorum, unbounded_ledgers
from bookkeeper_spec.tlc.multiplicity import of_chosen_change, of_resend
from bookkeeper_spec.tlc.variables import OF_UNBOUNDED_LEDGERS as PRINTED
from bookkeeper_spec.unbounded_ledgers import reasons_to_fail, values


def unsent_values(s, c, client, lost) -> int:
    """Once for each value that was not sent: the original asks whether there is one."""
    return values(c) - s.sent_values


MULTIPLICITIES = {
    unbounded_ledgers.client_sends_add_entry_requests: unsent_values,
    unbounded_ledgers.client_closes_ledger_fail: reasons_to_fail,
    guaranteed_write_quorum.client_changes_ensemble: of_chosen_change,
    guaranteed_write_quorum.client_resends_pending_add_op: of_resend,
    guaranteed_write_quorum.recovery_client_changes_ensemble: of_chosen_change,
    unbounded_ledgers.recovery_client_sends_pending_add_op: of_resend,
}

__all__ = ["MULTIPLICITIES", "PRINTED"]
