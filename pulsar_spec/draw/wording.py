"""Messages, positions and the cursor in a few words, for pictures and sequence diagrams.

The specs count messages from 1, as their original does, with a horizon of 0 while nothing is
compacted. All that is shown names messages A, B, C, and counts positions as Pulsar counts the
entries of a ledger, from 0: the horizon is that of the last compacted message, and -1 before.
"""

from protocol_lab.explain.wording import letter
from protocol_lab.model.layout import NONE


def key_text(message, none: str = "no key") -> str:
    """A message's key: k1, or the words for none."""
    return f"k{message.key}" if message.key else none


def value_text(message) -> str:
    """A message's value: v1, or null."""
    return f"v{message.value}" if message.value else "null"


def message_text(message) -> str:
    """A message with its name: "B: k1 v1"."""
    return f"{letter(message.id)}: {key_text(message)} {value_text(message)}"


def horizon_text(horizon: int) -> str:
    """The horizon with what it means: "0: up to A"."""
    return f"{horizon - 1}: {f'up to {letter(horizon)}' if horizon else 'nothing'}"


def cursor_text(s, nothing: str) -> str:
    """What the cursor on disk names."""
    cursor = s.cursor
    if cursor.compacted_topic_context == NONE:
        return nothing
    ledger = cursor.compacted_topic_context
    return f"ledger {ledger}, horizon {horizon_text(cursor.compaction_horizon)}"
