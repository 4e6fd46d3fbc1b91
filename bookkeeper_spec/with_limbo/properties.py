"""The invariant that differs from that of `bookkeeper.protocol`."""

from bookkeeper_spec.properties import no_lac_beyond_the_end
from bookkeeper_spec.with_limbo.model import Constants, State


def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    return no_lac_beyond_the_end(s, c)
