"""Topic compaction after its TLA+ specification, with the two bugs that this reproduces.

What it models: one topic, a producer, a compactor that works in two phases, the broker that serves
the result, and crashes of that broker at any moment. Read `model` for the constants and the state,
then the actions below, in the order of a message's life, then `properties`. Without a modelled
producer every sequence of messages is an initial state: nothing is sent while the compactor works,
and there are 45,198 states instead of 253,361. With `model_consumer` there is a consumer: the
original's does nothing; with `consumer_reads` one of two others reads.

What breaks:

- compacted_ledger_leak. A crash between the writing of a ledger and the deletion of the one before
  leaves one behind, since only the last ledger but one is ever deleted: a simplification that the
  original names as such. Pulsar 4.2.4 deletes the previous context's ledger (in_real_pulsar.md).
  One crash and three compactions are enough, for any messages.
- duplicate_null_key_message, with retain_null_key and without any crash. Between the update of the
  context and that of the horizon, the new ledger stands beside the old horizon: a message without a
  key is in the ledger, and once more in the topic after the horizon. For a message with a key that
  would not matter much: the later one counts.

A consumer that reads ledger_then_topic runs into the second bug: it receives such a message twice,
and may see a deleted key come back. One that reads by_position, as Pulsar's brokers serve it, does
neither in any configuration that was explored.

Left out: the removal of null values (as in the original they are kept and count as a key's last
message), batches, the deletion of the topic's own messages, failing reads and writes, compaction
that is started again while one runs, and a ledger's id: a new ledger has the next one after the
largest that exists, and in Pulsar ids are never used twice.

Source: compaction.tla by thetumbled, https://github.com/thetumbled/pulsar-tlaplus; PIP-14 for what
it models.
"""

from collections.abc import Callable

from protocol_lab import *
from pulsar_spec.draw.choices import CHOICES
from pulsar_spec.draw.compaction import draw_compaction
from pulsar_spec.draw.events import LIFELINES, compaction_events
from pulsar_spec.model import *
from pulsar_spec.properties import declare_properties


def compaction_spec(
    name: str,
    meaning: str | None,
    *,
    state: type[State] = State,
    constants: type = Constants,
    draw: Callable[..., str] = draw_compaction,
    original: str = "",
    configurations: tuple[Configuration, ...],
) -> Spec:
    """A spec of this name without actions: this one, or a fix, which has most actions from here."""
    spec = Spec(
        f"pulsar.{name}",
        state,
        constants,
        meaning,
        draw=draw,
        original=original,
        added=("consumer",),
        lifelines=LIFELINES,
        events=compaction_events,
        choices=CHOICES,
        configurations=configurations,
    )
    spec.init(init)
    return spec


spec = compaction_spec(
    "compaction",
    __doc__,
    original="compaction",
    configurations=(
        Configuration(
            "default",
            "three messages and one crash",
            "violated in 13 states, after 72,118 distinct states",
        ),
        Configuration(
            "shipped",
            "messages are there from the start, as in the original's compaction.cfg",
            "violated in 4 states, after 3,646 distinct states",
            {"model_producer": False, "consume_times_limit": 2, "retain_null_key": True},
        ),
    ),
)


# --- The topic -----------------------------------------------------------------------------------


@spec.action
def producer(
    s: State, c: Constants, input_key: Range(0, "key_space"), input_value: Range(0, "value_space")
):
    """The producer sends a message, with any key and value or without."""
    if not c.model_producer:
        return "all messages are there from the start"
    if len(s.messages) >= c.message_sent_limit:
        return "all messages have been sent"
    append(s.messages, Message(id=len(s.messages) + 1, key=input_key, value=input_value))
    return TAKEN


# --- The compactor: two passes over the topic ----------------------------------------------------


@spec.action
def compactor_phase_one(s: State, c: Constants):
    """The compactor reads the topic to its end and notes the last message of each key.

    What is sent afterwards is not in this compaction's ledger, whatever its key: the horizon says
    where the ledger ends, and consumers get the rest from the topic.
    """
    if s.compactor_state != "compactor_in_phase_one":
        return "the compactor is not in phase one"
    if len(s.messages) == 0:
        return "the topic is empty"
    s.phase_one_result.read_position = len(s.messages)
    for message in s.messages:
        if message.key != NULL_KEY:
            s.phase_one_result.latest_for_key[message.key] = message.id
    s.compactor_state = "compactor_in_phase_two_write"
    return TAKEN


def is_kept(s: State, c: Constants, message) -> bool:
    """Does a message survive compaction? The last of its key does, whatever its value is."""
    if message.key == NULL_KEY:
        return bool(c.retain_null_key)
    return message.id == s.phase_one_result.latest_for_key[message.key]


def write_ledger(s: State, c: Constants, new) -> None:
    """Write what is kept of what phase one has read into a new compacted ledger."""
    s.compacted_ledgers[new].exists = True
    for k in range(s.phase_one_result.read_position):
        if is_kept(s, c, s.messages[k]):
            append(s.compacted_ledgers[new].messages, s.messages[k])
    s.compactor_state = "compactor_in_phase_two_update_context"


@spec.action
def compactor_phase_two_write(s: State, c: Constants):
    """The compactor reads the topic again and writes what is kept into a new compacted ledger.

    From here until the old ledger is deleted there are two ledgers on disk, and the cursor names
    one. A crash in between leaves the other one behind: compacted_ledger_leak after 12 steps, with
    two crashes after 9. `compaction_leak_fixed` names the ledger on disk before it is written.
    """
    if s.compactor_state != "compactor_in_phase_two_write":
        return "the compactor is not about to write a ledger"
    new = max_compacted_ledger_id(s, c) + 1
    if new > c.compaction_times_limit:
        return "compaction_times_limit ledgers have been written"
    write_ledger(s, c, new)
    return TAKEN


# --- The compactor: the result is made known, step by step ---------------------------------------


@spec.action
def compactor_phase_two_update_context(s: State, c: Constants):
    """From now on consumers read the new ledger.

    Until the next step it stands beside the old horizon: duplicate_null_key_message, after 4 steps
    with `retain_null_key`. `compaction_duplicate_fixed` makes the two updates one step, as the
    exercise `update_both_at_once` asks for. In Pulsar 4.2.4 both happen under a lock.
    """
    if s.compactor_state != "compactor_in_phase_two_update_context":
        return "the compactor is not about to update the context"
    s.compacted_topic_context = max_compacted_ledger_id(s, c)
    s.compactor_state = "compactor_in_phase_two_update_horizon"
    return TAKEN


@spec.action
def compactor_phase_two_update_horizon(s: State, c: Constants):
    """From now on the ledger stands for the topic up to where phase one has read.

    Not before the context: the old ledger lacks what the new horizon promises, and
    compaction_horizon_correctness breaks, as the wrong answers to `update_both_at_once` find.
    """
    if s.compactor_state != "compactor_in_phase_two_update_horizon":
        return "the compactor is not about to update the horizon"
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = "compactor_in_phase_two_persist_cusror"
    return TAKEN


@spec.action
def compactor_phase_two_persist_cusror(s: State, c: Constants):
    """Horizon and context are written to disk, as properties of the compaction cursor.

    In one write, so that a crash never leaves a horizon beside another compaction's ledger. Before
    the old ledger is deleted, so that what the cursor names exists.
    """
    if s.compactor_state != "compactor_in_phase_two_persist_cusror":
        return "the compactor is not about to persist the cursor"
    s.cursor.compaction_horizon = s.compaction_horizon
    s.cursor.compacted_topic_context = s.compacted_topic_context
    s.compactor_state = "compactor_in_phase_two_delete_ledger"
    return TAKEN


def forget_phase_one(s: State) -> None:
    """The compactor drops the result of phase one, which is in its memory only."""
    s.phase_one_result = PhaseOneResult()
    s.compactor_state = "compactor_in_phase_one"


@spec.action
def compactor_phase_two_delete_ledger(s: State, c: Constants):
    """The last ledger but one is deleted, if it exists, and the compactor begins again.

    After a crash the last but one need not be the one that nobody uses. Pulsar 4.2.4 deletes the
    ledger of the previous context instead.
    """
    if s.compactor_state != "compactor_in_phase_two_delete_ledger":
        return "the compactor is not about to delete a ledger"
    old = max_compacted_ledger_id(s, c) - 1
    if old > 0:
        s.compacted_ledgers[old] = Ledger()
    forget_phase_one(s)
    return TAKEN


# --- Crashes -------------------------------------------------------------------------------------


def take_over(s: State) -> None:
    """Another broker serves the topic. It knows what the cursor says, and nothing else."""
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context


@spec.action
def broker_crash(s: State, c: Constants):
    """The broker crashes, and the compactor with it; another broker reads the cursor from disk.

    It deletes nothing: which ledgers may be left over is written nowhere. The exercise
    `clean_up_after_a_crash` looks at the disk instead, which Pulsar can't.
    """
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    take_over(s)
    return TAKEN


# --- Steps that change nothing -------------------------------------------------------------------


@spec.action
def consumer(s: State, c: Constants):
    """The original's consumer, which does nothing at any time."""
    if not c.model_consumer:
        return "no consumer is modelled"
    if c.consumer_reads != "nothing":
        return "the consumer reads; see the other actions"
    return TAKEN


@spec.action
def terminating(s: State, c: Constants):
    """Everything is done and stays as it is, so that the end is not a deadlock."""
    if not has_ended(s, c):
        return "not all messages are sent, ledgers written or readings done"
    return TAKEN


# --- Not in the original: a consumer that reads, if `consumer_reads` says how --------------------

# - ledger_then_topic, which is what the original's duplicate_null_key_message has in mind: when it
#   connects, it takes the context's compacted ledger and the horizon. It reads that ledger to its
#   end, and then the topic from the message after that horizon on.
# - by_position, as Pulsar's brokers serve a consumer with readCompacted: it asks for what comes
#   after the message that it got last. If that is at or before the horizon, it gets the next
#   message that the context's ledger has; otherwise, or if there is none, it gets the topic's.
#
# It reads from the first message to the last, consume_times_limit times, and remembers nothing from
# one time to the next. If its ledger is deleted while it reads, it has to connect again.


def go_on_in_the_topic(s: State) -> None:
    """A consumer that reads a ledger and has got all of it turns to the topic."""
    at_end = first_in_ledger(s, s.consumer.ledger, s.consumer.position) == 0
    if s.consumer.ledger != NONE and at_end:
        s.consumer.ledger = NONE
        s.consumer.position = s.consumer.topic_position
        s.consumer.topic_position = 0


@spec.action
def consumer_connects(s: State, c: Constants):
    """The consumer connects, to read from the first message on.

    One that reads ledger_then_topic takes the ledger and the horizon of this moment, which belong
    together or not: null_key_message_received_once breaks after 7 steps, deleted_keys_stay_deleted
    after 8, and neither in `compaction_duplicate_fixed`.
    """
    if not c.model_consumer or c.consumer_reads == "nothing":
        return "no consumer that reads is modelled"
    if s.consumer.connected and not has_lost_its_ledger(s):
        return "the consumer is connected"
    if s.consume_times >= c.consume_times_limit:
        return "the consumer has read the topic consume_times_limit times"
    s.consumer = Consumer(connected=True, position=1)
    if c.consumer_reads == "ledger_then_topic" and s.compacted_topic_context != NONE:
        s.consumer.ledger = s.compacted_topic_context
        s.consumer.topic_position = s.compaction_horizon + 1
        go_on_in_the_topic(s)
    return TAKEN


@spec.action
def consumer_receives(s: State, c: Constants):
    """The consumer gets the next message, from the compacted ledger or from the topic."""
    if not s.consumer.connected:
        return "the consumer is not connected"
    if has_lost_its_ledger(s):
        return "the compacted ledger that the consumer reads was deleted"
    if next_received(s, c) == 0:
        return "there is no message that the consumer has not received"
    received = next_received(s, c)
    append(s.consumer.received, received)
    s.consumer.position = received + 1
    go_on_in_the_topic(s)
    return TAKEN


@spec.action
def consumer_finishes(s: State, c: Constants):
    """The consumer has read the whole topic, and nothing more will be sent."""
    if len(s.messages) < c.message_sent_limit:
        return "not all messages have been sent"
    if not has_received_everything(s, c):
        return "the consumer is not connected, or has not received everything"
    s.consumer = Consumer()
    s.consume_times += 1
    return TAKEN


declare_properties(spec)
