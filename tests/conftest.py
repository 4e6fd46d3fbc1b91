"""What pytest must know before it collects: where assertions are, how its processes share the
tests, and the Graphviz programs that draw.
"""

import os
import sys
from pathlib import Path

import pytest

from tests import temporal_verdicts
from tests.graphviz_drawing import installed_dots
from tests.work_units import (  # noqa: F401 (hooks of pytest)
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_xdist_make_scheduler,
)

# They hold assertions of several test files: pytest shall explain these as well.
pytest.register_assert_rewrite("tests.spec_checks")


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


@pytest.fixture(autouse=True)
def holds_of_something(request, monkeypatch) -> None:
    """No temporal verdict in a test is about nothing, unless the test is marked as being about
    that."""
    told: list[str] = []
    temporal_verdicts.listen(monkeypatch.setattr, told.append)
    yield
    if not request.node.get_closest_marker("vacuous"):
        assert told == []


DOTS = installed_dots()


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.rarely if place else ())
        for place, name in enumerate(DOTS)
    ]
)
def dot(request, tmp_path, monkeypatch) -> None:
    """Each Graphviz that is here draws once: the packaged one, and the machine's if it has one."""
    (tmp_path / "dot").symlink_to(DOTS[request.param])
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
