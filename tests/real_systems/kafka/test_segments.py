"""Logs as they are on disk, read in Python: held against what kafka-dump-log prints of them.

`segments.tar.gz` has, for some releases, the metadata log of the controller and the topic's log of
broker 1, as a recorded run left them (told_failed on 3.6.2, last_replica on the others), and beside
each file what that release's own kafka-dump-log printed of it.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_systems.kafka import record_batches
from real_systems.kafka.logs.reading.metadata_log import MetadataRecord, records_in
from real_systems.kafka.logs.reading.segments import is_metadata_log, metadata_in
from real_systems.kafka.logs.reading.sources import Kind, Source
from real_systems.kafka.logs.reading.tool_output import dumped_in, logs_in
from real_systems.kafka.logs.reading.unread import Unread
from real_systems.kafka.logs.report import read

ARCHIVE = Path(__file__).with_name("segments.tar.gz")
RELEASES = ("3.6.2", "3.9.1", "4.3.1", "4.4.0")
METADATA = Path("__cluster_metadata-0", f"{0:020}.log")
TOPIC = Path("t-0", f"{0:020}.log")


@pytest.fixture(params=RELEASES)
def logs(request, tmp_path) -> Path:
    shutil.unpack_archive(ARCHIVE, tmp_path, filter="data")
    return tmp_path / request.param


@pytest.fixture
def log(tmp_path) -> Path:
    """The metadata log of the newest release."""
    shutil.unpack_archive(ARCHIVE, tmp_path, filter="data")
    return tmp_path / RELEASES[-1] / METADATA


def printed(path: Path) -> Iterator[MetadataRecord]:
    """The records in what the tool printed of a file."""
    lines = path.with_name(f"{path.name}.txt").read_text(encoding="utf-8").splitlines()
    unread: list[Unread] = []
    yield from records_in(enumerate(lines, 1), path, unread)
    assert unread == []


def subject(record: MetadataRecord) -> tuple:
    """What both ways of reading tell of a record."""
    quorum = record.type in ("CONTROL", "LEADER_CHANGE")  # 3.9.1 prints one like the other
    data = {} if quorum else {k: v for k, v in record.data.items() if k not in NOT_READ}
    return record.offset, record.time, quorum or record.type, record.snapshot, data


NOT_READ = ("endPoints", "features")
"""Fields of structs, of which only the length is read."""

NO_FIELDS_READ = ("REGISTER_CONTROLLER_RECORD", "BEGIN_TRANSACTION_RECORD", "NO_OP_RECORD")


def test_the_metadata_log_is_read_as_the_tool_prints_it(logs):
    files = [each for each in METADATA_FILES if (logs / each).exists()]
    assert METADATA in files
    for file in files:
        unread: list[Unread] = []
        ours, theirs = list(metadata_in(logs / file, unread)), list(printed(logs / file))
        assert unread == []
        assert len(ours) == len(theirs) > 5
        for one, other in zip(ours, theirs, strict=True):
            if one.type in NO_FIELDS_READ or not one.data:
                assert subject(one)[:4] == subject(other)[:4]
            else:
                known = subject(other)[4]
                assert {k: v for k, v in subject(one)[4].items() if k in known} == known
                assert subject(one)[:4] == subject(other)[:4]


METADATA_FILES = (METADATA, METADATA.with_name(f"{0:020}-{0:010}.checkpoint"))


def test_a_topics_log_is_read_as_the_tool_prints_it(logs):
    source = Source(logs / TOPIC, Kind.TOPIC_SEGMENT, 1, TOPIC)
    dump = Source(logs / f"{TOPIC}.txt", Kind.TOPIC, 1, TOPIC)
    unread: list[Unread] = []
    [ours], theirs = logs_in([source], None, unread), dumped_in(dump)
    assert (ours.partition, ours.node, ours.epochs, ours.end) == (
        theirs.partition,
        theirs.node,
        theirs.epochs,
        theirs.end,
    )
    assert unread == []
    assert not list(logs_in([source], "another", unread))


@pytest.mark.parametrize("left", [0, 12, 60, 61, 400, 4000])
def test_a_log_that_breaks_off_is_read_up_to_there_and_said(log, left):
    whole, content = list(metadata_in(log, [])), log.read_bytes()
    log.write_bytes(content[:left])
    unread: list[Unread] = []
    some = list(metadata_in(log, unread))
    assert some == whole[: len(some)]
    assert bool(some) or left < 4000
    assert len(unread) == bool(left)
    assert not left or f"{METADATA.name} breaks off " in str(unread[0])


@pytest.mark.parametrize("place", [0, 8, 16, 20, 30, 70, 1020, 5020])
def test_a_log_that_is_damaged_is_read_up_to_there_and_said(log, place):
    """Of a batch all is checked but its offset, its length and its epoch."""
    whole, content = list(metadata_in(log, [])), bytearray(log.read_bytes())
    content[place] ^= 0x81
    log.write_bytes(content)
    unread: list[Unread] = []
    some = list(metadata_in(log, unread))
    assert some == whole[: len(some)]
    assert len(some) < len(whole)
    assert "breaks off" in str(unread[0])


def test_room_taken_in_advance_ends_a_log(log):
    whole = list(metadata_in(log, []))
    log.write_bytes(log.read_bytes() + bytes(5000))
    unread: list[Unread] = []
    assert list(metadata_in(log, unread)) == whole
    assert unread == []


def test_a_segment_without_its_folder_is_known_by_its_records(logs):
    for path, expected in ((METADATA, True), (TOPIC, False)):
        alone = logs / path.name
        alone.write_bytes((logs / path).read_bytes())
        assert is_metadata_log(alone) == is_metadata_log(logs / path) == expected


def test_a_page_computes_the_same_checksums(monkeypatch):
    """A page has no compiled crc32c: its own gives what the documents of the checksum say."""
    source = Path(record_batches.__file__).read_text(encoding="utf-8")
    own: dict = {"__name__": "a_page"}
    exec(source.replace("from crc32c import crc32c", "raise ImportError"), own)
    for data in (b"", b"123456789", bytes(range(256))):
        assert own["crc32c"](data) == record_batches.crc32c(data)
    assert own["crc32c"](b"123456789") == 0xE3069283


def test_a_cluster_is_read_from_its_segments_alone(logs):
    for dump in logs.glob("*/*.txt"):
        dump.unlink()
    report = read([logs])
    assert "t-0" in report.cluster.partitions
    assert "leader 1, epoch 0" in report.time_line("t-0")


def test_what_is_printed_of_one_topic_keeps_no_other_log_from_being_read(log):
    folder = log.parent.parent.rename(log.parent.parent.with_name("node1"))
    printed_lines = "Topic: u Configs: min.insync.replicas=2\nTopic: u Partition: 0 Leader: 1\n"
    (folder / "topics.txt").write_text(printed_lines, encoding="utf-8")
    cluster = read([folder]).cluster
    assert cluster.min_isr["topic u"] == [(0, 2)]
    assert [each.node for each in cluster.on_disk["t-0"] if each.place == "node1/t-0"] == [1]
