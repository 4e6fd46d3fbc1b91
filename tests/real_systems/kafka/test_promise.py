"""`lab.py promise`: what settings are read from files, and what is said of them."""

import json
from random import Random

import pytest

from kafka_spec.settings import RELEASES
from protocol_lab.cli import main
from protocol_lab.errors import LabError
from real_systems.kafka.cluster_settings import FIRST, ROWS, Settings, read, release_of, row_of
from real_systems.kafka.logs.report import recorded as recorded_logs
from real_systems.kafka.promise_of_logs import NEXT, outlook
from real_systems.promise_page import cell_of
from real_systems.promise_table import Cell, promise, recorded_runs, searched
from real_systems.runner.stories import story_of
from real_systems.runner.story_views import command_of

SERVER_PROPERTIES = """
# min.insync.replicas=3
default.replication.factor=3
min.insync.replicas = 2
unclean.leader.election.enable=false
inter.broker.protocol.version=3.6
"""
CONFIGS = """Dynamic configs for topic orders are:
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, \
DEFAULT_CONFIG:min.insync.replicas=1}
"""
TOPICS = (
    "Topic: orders\tTopicId: x\tPartitionCount: 3\tReplicationFactor: 4\t"
    "Configs: min.insync.replicas=3,unclean.leader.election.enable=true\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3,4\tIsr: 1,2,3,4\tElr: \n"
)
FEATURES = (
    "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 1\t"
    "FinalizedVersionLevel: 0\tEpoch: 42\n"
    "Feature: metadata.version\tSupportedMinVersion: 3.3-IV3\tSupportedMaxVersion: 4.1-IV1\t"
    "FinalizedVersionLevel: 4.1-IV1\tEpoch: 42\n"
)
STRIMZI = """apiVersion: kafka.strimzi.io/v1
kind: Kafka
spec:
  kafka:
    version: 4.0.0
    config:
      default.replication.factor: 3
      min.insync.replicas: "2"
"""
TOPIC_RESOURCE = """kind: KafkaTopic
spec:
  partitions: 3
  replicas: 2
  config:
    min.insync.replicas: 1
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SERVER_PROPERTIES, {"min_isr": 2, "replicas": 3, "unclean": False}),
        (CONFIGS, {"min_isr": 2}),
        (TOPICS, {"min_isr": 3, "replicas": 4, "unclean": True}),
        (FEATURES, {"elr": False, "release": "4.1"}),
        (STRIMZI, {"release": "4.0", "replicas": 3, "min_isr": 2}),
        (TOPIC_RESOURCE, {"replicas": 2, "min_isr": 1}),
        ("! min.insync.replicas=3\nmin.insync.replicas=\nacks=-1\n", {"acks": "all"}),
        ("offsets.commit.required.acks=-1\nproducer.acks=1\n", {"acks": "1"}),
        (
            "KAFKA_MIN_INSYNC_REPLICAS: 2\nKAFKA_CFG_UNCLEAN_LEADER_ELECTION_ENABLE=TRUE\n",
            {"min_isr": 2, "unclean": True},
        ),
        (
            f"{STRIMZI}---\nkind: KafkaNodePool\nspec:\n  replicas: 5\n",
            {"release": "4.0", "replicas": 3, "min_isr": 2},
        ),
        (f"{STRIMZI}---\n{TOPIC_RESOURCE}", {"release": "4.0", "replicas": 2, "min_isr": 1}),
        ("metadata.version SupportedMaxVersion: 3.9-IV0", {"release": "3.9", "elr": False}),
    ],
    ids=[
        "properties",
        "configs",
        "topics",
        "features",
        "strimzi",
        "strimzi topic",
        "comments",
        "acks",
        "environment",
        "node pool",
        "both",
        "3.9 has no ELR",
    ],
)
def test_a_file_says_its_settings_and_no_others(text, said):
    found = read([("file", text)])
    assert {name: getattr(found, name) for name in found.said} == said


def test_a_topic_outranks_its_cluster_and_an_option_outranks_both():
    files = [("server.properties", SERVER_PROPERTIES), ("topics.txt", TOPICS)]
    for order in (files, files[::-1]):
        assert read(order).min_isr == 3
        assert read(order, min_isr="1").min_isr == 1


@pytest.mark.parametrize(
    ("files", "given", "said"),
    [
        ([("notes.txt", "hello")], {}, "notes.txt names none of the settings"),
        ([("a", "acks=1"), ("b", "acks=all")], {}, "a says acks=1, and b says acks=all"),
        ([], {"release": "2.8.1"}, "Kafka 2.8.1 is older than 3.6"),
        ([], {"release": "new"}, "is no release of Kafka"),
        ([], {"release": "7.6.0"}, "is no release of Kafka"),
        ([("a", "acks=1\nacks=all")], {}, "a says acks=1, and a says acks=all"),
        ([("a", TOPICS + TOPICS.replace("=3,", "=2,"))], {}, "topics that differ"),
        ([("a", "min.insync.replicas=${ISR}")], {}, "min.insync.replicas=.* it must be a number"),
        ([("a", f"min.insync.replicas={'9' * 5000}")], {}, "it must be a number"),
        ([("a", "zookeeper.connect=z:2181\nacks=1")], {}, "a is of a cluster with ZooKeeper"),
        ([("a", "")], {}, "a names none of the settings"),
        ([], {"release": "3.9.1", "elr": "on"}, "possible from 4.0 on"),
        ([], {"replicas": "9"}, "a number from 1 to 5"),
        ([], {"acks": "2"}, "it must be all, 1 or 0"),
    ],
)
def test_what_can_not_be_is_said(files, given, said):
    with pytest.raises(LabError, match=said):
        read(files, **given)


def test_a_release_stands_for_those_up_to_the_next():
    assert [release_of(each) for each in ("3.8.1", "3.9.1", "4.2.0", "4.4.0")] == [
        "3.7",
        "3.9",
        "4.1",
        "4.3",
    ]


@pytest.mark.slow
def test_the_last_replica_is_passed_over_and_elr_keeps_it():
    row = next(each for each in ROWS if each.stories == ("last_replica",))
    cell = searched(read([], release="3.9", min_isr="2"), row)
    assert len(cell.shortest.steps) == 6
    assert not cell.shortest.is_destroyed
    assert "ELR on with 4.3" in cell.what_keeps
    assert "lab.py real last_replica --release 3.9.1 --set elr=off --recorded" in recorded_runs(
        cell
    )


def test_each_cell_names_its_recorded_runs():
    """Those that exist of its release and outcome; a cell that is lost shows one."""
    seen = {}
    for settings, row, (states, *_, steps, is_destroyed) in FIRST.golden_cells():
        cell = Cell(settings, row, states, tuple(steps))
        runs = cell.recordings
        for each in runs:
            seen[command_of(each.recording)] = bool(cell.lost)
            least = min((steps[name] for name in cell.lost), default=0)
            assert f"run {runs[0].recording.release}" in cell_of(cell, least, is_destroyed)["more"]
    lost = {command for command, is_lost in seen.items() if is_lost}
    for name in {name for row in ROWS for name in row.stories}:
        for run in story_of(name).cases:
            is_lost = bool(run.outcome.lost or {*run.outcome.failed} & {*run.outcome.readable})
            assert not is_lost or command_of(run) in lost, command_of(run)


@pytest.mark.slow
def test_one_power_supply_destroys_every_copy():
    row = next(each for each in ROWS if each.name == "rack")
    cell = searched(read([], min_isr="2", racks="1"), row)
    assert cell.shortest.is_destroyed
    assert cell.what_keeps == ["3 power supplies"]


@pytest.mark.slow
def test_no_record_is_lost_where_nothing_happens():
    """With acks=all, in each release, whatever else is set."""
    draw = Random(54)
    for _ in range(10):
        settings = Settings(
            release=draw.choice(RELEASES[3:]),
            elr=draw.random() < 0.5,
            min_isr=draw.randint(1, 3),
            replicas=draw.randint(1, 4),
            unclean=draw.random() < 0.5,
            racks=1,
        )
        cell = searched(settings, row_of("lags=2"))
        assert cell.is_kept, settings


@pytest.mark.slow
def test_the_command(capsys, tmp_path):
    file = tmp_path / "server.properties"
    file.write_text(SERVER_PROPERTIES, encoding="utf-8")
    words = ["promise", "--file", str(file), "--faults", "kills=1"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "Assumed" in shown
    assert main([*words[:-1], "stops=1,pauses=1,power_cuts=1", "--release", "3.9", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert "acknowledged_is_readable" in said["cells"][0]["stories"]
    for words, why in (
        (["--faults", "fires=1"], "fault"),
        (["--to", "02:19"], "give --logs, too"),
        (["--logs", str(tmp_path / "nowhere")], "There is no folder"),
        (["--logs", str(tmp_path), "--faults", "kills=1"], "leave --file and --faults out"),
    ):
        assert main(["promise", *words]) == 3
        assert why in capsys.readouterr().err


LAST_REPLICA = recorded_logs("last_replica_without_elr_4.3.1")


@pytest.mark.rarely
def test_from_the_end_of_logs_no_single_fault_loses_a_record():
    """All three are in sync, and the logs say enough."""
    asked = outlook([LAST_REPLICA])
    assert {str(each) for each in asked.costs("t-0").values()} == {"nothing"}
    assert len(asked.costs("t-0")) == 3 * len(NEXT)
    assert asked.verdict == "holds"


@pytest.mark.slow
def test_before_the_power_cut_the_logs_tell_what_it_will_cost():
    """Broker 1 alone is in the ISR, as one and a half seconds later its power fails."""
    asked = outlook([LAST_REPLICA], end="02:19:24")
    costs = {key: str(cost) for key, cost in asked.costs("t-0").items()}
    assert costs["lose_power", 1] == "LOST"
    assert costs["stop", 1] == "offline"
    assert costs["stop", 3] == costs["lose_power", 2] == "nothing"
    assert costs["", 1] == "no writes"
    assert asked.verdict == "violated"


@pytest.mark.slow
def test_a_broker_that_is_down_may_have_lost_what_it_had_not_flushed():
    cost = outlook([LAST_REPLICA], end="02:19:33").costs("t-0")["", 1]
    assert str(cost) == "LOST"
    assert cost.steps[0] == "Broker 1 is down, and what it had not flushed is gone"


DESCRIBED = (
    "Topic: orders\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
    "\tTopic: orders\tPartition: 0\tLeader: 3\tReplicas: 2,3,1\tIsr: 3,1\n"
)


@pytest.mark.slow
def test_what_kafka_topics_prints_is_enough_with_the_release(tmp_path):
    (tmp_path / "described.txt").write_text(DESCRIBED, encoding="utf-8")
    assert outlook([tmp_path]).verdict == "undecided"
    costs = outlook([tmp_path], release="3.9").costs("orders-0")
    assert str(costs["stop", 1]) == str(costs["stop", 3]) == "no writes"
    assert str(costs["stop", 2]) == "nothing"


@pytest.mark.parametrize(
    ("logs", "given", "said"),
    [
        ("two_quick_changes_2.0.0", {}, "this cluster has ZooKeeper"),
        ("last_replica_with_elr_4.3.1", {"replicas": "2"}, "it has 3 replicas, and 2 were asked"),
        ("away_controller_4.3.1", {}, "no partition is named"),
    ],
)
def test_logs_that_can_not_tell_say_why(logs, given, said):
    asked = outlook([recorded_logs(logs)], **given)
    assert asked.verdict == "undecided"
    assert said in str(asked)


def test_unclean_elections_are_read_from_the_metadata_log():
    asked = outlook([recorded_logs("fenced_elr_unclean_4.3.1")])
    assert asked.places["t-0"].settings.unclean


def test_the_report_never_says_safe():
    assert "It does not mean safe" in str(promise(read([]), ROWS[:1]))
