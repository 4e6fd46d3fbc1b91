"""What Kafka's fairness comes to, as TLC judged it on the originals.

The claims are ours, so TLC was given them in a module that extends the original and restates them.
Its lassos are no shortest ones, so ours may come to their loops earlier.
"""

import pytest

from protocol_lab.liveness.check import check_property
from tests.spec_checks import bind

LEARN, FOLLOW, SETTLE = (
    "leaders_learn_of_their_election",
    "everybody_learns_who_leads",
    "records_are_committed_or_truncated",
)
SMALL = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
LARGER = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}

# TLC's distinct states if the property holds, else the states of the trace that it printed.
RUNS = [
    ("kip_320", "declared", LARGER, LEARN, "holds", 5973),
    ("kip_320", "declared", LARGER, FOLLOW, "holds", 5973),
    ("kip_320", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_320", "next", SMALL, LEARN, "holds", 277),
    ("kip_320", "next", SMALL, FOLLOW, "holds", 277),
    ("kip_320", "next", SMALL, SETTLE, "violated", 6),
    ("kip_320", "none", SMALL, LEARN, "violated", 4),
    ("kip_320", "none", SMALL, FOLLOW, "violated", 4),
    ("kip_320", "none", SMALL, SETTLE, "violated", 9),
    ("kip_320_first_try", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_320_first_try", "declared", LARGER, LEARN, "holds", 8429),
    ("kip_320_first_try", "declared", LARGER, FOLLOW, "holds", 8429),
    ("kip_279", "declared", LARGER, LEARN, "holds", 9027),
    ("kip_279", "declared", LARGER, FOLLOW, "holds", 9027),
    ("kip_279", "declared", LARGER, SETTLE, "violated", 8),
    ("kip_101", "declared", LARGER, LEARN, "holds", 9045),
    ("kip_101", "declared", LARGER, FOLLOW, "violated", 13),
    ("kip_101", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_101", "next", SMALL, LEARN, "holds", 341),
    ("kip_101", "next", SMALL, FOLLOW, "violated", 8),
    ("kip_101", "next", SMALL, SETTLE, "violated", 8),
    ("truncate_to_high_watermark", "declared", LARGER, LEARN, "holds", 10131),
    ("truncate_to_high_watermark", "declared", LARGER, FOLLOW, "holds", 10131),
    ("truncate_to_high_watermark", "declared", LARGER, SETTLE, "violated", 7),
]


@pytest.mark.parametrize(
    ("name", "fairness", "constants", "claim", "verdict", "figure"),
    [
        pytest.param(*run, marks=() if run[0] == "kip_320" else pytest.mark.slow, id="-".join(ids))
        for run in RUNS
        if (ids := [run[0], run[1], run[3]])
    ],
)
def test_as_tlc(name, fairness, constants, claim, verdict, figure):
    model = bind(f"kafka.{name}", **constants)
    result = check_property(model, claim, fairness=fairness, progress=False)
    assert result.verdict == verdict
    if verdict == "holds":
        assert result.distinct == figure
    else:
        assert result.loop_from <= figure


def test_a_fairness_of_what_is_no_action():
    """KIP-320's first try asks for the fairness of an action that it has replaced."""
    model = bind("kafka.kip_320_first_try", **SMALL)
    own = {each.name for each in model.spec.actions}
    assert [each.name for each in model.spec.fairness if each.name not in own] == [
        "leader_expand_isr"
    ]
    assert check_property(model, LEARN, progress=False).verdict == "holds"


@pytest.mark.slow
def test_what_stops_a_replica_from_following():
    """KIP-101's truncation offset may lie beyond the follower's end, and then it waits for ever."""
    model = bind("kafka.kip_101", **LARGER)
    result = check_property(model, FOLLOW, progress=False)
    standing = {each.condition.fairness.name: each.text for each in result.why_fair}
    assert result.stutters
    assert standing["become_follower_truncate_kip_101"] == (
        "some become_follower_truncate_kip_101 is never possible in the loop"
    )
