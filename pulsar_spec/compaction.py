"""Topic compaction as Pulsar does it, with its two open bugs.

What it models: one topic, a producer, a compactor that works in two phases, the broker that serves
the result, and crashes of that broker at any moment. `compaction_core` has the state and the
actions, and says what they stand for. Without a modelled producer every sequence of messages is an
initial state: nothing is sent while the compactor works, and there are 45,198 states instead of
253,361. A consumer is there if `model_consumer` is set; the original's does nothing, one of two
others reads if `consumer_reads` says so (see `consumer`).

What breaks:

- compacted_ledger_leak. A crash between the writing of a ledger and the deletion of the one before
  leaves one behind, since only the last ledger but one is ever deleted. One crash and three
  compactions are enough, for any messages.
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

Source: the compaction module of pulsar-tlaplus by thetumbled; PIP-14 for what is modelled.
"""

from protocol_lab import Spec
from pulsar_spec.compaction_core import (
    Constants,
    State,
    broker_crash,
    compactor_phase_one,
    compactor_phase_two_delete_ledger,
    compactor_phase_two_persist_cusror,
    compactor_phase_two_update_context,
    compactor_phase_two_update_horizon,
    compactor_phase_two_write,
    consumer,
    init,
    producer,
    terminating,
)
from pulsar_spec.compaction_properties import declare_properties
from pulsar_spec.compaction_situations import declare_situations
from pulsar_spec.consumer import declare_consumer
from pulsar_spec.draw.compaction import draw_compaction
from pulsar_spec.draw.events import LIFELINES, compaction_events

spec = Spec(
    "pulsar.compaction",
    State,
    Constants,
    __doc__,
    draw=draw_compaction,
    original="compaction",
    lifelines=LIFELINES,
    events=compaction_events,
)
spec.init(init)
spec.action(producer)
spec.action(compactor_phase_one)
spec.action(compactor_phase_two_write)
spec.action(compactor_phase_two_update_context)
spec.action(compactor_phase_two_update_horizon)
spec.action(compactor_phase_two_persist_cusror)
spec.action(compactor_phase_two_delete_ledger)
spec.action(broker_crash)
spec.action(consumer)
spec.action(terminating)
declare_consumer(spec)
declare_properties(spec)
declare_situations(spec)
