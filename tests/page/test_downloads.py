"""What pages need of npm, and their compiled searches: made once and kept, else left out."""

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.page import engine_files, search_files
from protocol_lab.page.engine_files import Download, archive_of
from protocol_lab.page.search_files import Searches


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """An archive as npm packs it, and how often npm was asked for it."""
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path / "cache"))
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", encoding="utf-8") as archive:
        about = tarfile.TarInfo("package/dist/x.mjs")
        about.size = 4
        archive.addfile(about, io.BytesIO(b"text"))
    asked = []

    def npm(words, cwd, **options):
        asked.append(words[-1])
        (Path(cwd) / "a-thing-1.2.tgz").write_bytes(written.getvalue())
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(engine_files.subprocess, "run", npm)
    monkeypatch.setattr(engine_files, "find_npm", lambda: "npm")
    return written.getvalue(), asked


def test_a_package_is_fetched_once_and_kept(packed):
    content, asked = packed
    wanted = Download("@a/thing", "1.2", engine_files._digest(content))
    assert archive_of(wanted) == archive_of(wanted) == {"dist/x.mjs": b"text"}
    assert asked == ["@a/thing@1.2"]


def test_another_content_is_refused_and_not_kept(packed):
    _, asked = packed
    for _ in range(2):
        with pytest.raises(LabError, match="its digest differs"):
            archive_of(Download("@a/thing", "1.2", "sha512-other"))
    assert len(asked) == 2


def test_the_reason_of_npm_is_told(packed, monkeypatch):
    said = "npm error code E404\nnpm error 404 Not Found - GET a-thing\n"
    failed = subprocess.CompletedProcess([], 1, "", said)
    monkeypatch.setattr(engine_files.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(LabError, match=r"could not fetch @a/thing 1\.2 \(404 Not Found"):
        archive_of(Download("@a/thing", "1.2", ""))


# --- Compiled searches ---------------------------------------------------------------------------


MODULE = '{"module": "AGFzbQ=="}'


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Searches of one model, with a compiler that ends so; how often it was called."""
    monkeypatch.setenv("PROTOCOL_LAB_CACHE", str(tmp_path))
    searches = Searches()
    searches.add(load("kafka.id_sequence").bind(), spec="kafka.id_sequence")

    def ending(returncode, stdout):
        calls = []

        def run(command, **_):
            calls.append(command)
            return subprocess.CompletedProcess(command, returncode, stdout, "")

        monkeypatch.setattr(search_files.subprocess, "run", run)
        return list(searches.scripts()), calls

    return ending


def test_a_search_is_compiled_once_and_then_kept(compiled):
    ((name, script),), calls = compiled(0, MODULE)
    assert len(calls) == 1
    assert script == f'labSearch("{name}", {MODULE});\n'
    assert compiled(0, "another") == ([(name, script)], [])


def test_a_search_that_can_not_be_compiled_is_left_out_and_tried_again(compiled):
    assert compiled(1, MODULE)[0] == []
    assert len(compiled(0, MODULE)[0]) == 1
