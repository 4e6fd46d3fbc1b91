"""A fix for the duplicate: context and horizon change together.

What it models: `pulsar.compaction`, but for one step. Where that updates the context and then the
horizon, here both change at once, and consumers see both or neither.

What holds: duplicate_null_key_message, and a consumer that reads ledger_then_topic receives no
message without a key twice and sees no deleted key come back, since whoever connects gets a ledger
and a horizon that belong together. What breaks is the other bug, compacted_ledger_leak.

What it costs: nothing on disk, and a compaction takes one step less. But readers must take both
values at once as well: they need a common lock, or one reference to a pair that never changes.
Updating the horizon first is no way out: then compaction_horizon_correctness fails in between.

Left out: what `pulsar.compaction` leaves out.

Source: compaction.tla by thetumbled, https://github.com/thetumbled/pulsar-tlaplus; the fix is ours.
"""

from protocol_lab import *
from pulsar_spec import compaction
from pulsar_spec.compaction import compaction_spec
from pulsar_spec.model import *
from pulsar_spec.properties import declare_properties


def compactor_phase_two_update_context_and_horizon(s: State, c: Constants):
    """From now on the new ledger is read, up to where phase one has read: both in one step.

    As two steps: duplicate_null_key_message after 4 steps, in `pulsar.compaction`.
    """
    if s.compactor_state != "compactor_in_phase_two_update_context":
        return "the compactor is not about to update the context"
    s.compacted_topic_context = max_compacted_ledger_id(s, c)
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = "compactor_in_phase_two_persist_cusror"
    return TAKEN


spec = compaction_spec(
    "compaction_duplicate_fixed",
    __doc__,
    configurations=(
        Configuration(
            "default",
            "three messages and one crash",
            "violated in 12 states, after 63,503 distinct states",
        ),
    ),
)
spec.action(compaction.producer)
spec.action(compaction.compactor_phase_one)
spec.action(compaction.compactor_phase_two_write)
spec.action(compactor_phase_two_update_context_and_horizon)
spec.action(compaction.compactor_phase_two_persist_cusror)
spec.action(compaction.compactor_phase_two_delete_ledger)
spec.action(compaction.broker_crash)
spec.action(compaction.consumer)
spec.action(compaction.terminating)
spec.action(compaction.consumer_connects)
spec.action(compaction.consumer_receives)
spec.action(compaction.consumer_finishes)
declare_properties(spec)
