"""The producer sends messages to the topic."""

from protocol_lab import TAKEN, Range, append
from pulsar_spec.model import Constants, Message, State


def producer(
    s: State, c: Constants, input_key: Range(0, "key_space"), input_value: Range(0, "value_space")
):
    """The producer sends a message, with any key and value or without."""
    if not c.model_producer:
        return "all messages are there from the start"
    if s.messages.length >= c.message_sent_limit:
        return "all messages have been sent"
    append(s.messages, Message(id=s.messages.length + 1, key=input_key, value=input_value))
    return TAKEN
