"""Steps told in sentences, with the names of the pictures."""

import pytest

from protocol_lab.catalog import load
from protocol_lab.notebook import scenario
from protocol_lab.traces.narration import LONGEST, narrated
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.walk import Walk


def last_told(name: str, *steps: str, **constants) -> str:
    walk = Walk.begin(load(name).bind(**constants))
    for each in steps:
        walk.take(each)
    return narrated(walk.model, walk.moment)


WRITTEN = ("append(replica=1, record=2)",)
COPIED = (*WRITTEN, "replicate_to(source=1, target=2)")
CUT = (*COPIED, "truncate_to(replica=1, end_offset=0)")


def test_what_is_lost_is_said_where_nothing_was_promised():
    name = "kafka.finite_replicated_log"
    assert last_told(name) == ""
    assert last_told(name, *WRITTEN) == "Broker 1 writes B."
    assert last_told(name, *COPIED) == "Broker 2 gets “B” from broker 1."
    assert last_told(name, *CUT) == "Broker 1 cuts off 1 record."
    lost = last_told(name, *CUT, "truncate_to(replica=2, end_offset=0)")
    assert lost == "Broker 2 cuts off 1 record. Nobody holds B any more."


@pytest.mark.parametrize(
    ("name", "steps", "told"),
    [
        (
            "kafka.kip_320",
            ["controller_elect_leader(new_leader=1)"],
            "Controller sends “epoch 0: leader 1, ISR {1, 2, 3}” to everybody.",
        ),
        (
            "bookkeeper.v4_13",
            [
                "w1_creates_ledger(ensemble={1, 2, 3})",
                "w1_sends_add_entry_requests(lost={1, 2})",
            ],
            "w1 sends “add e0” to b3. “add e0” from w1 to b1 and b2 is lost.",
        ),
        ("kraft.kip_853", ["client_request(server=1, value=1)"], "Server 1 appends A e1."),
        (
            "pulsar.compaction",
            ["producer(input_key=1, input_value=1)"],
            "Topic gets “1: k1 value 1” from producer.",
        ),
    ],
)
def test_every_protocol_tells_who_did_what_to_whom(name, steps, told):
    assert last_told(name, *steps) == told


def test_what_a_server_without_a_disk_does_is_told_once():
    gone = ["crash_lose_state(server=3)", "send_fetch_request(server=2, peer=1)"]
    assert "disk" in last_told("kraft.kip_996", *gone[:1])
    assert "disk" not in last_told("kraft.kip_996", *gone)


def test_beside_a_scenarios_own_caption_the_step_is_told_as_far_as_there_is_room():
    walk = play(scenario("kip_101_weak_isr"))
    walk.go_to(9)
    assert walk.moment.caption.startswith("Broker 3 copies the record")
    assert narrated(walk.model, walk.moment).startswith("Broker 3 gets")
    for moment in walk.path[1:]:
        told = narrated(walk.model, moment)
        assert not told or len(told) + len(moment.caption) <= LONGEST


@pytest.mark.parametrize("name", ["defect_2_diagram", "talk_46_56_found_scenario"])
def test_no_sentence_is_longer_than_a_caption_has_room_for(name):
    captioned = play(scenario(name))
    walk = Walk.begin(captioned.model)
    for each in captioned.steps:
        walk.take(each.text)
        assert len(narrated(walk.model, walk.moment)) <= LONGEST
