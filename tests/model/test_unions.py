"""Messages of several kinds in one bag."""

from typing import NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.diagrams.state_listing import state_listing
from protocol_lab.drawing.state_table import state_columns
from protocol_lab.traces.walk import Walk
from tests.spec_checks import agree


class Constants(NamedTuple):
    clients: int = 2


Client = Node("clients")


class Ask(Struct):
    client: Client


class Grant(Struct):
    client: Client
    until: Int8


class State(Struct):
    holder: Client
    asked: Per(Client, Bool)
    messages: Bag(one_of(Ask, Grant), 4)
    last_seen: one_of(Ask, Grant)


def lease() -> Spec:
    spec = Spec("lease", State, Constants)

    @spec.init
    def start(s, c):
        return TAKEN

    @spec.action
    def ask(s, c, client: Client):
        """A client asks."""
        if s.asked[client]:
            return "it has asked"
        s.asked[client] = True
        add(s.messages, Ask(client=client))
        return TAKEN

    @spec.action
    def grant(s, c, m: Member("messages")):
        """The server grants what was asked for."""
        if m.kind != "Ask" or s.holder != NONE:
            return "there is nothing to grant"
        s.holder = m.client
        s.last_seen = m
        add(s.messages, Grant(client=m.client, until=3))
        take(s.messages, m)
        return TAKEN

    @spec.action
    def receive(s, c, m: Member("messages")):
        """A client receives its grant."""
        if m != Grant(client=m.client, until=3):
            return "it is no grant"
        s.last_seen = Grant(client=m.client, until=m.until)
        s.holder = NONE
        take(s.messages, m)
        return TAKEN

    @spec.invariant
    def one_grant(s, c):
        """One grant at a time is under way."""
        grants = sum(1 for m in s.messages if m.kind == "Grant")
        return HOLDS if grants <= 1 else "there are two"

    @spec.situation(expected=True)
    def both_have_had_it(s, c):
        """Everything happens."""
        return len(s.messages) == 0 and all(s.asked)

    return spec


def test_messages_of_two_kinds_in_one_bag():
    found = agree(lease().bind(), progress=False)
    assert (found.verdict, found.distinct, found.never_reached) == ("holds", 16, [])


def test_a_step_names_a_message_by_its_kind_and_is_read_back():
    walk = Walk.begin(lease().bind())
    steps = [
        "ask(client=1)",
        "ask(client=2)",
        "grant(m=Ask(client=2))",
        "receive(m=Grant(client=2))",
    ]
    for step in steps:
        walk.take(step)
    assert [each.whole for each in walk.steps][2:] == [
        "grant(m=Ask(client=2))",
        "receive(m=Grant(client=2, until=3))",
    ]
    assert repr(walk.state.last_seen) == "Grant(client=2, until=3)"
    with pytest.raises(LabError, match="Grant"):
        walk.take("grant(m=Grant(client=1))")


def test_a_kind_that_does_not_fit_is_told():
    class Note(Struct):
        client: Int16

    class Kind(Struct):
        kind: Int8

    for kinds, words in (
        ((Ask, Note), "Ask is part of Ask_or_Grant already"),
        ((Note, Kind), "Kind.kind: a union names its kinds"),
        ((), "takes classes that are a Struct"),
    ):
        with pytest.raises(LabError, match=words):
            one_of(*kinds)

    class Other(Struct):
        client: Client

    with pytest.raises(LabError, match="'client' has different types"):
        one_of(Note, Other)
    with pytest.raises(TypeError, match="Ask has no field until"):
        Ask(client=1, until=2)


class Up(Struct):
    reply: Named("yes", "no")


class Down(Struct):
    value: Int8


class Links(Struct):
    mailbox: Bag(one_of(Up, Down), 2)
    latest: one_of(Up, Down)


def test_only_the_fields_of_its_kind_are_shown():
    """Also where the first of a field's names, its 0, would be written for a kind without it."""
    spec = Spec("links", Links, Constants)

    @spec.init
    def start(s, c):
        s.latest = Up(reply="no")
        return TAKEN

    @spec.action
    def send(s, c):
        add(s.mailbox, Down(value=3))
        return TAKEN

    @spec.action
    def note(s, c):
        s.latest = Down(value=3)
        return TAKEN

    walk = Walk.begin(spec.bind())
    for step in ("send()", "note()"):
        walk.take(step)
    rows = [each.row for each in walk.path]
    assert state_listing(walk.model, rows, walk.steps).splitlines() == [
        "       1 the initial state",
        "           mailbox: empty",
        "           latest: kind Up, reply no",
        "       2 send()",
        "           mailbox: + (kind Down, value 3)",
        "       3 note()",
        "           latest: (kind Up, reply no) → (kind Down, value 3)",
    ]
    tables, lines = state_columns(walk.model, walk.row)
    [items] = [each for each in tables if each.name == "mailbox"]
    assert items.heads == ["kind", "value"]
    assert {each.name for each in lines} == {"latest.kind", "latest.value"}


def test_what_to_store_is_told_by_the_kinds():
    spec = lease()

    @spec.action
    def forget(s, c):
        s.last_seen = 3
        return TAKEN

    with pytest.raises(
        LabError, match=r"write Ask\(client=...\) or Grant\(client=..., until=...\)"
    ):
        Walk.begin(spec.bind()).take("forget()")
