"""What a dry run does once, however many models of a spec are searched."""

from collections import Counter

import pytest

from protocol_lab.catalog import load
from protocol_lab.reader import dry_run as module
from protocol_lab.reader.dry_run import dry_run


@pytest.fixture
def read(monkeypatch):
    """How often each function's code was read."""
    counted = Counter()
    monkeypatch.setattr(module, "refuse_ineffective", lambda function: counted.update([function]))
    monkeypatch.setattr(module, "_read", set())
    monkeypatch.setattr(module, "_passed", set())
    return counted


def test_code_is_read_once_for_a_layout(read):
    spec = load("kafka.finite_replicated_log")
    dry_run(spec.bind(replicas=2))
    every = set(read)
    assert {each.function for each in spec.actions} <= every
    dry_run(spec.bind(replicas=1), spec.invariants)
    assert {read[each] for each in every} == {1}
    dry_run(spec.bind(replicas=7))  # another layout
    assert {read[each] for each in every} == {2}


def test_code_that_was_changed_is_read_again(read, monkeypatch):
    spec = load("kafka.finite_replicated_log")
    changed, same = (each.function for each in spec.actions[:2])
    dry_run(spec.bind(replicas=2))
    monkeypatch.setattr(changed, "__code__", changed.__code__.replace(co_name="changed"))
    dry_run(spec.bind(replicas=1))
    assert (read[changed], read[same]) == (2, 1)
