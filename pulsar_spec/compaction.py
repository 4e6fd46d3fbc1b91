"""Topic compaction after its TLA+ specification, with the two bugs that this reproduces.

What it models: one topic, a producer, a compactor that works in two phases, the broker that serves
the result, and crashes of that broker at any moment. Read `model` for the constants and the state,
then the actions in the order of the list at the end of this module, then `properties`. Without a
modelled producer every sequence of messages is an initial state: nothing is sent while the
compactor works, and there are 45,198 states instead of 253,361. With `model_consumer` there is a
consumer: the original's does nothing; with `consumer_reads` one of two others reads
(`actions.reading_consumer`).

What breaks:

- compacted_ledger_leak. A crash between the writing of a ledger and the deletion of the one before
  leaves one behind, since only the last ledger but one is ever deleted: a simplification that the
  original names as such. Pulsar deletes the previous context's ledger (in_real_pulsar.md, 3, 4).
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

from protocol_lab import Configuration
from pulsar_spec.actions.compactor import (
    compactor_phase_one,
    compactor_phase_two_delete_ledger,
    compactor_phase_two_persist_cusror,
    compactor_phase_two_update_context,
    compactor_phase_two_update_horizon,
    compactor_phase_two_write,
)
from pulsar_spec.actions.crashes import broker_crash
from pulsar_spec.actions.idle_steps import consumer, terminating
from pulsar_spec.actions.topic import producer
from pulsar_spec.declarations import compaction_spec, declare_rest

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
declare_rest(spec)
