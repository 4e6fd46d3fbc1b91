"""Whole arrays and records: stored, compared, filled in a local record, and what is refused."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.compiler.kernels import Kernels
from protocol_lab.errors import SpecError
from protocol_lab.explore import explore
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.transitions import attempts, initial
from tests.spec_checks import agree


class Constants(NamedTuple):
    """Room for three nodes, of which there are two."""

    n: Annotated[int, Limits(1, 3, "nodes")] = 2
    stop: Annotated[int, Limits(0, 9, "where to stop")] = 9


P = Node("n")
Mode = Named("idle", "busy")


class Vote(Struct):
    """What somebody has voted for."""

    ballot: Int8
    command: Int8


class Other(Struct):
    """The same bytes as a Vote."""

    x: Int8
    y: Int8


class Message(Struct):
    """Holds arrays and dicts by node."""

    votes: Array(Int8, 2)
    clock: Per(P, Int8)
    pairs: Array(Vote, 2)
    by: Per(P, Vote)
    modes: Array(Mode, 2)
    nodes: Array(P, 2)
    grid: Per(P, Array(Int8, 2))
    log: Seq(Int8, 2)


class State(Struct):
    """The sources of what is stored."""

    done: Int8
    votes: Array(Int8, 2)
    wide: Array(Int16, 2)
    three: Array(Int8, 3)
    clock: Per(P, Int8)
    vote: Vote
    pairs: Array(Vote, 2)
    other: Other
    log: Seq(Int8, 3)
    rows: Seq(Array(Int8, 2), 2)
    row_bag: Bag(Array(Int8, 2), 2)
    box: Message
    messages: Bag(Message, 2)


def spec_with(act) -> Spec:
    """One state, from which `act` leads on."""
    spec = Spec("toy.whole", State, Constants)

    @spec.init
    def begin(s: State, c):
        s.votes = [3, 4]
        s.wide = [5, 6]
        s.clock = [7, 8]
        s.vote = Vote(ballot=1, command=2)
        s.pairs = [Vote(ballot=3), s.vote]
        append(s.log, 1)
        return TAKEN

    spec.action(act)
    return spec


def after(act) -> list[dict]:
    """What the state is after each step of `act`, which both engines agree on."""
    model = spec_with(act).bind()
    result = agree(model)
    assert result.verdict == "holds"
    [start] = initial(model)
    return [plain(view(model.layout, each.row)) for each in attempts(model, start.row)]


def test_stored_whole():
    def act(s: State, c, way: Range(0, 3)):
        if s.done:
            return "done"
        s.done = 1
        if way == 0:
            s.box = Message(votes=s.votes, clock=s.clock, pairs=s.pairs)
            s.votes[0] = 9  # the message has a copy
        elif way == 1:
            s.box.votes = s.wide  # converted, number by number
        elif way == 2:
            s.pairs = [s.pairs[1], s.pairs[0]]
        else:
            s.box.votes = s.log  # the first items of a list
        return TAKEN

    copied, converted, swapped, listed = after(act)
    assert copied["box"]["votes"] == [3, 4]
    assert copied["box"]["clock"] == {1: 7, 2: 8}
    assert copied["box"]["pairs"][1] == {"ballot": 1, "command": 2}
    assert converted["box"]["votes"] == [5, 6]
    assert [each["ballot"] for each in swapped["pairs"]] == [1, 3]
    assert listed["box"]["votes"] == [1, 0]


def test_filled_in_a_local_record():
    def act(s: State, c, way: Range(0, 2)):
        if s.done:
            return "done"
        s.done = 1
        message = Message(pairs=s.pairs)
        if way == 0:
            message.votes[1] = 5
            message.clock[2] += 3
            message.pairs[0].command = 6
            message.by[1] = Vote(ballot=7)
            message.modes[1] = "busy"
            append(message.log, 8)
            add(s.messages, message)
            message.votes[0] = 9  # what was sent stays
        elif way == 1:
            votes = message.votes  # a part of the message, no copy
            votes[0] = 4
            same = message
            same.votes[1] = 2
            s.box = message
        else:
            for node in range(1, 3):
                message = Message(votes=message.votes, pairs=message.pairs)
                message.votes[node - 1] += node
            s.box = message
        return TAKEN

    filled, alias, in_a_loop = after(act)
    [sent] = filled["messages"]
    assert sent["votes"] == [0, 5]
    assert sent["clock"][2] == 3
    assert sent["log"] == [8]
    assert sent["pairs"][0] == {"ballot": 3, "command": 6}
    assert sent["by"][1]["ballot"] == 7
    assert sent["modes"] == ["idle", "busy"]
    assert filled["pairs"][0]["command"] == 0
    assert alias["box"]["votes"] == [4, 2]
    assert in_a_loop["box"]["votes"] == [1, 2]
    assert in_a_loop["box"]["pairs"][0]["ballot"] == 3


WAYS = (
    "Vote.ballot would be 128, and its int8 holds -128 to 127",
    "Message.votes[1] would be 300, and its int8 holds -128 to 127",
    "Message.nodes[0] would be 5, which is none of the nodes that n counts",
    "Message.modes[0] would be 3, which is none of idle (0), busy (1)",
    "Message.votes has 2 items, and a list of 3 does not fit",
    "Message.clock has no slot for NONE",
)


@pytest.fixture(scope="module")
def overflowing() -> Spec:
    """Ends in one of WAYS: at depth k in the k-th."""

    def act(s: State, c, way: Range(0, "n * 2 + 1")):
        if way != s.done:
            return "another way"
        message, vote = Message(), Vote(ballot=1)
        if way == c.stop:
            if way == 0:
                vote.ballot = s.votes[0] + 125  # never stored
            elif way == 1:
                s.wide[1] = 300
                message.votes = s.wide
            elif way == 2:
                message.nodes = s.wide
            elif way == 3:
                message.modes = s.votes
            elif way == 4:
                append(s.log, 1)
                append(s.log, 1)
                message.votes = s.log
            else:
                message.clock[s.vote.ballot - 1] = 1
        s.done += 1
        return TAKEN

    return spec_with(act)


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_what_does_not_fit_is_not_stored_in_a_local_record_either(overflowing, way):
    result = agree(overflowing.bind(stop=way))
    assert result.undecided_reason.startswith(WAYS[way])
    assert result.distinct == way + 1


def of_another_class(s: State, c):
    s.box.pairs[0] = s.other
    return TAKEN


def of_another_size(s: State, c):
    s.box = Message(votes=s.three)
    return TAKEN


def by_node(s: State, c):
    s.box = Message(votes=s.clock)
    return TAKEN


def as_a_dict(s: State, c):
    s.clock = {1: 2}
    return TAKEN


@pytest.mark.parametrize(
    ("act", "told", "compiled"),
    [
        (of_another_class, "holds a Vote: write Vote(ballot=..., command=...)", "can't be stored"),
        (of_another_size, "votes has the items 0 to 1, and state.three has 0 to 2", "as a list"),
        (by_node, "votes has the items 0 to 1, and state.clock has 1 to 2", "as a list"),
        (as_a_dict, "has an item for every node: write them as a list", "as a list, from node 1"),
    ],
)
def test_what_is_refused(act, told, compiled):
    model = spec_with(act).bind()
    with pytest.raises(SpecError) as found:
        explore(model, engine="python", progress=False)
    assert told in str(found.value)
    with pytest.raises(LabError) as found:
        Kernels(model).of_search([], [])
    assert compiled in str(found.value)
    assert "TypingError" not in str(found.value)


def kept_from_an_earlier_turn(s: State, c):
    votes = s.votes
    for k in range(2):
        message = Message()
        if k == 0:
            votes = message.votes
    s.done = votes[0]
    return TAKEN


def made(s: State, c):
    message = Message()
    message.votes[0] = 1
    return message.votes


def returned(s: State, c):
    s.votes = made(s, c)
    return TAKEN


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (kept_from_an_earlier_turn, "votes is another name for message.votes"),
        (returned, "a new record, or a part of one, can be stored or compared, but not returned"),
    ],
)
def test_a_part_of_a_new_record_that_is_gone_is_refused(act, told):
    with pytest.raises(LabError, match=told):
        Kernels(spec_with(act).bind()).of_search([], [])
