"""A spec with fields of all kinds and one action, made from the action's body as a text."""

import linecache
from itertools import count

from protocol_lab import LabError
from protocol_lab import explore as explore_module
from protocol_lab.explore import explore
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from tests.spec_checks import agree

HEAD = """
from typing import Annotated, NamedTuple

from protocol_lab import *
from protocol_lab import HOLDS, NONE, TAKEN, capacity

Server = Node("servers")
Mode = Named("idle", "busy", "gone")
Hunger = Named("idle", "gone", "busy")

class Constants(NamedTuple):
    servers: int = 2
    pace: Annotated[int, choice("slow", "fast", meaning="how fast")] = 0

class Note(Struct):
    text: Int8
    mode: Mode

class Letter(Struct):
    to: Server

class State(Struct):
    n: Int8
    found: Int8
    leader: Server
    quorum: NodeSet(Server)
    acks: Per(Server, NodeSet(Server))
    letters: Seq(Letter, 2)
    mode: Mode
    modes: Per(Server, Mode)
    hunger: Hunger
    hungers: Per(Server, Hunger)
    last: Note
    kept: Note
    votes: Per(Server, Int8)
    heard: Per(Server, Per(Server, Bool))
    log: Seq(Note, 4)
    counts: Seq(Int8, 3)
    notes: Bag(Note, 4)
    numbers: Bag(Int8, 4)
    called: Bag(Server, 4)
    channel: Per(Server, Seq(Mode, 3))
    moods: Bag(Mode, 3)
    places: Array(Int8, 3)

spec = Spec("trap", State, Constants)

@spec.init
def start(s, c):
    for text in range(2):
        append(s.log, Note(text=text + 1))
        add(s.notes, Note(text=5 - text))
        add(s.numbers, 7 - text)
    for server in (2, 1, 2):
        add(s.called, server)
    return TAKEN
"""

_numbers = count()


def declare(body: str, before: str = "", more: str = "") -> Model:
    """A model whose only action is taken once. body: what it does; before: what stands above it;
    more: its parameters after s and c."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    action = (
        f"@spec.action\ndef act(s, c{more}):\n"
        f'    if s.n > 0:\n        return "done"\n    s.n = 1\n{lines}    return TAKEN\n'
    )
    source = f"{HEAD}\n{before}\n\n{action}"
    name = f"<trap {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"__name__": name}
    exec(compile(source, name, "exec"), scope)
    return scope["spec"].bind()


def told(model: Model, engine: str, monkeypatch) -> str:
    """What a search says of a fault that trying the spec out did not meet."""
    monkeypatch.setattr(explore_module, "dry_run", lambda *_: None)
    try:
        result = explore(model, engine=engine, progress=False)
    except LabError as error:
        return str(error)
    assert result.verdict == "undecided"
    return result.undecided_reason


def found(model: Model) -> int:
    """What the action has found, in all engines."""
    result = agree(model, progress=False)
    assert result.distinct == 2, str(result)
    return view(model.layout, result.states[1].tobytes()).found
