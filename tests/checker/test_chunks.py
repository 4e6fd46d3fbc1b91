"""A search counts the same on any number of cores, up to the place where it stops."""

import numpy as np
import pytest

from protocol_lab.checker.chunks import Workers
from protocol_lab.explore import explore
from tests.spec_checks import bind
from tests.toy_specs import counter, letters, polls

CORES = (1, 2, 3)

QUESTIONS = [
    (letters.bind(servers=2, values=4), {"invariants": []}),
    (letters.bind(servers=2, values=4, starts=2), {"invariants": [], "max_states": 1_234}),
    (letters.bind(servers=3, starts=1), {}),
    (letters.bind(servers=3, slots=4, values=4, starts=1), {"to_the_end": True}),
    (letters.bind(servers=2, values=4), {"constraint": "s.messages.size <= 2"}),
    (counter.bind(limit=5), {"deadlock": True}),
    (polls.bind(), {"to_the_end": True}),
    (bind("kafka.kip_320", replicas=2), {"symmetry": True}),
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
