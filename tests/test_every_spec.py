"""What holds for every spec and every scenario file of the catalog, whatever its protocol."""

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.errors import CapacityExceeded
from protocol_lab.explore import explore
from protocol_lab.semantics.transitions import choices
from protocol_lab.spec.state_view import encode_plain, plain_value, view
from protocol_lab.traces.scenarios import play, read_scenario
from tests.spec_checks import (
    Case,
    bind,
    cases_of,
    on_scenarios,
    packages,
    sampled,
    scenario_files,
)

# Actions that nothing stops in the sampled states, so that no refusal of theirs can be looked at.
# KRaft's messages are lost with the link or the server that could not get them, it takes a long
# story until a server that is waiting for votes is no voter any more, and an administrator can
# always read.
ALWAYS_POSSIBLE = {
    "kafka.async_isr": {"leader_write"},
    "kraft.kip_853": {
        "handle_vote_request",
        "handle_vote_response",
        "handle_join_response",
        "handle_remove_response",
    },
}

SCENARIOS = [
    pytest.param(read_scenario(path), id=f"{package}-{path.stem}")
    for package in packages()
    for path in scenario_files(package)
]


def samples_of(name: str) -> list[tuple[Case, list[bytes]]]:
    """Sampled states for every case of a spec, of many cases fewer each, and those of scenarios."""
    cases = cases_of(name)
    walks = min(6, max(2, 12 // len(cases)))
    return [(which, [*sampled(which, walks), *on_scenarios(which)]) for which in cases]


@pytest.mark.parametrize("name", spec_names())
def test_a_refusal_changed_nothing(name):
    refused = set()
    for which, rows in samples_of(name):
        model = bind(name, **dict(which[1]))
        for row in rows:
            for action in model.spec.actions:
                for args in choices(model, row, action):
                    after = bytearray(row)
                    try:
                        reason = action.function(view(model.layout, after), model.constants, **args)
                    except CapacityExceeded:
                        continue  # no refusal: nothing goes on from what it has written
                    if reason:
                        assert after == row, (action.name, args, reason)
                        refused.add(action.name)
    # Of an action that was never refused this test would say nothing.
    actions = {each.name for each in load(name).actions}
    assert refused == actions - ALWAYS_POSSIBLE.get(name, set())


@pytest.mark.parametrize("name", spec_names())
def test_states_come_back_as_the_same_bytes(name):
    for which, rows in samples_of(name):
        layout = bind(name, **dict(which[1])).layout
        for row in rows:
            assert encode_plain(layout, plain_value(layout, row)) == row


@pytest.mark.parametrize("name", spec_names())
def test_everything_is_explained(name):
    spec = load(name)
    properties = [*spec.invariants, *spec.step_invariants, *spec.sometimes_properties]
    properties += [*spec.constraints, *spec.properties]
    assert all(each.doc for each in [*spec.inits, *spec.actions, *properties])
    assert "Source: " in spec.meaning
    assert "Left out: " in spec.meaning


@pytest.mark.parametrize("name", spec_names())
def test_something_must_be_reachable(name):
    """Without a sometimes property nobody would notice a spec that forbids everything."""
    assert load(name).sometimes_properties


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_plays(scenario):
    assert all(moment.caption for moment in play(scenario).path[1:])
    claims = [line for line in scenario.description if line.startswith(("shortest", "hand-made"))]
    assert len(claims) == 1


def claimed_shortest():
    """The scenarios that say so, and the invariant that they end with a violation of."""
    for each in SCENARIOS:
        [scenario] = each.values
        if any(line.startswith("shortest:") for line in scenario.description):
            [broken] = [line.text for line in scenario.lines if line.kind == "violates"]
            yield pytest.param(scenario, broken, id=each.id, marks=pytest.mark.slow)


@pytest.mark.parametrize(("scenario", "broken"), list(claimed_shortest()))
def test_shortest_is_shortest(scenario, broken):
    result = explore(scenario.model(), invariants=[broken], progress=False)
    assert len(result.trace) == sum(line.kind == "step" for line in scenario.lines)
