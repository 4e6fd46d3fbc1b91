"""Wrong answers to the exercises of the Pulsar notebooks, each with what the check has to say."""

from protocol_lab import HOLDS, TAKEN
from pulsar_spec.compaction import forget_phase_one
from pulsar_spec.exercises.compaction import compacted
from pulsar_spec.model import NULL_KEY, Ledger, first_in_ledger, max_compacted_ledger_id

# --- write_compaction ------------------------------------------------------------------------


def keep_the_first(topic, retain_null_key):
    return topic.drop_duplicates("key")


def keep_keyless_always(topic, retain_null_key):
    return compacted(topic, True)


def keep_deletions(topic, retain_null_key):
    kept = topic.groupby("key").tail(1)
    return kept[kept.key > 0]


# --- say_what_is_not_lost --------------------------------------------------------------------


def one_without_a_key_will_do(s, c):
    ledger = s.compacted_topic_context
    for k in range(s.compaction_horizon):
        if s.messages[k].key == NULL_KEY and not any(
            each.key == NULL_KEY for each in s.compacted_ledgers[ledger].messages
        ):
            return "no message without a key is in the ledger"
    return HOLDS


def nothing_is_left_out(s, c):
    for k in range(s.compaction_horizon):
        if first_in_ledger(s, s.compacted_topic_context, k + 1) != k + 1:
            return "a message is not in the ledger"
    return HOLDS


# --- update_both_at_once ---------------------------------------------------------------------


def horizon_first(s, c):
    if s.compactor_state != "compactor_in_phase_two_update_context":
        return "not yet"
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = "compactor_in_phase_two_update_horizon"
    return TAKEN


# --- clean_up_after_a_crash ------------------------------------------------------------------


def delete_the_latest(s, c):
    if s.crash_times >= c.max_crash_times:
        return "no more crashes"
    s.crash_times += 1
    forget_phase_one(s)
    s.compaction_horizon = s.cursor.compaction_horizon
    s.compacted_topic_context = s.cursor.compacted_topic_context
    if max_compacted_ledger_id(s, c) != s.cursor.compacted_topic_context:
        s.compacted_ledgers[max_compacted_ledger_id(s, c)] = Ledger()
    return TAKEN


WRONG = {
    "write_compaction": [
        (keep_the_first, "the ledger has"),
        (keep_keyless_always, "the ledger has"),
        (keep_deletions, "the ledger has"),
    ],
    "say_what_is_not_lost": [
        (one_without_a_key_will_do, "also where a message without a key is lost"),
        (nothing_is_left_out, 'it says "a message is not in the ledger"'),
    ],
    "name_the_crash_points": [
        (["phase_3"], "no state 'phase_3'"),
        (["phase_two_write"], "phase_two_write leaves nothing"),
        (["phase_two_persist_cusror"], "2 more"),
    ],
    "update_both_at_once": [(horizon_first, "compaction_horizon_correctness breaks")],
    "clean_up_after_a_crash": [(delete_the_latest, "between_compactions_one_ledger_exists breaks")],
}
