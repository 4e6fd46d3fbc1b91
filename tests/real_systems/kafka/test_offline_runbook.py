"""docs/runbook_offline_partition.md shows what real brokers printed: its recordings say the same.

`python -m tests.real_systems.kafka.test_offline_runbook` writes their outputs into the page. A
block of the page belongs to the recording that the comment above it names, as in

    <!-- 3.9.1 first=leader -->          the outputs of the commands behind "$"
    <!-- 3.9.1 first=leader, last -->    the last time where a command was run more than once
    <!-- 3.9.1 first=leader, 100 logs --> the lines of node 100's log that the story keeps
"""

import re
from pathlib import Path

from real_systems.runner.recordings import Recording
from real_systems.runner.stories import recorded, stories
from tests import ROOT

PAGE = ROOT / "docs/runbook_offline_partition.md"
STORY = stories()["offline_runbook"]
BLOCK = re.compile(r"(?<=<!-- )([^\n]+?)( -->\n+```text\n)(.*?)(?=```\n)", re.S)


def recording_of(run: str) -> Recording:
    """The recording that a comment names, such as "3.9.1 first=leader"."""
    release, *settings = run.split()
    found = recorded(STORY, release, dict(each.split("=") for each in settings))
    assert found is not None, run
    return found


def filled(found: re.Match) -> str:
    """A block with what was recorded."""
    named, between, text = found.groups()
    run, _, which = named.partition(", ")
    acts = recording_of(run).acts
    if which.endswith(" logs"):
        lines = [each.answer for each in acts if each.text == which]
    else:
        lines = []
        for command in (line for line in text.splitlines() if line.startswith("$ ")):
            answers = [each.answer for each in acts if each.text == command]
            assert answers, f"{run} has not run {command}"
            lines += [command, answers[-1 if which == "last" else 0].expandtabs(4) or "(nothing)"]
    return named + between + "".join(f"{line}\n" for line in "\n".join(lines).splitlines())


def with_outputs(page: str) -> str:
    return BLOCK.sub(filled, page)


def test_the_page_shows_what_was_recorded():
    page = PAGE.read_text(encoding="utf-8")
    assert with_outputs(page) == page
    assert page.count("```text") == len(BLOCK.findall(page)) > 8


def test_the_page_names_each_run_with_its_day():
    page = PAGE.read_text(encoding="utf-8")
    for run in STORY.cases:
        chosen = [
            f" --set {name}={run.settings[name]}"
            for name in ("first", "elr")
            if name == "first" or run.settings[name] != "off"
        ]
        words = "".join(chosen)
        assert f"`python3 lab.py real offline_runbook --release {run.release}{words}`" in page
        assert f"{run.day}" in page


def test_every_command_that_the_story_runs_is_explained():
    page = PAGE.read_text(encoding="utf-8")
    for run in STORY.cases:
        scripts = {each.text.split()[1] for each in run.acts if each.text.startswith("$ ")}
        assert {each for each in scripts if f"`{each}" not in page} == set()


if __name__ == "__main__":
    Path(PAGE).write_text(with_outputs(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
