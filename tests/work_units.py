"""What pytest's processes take as one piece of work, and in which order.

Tests of a file share fixtures and what they compile, so that one process takes the whole file. A
few files take many minutes, and their tests share only what they do with one spec or notebook:
several processes take those in parts.
"""

import re

import pytest
from xdist.scheduler import LoadFileScheduling

LONGEST = (
    "test_stepper_in_jupyterlab.py",
    "test_site.py",
    "test_spark_clusters.py",
    "test_talk_in_jupyterlab.py",
    "test_symmetry.py",
    "test_bundle.py",
    "test_fuzz.py",
    "test_spark.py",
    "test_notebooks.py",
    "test_golden.py",
    "test_golden_walks.py",
    "test_exercises.py",
    "test_every_spec.py",
    "test_bookkeeper_specs.py",
    "test_kafka_specs.py",
    "test_recorded_stepper.py",
    "test_benchmarks.py",
    "test_traces.py",
    "test_talk_exercises.py",
    "test_kraft_additions.py",
    "test_drawing.py",
    "test_environments.py",
)
"""The files that take a minute or more. What can't be divided begins first, so that no process
works alone in the end (`pytest --durations=0` says how long tests take)."""

DIVIDED = ("test_notebooks.py", "test_golden.py", "test_exercises.py", "test_every_spec.py")
"""Files whose tests are divided by the first of their parameters: a spec, notebook or exercise."""


def unit_of(test: str) -> str:
    """The name of the piece of work that a test, given by its node id, belongs to."""
    file, _, name = test.partition("::")
    if not file.endswith(DIVIDED):
        return file
    first = re.search(r"\[([^]-]+)", name)
    return f"{file}[{first[1] if first else ''}]"


def place(item: pytest.Item) -> int:
    """What tests are sorted by: that of its file in LONGEST, or behind all of these."""
    name = item.path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


class Scheduler(LoadFileScheduling):
    """Gives each process the next unit when it has finished what it has."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
