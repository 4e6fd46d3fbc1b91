"""What only a comparison of `bookkeeper.protocol` with TLC needs."""

from bookkeeper_spec import writing
from bookkeeper_spec.tlc.multiplicity import of_add, of_ensemble_change, of_resend
from bookkeeper_spec.tlc.variables import OF_PROTOCOL as PRINTED

MULTIPLICITIES = {
    writing.bookie_sends_add_confirmed_response: of_add,
    writing.client_changes_ensemble: of_ensemble_change,
    writing.client_resends_pending_add_op: of_resend,
    writing.recovery_client_changes_ensemble: of_ensemble_change,
    writing.recovery_client_sends_pending_add_op: of_resend,
}

__all__ = ["MULTIPLICITIES", "PRINTED"]
