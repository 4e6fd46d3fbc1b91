"""Values and messages in a few words, for the picture and the sequence diagram.

The model counts offsets, and leaders' and partitions' epochs, from 1, as its original does; all
that is shown counts them from 0, as Kafka.
"""

from typing import Any

from kafka_spec.kip_966.model import Error
from protocol_lab.drawing import letter, set_text
from protocol_lab.model.layout import NONE


def register_request(message: Any) -> str:
    """A broker registers."""
    file = f"clean, epoch {message.broker_epoch}" if message.broker_epoch else "unclean"
    return f"register ({file})"


def register_answer(message: Any) -> str:
    """The broker's new epoch."""
    return f"broker epoch {message.broker_epoch}"


def alter_request(message: Any) -> str:
    """The ISR that a leader asks for."""
    return f"ISR {set_text(message.isr)}? p{message.partition_epoch - 1}"


def alter_answer(message: Any) -> str:
    """The ISR as it is now, or why it was refused."""
    if message.error != "nil":
        return Error.names[message.error].replace("_", " ")
    return f"ISR {set_text(message.isr)} p{message.partition_epoch - 1}"


def fetch_request(message: Any) -> str:
    """From where a follower wants records."""
    return f"fetch {message.fetch_offset - 1}"


def fetch_answer(message: Any) -> str:
    """A record, or why there is none."""
    if message.error != "nil":
        return Error.names[message.error].replace("_", " ")
    if message.diverges:
        return f"diverges at {message.diverging_offset - 1}"
    told = letter(message.record.value) if message.record.value != NONE else "nothing new"
    return f"{told}, hw {message.hwm - 1}"
