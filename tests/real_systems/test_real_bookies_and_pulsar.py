"""Stories on real bookies, and on real Pulsar where its jars are: no test fetches so many."""

import os

import pytest

from protocol_lab.errors import LabError
from protocol_lab.system.folders import cache_folder
from real_systems.pulsar.cluster import jars_of
from real_systems.pulsar.stories import describe
from tests.real_systems.runner.real_runs import cases_of, check_case


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


@pytest.mark.real
@pytest.mark.rarely
@pytest.mark.parametrize(("name", "release", "settings"), cases_of("pulsar"))
def test_every_story_on_real_pulsar(name, release, settings):
    if (
        "PULSAR_HOME" not in os.environ
        and not (cache_folder("jars") / f"pulsar-{release}").is_dir()
    ):
        pytest.skip(f"NOT RUN on the real thing: fetch Pulsar's jars with `lab.py real {name}`.")
    check_case(name, release, settings)


@pytest.mark.real
@pytest.mark.rarely
@pytest.mark.parametrize(("name", "release", "settings"), cases_of("bookkeeper"))
def test_every_story_on_real_bookies(name, release, settings):
    check_case(name, release, settings)
