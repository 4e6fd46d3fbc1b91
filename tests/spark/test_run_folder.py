"""A resumed search counts only what is whole in its run folder. No Spark is needed for that."""

import shutil
import tempfile
from itertools import islice
from pathlib import Path

import pytest

from protocol_lab.checker import cross_check
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.request import SearchRequest
from protocol_lab.errors import KitDefect, LabError
from protocol_lab.model.spec import Model
from protocol_lab.model.transitions import successors
from tests.spec_checks import NO_SESSION, spark_search
from tests.toy_specs import letters
from tests.work_units import one_in

INTERRUPTED_AT = 5
DEEPER = INTERRUPTED_AT - 1
"""A level that was complete before the last one."""

COUNTS = ("verdict", "distinct", "generated", "per_depth", "per_action", "never_reached")


def model() -> Model:
    return letters.bind(servers=2, starts=1)


def search(folder: Path, progress=None) -> dict:
    """The counts of a search in this folder, begun or resumed. The driver makes all levels."""
    asked = SearchRequest(*model().choose(None), progress=progress)
    options = {"driver_below": 10**9, "partitions": 2}
    found = spark_search(model(), asked, NO_SESSION, folder, **options).run()
    return {name: getattr(found, name) for name in COUNTS}


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """The folder of a search that was interrupted."""
    folder = tmp_path_factory.mktemp("begun") / "run"

    def progress(result, frontier) -> None:
        if result.depth == INTERRUPTED_AT:
            raise KeyboardInterrupt

    search(folder, progress)
    return folder


@pytest.fixture(scope="module")
def expected() -> dict:
    asked = SearchRequest(*model().choose(None))
    found = NativeSearch(model(), asked).run()
    return {name: getattr(found, name) for name in COUNTS}


@pytest.mark.slow
def test_a_search_goes_on_as_if_nothing_had_happened(begun, expected, tmp_path):
    shutil.copytree(begun, tmp_path / "run")
    assert search(tmp_path / "run") == expected


def test_a_sample_of_the_states_is_compared(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cross_check, "_compared", {})
    monkeypatch.setattr(cross_check, "successors", lambda *state: islice(successors(*state), 1))
    with pytest.raises(KitDefect, match=r"disagree on .* of toy\.letters"):
        search(tmp_path / "run")


@pytest.mark.slow
def test_one_state_a_level_is_sampled_first_and_then_the_others(tmp_path):
    asked = SearchRequest(*model().choose(None))
    options = {"driver_below": 10**9, "partitions": 2}
    done = spark_search(model(), asked, NO_SESSION, tmp_path / "run", **options)
    depth = done.run().depth
    levels = [
        [row.tobytes() for block in done.folder.read(k + 1) for row in block.rows]
        for k in range(depth)
    ]
    sample = list(done.folder.sample())
    first = sample[:depth]
    assert all(any(row in level for row in first) for level in levels)
    assert sorted(sample) == sorted(row for level in levels for row in level)


# --- Damage by hand ------------------------------------------------------------------------------


def level_folder(folder: Path, depth: int = DEEPER) -> Path:
    return next(each for each in folder.glob(f"level-{depth:05}-*") if each.is_dir())


def part_of(folder: Path) -> Path:
    return sorted(level_folder(folder).glob("*.parquet"))[0]


def record_of(folder: Path, depth: int = DEEPER) -> Path:
    return folder / f"level-{depth:05}.json"


def flip(file: Path) -> None:
    """Turn the last bit of a file round."""
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


REPAIRED = {
    "record is cut": lambda f: record_of(f).write_bytes(record_of(f).read_bytes()[:-10]),
    "record is gone": lambda f: record_of(f).unlink(),
    "file is gone": lambda f: part_of(f).unlink(),
    "file has another bit": lambda f: flip(part_of(f)),
    "file of another level": lambda f: shutil.copy(
        sorted(level_folder(f, 2).glob("*.parquet"))[0], part_of(f)
    ),
    "level is gone": lambda f: shutil.rmtree(level_folder(f)),
    "runs are gone": lambda f: shutil.rmtree(f / "seen"),
    "run has another bit": lambda f: flip(sorted((f / "seen").iterdir())[0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", one_in(4, REPAIRED))
def test_what_is_damaged_is_made_again(begun, expected, tmp_path, harm):
    folder = tmp_path / "run"
    shutil.copytree(begun, folder)
    REPAIRED[harm](folder)
    assert search(folder) == expected


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, "{", '{"spec": "another"}'])
def test_a_folder_whose_manifest_is_another_is_refused(begun, tmp_path, content):
    folder = tmp_path / "run"
    shutil.copytree(begun, folder)
    manifest = folder / "manifest.json"
    manifest.unlink() if content is None else manifest.write_text(content, encoding="utf-8")
    with pytest.raises(LabError, match=r"(has no search|is damaged|holds another search).*\.$"):
        search(folder)


@pytest.mark.slow
def test_a_level_that_is_damaged_while_a_search_runs_is_never_read(tmp_path, expected):
    folder = tmp_path / "run"

    def progress(result, frontier) -> None:
        if result.depth == INTERRUPTED_AT:
            for file in folder.glob("level-*/*.parquet"):
                flip(file)

    with pytest.raises(LabError, match=r"is damaged \(its checksum is another one\)"):
        search(folder, progress)
    assert search(folder) == expected
