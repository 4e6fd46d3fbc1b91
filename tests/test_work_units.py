"""How the tests are divided among pytest's processes."""

from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path

import pytest

from protocol_lab.catalog import spec_names
from tests import ROOT
from tests.notebook_outputs import name_of
from tests.notebook_outputs import notebooks as notebooks_of_the_kit
from tests.work_units import (
    DIVIDED,
    IN_EACH_SHARE,
    LONGEST,
    STAND_FOR_ALL,
    others,
    place,
    repeats,
    share,
    unit_of,
)


@dataclass
class Collected:
    """What matters of a test that pytest has collected."""

    path: Path
    rarely: bool = False
    slow: bool = False
    name: str = "test_it"

    @property
    def nodeid(self) -> str:
        return f"{self.path}::{self.name}"

    def get_closest_marker(self, name: str) -> bool:
        return getattr(self, name)


@pytest.mark.parametrize(
    ("tests", "units"),
    [
        (["tests/test_lab.py::test_a", "tests/test_lab.py::test_b[1-2]"], 1),
        (["tests/test_lab.py::test_a", "tests/test_cli.py::test_a"], 2),
        (["tests/test_golden.py::test_a[x.y-1]", "tests/test_golden.py::test_b[x.y-2]"], 1),
        (["tests/test_golden.py::test_a[x.y-1]", "tests/test_golden.py::test_a[x.z-1]"], 2),
        (["tests/test_golden.py::test_a", "tests/test_golden.py::test_b"], 1),
        (["n/test_notebooks.py::test_a[k/01]", "n/test_notebooks.py::test_b[k/01-dot]"], 1),
    ],
)
def test_files_stay_whole_except_the_longest(tests, units):
    assert len({*map(unit_of, tests)}) == units


def test_the_named_files_exist():
    assert {*LONGEST, *DIVIDED} <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


def test_what_takes_longest_begins():
    files = [Path("a", name) for name in ("test_lab.py", LONGEST[1], "test_cli.py", LONGEST[0])]
    first, second, *others = sorted(map(Collected, files), key=place)
    assert [first.path.name, second.path.name] == [*LONGEST[:2]]
    assert [each.path.name for each in others] == ["test_lab.py", "test_cli.py"]


def test_each_rarely_run_test_is_in_one_share_and_the_others_in_all():
    often = [Collected(Path("often.py"))]
    rare = [Collected(Path(f"rare_{number}.py"), rarely=True) for number in range(10)]
    left_out = [others(often + rare, (number, 3)) for number in (1, 2, 3)]
    assert [len(each) for each in left_out] == [6, 7, 7]
    for each in rare:
        assert [each in left for left in left_out].count(False) == 1


def test_what_downloads_is_in_each_share():
    real = [Collected(Path("a.py"), rarely=True, name=f"{IN_EACH_SHARE}[{k}]") for k in range(3)]
    assert all(others(real, (number, 3)) == [] for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("name", "slow", "is_repeated"),
    [
        ("test_it", True, False),
        ("test_it[3-x]", True, False),
        (f"test_it[{STAND_FOR_ALL[0]}-3]", True, False),
        ("test_it[kafka.async_isr-3]", True, True),
        ("test_it[kafka.async_isr-3]", False, False),
        ("test_it[('kraft.kip_996', ())]", True, True),
        ("test_it[notebooks/pulsar/02_two_phases.ipynb]", True, True),
    ],
)
def test_the_slow_tests_of_some_protocols_stand_for_those_of_all(name, slow, is_repeated):
    assert repeats(Collected(Path("a.py"), slow=slow, name=name)) is is_repeated


def test_what_stands_for_all_is_there():
    notebooks = {name_of(path) for path in notebooks_of_the_kit()}
    assert {*STAND_FOR_ALL} <= {*spec_names()} | notebooks


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "a/b", "1/2/3"])
def test_a_share_is_one_of_so_many(text):
    assert share("3/8") == (3, 8)
    with pytest.raises(ArgumentTypeError, match="write --share K/N"):
        share(text)
