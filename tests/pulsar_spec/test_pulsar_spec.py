"""The Pulsar specs: engines that agree, storage, the promises and what the prose claims."""

from functools import cache

import pandas as pd
import pytest

from protocol_lab.catalog import load
from protocol_lab.checker.result import Result
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.state_view import encode_plain, plain, plain_value, view
from protocol_lab.model.step_text import find_initial, find_step, initial_texts
from protocol_lab.model.transitions import initial
from protocol_lab.traces.events import CRASH, walk_events
from protocol_lab.traces.scenarios import play, scenario
from pulsar_spec.exercises import compaction as exercises
from pulsar_spec.exercises.crash_points import crash_points
from tests.spec_checks import agree, bind, walk
from tests.work_units import one_in

BASE, LEAK_FIXED, DUPLICATE_FIXED = SPECS = (
    "pulsar.compaction",
    "pulsar.compaction_leak_fixed",
    "pulsar.compaction_duplicate_fixed",
)
V4_2 = "pulsar.compaction_v4_2"
SMALL = {"message_sent_limit": 2, "key_space": 1, "value_space": 1}
TINY = {"message_sent_limit": 2, "key_space": 0, "value_space": 0, "compaction_times_limit": 1}
READS = {"model_consumer": True, "consume_times_limit": 1}
PROMISES = (
    "ends_with_latest_values",
    "deleted_keys_stay_deleted",
    "null_key_message_received_once",
)

COMPACT = ("compactor_phase_one()", "compactor_phase_two_write()")
MAKE_KNOWN = (
    "compactor_phase_two_update_context()",
    "compactor_phase_two_update_horizon()",
    "compactor_phase_two_persist_cusror()",
    "compactor_phase_two_delete_ledger()",
)


def explored(name: str, invariants: list[str] | None = None, **constants) -> Result:
    """The result of an exploration; equal ones are done once."""
    chosen = None if invariants is None else tuple(invariants)
    return _explored(name, chosen, tuple(sorted(constants.items())))


@cache
def _explored(name: str, invariants: tuple | None, constants: tuple) -> Result:
    return explore(bind(name, **dict(constants)), invariants=invariants, progress=False)


# --- Initial states ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("messages", "keys", "values"), [(2, 1, 2), (3, 1, 1), (1, 0, 0), (0, 2, 2)]
)
def test_every_sequence_of_messages_is_an_initial_state(messages, keys, values):
    model = bind(
        BASE, message_sent_limit=messages, key_space=keys, value_space=values, model_producer=False
    )
    starts = [each.row for each in initial(model)]
    assert len(set(starts)) == len(starts) == ((keys + 1) * (values + 1)) ** messages
    texts = list(initial_texts(model))
    assert [find_initial(model, text).row for text in texts] == (starts if texts else [])
    last = plain(view(model.layout, starts[-1]))["messages"]
    assert last == [{"id": k + 1, "key": keys, "value": values} for k in range(messages)]


# --- Storage -----------------------------------------------------------------------------------


def test_the_guards_bound_everything_that_is_stored():
    """With the largest constants all storage is used to the last slot, and only guards refuse."""
    model = bind(
        BASE,
        message_sent_limit=20,
        compaction_times_limit=20,
        key_space=20,
        value_space=99,
        max_crash_times=99,
        retain_null_key=True,
        model_consumer=True,
        consume_times_limit=99,
        consumer_reads="ledger_then_topic",
    )
    row = walk(
        model,
        *["producer(input_key=0, input_value=99)"] * 20,
        *[step for _ in range(19) for step in (*COMPACT, *MAKE_KNOWN)],
        *["broker_crash()"] * 99,
    )
    assert find_step(model, row, "producer(input_key=0, input_value=1)").reason
    assert find_step(model, row, "broker_crash()").reason
    state = plain(view(model.layout, row))
    assert [key for key, each in state["compacted_ledgers"].items() if each["exists"]] == [19]
    assert encode_plain(model.layout, plain_value(model.layout, row)) == row


@pytest.mark.parametrize("reads", ["by_position", "ledger_then_topic"])
def test_what_a_consumer_gets_before_and_after_the_horizon(reads):
    """The ledger has message 2 only, of three; the topic follows after the horizon, not on it."""
    sent = ["producer(input_key=1, input_value=1)"] * 2 + ["producer(input_key=0, input_value=1)"]
    model = bind(BASE, **READS, message_sent_limit=4, consumer_reads=reads)
    row = walk(
        model,
        *sent,
        *COMPACT,
        *MAKE_KNOWN,
        "producer(input_key=1, input_value=1)",
        "consumer_connects()",
        *["consumer_receives()"] * 2,
    )
    assert plain(view(model.layout, row))["consumer"]["received"] == [2, 4]
    assert find_step(model, row, "consumer_receives()").reason


ANY = "producer(input_key=1, input_value=1)"


def test_a_consumer_that_has_lost_its_ledger_connects_again():
    again = (*COMPACT, *MAKE_KNOWN)
    model = bind(BASE, **READS, message_sent_limit=2, consumer_reads="ledger_then_topic")
    steps = ANY, *again, "consumer_connects()", ANY, *again
    refused = find_step(model, walk(model, *steps), "consumer_receives()").reason
    assert refused == "the compacted ledger that the consumer reads was deleted"
    row = walk(model, *steps, "consumer_connects()", "consumer_receives()")
    assert plain(view(model.layout, row))["consumer"]["received"] == [2]


def test_a_consumer_waits_for_what_will_be_sent():
    model = bind(BASE, **READS, message_sent_limit=2, consumer_reads="by_position")
    row = walk(model, ANY, "consumer_connects()", "consumer_receives()")
    assert find_step(model, row, "consumer_finishes()").reason == "not all messages have been sent"


# --- Compaction in one line ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("retain", [False, True])
def test_compaction_is_a_groupby(retain):
    """The ledger has the last message of each key, by id: every third of the 729 topics."""
    model = bind(BASE, retain_null_key=retain, model_producer=False)
    for start in list(initial(model))[::3]:
        row = start.row
        for step in COMPACT:
            row = find_step(model, row, step).row
        state = plain(view(model.layout, row))
        topic = pd.DataFrame(state["messages"])
        keyed = topic[topic.key > 0].groupby("key").tail(1)
        kept = pd.concat([keyed, topic[topic.key == 0]]) if retain else keyed
        written = state["compacted_ledgers"][1]["messages"]
        assert written == kept.sort_values("id").to_dict("records")


# --- The two bugs and the two fixes --------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "broken", "constants", "steps"),
    [
        (BASE, "compacted_ledger_leak", {"max_crash_times": 0}, None),
        (BASE, "compacted_ledger_leak", {"max_crash_times": 1}, 12),
        (BASE, "compacted_ledger_leak", {"max_crash_times": 2}, 9),
        (BASE, "compacted_ledger_leak", {"max_crash_times": 9, "compaction_times_limit": 2}, None),
        (BASE, "between_compactions_one_ledger_exists", {}, 4),
        (BASE, "duplicate_null_key_message", {"retain_null_key": True, "max_crash_times": 0}, 4),
        (BASE, "duplicate_null_key_message", {"retain_null_key": False}, None),
        (BASE, "compaction_horizon_correctness", {"retain_null_key": True}, None),
        (LEAK_FIXED, "compacted_ledger_leak", {"max_crash_times": 9}, None),
        (LEAK_FIXED, "between_compactions_one_ledger_exists", {"max_crash_times": 9}, None),
        (LEAK_FIXED, "compaction_horizon_correctness", {"retain_null_key": True}, None),
        (LEAK_FIXED, "duplicate_null_key_message", {"retain_null_key": True}, 5),
        (DUPLICATE_FIXED, "duplicate_null_key_message", {"retain_null_key": True}, None),
        (DUPLICATE_FIXED, "compaction_horizon_correctness", {"retain_null_key": True}, None),
        (DUPLICATE_FIXED, "compacted_ledger_leak", {}, 11),
    ],
)
def test_who_breaks_what(name, broken, constants, steps):
    result = explored(name, [broken], **{**SMALL, **constants})
    assert result.verdict == ("holds" if steps is None else "violated")
    assert (result.trace and len(result.trace)) == steps


@pytest.mark.slow
@pytest.mark.parametrize("retain", [False, True])
@pytest.mark.parametrize(
    ("name", "reads", "broken"),
    [
        (BASE, "by_position", {}),
        (LEAK_FIXED, "by_position", {}),
        (DUPLICATE_FIXED, "by_position", {}),
        (
            BASE,
            "ledger_then_topic",
            {"deleted_keys_stay_deleted": 8, "null_key_message_received_once": 7},
        ),
        (
            LEAK_FIXED,
            "ledger_then_topic",
            {"deleted_keys_stay_deleted": 9, "null_key_message_received_once": 8},
        ),
        (DUPLICATE_FIXED, "ledger_then_topic", {}),
    ],
)
def test_what_a_consumer_is_promised(name, reads, broken, retain):
    for promise in PROMISES:
        result = explored(
            name, [promise], **SMALL, **READS, consumer_reads=reads, retain_null_key=retain
        )
        # Messages without a key can only be received twice where they are kept.
        fails = promise in broken and (retain or promise != "null_key_message_received_once")
        assert (result.trace and len(result.trace)) == (broken[promise] if fails else None)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_what_must_be_reachable_is_reached(name):
    assert explored(name, [], **SMALL).never_reached == []
    assert explored(name, [], **SMALL, consume_times_limit=1).never_reached == []
    reading = explored(name, [], **SMALL, **READS, consumer_reads="by_position")
    assert reading.never_reached == []
    idle = explored(name, [], **SMALL, **READS)
    assert idle.never_reached == ["everything_ends"], "a consumer that does nothing never finishes"


@pytest.mark.rarely
def test_what_the_fixes_cost():
    """In steps: one more and one less in every compaction, of which there are three."""
    depths = {
        name: explored(name, [], **SMALL, max_crash_times=0, model_producer=False).depth
        for name in SPECS
    }
    assert depths == {BASE: 20, LEAK_FIXED: 20 + 3, DUPLICATE_FIXED: 20 - 3}


# --- What Pulsar 4.2 does differently -------------------------------------------------------------

ONE_READER = {
    **SMALL,
    **READS,
    "max_crash_times": 0,
    "compaction_times_limit": 2,
    "consumer_reads": "by_position",
}
TRIMMED = {"trims_topic": True}
IN_STAGES = {"reads_in_two_stages": True}


@pytest.mark.rarely
def test_with_all_rules_off_the_states_are_those_of_the_original():
    claims = ["type_safe", "compaction_horizon_correctness"]
    for producer, states in [(True, 253361), (False, 45198)]:
        assert explored(V4_2, claims, model_producer=producer).distinct == states


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "constants", "steps"),
    one_in(
        4,
        [
            ("compaction_horizon_correctness", {"drops_null_values": True}, 5),
            ("ends_with_latest_values", {"drops_null_values": True}, 6),
            ("deletions_reach_consumers", {"drops_null_values": True}, 8),
            ("living_keys_end_with_latest_values", {"drops_null_values": True}, None),
            ("living_keys_end_with_latest_values", TRIMMED, None),
            ("living_keys_end_with_latest_values", IN_STAGES, None),
            ("living_keys_end_with_latest_values", {**TRIMMED, **IN_STAGES}, 9),
            ("ends_with_latest_values", {**TRIMMED, **IN_STAGES, "updates_together": True}, 8),
            ("deletions_reach_consumers", {}, None),
            ("compaction_horizon_correctness", {"max_lost_answers": 1}, 7),
            ("null_key_messages_are_not_lost", {}, 5),
            ("null_key_messages_are_not_lost", {"retain_null_key": True}, None),
        ],
    ),
)
def test_what_each_rule_changes(broken, constants, steps):
    result = explored(V4_2, [broken], **{**ONE_READER, **constants})
    assert (result.trace and len(result.trace)) == steps


@pytest.mark.slow
@pytest.mark.parametrize("reads", ["by_position", "ledger_then_topic"])
def test_engines_agree_on_the_rules_of_4_2(reads):
    rules = ("deletes_previous_context", "drops_null_values", "updates_together", "trims_topic")
    model = bind(
        V4_2,
        **TINY,
        **READS,
        **IN_STAGES,
        **dict.fromkeys(rules, True),
        consumer_reads=reads,
        max_lost_answers=1,
    )
    agree(model, invariants=[], progress=False)


# --- Crashes, diagrams, termination ---------------------------------------------------------------


@pytest.mark.slow
def test_the_table_of_crash_points():
    constants = {**SMALL, "retain_null_key": True}
    table = crash_points(load("pulsar.compaction").bind(**constants))
    left_behind = table["ledger left behind"]
    harmful = list(table.index[left_behind > 0])
    harmful.remove("phase_two_update_horizon")  # the exercise is by Pulsar's rules: no such state
    assert harmful == exercises.HARMFUL
    assert not table["messages lost"].any()
    assert not table["served twice after it"].any()
    twice = table["served twice before it"]
    assert list(table.index[twice > 0]) == ["phase_two_update_horizon"]
    taken_back = table["consumers taken back"]
    assert list(taken_back[taken_back > 0].index) == [
        "phase_two_update_horizon",
        "phase_two_persist_cusror",
    ]
    fixed = crash_points(load("pulsar.compaction_leak_fixed").bind(**constants))
    assert not fixed["ledger left behind"].any()
    together = crash_points(load("pulsar.compaction_duplicate_fixed").bind(**constants))
    assert not together["served twice before it"].any()
    assert "phase_two_update_horizon" not in together.index


@pytest.mark.slow
def test_where_the_previous_context_is_deleted_every_new_ledger_that_no_cursor_names_stays():
    constants = {**SMALL, "retain_null_key": True, "deletes_previous_context": True}
    table = crash_points(load("pulsar.compaction_v4_2").bind(**constants))
    named = table.loc["phase_two_delete_ledger"]
    assert 0 < named["ledger left behind"] < named["crashes"]
    unnamed = table.loc["phase_two_update_context":"phase_two_persist_cusror"]
    assert (unnamed["ledger left behind"] == unnamed["crashes"]).all()


def told(name: str) -> list:
    """All that a scenario's sequence diagram tells."""
    return [event for _, events in walk_events(play(scenario(name))) for event in events]


def test_what_the_sequence_diagrams_tell():
    crashes = [event for event in told("leak_fixed") if getattr(event, "kind", "") == CRASH]
    assert len(crashes) == 1
    labels = [getattr(event, "label", "") for event in told("leak_fixed")]
    assert "cursor names ledgers: 1, 2" in labels
    assert "delete ledger 2" in labels
    twice = [
        event for event in told("null_key_received_twice") if "consumer" in vars(event).values()
    ]
    assert [(each.source, each.label) for each in twice[1:]] == [
        ("ledgers and cursor", "A: no key v1"),
        ("topic", "A: no key v1"),
    ]
    served = [event for event in told("by_position_is_not_fooled") if "B: k1 null" in str(event)]
    assert [each.source for each in served] == ["producer", "ledgers and cursor"]


@pytest.mark.slow
@pytest.mark.parametrize("reads", ["by_position", "ledger_then_topic"])
def test_with_a_consumer_that_reads_everything_ends(reads):
    """What the original's consumer can't do: it counts no readings."""
    model = load("pulsar.compaction").bind(
        **SMALL,
        compaction_times_limit=2,
        model_consumer=True,
        consume_times_limit=1,
        consumer_reads=reads,
    )
    fair = check_property(model, "termination", fairness="next", progress=False)
    assert fair.verdict == "holds"
    assert check_property(model, "termination", fairness="none", progress=False).violated
