"""`settings`: against what real releases did, against `kip_966`, and on its own."""

import pytest

from kafka_spec.kip_966.model import messages_in_flight
from protocol_lab.catalog import load
from protocol_lab.explore import explore
from protocol_lab.model.node_sets import is_subset, members
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.traces.walk import Walk
from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.cluster_settings import FIRST, WITH_ELR, release_of
from real_systems.runner.stories import stories
from tests.work_units import one_in

NO_FAULTS = {"stops": 0, "pauses": 0, "power_cuts": 0}
PROMISES = ["acknowledged_is_readable", "acknowledged_is_on_a_disk", "read_stays_readable"]

A = "send() copy(follower=2) copy(follower=3)"
A_AND_B = f"{A} pause(broker=3) send() copy(follower=2)"
RETURN = "start(broker=2) start(broker=3)"
POWER_CUT = f"{A_AND_B} stop(broker=2) lose_power(broker=1,flushed=1)"
OFFLINE = f"{A} pause(broker=2) send() copy(follower=3) pause(broker=3) kill(broker=1)"

# The acts of each recorded story as steps, by its settings; where an operator elects uncleanly the
# setting stands for it, so that those who would then lead at once come back later.
STORIES = {
    "last_replica": lambda told: f"{POWER_CUT} start(broker=1) {RETURN}",
    "two_power_cuts": lambda told: (
        f"{A_AND_B} kill(broker=2) lose_power(broker=1,flushed=1) start(broker=1) {RETURN}"
    ),
    "fenced_elr": lambda told: (
        f"{A_AND_B} stop(broker=2) pause(broker=1) start(broker=3) start(broker=1) start(broker=2)"
    ),
    "empty_disk": lambda told: (
        f"{A_AND_B} stop(broker=2) kill(broker=1) replace_disk(broker=1) start(broker=1) {RETURN}"
    ),
    "offline_partition": lambda told: (
        f"{OFFLINE} start(broker=1) {RETURN}"
        if told["way_out"] == "wait"
        else f"{OFFLINE} {RETURN} start(broker=1)"
    ),
    "offline_runbook": lambda told: (
        f"{POWER_CUT} start(broker=3) start(broker=1) start(broker=2)"
        if told["first"] == "leader"
        else f"{POWER_CUT} {RETURN} start(broker=1)"
    ),
    "told_failed": lambda told: "send() copy(follower=2) send() fall_behind(follower=2)",
}
UNCLEAN = ("fenced_elr", "offline_partition", "offline_runbook")

# What it can't express, and why.
LEFT_OUT = {
    "away_controller": "the quorum of the controllers",
    "empty_controller": "the quorum of the controllers",
    "voters_change": "the quorum of the controllers",
    "upgrade": "settings that change",
    "stale_follower": "ZooKeeper, and a follower that knows an old leader",
    "two_quick_changes": "ZooKeeper, and two leaders at once",
    "fast_failover": "ZooKeeper, and two leaders at once",
    "the_talk": "two quick elections",
    ("offline_runbook", "3.6.2"): "an operator's election, where the setting is ignored",
}
BUDGETS = dict.fromkeys(["lags", "give_ups", "stops", "pauses", "kills", "power_cuts"], 9)
RUNS = [
    (story, case)
    for story in stories().values()
    if story.play.__module__.startswith("real_systems.kafka")
    for case in story.cases
]


@pytest.mark.parametrize(
    ("story", "case"), RUNS, ids=[f"{story.name} {case.release}" for story, case in RUNS]
)
def test_it_agrees_with_what_real_brokers_did(story, case):
    """Act by act: what consumers read in the end, and what failed. Or it is named above."""
    if story.name in LEFT_OUT or (story.name, case.release) in LEFT_OUT:
        assert story.name not in STORIES or (story.name, case.release) in LEFT_OUT
        return
    told, came = case.settings, case.outcome
    release = release_of(case.release)
    elr = told.get("elr", "on" if release in WITH_ELR[1:] else "off") == "on"
    unclean = story.name in UNCLEAN and (story.name == "fenced_elr" or not elr)
    walk = Walk.begin(
        load("kafka.settings").bind(
            **BUDGETS | {"new_disks": 1, "values": 2},
            release=release,
            elr=elr,
            unclean=unclean and told.get("way_out") != "wait" and told.get("first") != "leader",
            replicas=2 if story.name == "told_failed" else 3,
        )
    )
    for step in STORIES[story.name](told).split():
        walk.take(step)
    if story.name == "told_failed":
        alone = " ".join("ab"[value - 1] for value in (1, 2) if value in walk.state.read)
        assert alone == came.facts["read while 1 is alone"]
        if 2 not in walk.state.failed:
            walk.take("give_up(value=2)")
        assert came.failed == ["b"]
    while moves := [each for each in walk.attempts() if each.taken and is_repair(each)]:
        walk.take(moves[0])
    state = walk.state
    readable = ["ab"[record.value - 1] for record in state.log[state.leader]]
    assert readable == [each for each in came.readable if each in "ab"]
    assert [each for each in "ab" if "ab".index(each) + 1 in state.acknowledged] == [
        each for each in came.acknowledged if each in "ab"
    ]


def is_repair(attempt) -> bool:
    """Is it a follower that copies, or rejoins?"""
    return attempt.action.name in ("copy", "rejoin")


def outcome(**constants: object) -> str:
    """Is a record that was promised lost, within these faults?"""
    model = load("kafka.settings").bind(**NO_FAULTS | constants)
    found = explore(model, invariants=PROMISES, progress=False)
    assert found.violated or found.exhaustive
    return "lost" if found.violated else "kept"


@pytest.mark.slow
def test_each_rule_of_a_release_makes_a_difference():
    """In the release that has the rule, and in the one before it."""
    model = load("kafka.settings")
    for release, fails in (("3.6", True), ("3.7", False)):
        bound = model.bind(**NO_FAULTS | {"release": release, "lags": 2})
        found = explore(bound, invariants=["told_failed_is_not_written"], progress=False)
        assert bool(found.violated) == fails
    for release, seen in (("3.7", "kept"), ("3.9", "lost")):
        assert outcome(release=release, unclean=True, pauses=2, kills=1) == seen


FAULTS = {
    "power cut": {"power_cuts": 1},
    "pause": {"pauses": 1},
    "down": {"downs": 1},
    "pause, power cut": {"pauses": 1, "power_cuts": 1},
    "down, power cut": {"downs": 1, "power_cuts": 1},
    "two pauses": {"pauses": 2},
    "lag, power cut": {"lags": 1, "power_cuts": 1},
}


def kip_966(asked: dict[str, int], min_isr: int, elr: bool) -> Model:
    """`kip_966` with two brokers and these faults."""
    return load("kafka.kip_966").bind(
        "release_4_1" if elr else "release_4_0",
        min_isr=min_isr,
        data_loss_shutdown_limit=asked.get("power_cuts", 0),
        fence_broker_limit=asked.get("pauses", 0),
        no_data_loss_shutdown_limit=asked.get("downs", 0),
        leader_shrink_isr_limit=asked.get("lags", 0),
        max_messages_in_flight=1,
        max_metadata_records=6,
    )


def decided(unfenced, of, log) -> tuple:
    """What the controller wrote down, and the brokers' logs."""
    logs = tuple(tuple(record.value for record in log[broker]) for broker in (1, 2))
    sets = (tuple(members(each)) for each in (of.isr, of.elr, unfenced))
    return (of.leader, *sets, logs)


def is_settled(s) -> bool:
    """Nothing is in flight, and each broker that runs has seen all of the metadata log."""
    return messages_in_flight(s) == 0 and all(
        s.broker_state[broker].status != "starting"
        and (
            s.broker_state[broker].status != "running"
            or s.broker_metadata_log[broker] == len(s.con_metadata_log)
        )
        for broker in (1, 2)
    )


@pytest.mark.rarely
@pytest.mark.parametrize("faults", ["power cut", "pause"])
@pytest.mark.parametrize("elr", [False, True])
@pytest.mark.parametrize("min_isr", [1, 2])
def test_kip_966_settles_only_in_states_of_it(min_isr, elr, faults):
    """With at least as much acknowledged. But a leader of `kip_966` counts a follower that it has
    asked for, and so may have written a record that nobody acknowledges."""
    asked = FAULTS[faults]
    release = "4.1" if elr else "4.0"
    own = {"replicas": 2, "min_isr": min_isr, "elr": elr, "release": release}
    ours = load("kafka.settings").bind(**NO_FAULTS | asked | own)
    acknowledged = {}
    for s in states_of(ours):
        acknowledged.setdefault(decided(s.unfenced, s, s.log), []).append(s.acknowledged)
    settled = [s for s in states_of(kip_966(asked, min_isr, elr)) if is_settled(s)]
    assert len(settled) > 100
    for s in settled:
        partition = s.con_partition_metadata
        known = acknowledged.get(decided(s.con_unfenced, partition, s.log))
        if known is None:
            assert faults == "pause"
            assert len(partition.isr) < min_isr
            assert s.inv_pos_acked == 0
        else:
            assert any(is_subset(s.inv_pos_acked, each) for each in known)


def states_of(model: Model) -> list:
    """All states."""
    found = explore(model, invariants=[], keep_states=True, progress=False)
    assert found.exhaustive
    size = found.model.layout.size
    return [view(found.model.layout, row.tobytes()[:size]) for row in found.states]


@pytest.mark.rarely
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("elr", [False, True])
@pytest.mark.parametrize("min_isr", [1, 2])
def test_two_brokers_are_as_in_kip_966(min_isr, elr, faults):
    """With one message in flight and six metadata records `kip_966` finishes each cell."""
    asked = FAULTS[faults]
    bound = kip_966(asked, min_isr, elr)
    theirs = explore(bound, invariants=["no_committed_record_lost_globally"], progress=False)
    assert theirs.violated or theirs.exhaustive
    ours = {
        outcome(
            replicas=2,
            min_isr=min_isr,
            elr=elr,
            release="4.1" if elr else "4.0",
            **{down if name == "downs" else name: many for name, many in asked.items()},
        )
        for down in ("stops", "kills")
    }
    assert ("lost" in ours) == bool(theirs.violated)


@pytest.mark.rarely
@pytest.mark.parametrize(("engine", "most"), one_in(2, [("native", 10**6), ("python", 220)]))
def test_the_cells_of_the_table_are_as_they_were(engine, most):
    """`tests.wasm` asks the third engine, also for the shortest paths."""
    cells = (*FIRST.golden_cells(), *ledger_settings.FIRST.golden_cells())
    for settings, row, (*counts, steps, _) in cells:
        if counts[0] <= most:
            found = explore(
                settings.model(row),
                engine=engine,
                invariants=row.judged,
                to_the_end=True,
                progress=False,
            )
            about = (str(settings), row.name)
            assert [found.distinct, found.generated, found.depth] == counts, about
            assert {name for name, many in found.violating.items() if many} == set(steps), about
