"""Pulsar beyond its counts: the table of crash points, sequence diagrams, termination."""

import re

import pytest

from protocol_lab.catalog import load
from protocol_lab.liveness.check import check_property
from protocol_lab.traces.events import CRASH, walk_events
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of
from pulsar_spec.exercises import compaction as exercises
from pulsar_spec.exercises.crash_points import crash_points
from pulsar_spec.exercises.crash_windows import draw_crash_windows

SMALL = {"message_sent_limit": 2, "key_space": 1, "value_space": 1}


def told(name: str) -> list:
    """All that a scenario's sequence diagram tells."""
    path = next(path for path in scenarios_of("pulsar") if path.stem == name)
    return [event for _, events in walk_events(play(read_scenario(path))) for event in events]


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


def test_the_time_line_says_what_a_crash_in_each_moment_leaves_behind():
    picture = draw_crash_windows(load("pulsar.compaction").bind(**SMALL))
    text = re.search("<desc>(.+?)</desc>", picture)[1]
    said = dict(re.findall(r"([A-Z][a-z 0-9]+): [a-z ]+\. (moment .+?)\.(?: |$)", text))
    at = {lane: re.findall(r"moment (\d): (L\d)", said[lane]) for lane in said}
    assert at["Ledger 2"] == [(str(moment), "L2") for moment in (3, 4, 5, 6)]
    assert at["Cursor"] == [*((str(moment), "L1") for moment in (1, 2, 3, 4, 5)), ("6", "L2")]
    assert [moment for moment, _ in at["A crash here"]] == ["3", "4", "5", "6"]
    assert "moment 4: L2, read by consumers" in text
    assert all("read by consumers" not in said[lane] for lane in ("Cursor", "A crash here"))
