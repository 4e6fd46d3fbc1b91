"""What breaks without a guard, as the modules of the protocols say it."""

import inspect
import re

import pytest

from kafka_spec import async_isr, kip_320
from kafka_spec.actions import update_isr
from kafka_spec.exercises.async_isr import controller_handle_request
from kafka_spec.exercises.truncation import UNFENCED
from kafka_spec.kip_320 import has_follower_reached_high_watermark, is_following_leader_epoch
from kafka_spec.model import is_in_isr, is_true_leader
from protocol_lab import TAKEN, with_node
from protocol_lab.explore import explore
from protocol_lab.teaching.exercises import with_action

FENCES = [name for name in UNFENCED if name != "fenced_leader_shrink_isr"]


def expand_before_all_is_committed(s, c, leader, follower):
    """As fenced_leader_expand_isr, without its last guard."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if not has_follower_reached_high_watermark(s, follower, leader):
        return "the follower has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


BROKEN = [
    *((kip_320, name, UNFENCED[name], f"{name}, .* epoch") for name in FENCES),
    (
        kip_320,
        "fenced_leader_expand_isr",
        expand_before_all_is_committed,
        "all of earlier epochs is committed",
    ),
    (async_isr, "controller_handle_request", controller_handle_request, "Without this guard"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name", "without", "guard"), BROKEN)
def test_a_module_says_what_breaks_without_the_guard(module, name, without, guard):
    said = re.findall(rf"{guard}: (\d+) steps to (\w+)", inspect.getsource(module))
    found = explore(with_action(module.spec, name, without).bind(), progress=False)
    assert said == [(str(len(found.trace)), found.violated)]
