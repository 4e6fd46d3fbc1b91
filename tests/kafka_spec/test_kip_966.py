"""KIP-966 beyond what the golden rows and the scenarios say."""

import pytest

from kafka_spec.kip_966 import spec
from protocol_lab.explore import explore
from protocol_lab.model.state_view import view
from tests.spec_checks import walk

ALONE = {"broker_count": 1, "init_replication_factor": 1, "init_isr_size": 1, "min_isr": 1}
KILLED = "no_data_loss_shutdown(broker={0}, shutdown=unclean, leader={1})"
REGISTERS = "receive_broker_reg_request(message=RegisterRequest(source={0}), leader={1})"


def partition_after(model, *steps: str):
    """The controller's partition after these steps."""
    return view(model.layout, walk(model, *steps)).con_partition_metadata


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_a_lone_leader_cannot_write_twice(lost):
    """TLC stops there, too: the original reads the log as it was before the write."""
    result = explore(
        spec.bind(**ALONE, values=2, data_loss_shutdown_limit=lost), invariants=[], progress=False
    )
    assert result.verdict == "undecided"
    assert "write_record_to_leader" in result.undecided_reason


def test_the_last_member_of_the_isr_stays_in_it_only_without_elr():
    after = {}
    for name in ("release_3_7", "release_4_1"):
        model = spec.bind(name)
        steps = ("fence_broker(broker=1, leader=2)", "data_loss_shutdown(broker=2, leader=0)")
        after[name] = partition_after(model, *steps)
    assert list(after["release_3_7"].isr) == [2]
    assert list(after["release_3_7"].elr) == []
    assert list(after["release_4_1"].isr) == []
    assert list(after["release_4_1"].elr) == [1, 2]
    assert list(after["release_4_1"].last_known_elr) == [2]


def test_the_last_known_leader_is_forgotten_when_somebody_leads():
    model = spec.bind(
        no_data_loss_shutdown_limit=2, data_loss_shutdown_limit=0, last_known_leader=True
    )
    steps = [KILLED.format(1, 2), KILLED.format(2, 0)]
    for broker, leader in ((1, 0), (2, 2)):
        assert list(partition_after(model, *steps).last_known_elr) == [2]
        steps += [f"broker_start(broker={broker})", REGISTERS.format(broker, leader)]
    after = partition_after(model, *steps)
    assert (after.leader, list(after.isr), list(after.last_known_elr)) == (2, [2], [])


def test_without_the_last_known_leader_nobody_leads():
    model = spec.bind(no_data_loss_shutdown_limit=2, data_loss_shutdown_limit=0)
    steps = [KILLED.format(1, 2), KILLED.format(2, 0)]
    for broker in (1, 2):
        steps += [f"broker_start(broker={broker})", REGISTERS.format(broker, 0)]
    after = partition_after(model, *steps)
    assert (after.leader, list(after.isr), list(after.elr)) == (0, [], [])
    assert list(after.last_known_elr) == [1, 2]


def test_a_clean_shutdown_keeps_a_broker_eligible():
    model = spec.bind(no_data_loss_shutdown_limit=1)
    for shutdown, elr in (("clean", [1]), ("unclean", [])):
        stops = f"no_data_loss_shutdown(broker=1, shutdown={shutdown}, leader=2)"
        steps = (stops, "broker_start(broker=1)", REGISTERS.format(1, 2))
        assert list(partition_after(model, *steps).elr) == elr


@pytest.mark.slow
@pytest.mark.parametrize(("release", "states"), [("release_3_6", 17), ("release_3_7", 17)])
def test_releases_without_elr_lose_a_record_by_one_power_cut(release, states):
    model = spec.bind(release, max_messages_in_flight=1)
    result = explore(model, invariants=["no_committed_record_lost_globally"], progress=False)
    assert (result.verdict, len(result.trace_rows)) == ("violated", states)
