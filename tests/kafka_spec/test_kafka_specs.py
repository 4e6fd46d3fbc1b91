"""The Kafka specs: engines that agree, capacities, and what the prose claims."""

import inspect
import re

import pytest

from kafka_spec import async_isr, kip_320
from kafka_spec.actions import update_isr
from kafka_spec.exercises.async_isr import controller_handle_request
from kafka_spec.exercises.truncation import UNFENCED
from kafka_spec.kip_320 import has_follower_reached_high_watermark, is_following_leader_epoch
from kafka_spec.kip_966 import spec
from kafka_spec.model import is_in_isr, is_true_leader
from kafka_spec.unclean_leader_election import elects_where_latest_offset_would
from protocol_lab import TAKEN, with_node
from protocol_lab.catalog import spec_names
from protocol_lab.explore import explore
from protocol_lab.liveness.check import check_property
from protocol_lab.model.constants import capacities
from protocol_lab.model.state_view import encode_plain, plain_value, view
from protocol_lab.model.step_text import find_step
from protocol_lab.teaching.exercises import with_action
from protocol_lab.traces.scenarios import read_scenario, scenarios_of
from tests.spec_checks import agree, bind, walk
from tests.work_units import one_in

VARIANTS = [
    "kafka.truncate_to_high_watermark",
    "kafka.kip_101",
    "kafka.kip_279",
    "kafka.kip_320_first_try",
    "kafka.kip_320",
]
UNCLEAN = "kafka.unclean_leader_election"
SPECS = [name for name in spec_names() if name.startswith("kafka.")]
# Compiling takes some seconds a spec; these stand for the others in a quick run.
QUICK = ("kafka.kip_320", "kafka.finite_replicated_log", "kafka.id_sequence")
TWO = {"replicas": 2, "max_records": 2, "max_leader_epoch": 1}
SHORT = {"max_leader_epoch": 2, "max_log_length": 2}


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


# --- Engines -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "constants", "counted"),
    [
        ("kafka.truncate_to_high_watermark", {"replicas": 0}, (1, 1, 1)),
        ("kafka.truncate_to_high_watermark", {**TWO, "log_size": 0}, (85, 161, 6)),
        ("kafka.kip_320_first_try", {**TWO, "log_size": 0}, (85, 161, 6)),
        ("kafka.kip_320", {**TWO, "log_size": 0}, (65, 97, 6)),
        ("kafka.finite_replicated_log", {"log_size": 0}, (1, 1, 1)),
        (UNCLEAN, {**SHORT, "min_isr": 0, "producers": 1}, (1839, 9596, 15)),
        (UNCLEAN, {**SHORT, "min_isr": 4}, (4737, 26391, 15)),
        (UNCLEAN, {**SHORT, "max_leader_epoch": 0}, (0, 1, 1)),
    ],
)
def test_sizes_and_limits_that_leave_nothing_to_do_are_counted_as_by_tlc(name, constants, counted):
    """The figures are TLC's for the originals: distinct, generated, depth."""
    result = explore(bind(name, **constants), invariants=[], progress=False)
    assert (result.distinct, result.generated, result.depth) == counted
    assert result.verdict == "holds"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epoch", "rule", "outcome"),
    [(1, "truncates", 8), (1, "keeps_log", 1_221), (2, "truncates", 8), (2, "keeps_log", 10)],
)
def test_a_new_epoch_of_the_same_leader(epoch, rule, outcome):
    """Kafka's rule up to 2.0.0, KAFKA-7164, needs another leader in between to lose a record."""
    name = "kafka.truncate_to_high_watermark"
    model = bind(name, replicas=2, max_leader_epoch=epoch, same_leader=rule)
    result = explore(model, invariants=["weak_isr"], progress=False)
    assert (len(result.trace) if result.violated else result.distinct) == outcome


# --- Storage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "constants", "culprit"),
    compiled(
        ("kafka.async_isr", {"replicas": 1, "max_leader_offset": "none"}, "max_leader_offset"),
        (
            UNCLEAN,
            {"replicas": 2, "producers": 1, "max_leader_epoch": 1, "max_log_length": "none"},
            "60 is the maximum of log_slots",
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


@pytest.mark.slow
def test_storage_that_is_full_is_made_larger_on_the_way():
    model = bind("kafka.async_isr", replicas=2, max_leader_offset=0, max_version="none")
    result = agree(model, max_states=1_000)
    assert (result.distinct, result.model.constants.message_slots) == (1_000, 24)
    assert "after 374 states" in result.widened[0]


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_use_their_storage_to_the_last_slot(name):
    """Their guards bound everything that is stored, so that only a guard can refuse."""
    model = bind(name, replicas=2, log_size=32, max_records=99, max_leader_epoch=39)
    assert capacities(model.spec.state, model.constants)["log_size"] == 32
    elections = [f"controller_elect_leader(new_leader={1 + k % 2})" for k in range(40)]
    lead = "become_leader(request=LeaderAndIsrRequest(leader_epoch=38))"
    row = walk(model, *elections, lead, *["leader_write(replica=1)"] * 32)
    for step in ("controller_elect_leader(new_leader=1)", "leader_write(replica=1)"):
        each = find_step(model, row, step)
        assert not each.taken
        assert not each.over_capacity
    assert encode_plain(model.layout, plain_value(model.layout, row)) == row


# --- What the prose claims ---------------------------------------------------------------------


FIGURES = {
    "kafka.kip_101": (1_613_089, 5_796_838, 26),
    "kafka.kip_279": (1_616_461, 6_718_690, 26),
    "kafka.truncate_to_high_watermark": (1_988_158, 7_491_589, 28),
}
"""Not TLC's for all of these, but what another program in sets and tuples counted."""


@pytest.mark.parametrize("name", compiled(*((name,) for name in SPECS)))
def test_what_must_be_reachable_is_reached_and_counted_as_by_another_program(name):
    result = explore(bind(name), invariants=[], progress=False)
    assert result.exhaustive
    assert result.never_reached == []
    counted = (result.distinct, result.generated, result.depth)
    assert counted == FIGURES.get(name, counted)


@pytest.mark.slow
@pytest.mark.parametrize("name", compiled(*((name,) for name in VARIANTS)))
@pytest.mark.parametrize(
    "presumed",
    [
        "not current(r) or s.replica_state[r].leader != r or s.quorum_state.leader == r",
        "not current(r) or s.quorum_state.leader != r or s.replica_state[r].leader == r",
        "s.replica_state[r].leader != r or s.replica_state[r].hw <= s.replica_log[r].end_offset",
    ],
    ids=["only the leader presumes it", "the leader presumes it", "no hw beyond the log's end"],
)
def test_what_is_true_of_leaders_in_every_state(name, presumed):
    """`is_true_leader` and what resembles it leave these out, since they hold anyway."""
    current = "s.replica_state[r].leader_epoch == s.quorum_state.leader_epoch"
    model = bind(name, **TWO)
    every = explore(model, invariants=[], progress=False)
    claim = presumed.replace("current(r)", f"({current})")
    condition = f"all({claim} for r in range(1, c.replicas + 1))"
    inside = explore(model, invariants=[], constraint=condition, progress=False)
    assert inside.distinct == every.distinct > 900


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


# --- Scenarios ---------------------------------------------------------------------------------


def test_talk_is_told_slide_by_slide():
    told = {
        path.stem: [int(line.slide) for line in read_scenario(path).lines if line.kind == "step"]
        for path in scenarios_of(UNCLEAN)
        if path.stem.startswith("talk_")
    }
    assert all(slides == sorted(slides) for slides in told.values())
    assert set(told["talk_46_56_found_scenario"]) == set(range(46, 57))
    # Slides 17, 21, 25 and 28 show or say something without a step.
    assert set(told["talk_17_31_first_alive_loses_data"]) == set(range(18, 32)) - {21, 25, 28}


# --- KIP-966 -------------------------------------------------------------------------------------


ALONE = {"broker_count": 1, "init_replication_factor": 1, "init_isr_size": 1, "min_isr": 1}
KILLED = "no_data_loss_shutdown(broker={0}, shutdown=unclean, leader={1})"
REGISTERS = "receive_broker_reg_request(message=RegisterRequest(source={0}), leader={1})"


def partition_after(model, *steps: str):
    """The controller's partition after these steps."""
    return view(model.layout, walk(model, *steps)).con_partition_metadata


@pytest.mark.rarely
@pytest.mark.parametrize("lost", [0, 1])
def test_a_lone_leader_cannot_write_twice(lost):
    """TLC stops there, too: the original reads the log as it was before the write."""
    result = explore(
        spec.bind(**ALONE, values=2, data_loss_shutdown_limit=lost), invariants=[], progress=False
    )
    assert result.verdict == "undecided"
    assert "write_record_to_leader" in result.undecided_reason


def test_the_last_member_of_the_isr_stays_in_it_only_without_elr():
    after = {}
    for name in ("release_3_7", "release_4_1"):
        model = spec.bind(name)
        steps = ("fence_broker(broker=1, leader=2)", "data_loss_shutdown(broker=2, leader=0)")
        after[name] = partition_after(model, *steps)
    assert list(after["release_3_7"].isr) == [2]
    assert list(after["release_3_7"].elr) == []
    assert list(after["release_4_1"].isr) == []
    assert list(after["release_4_1"].elr) == [1, 2]
    assert list(after["release_4_1"].last_known_elr) == [2]


def test_the_last_known_leader_is_forgotten_when_somebody_leads():
    model = spec.bind(
        no_data_loss_shutdown_limit=2, data_loss_shutdown_limit=0, last_known_leader=True
    )
    steps = [KILLED.format(1, 2), KILLED.format(2, 0)]
    for broker, leader in ((1, 0), (2, 2)):
        assert list(partition_after(model, *steps).last_known_elr) == [2]
        steps += [f"broker_start(broker={broker})", REGISTERS.format(broker, leader)]
    after = partition_after(model, *steps)
    assert (after.leader, list(after.isr), list(after.last_known_elr)) == (2, [2], [])


def test_without_the_last_known_leader_nobody_leads():
    model = spec.bind(no_data_loss_shutdown_limit=2, data_loss_shutdown_limit=0)
    steps = [KILLED.format(1, 2), KILLED.format(2, 0)]
    for broker in (1, 2):
        steps += [f"broker_start(broker={broker})", REGISTERS.format(broker, 0)]
    after = partition_after(model, *steps)
    assert (after.leader, list(after.isr), list(after.elr)) == (0, [], [])
    assert list(after.last_known_elr) == [1, 2]


def test_a_clean_shutdown_keeps_a_broker_eligible():
    model = spec.bind(no_data_loss_shutdown_limit=1)
    for shutdown, elr in (("clean", [1]), ("unclean", [])):
        stops = f"no_data_loss_shutdown(broker=1, shutdown={shutdown}, leader=2)"
        steps = (stops, "broker_start(broker=1)", REGISTERS.format(1, 2))
        assert list(partition_after(model, *steps).elr) == elr


@pytest.mark.slow
@pytest.mark.parametrize(("release", "states"), [("release_3_6", 17), ("release_3_7", 17)])
def test_releases_without_elr_lose_a_record_by_one_power_cut(release, states):
    model = spec.bind(release, max_messages_in_flight=1)
    result = explore(model, invariants=["no_committed_record_lost_globally"], progress=False)
    assert (result.verdict, len(result.trace_rows)) == ("violated", states)


# --- What each guard keeps out -------------------------------------------------------------------


FENCES = [guard_name for guard_name in UNFENCED if guard_name != "fenced_leader_shrink_isr"]


def expand_before_all_is_committed(s, c, leader, follower):
    """As fenced_leader_expand_isr, without its last guard."""
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_following_leader_epoch(s, follower, leader):
        return "the follower does not follow this leader in its epoch"
    if not has_follower_reached_high_watermark(s, follower, leader):
        return "the follower has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


BROKEN = [
    *(
        (kip_320, guard_name, UNFENCED[guard_name], f"{guard_name}, .* epoch")
        for guard_name in FENCES
    ),
    (
        kip_320,
        "fenced_leader_expand_isr",
        expand_before_all_is_committed,
        "all of earlier epochs is committed",
    ),
    (async_isr, "controller_handle_request", controller_handle_request, "Without this guard"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "guard_name", "without", "guard"), one_in(3, BROKEN))
def test_a_module_says_what_breaks_without_the_guard(module, guard_name, without, guard):
    said = re.findall(rf"{guard}: (\d+) steps to (\w+)", inspect.getsource(module))
    found = explore(with_action(module.spec, guard_name, without).bind(), progress=False)
    assert said == [(str(len(found.trace)), found.violated)]


# --- What Kafka's fairness comes to, as TLC judged it on the originals ---------------------------

# The claims are ours, so TLC was given them in a module that extends the original and restates
# them. Its lassos are no shortest ones, so ours may come to their loops earlier.

LEARN, FOLLOW, SETTLE = (
    "leaders_learn_of_their_election",
    "everybody_learns_who_leads",
    "records_are_committed_or_truncated",
)
SMALL = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
LARGER = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}

# TLC's distinct states if the property holds, else the states of the trace that it printed.
RUNS = [
    ("kip_320", "declared", LARGER, LEARN, "holds", 5973),
    ("kip_320", "declared", LARGER, FOLLOW, "holds", 5973),
    ("kip_320", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_320", "next", SMALL, LEARN, "holds", 277),
    ("kip_320", "next", SMALL, FOLLOW, "holds", 277),
    ("kip_320", "next", SMALL, SETTLE, "violated", 6),
    ("kip_320", "none", SMALL, LEARN, "violated", 4),
    ("kip_320", "none", SMALL, FOLLOW, "violated", 4),
    ("kip_320", "none", SMALL, SETTLE, "violated", 9),
    ("kip_320_first_try", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_320_first_try", "declared", LARGER, LEARN, "holds", 8429),
    ("kip_320_first_try", "declared", LARGER, FOLLOW, "holds", 8429),
    ("kip_279", "declared", LARGER, LEARN, "holds", 9027),
    ("kip_279", "declared", LARGER, FOLLOW, "holds", 9027),
    ("kip_279", "declared", LARGER, SETTLE, "violated", 8),
    ("kip_101", "declared", LARGER, LEARN, "holds", 9045),
    ("kip_101", "declared", LARGER, FOLLOW, "violated", 13),
    ("kip_101", "declared", LARGER, SETTLE, "violated", 9),
    ("kip_101", "next", SMALL, LEARN, "holds", 341),
    ("kip_101", "next", SMALL, FOLLOW, "violated", 8),
    ("kip_101", "next", SMALL, SETTLE, "violated", 8),
    ("truncate_to_high_watermark", "declared", LARGER, LEARN, "holds", 10131),
    ("truncate_to_high_watermark", "declared", LARGER, FOLLOW, "holds", 10131),
    ("truncate_to_high_watermark", "declared", LARGER, SETTLE, "violated", 7),
]


@pytest.mark.parametrize(
    ("name", "fairness", "constants", "claim", "verdict", "figure"),
    [
        pytest.param(*run, marks=() if run[0] == "kip_320" else pytest.mark.slow, id="-".join(ids))
        for run in RUNS
        if (ids := [run[0], run[1], run[3]])
    ],
)
def test_as_tlc(name, fairness, constants, claim, verdict, figure):
    model = bind(f"kafka.{name}", **constants)
    result = check_property(model, claim, fairness=fairness, progress=False)
    assert result.verdict == verdict
    if verdict == "holds":
        assert result.distinct == figure
    else:
        assert result.loop_from <= figure


def test_a_fairness_of_what_is_no_action():
    """KIP-320's first try asks for the fairness of an action that it has replaced."""
    model = bind("kafka.kip_320_first_try", **SMALL)
    own = {each.name for each in model.spec.actions}
    assert [each.name for each in model.spec.fairness if each.name not in own] == [
        "leader_expand_isr"
    ]
    assert check_property(model, LEARN, progress=False).verdict == "holds"


@pytest.mark.slow
def test_what_stops_a_replica_from_following():
    """KIP-101's truncation offset may lie beyond the follower's end, and then it waits for ever."""
    model = bind("kafka.kip_101", **LARGER)
    result = check_property(model, FOLLOW, progress=False)
    standing = {each.condition.fairness.name: each.text for each in result.why_fair}
    assert result.stutters
    assert standing["become_follower_truncate_kip_101"] == (
        "some become_follower_truncate_kip_101 is never possible in the loop"
    )
