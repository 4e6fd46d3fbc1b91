"""Whether the metadata log of a real cluster is a run of the controller's rules."""

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from protocol_lab.cli import main
from protocol_lab.drawing.pictures import picture
from protocol_lab.errors import LabError
from protocol_lab.interchange.effort import Effort
from real_systems.kafka.logs.controller_log import check_partition
from real_systems.kafka.logs.histories import Cluster
from real_systems.kafka.logs.reading.metadata_log import MetadataRecord
from real_systems.kafka.logs.report import CLUSTERS, read

DATA = {
    "fenced_elr_unclean_4.3.1": 27,
    "last_replica_with_elr_4.3.1": 28,
    "last_replica_without_elr_4.3.1": 24,
    "talk_46_56_with_elr_4.3.1": 28,
    "talk_46_56_without_elr_4.3.1": 27,
    "told_failed_3.6.2": 11,
    "told_failed_4.3.1": 14,
    "two_power_cuts_with_elr_4.3.1": 27,
}
"""The runs that are about data, and how many records of each speak of the partition."""

UPGRADES = ("upgrade_changes_min_isr_4.3.1", "upgrade_keeps_min_isr_4.3.1")


@cache
def cluster(name: str) -> Cluster:
    return read([CLUSTERS / f"{name}.tar.gz"]).cluster


def with_records(name: str, records: list[MetadataRecord], lines: bool = False) -> Cluster:
    """A cluster with another metadata log, whose offsets are its records' places.

    lines: with what its brokers say of it.
    """
    records = [replace(each, offset=offset) for offset, each in enumerate(records)]
    return Cluster(records=records, said=cluster(name).said if lines else [])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [*DATA.items(), ("empty_disk_without_elr_4.4.0", 24)])
def test_a_real_metadata_log_is_a_run(name, count):
    answer = check_partition(cluster(name), "t-0")
    assert str(answer) == f"A run of kafka.controller: all {count} records are explained."


@pytest.mark.parametrize("name", UPGRADES)
def test_an_upgrade_is_a_run(name):
    for partition in ("t-0", "u-0"):
        answer = check_partition(cluster(name), partition)
        assert answer.verdict == "holds", str(answer)
    assert "set_feature(feature=elr, level=1)" in answer.run_text()


def test_without_elr_the_story_is_no_run_of_the_rules_with_elr():
    answer = check_partition(cluster("last_replica_without_elr_4.3.1"), "t-0", "on")
    assert answer.verdict == "violated"
    assert str(answer.record) == "metadata offset 45: ISR {1}"
    assert "fence_broker(broker=2) would have written ELR {2}" in str(answer)
    other = check_partition(cluster("last_replica_with_elr_4.3.1"), "t-0", "off")
    assert other.record.place == "metadata offset 55"


def test_what_the_run_says_of_the_last_known_leader():
    answer = check_partition(cluster("two_power_cuts_with_elr_4.3.1"), "t-0")
    run = {record.place: steps for record, steps in answer.run}
    unclean = ["register_broker(broker=2, shutdown=unclean)"]
    assert run["metadata offset 108"] == run["metadata offset 109"] == unclean
    assert run["metadata offset 46"] == ["fence_broker(broker=3)"]
    answer.walk.last()
    assert "in the ISR" in picture(answer.walk.model, answer.walk.row)


def mutants(
    records: list[MetadataRecord], topic: str
) -> Iterator[tuple[str, int, list[MetadataRecord]]]:
    """Logs with one change of the topic removed, doubled, swapped with its neighbour, or changed in
    one field; each with what was done, and where."""
    at = [
        k
        for k, each in enumerate(records)
        if each.type == "PARTITION_CHANGE_RECORD" and each.data["topicId"] == topic
    ]
    isrs = ([1], [2], [3], [1, 2], [2, 3], [1, 3], [1, 2, 3], [])
    for k in at:
        yield "removed", k, records[:k] + records[k + 1 :]
        yield "doubled", k, records[: k + 1] + records[k:]
        data = records[k].data
        for name, values in (
            ("isr", isrs),
            ("leader", (1, 2, 3, -1)),
            ("eligibleLeaderReplicas", ([], [1], [2], [3])),
        ):
            for value in values:
                if (name in data and data[name] == value) or (
                    name not in data and name != "leader"
                ):
                    continue
                changed = replace(records[k], data={**data, name: value})
                yield name, k, [*records[:k], changed, *records[k + 1 :]]
    for one, other in pairwise(at):
        swapped = list(records)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        yield "swapped", one, swapped


def topic_of(name: str) -> str:
    for each in cluster(name).records:
        if each.type == "TOPIC_RECORD" and each.data["name"] == "t":
            return each.data["topicId"]
    raise AssertionError(name)


SAMPLE = "told_failed_4.3.1"


@pytest.mark.slow
def test_changed_logs_are_refused():
    found = Counter()
    for what, _, records in mutants(cluster(SAMPLE).records, topic_of(SAMPLE)):
        answer = check_partition(with_records(SAMPLE, records), "t-0")
        found[what, answer.verdict] += 1
        assert answer.verdict != "holds" or len(answer.run) >= 13
    assert found["removed", "holds"] == 1  # nobody knows that more was to come
    assert sum(found.values()) == 33
    assert sum(count for (_, verdict), count in found.items() if verdict == "violated") == 32


def test_what_brokers_say_narrows_it():
    name = "talk_46_56_without_elr_4.3.1"
    whole = cluster(name).records
    swapped = next(
        records
        for what, k, records in mutants(whole, topic_of(name))
        if what == "swapped" and whole[k].offset == 131
    )
    assert check_partition(with_records(name, swapped), "t-0").verdict == "holds"
    answer = check_partition(with_records(name, swapped, lines=True), "t-0")
    assert answer.verdict == "violated"
    assert "Broker 1's own log has partition epoch 6 otherwise" in str(answer)


def test_what_is_missing_is_said():
    name = "last_replica_with_elr_4.3.1"
    records = cluster(name).records
    gap = Cluster(records=[each for each in records if each.offset not in (127, 130)])
    answer = check_partition(gap, "t-0")
    assert answer.verdict == "undecided"
    assert "those between offsets 126 and 128 are missing" in str(answer)
    late = check_partition(Cluster(records=records[50:]), "t-0")
    assert "begins at offset 50" in late.missing
    assert "no metadata log" in check_partition(Cluster(), "t-0").missing
    assert "no record that creates x-0" in check_partition(cluster(name), "x-0").missing
    spent = check_partition(cluster(name), "t-0", effort=Effort(tried=5, of="log", advice="wait"))
    assert "after 6 tried steps" in spent.missing
    half = [each for each in records if each.offset <= 45]
    assert "ends within a step" not in check_partition(Cluster(records=half), "t-0").missing
    cut = [each for each in records if each.offset <= 78]
    within = check_partition(Cluster(records=cut), "t-0")
    assert "before record is fenced, broker 1" in within.missing


def test_a_log_begins_with_a_snapshot():
    """One whose first 124 records are gone, and what a snapshot says of them."""
    name = "restarts_after_a_snapshot_4.3.1"
    answer = check_partition(cluster(name), "t-0")
    assert str(answer) == "A run of kafka.controller: all 15 records are explained."
    assert list(answer.walk.state.con_partition_metadata.elr) == [2]
    answer.walk.last()
    assert list(answer.walk.state.con_partition_metadata.last_known_elr) == [1]
    first = cluster(name).partitions["t-0"][0]
    assert (first.place, first.isr, first.elr) == ("metadata snapshot 124", (1,), (2,))
    records = cluster(name).records
    without = check_partition(Cluster(records=records), "t-0")
    assert "begins at offset 124" in without.missing
    assert "a snapshot, 00000000000000000124-*.checkpoint or later," in without.missing
    late = replace(cluster(name), records=records[9:])
    assert "begins at offset 133" in check_partition(late, "t-0").missing
    removed = replace(cluster(name), records=[each for each in records if each.offset != 222])
    assert check_partition(removed, "t-0").record.place == "metadata offset 223"


def test_a_log_in_several_files_is_one(tmp_path):
    """Two segments, one of them compressed, and what another controller has of the second."""
    name = "told_failed_4.3.1"
    shutil.unpack_archive(CLUSTERS / f"{name}.tar.gz", tmp_path, filter="data")
    dump = next(tmp_path.glob("*/node100/dump-metadata.txt"))
    lines = dump.read_text(encoding="utf-8").splitlines(keepends=True)
    dump.write_text("".join([*lines, *lines[190:]]), encoding="utf-8")  # two dumps in one file
    assert str(read([tmp_path / name]).checks["t-0"]) == str(check_partition(cluster(name), "t-0"))
    dump.unlink()
    with gzip.open(dump.with_name("one.gz"), "wt", encoding="utf-8") as file:
        file.writelines(lines[:200])
    dump.with_name("another.txt").write_text("".join(lines[200:]), encoding="utf-8")
    dump.with_name("again.txt").write_text("".join(lines[190:280]), encoding="utf-8")
    report = read([tmp_path / name])
    assert str(report.checks["t-0"]) == str(check_partition(cluster(name), "t-0"))


# --- What the recorded clusters do not have ------------------------------------------------------


class Log:
    """A metadata log, written by hand."""

    def __init__(self, brokers: tuple[int, ...], version: int = 30, elr: int = 1, min_isr: int = 2):
        self.records: list[MetadataRecord] = []
        self.add("LEADER_CHANGE")
        self.add("FEATURE_LEVEL_RECORD", name="metadata.version", featureLevel=version)
        if elr:
            name = "eligible.leader.replicas.version"
            self.add("FEATURE_LEVEL_RECORD", name=name, featureLevel=elr)
        self.config("min.insync.replicas", str(min_isr), cluster=True)
        for broker in brokers:
            self.register(broker)
            self.broker(broker, fenced=-1)

    def add(self, kind: str, **data) -> None:
        self.records.append(MetadataRecord(len(self.records), None, kind, data))

    def config(self, name: str, value: str | None, cluster: bool = False) -> None:
        where = (4, "") if cluster else (2, "t")
        self.add(
            "CONFIG_RECORD", resourceType=where[0], resourceName=where[1], name=name, value=value
        )

    def register(self, broker: int) -> None:
        self.add("REGISTER_BROKER_RECORD", brokerId=broker, brokerEpoch=broker, fenced=True)

    def broker(self, broker: int, **changes) -> None:
        self.add(
            "BROKER_REGISTRATION_CHANGE_RECORD", brokerId=broker, brokerEpoch=broker, **changes
        )

    def create(self, *replicas: int) -> None:
        self.add("TOPIC_RECORD", name="t", topicId="T")
        self.add(
            "PARTITION_RECORD",
            topicId="T",
            partitionId=0,
            replicas=list(replicas),
            isr=list(replicas),
            leader=replicas[0],
            leaderEpoch=0,
            partitionEpoch=0,
        )

    def change(self, **data) -> None:
        self.add("PARTITION_CHANGE_RECORD", topicId="T", partitionId=0, **data)

    def answer(self):
        records = [replace(each, offset=offset) for offset, each in enumerate(self.records)]
        return check_partition(Cluster(records=records), "t-0")


def test_up_to_3_5_a_smaller_isr_begins_an_epoch():
    for version, leader in ((11, {"leader": 1}), (14, {})):
        log = Log((1, 2), version, elr=0)
        log.create(1, 2)
        log.change(isr=[1], **leader)
        log.change(isr=[1, 2])
        assert log.answer().verdict == "holds"
    wrong = Log((1, 2), 14, elr=0)
    wrong.create(1, 2)
    wrong.change(isr=[1], leader=1)
    assert wrong.answer().verdict == "violated"


def test_a_controlled_shutdown_moves_the_leader_before_the_broker_is_fenced():
    log = Log((1, 2, 3))
    log.create(1, 2, 3)
    log.broker(1, inControlledShutdown=1)
    log.change(isr=[2, 3], leader=2)
    log.broker(1, fenced=1)
    log.register(1)
    log.broker(1, fenced=-1)
    log.change(isr=[1, 2, 3])
    log.change(leader=1)  # the preferred leader
    answer = log.answer()
    assert answer.verdict == "holds", str(answer)
    assert "begin_controlled_shutdown(broker=1)" in answer.run_text()
    assert "elect_preferred()" in answer.run_text()


def test_a_reassignment_ends_when_those_that_were_added_are_in_the_isr():
    log = Log((1, 2, 3, 4))
    log.create(1, 2, 3)
    log.change(replicas=[1, 2, 4, 3], addingReplicas=[4], removingReplicas=[3])
    log.change(isr=[1, 2, 4], replicas=[1, 2, 4], addingReplicas=[], removingReplicas=[], leader=1)
    log.add("UNREGISTER_BROKER_RECORD", brokerId=3, brokerEpoch=3)
    answer = log.answer()
    assert answer.verdict == "holds", str(answer)
    assert "reassign(count=3, order=[1, 2, 4])" in answer.run_text()


def test_another_min_isr_empties_the_elr():
    log = Log((1, 2, 3))
    log.create(1, 2, 3)
    log.change(isr=[1, 3])
    log.change(isr=[1], eligibleLeaderReplicas=[3])
    cleared = len(log.records) + 1
    log.config("min.insync.replicas", "1")
    log.add("CLEAR_ELR_RECORD", topicName="t")
    log.change(isr=[1, 2])
    assert log.answer().verdict == "holds", str(log.answer())
    del log.records[cleared - 1]
    assert "min.insync.replicas was not changed" in str(log.answer())


def test_an_operator_elects_uncleanly():
    log = Log((1, 2), elr=0)
    log.create(1, 2)
    log.change(isr=[1])
    log.broker(2, fenced=1)
    log.change(leader=-1)
    log.broker(1, fenced=1)
    log.broker(2, fenced=-1)
    log.change(leader=2, isr=[2], leaderRecoveryState=1)
    assert log.answer().verdict == "holds", str(log.answer())
    log.config("unclean.leader.election.enable", "true")  # then it would not have waited
    log.records.insert(3, log.records.pop())
    assert log.answer().verdict == "holds"
    log.records.pop()
    assert "before record partition" in log.answer().missing


# --- The command ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_says_it(capsys):
    without = str(CLUSTERS / "last_replica_without_elr_4.3.1.tar.gz")
    kept = str(CLUSTERS / "away_controller_4.3.1.tar.gz")
    assert main(["logs", without, "--rules", "elr=on", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)["checks"]["t-0"]
    assert (said["verdict"], said["record"]) == ("violated", "metadata offset 45")
    assert main(["logs", without, "--check"]) == 1
    shown = capsys.readouterr().out
    assert "t-0: A run of kafka.controller: all 24 records are explained." in shown
    assert "metadata offset 45: fence_broker(broker=2)" in shown
    assert main(["logs", kept]) == 0
    assert main(["logs", without, "--rules", "elr=perhaps"]) == 3
    with pytest.raises(LabError, match="write elr=on or elr=off"):
        read([without], rules="kraft")


def test_with_many_partitions_it_is_asked_for():
    whole = CLUSTERS / "told_failed_4.3.1.tar.gz"
    report = read([whole], topic="__consumer_offsets")
    assert not report.checks
    assert "These are 50 partitions: --check" in report.notes[-1]
    assert "A run of kafka.controller" in read([whole], topic="t")._repr_html_()
