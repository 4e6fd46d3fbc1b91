"""Bounds on a search: how many messages are lost at a time."""

from bookkeeper_spec.bounds import count_lost_of, count_lost_of_fencing, within_lost_messages
from bookkeeper_spec.v4_13.model import Constants, State
from protocol_lab import HOLDS, NO_LIMIT, size


def count_lost_reads(c, messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return size(messages.no_such_entry.lost) + sum(
        size(messages.reads[k].requests.lost)
        + sum(size(messages.reads[k].responses[data].lost) for data in range(c.send_limit))
        for k in range(c.send_limit + 1)
    )


def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = count_lost_of_fencing(s.messages) + count_lost_reads(c, s.messages)
    for k in range(2):
        lost += count_lost_of(c, s.messages.adds[k])
    return within_lost_messages(c, lost)
