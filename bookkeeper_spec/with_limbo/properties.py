"""The invariant and the bound that differ from those of `bookkeeper.protocol`."""

from bookkeeper_spec.properties import (
    count_lost_of,
    count_lost_of_fencing,
    no_lac_beyond_the_end,
    within_lost_messages,
)
from bookkeeper_spec.v4_13.properties import count_lost_reads
from bookkeeper_spec.with_limbo.model import Constants, State
from protocol_lab import HOLDS, NO_LIMIT, size


def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, no client's LAC is beyond its end, not even a recovery's."""
    return no_lac_beyond_the_end(s, c)


def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += count_lost_of(c, messages.adds) + count_lost_of_fencing(messages)
        lost += count_lost_reads(c, messages) + size(messages.unknown.lost)
    return within_lost_messages(c, lost)
