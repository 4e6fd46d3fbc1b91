"""Guards that do not look at the last parameters are asked once for all values of these."""

from collections import Counter
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.explain.coverage import coverage
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.transitions import (
    attempt,
    attempts,
    choices,
    counted_attempts,
    initial,
    needed_attempts,
)
from protocol_lab.simulation.simulate import simulate
from tests.spec_checks import agree


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 20, "servers")] = 3
    top: Annotated[int, Limits(0, 99, "the last state")] = 3


Server = Node("servers")


class State(Struct):
    x: Int8
    chosen: Int8
    log: Seq(Int8, 3)
    seen: NodeSet(Server)


def spec_with(*actions) -> Spec:
    """Counts to c.top, and has these actions."""
    spec = Spec("toy.refusals", State, Constants)

    @spec.init
    def begin(s: State, c: Constants):
        return TAKEN

    @spec.action
    def up(s: State, c: Constants):
        if s.x >= c.top:
            return "the end"
        s.x += 1
        return TAKEN

    for each in actions:
        spec.action(each)
    return spec


def huge(s: State, c: Constants, server: Server, keep: Sequences(0, 3, 4), lost: Subset(Server)):
    """With 8 servers half a million choices, of which most are never tried."""
    if s.x != c.top:
        return "not yet"
    if server != 2:
        return "only the second"
    if s.chosen > 0:
        return "it was chosen"
    if keep[0] < 3 or keep[1] < 3:
        return "the first two are threes"
    for k in range(2, len(keep)):
        if keep[k] > 0:
            return "the others are zeros"
    if server in lost:
        return "it is lost"
    if len(lost) < c.servers - 1:
        return "not all others are lost"
    s.chosen = 1
    return TAKEN


@pytest.mark.parametrize("servers", [3, 8])
def test_what_cannot_be_tried_one_by_one_is_explored(servers):
    result = agree(spec_with(huge).bind(servers=servers))
    assert (result.verdict, result.distinct, result.generated) == ("holds", 5, 5)
    assert result.per_action["huge"] == 1


def tried(s: State, c: Constants, server: Server, word: Sequences(0, 2, 3), k: Range(0, 1)):
    """Has a guard of every kind."""
    if s.x < 1:
        return "nothing yet"
    if server == 1:
        return "not the first"
    mine = server + word[0]
    if mine > 3:
        return "too much"
    if len(word) == 3 and word[1] == k:
        return "equal"
    if word[2] != 0:
        return TAKEN if s.x > 1 else "early"
    s.chosen = k
    return TAKEN


def one_by_one(model: Model, row: bytes, action: Action) -> list[tuple]:
    """All choices of an action, each asked alone."""
    found = [attempt(model, row, action, args) for args in choices(model, row, action)]
    return [(each.args, each.reason, each.row) for each in found]


def test_every_choice_has_its_reason_and_steps_keep_their_order():
    model = spec_with(tried).bind()
    [start] = initial(model)
    rows = [start.row]
    for _ in range(2):
        rows.append(next(each.row for each in attempts(model, rows[-1]) if each.taken))
    action = model.action("tried")
    for row in rows:
        alone = one_by_one(model, row, action)
        listed = [(each.args, each.reason, each.row) for each in attempts(model, row, [action])]
        assert listed == alone
        assert len(listed) == 3 * 27 * 2
        counted = Counter()
        for each, count in counted_attempts(model, row, action):
            counted[each.reason] += count
        assert counted == Counter(reason for _, reason, _ in alone)
        needed = list(needed_attempts(model, row, [action]))
        assert len(needed) < len(listed)
        taken = [(args, reason, after) for args, reason, after in alone if after]
        assert [(each.args, each.reason, each.row) for each in needed if each.taken] == taken
    result = agree(model)
    assert result.verdict == "holds"
    told = next(each for each in coverage(result).actions if each.name == "tried")
    assert {*told.refused} == {"nothing yet", "not the first", "too much", "equal", "early"}


def with_bounds(
    s: State,
    c: Constants,
    at: Range(0, lambda s, c: len(s.log) - 1),
    value: Range(0, lambda s, c, at: s.log[at] // (2 - at)),
):
    """The bound of `value` has no value for the third `at`."""
    if s.x >= 0:
        return "never"
    s.chosen = value
    return TAKEN


def first_item(s: State, c: Constants, item: Member("log")):
    """The guard has no value while the log is empty; then there is no choice, so nobody asks."""
    if s.log[0] > 2:
        return "large"
    s.chosen = item
    return TAKEN


def grow(s: State, c: Constants):
    if len(s.log) >= s.x:
        return "long enough"
    append(s.log, len(s.log))
    return TAKEN


def test_what_has_no_value_ends_a_search_where_it_did_before():
    """A guard is not asked before there is a choice; bounds that differ are all looked at."""
    assert agree(spec_with(grow, first_item).bind()).verdict == "holds"
    result = agree(spec_with(grow, with_bounds).bind())
    assert result.verdict == "undecided"
    assert result.undecided_reason.startswith("division by zero")


def begins(s: State, c: Constants, graph: Sequences(0, 1, 10)):
    for k in range(1, len(graph)):
        if graph[k] != graph[k - 1]:
            return "not all alike"
    s.x = graph[0]
    return TAKEN


def test_initial_states_and_simulations_are_found_likewise():
    spec = spec_with(huge)
    spec.inits.clear()
    spec.init(begins)
    result = agree(spec.bind())
    assert result.per_action["init"] == 2
    told = simulate(spec.bind(), walks=20, steps=6, seed=1, progress=False)
    assert told.violated is None
