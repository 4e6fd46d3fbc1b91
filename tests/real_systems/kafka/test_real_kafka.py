"""Real Kafka: what is read from disk, its releases, and what is drawn of a quorum."""

import re
import struct
import zlib
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from protocol_lab.drawing.describe import describe as describe_in_words
from protocol_lab.errors import LabError
from real_systems.kafka.acts import Stage
from real_systems.kafka.cluster import Cluster, has_elr, has_kraft, number_of
from real_systems.kafka.kraft import KRaftCluster
from real_systems.kafka.picture import describe_quorum, is_quorum_turn
from real_systems.kafka.record_batches import crc32c, cut, stored_records
from real_systems.kafka.zookeeper import ZooKeeperCluster
from real_systems.runner.recordings import Recording
from real_systems.runner.stories import Run, story_of
from tests import ROOT


def varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def batch(base: int, epoch: int, values: list[bytes], attributes: int = 0) -> bytes:
    """A batch of magic 2, as brokers since 0.11 write it."""
    records = b""
    for delta, value in enumerate(values):
        body = (
            b"\0" + varint(0) + varint(delta) + varint(-1) + varint(len(value)) + value + varint(0)
        )
        records += varint(len(body)) + body
    checked = struct.pack(">hiqqqhi", attributes, len(values) - 1, 0, 0, -1, -1, -1)
    checked += struct.pack(">i", len(values)) + records
    body = struct.pack(">iBI", epoch, 2, crc32c(checked)) + checked
    return struct.pack(">qi", base, len(body)) + body


def old_message(offset: int, value: bytes, magic: int = 1) -> bytes:
    """A message of magic 0 or 1, as brokers before 0.11 write it."""
    checked = struct.pack(">BB", magic, 0) + (struct.pack(">q", 0) if magic else b"")
    checked += struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    body = struct.pack(">I", zlib.crc32(checked)) + checked
    return struct.pack(">qi", offset, len(body)) + body


def segment(folder, *parts: bytes):
    file = folder / "00000000000000000000.log"
    file.write_bytes(b"".join(parts))
    return file


def test_control_records_are_left_out(tmp_path):
    file = segment(tmp_path, batch(0, 0, [b"x"], attributes=0x20))
    assert list(stored_records(file)) == []


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_old_releases_are_read(tmp_path, magic):
    file = segment(tmp_path, old_message(0, b"a", magic), old_message(1, b"bc", magic))
    found = [(record.value, batch.epoch) for batch, record in stored_records(file)]
    assert found == [(b"a", None), (b"bc", None)]


@pytest.mark.parametrize(("keep", "left"), [(0, []), (1, [b"a"]), (2, [b"a", b"b"])])
def test_a_power_cut_keeps_the_first_records(tmp_path, keep, left):
    file = segment(tmp_path, batch(0, 0, [b"a"]), batch(1, 0, [b"b"]), batch(2, 0, [b"c"]))
    assert cut(file, keep) == 3 - keep
    assert [record.value for _, record in stored_records(file)] == left


def test_releases_are_known_by_their_numbers():
    assert number_of("0.10.2.0") == (0, 10, 2, 0)
    assert not has_kraft("2.8.2")
    assert has_kraft("3.9.1")
    assert not has_elr("3.9.1")
    assert has_elr("4.0.0")
    for wrong in ("", "4", "4.3", "4.3.x", "latest"):
        with pytest.raises(LabError, match="no release"):
            number_of(wrong)
    with pytest.raises(LabError, match="too old"):
        number_of("0.8.2.0")


def test_a_cluster_says_for_which_releases_it_is(monkeypatch):
    with pytest.raises(LabError, match=r"under ZooKeeper: take 3\.3\.0 or later"):
        KRaftCluster(Run(None, Recording("a", "2.1.1", {}), print, print))
    only = [Path("zookeeper-3.8.4.jar")]
    monkeypatch.setattr(Cluster, "__init__", lambda self, *_: setattr(self, "jars", only))
    with pytest.raises(LabError, match=r"no zkclient.*: take 2\.1\.1 or an earlier release"):
        ZooKeeperCluster(Run(None, Recording("a", "3.6.2", {}), print, print))


def test_the_story_on_the_page_has_acts_that_there_are(here):
    page = (ROOT / "docs/real_stories.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", page, re.S)[1]
    (here / "mine.py").write_text(code, encoding="utf-8")
    stage = create_autospec(Stage, instance=True)
    stage.consume.return_value = ["a", "b"]
    story_of("mine.py").play(stage)
    assert stage.keep_copies.called


def test_the_picture_of_a_quorum_says_who_votes_and_has_the_topic():
    before = {"leader": 101, "epoch": 1, "voters": [101, 102, 103], "away": [103]}
    before["topics"] = {"101": [["t", 1]], "102": [["t", 1]], "103": []}
    after = before | {"leader": 0, "voters": [101, 103], "away": [101]}
    after["topics"] = before["topics"] | {"102": []}
    said = describe_in_words(describe_quorum(after))
    assert "leader none" in said
    assert "Controller 102: follows nobody, no voter" in said
    assert said.count("topic t") == 1
    assert is_quorum_turn(before, after)
    assert not is_quorum_turn(before, before | {"away": [102, 103]})
