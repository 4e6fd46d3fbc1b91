"""The Kafka specs: refusals without effect, engines that agree, capacities, claims of the prose."""

import random
from functools import cache

import pytest

from kafka_spec.unclean_leader_election import elects_where_latest_offset_would
from protocol_lab.catalog import load, spec_names
from protocol_lab.declaring.constants import capacities
from protocol_lab.declaring.spec import Model
from protocol_lab.declaring.views import encode_plain, plain_value, view
from protocol_lab.exploring.explore import explore
from protocol_lab.stepping.attempts import choices, initial, successors
from protocol_lab.stepping.scenarios import play, read_scenario, scenarios_of
from protocol_lab.stepping.steps import find_step
from tests.test_foundation import agree

VARIANTS = [
    "kafka.truncate_to_high_watermark",
    "kafka.kip_101",
    "kafka.kip_279",
    "kafka.kip_320_first_try",
    "kafka.kip_320",
]
UNCLEAN = "kafka.unclean_leader_election"
RULES = ("latest_offset", "first_alive", "eligible_leader_replicas")
SPECS = [
    *VARIANTS,
    "kafka.async_isr",
    UNCLEAN,
    "kafka.finite_replicated_log",
    "kafka.id_sequence",
]
# Compiling takes some seconds a spec; these stand for the others in a quick run.
QUICK = ("kafka.kip_320", "kafka.finite_replicated_log", "kafka.id_sequence")

# async_isr's leader can always write.
ALWAYS_POSSIBLE = {"leader_write"}

WALKED = [
    *(pytest.param(name, {}, id=name) for name in SPECS if name != UNCLEAN),
    *(
        pytest.param(
            UNCLEAN,
            {"election_rule": rule, "first_record_committed": first},
            id=f"{UNCLEAN}-{rule}-{first}",
        )
        for rule in RULES
        for first in ("true", "false")
    ),
]


def compiled(*cases):
    """Test parameters (spec name, more...), slow where the spec is not one of the quick ones."""
    return [
        pytest.param(
            *case,
            id="-".join(str(value) for part in case for value in _values(part)),
            marks=() if case[0] in QUICK else pytest.mark.slow,
        )
        for case in cases
    ]


def _values(part) -> list:
    return list(part.values()) if isinstance(part, dict) else [part]


def bind(name: str, **constants) -> Model:
    return load(name).bind(**constants)


def sampled(name: str, **constants) -> list[bytes]:
    """States on seeded random walks, each once."""
    return _sampled(name, tuple(constants.items()))


@cache
def _sampled(name: str, constants: tuple) -> list[bytes]:
    model, chance, found = bind(name, **dict(constants)), random.Random(1), {}
    for _ in range(12):
        row = next(initial(model)).row
        for _ in range(40):
            found[row] = None
            ahead = [each.row for each in successors(model, row)]
            if not ahead:
                break
            row = chance.choice(ahead)
    return list(found)


def walk(model: Model, *steps: str) -> bytes:
    """The state after these steps."""
    row = next(initial(model)).row
    for step in steps:
        each = find_step(model, row, step)
        assert each.taken, f"{step}: {each.reason}"
        row = each.row
    return row


def test_all_specs_are_here():
    assert sorted(SPECS) == [name for name in spec_names() if name.startswith("kafka.")]


# --- What the explorer relies on ---------------------------------------------------------------


@pytest.mark.parametrize(("name", "constants"), WALKED)
def test_a_refusal_changed_nothing(name, constants):
    model = bind(name, **constants)
    refused = set()
    for row in sampled(name, **constants):
        for action in model.spec.actions:
            for args in choices(model, row, action):
                after = bytearray(row)
                reason = action.function(view(model.layout, after), model.constants, **args)
                if reason:
                    assert after == row, (action.name, args, reason)
                    refused.add(action.name)
    # Of an action that was never refused this test would say nothing.
    assert refused >= {each.name for each in model.spec.actions} - ALWAYS_POSSIBLE


@pytest.mark.parametrize(("name", "constants"), WALKED)
def test_states_come_back_as_the_same_bytes(name, constants):
    model = bind(name, **constants)
    for row in sampled(name, **constants):
        assert encode_plain(model.layout, plain_value(model.layout, row)) == row


@pytest.mark.parametrize(
    ("name", "constants"),
    compiled(
        *((name, {"replicas": 2, "max_leader_epoch": 1}) for name in VARIANTS),
        ("kafka.kip_320", {"log_size": 1, "max_records": 0, "max_leader_epoch": 1}),
        ("kafka.async_isr", {"max_leader_offset": 1, "max_version": 2}),
        *(
            (
                UNCLEAN,
                {
                    "election_rule": rule,
                    "first_record_committed": first,
                    "replicas": 2,
                    "max_leader_epoch": 2,
                    "max_log_length": 2,
                },
            )
            for rule in RULES
            for first in ("true", "false")
        ),
        (UNCLEAN, {"producers": 0, "max_leader_epoch": 2}),
        (UNCLEAN, {"min_isr": 1, "max_leader_epoch": 1, "max_log_length": 2}),
        ("kafka.finite_replicated_log", {}),
        ("kafka.finite_replicated_log", {"log_records": 0}),
        ("kafka.finite_replicated_log", {"replicas": 0}),
        ("kafka.id_sequence", {}),
    ),
)
def test_engines_agree(name, constants):
    model = bind(name, **constants)
    agree(model, invariants=[], progress=False)
    agree(model, progress=False)


def test_type_ok_of_async_isr_as_the_original_has_it_is_false_at_once():
    result = explore(bind("kafka.async_isr"), engine="python", invariants=["type_ok"])
    assert (result.violated, result.trace) == ("type_ok", [])


@pytest.mark.slow
def test_step_invariant_on_both_engines():
    model = bind("kafka.async_isr", max_leader_offset=1, max_version=2)
    assert agree(model, invariants=["high_watermark_never_falls"]).verdict == "holds"


# --- Storage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "constants", "culprit"),
    compiled(
        (
            "kafka.async_isr",
            {"replicas": 2, "max_leader_offset": 0, "max_version": "none"},
            "message_slots",
        ),
        (
            "kafka.async_isr",
            {"replicas": 1, "max_leader_offset": "none"},
            "max_leader_offset",
        ),
        (
            UNCLEAN,
            {"replicas": 2, "producers": 1, "max_leader_epoch": 1, "max_log_length": "none"},
            "log_slots",
        ),
        (
            UNCLEAN,
            {"replicas": 2, "producers": 0, "max_leader_epoch": "none", "max_log_length": 1},
            "max_leader_epoch",
        ),
    ),
)
def test_a_capacity_ends_the_search_as_undecided(name, constants, culprit):
    model = bind(name, **constants)
    native, python = (explore(model, engine=each, progress=False) for each in ("native", "python"))
    assert native.verdict == python.verdict == "undecided"
    assert native.undecided_reason == python.undecided_reason
    assert culprit in native.undecided_reason


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_use_their_storage_to_the_last_slot(name):
    """Their guards bound everything that is stored, so that only a guard can refuse."""
    model = bind(name, replicas=2, log_size=32, max_records=99, max_leader_epoch=39)
    assert capacities(model.constants)["log_size"] == 32
    elections = [f"controller_elect_leader(new_leader={1 + k % 2})" for k in range(40)]
    lead = "become_leader(request=LeaderAndIsrRequest(leader_epoch=38))"
    row = walk(model, *elections, lead, *["leader_write(replica=1)"] * 32)
    for step in ("controller_elect_leader(new_leader=1)", "leader_write(replica=1)"):
        each = find_step(model, row, step)
        assert not each.taken
        assert not each.over_capacity
    assert encode_plain(model.layout, plain_value(model.layout, row)) == row


def test_the_original_without_bounds_needs_no_more_slots_than_there_are():
    """A log that max_log_length lets in fits, and so does the one message beyond it."""
    model = bind(UNCLEAN, replicas=2, producers=1, max_leader_epoch=1, max_log_length=11)
    steps = ["produce_message(replica=1, producer=1)", "replicate(replica=2, entries=1)"]
    assert walk(model, *steps * 11)
    full = find_step(model, walk(model, *steps * 11), steps[0])
    assert full.over_capacity
    assert "log_slots" in full.reason


# --- What the prose claims ---------------------------------------------------------------------


@pytest.mark.parametrize("name", compiled(*((name,) for name in SPECS)))
def test_what_must_be_reachable_is_reached(name):
    result = explore(bind(name), invariants=[], progress=False)
    assert result.exhaustive
    assert result.never_reached == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("kafka.kip_101", (1_613_089, 5_796_838, 26)),
        ("kafka.kip_279", (1_616_461, 6_718_690, 26)),
        ("kafka.truncate_to_high_watermark", (1_988_158, 7_491_589, 28)),
    ],
)
def test_figures_of_an_independent_implementation(name, figures):
    """Not TLC's for all of these, but what another program in sets and tuples counted."""
    result = explore(bind(name), invariants=[], progress=False)
    assert (result.distinct, result.generated, result.depth) == figures


@pytest.mark.slow
@pytest.mark.parametrize(
    ("constants", "steps"),
    [
        ({"election_rule": "latest_offset"}, 15),
        ({"election_rule": "latest_offset", "first_record_committed": "false"}, 15),
        ({"election_rule": "latest_offset", "min_isr": 1}, 5),
        ({"election_rule": "latest_offset", "min_isr": 3}, None),
        ({"election_rule": "first_alive"}, 7),
        ({"election_rule": "eligible_leader_replicas"}, None),
        ({"election_rule": "eligible_leader_replicas", "first_record_committed": "false"}, None),
        ({"election_rule": "eligible_leader_replicas", "min_isr": 1}, None),
        ({"election_rule": "eligible_leader_replicas", "min_isr": 3}, None),
    ],
)
def test_which_election_rules_lose_data(constants, steps):
    result = explore(bind(UNCLEAN, **constants), progress=False)
    assert result.verdict == ("holds" if steps is None else "violated")
    assert (result.trace and len(result.trace)) == steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("min_isr", "distinct", "offline"), [(1, 134_220, 4_938), (2, 181_434, 0), (3, 124_344, 0)]
)
def test_what_eligible_leader_replicas_cost(min_isr, distinct, offline):
    """Offline states in which latest_offset would elect somebody and the third rule does not."""
    model = bind(UNCLEAN, election_rule="eligible_leader_replicas", min_isr=min_isr)
    name = elects_where_latest_offset_would.__name__
    result = explore(model, invariants=[name], to_the_end=True, progress=False)
    assert (result.distinct, result.violating[name]) == (distinct, offline)


@pytest.mark.parametrize("rule", RULES)
def test_nobody_is_eligible_under_the_other_rules(rule):
    model = bind(UNCLEAN, election_rule=rule)
    rows = sampled(UNCLEAN, election_rule=rule)
    eligible = {view(model.layout, row).zk_state.eligible for row in rows}
    assert (eligible == {0}) == (rule != "eligible_leader_replicas")


@pytest.mark.parametrize("name", SPECS)
def test_everything_is_explained(name):
    spec = load(name)
    properties = [*spec.invariants, *spec.step_invariants, *spec.sometimes_properties]
    assert all(each.doc for each in [*spec.inits, *spec.actions, *properties, *spec.constraints])
    assert "Source: " in spec.meaning
    assert "Left out: " in spec.meaning


# --- Scenarios ---------------------------------------------------------------------------------

SCENARIOS = [pytest.param(path, id=path.stem) for path in scenarios_of("kafka")]


@pytest.mark.parametrize("path", SCENARIOS)
def test_scenario_plays(path):
    scenario = read_scenario(path)
    walk = play(scenario)
    assert all(moment.caption for moment in walk.path[1:])
    claims = [line for line in scenario.description if line.startswith(("shortest:", "hand-made"))]
    assert len(claims) == 1


def claimed_shortest():
    """The scenarios that say so, and the invariant that they end with a violation of."""
    for path in scenarios_of("kafka"):
        scenario = read_scenario(path)
        if any(line.startswith("shortest:") for line in scenario.description):
            [broken] = [line.text for line in scenario.lines if line.kind == "violates"]
            quick = scenario.spec_name in QUICK
            marks = () if quick else pytest.mark.slow
            yield pytest.param(scenario, broken, id=path.stem, marks=marks)


@pytest.mark.parametrize(("scenario", "broken"), list(claimed_shortest()))
def test_shortest_is_shortest(scenario, broken):
    result = explore(scenario.model(), invariants=[broken], progress=False)
    assert len(result.trace) == sum(line.kind == "step" for line in scenario.lines)


def test_talk_is_told_slide_by_slide():
    told = {
        path.stem: [int(line.slide) for line in read_scenario(path).lines if line.kind == "step"]
        for path in scenarios_of(UNCLEAN)
        if path.stem.startswith("talk_")
    }
    assert all(
        slides == sorted(slides)
        for stem, slides in told.items()
        if stem != "talk_46_56_found_by_the_search"
    )
    assert set(told["talk_46_56_found_scenario"]) == set(range(46, 57))
    assert sorted(told["talk_46_56_found_by_the_search"]) == told["talk_46_56_found_scenario"]
    # Slides 17, 21, 25 and 28 show or say something without a step.
    assert set(told["talk_17_31_first_alive_loses_data"]) == set(range(18, 32)) - {21, 25, 28}
