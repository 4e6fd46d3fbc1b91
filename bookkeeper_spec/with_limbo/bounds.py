"""Bounds on a search: how many messages are lost at a time."""

from bookkeeper_spec.bounds import count_lost_of, count_lost_of_fencing, within_lost_messages
from bookkeeper_spec.v4_13.bounds import count_lost_reads
from bookkeeper_spec.with_limbo.model import Constants, State
from protocol_lab import HOLDS, NO_LIMIT, size


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += count_lost_of(c, messages.adds) + count_lost_of_fencing(messages)
        lost += count_lost_reads(c, messages) + size(messages.unknown.lost)
    return within_lost_messages(c, lost)
