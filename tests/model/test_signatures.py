"""How a step is written: each parameter with its values, and what may be left out."""

from typing import Annotated, NamedTuple

import pytest

from protocol_lab import *
from protocol_lab.cli import main
from protocol_lab.model.step_text import find_step, values_of_parameters
from protocol_lab.model.transitions import initial

Server = Node("servers")


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 3, "servers")] = 3


class Note(Struct):
    to: Server
    text: Int8


class State(Struct):
    notes: Bag(Note, 4)
    heard: NodeSet(Server)


def everybody_else(s, c):
    return nodes_up_to(c.servers - 1)


spec = Spec("notes", State, Constants)


@spec.init
def start(s, c):
    """Two notes are there."""
    add(s.notes, Note(to=1, text=4))
    add(s.notes, Note(to=2, text=4))
    return TAKEN


@spec.action
def send(s, c, to: Server, text: Range(1, 1), lost: Subset(everybody_else)):
    """A note is sent; some don't get it."""
    s.heard = lost
    return TAKEN


@spec.action
def read(s, c, note: Member("notes"), mode: Named("aloud", "quietly")):
    """A note is read."""
    return TAKEN


@spec.action
def order(s, c, numbers: Sequences(low=1, high="servers", length=2), two: Subset(Server, size=2)):
    """An order is chosen."""
    return TAKEN


@spec.action
def sign(s, c, by: OneOf(everybody_else)):
    """Somebody signs."""
    return TAKEN


SIGNATURES = {
    "sign": {"by": "one of the nodes everybody_else(s, c); 0 for none"},
    "send": {
        "to": "1 to servers",
        "text": "1 to 1",
        "lost": "a set such as {1, 2} of the nodes everybody_else(s, c); none if left out",
    },
    "read": {
        "note": "an item of notes, by fields that single it out: Note(to, text)",
        "mode": "aloud, quietly",
    },
    "order": {
        "numbers": "a list of numbers 1 to servers; 2 of them",
        "two": "a set of 1 to servers, such as {1, 2}; 2 of them",
    },
}


@pytest.mark.parametrize("action", spec.actions, ids=lambda action: action.name)
def test_each_parameter_is_listed_with_its_values(action):
    assert values_of_parameters(action, State) == SIGNATURES[action.name]


def test_what_has_one_value_and_a_set_may_be_left_out():
    model = spec.bind()
    row = next(initial(model)).row
    assert find_step(model, row, "send(to=2)").args == {"to": 2, "text": 1, "lost": 0}
    assert find_step(model, row, "send(to=2, lost={1})").args["lost"] == 0b10
    assert find_step(model, row, "read(note=Note(to=1), mode=aloud)").args["mode"] == 0
    with pytest.raises(LabError, match="order"):
        find_step(model, row, "order(numbers=[1, 2])")


def test_specs_lists_the_parameters_of_a_spec_that_is_named(capsys):
    assert main(["specs", "kafka.async_isr"]) == 0
    out = capsys.readouterr().out
    assert "    action controller_shrink_isr(replica)\n        replica: 1 to replicas\n" in out
    assert main(["specs"]) == 0
    assert "    actions: controller_shrink_isr, " in capsys.readouterr().out
