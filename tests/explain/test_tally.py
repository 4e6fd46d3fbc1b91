"""Who has said what: marks come no later than the loss, and none where nothing can be lost."""

import random

import pytest

from protocol_lab.catalog import load, packages, scenario_files
from protocol_lab.explain.tally import claims_of, tally
from protocol_lab.traces.scenarios import play, read_scenario
from protocol_lab.traces.walk import Walk
from tests.spec_checks import take_random_steps

LOSSES = {
    "no_divergence_between_writer_and_meta_data",
    "no_divergence_between_client_and_meta_data",
    "weak_isr",
    "strong_isr",
    "committed_messages_never_lost",
    "leader_completeness_property",
    "leader_candidate_completeness_property",
    "no_committed_record_lost_globally",
    "leader_has_all_acked_values",
    "no_log_divergence",
    "never_two_leaders_in_same_epoch",
}
"""The invariants whose violation is a loss, or two leaders or logs where one may be."""


def kept() -> list:
    """The scenarios of specs with claims that end in a loss."""
    found = []
    for package in packages():
        for path in scenario_files(package.removesuffix("_spec")):
            told = read_scenario(path)
            broken = {line.text for line in told.lines if line.kind == "violates"} & LOSSES
            if broken and claims_of(load(told.spec_name)):
                found.append(pytest.param(told, min(broken), id=path.stem))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("told", "broken"), kept())
def test_a_mark_stands_at_or_before_the_loss(told, broken):
    walk = play(told)
    for moment in walk.path:
        marks = tally(walk.model, moment.row).marks
        is_broken = any(each.name == broken and each.is_broken for each in walk.standings(moment))
        if marks or is_broken:
            assert marks, f"state {moment.depth}: {broken} is broken, and the board shows nothing"
            assert all(each.why.endswith(".") for each in marks)
            return
    raise AssertionError("nothing is broken")


HOLD = {
    "bookkeeper.protocol": {"bookies": 3, "write_quorum": 3, "ack_quorum": 2},
    "bookkeeper.v4_13": {"recovery_reads_fence": True},
    "bookkeeper.with_limbo": {"bookies": 3, "write_quorum": 3, "ack_quorum": 2},
    "kafka.kip_320": {},
    "kafka.unclean_leader_election": {"election_rule": "eligible_leader_replicas"},
    "kafka.kip_966": {},
    "kraft.kip_853": {"init_cluster_size": 3, "max_spawned_servers": 3},
}
"""Models in which no record is lost."""


@pytest.mark.slow
@pytest.mark.parametrize("name", HOLD)
def test_where_nothing_is_lost_no_mark_stands(name):
    """In 200 states of random walks."""
    model, seen = load(name).bind(**HOLD[name]), 0
    for seed in range(40):
        walk = Walk.begin(model)
        take_random_steps(walk, 40, seed=seed)
        for moment in random.Random(seed).sample(walk.path, min(5, len(walk.path))):
            found = tally(walk.model, moment.row)
            assert found.marks == [], (seed, moment.depth)
            seen += 1
    assert seen >= 150
