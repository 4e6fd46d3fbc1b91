"""Why not: the values behind refusals and broken properties, and the path through an action."""

import linecache
import random
import re
from pathlib import Path
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import (
    NONE,
    TAKEN,
    Bag,
    Bool,
    Int8,
    Limits,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Spec,
    Struct,
    Subset,
    add,
    append,
    choice,
    contains,
    is_in,
    is_subset,
    members,
    only,
    size,
    smallest,
    with_node,
)
from protocol_lab.catalog import load, spec_names
from protocol_lab.explain import explanation
from protocol_lab.explain.code_path import code_path
from protocol_lab.explain.explanation import (
    Clause,
    Explanation,
    failure,
    frame_of,
    refusal,
    why_broken,
    why_refused,
    why_step_broken,
)
from protocol_lab.explain.interpreter import CannotFollow, Run
from protocol_lab.model.node_sets import Nodes
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import attempt, attempts, evaluate, initial
from protocol_lab.traces.scenarios import parse_scenario, play, read_scenario, scenarios_of

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


def a_not(s: State, c: Constants, a: Replica, b: Replica):
    if not is_longer(s, a, b):
        return "no"
    return TAKEN


def an_and(s: State, c: Constants, a: Replica, b: Replica):
    if not (s.log[a].end == s.log[b].end and s.mode == 0 and s.leader == a):
        return "no"
    return TAKEN


def both_of_an_and(s: State, c: Constants, a: Replica, b: Replica):
    if s.log[a].end < s.log[b].end and s.stopped is False:
        return "no"
    return TAKEN


def an_or(s: State, c: Constants, a: Replica, b: Replica):
    if s.leader == NONE or s.log[a].end > 9:
        return "no"
    return TAKEN


def both_of_an_or(s: State, c: Constants, a: Replica, b: Replica):
    if not (s.leader == b or contains(s.isr, b)):
        return "no"
    return TAKEN


def chained(s: State, c: Constants, a: Replica, b: Replica):
    if not 0 <= s.log[a].end < c.most - 1 < s.log[b].epoch + 9:
        return "no"
    return TAKEN


def all_of_them(s: State, c: Constants, a: Replica, b: Replica):
    if not all(is_longer(s, each, b) or s.log[each].epoch == 1 for each in members(s.isr)):
        return "no"
    return TAKEN


def any_of_them(s: State, c: Constants, a: Replica, b: Replica):
    if any(s.log[each].epoch == 2 for each in members(s.isr)):
        return "no"
    return TAKEN


def none_of_them(s: State, c: Constants, a: Replica, b: Replica):
    if not any(s.log[each].epoch > c.most for each in members(s.isr)):
        return "no"
    return TAKEN


def none_of_none(s: State, c: Constants, a: Replica, b: Replica):
    if not any(s.log[each].epoch > c.most for each in members(s.empty)):
        return "no"
    return TAKEN


def a_nested_predicate(s: State, c: Constants, a: Replica, b: Replica):
    if not reaches(s.log[a], s.log[b].end + 1):
        return "no"
    return TAKEN


def an_early_return(s: State, c: Constants, a: Replica, b: Replica):
    if not agrees(s, a, b):
        return "no"
    return TAKEN


def agreeing(s: State, c: Constants, a: Replica, b: Replica):
    if agrees(s, a, a):
        return "no"
    return TAKEN


def a_loop_in_a_predicate(s: State, c: Constants, a: Replica, b: Replica):
    if has_epoch_in_isr(s, 2):
        return "no"
    return TAKEN


def a_loop_that_finds_nothing(s: State, c: Constants, a: Replica, b: Replica):
    if not has_epoch_in_isr(s, 5):
        return "no"
    return TAKEN


def a_guard_in_a_loop(s: State, c: Constants, a: Replica, b: Replica):
    for each in members(s.isr):
        mine = s.log[each]
        if mine.epoch > s.log[a].epoch:
            return "no"
    return TAKEN


def an_alias(s: State, c: Constants, a: Replica, b: Replica):
    mine, theirs = s.log[a], s.log[b]
    end: int = mine.end
    if end < theirs.end:
        return "no"
    return TAKEN


def a_computed_value(s: State, c: Constants, a: Replica, b: Replica):
    if distance(s, a, b) < total(s, c):
        return "no"
    return TAKEN


def a_fall_through(s: State, c: Constants, a: Replica, b: Replica):
    if s.leader == b:
        return TAKEN
    return "no"


def an_expression(s: State, c: Constants, a: Replica, b: Replica):
    return "no" if s.mode == 1 else TAKEN


def an_else(s: State, c: Constants, a: Replica, b: Replica):
    if s.stopped:
        return TAKEN
    elif c.rule != 0:
        return "no"
    return TAKEN


def helpers_of_sets(s: State, c: Constants, a: Replica, b: Replica):
    if is_subset(s.isr, only(a)) or (size(s.isr) >= c.most and b != smallest(s.isr)):
        return "no"
    return TAKEN


def helpers_of_bags(s: State, c: Constants, a: Replica, b: Replica):
    if is_in(s.numbers, 4):
        return "no"
    return TAKEN


def a_record(s: State, c: Constants, a: Replica, b: Replica):
    if s.records.items[0] != Record(id=1):
        return "no"
    return TAKEN


def the_same_name_twice(s: State, c: Constants, replica: Replica):
    if s.log[replica].end > 9 or not with_own_loop(s):
        return "no"
    return TAKEN


def a_subset(s: State, c: Constants, chosen: Subset(Replica)):
    if chosen != s.isr:
        return "no"
    return TAKEN


def counted(s: State, c: Constants, a: Replica, b: Replica):
    k = 0
    while k < s.log[b].end:
        k += 1
    if k > 1:
        return "no"
    return TAKEN


def why_not_lead(s, replica) -> str:
    return "no" if s.leader == replica else TAKEN


def why_not_follow(s, replica, other) -> str:
    if s.log[replica].end < s.log[other].end:
        return "no"
    return TAKEN


def shared_guards(s: State, c: Constants, a: Replica, b: Replica):
    reason = why_not_lead(s, a)
    if reason:
        return reason
    reason = why_not_follow(s, a, b)
    if reason:
        return reason
    return TAKEN


def one_shared_guard(s: State, c: Constants, a: Replica, b: Replica):
    reason = why_not_lead(s, b)
    if reason:
        return reason
    return "no" if s.mode == 1 else TAKEN


def filled(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    for each in range(1, 4):
        parcel.ends[each] = s.log[each].end
    if parcel.ends[a] < parcel.ends[b]:
        return "no"
    return TAKEN


def filled_and_compared_whole(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    parcel.ends[a] += s.log[b].end
    parcel.log.epoch = 1
    if parcel == Parcel(to=2, ends=[2], log=Log(epoch=1)) and parcel.ends == [2, 0, 0]:
        return "no"
    return TAKEN


def fill(parcel, s) -> int:
    for each in range(1, 4):
        parcel.ends[each] = s.log[each].end
    return parcel.ends[1]


def filled_by_a_function(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    first = fill(parcel, s)
    if first < parcel.ends[b] and parcel.to == b:
        return "no"
    return TAKEN


def filled_by_a_second_name(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    same, ends = parcel, parcel.ends
    ends[a] = s.log[a].end
    same.log = s.log[b]
    if ends[a] < same.log.end:
        return "no"
    return TAKEN


def read_before_it_is_filled(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    before = parcel.ends[b]
    parcel.ends[b] = 7
    if before < s.log[b].end:
        return "no"
    return TAKEN


def checked_before_it_is_filled(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b)
    parcel.ends[a] = s.log[a].end
    if parcel.ends[a] == 2:
        return TAKEN
    if parcel.ends[a] == 1:
        parcel.ends[a] = 2
        return "no"
    return TAKEN


def a_list(s: State, c: Constants, a: Replica, b: Replica):
    ends = [0] * 2
    ends[0] = s.log[b].end
    if ends[0] > s.log[a].end:
        return "no"
    return TAKEN


def not_filled(s: State, c: Constants, a: Replica, b: Replica):
    parcel = Parcel(to=b, log=s.log[a])
    if parcel not in s.parcels:
        return "no"
    return TAKEN


AB = {"a": 1, "b": 2}

EXPECTED = {
    shared_guards: "log[a].end = 1, log[b].end = 2",
    one_shared_guard: "mode = busy",
    a_not: "log[a].end = 1, log[b].end = 2",
    an_and: "log[a].end = 1, log[b].end = 2",
    both_of_an_and: "log[a].end = 1, log[b].end = 2, stopped = no",
    an_or: "leader = none",
    both_of_an_or: "leader = none, b = 2, isr = {1, 3}",
    chained: "log[a].end = 1, most = 2",
    all_of_them: "each = 3: log[each].end = 2, log[b].end = 2, log[each].epoch = 2, isr = {1, 3}",
    any_of_them: "each = 3: log[each].epoch = 2, isr = {1, 3}",
    none_of_them: "each = 1 · 3: log[each].epoch = 1 · 2, most = 2",
    none_of_none: "empty = {}",
    a_nested_predicate: "log[b].end = 2, log[a].end = 1",
    an_early_return: "log[a].end = 1, log[b].end = 2",
    agreeing: "log[a].end = 1, log[a].epoch = 1",
    a_loop_in_a_predicate: "each = 3: log[each].epoch = 2, isr = {1, 3}",
    a_loop_that_finds_nothing: "each = 1 · 3: log[each].epoch = 1 · 2",
    a_guard_in_a_loop: "each = 3: log[each].epoch = 2, log[a].epoch = 1, isr = {1, 3}",
    an_alias: "log[a].end = 1, log[b].end = 2",
    a_computed_value: "log[a].end = 1, log[b].end = 2, total = 5",
    a_fall_through: "leader = none, b = 2",
    an_expression: "mode = busy",
    an_else: "rule = lax, stopped = no",
    helpers_of_sets: "isr = {1, 3}, most = 2, b = 2",
    helpers_of_bags: "numbers = [4]",
    a_record: "records.items[0] = (id 7, dest 2)",
    counted: "k = 2",
    filled: "parcel.ends[a] = 1, parcel.ends[b] = 2",
    filled_and_compared_whole: "parcel = (to 2, ends [2, 0, 0], log (end 0, epoch 1)), "
    "parcel.ends = [2, 0, 0]",
    filled_by_a_function: "first = 1, parcel.ends[b] = 2, parcel.to = 2",
    filled_by_a_second_name: "ends[a] = 1, same.log.end = 2",
    read_before_it_is_filled: "before = 0, log[b].end = 2",
    checked_before_it_is_filled: "",
    a_list: "ends[0] = 2, log[a].end = 1",
    not_filled: "b = 2, log[a] = (end 1, epoch 1), parcels = empty",
}


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


@pytest.mark.parametrize("function", EXPECTED, ids=lambda each: each.__name__)
def test_shapes_of_guards(function):
    assert str(explained(function)) == EXPECTED[function]


def test_a_loop_variable_is_not_mistaken_for_a_parameter_of_its_name():
    """`replica` is the action's parameter 2; the loop stopped at another replica, 1."""
    found = explained(the_same_name_twice, {"replica": 2})
    assert str(found) == "log[1].end = 1, isr = {1, 3}"


def test_a_chosen_subset():
    assert str(explained(a_subset, {"chosen": Nodes(0b110)})) == "chosen = {1, 2}, isr = {1, 3}"


def test_parts_of_an_explanation():
    found = explained(all_of_them)
    assert found.where == (Clause("each", "3"),)
    assert found.clauses[0] == Clause("log[each].end", "2")
    assert found
    assert not Explanation()
    assert str(Explanation()) == ""


# --- Functions without a source, from a cell, and redefined --------------------------------------


def defined_in_a_cell(text: str, name: str):
    """The function that such a notebook cell defines."""
    file = f"<cell {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope = {"TAKEN": TAKEN, "State": State, "Constants": Constants, "Replica": Replica}
    scope["__name__"] = "__main__"
    exec(compile(text, file, "exec"), scope)
    return scope[name]


CELL = '''\
def predicate(s, r):
    return s.log[r].end > {}


def guarded(s: State, c: Constants, a: Replica, b: Replica):
    """Written in a cell."""
    if not predicate(s, a):
        return "no"
    s.stopped = True
    return TAKEN
'''


def test_a_function_of_a_cell_and_a_new_version_of_it():
    for bound in (3, 4):
        guarded = defined_in_a_cell(CELL.format(bound), "guarded")
        assert str(explained(guarded)) == "log[a].end = 1"
    path = path_of(defined_in_a_cell(CELL.format(0), "guarded"))
    assert [(each.number, each.state) for each in path.lines] == [
        (5, ""), (6, ""), (7, "ran"), (8, "skipped"), (9, "ran"), (10, "returned")
    ]  # fmt: skip
    assert path.reason == TAKEN


def without_source(text: str, name: str):
    scope = {"TAKEN": TAKEN, "State": State, "Constants": Constants, "Replica": Replica}
    exec(text, scope)
    return scope[name]


def test_no_source():
    guarded = without_source(CELL.format(3), "guarded")
    model = model_of(guarded)
    row, action = next(initial(model)).row, model.spec.actions[0]
    assert why_refused(model, row, attempt(model, row, action, AB)) == Explanation()
    path = path_of(guarded)
    assert path.lines == ()
    assert path.notice == (
        "The source of guarded can't be read; define it in a file or a notebook cell."
    )


def test_a_predicate_without_source_is_shown_as_it_is_called():
    predicate = without_source(CELL.format(3), "predicate")

    def action(s: State, c: Constants, a: Replica, b: Replica):
        if not predicate(s, a):
            return "no"
        return TAKEN

    assert str(explained(action)) == "predicate(a) = no"


def test_a_statement_that_is_not_followed():
    def action(s: State, c: Constants, a: Replica, b: Replica):
        try:
            return "no"
        finally:
            pass

    with pytest.raises(CannotFollow):
        explained(action)
    path = path_of(action)
    assert path.notice == "The path through action can't be shown."
    assert {each.state for each in path.lines} == {""}


# --- The path through an action ------------------------------------------------------------------


def path_of(function, args=AB):
    model = model_of(function)
    return code_path(model, next(initial(model)).row, model.spec.actions[0], args)


def test_the_path_of_what_fills_a_record():
    path = path_of(filled)
    assert (path.reason, path.notice) == ("no", "")


def test_lines_of_a_refusal():
    path = path_of(an_else)
    assert [(each.text.strip(), each.state) for each in path.lines] == [
        ("def an_else(s: State, c: Constants, a: Replica, b: Replica):", ""),
        ("if s.stopped:", "ran"),
        ("return TAKEN", "skipped"),
        ("elif c.rule != 0:", "ran"),
        ('return "no"', "returned"),
        ("return TAKEN", "skipped"),
    ]
    assert path.reason == "no"
    assert path.notice == ""
    assert path.lines[0].number == an_else.__code__.co_firstlineno


def test_a_test_and_its_return_on_one_line():
    text = CELL.replace(':\n        return "no"', ': return "no"')
    taken = path_of(defined_in_a_cell(text.format(0), "guarded"))
    refused = path_of(defined_in_a_cell(text.format(3), "guarded"))
    assert [each.state for each in taken.lines] == ["", "", "ran", "ran", "returned"]
    assert [each.state for each in refused.lines] == ["", "", "returned", "skipped", "skipped"]


def test_a_step_that_does_not_fit_ends_where_it_did_not():
    def action(s: State, c: Constants, a: Replica, b: Replica):
        s.log[a].end = 1000
        return TAKEN

    path = path_of(action)
    assert [each.state for each in path.lines] == ["", "returned", "skipped"]
    assert path.reason.startswith("state.log[1].end would be 1000")


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


def test_refusals_of_the_talk():
    walk = walked(
        "kafka.unclean_leader_election",
        "produce_message(replica=1, producer=1)",
        "become_follower(replica=2)",
    )
    expected = {
        "produce_message(replica=1, producer=1)": "producer = 1, inflight_producers = {1}",
        "unclean_leader_election_choose_latest_offset(replica=2)": "zk_state.leader = 1",
        "elect_new_leader(replica=2)": "zk_state.leader = 1",
        "become_in_sync(replica=2)": "replica = 2, zk_state.isrs = {1, 2, 3}",
        "replicate(replica=1, entries=1)": "zk_state.leader = 1",
    }
    assert {step: why_not(walk, step) for step in expected} == expected


def test_refusals_of_async_isr():
    walk = walked(
        "kafka.async_isr",
        "leader_request_shrink_isr(replica=3)",
        "controller_shrink_isr(replica=2)",
    )
    expected = {
        "controller_handle_request(message=Message(version=0))": (
            "message.version = 0, controller_state.version = 1"
        ),
        "follower_replicate(replica=2)": (
            "leader_state.offsets[replica] = 0, leader_state.offsets[leader] = 0"
        ),
        "controller_shrink_isr(replica=2)": "replica = 2, controller_state.isr = {1, 3}",
    }
    assert {step: why_not(walk, step) for step in expected} == expected


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
    model = model_of(a_not)
    row = next(initial(model)).row
    tried = attempt(model, row, model.spec.actions[0], AB)
    assert why_refused(model, row, tried) == Explanation()
