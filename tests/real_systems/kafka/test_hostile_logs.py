"""Folders and archives that are damaged, encrypted, too large or meant to harm are named."""

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from real_systems.kafka.logs.reading import archives
from real_systems.kafka.logs.reading.broker_lines import _PATTERNS
from real_systems.kafka.logs.report import read, recorded

GONE = "the records from offset 1 on are gone"


@pytest.fixture
def cluster(tmp_path) -> Path:
    """The folder of a cluster that has lost a record."""
    shutil.unpack_archive(recorded("last_replica_without_elr_4.3.1"), tmp_path, filter="data")
    return tmp_path / "last_replica_without_elr_4.3.1"


def packed(folder: Path, path: Path, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:
        tar.add(folder, folder.name)
    return path


def test_archives_in_archives_are_read(cluster, tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    for k, node in enumerate(sorted(cluster.glob("node*"))):
        packed(node, inner / f"{node.name}.tar", ["w:gz", "w:xz", "w:bz2", "w"][k % 4])
    with zipfile.ZipFile(outer / "support", "w", zipfile.ZIP_DEFLATED) as bundle:
        for path in inner.iterdir():
            bundle.write(path, path.name)
    report = read([outer])
    assert GONE in str(report)
    assert not report.cluster.unread
    assert "node1/server.log:" in str(report)
    for depth in range(archives.DEEPEST + 1):
        nested = packed(outer, tmp_path / f"{depth}.tar")
        shutil.rmtree(outer)
        outer.mkdir()
        nested.rename(outer / "in.tar")
    shutil.copytree(cluster / "node1", outer / "node1")
    assert any("archives deep: unpack it by hand" in str(e) for e in read([outer]).cluster.unread)


def damaged(data: bytes, place: float = 0.5) -> bytes:
    changed = bytearray(data)
    changed[int(len(data) * place)] ^= 0xFF
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["w:gz", "zip"])
@pytest.mark.parametrize("place", [0.5, 0.99])
def test_a_damaged_archive_is_named(cluster, tmp_path, mode, place):
    folder = tmp_path / "given"
    shutil.copytree(cluster / "node1", folder / "node1")
    if mode == "zip":
        path, place = folder / "a.zip", place / 2  # a zip ends with its directory
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for each in sorted(cluster.rglob("*.log")):
                archive.write(each, each.relative_to(cluster))
    else:
        path = packed(cluster, folder / "a.tar", mode)
    path.write_bytes(damaged(path.read_bytes(), place))
    assert [each.path.name for each in read([folder]).cluster.unread][:1] != []


@pytest.mark.slow
@pytest.mark.parametrize(("opener", "name"), [(gzip, "gz"), (bz2, "bz2"), (lzma, "xz")])
def test_a_damaged_log_is_named(cluster, opener, name):
    log = cluster / "node2" / "server.log"
    data = opener.compress(log.read_bytes())
    log.unlink()
    (cluster / "node2" / f"server.log.{name}").write_bytes(damaged(data))
    assert any("breaks off" in str(each) for each in read([cluster]).cluster.unread)


def test_foreign_and_encrypted_zips_are_named(cluster):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("server.log", b"x" * 99)
    for name, at, value in (("encrypted", 6, 1), ("deflate64", 8, 9), ("aes", 8, 99)):
        data = bytearray(stream.getvalue())
        data[at] = value
        data[data.index(b"PK\1\2") + at + 2] = value
        (cluster / f"{name}.zip").write_bytes(data)
    (cluster / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(99))
    said = {
        each.path.parent.name + each.path.name: each.why for each in read([cluster]).cluster.unread
    }
    assert "is encrypted: unpack it by hand" in said["encrypted.zipserver.log"]
    assert "can't be unpacked" in said["deflate64.zipserver.log"]
    assert "can't be unpacked" in said["aes.zipserver.log"]
    assert "is packed by 7z" in said[f"{cluster.name}a.7z"]


def test_a_long_first_line_is_no_csv(cluster):
    (cluster / "long.txt").write_text("a" * 200_000 + ",b\nc,d\n", encoding="utf-8")
    (unread,) = read([cluster]).cluster.unread
    assert "long.txt" in str(unread)


def test_an_archive_that_is_too_large_is_not_unpacked(cluster, monkeypatch):
    with zipfile.ZipFile(cluster / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("server.log", bytes(10_000_000))
    monkeypatch.setattr(archives, "_ALWAYS", 1_000_000)
    (unread,) = read([cluster]).cluster.unread
    assert "bomb.zip can't be unpacked to its end (it needs 0.0 GB, and 0.0 GB may" in str(unread)


def test_nothing_leads_out_of_the_folder(cluster, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(cluster / "node1" / "server.log", outside)
    (cluster / "away").symlink_to(outside)
    (cluster / "self").symlink_to(cluster)
    (cluster / "node1" / "current.log").symlink_to("server.log")
    with tarfile.open(cluster / "a.tar", "w") as tar:
        for name in ("/etc/evil.log", "../../evil.log", "a\x1b[2J.log"):
            member = tarfile.TarInfo(name)
            tar.addfile(member, io.BytesIO())
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    report = read([cluster])
    assert sorted(each.path.name for each in report.cluster.unread) == ["away", "link.log"]
    assert not Path("/etc/evil.log").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", _PATTERNS)
def test_patterns_are_linear(kind):
    """A long line takes no second, whatever is repeated in it."""
    parts = [
        "1",
        "a-1",
        "[Log partition=t-0, dir=",
        "Completed load of Log(dir=/a-0,",
        " from 1 to ",
        "highWatermark=1",
        "leader=1, ",
        " for partition ",
        "ached leader info (Leader:1,ISR:1,",
    ]
    began = time.process_time()
    for part in parts:
        for first in parts:
            for pattern in _PATTERNS[kind]:
                pattern.search((first + part * 16_000)[: 1 << 14])
    assert time.process_time() - began < 10
