"""What a Python worker of Spark imports, which serves one search after the other."""

import io
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from protocol_lab.spark.packaging import KIT, _archive, ship, unpacker

KIT_1, KIT_2 = "a_kit-0001.zip", "a_kit-0002.zip"
SPEC, OTHER = "a_spec-0001.zip", "another_spec-0001.zip"


def test_what_the_kits_modules_read_when_they_are_imported_is_shipped():
    """A spec in a notebook may use a module that imports all that the notebook uses."""
    with zipfile.ZipFile(io.BytesIO(_archive(KIT)[1])) as archive:
        names = archive.namelist()
    assert f"{KIT}/__init__.py" in names
    assert f"{KIT}/teaching/js/question_card.js" in names


class _Session:
    """Refuses what it has, as Spark does, and takes its time to say so."""

    def __init__(self):
        self.received = []

    def addArtifacts(self, path: str, file: bool) -> None:
        time.sleep(0.05)
        assert path not in self.received, "FileAlreadyExistsException"
        self.received.append(path)


def test_searches_that_begin_together_send_an_archive_once():
    session = _Session()
    with ThreadPoolExecutor(4) as threads:
        names = set(threads.map(lambda _: ship(session, [KIT]), range(4)))
    assert len(names) == len(session.received) == 1


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """A worker's folder with archives of two versions of a kit and of two specs that use it."""
    texts = {KIT_1: "VERSION = 1", KIT_2: "VERSION = 2"}
    texts |= dict.fromkeys((SPEC, OTHER), "import a_kit\n\nKIT = a_kit")
    for name, text in texts.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(f"{name.partition('-')[0]}.py", text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def version(*archives: str) -> int:
    """What the last archive's spec knows as the kit, which must be what the worker has."""
    unpacker(archives)()
    kit, spec = __import__("a_kit"), __import__(archives[-1].partition("-")[0])
    assert spec.KIT is kit
    return kit.VERSION


def test_a_spec_that_was_searched_before_another_has_the_same_kit_as_that(worker):
    assert [version(KIT_1, each) for each in (SPEC, OTHER, SPEC)] == [1, 1, 1]


def test_an_edit_arrives_and_so_does_its_undoing(worker):
    assert [version(each, SPEC) for each in (KIT_1, KIT_2, KIT_1)] == [1, 2, 1]


def test_what_is_there_stays_imported(worker):
    version(KIT_1, SPEC)
    before = sys.modules["a_spec"]
    version(KIT_1, SPEC)
    assert sys.modules["a_spec"] is before
