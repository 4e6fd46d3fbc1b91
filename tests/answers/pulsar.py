"""Wrong answers to the exercises of the Pulsar notebooks, each with what the check has to say."""

from protocol_lab import TAKEN, erase
from pulsar_spec.actions.compactor import forget_phase_one
from pulsar_spec.exercises.compaction import ONE_FOR_THREE, compacted
from pulsar_spec.model import (
    COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT,
    COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON,
    max_compacted_ledger_id,
)

# --- write_compaction ------------------------------------------------------------------------


def keep_the_first(topic, retain_null_key):
    return topic.drop_duplicates("key")


def keep_keyless_always(topic, retain_null_key):
    return compacted(topic, True)


def keep_values_only(topic, retain_null_key):
    kept = compacted(topic, retain_null_key)
    return kept[kept.value > 0]


# --- update_both_at_once ---------------------------------------------------------------------


def horizon_first(s, c):
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT:
        return "not yet"
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON
    return TAKEN


# --- clean_up_after_a_crash ------------------------------------------------------------------


def delete_the_latest(s, c):
    if s.crash_times >= c.max_crash_times:
        return "no more crashes"
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context
    if max_compacted_ledger_id(s) != s.cursor.compacted_topic_context:
        erase(s.compacted_ledgers, max_compacted_ledger_id(s))
    return TAKEN


WRONG = {
    "write_compaction": [
        (keep_the_first, "the ledger has"),
        (keep_keyless_always, "the ledger has"),
        (keep_values_only, "the ledger has"),
    ],
    "one_message_for_three": [
        (
            ONE_FOR_THREE.replace("compactor_phase_two_update_horizon()", ""),
            "does not have one message for three",
        ),
        ("producer(input_key=0, input_value=0)" + ONE_FOR_THREE, "Step 4"),
    ],
    "name_the_crash_points": [
        (["phase_3"], "no state 'phase_3'"),
        (["phase_two_write"], "phase_two_write leaves nothing"),
        (["phase_two_persist_cusror"], "3 more"),
    ],
    "update_both_at_once": [(horizon_first, "compaction_horizon_correctness breaks")],
    "clean_up_after_a_crash": [(delete_the_latest, "between_compactions_one_ledger_exists breaks")],
}
