"""Runs a case of a story on real processes, for tests."""

import warnings
from collections.abc import Mapping

import pytest

from protocol_lab.errors import LabError
from real_systems.runner.processes import DidNotHappen
from real_systems.runner.stories import recorded, run, stories, story_of
from tests.not_run import not_run

TRIES = 2
"""How often a story is tried that does not come about within its bounds, on a busy machine."""


def cases_of(system: str) -> list:
    """The cases of the stories of a system, as parameters."""
    return [
        pytest.param(
            story.name,
            case.release,
            case.settings,
            id="-".join([story.name, case.release, *case.settings.values()]),
        )
        for story in stories().values()
        if story.play.__module__ == f"real_systems.{system}.stories"
        for case in story.cases
    ]


def check_case(name: str, release: str, settings: Mapping[str, str]) -> None:
    """Act a case out: another outcome than the known one fails.

    One that did not come about twice says so in a warning, since a check that fails by chance is
    soon ignored. Without Java or jars it is skipped, but in CI that is a failure.
    """
    story = story_of(name)
    for _ in range(TRIES):
        try:
            recording = run(story, release, settings, print, print)
        except DidNotHappen as error:
            problem = error
        except LabError as error:
            not_run(f"NOT RUN on the real thing: {error}")
        else:
            known = recorded(story, release, settings).outcome
            assert known.differences(recording.outcome) == [], str(recording)
            return
    warnings.warn(f"{name} on {release} did not come about: {problem}", stacklevel=2)
