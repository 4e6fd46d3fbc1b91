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
from tests.seldom import one_in
from tests.spec_checks import NO_SESSION, spark_search
from tests.toy_specs import letters

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


def replaced_by_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("a file", encoding="utf-8")


def swapped(one: Path, two: Path) -> None:
    contents = one.read_bytes(), two.read_bytes()
    two.write_bytes(contents[0])
    one.write_bytes(contents[1])


def resorted(file: Path) -> None:
    """The same fingerprints in another order: their number and sum are the same."""
    prints = mapped(file).copy()
    file.write_bytes(file.read_bytes()[:32] + prints[::-1].tobytes())


REPAIRED = {
    "depth": lambda f: changed(record_of(f), lambda r: r.update(depth=3)),
    "counts": lambda f: changed(record_of(f), lambda r: r.update(new=r["new"] + 1)),
    "other folder named": lambda f: changed(
        record_of(f), lambda r: r.update(folder=level_folder(f, 2).name)
    ),
    "partitions": lambda f: changed(record_of(f, 5), lambda r: r.update(partitions=4)),
    "base": lambda f: changed(record_of(f, 5), lambda r: r.update(base=4)),
    "record is a list": lambda f: changed(record_of(f), lambda r: [r]),
    "record is not text": lambda f: record_of(f).write_bytes(bytes(range(256))),
    "record is a folder": lambda f: replaced_by_a_folder(record_of(f)),
    "records are swapped": lambda f: swapped(record_of(f, 2), record_of(f, 3)),
    "file is gone": lambda f: part_of(f).unlink(),
    "file is cut": lambda f: part_of(f).write_bytes(part_of(f).read_bytes()[:-10]),
    "file is a folder": lambda f: replaced_by_a_folder(part_of(f)),
    "file of another level": lambda f: shutil.copy(
        sorted(level_folder(f, 2).glob("*.parquet"))[0], part_of(f)
    ),
    "one file more": lambda f: shutil.copy(part_of(f), part_of(f).with_name("part-more.parquet")),
    "level is gone": lambda f: shutil.rmtree(level_folder(f)),
    "levels are files": lambda f: [replaced_by_a_file(level_folder(f, d)) for d in range(1, 6)],
    "level is a link": lambda f: (
        level_folder(f).rename(f / "moved") and (f / "level-00009-linked").symlink_to(f / "moved")
    ),
    "runs are gone": lambda f: shutil.rmtree(f / "seen"),
    "run is gone": lambda f: run_of(f).unlink(),
    "run is cut": lambda f: run_of(f).write_bytes(run_of(f).read_bytes()[:-8]),
    "run is resorted": lambda f: resorted(run_of(f)),
    "one run more": lambda f: shutil.copy(run_of(f), f / "seen" / "00009-0002-00000.run"),
}

REFUSALS = {
    "manifest is gone": lambda f: (f / "manifest.json").unlink(),
    "manifest is nested": lambda f: (f / "manifest.json").write_text(
        "[" * 100_000, encoding="utf-8"
    ),
    "manifest is a folder": lambda f: replaced_by_a_folder(f / "manifest.json"),
    "manifest names another spec": lambda f: changed(
        f / "manifest.json", lambda m: m.update(spec="another")
    ),
    "lock is a folder": lambda f: replaced_by_a_folder(f / "lock"),
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
@pytest.mark.parametrize("what", ["record", "records", "level", "runs", "manifest"])
def test_what_comes_from_another_search_is_not_counted(begun, other, expected, what):
    def harm(folder: Path) -> None:
        if what == "record":
            shutil.copy(record_of(other), record_of(folder))
        elif what == "records":
            for each in [*folder.glob("level-*.json")]:
                each.unlink()
            for each in other.glob("level-*"):
                copy = shutil.copytree if each.is_dir() else shutil.copy
                copy(each, folder / each.name)
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
