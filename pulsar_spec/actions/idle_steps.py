"""Steps that change nothing: the original's consumer, and termination."""

from protocol_lab import TAKEN
from pulsar_spec.model import NOTHING, Constants, State, has_ended


def consumer(s: State, c: Constants):
    """The original's consumer, which does nothing at any time."""
    if not c.model_consumer:
        return "no consumer is modelled"
    if c.consumer_reads != NOTHING:
        return "the consumer reads; see the other actions"
    return TAKEN


def terminating(s: State, c: Constants):
    """Everything is done and stays as it is, so that the end is not a deadlock."""
    if not has_ended(s, c):
        return "not all messages are sent, ledgers written or readings done"
    return TAKEN
