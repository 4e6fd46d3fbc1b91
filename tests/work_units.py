"""Which tests stay together in one of pytest's processes, and which of them run rarely.

Tests of a file share fixtures and what they compile, so that one process takes the whole file. A
few files take many minutes, and their tests share only what they do with one spec or notebook:
several processes take those in parts.
"""

import re
import sys
import zlib
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

DIVIDED = (
    "test_every_spec",
    "test_exercises",
    "test_fuzz",
    "test_golden",
    "test_notebooks",
    "test_real_stories",
)
"""Files whose tests are divided by the first of their parameters: a spec, notebook or story."""

IN_EACH_SHARE = "test_on_real_brokers"
"""A test that is marked `rarely`, since it downloads, and that each of CI's runs has."""

STAND_FOR_ALL = (
    "kafka.finite_replicated_log",
    "kafka.kip_320",
    "kraft.kip_853",
    "bookkeeper.quorum_coverage_fencing",
    "pulsar.compaction",
    "00_start_here",
    "kafka/01_one_power_cut",
    "kraft/02_who_knows_it",
    "bookkeeper/02_the_fence_comes_late",
)
"""The specs and notebooks whose slow tests each run has. Those of the others repeat the same for
more protocols: they count as marked `rarely`, so that CI runs a share of them with each commit."""

SUBJECT = re.compile(
    r"\b(kafka|kraft|bookkeeper|pulsar|spark|reduction|temporal|method|your_own)[./]\w+"
)
"""A spec or notebook in a test's parameters: `kafka.kip_320` in `test_x[kafka.kip_320-3,2]`."""

Parameters = type(pytest.param())


def one_in(count: int, cases: Iterable[Any]) -> list:
    """The cases as test parameters: the first, and each that is so many after one, is in every run;
    the others are marked `rarely`.

    cases: values of one parameter, tuples of several, or what `pytest.param` returns.
    """
    found = []
    for place, each in enumerate(cases):
        case = each
        if not isinstance(each, Parameters):
            case = pytest.param(*each) if isinstance(each, tuple) else pytest.param(each)
        rarely = [pytest.mark.rarely] if place % count else []
        found.append(pytest.param(*case.values, marks=[*case.marks, *rarely], id=case.id))
    return found


def one_of(cases: Iterable[Any]) -> list:
    """The cases as test parameters: the first is in every run, the others are marked `rarely`."""
    return one_in(sys.maxsize, cases)


def group_of(test: str) -> str:
    """The name of what one process takes: a file, or of a divided one the tests with one value.

    test: its node id, such as `tests/test_golden.py::test_complete_run[kafka.kip_320-3,2]`.
    """
    file, _, values = test.partition("[")
    name = PurePath(file.partition("::")[0]).stem
    first = values.partition("-")[0].replace("]", "")
    return f"{name} {first}" if name in DIVIDED else name


class _Groups(LoadScopeScheduling):
    """Gives the processes whole groups. (`--dist=loadgroup` writes a test's group into its node id,
    which pytest 9.2 does not let it change: there every test was a group of its own.)"""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _Groups(config, log)


def repeats(item: pytest.Item) -> bool:
    """Does it take long, and say of one more spec or notebook what it says of STAND_FOR_ALL?"""
    found = SUBJECT.search(item.name.partition("[")[2])
    return bool(item.get_closest_marker("slow") and found and found[0] not in STAND_FOR_ALL)


def is_in_share(item: pytest.Item, share: str) -> bool:
    """Is a test that is marked `rarely` in this share, given as `3/16`? A group is in one."""
    number, _, count = share.partition("/")
    return (
        IN_EACH_SHARE in item.name
        or zlib.crc32(group_of(item.nodeid).encode()) % int(count) == int(number) - 1
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", metavar="K/N", help="of the tests marked `rarely` only the Kth of N shares"
    )


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what runs rarely, and leave out what other shares have."""
    for item in filter(repeats, items):
        item.add_marker(pytest.mark.rarely)
    if share := config.getoption("share"):
        rare = [item for item in items if item.get_closest_marker("rarely")]
        left_out = {item for item in rare if not is_in_share(item, share)}
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
