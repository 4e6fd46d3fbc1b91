"""What holds for every spec and every scenario file of the catalog, whatever its protocol."""

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.declaring.views import encode_plain, plain_value, view
from protocol_lab.exploring.explore import explore
from protocol_lab.stepping.attempts import choices
from protocol_lab.stepping.scenarios import play, read_scenario
from tests.spec_checks import bind, cases_of, packages, sampled, scenario_files

# Actions that nothing can stop, so that no refusal of theirs can be looked at.
ALWAYS_POSSIBLE = {"kafka.async_isr": {"leader_write"}}

SCENARIOS = [
    pytest.param(read_scenario(path), id=f"{package}-{path.stem}")
    for package in packages()
    for path in scenario_files(package)
]


@pytest.mark.parametrize("name", spec_names())
def test_a_refusal_changed_nothing(name):
    refused = set()
    for which in cases_of(name):
        model = bind(name, **dict(which[1]))
        for row in sampled(which):
            for action in model.spec.actions:
                for args in choices(model, row, action):
                    after = bytearray(row)
                    reason = action.function(view(model.layout, after), model.constants, **args)
                    if reason:
                        assert after == row, (action.name, args, reason)
                        refused.add(action.name)
    # Of an action that was never refused this test would say nothing.
    actions = {each.name for each in load(name).actions}
    assert refused == actions - ALWAYS_POSSIBLE.get(name, set())


@pytest.mark.parametrize("name", spec_names())
def test_states_come_back_as_the_same_bytes(name):
    for which in cases_of(name):
        layout = bind(name, **dict(which[1])).layout
        for row in sampled(which):
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
