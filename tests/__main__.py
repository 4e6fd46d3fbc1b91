"""`python3 lab.py test [OPTIONS]`: runs the tests with pytest; says what was left out.

    --quick             what needs no browser, no Spark and no long search
    --all               also what takes long and seldom fails: the tests marked `rarely`
    --outside           what knows nothing of the inside: it must pass unchanged when code moves
    --share K/N         of these only a share, K from 1 to N
    --require-browser   fail if there is no Chromium, as `CI=true` does

Other words go to pytest.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

import psutil
import pytest

PROCESS_BYTES = 4 << 30
"""What a process takes in the end, with its browser or its Spark."""

OUTSIDE = (
    "tests/test_golden.py",
    "--deselect=tests/test_golden.py::test_few_compilations",
    "tests/test_every_spec.py::test_scenario_plays",
    "tests/test_readme.py",
    "tests/test_results.py",
    "tests/traces/test_scenario_steps.py",
    "tests/notebooks/test_notebooks.py",
    "tests/grading/test_labs.py",
    "tests/browser",
)
"""TLC's counts, scenarios, README's commands, notebooks with their kept outputs, the labs'
solutions, and the browser tests."""

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = (
    "The browser tests need a Chromium: run `sudo apt-get install chromium`, "
    "or set CHROMIUM to one, and start again."
)
NO_BROWSER_TESTS = (
    "The browser tests were NOT run, because there is no Chromium here: "
    "get one with `sudo apt-get install chromium`, or set CHROMIUM to one."
)


def main(words: Sequence[str]) -> int:
    """Run the tests that these options select; returns pytest's exit code."""
    own = ("--quick", "--all", "--outside", "--require-browser")
    options = [word for word in words if word not in own]
    quick, everything, outside, required = (each in words for each in own)
    browser = find_chromium()
    if browser:
        os.environ["CHROMIUM"] = browser
    elif required or os.environ.get("CI") == "true":
        print(NO_BROWSER, file=sys.stderr)
        return 1
    selection, options = split_markers([*options, *OUTSIDE] if outside else options)
    selection += ["not slow and not spark"] if quick else []
    selection += ["not browser"] if quick or not browser else []
    if not everything and "--share" not in options:
        selection += ["not rarely"]
    if selection:
        options += ["-m", " and ".join(selection)]
    # tests/work_units.py says what each process takes as a whole.
    command = [f"--numprocesses={processes(more=not quick)}", "--dist=loadscope"]
    code = int(pytest.main([*command, "--no-loadscope-reorder", *options]))
    if not browser:
        print(NO_BROWSER_TESTS, flush=True)
    return code


def processes(more: bool) -> int:
    """How many processes run tests: as many as there are cores, four at most.

    more: adds one, since tests that are not quick spend a third of their time on waiting for
    browsers, kernels and Java. There are fewer processes where memory is short.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    free = psutil.virtual_memory().available // PROCESS_BYTES
    return max(1, min(4, (cores or 1) + more, free))


def split_markers(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate pytest's `-m EXPRESSION`s, of which only the last would count, from the rest."""
    expressions, others = [], []
    words = iter(options)
    for word in words:
        if word == "-m":
            expressions.append(f"({next(words, '')})")
        else:
            others.append(word)
    return expressions, others


def find_chromium() -> str | None:
    """The Chromium for the browser tests: $CHROMIUM, else one on the PATH, else None."""
    for name in (os.environ.get("CHROMIUM"), *CHROMIUM_NAMES):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None


def not_run(why: str) -> NoReturn:
    """End a test for which something is missing: a skip by hand, and a failure in CI, which has to
    install what tests need."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
