"""What holds for every spec and every scenario file of the catalog, whatever its protocol."""

import pytest

from protocol_lab.catalog import load, spec_names
from protocol_lab.drawing.pictures import moment_picture
from protocol_lab.explore import explore
from protocol_lab.model.state_view import encode_plain, plain_value
from protocol_lab.model.transitions import attempts
from protocol_lab.traces.scenarios import play, read_scenario
from tests import temporal_verdicts
from tests.spec_checks import (
    Case,
    agree,
    bind,
    cases_of,
    on_scenarios,
    packages,
    refusals,
    scenario_files,
    walked,
)
from tests.work_units import one_in

# Actions that nothing stops in the sampled states, so that no refusal of theirs can be looked at.
# KRaft's messages are lost with the link or the server that could not get them, it takes a long
# story until a server that is waiting for votes is no voter any more, and an administrator can
# always read. A broker that stops gets no answers to its fetches any more, and the controller
# answers every request for an ISR.
OF_KRAFT = {"handle_vote_request", "handle_vote_response", "accept_begin_quorum_request"}
ANSWERS = {"handle_join_response", "handle_remove_response"}

ALWAYS_POSSIBLE = {
    "kafka.async_isr": {"leader_write"},
    "kafka.kip_966": {"receive_fetch_response", "receive_alter_partition_request"},
    "kraft.kip_853": {"handle_vote_request", "handle_vote_response"},
    "kraft.kip_996": OF_KRAFT,
    "kraft.kip_853_with_requests": {*OF_KRAFT, *ANSWERS},
    "kraft.kip_853_with_end_quorum_epoch": OF_KRAFT,
    "kraft.kip_853_with_empty_disks": OF_KRAFT,
    "kraft.kip_853_disk_replacement": {*OF_KRAFT, *ANSWERS, "accept_join_request"},
}

SCENARIOS = [
    pytest.param(read_scenario(path), id=f"{package}-{path.stem}")
    for package in packages()
    for path in scenario_files(package)
]


def walks_of(name: str) -> list[tuple[Case, int]]:
    """Every case of a spec, and how many random walks to take; of many cases fewer each."""
    cases = cases_of(name)
    return [(which, min(6, max(2, 12 // len(cases)))) for which in cases]


def test_every_decision_is_an_action():
    """Of its spec, or of another of its package, which shares the list."""
    for package in packages():
        specs = [load(name) for name in spec_names() if name.startswith(f"{package}.")]
        actions = {each.name for spec in specs for each in spec.actions}
        assert actions.issuperset(name for spec in specs for name in spec.decisions), package


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_a_refusal_changed_nothing(name):
    """Trying an action raises SpecError where a refusal has changed the state."""
    refused = set()
    for which, walks in walks_of(name):
        model = bind(name, **dict(which[1]))
        refused |= walked(which, walks)[1]
        for row in on_scenarios(which):
            refused |= refusals(attempts(model, row))
    # Of an action that was never refused this test would say nothing.
    actions = {each.name for each in load(name).actions}
    assert refused == actions - ALWAYS_POSSIBLE.get(name, set())


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_engines_agree(name):
    """On the first states with the defaults, and with the constants of some scenarios."""
    for _, constants in cases_of(name)[:4]:
        agree(bind(name, **dict(constants)), max_states=1_000, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_states_come_back_as_the_same_bytes(name):
    for which, walks in walks_of(name):
        layout = bind(name, **dict(which[1])).layout
        for row in [*walked(which, walks)[0], *on_scenarios(which)]:
            assert encode_plain(layout, plain_value(layout, row)) == row


@pytest.mark.parametrize("name", spec_names())
def test_everything_is_explained(name):
    spec = load(name)
    properties = [*spec.invariants, *spec.step_invariants, *spec.expected]
    properties += [*spec.constraints, *spec.properties]
    assert all(each.doc for each in [*spec.inits, *spec.actions, *properties])
    assert "Source: " in spec.meaning
    assert "Left out: " in spec.meaning


@pytest.mark.parametrize("name", spec_names())
def test_something_must_be_reachable(name):
    """Without an expected situation nobody would notice a spec that forbids everything."""
    assert load(name).expected


@pytest.mark.slow
@pytest.mark.parametrize(("name", "claim"), temporal_verdicts.declared())
def test_a_temporal_property_is_about_something(name, claim):
    """It has a verdict where it is small; the fixture `holds_of_something` looks at it."""
    assert temporal_verdicts.judged(name, claim).verdict in ("holds", "violated")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_plays(scenario):
    walk = play(scenario)
    assert all(moment.caption for moment in walk.path[1:])
    assert all(moment_picture(walk.model, moment) for moment in walk.path)
    claims = [line for line in scenario.description if line.startswith(("shortest", "hand-made"))]
    assert len(claims) == 1


def claimed_shortest():
    """The scenarios that say so, with each invariant that they end with a violation of."""
    for each in SCENARIOS:
        [scenario] = each.values
        if any(line.startswith("shortest:") for line in scenario.description):
            for line in scenario.lines:
                if line.kind == "violates":
                    yield pytest.param(scenario, line.text, id=each.id, marks=pytest.mark.slow)


@pytest.mark.parametrize(("scenario", "broken"), one_in(12, claimed_shortest()))
def test_shortest_is_shortest(scenario, broken):
    result = explore(scenario.model(), invariants=[broken], progress=False)
    assert len(result.trace) == sum(line.kind == "step" for line in scenario.lines)
