"""Stories on real brokers and bookies, and on real Pulsar where its jars are: no test fetches so
many."""

import os
import warnings
from collections.abc import Mapping

import pytest

from protocol_lab.errors import LabError
from protocol_lab.system.folders import cache_folder
from real_systems.pulsar.cluster import jars_of
from real_systems.pulsar.stories import describe
from real_systems.runner.processes import DidNotHappen
from real_systems.runner.stories import Story, recorded, run, stories, story_of
from real_systems.runner.story_views import StoryRun
from tests.__main__ import not_run

TRIES = 2
"""How often a story is tried that does not come about within its bounds, on a busy machine."""


CASES = [
    pytest.param(
        story,
        case.release,
        case.settings,
        id="-".join([story.name, case.release, *case.settings.values()]),
    )
    for story in stories().values()
    if story.play.__module__.endswith(".stories")
    for case in story.cases
]


def check_case(story: Story, release: str, settings: Mapping[str, str]) -> None:
    """Act a case out: another outcome than the known one fails.

    One that did not come about twice says so in a warning, since a check that fails by chance is
    soon ignored. Without Java or jars it is skipped, but in CI that is a failure.
    """
    for _ in range(TRIES):
        try:
            recording = run(story, release, settings, print, print)
        except DidNotHappen as error:
            problem = error
        except LabError as error:
            not_run(f"NOT RUN on the real thing: {error}")
        else:
            known = recorded(story, release, settings).outcome
            assert known.differences(recording.outcome) == [], str(StoryRun(story, recording, True))
            return
    warnings.warn(f"{story.name} on {release} did not come about: {problem}", stacklevel=2)


EACH_RUN = (
    ("last_replica", "4.3.1", "off"),
    ("last_replica", "4.3.1", "on"),
    ("two_power_cuts", "4.3.1", "on"),
)
"""What every run of the tests acts out: two minutes. The rest is marked `rarely`."""


@pytest.mark.rarely
@pytest.mark.real
@pytest.mark.parametrize(("name", "release", "elr"), EACH_RUN)
def test_on_real_brokers(name, release, elr):
    check_case(story_of(name), release, {"elr": elr})


@pytest.mark.real
@pytest.mark.rarely
@pytest.mark.parametrize(("story", "release", "settings"), CASES)
def test_every_story(story, release, settings):
    needs_jars = ".pulsar." in story.play.__module__ and "PULSAR_HOME" not in os.environ
    if needs_jars and not (cache_folder("jars") / f"pulsar-{release}").is_dir():
        pytest.skip(f"NOT RUN on the real thing: fetch its jars with `lab.py real {story.name}`.")
    check_case(story, release, settings)


# --- Pulsar, without a cluster -------------------------------------------------------------------


def test_a_release_that_the_kit_does_not_have_gets_a_sentence(monkeypatch):
    monkeypatch.delenv("PULSAR_HOME", raising=False)
    for wrong in ("", "4.2", "1.0.0"):
        with pytest.raises(LabError, match="no release of Pulsar that the kit has"):
            jars_of(wrong, print)


def test_a_picture_says_what_the_cursor_names_and_what_a_reader_got():
    seen = {
        "sent": [("a", "a1"), ("", "n1")],
        "kept_from": 3,
        "acknowledged": ["a1", "n1"],
        "served": ["n1"],
        "named": 2,
        "ledgers": [(4, "OPEN")],
    }
    drawn = describe(seen)
    (bar,) = drawn.bars
    assert [(each.label, each.value.text) for each in bar.values] == [
        ("the cursor names", "ledger 2"),
        ("ledger 4", "open"),
        ("ledger 2", "deleted"),
    ]
    topic, reader = drawn.lanes
    assert list(topic.entries) == []
    assert [each.label for each in reader.entries] == ["n1"]
