"""What learners meet in Pulsar: challenges, exercises, situations, pictures of crashes."""

from dataclasses import replace

import pytest

from protocol_lab import HOLDS, TAKEN, erase
from protocol_lab.catalog import load
from protocol_lab.challenges import challenges_of, par, progress, shortest
from protocol_lab.declaring.spec import Property
from protocol_lab.exercises import run
from protocol_lab.exploring.explore import explore
from protocol_lab.stepping.events import CRASH, walk_events
from protocol_lab.stepping.scenarios import play, read_scenario, scenarios_of
from protocol_lab.temporal.check import check_property
from pulsar_spec.compaction_core import (
    COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT,
    COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON,
    forget_phase_one,
    max_compacted_ledger_id,
)
from pulsar_spec.crash_points import crash_points
from pulsar_spec.exercises import compaction as exercises

SMALL = {"message_sent_limit": 2, "key_space": 1, "value_space": 1}
CHALLENGES = challenges_of("pulsar")


def told(name: str) -> list:
    """All that a scenario's sequence diagram tells."""
    path = next(path for path in scenarios_of("pulsar") if path.stem == name)
    return [event for _, events in walk_events(play(read_scenario(path))) for event in events]


# --- Challenges --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("receive_it_twice", 7),
        ("bring_a_key_back", 8),
        ("never_finish", 9),
        ("leave_a_ledger_behind", 12),
        ("pull_the_rug", 12),
    ],
)
def test_par(name, steps):
    challenge = next(each for each in CHALLENGES if each.name == name)
    start = challenge.begin()
    assert not challenge.is_met(start, start.moment)
    assert par(challenge) == steps
    assert progress(challenge, shortest(challenge))["points"] == 10


def test_challenges_come_with_hints_and_the_easiest_first():
    assert [each.name for each in CHALLENGES] == [
        "receive_it_twice",
        "bring_a_key_back",
        "never_finish",
        "leave_a_ledger_behind",
        "pull_the_rug",
    ]
    assert all(len(each.hints) >= 2 and each.task.endswith(".") for each in CHALLENGES)


# --- Exercises ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "write_compaction",
        "one_message_for_three",
        "name_the_crash_points",
        "update_both_at_once",
        "clean_up_after_a_crash",
    ],
)
def test_worked_answers_pass_and_no_answer_does_not(name):
    task = getattr(exercises, name)
    assert task.check(task.answer).passed
    assert task.check(None).passed is False
    assert len(task.hints) >= 2
    assert task.why


def keep_the_first(topic, retain_null_key):
    return topic.drop_duplicates("key")


def keep_keyless_always(topic, retain_null_key):
    return exercises.compacted(topic, True)


def keep_values_only(topic, retain_null_key):
    kept = exercises.compacted(topic, retain_null_key)
    return kept[kept.value > 0]


@pytest.mark.parametrize("answer", [keep_the_first, keep_keyless_always, keep_values_only])
def test_a_wrong_compaction_is_shown_a_topic(answer):
    judged = exercises.write_compaction.check(answer)
    assert judged.passed is False
    assert "the ledger has" in judged.text


def test_wrong_steps_and_wrong_names_are_told():
    too_early = exercises.ONE_FOR_THREE.replace("compactor_phase_two_update_horizon()", "")
    assert exercises.one_message_for_three.check(too_early).passed is False
    longer = "producer(input_key=0, input_value=0)\n" + exercises.ONE_FOR_THREE
    assert "Step 4" in exercises.one_message_for_three.check(longer).text
    assert "no state 'phase_3'" in exercises.name_the_crash_points.check(["phase_3"]).text


@pytest.mark.slow
def test_wrong_crash_points_are_told():
    name = exercises.name_the_crash_points
    assert "phase_two_write leaves nothing" in name.check(["phase_two_write"]).text
    assert "3 more" in name.check(["phase_two_persist_cusror"]).text


def horizon_first(s, c):
    if s.compactor_state != COMPACTOR_IN_PHASE_TWO_UPDATE_CONTEXT:
        return "not yet"
    s.compaction_horizon = s.phase_one_result.read_position
    s.compactor_state = COMPACTOR_IN_PHASE_TWO_UPDATE_HORIZON
    return TAKEN


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "answer", "text"),
    [
        ("update_both_at_once", horizon_first, "compaction_horizon_correctness breaks"),
        (
            "clean_up_after_a_crash",
            delete_the_latest,
            "between_compactions_one_ledger_exists breaks",
        ),
    ],
)
def test_half_repairs_are_told_what_breaks(task, answer, text):
    judged = getattr(exercises, task).check(answer)
    assert judged.passed is False
    assert text in judged.text


# --- Situations ----------------------------------------------------------------------------------

OF_A_CONSUMER = ["the_consumers_ledger_was_deleted", "the_consumer_was_spared_a_message"]


def _reached(situation):
    function = situation.function

    def reached(s, c):
        return HOLDS if function(s, c) else "it is not so"

    reached.__name__ = situation.name
    return reached


@pytest.mark.slow
def test_situations_can_be_reached():
    """Without a consumer all but the two about one; with one that reads, these as well."""
    spec = load("pulsar.compaction")
    asked = replace(
        spec, sometimes_properties=[Property(_reached(each)) for each in spec.situations]
    )
    assert run(asked.bind(), invariants=[]).never_reached == OF_A_CONSUMER
    reading = run(
        asked.bind(
            key_space=1,
            value_space=0,
            model_consumer=True,
            consume_times_limit=1,
            consumer_reads="ledger_then_topic",
        ),
        invariants=[],
    )
    assert reading.never_reached == []
    assert all(each.label and not each.label.endswith(".") for each in spec.situations)


# --- Crashes, diagrams, termination ---------------------------------------------------------------


@pytest.mark.slow
def test_the_table_of_crash_points():
    constants = {**SMALL, "retain_null_key": True}
    table = crash_points(load("pulsar.compaction").bind(**constants))
    left_behind = table["ledger left behind"]
    assert list(table.index[left_behind > 0]) == exercises.HARMFUL
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
        ("ledgers and cursor", "1: no key value 1"),
        ("topic", "1: no key value 1"),
    ]
    served = [event for event in told("by_position_is_not_fooled") if "2: k1 null" in str(event)]
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


@pytest.mark.slow
def test_the_headline_sizes_are_explored_in_half_a_second():
    """The original's comment: with a producer, and without one. Here with all default invariants.

    The best of three, since the machine may be busy with something else.
    """
    for constants, distinct in [({}, 253_361), ({"model_producer": False}, 45_198)]:
        model = load("pulsar.compaction").bind(**constants)
        invariants = ["type_safe", "compaction_horizon_correctness"]
        runs = [explore(model, invariants=invariants, progress=False) for _ in range(3)]
        assert {each.distinct for each in runs} == {distinct}
        assert min(each.seconds for each in runs) < 0.5
