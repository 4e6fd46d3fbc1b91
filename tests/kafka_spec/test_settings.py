"""`settings`: against what real releases did, against `kip_966`, and on its own."""

import pytest

from protocol_lab.catalog import load
from protocol_lab.explore import explore
from real_systems.bookkeeper import ledger_settings
from real_systems.kafka.promise.cluster_settings import golden_cells

NO_FAULTS = {"stops": 0, "pauses": 0, "power_cuts": 0}
LAST_REPLICA = {"pauses": 1, "stops": 1, "power_cuts": 1}
EMPTY_DISK = {"lags": 2, "stops": 1, "new_disks": 1}
OFFLINE = {"pauses": 2, "kills": 1}
PROMISES = ["acknowledged_is_readable", "acknowledged_is_on_a_disk", "read_stays_readable"]

# A recorded story, its release, ELR, its faults, and whether the record was lost.
# A run that keeps the record is one order of these faults; here all orders keep it.
RECORDED = [
    ("last_replica", "3.9", False, LAST_REPLICA, "lost"),
    ("last_replica", "4.0", True, LAST_REPLICA, "kept"),
    ("last_replica", "4.3", False, LAST_REPLICA, "lost"),
    ("last_replica", "4.3", True, LAST_REPLICA, "kept"),
    ("empty_disk", "3.6", False, EMPTY_DISK, "lost"),
    ("empty_disk", "3.7", False, EMPTY_DISK, "lost"),
    ("empty_disk", "3.9", False, EMPTY_DISK, "lost"),
    ("empty_disk", "4.3", False, EMPTY_DISK, "lost"),
    ("empty_disk", "4.3", True, EMPTY_DISK, "kept"),
    ("two_power_cuts", "4.3", True, {"pauses": 1, "kills": 1, "power_cuts": 1}, "lost"),
    ("fenced_elr", "4.3", True, {"pauses": 3, "unclean": True}, "lost"),
    ("offline_partition", "3.9", False, OFFLINE | {"unclean": True}, "lost"),
    ("offline_partition", "4.3", False, OFFLINE, "kept"),
    ("offline_partition", "4.3", True, OFFLINE, "kept"),
]


def outcome(**constants: object) -> str:
    """Is a record that was promised lost, within these faults?"""
    model = load("kafka.settings").bind(**NO_FAULTS | constants)
    found = explore(model, invariants=PROMISES, progress=False)
    assert found.violated or found.exhaustive
    return "lost" if found.violated else "kept"


@pytest.mark.parametrize(("story", "release", "elr", "faults", "seen"), RECORDED)
def test_it_agrees_with_what_real_brokers_did(story, release, elr, faults, seen):
    assert outcome(release=release, elr=elr, **faults) == seen


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


@pytest.mark.slow
@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("elr", [False, True])
@pytest.mark.parametrize("min_isr", [1, 2])
def test_two_brokers_are_as_in_kip_966(min_isr, elr, faults):
    """With one message in flight and six metadata records `kip_966` finishes each cell."""
    asked = FAULTS[faults]
    kip_966 = load("kafka.kip_966").bind(
        "release_4_1" if elr else "release_4_0",
        min_isr=min_isr,
        data_loss_shutdown_limit=asked.get("power_cuts", 0),
        fence_broker_limit=asked.get("pauses", 0),
        no_data_loss_shutdown_limit=asked.get("downs", 0),
        leader_shrink_isr_limit=asked.get("lags", 0),
        max_messages_in_flight=1,
        max_metadata_records=6,
    )
    theirs = explore(kip_966, invariants=["no_committed_record_lost_globally"], progress=False)
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


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "most"), [("native", 10**6), ("python", 220)])
def test_the_cells_of_the_table_are_as_they_were(engine, most):
    """`tests.wasm` asks the third engine, also for the shortest paths."""
    for settings, row, (*counts, steps, _) in (*golden_cells(), *ledger_settings.golden_cells()):
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
