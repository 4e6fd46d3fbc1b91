"""Bounds on a search: how many messages are lost at a time."""

from typing import NamedTuple

from bookkeeper_spec.model.ledger import Ledger
from protocol_lab import HOLDS, NO_LIMIT, size


def count_lost_of(c, messages) -> int:
    """How many add messages of the client are lost now."""
    return sum(
        size(messages.of[k].confirmed.lost)
        + size(messages.of[k].refused.lost)
        + sum(
            size(messages.of[k].requests[stamp].lost)
            for stamp in range(len(messages.of[k].requests))
        )
        for k in range(c.send_limit)
    )


def count_lost_of_fencing(messages) -> int:
    """How many fence requests of a client, and answers to them, are lost now."""
    return size(messages.fence_requests.lost) + sum(
        size(messages.fence_responses[k].lost) for k in range(len(messages.fence_responses))
    )


def count_lost_reads(c, messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return sum(
        size(messages.reads[k].requests.lost)
        + size(messages.reads[k].no_such_entry.lost)
        + sum(size(messages.reads[k].responses[data].lost) for data in range(c.send_limit))
        for k in range(c.send_limit + 1)
    )


def within_lost_messages(c, lost) -> str:
    """HOLDS if no more messages are lost now than max_lost_messages, else the reason why not."""
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


def max_lost_messages(s: Ledger, c: NamedTuple):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = 0
    for client in range(1, c.clients + 1):
        messages = s.messages[client]
        lost += count_lost_of(c, messages.adds) + count_lost_of_fencing(messages)
        lost += count_lost_reads(c, messages)
    return within_lost_messages(c, lost)
