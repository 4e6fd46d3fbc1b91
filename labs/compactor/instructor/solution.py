"""The instructor's solution: the functions that a learner writes, and helpers of ours.

The grader puts them into the skeleton, which defines all other names that they use.
"""

from protocol_lab import TAKEN, append


def begin(s, c):
    """The compactor begins to note, at the start of the topic."""
    if s.compactor.phase != "idle":
        return "the compactor is at work"
    if s.horizon == len(s.topic):
        return "everything is compacted"
    s.compactor = Compactor(phase="noting")
    return TAKEN


def note(s, c):
    """It reads the next message, and notes its offset as the last one of its key."""
    if s.compactor.phase != "noting":
        return "the compactor does not note"
    if s.compactor.position == len(s.topic):
        return "it has read everything"
    s.compactor.position += 1
    s.compactor.latest[s.topic[s.compactor.position - 1]] = s.compactor.position
    return TAKEN


def turn(s, c, slot):
    """It has read enough: it makes a new ledger in a free place, and goes on to copy."""
    if s.compactor.phase != "noting":
        return "the compactor does not note"
    if s.compactor.position < len(s.topic):
        return "there is more to read"
    if s.ledgers[slot].exists:
        return "there is a ledger in this place"
    s.ledgers[slot] = Ledger(exists=True)
    s.compactor.phase = "copying"
    s.compactor.ledger = slot
    s.compactor.end = s.compactor.position
    s.compactor.position = 0
    return TAKEN


def copy(s, c):
    """It reads the next message again, and copies it if it is the last one of its key."""
    if s.compactor.phase != "copying":
        return "the compactor does not copy"
    if s.compactor.position == s.compactor.end:
        return "everything is copied"
    offset = s.compactor.position
    if s.compactor.latest[s.topic[offset]] == offset + 1:
        append(s.ledgers[s.compactor.ledger].offsets, offset)
    s.compactor.position += 1
    return TAKEN


def publish(s, c):
    """Everything is copied: the metadata name the new ledger, and the compactor is done."""
    if s.compactor.phase != "copying":
        return "the compactor does not copy"
    if s.compactor.position < s.compactor.end:
        return "there is more to copy"
    s.current = s.compactor.ledger
    s.horizon = s.compactor.end
    s.compactor = Compactor()
    return TAKEN


def delete_ledger(s, c, slot):
    """A ledger that nobody needs is deleted."""
    if not s.ledgers[slot].exists:
        return "there is no ledger"
    if slot == s.current:
        return "readers use it"
    if slot == s.compactor.ledger:
        return "the compactor writes it"
    s.ledgers[slot] = Ledger()
    return TAKEN
