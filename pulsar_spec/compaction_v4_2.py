"""Topic compaction as Pulsar 4.2 does it: what the original simplifies, each rule a constant.

What it models: `pulsar.compaction`, of which each constant below changes one rule. With all of them
off it has the same states. The configuration `pulsar` turns on what Pulsar 4.2.4 always does.

deletes_previous_context: a compaction deletes the ledger of the previous context, and not the last
    but one. A crash before the cursor is written then leaves the *new* ledger behind, also in the
    first compaction.
drops_null_values: a key whose last message has no value is not in the ledger, nor is its deletion.
updates_together: context and horizon change in one step, as under a lock.
trims_topic: the topic's own messages may be deleted once the cursor is past them.
reads_in_two_stages: for a consumer that reads by_position, the broker first compares its position
    with the horizon, and later reads from the ledger or the topic. Nothing is locked in between.
max_lost_answers: the cursor is written, but the compactor learns of a failure, and deletes its
    ledger.

What breaks, with two messages, one key, one value and no crash, for a consumer by_position:

- compaction_horizon_correctness in 5 steps and ends_with_latest_values in 6 with drops_null_values:
  both have to speak of living keys only. deletions_reach_consumers breaks as well, in 8: a consumer
  that got a value before, and reads on after the compaction, is never told of the deletion.
- living_keys_end_with_latest_values in 9 steps with trims_topic and reads_in_two_stages. The broker
  decides for the topic; the message is compacted and trimmed; the consumer goes on behind it. With
  either of the two alone it holds.
- compaction_horizon_correctness in 7 steps with a lost answer: the cursor names a ledger that is
  gone.
- null_key_messages_are_not_lost in 5 steps unless `retain_null_key` is on, which in Pulsar 4.2.4 is
  off by default.

Left out: batches, a compaction that is started again while one runs, an answer that is lost before
the cursor is written, and what a consumer gets from a compacted ledger that is gone.

Source: apache/pulsar 4.2.4: `CompactedTopicUtils`, `PulsarCompactorSubscription`,
`AbstractTwoPhaseCompactor`; runs of 4.2.4 (messages without a key and deletions); #26190, #26665.
The module is ours.
"""

from typing import Annotated, NamedTuple

from protocol_lab import *
from pulsar_spec import compaction, model
from pulsar_spec.compaction import compaction_spec, forget_phase_one, is_kept, take_over
from pulsar_spec.compaction import consumer_finishes as finish
from pulsar_spec.compaction import consumer_receives as receive_in_one_step
from pulsar_spec.draw.compaction import draw_compaction_v4_2
from pulsar_spec.model import *
from pulsar_spec.properties import declare_properties, last_received, last_sent, value_of

# --- Constants and state -------------------------------------------------------------------------


@extends(model.Constants)
class Constants(NamedTuple):
    """Those of `pulsar.compaction`, and:"""

    deletes_previous_context: Annotated[
        int, flag("is the previous context's ledger deleted, not the last but one")
    ] = 0
    drops_null_values: Annotated[
        int, flag("is a key whose last message has no value left out of the ledger")
    ] = 0
    updates_together: Annotated[int, flag("do context and horizon change in one step")] = 0
    trims_topic: Annotated[
        int, flag("may the topic's messages be deleted once the cursor is past them")
    ] = 0
    reads_in_two_stages: Annotated[
        int, flag("does the broker read in a later step than it compares with the horizon")
    ] = 0
    max_lost_answers: Annotated[
        int, Limits(0, 9, "times that the compactor takes a written cursor for a failure")
    ] = 0


CONFIGURATIONS = (
    Configuration(
        "default", "as pulsar.compaction", "violated in 13 states, after 72,118 distinct states"
    ),
    Configuration(
        "pulsar",
        "the rules of Pulsar 4.2.4, for one compaction and a consumer that reads by position",
        "violated in 5 states, after 229 distinct states",
        {
            "deletes_previous_context": True,
            "drops_null_values": True,
            "updates_together": True,
            "trims_topic": True,
            "reads_in_two_stages": True,
            "model_consumer": True,
            "consume_times_limit": 1,
            "consumer_reads": "by_position",
            "message_sent_limit": 2,
            "compaction_times_limit": 2,
            "key_space": 1,
            "value_space": 1,
        },
    ),
)

Stage = Named("has_not_asked", "asks_the_ledger", "asks_the_topic")


class State(model.State):
    """As in `pulsar.compaction`, and what the rules above have to remember."""

    last_ledger: LedgerId  # the id that was given last: none is used twice
    previous_context: LedgerId  # of the compaction under way, in memory
    trimmed: Int8  # the topic's messages up to this one are deleted
    consumer_stage: Stage
    lost_answers: Int8


# --- The compactor -------------------------------------------------------------------------------


def compactor_phase_two_write(s: State, c: Constants):
    """The compactor writes what is kept into a ledger whose id was never used before."""
    if s.compactor_state != "compactor_in_phase_two_write":
        return "the compactor is not about to write a ledger"
    if s.last_ledger >= c.compaction_times_limit:
        return "compaction_times_limit ledgers have been written"
    s.last_ledger += 1
    s.compacted_ledgers[s.last_ledger].exists = True
    for k in range(s.phase_one_result.read_position):
        is_dropped = c.drops_null_values and s.messages[k].value == NULL_VALUE
        if is_kept(s, c, s.messages[k]) and (s.messages[k].key == NULL_KEY or not is_dropped):
            append(s.compacted_ledgers[s.last_ledger].messages, s.messages[k])
    s.compactor_state = "compactor_in_phase_two_update_context"
    return TAKEN


def compactor_phase_two_update_context(s: State, c: Constants):
    """From now on consumers read the new ledger, and with `updates_together` up to the new
    horizon."""
    if s.compactor_state != "compactor_in_phase_two_update_context":
        return "the compactor is not about to update the context"
    if c.deletes_previous_context:
        s.previous_context = s.compacted_topic_context
    s.compacted_topic_context = s.last_ledger
    s.compactor_state = "compactor_in_phase_two_update_horizon"
    if c.updates_together:
        s.compaction_horizon = s.phase_one_result.read_position
        s.compactor_state = "compactor_in_phase_two_persist_cusror"
    return TAKEN


def compactor_phase_two_delete_ledger(s: State, c: Constants):
    """The ledger of the previous context is deleted, or the last but one, as in the original."""
    if s.compactor_state != "compactor_in_phase_two_delete_ledger":
        return "the compactor is not about to delete a ledger"
    old = s.previous_context if c.deletes_previous_context else s.last_ledger - 1
    if old > 0:
        s.compacted_ledgers[old] = Ledger()
    s.previous_context = NONE
    forget_phase_one(s)
    return TAKEN


def compactor_hears_of_a_failure(s: State, c: Constants):
    """The cursor is written, but the answer is lost: the compactor deletes its own ledger.

    Now cursor and context name a ledger that is gone: compaction_horizon_correctness, 7 steps. In
    Pulsar 4.2.4: a lost receipt (derived); for the load manager's topic, a failed close (#26665).
    """
    if s.lost_answers >= c.max_lost_answers:
        return "max_lost_answers answers have been lost"
    if s.compactor_state != "compactor_in_phase_two_delete_ledger":
        return "the cursor was not written just now"
    s.lost_answers += 1
    s.compacted_ledgers[s.last_ledger] = Ledger()
    s.previous_context = NONE
    forget_phase_one(s)
    return TAKEN


# --- The broker ----------------------------------------------------------------------------------


def forget_request(s: State) -> None:
    """What the consumer has asked for is dropped; it may ask again."""
    if s.consumer_stage == "asks_the_ledger":
        s.consumer.topic_position = 0
    s.consumer_stage = "has_not_asked"


def broker_crash(s: State, c: Constants):
    """The broker crashes; another one reads the cursor from disk. The consumer has to ask again."""
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    take_over(s)
    s.previous_context = NONE
    forget_request(s)
    return TAKEN


def topic_is_trimmed(s: State, c: Constants):
    """The topic's messages up to the cursor are deleted. Whoever reads them there goes on behind.

    Pulsar's compaction cursor is a subscription of the topic: what it has acknowledged may go, if
    no other subscription and no retention keeps it.
    """
    if not c.trims_topic:
        return "the topic keeps its messages"
    if s.cursor.compaction_horizon <= s.trimmed:
        return "the cursor has not moved since"
    s.trimmed = s.cursor.compaction_horizon
    is_by_position = c.consumer_reads == "by_position" and s.consumer_stage != "asks_the_topic"
    if s.consumer.connected and s.consumer.ledger == NONE and not is_by_position:
        s.consumer.position = max(s.consumer.position, s.trimmed + 1)
    if s.consumer.topic_position > 0:
        s.consumer.topic_position = max(s.consumer.topic_position, s.trimmed + 1)
    return TAKEN


# --- The consumer --------------------------------------------------------------------------------


def consumer_asks(s: State, c: Constants):
    """First stage: the broker compares the consumer's position with the horizon.

    It decides for the compacted ledger or for the topic, and remembers where the topic goes on.
    """
    if not c.reads_in_two_stages or c.consumer_reads != "by_position":
        return "the consumer is served in one step"
    if not s.consumer.connected:
        return "the consumer is not connected"
    if s.consumer_stage != "has_not_asked":
        return "the consumer has asked"
    if next_received(s, c) == 0:
        return "there is no message that the consumer has not received"
    s.consumer_stage = "asks_the_topic"
    if s.consumer.position <= s.compaction_horizon:
        s.consumer_stage = "asks_the_ledger"
        s.consumer.topic_position = s.compaction_horizon + 1
    return TAKEN


def consumer_receives(s: State, c: Constants):
    """Second stage, or the only one: the consumer gets the next message.

    If the context's ledger has none for it, it goes on behind the horizon of the first stage.
    """
    if not c.reads_in_two_stages or c.consumer_reads != "by_position":
        return receive_in_one_step(s, c)
    if s.consumer_stage == "has_not_asked":
        return "the consumer has not asked"
    received = s.consumer.position if s.consumer.position <= len(s.messages) else 0
    if s.consumer_stage == "asks_the_ledger":
        received = first_in_ledger(s, s.compacted_topic_context, s.consumer.position)
        s.consumer.position = max(s.consumer.position, s.consumer.topic_position)
    if received > 0:
        append(s.consumer.received, received)
        s.consumer.position = received + 1
    forget_request(s)
    return TAKEN


def consumer_finishes(s: State, c: Constants):
    """The consumer has read the whole topic, and nothing more will be sent."""
    if s.consumer_stage != "has_not_asked":
        return "the consumer waits for an answer"
    return finish(s, c)


# --- What is claimed, and what must be reachable -------------------------------------------------


def deletions_reach_consumers(s: State, c: Constants):
    """A consumer that has received everything has no value of a key that was deleted.

    What ends_with_latest_values means where deletions are dropped: who never got a value need not
    be told.
    """
    if not has_received_everything(s, c):
        return HOLDS
    for key in range(1, c.key_space + 1):
        sent, received = last_sent(s, key), last_received(s, key)
        if received > 0 and value_of(s, received) != NULL_VALUE and value_of(s, sent) == NULL_VALUE:
            return "the consumer is at the end and was not told that a key is deleted"
    return HOLDS


def living_keys_end_with_latest_values(s: State, c: Constants):
    """A consumer that has received everything has the latest message of every key with a value."""
    if not has_received_everything(s, c):
        return HOLDS
    for key in range(1, c.key_space + 1):
        sent = last_sent(s, key)
        if sent > 0 and value_of(s, sent) != NULL_VALUE and last_received(s, key) != sent:
            return "the consumer is at the end without the latest value of a key"
    return HOLDS


# --- Situations ----------------------------------------------------------------------------------


def the_new_ledger_is_left_over(s: State, c: Constants) -> bool:
    """The compactor rests, and the ledger that was written last is not the context's."""
    return (
        s.compactor_state == "compactor_in_phase_one"
        and s.last_ledger > s.compacted_topic_context
        and bool(s.compacted_ledgers[s.last_ledger].exists)
    )


# --- The spec ------------------------------------------------------------------------------------

spec = compaction_spec(
    "compaction_v4_2",
    __doc__,
    state=State,
    constants=Constants,
    draw=draw_compaction_v4_2,
    configurations=CONFIGURATIONS,
)
spec.action(compaction.producer)
spec.action(compaction.compactor_phase_one)
spec.action(compactor_phase_two_write)
spec.action(compactor_phase_two_update_context)
spec.action(compaction.compactor_phase_two_update_horizon)
spec.action(compaction.compactor_phase_two_persist_cusror)
spec.action(compactor_phase_two_delete_ledger)
spec.action(compactor_hears_of_a_failure)
spec.action(broker_crash)
spec.action(topic_is_trimmed)
spec.action(compaction.consumer)
spec.action(compaction.terminating)
spec.action(compaction.consumer_connects)
spec.action(consumer_asks)
spec.action(consumer_receives)
spec.action(consumer_finishes)
declare_properties(spec)
spec.invariant(deletions_reach_consumers, by_default=False)
spec.invariant(living_keys_end_with_latest_values, by_default=False)
spec.situation(the_new_ledger_is_left_over)
