"""What pytest's processes take as one piece of work, and in which order.

Tests of a file share fixtures and what they compile, so that one process takes the whole file. A
few files take many minutes, and their tests share only what they do with one spec or notebook:
several processes take those in parts.
"""

import argparse
import re
from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadFileScheduling

LONGEST = (
    "test_stepper_in_jupyterlab.py",
    "test_site.py",
    "test_real_kafka.py",
    "test_spark_clusters.py",
    "test_symmetry.py",
    "test_installation.py",
    "test_fuzz.py",
    "test_spark.py",
    "test_notebooks.py",
    "test_golden.py",
    "test_exercises.py",
    "test_every_spec.py",
    "test_bookkeeper_specs.py",
    "test_kafka_specs.py",
    "test_benchmarks.py",
    "test_traces.py",
    "test_spark_exercises.py",
    "test_kraft_variants.py",
    "test_drawing.py",
    "test_environments.py",
)
"""The files that take a minute or more. What can't be divided begins first, so that no process
works alone in the end (`pytest --durations=0` says how long tests take)."""

DIVIDED = (
    "test_notebooks.py",
    "test_golden.py",
    "test_exercises.py",
    "test_every_spec.py",
    "test_fuzz.py",
)
"""Files whose tests are divided by the first of their parameters: a spec, notebook or exercise."""

IN_EACH_SHARE = "test_on_real_brokers"
"""A test that is marked `rarely`, since it downloads, and that each of CI's runs has."""


STAND_FOR_ALL = (
    "kafka.finite_replicated_log",
    "kafka.kip_320",
    "kafka.kip_966",
    "kraft.kip_853",
    "bookkeeper.quorum_coverage_fencing",
    "bookkeeper.protocol",
    "pulsar.compaction",
    "00_start_here",
    "kafka/01_replication",
    "kraft/01_a_raft_that_pulls",
    "bookkeeper/02_recovery_and_fencing",
    "spark/01_spark",
)
"""The specs and notebooks whose slow tests each run has. Those of the others repeat the same for
more protocols: they count as marked `rarely`, so that CI runs a share of them with each commit."""


def subject(test: str) -> str:
    """The spec or notebook in a test's parameters, such as `kafka.kip_320` in
    `test_x[kafka.kip_320-3,2]`; "" if there is none."""
    parameters = test.partition("[")[2]
    found = re.search(
        r"\b(kafka|kraft|bookkeeper|pulsar|spark|real|reduction|temporal|your_own)[./]\w+",
        parameters,
    )
    return found[0] if found else ""


def part_of(test: str) -> str:
    """The name of what a test, given by its node id, is in one share with: the tests of its file
    that have the same first parameter."""
    file, _, name = test.partition("::")
    first = re.search(r"\[([^]-]+)", name)
    return f"{file}[{first[1] if first else ''}]"


def unit_of(test: str) -> str:
    """The name of the piece of work that a test, given by its node id, belongs to."""
    file = test.partition("::")[0]
    return part_of(test) if file.endswith(DIVIDED) else file


def repeats(item: pytest.Item) -> bool:
    """Does it take long, and say of one more spec or notebook what it says of STAND_FOR_ALL?"""
    return bool(item.get_closest_marker("slow")) and subject(item.name) not in ("", *STAND_FOR_ALL)


def share(text: str) -> tuple[int, int]:
    """Read K/N, as in `--share 2/8`."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError("write --share K/N, with K from 1 to N")
    return int(match[1]), int(match[2])


def others(items: Sequence[pytest.Item], share: tuple[int, int]) -> list[pytest.Item]:
    """The tests marked `rarely` that are in other shares than this one.

    Every part of a file is in one share; every Nth of them is in the same.
    """
    number, count = share
    rare = [item for item in items if item.get_closest_marker("rarely")]
    parts = sorted({part_of(item.nodeid) for item in rare})
    chosen = {*parts[number - 1 :: count]}
    return [
        item
        for item in rare
        if part_of(item.nodeid) not in chosen and IN_EACH_SHARE not in item.nodeid
    ]


def place(item: pytest.Item) -> int:
    """What tests are sorted by: that of its file in LONGEST, or behind all of these."""
    name = item.path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


class Scheduler(LoadFileScheduling):
    """Gives each process the next unit when it has finished what it has."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share",
        metavar="K/N",
        type=share,
        help="of the tests that are marked `rarely` run only every Nth, beginning with the Kth",
    )


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, and leave out what belongs to other shares."""
    for item in filter(repeats, items):
        item.add_marker(pytest.mark.rarely)
    if chosen := config.getoption("share"):
        left_out = {*others(items, chosen)}
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=place)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name the share, so that a failure in CI can be repeated."""
    if chosen := config.getoption("share"):
        again = f"lab.py test --share {chosen[0]}/{chosen[1]}"
        terminalreporter.write_line(f"Of the tests marked `rarely` this was a share: `{again}`.")


@pytest.hookimpl(optionalhook=True)  # `-p no:xdist`
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduler | None:
    """Let several processes share the files that take longest."""
    return Scheduler(config, log) if config.getoption("dist") == "loadfile" else None
