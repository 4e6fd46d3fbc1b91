"""Every situation that the search offers can be reached, or is known not to exist."""

from dataclasses import replace

import pytest

from kraft_spec.challenges import GROWING
from protocol_lab.catalog import load, spec_names
from protocol_lab.explore import explore
from protocol_lab.model.state_view import view
from tests.spec_checks import bind, cases_of, on_scenarios

UNREACHABLE = {
    "kafka.async_isr": ["the_leader_does_not_count_a_member"],
    "kafka.kip_101": ["two_replicas_lead_in_one_epoch"],
    "kafka.kip_279": ["two_replicas_lead_in_one_epoch"],
    "kafka.kip_320": [
        "two_replicas_lead_in_one_epoch",
        "the_elected_leader_lacks_a_committed_record",
    ],
    "kafka.kip_320_first_try": [
        "two_replicas_lead_in_one_epoch",
        "the_elected_leader_lacks_a_committed_record",
    ],
    "kafka.truncate_to_high_watermark": ["two_replicas_lead_in_one_epoch"],
    "pulsar.compaction_duplicate_fixed": ["the_ledger_reaches_beyond_the_horizon"],
    "pulsar.compaction_leak_fixed": ["a_ledger_is_left_over"],
}
"""The situations that exist in no state of the configuration that is explored: all others do."""


READING = {
    "key_space": 1,
    "value_space": 0,
    "model_consumer": True,
    "consume_times_limit": 1,
    "consumer_reads": "ledger_then_topic",
}

ONE_DISK = load("kraft.kip_853_disk_replacement").configurations[1].constants

CONSTANTS = {
    "kafka.kip_966": {"data_loss_shutdown_limit": 0, "fence_broker_limit": 1},
    "kraft.kip_853": {
        "init_cluster_size": 3,
        "max_spawned_servers": 3,
        "max_crashes": 1,
        "max_disconnected_pairs": 2,
    },
    "kraft.kip_853_with_empty_disks": {
        **{name: value for name, value in ONE_DISK.items() if name != "max_remove_reconfigs"},
        "max_disconnected_pairs": 3,
        "max_empty_restarts": 1,
    },
    "kraft.kip_853_with_requests": GROWING,
    "pulsar.compaction": READING,
    "pulsar.compaction_leak_fixed": READING,
    "pulsar.compaction_duplicate_fixed": READING,
}
"""Where some situations exist that the default configuration does not have, or only far away."""


ADDS_TO = {
    "kraft.kip_853_disk_replacement": [
        "kraft.kip_853_with_empty_disks",
        "kraft.kip_853_with_requests",
    ],
    "kraft.kip_853_with_empty_disks": ["kraft.kip_853"],
    "kraft.kip_853_with_end_quorum_epoch": ["kraft.kip_853"],
    "kraft.kip_853_with_requests": ["kraft.kip_853"],
    "pulsar.compaction_v4_2": ["pulsar.compaction"],
}
"""What a variant adds to can be reached in it as well: only its own situations are searched for."""


def seen(name: str, situation) -> bool:
    """Is it so somewhere on a scenario's way?"""
    for which in cases_of(name):
        model = bind(name, **dict(which[1]))
        if situation not in model.spec.situations:
            continue
        for row in on_scenarios(which):
            if situation.function(view(model.layout, row), model.constants):
                return True
    return False


@pytest.mark.rarely
@pytest.mark.parametrize("name", spec_names())
def test_situations_exist(name):
    """What no scenario shows is searched for: in all states, where it is said not to exist."""
    others = [each for base in ADDS_TO.get(name, []) for each in load(base).situations]
    own = [each for each in load(name).situations if each not in others]
    hidden = [each for each in own if not seen(name, each)]
    known = UNREACHABLE.get(name, [])
    if not hidden:
        assert not known
        return
    asked = replace(load(name), situations=[replace(each, expected=True) for each in hidden])
    found = explore(
        asked.bind(**CONSTANTS.get(name, {})), invariants=[], max_states=8_000_000, progress=False
    )
    assert found.never_reached == known
    assert found.exhaustive or not known


@pytest.mark.parametrize("name", spec_names())
def test_situations_can_be_picked_from_a_list(name):
    assert len(load(name).situations) >= 2
    assert all(each.label and not each.label.endswith(".") for each in load(name).situations)
