"""Fields that share a name, but not a type, are distinguished by where they are read."""

from typing import NamedTuple

import pytest

from protocol_lab import (
    HOLDS,
    NONE,
    TAKEN,
    Bag,
    Int8,
    LabError,
    Member,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Spec,
    Struct,
    add,
    append,
    last,
    take,
    with_node,
)
from protocol_lab.explore import explore
from tests.spec_checks import agree


class Constants(NamedTuple):
    servers: int = 3


Server = Node("servers")


class Vote(Struct):
    of: Server
    mode: Int8


class Group(Struct):
    """Its fields share their names with those of a vote, and are something else."""

    of: NodeSet(Server)
    mode: Named("open", "closed")


class State(Struct):
    votes: Bag(Vote, 3)
    groups: Seq(Group, 2)
    voted: Per(Server, NodeSet(Server))


def free(s, c, n):
    """How many servers the last group lacks: a function without annotations."""
    return c.servers - len(last(s.groups).of) if n not in last(s.groups).of else 0


def group() -> Spec:
    spec = Spec("toy.group", State, Constants)

    @spec.init
    def start(s: State, c):
        append(s.groups, Group(of=NONE, mode="open"))
        return TAKEN

    @spec.action
    def vote(s: State, c, n: Server):
        if len(s.votes) == 3 or any(each.of == n for each in s.votes):
            return "it has voted, or all have"
        if n in s.groups[0].of or s.groups[0].mode == "closed":
            return "it is in the group already, or that is closed"
        add(s.votes, Vote(of=n, mode=1))
        return TAKEN

    @spec.action(multiplicity=lambda s, c, v: 1 + free(s, c, v.of))
    def count(s: State, c, v: Member("votes")):
        joined = s.groups[0]
        joined.of = with_node(joined.of, v.of)
        for n in joined.of:
            s.voted[n] |= joined.of
        if len(joined.of) == c.servers:
            joined.mode = "closed"
        take(s.votes, v)
        return TAKEN

    @spec.invariant
    def not_twice(s: State, c):
        waiting = s.votes.size > 0 and 1 == s.votes.items[0].of in s.groups[0].of
        return HOLDS if not waiting else "a member's vote waits"

    @spec.invariant
    def closed_if_full(s: State, c):
        every = all(n in s.groups[0].of for n in range(1, c.servers + 1))
        return HOLDS if every == (last(s.groups).mode == "closed") else "it is full, and open"

    return spec


def test_fields_that_share_a_name_are_told_apart():
    result = agree(group().bind())
    assert (result.verdict, result.distinct, result.depth) == ("holds", 27, 7)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_text_is_refused_where_the_field_of_that_name_is_a_number(engine):
    spec = group()

    @spec.invariant
    def never_open(s: State, c):
        return HOLDS if all(each.mode != "open" for each in s.votes) else "open"

    with pytest.raises(LabError, match=r"each\.mode"):
        explore(spec.bind(), engine=engine, progress=False)


# --- A base class as an annotation ---------------------------------------------------------------


class Team(Struct):
    of: NodeSet(Server)


class LedTeam(Team):
    leader: Server


class Teams(Struct):
    votes: Bag(Vote, 3)
    team: LedTeam


def is_in(team: Team, n) -> bool:
    """Shared by all specs whose teams are derived from this one; `of` is not a vote's."""
    return n in team.of


def test_a_base_class_stands_for_the_form_that_the_state_has():
    spec = Spec("toy.teams", Teams, Constants)

    @spec.init
    def start(s, c):
        return TAKEN

    @spec.action
    def join(s, c, n: Server):
        if is_in(s.team, n):
            return "it is in the team"
        s.team.of = with_node(s.team.of, n)
        s.team.leader = n
        return TAKEN

    result = agree(spec.bind())
    assert (result.verdict, result.distinct, result.depth) == ("holds", 13, 4)
