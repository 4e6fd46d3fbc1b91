"""Searches that keep the rows of the frontier only find what those find that keep all."""

import numpy as np
import pytest

from protocol_lab import LabError
from protocol_lab.checker import state_log
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.chunks import Workers
from protocol_lab.checker.request import SearchRequest
from protocol_lab.explain.coverage import coverage
from protocol_lab.explore import explore
from tests.spec_checks import agree, bind
from tests.toy_specs import counter, letters, polls, shelves

LETTERS = {"servers": 2, "values": 3, "starts": 2}


@pytest.fixture
def only_the_frontier(monkeypatch):
    """Rows are dropped as soon as they were expanded, in segments of 8."""
    monkeypatch.setattr(state_log, "KEPT_BYTES", 0)
    monkeypatch.setattr(state_log, "_SEGMENT", 8)
    monkeypatch.setattr("protocol_lab.checker.breadth_first.chunk_states", lambda _: 4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "question"),
    [
        (letters.bind(**LETTERS), {"invariants": []}),
        (letters.bind(**LETTERS), {}),
        (letters.bind(**LETTERS), {"to_the_end": True}),
        (letters.bind(**LETTERS), {"invariants": [], "max_states": 300}),
        (letters.bind(**LETTERS), {"constraint": "s.messages.size <= 2", "to_the_end": True}),
        (letters.bind(servers=3, slots=4, values=4, starts=1), {"invariants": []}),
        (letters.bind(servers=3, slots=4, values=4, starts=1), {"to_the_end": True}),
        (counter.bind(limit=5), {"deadlock": True}),
        (counter.bind(limit=None, step=7), {}),
        (shelves.bind(servers=3, values=3), {"deadlock": True}),
    ],
)
def test_what_is_found_does_not_depend_on_the_rows_kept(model, question, only_the_frontier):
    result = agree(model, **question)
    assert result.distinct < 20 or result.states is None


def test_every_row_can_be_made_again(only_the_frontier, monkeypatch):
    """By its place in the order, from four bytes a state."""
    model = letters.bind(**LETTERS)
    kept = explore(model, invariants=[], keep_states=True)
    search = NativeSearch(model, SearchRequest([], []))
    monkeypatch.setattr(search.log, "close", lambda: None)
    search.run()
    assert not search.log.keeps_all
    assert np.array_equal(search.log.parents(), kept.parents)
    for at in range(0, kept.distinct, 37):
        path = search.log.path(at)
        assert path[-1] == kept.states[at].tobytes()
        assert len(path) == sum(at >= end for end in np.cumsum(kept.per_depth)) + 1


def test_states_are_kept_on_request_and_else_what_needs_them_says_so(only_the_frontier):
    model = letters.bind(**LETTERS)
    kept = explore(model, invariants=[], keep_states=True)
    assert len(kept.states) == kept.distinct == coverage(kept).states
    dropped = explore(model, invariants=[])
    assert dropped.parents is None
    assert "keep_states=True" in str(dropped)
    assert "keep_states" not in str(kept)
    with pytest.raises(LabError, match="keep_states=True"):
        coverage(dropped)


def test_a_likely_collision_is_said(monkeypatch):
    result = explore(counter.bind(limit=5))
    assert "collision is not unlikely" not in str(result)
    result.per_depth, result.per_action = [500_000_000], {"init": 1_300_000_000}
    assert result.collision_probability > 1e-3
    assert "collision is not unlikely" in str(result)


# --- Chunks --------------------------------------------------------------------------------------


CORES = (1, 2, 3)

QUESTIONS = [
    (letters.bind(servers=2, values=4), {"invariants": []}),
    (letters.bind(servers=2, values=4, starts=2), {"invariants": [], "max_states": 1_234}),
    (letters.bind(servers=3, starts=1), {}),
    (letters.bind(servers=3, slots=4, values=4, starts=1), {"to_the_end": True}),
    (letters.bind(servers=2, values=4), {"constraint": "s.messages.size <= 2"}),
    (counter.bind(limit=5), {"deadlock": True}),
    (polls.bind(), {"to_the_end": True}),
    pytest.param(bind("kafka.kip_320", replicas=2), {"symmetry": True}, marks=pytest.mark.rarely),
    (bind("kafka.kip_320", replicas=2), {"max_states": 1_000}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "question"), QUESTIONS)
def test_what_is_found_does_not_depend_on_the_cores(model, question, monkeypatch):
    monkeypatch.setattr("protocol_lab.checker.breadth_first.chunk_states", lambda _: 16)
    results = []
    for count in CORES:
        monkeypatch.setattr("protocol_lab.checker.chunks.cores", lambda count=count: count)
        results.append(explore(model, **question))
    first, *others = results
    for each in others:
        for name in (
            "verdict", "undecided_reason", "per_depth", "per_action", "violated", "violating",
            "never_reached", "trace", "trace_rows",
        ):  # fmt: skip
            assert getattr(each, name) == getattr(first, name), name
        assert np.array_equal(each.states, first.states)
        assert np.array_equal(each.parents, first.parents)


@pytest.mark.parametrize("count", CORES)
def test_memory_that_is_used_up_ends_a_search_in_the_order_of_the_plain_algorithm(
    count, monkeypatch
):
    """What is counted by then are the first states of the whole search."""
    monkeypatch.setattr("protocol_lab.checker.chunks.cores", lambda: count)
    model = letters.bind(servers=3, values=3)
    bounded = explore(model, invariants=[], memory_gib=0.004)
    assert "memory" in bounded.undecided_reason
    whole = explore(model, invariants=[], max_states=bounded.distinct)
    assert bounded.per_depth == whole.per_depth
    assert np.array_equal(bounded.states, whole.states)


def test_workers_return_what_tasks_return_in_order_and_raise_what_they_raise(monkeypatch):
    monkeypatch.setattr("protocol_lab.checker.chunks.cores", lambda: 3)
    workers = Workers()
    assert workers.run([lambda k=k: k * k for k in range(20)]) == [k * k for k in range(20)]
    with pytest.raises(ZeroDivisionError):
        workers.run([lambda: 1, lambda: 1 // 0, lambda: 2])
    workers.close()
