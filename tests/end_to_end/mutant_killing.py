"""Runs the tests on mutants, each in a process of its own, until one fails.

The tests are collected once, by pytest. A mutant gets a copy of that process (a fork) with its edit
put into the loaded function; there it runs the tests that are about a spec which it reaches, small
ones first. So nothing but the tests themselves says whether a mutant is killed, and only what the
edit touches is compiled again. A test that has killed one is also run without any mutant, to be
sure that it passes there, and is the first to be tried on the next.
"""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from platformdirs import user_cache_dir

from protocol_lab.catalog import spec_names
from protocol_lab.compiler import building
from protocol_lab.errors import LabError
from protocol_lab.system.cache_folder import cache_folder
from protocol_lab.traces.scenarios import Scenario
from tests import ROOT
from tests.end_to_end.mutations import Mutant, reached_functions
from tests.golden_table import Golden

MOST_STATES = 150_000
"""A golden run with more states is left out. A mutant's search that comes three times as far can't
be right, and may never end."""

QUICK_SECONDS = 5
"""A test that has killed a mutant is tried first on the next ones, if it took no longer."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, or timeout, where the tests did not end.

    by: the test that failed; why: what it said; seconds: of processor time.
    """

    mutant: str
    outcome: str
    by: str
    why: str
    seconds: float
    sources: str
    tests: str


# --- The tests -----------------------------------------------------------------------------------


def test_files(package: str) -> list[str]:
    """The files whose tests may notice a mutant of a package's specs."""
    folder = ROOT / "tests"
    names = ("traces/test_scenario_steps", "test_golden", "test_golden_walks", "test_every_spec")
    shared = [folder / f"{name}.py" for name in names]
    own = sorted((folder / f"{package}_spec").glob("test_*.py"))
    return [str(path) for path in [*shared, *own]]


def specs_of(item: pytest.Item) -> set[str]:
    """The specs that a test's parameters name; none where it does not say."""
    parameters = getattr(item, "callspec", None)
    return set() if parameters is None else set(_named(list(parameters.params.values())))


def _named(value: object) -> Iterator[str]:
    match value:
        case Golden() | Scenario():
            yield value.spec_name
        case str() if value in spec_names_known():
            yield value
        case list() | tuple():
            for each in value:
                yield from _named(each)


_known: set[str] = set()


def spec_names_known() -> set[str]:
    """The names in the catalog, read once."""
    if not _known:
        _known.update(spec_names())
    return _known


def is_asked(item: pytest.Item, package: str) -> bool:
    """Is a test about this package's specs, and small enough?"""
    if any(item.get_closest_marker(name) for name in ("browser", "spark")):
        return False
    rows = getattr(getattr(item, "callspec", None), "params", {}).values()
    if any(isinstance(row, Golden) and (row.distinct or 0) > MOST_STATES for row in rows):
        return False
    named = specs_of(item)
    if not named:
        return item.path.parent.name == f"{package}_spec"
    return any(name.startswith(f"{package}.") for name in named)


def failure(item: pytest.Item) -> str:
    """Run one test: the first line of why it fails, or ""."""
    forget()
    for report in runtestprotocol(item, nextitem=None, log=False):
        if report.failed:
            return str(report.longrepr).strip().splitlines()[-1][:200]
    return ""


def forget() -> None:
    """Empty the caches in which a test or the kit keeps results of other functions."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("tests.", "protocol_lab.")) or "_spec" in name:
            for value in list(vars(module).values()):
                if callable(value) and hasattr(value, "cache_clear"):
                    value.cache_clear()
    sys.modules["protocol_lab.semantics.dry_run"]._passed.clear()


# --- Killing -------------------------------------------------------------------------------------


class Killer:
    """A pytest plugin that runs a function in place of the tests that were collected."""

    def __init__(self, work: Callable[[list[pytest.Item]], None]):
        self.work = work
        self.began = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.began = True
        self.work(session.items)
        return True


def with_tests(package: str, work: Callable[[list[pytest.Item]], None]) -> None:
    """Collect the tests of a package's specs and call the function with them, within pytest.

    Raises LabError if the tests can't be collected.
    """
    words = ["-q", "--no-header", "--no-summary", "-s", "-p", "no:cacheprovider", "-p", "no:xdist"]
    words += ["-p", "no:hypothesispytest", "--rootdir", str(ROOT), *test_files(package)]
    killer = Killer(work)
    code = pytest.main([*words, "-W", "ignore"], plugins=[killer])
    if code == pytest.ExitCode.INTERNAL_ERROR:
        raise LabError("A defect of this tool ended it: see pytest's message above.")
    if not killer.began:
        raise LabError(f"pytest could not collect the tests of {package}: see its messages above.")


def cost(item: pytest.Item) -> tuple[int, int]:
    """What a test may take, roughly: scenarios, then the package's quick tests and the walks that
    were chosen, other walks and uncompiled golden runs by their states, compiled golden runs, slow
    tests; those that sample states uncompiled come last."""
    function = item.originalname
    if function in ("test_possible_steps", "test_scenario_plays"):
        return 0, 0
    if item.path.name == "test_golden_walks.py":
        row = item.callspec.params["row"]
        return 1 if "_led_" in row.id else 2, row.distinct
    if item.path.name == "test_golden.py" and "row" in item.callspec.params:
        states = item.callspec.params["row"].distinct or MOST_STATES
        return (2, states) if function.endswith("uncompiled") else (3, states)
    if item.path.name == "test_every_spec.py":
        return 5, 0
    return (4 if item.get_closest_marker("slow") else 1), 0


class Killing:
    """Which tests are run on which mutants, and the processes that run them."""

    def __init__(self, package: str, items: list[pytest.Item], budget: float):
        self.items = sorted((each for each in items if is_asked(each, package)), key=cost)
        self.budget = budget
        self.sound: set[pytest.Item] = set()
        known = [name for name in spec_names_known() if name.startswith(f"{package}.")]
        self.reached = {
            name: {(each.__module__, each.__name__) for each in reached_functions(name)}
            for name in known
        }

    def tests_for(self, mutant: Mutant) -> list[pytest.Item]:
        """The tests that are about a spec which the mutant's function is part of."""
        place = (mutant.module, mutant.function)
        reaching = {name for name, found in self.reached.items() if place in found}
        return [item for item in self.items if not specs_of(item) or specs_of(item) & reaching]

    def judge(self, mutant: Mutant) -> dict:
        """In a process of its own: apply the mutant and run tests until one fails."""
        sys.modules["protocol_lab.explore"].UNBOUNDED = 3 * MOST_STATES
        mutant.apply()
        start = time.process_time()
        for item in self.tests_for(mutant):
            began = time.process_time()
            if why := failure(item):
                took = time.process_time() - began
                return {"outcome": "killed", "by": item.nodeid, "why": why, "took": took}
            if time.process_time() - start > self.budget:
                return {"outcome": "survived", "by": "", "why": "the budget is used up"}
        return {"outcome": "survived", "by": "", "why": ""}

    def learn(self, told: dict) -> None:
        """Be sure that the test which killed a mutant passes as it is, and try it first next time.

        Raises LabError if it does not pass.
        """
        item = next((each for each in self.items if each.nodeid == told["by"]), None)
        if item is None:
            return
        if item not in self.sound and (why := failure(item)):
            raise LabError(f"{item.nodeid} fails without any mutant: {why}")
        self.sound.add(item)
        if told["took"] < QUICK_SECONDS:
            self.items.remove(item)
            self.items.insert(0, item)

    def run(
        self, mutants: list[Mutant], processes: int, done: Callable[[Mutant, dict], None]
    ) -> None:
        """Judge all of them, so many at a time; `done` is called as each is through."""
        waiting, running = list(reversed(mutants)), {}
        try:
            while waiting or running:
                while waiting and len(running) < processes:
                    mutant = waiting.pop()
                    pid, pipe = _forked(partial(self.judge, mutant), int(self.budget) + 20)
                    running[pipe] = mutant, pid
                for pipe in select.select(list(running), [], [])[0]:
                    mutant, pid = running.pop(pipe)
                    told = _ended(pipe, pid)
                    self.learn(told)
                    done(mutant, told)
        finally:
            for pipe, (_, pid) in running.items():
                os.kill(pid, signal.SIGKILL)
                _ended(pipe, pid)


def _forked(work: Callable[[], dict], seconds: int) -> tuple[int, int]:
    """Run a function in a copy of this process: its id, and where its result can be read.

    It is ended after so many seconds of processor time: a mutant may loop for ever.
    """
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    told, kept = {"outcome": "killed", "by": "", "why": "the process failed"}, set(building.loaded)
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        told = work()
        told["seconds"] = round(time.process_time(), 2)
    finally:
        os.write(writing, json.dumps(told).encode())
        _forget_compiled(kept)
        os._exit(0)


def _forget_compiled(kept: set[str]) -> None:
    """Remove the machine code of a mutant from the disk: nobody will ask for it again."""
    folder = cache_folder("kernels")
    for key in set(building.loaded) - kept:
        if folder and not building.loaded[key].stats.cache_hits:
            for path in folder.glob(f"*_{key}-*"):
                with suppress(OSError):
                    path.unlink()


def _ended(pipe: int, pid: int) -> dict:
    """Take the result of a process and wait for its end."""
    text = b""
    while part := os.read(pipe, 65536):
        text += part
    os.close(pipe)
    _, status = os.waitpid(pid, 0)
    if text:
        return json.loads(text)
    late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    why = "it did not end" if late else "the process died"
    return {"outcome": "timeout" if late else "killed", "by": "", "why": why}


# --- What is known already -----------------------------------------------------------------------


class Kept:
    """Outcomes of earlier runs, one a line, in a file for each package in the user's cache folder.

    A mutant that was killed stays killed while the specs are the same; one that survived is tried
    again when the tests have changed.
    """

    def __init__(self, package: str, sources: str, tests: str):
        folder = Path(os.environ.get("PROTOCOL_LAB_CACHE") or user_cache_dir("protocol-lab"))
        self.path = folder / "mutants" / f"{package}.jsonl"
        self.sources, self.tests = sources, tests

    def read(self) -> dict[str, Outcome]:
        """What is known, by the mutants' names."""
        known = {}
        with suppress(FileNotFoundError):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError, TypeError):  # of a line that was cut off
                    each = Outcome(**json.loads(line))
                    if each.sources == self.sources and (
                        each.outcome == "killed" or each.tests == self.tests
                    ):
                        known[each.mutant] = each
        return known

    def add(self, mutant: Mutant, told: dict) -> Outcome:
        """Keep one more."""
        found = Outcome(
            mutant.name,
            told["outcome"],
            told["by"],
            told["why"],
            told.get("seconds", 0.0),
            self.sources,
            self.tests,
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(found)) + "\n")
        return found
