"""What the Kafka notebooks look up: who lacks a committed record, and how a loss ends."""

from html import unescape

import pytest

from kafka_spec.exercises.narration import go_on, holding, real_kafka, stop_at, where_refused
from protocol_lab.notebook import scenario
from protocol_lab.traces.scenarios import play

CLEAN_ELECTION = """
    # broker 2 is in the ISR
    controller_elect_leader(new_leader=2)
    become_leader(request=LeaderAndIsrRequest(leader_epoch=3))
    leader_write(replica=2)
    become_follower_truncate_kip_101(follower=1, request=LeaderAndIsrRequest(leader_epoch=3))
"""


def test_a_broken_isr_property_ends_as_a_loss():
    name = "kip_101_weak_isr_two_replicas"
    before = go_on(name, "")
    constants = before.model.constants
    assert holding(before.state, constants, record=0) == {1}
    lost = go_on(name, CLEAN_ELECTION, max_leader_epoch=3, max_records=3)
    assert holding(lost.state, lost.model.constants, record=0) == set()
    assert [moment.caption for moment in lost.path[-4:-2]] == ["broker 2 is in the ISR", ""]


def test_a_section_of_the_page_on_real_kafka():
    assert real_kafka("4.3 Who is elected").data.startswith("#### 4.3 Who is elected")
    with pytest.raises(Exception, match="no section that begins with"):
        real_kafka("9.9")


LOST_BEFORE = (
    "truncate_to_high_watermark_away_and_back",
    "kip_101_weak_isr_two_replicas",
    "kip_279_weak_isr",
    "kip_279_admits_an_empty_log",
    "kip_320_first_try_strong_isr",
)


@pytest.mark.parametrize("name", LOST_BEFORE)
def test_kip_320_stops_each_old_loss_before_it_is_one(name):
    walk, step, reason = stop_at(name)
    refusals = {
        "fenced_become_follower_and_truncate": "the leader does not lead in the epoch",
        "fenced_leader_expand_isr": "the leader has not committed",
    }
    assert reason.startswith(refusals[step.partition("(")[0]]), reason
    assert all(each.holds for each in walk.standings() if each.by_default)


@pytest.mark.parametrize(
    ("old", "again"),
    [
        (
            "truncate_to_high_watermark_away_and_back",
            "kip_320_keeps_what_the_high_watermark_lost",
        ),
        ("kip_101_weak_isr_two_replicas", "kip_320_keeps_what_kip_101_lost"),
    ],
)
def test_the_scenario_takes_the_old_steps_up_to_the_refused_one(old, again):
    stopped = stop_at(old)[0]
    walk = play(scenario(again))
    assert walk.steps[: len(stopped.steps)] == stopped.steps
    refused = walk.path[len(stopped.steps)].caption
    page = where_refused(again, end=True).data
    assert page.count("<img") == 1
    assert "✗ Refused: Broker 2 learns of leader 1, epoch 2." in unescape(page)
    assert "✗ fenced_become_follower_and_truncate" in refused
    constants = walk.model.constants
    assert holding(walk.state, constants, record=0) == {1, 2}
