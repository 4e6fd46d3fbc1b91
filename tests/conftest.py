"""What pytest must know before it collects: where assertions are, how its processes share the
tests, and the Graphviz programs that draw.
"""

import os
import sys
from pathlib import Path

import pytest

from tests import work_units
from tests.graphviz_drawing import installed_dots

# They hold assertions of several test files: pytest shall explain these as well.
pytest.register_assert_rewrite("tests.spec_checks")


def pytest_collection_modifyitems(items):
    """Begin with what takes longest."""
    items.sort(key=work_units.place)


@pytest.hookimpl(optionalhook=True)  # mutation testing loads these tests without xdist
def pytest_xdist_make_scheduler(config, log):
    """Let several processes share the files that take longest."""
    wanted = config.getoption("dist") == "loadfile"
    return work_units.Scheduler(config, log) if wanted else None


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
