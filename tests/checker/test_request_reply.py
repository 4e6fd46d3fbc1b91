"""The message-passing protocol of the tests: all engines agree on it; it breaks as it says."""

import pytest

from protocol_lab.explore import explore
from tests.request_reply import spec

COUNTS = [
    ({"remembers": "on_disk"}, 34, 7),
    ({"remembers": "on_disk", "lossy": 0}, 20, 8),
    ({"remembers": "on_disk", "requests": 2}, 86, 10),
    ({"remembers": "on_disk", "clients": 2, "crashes": 0}, 289, 11),
    ({"remembers": "on_disk", "clients": 2, "requests": 2}, 3_698, 18),
]


@pytest.mark.slow
@pytest.mark.parametrize(("constants", "states", "depth"), COUNTS)
def test_explored_to_the_end_it_holds_on_both_engines(constants, states, depth):
    model = spec.bind(**constants)
    native, python = (explore(model, engine=engine) for engine in ("native", "python"))
    assert (native.verdict, native.distinct, native.depth) == ("holds", states, depth)
    assert (python.per_depth, python.per_action) == (native.per_depth, native.per_action)
    assert native.exhaustive
    assert native.never_reached == []


@pytest.mark.parametrize(("remembers", "steps"), [("nothing", 4), ("in_memory", 5)])
def test_a_retry_is_executed_twice(remembers, steps):
    result = explore(spec.bind(remembers=remembers))
    assert result.violated == "executed_at_most_once"
    assert len(result.trace) == steps
    assert result.trace[-1].action == "handle_request"
    assert ("crash" in [each.action for each in result.trace]) == (remembers == "in_memory")


def test_without_retries_nothing_breaks_even_if_the_server_remembers_nothing():
    assert explore(spec.bind(retries=0)).verdict == "holds"
