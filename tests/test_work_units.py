"""How the tests are divided among pytest's processes."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import ROOT
from tests.work_units import DIVIDED, LONGEST, place, unit_of


@dataclass
class Collected:
    """What matters of a test that pytest has collected."""

    path: Path


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
