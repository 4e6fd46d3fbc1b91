"""Constants and state of a compacted topic.

A producer sends keyed messages to a topic. A compactor reads the topic twice and writes the latest
message of each key into a new compacted ledger. Then it makes the result known, step by step:

    compacted_topic_context   which compacted ledger is read, in the broker's memory
    compaction_horizon        up to which message it stands for the topic, in the broker's memory
    cursor                    both of these on disk: what a broker has after a crash
    compacted_ledgers         the ledgers on disk, of which the last but one is deleted

Message ids count from 1, and so do ledger ids. Key 0 is the null key; value 0 is the null value,
with which applications delete a key. The names are the original's, including its spelling of
"persist_cusror".

Throughout: `s` is the state and `c` the constants. A position in the topic is a message's id, and a
horizon or cursor at k stands for the messages up to k, k included; 0 is none. The compactor, the
broker and the consumer are one each, so that no action says which of them acts.
"""

from typing import Annotated, NamedTuple

from protocol_lab import *

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """How much happens, and what of it is modelled. All of it is finite: nothing is cut off."""

    message_sent_limit: Annotated[int, Limits(0, 20, "messages that the producer sends")] = 3
    compaction_times_limit: Annotated[
        int, Limits(0, 20, "compacted ledgers that may be written")
    ] = 3
    model_consumer: Annotated[int, flag("is there a consumer")] = 0
    consume_times_limit: Annotated[
        int, Limits(0, 99, "times that a consumer which reads does so from start to end")
    ] = 0
    key_space: Annotated[int, Limits(0, 20, "keys beside the null key: 1, 2, ...")] = 2
    value_space: Annotated[int, Limits(0, 99, "values beside the null value: 1, 2, ...")] = 2
    retain_null_key: Annotated[
        int, flag("does compaction keep messages without a key (topicCompactionRetainNullKey)")
    ] = 0
    max_crash_times: Annotated[int, Limits(0, 99, "times that the broker may crash")] = 1
    model_producer: Annotated[
        int, flag("does a producer send, or are all messages there from the start")
    ] = 1
    consumer_reads: Annotated[
        str,
        choice(
            "nothing",
            "ledger_then_topic",
            "by_position",
            meaning="what the consumer does: nothing, as in the original, or how it reads",
        ),
    ] = "nothing"


# --- State -----------------------------------------------------------------------------------

LedgerId = Node("compaction_times_limit")

CompactorState = Named(
    "compactor_in_phase_one",
    "compactor_in_phase_two_write",
    "compactor_in_phase_two_update_context",
    "compactor_in_phase_two_update_horizon",
    "compactor_in_phase_two_persist_cusror",
    "compactor_in_phase_two_delete_ledger",
)

NULL_KEY, NULL_VALUE = 0, 0


class Message(Struct):
    """A message of the topic; its id is its position."""

    id: Int8
    key: Int8
    value: Int8


class Ledger(Struct):
    """A compacted ledger: messages of the topic, by rising id. An existing one may be empty."""

    exists: Bool
    messages: Seq(Message, "message_sent_limit")


class Cursor(Struct):
    """What the subscription __compaction has on disk; all NONE before the first compaction."""

    compaction_horizon: Int8
    compacted_topic_context: LedgerId


class PhaseOneResult(Struct):
    """How far phase one has read, and the last message of each key; read_position 0 is no result.

    latest_for_key is indexed by the key; the slot of the null key stays 0.
    """

    read_position: Int8
    latest_for_key: Array(Int8, "key_space + 1")


class Consumer(Struct):
    """A consumer that reads. `received` are the ids of what it got since it has connected."""

    connected: Bool
    ledger: LedgerId  # the compacted ledger that it reads, NONE for the topic
    position: Int8  # it asks for messages from this id on
    topic_position: Int8  # where it goes on in the topic after that ledger
    received: Seq(Int8, "2 * message_sent_limit")


class State(Struct):
    """Topic, ledgers and cursor on disk; the compactor and the broker's memory; the consumer."""

    messages: Seq(Message, "message_sent_limit")
    compacted_ledgers: Per(LedgerId, Ledger)
    cursor: Cursor
    compactor_state: CompactorState
    phase_one_result: PhaseOneResult
    compaction_horizon: Int8
    compacted_topic_context: LedgerId
    crash_times: Int8
    consume_times: Int8
    consumer: Consumer


def sent_before(c) -> int:
    """How many messages are there from the start: all, if no producer is modelled."""
    return 0 if c.model_producer else c.message_sent_limit


def init(
    s: State,
    c: Constants,
    keys: Sequences(0, "key_space", sent_before),
    values: Sequences(0, "value_space", sent_before),
):
    """Nothing has been compacted yet.

    The topic is empty, or holds any sequence of messages, one initial state for each.
    """
    for k in range(len(keys)):
        append(s.messages, Message(id=k + 1, key=keys[k], value=values[k]))
    return TAKEN


# --- Reads -----------------------------------------------------------------------------------


def max_compacted_ledger_id(s: State, c: Constants) -> int:
    """The latest of the compacted ledgers that exist; 0 if there is none."""
    latest = 0
    for ledger in range(1, c.compaction_times_limit + 1):
        if s.compacted_ledgers[ledger].exists:
            latest = ledger
    return latest


def existing_ledgers(s: State, c: Constants) -> int:
    """How many compacted ledgers are on disk."""
    return sum(
        1 for ledger in range(1, c.compaction_times_limit + 1) if s.compacted_ledgers[ledger].exists
    )


def has_ended(s: State, c: Constants) -> bool:
    """Has everything been sent, and every ledger been written, and is the consumer through?"""
    return (
        len(s.messages) == c.message_sent_limit
        and s.compactor_state == "compactor_in_phase_two_write"
        and max_compacted_ledger_id(s, c) == c.compaction_times_limit
        and (not c.model_consumer or s.consume_times == c.consume_times_limit)
    )


def first_in_ledger(s: State, ledger, position) -> int:
    """The id of the first message from this position on that a compacted ledger has, or 0."""
    if ledger == NONE:
        return 0
    for message in s.compacted_ledgers[ledger].messages:
        if message.id >= position:
            return message.id
    return 0


def next_received(s: State, c: Constants) -> int:
    """The id of the message that a consumer which reads gets next; 0 if there is none."""
    position = s.consumer.position
    if s.consumer.ledger != NONE:
        return first_in_ledger(s, s.consumer.ledger, position)
    if c.consumer_reads == "by_position" and position <= s.compaction_horizon:
        compacted = first_in_ledger(s, s.compacted_topic_context, position)
        if compacted > 0:
            return compacted
        position = s.compaction_horizon + 1
    return position if position <= len(s.messages) else 0


def has_lost_its_ledger(s: State) -> bool:
    """Was the ledger that the consumer reads deleted?"""
    return s.consumer.ledger != NONE and not s.compacted_ledgers[s.consumer.ledger].exists


def has_received_everything(s: State, c: Constants) -> bool:
    """Is the consumer connected, and at the end of the topic?"""
    return bool(s.consumer.connected) and not has_lost_its_ledger(s) and next_received(s, c) == 0
