"""Why not: the values behind refusals and broken properties, and the path through an action."""

import random
import re
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest

import protocol_lab
from protocol_lab import *
from protocol_lab.catalog import load, spec_names
from protocol_lab.explain import explanation
from protocol_lab.explain.code_path import code_path
from protocol_lab.explain.explanation import (
    Explanation,
    failure,
    frame_of,
    refusal,
    why_broken,
    why_refused,
    why_step_broken,
)
from protocol_lab.explain.interpreter import Run
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import attempt, attempts, evaluate, initial
from protocol_lab.traces.scenario_format import parse_scenario
from protocol_lab.traces.scenarios import play, read_scenario, scenarios_of

# --- A small state, and guards of every shape over it ------------------------------------------


class Constants(NamedTuple):
    replicas: Annotated[int, Limits(1, 3, "servers")] = 3
    most: Annotated[int, Limits(0, 9, "a bound")] = 2
    rule: Annotated[int, choice("strict", "lax", meaning="how strict")] = 1


Replica = Node("replicas")


class Log(Struct):
    end: Int8
    epoch: Int8


class Record(Struct):
    id: Int8
    dest: Replica


class Parcel(Struct):
    to: Replica
    ends: Per(Replica, Int8)
    log: Log


class State(Struct):
    leader: Replica
    mode: Named("idle", "busy")
    stopped: Bool
    isr: NodeSet(Replica)
    empty: NodeSet(Replica)
    log: Per(Replica, Log)
    records: Seq(Record, 4)
    numbers: Bag(Int8, 4)
    parcels: Bag(Parcel, 4)


def start(s: State, c: Constants):
    """Logs end at 1, 2 and 2, in the epochs 1, 1 and 2; the ISR is {1, 3}, and nobody leads."""
    for replica in range(1, 4):
        s.log[replica].end = min(replica, 2)
        s.log[replica].epoch = max(1, replica - 1)
    s.isr = with_node(only(1), 3)
    s.mode = 1
    add(s.numbers, 4)
    append(s.records, Record(id=7, dest=2))
    return TAKEN


def is_longer(s, one, other) -> bool:
    return s.log[one].end > s.log[other].end


def reaches(log, offset) -> bool:
    return offset < log.end


def agrees(s, one, other) -> bool:
    if is_longer(s, one, other):
        return False
    if s.log[one].epoch != s.log[other].epoch:
        return False
    return s.log[one].end == s.log[other].end


def has_epoch_in_isr(s, epoch) -> bool:
    for each in members(s.isr):
        if s.log[each].epoch == epoch:
            return True
    return False


def distance(s, one, other) -> int:
    return s.log[one].end - s.log[other].end


def total(s, c) -> int:
    found = 0
    for each in range(1, c.replicas + 1):
        found += s.log[each].end
    return found


def with_own_loop(s) -> bool:
    return all(s.log[replica].end > 1 for replica in members(s.isr))


def why_not_lead(s, replica) -> str:
    return "no" if s.leader == replica else TAKEN


def why_not_follow(s, replica, other) -> str:
    if s.log[replica].end < s.log[other].end:
        return "no"
    return TAKEN


def fill(parcel, s) -> int:
    for each in range(1, 4):
        parcel.ends[each] = s.log[each].end
    return parcel.ends[1]


CONDITIONS = [
    ("not is_longer(s, a, b)", "log[a].end = 1, log[b].end = 2"),
    (
        "not (s.log[a].end == s.log[b].end and s.mode == 0 and s.leader == a)",
        "log[a].end = 1, log[b].end = 2",
    ),
    (
        "s.log[a].end < s.log[b].end and s.stopped is False",
        "log[a].end = 1, log[b].end = 2, stopped = no",
    ),
    ("s.leader == NONE or s.log[a].end > 9", "leader = none"),
    ("not (s.leader == b or contains(s.isr, b))", "leader = none, b = 2, isr = {1, 3}"),
    ("not 0 <= s.log[a].end < c.most - 1 < s.log[b].epoch + 9", "log[a].end = 1, most = 2"),
    (
        "not all(is_longer(s, each, b) or s.log[each].epoch == 1 for each in members(s.isr))",
        "each = 3: log[each].end = 2, log[b].end = 2, log[each].epoch = 2, isr = {1, 3}",
    ),
    (
        "any(s.log[each].epoch == 2 for each in members(s.isr))",
        "each = 3: log[each].epoch = 2, isr = {1, 3}",
    ),
    (
        "not any(s.log[each].epoch > c.most for each in members(s.isr))",
        "each = 1 · 3: log[each].epoch = 1 · 2, most = 2",
    ),
    ("not any(s.log[each].epoch > c.most for each in members(s.empty))", "empty = {}"),
    ("not reaches(s.log[a], s.log[b].end + 1)", "log[b].end = 2, log[a].end = 1"),
    ("not agrees(s, a, b)", "log[a].end = 1, log[b].end = 2"),
    ("agrees(s, a, a)", "log[a].end = 1, log[a].epoch = 1"),
    ("has_epoch_in_isr(s, 2)", "each = 3: log[each].epoch = 2, isr = {1, 3}"),
    ("not has_epoch_in_isr(s, 5)", "each = 1 · 3: log[each].epoch = 1 · 2"),
    ("distance(s, a, b) < total(s, c)", "log[a].end = 1, log[b].end = 2, total = 5"),
    (
        "is_subset(s.isr, only(a)) or (size(s.isr) >= c.most and b != smallest(s.isr))",
        "isr = {1, 3}, most = 2, b = 2",
    ),
    ("is_in(s.numbers, 4)", "numbers = [4]"),
    ("s.records.items[0] != Record(id=1)", "records.items[0] = (id 7, dest 2)"),
]
"""Conditions on which an action of the servers a = 1 and b = 2 refuses, and what decides."""

BODIES = [
    (
        "for each in members(s.isr):\n    mine = s.log[each]\n    if mine.epoch > "
        's.log[a].epoch:\n        return "no"',
        "each = 3: log[each].epoch = 2, log[a].epoch = 1, isr = {1, 3}",
    ),
    (
        "mine, theirs = s.log[a], s.log[b]\nend: int = mine.end\nif end < theirs.end:\n    "
        'return "no"',
        "log[a].end = 1, log[b].end = 2",
    ),
    ('if s.leader == b:\n    return TAKEN\nreturn "no"', "leader = none, b = 2"),
    ('return "no" if s.mode == 1 else TAKEN', "mode = busy"),
    (
        'if s.stopped:\n    return TAKEN\nelif c.rule != 0:\n    return "no"',
        "rule = lax, stopped = no",
    ),
    ('k = 0\nwhile k < s.log[b].end:\n    k += 1\nif k > 1:\n    return "no"', "k = 2"),
    (
        "reason = why_not_lead(s, a)\nif reason:\n    return reason\nreason = "
        "why_not_follow(s, a, b)\nif reason:\n    return reason",
        "log[a].end = 1, log[b].end = 2",
    ),
    (
        'reason = why_not_lead(s, b)\nif reason:\n    return reason\nreturn "no" if s.mode '
        "== 1 else TAKEN",
        "mode = busy",
    ),
    (
        "parcel = Parcel(to=b)\nfor each in range(1, 4):\n    parcel.ends[each] = "
        's.log[each].end\nif parcel.ends[a] < parcel.ends[b]:\n    return "no"',
        "parcel.ends[a] = 1, parcel.ends[b] = 2",
    ),
    (
        "parcel = Parcel(to=b)\nparcel.ends[a] += s.log[b].end\nparcel.log.epoch = 1\nif "
        "parcel == Parcel(to=2, ends=[2], log=Log(epoch=1)) and parcel.ends == [2, 0, 0]:\n"
        '    return "no"',
        "parcel = (to 2, ends [2, 0, 0], log (end 0, epoch 1)), parcel.ends = [2, 0, 0]",
    ),
    (
        "parcel = Parcel(to=b)\nfirst = fill(parcel, s)\nif first < parcel.ends[b] and "
        'parcel.to == b:\n    return "no"',
        "first = 1, parcel.ends[b] = 2, parcel.to = 2",
    ),
    (
        "parcel = Parcel(to=b)\nsame, ends = parcel, parcel.ends\nends[a] = s.log[a].end\n"
        'same.log = s.log[b]\nif ends[a] < same.log.end:\n    return "no"',
        "ends[a] = 1, same.log.end = 2",
    ),
    (
        "parcel = Parcel(to=b)\nbefore = parcel.ends[b]\nparcel.ends[b] = 7\nif before < "
        's.log[b].end:\n    return "no"',
        "before = 0, log[b].end = 2",
    ),
    (
        "parcel = Parcel(to=b)\nparcel.ends[a] = s.log[a].end\nif parcel.ends[a] == 2:\n   "
        ' return TAKEN\nif parcel.ends[a] == 1:\n    parcel.ends[a] = 2\n    return "no"',
        "",
    ),
    (
        'ends = [0] * 2\nends[0] = s.log[b].end\nif ends[0] > s.log[a].end:\n    return "no"',
        "ends[0] = 2, log[a].end = 1",
    ),
    (
        'parcel = Parcel(to=b, log=s.log[a])\nif parcel not in s.parcels:\n    return "no"',
        "b = 2, log[a] = (end 1, epoch 1), parcels = empty",
    ),
]
"""The same for whole actions."""

AB = {"a": 1, "b": 2}


def action(body: str, given: str = "a: Replica, b: Replica"):
    """An action with this body."""
    lines = "".join(f"    {line}\n" for line in f"{body}\nreturn TAKEN".splitlines())
    text = f"def act(s: State, c: Constants, {given}):\n{lines}"
    scope = dict(vars(protocol_lab)) | globals()
    exec(text, scope)
    scope["act"].lab_source = text
    return scope["act"]


def model_of(function):
    """A model with this one action."""
    spec = Spec("toy.guards", State, Constants)
    spec.init(start)
    spec.action(function)
    return spec.bind()


def explained(function, args=AB) -> Explanation:
    model = model_of(function)
    row = next(initial(model)).row
    tried = attempt(model, row, model.spec.actions[0], args)
    assert tried.reason == "no"
    return refusal(model, row, tried)


GUARDS = [(f'if {asked}:\n    return "no"', expected) for asked, expected in CONDITIONS] + BODIES


@pytest.mark.parametrize(("body", "expected"), GUARDS)
def test_shapes_of_guards(body, expected):
    assert str(explained(action(body))) == expected


def test_a_loop_variable_is_not_mistaken_for_a_parameter_of_its_name():
    """`replica` is the action's parameter 2; the loop stopped at another replica, 1."""
    body = 'if s.log[replica].end > 9 or not with_own_loop(s):\n    return "no"'
    found = explained(action(body, "replica: Replica"), {"replica": 2})
    assert str(found) == "log[1].end = 1, isr = {1, 3}"


def test_a_function_without_a_source_has_no_explanation():
    scope = dict(globals())
    exec("def act(s: State, c: Constants, a: Replica):\n    return 'no'", scope)
    model = model_of(scope["act"])
    row, act = next(initial(model)).row, model.spec.actions[0]
    assert why_refused(model, row, attempt(model, row, act, {"a": 1})) == Explanation()
    notice = code_path(model, row, act, {"a": 1}).notice
    assert notice == "The source of act can't be read; define it in a file or a notebook cell."


# --- The specs -----------------------------------------------------------------------------------


def refusals(model, walks: int, steps: int, seed: int = 1):
    """(row, attempt) of random walks, taken ones as well."""
    chosen = random.Random(seed)
    for _ in range(walks):
        row = chosen.choice([each.row for each in initial(model)])
        for _ in range(steps):
            tried = list(attempts(model, row))
            yield from ((row, each) for each in tried)
            ahead = [each for each in tried if each.taken]
            if not ahead:
                break
            row = chosen.choice(ahead).row


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_every_refusal_of_every_spec_is_explained(name):
    """The traced run returns what the function returns, and no explanation is empty."""
    model = load(name).bind()
    reasons = set()
    for row, tried in refusals(model, walks=3, steps=12):
        if tried.over_capacity:
            continue
        kept, after = bytes(row), bytearray(row)
        run = Run(frame_of(tried.action.function, model, after, tried.args)).follow()
        assert run.value == tried.reason
        if tried.taken:
            assert bytes(after) == tried.row
            assert not why_refused(model, row, tried)
            continue
        assert bytes(after) == row
        found = refusal(model, row, tried)
        assert found.clauses, (tried.action.name, tried.reason)
        assert found == why_refused(model, row, tried)
        assert len(found.clauses) <= 7
        assert all(each.text and len(each.value) <= 60 for each in found.clauses)
        assert row == kept
        reasons.add((tried.action.name, tried.reason))
    assert reasons


@pytest.mark.parametrize("name", spec_names())
def test_the_path_of_every_action_ends_in_its_return(name):
    model = load(name).bind()
    seen = set()
    for row, tried in refusals(model, walks=2, steps=8):
        if (tried.action.name, tried.reason) in seen or tried.over_capacity:
            continue
        seen.add((tried.action.name, tried.reason))
        path = code_path(model, row, tried.action, tried.args)
        returned = [each.text for each in path.lines if each.state == "returned"]
        assert path.reason == tried.reason
        assert path.notice == ""
        assert returned
        said = " ".join(returned).strip()
        hands_on = re.match(r"return (reason$|reason if |[a-z_]+\()", said)
        assert hands_on or (tried.reason or "TAKEN") in said


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_every_property_that_fails_can_be_explained(name):
    model = load(name).bind()
    for row in {row for row, _ in refusals(model, walks=3, steps=12, seed=2)}:
        for each in model.spec.invariants:
            reason = evaluate(model, row, each.function)
            found = failure(model, [view(model.layout, row)], each.function)
            assert bool(found) == bool(reason), each.name
        for each in model.spec.constraints:
            failure(model, [view(model.layout, row)], each.function)


def played(name: str):
    path = next(each for each in scenarios_of("kafka") if each.stem == name)
    return play(read_scenario(Path(path)))


@pytest.mark.parametrize(
    ("scenario", "step", "expected"),
    [
        (
            "talk_46_56_found_scenario",
            "unstable_replica_dies_when_leader()",
            "replica_states[unstable_replica].is_shutdown = yes",
        ),
        (
            "talk_46_56_found_scenario",
            "elect_eligible_leader_replica(replica=2)",
            "election_rule = latest_offset",
        ),
        (
            "kip_279_weak_isr",
            "controller_elect_leader(new_leader=1)",
            "next_leader_epoch = 3, max_leader_epoch = 2",
        ),
    ],
)
def test_refusals_at_the_end_of_scenarios(scenario, step, expected):
    walk = played(scenario)
    tried = find_step(walk.model, walk.row, step)
    assert str(why_refused(walk.model, walk.row, tried)) == expected


def walked(spec: str, *steps: str):
    return play(parse_scenario("\n".join([f"# spec: {spec}", *steps])))


def why_not(walk, step: str) -> str:
    return str(why_refused(walk.model, walk.row, find_step(walk.model, walk.row, step)))


def test_refusals_of_kip_320():
    walk = walked(
        "kafka.kip_320",
        "controller_elect_leader(new_leader=1)",
        "become_leader(request=LeaderAndIsrRequest(leader_epoch=0))",
        "leader_write(replica=1)",
        "fenced_become_follower_and_truncate("
        "follower=2, request=LeaderAndIsrRequest(leader_epoch=0))",
    )
    expected = {
        "fenced_follower_fetch(follower=3, leader=1)": (
            "replica_state[follower].leader = none, leader = 1"
        ),
        "fenced_leader_inc_high_watermark(leader=1)": (
            "follower = 2: replica_state[leader].hw = 0, replica_log[follower].end_offset = 0,"
            " replica_state[leader].isr = {1, 2, 3}"
        ),
        "fenced_leader_expand_isr(leader=1, follower=2)": (
            "follower = 2, replica_state[leader].isr = {1, 2, 3}"
        ),
        "fenced_leader_shrink_isr(leader=1, follower=1)": "leader = 1, follower = 1",
        "controller_elect_leader(new_leader=1)": "quorum_state.leader = 1",
    }
    assert {step: why_not(walk, step) for step in expected} == expected
    walk.take("controller_elect_leader(new_leader=2)")
    walk.take("become_leader(request=LeaderAndIsrRequest(leader_epoch=1))")
    walk.take(
        "fenced_become_follower_and_truncate("
        "follower=1, request=LeaderAndIsrRequest(leader_epoch=1))"
    )
    walk.take("controller_elect_leader(new_leader=3)")
    assert why_not(walk, "controller_elect_leader(new_leader=2)") == (
        "next_leader_epoch = 3, max_leader_epoch = 2"
    )


LOST = (
    "leader = 1, replica = {}, offset = 0: replica_log[replica].end_offset = 0,"
    " replica_state[leader].hw = 1, replica_state[leader].leader = 1, {} = {{1, {}}}"
)


@pytest.mark.parametrize(
    ("scenario", "name", "expected"),
    [
        ("kip_101_weak_isr", "weak_isr", LOST.format(3, "replica_state[leader].isr", 3)),
        ("kip_101_weak_isr", "strong_isr", LOST.format(3, "quorum_state.isr", 3)),
        (
            "truncate_to_high_watermark_weak_isr",
            "weak_isr",
            LOST.format(2, "replica_state[leader].isr", 2),
        ),
        (
            "talk_46_56_found_scenario",
            "committed_messages_never_lost",
            "common_prefix(committed_messages, replica_states[zk_state.leader].local_log) = 1,"
            " len(committed_messages) = 2, zk_state.leader = 2",
        ),
        (
            "kip_320_isr_emptied",
            "leader_in_isr",
            "quorum_state.leader = none, quorum_state.isr = {}",
        ),
    ],
)
def test_broken_invariants(scenario, name, expected):
    walk = played(scenario)
    broken = next(each for each in walk.model.spec.invariants if each.name == name)
    assert str(why_broken(walk.model, walk.row, broken)) == expected


def test_a_broken_step_invariant():
    model = load("kafka.async_isr").bind()
    row = next(initial(model)).row
    higher = row
    for step in (
        "leader_write()",
        "follower_replicate(replica=2)",
        "follower_replicate(replica=3)",
    ):
        higher = find_step(model, higher, step).row
    broken = model.spec.step_invariants[0]
    assert str(why_step_broken(model, higher, row, broken)) == (
        "high_watermark(after) = 0, high_watermark(before) = 1"
    )
    assert why_step_broken(model, row, higher, broken) == Explanation()


def test_an_explanation_is_an_extra(monkeypatch):
    """Where the explainer itself gives up, the reason has to do."""
    monkeypatch.setattr(explanation, "refusal", lambda *_: 1 // 0)
    model = model_of(action(GUARDS[0][0]))
    row = next(initial(model)).row
    tried = attempt(model, row, model.spec.actions[0], AB)
    assert why_refused(model, row, tried) == Explanation()
