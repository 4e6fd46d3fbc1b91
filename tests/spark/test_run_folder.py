"""A resumed search counts only what is whole in its run folder. No Spark is needed for that."""

import itertools
import json
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
from protocol_lab.spark.executor.visited_runs import mapped
from tests.end_to_end.level_records import (
    COUNTS,
    INTERRUPTED_AT,
    REFUSED,
    after,
    flip,
    flips,
    model,
    search,
)
from tests.spec_checks import NO_SESSION, spark_search
from tests.toy_specs import letters
from tests.work_units import one_in

DEEPER = INTERRUPTED_AT - 1
"""A level that was complete before the last one."""


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """The folder of a search that was interrupted."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    search(folder, INTERRUPTED_AT)
    return folder


@pytest.fixture(scope="module")
def expected() -> dict:
    asked = SearchRequest(*model().choose(None))
    found = NativeSearch(model(), asked).run()
    return {name: getattr(found, name) for name in COUNTS}


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Path:
    """The folder of another search of the same spec."""
    folder = tmp_path_factory.mktemp("other") / "run"
    different: Model = letters.bind(servers=2, starts=2)
    asked = SearchRequest(*different.choose(None))
    spark_search(different, asked, NO_SESSION, folder, driver_below=10**9, partitions=2).run()
    return folder


def test_a_search_goes_on_as_if_nothing_had_happened(begun, expected):
    assert after(begun, lambda folder: None) == expected


def test_a_sample_of_the_states_is_compared(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cross_check, "_compared", {})
    monkeypatch.setattr(cross_check, "successors", lambda *state: islice(successors(*state), 1))
    with pytest.raises(KitDefect, match=r"disagree on .* of toy\.letters"):
        search(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("number", one_in(5, range(40)))
def test_no_flipped_bit_changes_a_count(begun, expected, number):
    name, bit = next(itertools.islice(flips(begun, seed=7), number, None))
    said = after(begun, lambda folder: flip(folder / name, bit))
    assert said in (expected, REFUSED), f"{name}, bit {bit}"
    assert said == expected or name == "manifest.json"


# --- Damage by hand ------------------------------------------------------------------------------


def level_folder(folder: Path, depth: int = DEEPER) -> Path:
    return next(each for each in folder.glob(f"level-{depth:05}-*") if each.is_dir())


def part_of(folder: Path) -> Path:
    return sorted(level_folder(folder).glob("*.parquet"))[0]


def run_of(folder: Path) -> Path:
    return sorted((folder / "seen").iterdir())[0]


def record_of(folder: Path, depth: int = DEEPER) -> Path:
    return folder / f"level-{depth:05}.json"


def changed(file: Path, change) -> None:
    """Change what a JSON file says, as a person would, who does not see to its checksum."""
    content = json.loads(file.read_text(encoding="utf-8"))
    content = change(content) or content
    file.write_text(json.dumps(content), encoding="utf-8")


def replaced_by_a_folder(file: Path) -> None:
    file.unlink()
    (file / "inside").mkdir(parents=True)


def swapped(one: Path, two: Path) -> None:
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])


def resorted(file: Path) -> None:
    """The same fingerprints in another order: their number and sum are the same."""
    prints = mapped(file).copy()
    file.write_bytes(file.read_bytes()[:32] + prints[::-1].tobytes())


REPAIRED = {
    "counts": lambda f: changed(record_of(f), lambda r: r.update(new=r["new"] + 1)),
    "record is not text": lambda f: record_of(f).write_bytes(bytes(range(256))),
    "records are swapped": lambda f: swapped(record_of(f, 2), record_of(f, 3)),
    "file is gone": lambda f: part_of(f).unlink(),
    "file is cut": lambda f: part_of(f).write_bytes(part_of(f).read_bytes()[:-10]),
    "file of another level": lambda f: shutil.copy(
        sorted(level_folder(f, 2).glob("*.parquet"))[0], part_of(f)
    ),
    "one file more": lambda f: shutil.copy(part_of(f), part_of(f).with_name("part-more.parquet")),
    "level is gone": lambda f: shutil.rmtree(level_folder(f)),
    "run is gone": lambda f: run_of(f).unlink(),
    "run is resorted": lambda f: resorted(run_of(f)),
}

REFUSALS = {
    "manifest is gone": lambda f: (f / "manifest.json").unlink(),
    "manifest names another spec": lambda f: changed(
        f / "manifest.json", lambda m: m.update(spec="another")
    ),
    "run is a folder": lambda f: replaced_by_a_folder(run_of(f)),
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", one_in(4, REPAIRED))
def test_what_is_damaged_by_hand_is_made_again(begun, expected, harm):
    assert after(begun, REPAIRED[harm]) == expected


@pytest.mark.slow
@pytest.mark.parametrize("harm", REFUSALS)
def test_what_can_not_be_made_again_is_refused_in_one_sentence(begun, harm):
    assert after(begun, REFUSALS[harm]) == REFUSED


@pytest.mark.slow
@pytest.mark.parametrize("what", ["record", "level", "runs", "manifest"])
def test_what_comes_from_another_search_is_not_counted(begun, other, expected, what):
    def harm(folder: Path) -> None:
        if what == "record":
            shutil.copy(record_of(other), record_of(folder))
        elif what == "level":
            shutil.rmtree(level_folder(folder))
            shutil.copytree(level_folder(other), folder / level_folder(other).name)
        elif what == "runs":
            for each in (folder / "seen").iterdir():
                shutil.copy(run_of(other), each)
        else:
            shutil.copy(other / "manifest.json", folder / "manifest.json")

    assert after(begun, harm) == (REFUSED if what == "manifest" else expected)


# --- Damage while the search runs ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["level-*/*.parquet", "seen/*.run"])
def test_what_is_damaged_while_a_search_runs_is_never_read(tmp_path, expected, kind):
    folder = tmp_path / "run"

    def progress(result, frontier, seconds) -> None:
        if result.depth == INTERRUPTED_AT:
            for file in folder.glob(kind):
                flip(file, 8 * (file.stat().st_size - 1))

    asked = SearchRequest(*model().choose(None), progress=progress)
    options = {"driver_below": 10**9, "partitions": 2}
    with pytest.raises(LabError, match=r"is damaged \(its checksum is another one\)"):
        spark_search(model(), asked, NO_SESSION, folder, **options).run()
    assert search(folder) == expected
