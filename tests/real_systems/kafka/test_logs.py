"""The logs of real clusters, and what must be said of each; and logs as operators have them."""

import gzip
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol_lab.checker.result import Verdict
from protocol_lab.cli import main
from protocol_lab.errors import LabError
from real_systems.kafka.logs.moments import NONE
from real_systems.kafka.logs.report import CLUSTERS, read

SAID = {
    "away_controller_3.9.1": [
        "02:14:54.* from epoch 1 to 6 .*controller 102",
        "from epoch 6 to 11 .*controller 102",
        "from epoch 11 to 17 .*controller 102",
    ],
    "away_controller_4.3.1": [],
    "empty_disk_without_elr_4.4.0": [
        "05:56:10.* broker 1 came back with an empty log directory and stayed in the ISR: .*"
        " broker 2 truncates to offset 0: the records from offset 0 on are gone",
        "broker 2 truncates to offset 0, below its high watermark 1",
    ],
    "fenced_elr_unclean_4.3.1": [
        r"leaderRecoveryState 1\): broker 3 .*ELR \{1, 2\}.*offset 73",
        "broker 1 truncates to offset 1, below its high watermark 2",
    ],
    "last_replica_with_elr_4.3.1": ["broker 1 came back without a clean shutdown: .* ELR"],
    "last_replica_without_elr_4.3.1": [
        "02:19:36.* broker 1 came back .* stayed in the ISR: .* broker 2 truncates to offset 1: the"
        " records from offset 1 on are gone"
    ],
    "restarts_after_a_snapshot_4.3.1": [],
    "talk_46_56_with_elr_4.3.1": [
        "broker 1 leads in epoch 2 without having followed broker 3 in epoch 1",
        "record at offset 2 not yet committed",
    ],
    "talk_46_56_without_elr_4.3.1": [
        "broker 1 leads in epoch 2 without having followed broker 3 in epoch 1",
        "record at offset 2 not yet committed",
        "broker 2 is elected, which was not in the ISR {1}.*offset 546",
        "broker 3 truncates to offset 1, below its high watermark 2",
        "the logs of brokers 1 and 2 part at offset 1",
    ],
    "told_failed_3.6.2": ["consumers read it, .*NOT_ENOUGH_REPLICAS_AFTER_APPEND"],
    "told_failed_4.3.1": ["nobody reads that, .*committed all the same"],
    "two_power_cuts_with_elr_4.3.1": [
        "broker 1 came back without a clean shutdown",
        "broker 1, the last known leader, is elected.*offset 108",
        "broker 2 came back without a clean shutdown",
    ],
    "two_quick_changes_0.10.2.0": ["broker 2 truncates to its high watermark, offset 1, .*gone"],
    "two_quick_changes_0.11.0.0": [],
    "two_quick_changes_2.0.0": [],
    "upgrade_changes_min_isr_4.3.1": ["min.insync.replicas to 1 .*brokers' files say 2"],
    "upgrade_keeps_min_isr_4.3.1": ["broker 1's own min.insync.replicas, 3, is removed"],
}
"""For each cluster all that is said of it, in the order of time, as patterns."""


def archive(name: str) -> Path:
    return CLUSTERS / f"{name}.tar.gz"


@pytest.fixture
def unpacked(tmp_path) -> Iterator[Path]:
    """A folder with the logs of the cluster that lost a record without ELR."""
    shutil.unpack_archive(archive("last_replica_without_elr_4.3.1"), tmp_path, filter="data")
    return tmp_path / "last_replica_without_elr_4.3.1"


def test_every_cluster_is_told():
    assert set(SAID) == {each.name.removesuffix(".tar.gz") for each in CLUSTERS.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_what_is_said_of_a_real_cluster(name):
    found = [str(each) for each in read([archive(name)]).findings]
    assert len(found) == len(SAID[name]), "\n".join(found)
    for pattern, text in zip(SAID[name], found, strict=True):
        assert re.search(pattern, text)


def test_the_history_is_the_metadata_logs():
    moments = read([archive("last_replica_with_elr_4.3.1")]).partitions["t-0"]
    known = {int(each.place.split()[-1]): each for each in moments}
    assert (known[55].isr, known[55].elr) == ((1,), (2,))
    assert (known[78].leader, known[78].elr, known[78].last_known) == (NONE, (1, 2), (1,))
    assert known[89].elr == (2,)
    assert (known[114].leader, known[114].epoch) == (2, 2)


def test_with_zookeeper_the_history_is_what_brokers_were_told():
    moments = read([archive("two_quick_changes_0.10.2.0")]).partitions["t-0"]
    assert [(each.epoch, each.leader) for each in moments] == [
        *((0, 1), (1, 1), (2, 2), (3, 2), (4, 1), (5, 2), (5, 2))
    ]


def test_what_brokers_did_stands_between_the_moments(unpacked):
    lines = read([unpacked]).time_line("t-0", events=True).split("\n")
    told = [line.strip().partition("  ")[2].rpartition("  (")[0] for line in lines]
    story = [
        "leader 1, epoch 0, ISR {1, 2, 3}",
        "broker 2 follows broker 1 in epoch 0, log end 0, high watermark 0",
        "leader 1, epoch 0, ISR {1, 2}",
        "broker 3 is fenced",
        "leader 1, epoch 0, ISR {1}",
        "broker 2 has shut down",
        "leader none, epoch 1, ISR {1}",
        "broker 1 is fenced",
        "broker 1 registers",
        "broker 1 starts without a clean shutdown before",
        "broker 1 loads its log, log end 1, high watermark 0",
        "broker 1 is unfenced",
        "leader 1, epoch 2, ISR {1}",
        "broker 1 leads in epoch 2, log end 1, high watermark 1",
        "broker 2 starts after a clean shutdown",
        "broker 2 follows broker 1 in epoch 2, log end 2, high watermark 1",
        "broker 2 truncates its log to offset 1",
        "leader 1, epoch 2, ISR {1, 2}",
    ]
    rest = iter(told)
    assert [each for each in story if each not in rest] == [], "\n".join(told)
    assert "truncates" not in read([unpacked]).time_line("t-0")
    assert lines[0] == "2026-11-25"


def test_of_many_partitions_only_those_are_listed_that_something_is_said_of(unpacked):
    report = read([unpacked], topic="__consumer_offsets")
    assert len(report.partitions) == 50
    assert report.listed == [each.partition for each in report.findings]
    assert "50 more partitions are not listed moment by moment: name one with --topic" in str(
        report
    )
    assert len(report.page()) < 10_000
    assert len(report.as_json()["partitions"]) == 50


@pytest.mark.slow
def test_topic_and_times_cut_it():
    whole = archive("last_replica_without_elr_4.3.1")
    assert set(read([whole]).partitions) == {"t-0"}
    assert len(read([whole], topic="__consumer_offsets").partitions) == 50
    cut = read([whole], topic="t", partition=0, begin="02:19:30", end="02:19:40")
    assert [each.epoch for each in cut.partitions["t-0"]] == [0, 1, 2]
    assert len(cut.findings) == 1
    assert not read([whole], begin="2026-11-25 02:20:00").findings


def test_files_are_known_by_what_is_in_them(unpacked):
    """Rotated, renamed and compressed logs, and one that breaks off."""
    before = [str(each) for each in read([unpacked]).findings]
    for node in ("node1", "node2", "node3", "node100"):
        for path in (unpacked / node).glob("*.log"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            middle = len(lines) // 2
            with gzip.open(path.with_suffix(".2026-11-25-01.gz"), "wt", encoding="utf-8") as file:
                file.writelines(lines[:middle])
            path.with_suffix(".old").write_text("".join(lines[middle:]), encoding="utf-8")
            path.unlink()
    (unpacked / "node3" / "picture.png").write_bytes(b"\x89PNG\0\0" * 99)
    broken = gzip.compress(b"[2026-11-25 02:19:08,611] INFO one line (kafka)\n" * 9999)
    (unpacked / "node3" / "broken.gz").write_bytes(broken[: len(broken) // 2])
    after = [str(each) for each in read([unpacked]).findings]
    without_places = [[each.rpartition("(")[0] for each in texts] for texts in (before, after)]
    assert before
    assert without_places[0] == without_places[1]


def test_what_is_before_a_break_is_read(unpacked):
    """A compressed log that is cut, and zeros that a power cut left in one."""
    server_log = unpacked / "node1" / "server.log"
    text = server_log.read_bytes()
    before = [str(each) for each in read([unpacked]).findings]
    middle = text.index(b"\n", len(text) // 3) - 9
    server_log.write_bytes(text[:middle] + bytes(5000) + text[middle:])
    assert [str(each) for each in read([unpacked]).findings] == before
    server_log.unlink()
    pressed = gzip.compress(text)
    (unpacked / "node1" / "server.log.gz").write_bytes(pressed[:-20])
    report = read([unpacked])
    assert any("server.log.gz breaks off (Compressed file ended" in n for n in report.notes)
    assert len(report.findings) == len(before)


AFTER_A_SNAPSHOT = "restarts_after_a_snapshot_4.3.1"


def test_what_tools_print_has_its_place_in_the_history(tmp_path):
    notes = read([archive(AFTER_A_SNAPSHOT)]).notes
    assert (
        "tools/topics1.txt:2 has t-0 as at metadata snapshot 124 and metadata offset 224." in notes
    )
    assert "tools/topics2.txt:2 has t-0 as at metadata offset 170." in notes
    assert any("ended at 98, and not all had it: node 2 up to 74, node 3 up" in n for n in notes)
    shutil.unpack_archive(archive(AFTER_A_SNAPSHOT), tmp_path, filter="data")
    folder = tmp_path / AFTER_A_SNAPSHOT
    text = (folder / "tools" / "topics2.txt").read_text(encoding="utf-8")
    (folder / "later.txt").write_text(text.replace("Isr: 1,2,3", "Isr: 2"), encoding="utf-8")
    status = (folder / "tools" / "status2.txt").read_text(encoding="utf-8")
    (folder / "q.txt").write_text(status.replace("215", "999"), encoding="utf-8")
    notes = read([folder]).notes
    assert any("later.txt:2 has t-0 as at no moment here: leader 1, ISR {2}." in n for n in notes)
    assert any("ends at offset 258, and" in n and "high watermark of 999" in n for n in notes)
    alone = read([folder / "tools"])
    assert alone.time_line("t-0").count("at some time") == 2
    assert alone.cluster.min_isr_at("t-0", 0) == 2


def test_logs_that_part_are_found_in_checkpoints_too(tmp_path):
    for node, rows in (("node1", "0 0\n2 1"), ("node2", "0 0\n1 1\n2 2"), ("node3", "0 0\n1 1")):
        folder = tmp_path / node / "t-0"
        folder.mkdir(parents=True)
        count = rows.count("\n") + 1
        text = f"0\n{count}\n{rows}\n"
        (folder / "leader-epoch-checkpoint").write_text(text, encoding="utf-8")
    text = "Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\tRemoving Replicas: 3\n"
    (tmp_path / "topics.txt").write_text(text, encoding="utf-8")
    report = read([tmp_path])
    (found,) = report.findings
    assert "brokers 1 and 2 part at offset 1" in str(found)
    assert report.partitions["t-0"][-1].replicas == (1, 2, 3)
    (tmp_path / "node2" / "t-0" / "leader-epoch-checkpoint").write_text(
        "0\n3\n0 0\n", encoding="utf-8"
    )
    assert not read([tmp_path]).findings


@pytest.mark.rarely
@pytest.mark.spark
def test_spark_gives_the_same_answers(unpacked):
    asked = {"topic": "__consumer_offsets", "check": True}
    native, spark = read([unpacked], **asked), read([unpacked], **asked, engine="spark")
    assert spark.as_json() == native.as_json()
    walk = spark.checks["__consumer_offsets-7"].walk
    walk.last()
    assert walk.state.exists
    with pytest.raises(LabError, match="engine"):
        read([unpacked], engine="mpi")


def shifted(path: Path, hours: int, seconds: int = 0) -> None:
    """Set the clock of a log's machine to another time."""

    def later(match: re.Match) -> str:
        hour, minute, second = map(int, match.groups())
        total = (hour + hours) * 3600 + minute * 60 + second + seconds
        return f"[2026-11-25 {total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}"

    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"\[2026-11-25 (\d\d):(\d\d):(\d\d)", later, text), encoding="utf-8")


def test_clocks_that_disagree_are_said(unpacked):
    shifted(unpacked / "node2" / "state-change.log", 0, seconds=-5)
    shifted(unpacked / "node1" / "state-change.log", 2)
    notes = read([unpacked]).notes
    assert any("Broker 1 writes its times in another zone, +2 hours" in each for each in notes)
    assert any(re.search(r"Broker 2's clock is [45]\.\d s behind", each) for each in notes)
    assert not any("Broker 3" in each for each in notes)


@pytest.mark.slow
def test_bad_input_is_one_sentence(unpacked, tmp_path):
    with pytest.raises(LabError, match=r"There is no folder .*nowhere"):
        read([tmp_path / "nowhere"])
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "a.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabError, match=r"Nothing in .*empty is a log of Kafka: name a folder with"):
        read([tmp_path / "empty"])
    with pytest.raises(LabError, match="say nothing of nix: they know __consumer_offsets, t"):
        read([unpacked], topic="nix")
    with pytest.raises(LabError, match="is no time: write 02:19"):
        read([unpacked], begin="noon")
    with pytest.raises(LabError, match="02:30 is after 02:10: give the earlier time with --from"):
        read([unpacked], begin="02:30", end="02:10")
    shutil.copy(archive("told_failed_4.3.1"), unpacked)
    note = next(each for each in read([unpacked]).notes if "disagree" in each)
    assert "dumps of the metadata log disagree at offset" in note
    assert not read([unpacked]).answer.breaches


def test_what_is_not_read_is_named_and_takes_the_all_clear_away(unpacked, tmp_path):
    def why(path: Path) -> str:
        report = read([path])
        assert report.verdict == Verdict.UNDECIDED
        return str(report.answer)

    pictures, cuts = tmp_path / "pictures", tmp_path / "cuts"
    pictures.mkdir()
    cuts.mkdir()
    (pictures / "a.png").write_bytes(b"\x89PNG\0\0")
    assert "a.png is nothing that the kit reads." in why(pictures)
    assert "nothing here says what happened to a partition, or is a log of Kafka: name" in why(
        pictures
    )
    (pictures / "server.log").symlink_to(tmp_path / "away")
    assert "server.log can't be read (No such file)" in why(pictures)
    os.mkfifo(pictures / "pipe")
    assert "pipe is nothing that the kit reads" in why(pictures / "pipe")
    cut = cuts / "cut.tar.gz"
    cut.write_bytes(archive("told_failed_3.6.2").read_bytes()[:9000])
    assert "can't be unpacked to its end" in why(cut)
    assert "can't be unpacked to its end" in why(cuts)
    cut.unlink()
    (cuts / "server.log.gz").write_bytes(gzip.compress(b"a line")[:9])
    assert "server.log.gz breaks off before anything can be read." in why(cuts)
    (cuts / "server.log.gz").unlink()
    started = (
        "[2026-11-25 02:19:13,177] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    )
    (cuts / "server.log").write_text(started, encoding="utf-8")
    assert "no partition is named. Add the brokers' state-change.log" in why(cuts)
    (cuts / "server.log").unlink()
    unread = (
        "2026-11-25 02:19:13,177 INFO [MetadataLoader id=8] still catching up (org.apache.kafka)\n"
    )
    (cuts / "server.log").write_text(unread, encoding="utf-8")
    assert "nothing here says what happened to a partition" in why(cuts)
    (cuts / "server.log").write_text(
        "[2017-11-10 13:17:57,590] FATAL [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0]"
        " Exiting because log truncation is not allowed for partition u-0, current leader's latest"
        " offset 5 is less than replica's latest offset 9 (kafka.server.ReplicaFetcherThread)\n"
        "[2017-11-10 13:17:58,001] INFO [Partition u-1 broker=2] u-1 starts at Leader Epoch 4 from"
        " offset 1. Previous Leader Epoch was: -1 (kafka.cluster.Partition)\n",
        encoding="utf-8",
    )
    report = read([cuts])
    assert "u-0: broker 2 ends itself, since its leader" in str(report.findings[0])
    assert [(each.leader, each.epoch, each.isr) for each in report.partitions["u-1"]] == [
        (2, 4, None)
    ]
    (cuts / "server.log").unlink()
    bookie = "2026-11-25 02:31:52,396 INFO Main - Hello, I'm your bookie, bookieId is b1\n"
    broker = "2026-11-25 02:32:00,092 INFO PulsarService - Starting Pulsar Broker service\n"
    for name, line in (("BookKeeper", bookie), ("Pulsar", broker)):
        (cuts / "a.log").write_text(line, encoding="utf-8")
        assert f"a.log is a log of {name}: the kit reads those of Kafka only." in why(cuts)


def test_the_command(unpacked, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["logs", str(unpacked), "--topic", "t", "--page", str(page)]) == 1
    assert "t-0, replicas 1, 2, 3:" in capsys.readouterr().out
    assert "<svg" in page.read_text(encoding="utf-8") or "data:image/svg" in page.read_text(
        encoding="utf-8"
    )
    assert main(["logs", str(archive("two_quick_changes_2.0.0")), "--json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["releases"], said["findings"], said["answer"]) == (["2.0.0"], [], "can't tell")
    whys = str([each["why"] for each in said["not looked for"]])
    assert "broker 1's log does not say that it led in epoch 4" in whys
    assert main(["logs", str(tmp_path / "nowhere")]) == 3
