"""Which temporal verdicts are about nothing? Every test, notebook and spec is asked.

In tests the fixture `holds_of_something` asks; a notebook's kernel writes such verdicts to a file.
"""

from collections.abc import Callable
from pathlib import Path

from protocol_lab.catalog import load, spec_names
from protocol_lab.liveness import check
from protocol_lab.liveness.liveness_result import PropertyResult, TemporalResult
from protocol_lab.liveness.property_check import PropertyCheck
from protocol_lab.liveness.vacuity import NO_FAIR_RUN, NO_STATE

KAFKA = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
BOOKKEEPER = {"bookies": 2, "write_quorum": 2, "ack_quorum": 1}
PULSAR = {"message_sent_limit": 2, "key_space": 1, "value_space": 1}
SIZES = ("init_cluster_size", "max_cluster_size", "max_spawned_servers", "hosts")
KRAFT = {"test_liveness": True, "max_current_epoch": 2, "max_restarts": 1}
KRAFT |= {**dict.fromkeys(SIZES, 2), "min_cluster_size": 2}
REMOVAL = {"max_restarts": 0, "max_values_per_epoch": 0, "max_remove_reconfigs": 1}
REMOVAL |= {"min_cluster_size": 1, "removal_guard_relaxed": True}
JOINING = {"max_restarts": 0, "max_values_per_epoch": 0, "max_epoch": 1, "max_current_epoch": 1}
JOINING |= {"max_cluster_size": 3, "max_spawned_servers": 3, "max_add_reconfigs": 1}
JOINING |= {"max_messages_in_flight": 2, "first_fetch_fixed": True}
ASKING = {"max_restarts": 0, "max_values_per_epoch": 0, "max_connectivity_changes": 1}
ASKING |= {**dict.fromkeys(SIZES, 3), "min_cluster_size": 3}
ASKING |= {"max_pre_votes": 1, "max_current_epoch": 1}

SMALL = {"kafka": KAFKA, "bookkeeper": BOOKKEEPER, "pulsar": PULSAR, "kraft": KRAFT}
SMALL["kafka.kip_966"] = {"data_loss_shutdown_limit": 0, "fence_broker_limit": 1}
"""For each protocol, or spec, constants with which its temporal properties are about something."""

ADDED = {
    "reconfiguration_not_stuck": REMOVAL,
    "removal_not_stuck": REMOVAL,
    "removed_server_learns": REMOVAL,
    "join_requests_answered": JOINING,
    "not_stuck_in_prospective": ASKING,
    "eventually_runs": {"values": 0, "data_loss_shutdown_limit": 1, "fence_broker_limit": 0},
    "eventually_reassignment_completes": {
        "values": 0,
        "init_replication_factor": 1,
        "init_isr_size": 1,
        "min_isr": 1,
        "reassignment_limit": 1,
        "fence_broker_limit": 0,
    },
}
"""The constants that a property needs in addition."""


def declared() -> list[tuple[str, str]]:
    """Every spec of the catalog with each of its temporal properties, by their names.

    KRaft's variants all have those of KIP-853: each is judged once, where its name is shortest.
    """
    found: dict[tuple[str, str], str] = {}
    for name in sorted(spec_names(), key=len):
        for each in load(name).properties:
            protocol = "kraft" if name.startswith("kraft.") else name
            found.setdefault((protocol, each.name), name)
    return [(name, claim) for (_, claim), name in found.items()]


def judged(name: str, claim: str) -> TemporalResult:
    """The verdict on a spec's property, where it is small and about something."""
    constants = SMALL.get(name, SMALL[name.partition(".")[0]]) | ADDED.get(claim, {})
    return check.check_property(load(name).bind(**constants), claim, progress=False)


def listen(replace: Callable[[object, str, object], None], tell: Callable[[str], None]) -> None:
    """From now on call `tell` with a sentence for each verdict that is about nothing.

    replace: as `setattr`.
    """
    run = PropertyCheck.run

    def listening(self, *given) -> PropertyResult:
        result = run(self, *given)
        if result.undecided_reason in (NO_FAIR_RUN, NO_STATE):
            tell(f"{self.model}, {result.claim}: {result.undecided_reason}")
        if getattr(result, "vacuous", False):
            tell(f"{self.model}, {result.claim}: holds, {result.reservation}")
        return result

    replace(PropertyCheck, "run", listening)


def notebook_environment(folder: Path) -> dict[str, str]:
    """Variables for `execute`, with which a notebook's kernel writes such sentences into a file."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "listen.py").write_text(
        "from tests import temporal_verdicts\n"
        f"temporal_verdicts.listen(setattr, temporal_verdicts.into({str(_file(folder))!r}))\n",
        encoding="utf-8",
    )
    return {"IPYTHONDIR": str(folder)}


def into(file: str) -> Callable[[str], None]:
    """A function that adds a line to a file, which is empty now."""
    Path(file).touch()

    def add(line: str) -> None:
        with open(file, "a", encoding="utf-8") as opened:
            opened.write(f"{line}\n")

    return add


def told_by_notebook(folder: Path) -> list[str]:
    """What a notebook's kernel wrote."""
    return _file(folder).read_text(encoding="utf-8").splitlines()


def _file(folder: Path) -> Path:
    return folder / "verdicts_about_nothing.txt"
