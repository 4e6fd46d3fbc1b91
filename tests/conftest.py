"""What pytest must know before it collects: where assertions are, which files take longest, and
the Graphviz programs that draw.
"""

import os
import sys
from pathlib import Path

import pytest

from tests.graphviz_drawing import installed_dots

# They hold assertions of several test files: pytest shall explain these as well.
pytest.register_assert_rewrite("tests.spec_checks")

LONGEST = (
    "test_spark_clusters.py",
    "test_notebooks.py",
    "test_golden.py",
    "test_spark.py",
    "test_stepper_in_jupyterlab.py",
    "test_exercises.py",
    "test_every_spec.py",
)
"""The files that take minutes, the longest first (`pytest --durations=0` says how long)."""


def pytest_collection_modifyitems(items):
    """Begin with what takes longest: else all processes but one are idle in the end."""
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A folder outside the kit, where the commands are given; what is imported from it is forgotten
    afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


DOTS = installed_dots()


@pytest.fixture(params=DOTS)
def dot(request, tmp_path, monkeypatch) -> None:
    """Each Graphviz that is here draws once: the packaged one, and the machine's if it has one."""
    (tmp_path / "dot").symlink_to(DOTS[request.param])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
