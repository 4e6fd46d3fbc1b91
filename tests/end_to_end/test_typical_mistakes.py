"""A hundred mistakes that people make in a first spec of their own, and what is said to each."""

import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from protocol_lab.cli import main
from tests.work_units import one_in

SPEC = '''
from typing import Annotated, NamedTuple

from protocol_lab import *


class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 4, "servers")] = 2
    slots: Annotated[int, Limits(1, 9, "messages")] = 4


Server = Node("servers")


class Message(Struct):
    kind: Named("ask", "tell")
    server: Server
    number: Int8


class State(Struct):
    leader: Server
    alive: NodeSet(Server)
    log: Seq(Int8, "slots")
    queue: Seq(Message, "slots")
    msgs: Bag(Message, "slots")
    votes: Per(Server, Int8)
    mode: Named("idle", "busy")
    counter: Int8


spec = Spec("mistake", State, Constants)


@spec.init
def start(s, c):
    """The beginning."""
    s.alive = nodes_up_to(c.servers)
    return TAKEN


@spec.action
def act(s, c, server: Server):
    """What happens."""
    if s.counter >= 1:
        return "it has happened"
    BODY
    s.counter += 1
    return TAKEN


@spec.action
def receive(s, c, m: Member("msgs")):
    """A message is received."""
    RECEIVE
    take(s.msgs, m)
    return TAKEN


@spec.invariant
def fine(s, c):
    """All is well."""
    INVARIANT
    return HOLDS


# MORE
'''

B, R, INV, MORE = "BODY", "RECEIVE", "INVARIANT", "# MORE"
SEND = "add(s.msgs, Message(kind='ask', server=server, number=1))"

MISTAKES: list[tuple[str, str, str]] = [
    # --- A body of an action: what is written, where, what the message has to say
    (B, "s.log.push(1)", "log"),
    (B, "s.log.append(1)", "append(state.log, item)"),
    (B, "s.log += [1]", "append"),
    (B, "s.log = [1]", "append"),
    (B, "s.log[0] = 1", "items"),
    (B, "s.counter = s.log.pop(0)", "remove_at"),
    (B, "s.counter = s.log[:2]", "items"),
    (B, "s.counter = s.log.items[:2]", "can't be sliced"),
    (B, "s.counter = s.log.items[0]", "no item 0"),
    (B, "s.counter = s.log[-1]", "last(state.log)"),
    (B, "s.counter = s.msgs[0].number", "a bag has no first item"),
    (B, "s.counter = s.queue[0].number", "no item 0"),
    (B, "s.msgs.add(Message(kind='ask'))", "add(state.msgs, item)"),
    (B, "s.msgs.append(Message(kind='ask'))", "add(state.msgs, item)"),
    (B, "s.msgs = s.msgs + 1", "add"),
    (B, "add(s.msgs, Message('ask', server))", "name the fields of Message"),
    (B, "add(s.msgs, Message(kind='ask', sender=server))", "Message has no field sender"),
    (B, "add(s.msgs, Message(kind='answer'))", "one of ask, tell"),
    (B, "add(s.msgs, 3)", "Message"),
    (B, "add(s.msgs, {'kind': 'ask'})", "Message"),
    (B, "add(s.msgs, None)", "Message"),
    (B, "append(s.log, Message(kind='ask'))", "holds a number"),
    (B, "add(s.log, 1)", "append"),
    (B, "append(s.msgs, Message(kind='ask'))", "add"),
    (B, "s.alive.add(server)", "with_node"),
    (B, "s.alive.remove(server)", "without_node"),
    (B, "s.counter = 1 if server in s.counter else 0", "contains"),
    (B, "s.counter = len(s.counter)", "size"),
    (B, "s.counter = sum(1 for n in c.servers)", "range(1, n + 1)"),
    (B, "s.alive = {server}", "only(node)"),
    (B, "s.alive = with_node(s.alive, 99)", "would hold 99, which is none of the nodes"),
    (B, "s.leader = None", "NONE"),
    (B, "if s.leader is not None:\n        return 'led'", "write s.leader != NONE"),
    (INV, "if s.leader == None:\n        return HOLDS", "write s.leader == NONE"),
    (R, "if m.server is None:\n        return 'nobody'", "write m.server == NONE"),
    (B, "with_node(s.alive, server)", "write s.alive = with_node(s.alive, ...)"),
    (B, "without_node(s.alive, server)", "write s.alive = without_node(s.alive, ...)"),
    (B, "s.alive | only(server)", "its value is not used"),
    (B, "s.counter == 1", "write s.counter = 1 to assign"),
    (B, "s.leader = 'a'", "number"),
    (B, "s.votes[0] = 1", "no slot for NONE"),
    (B, "s.votes[s.leader] = 1", "no slot for NONE"),
    (B, "s.votes = {1: 2}", "votes"),
    (B, "s.votes[c.servers + 1] = 1", "no slot 3"),
    (B, "s.mode = 'sleeping'", "one of idle, busy"),
    (B, "s.mode = 7", "none of idle (0), busy (1)"),
    (B, "s.counter = 1000", "int8 holds -128 to 127"),
    (B, "s.counter = 'one'", "number"),
    (B, "s.countr = 1", "no field 'countr'"),
    (B, "s.counter = s.countr", "no field 'countr'"),
    (B, "s.counter = c.servrs", "no constant 'servrs'"),
    (B, "c.servers = 3", "constant"),
    (B, "s.counter = 1 / 2", "//"),
    (B, "s.counter = random.randint(0, 1)", "random"),
    (B, "s.counter = undefined_name", "undefined_name"),
    (B, "return", "return TAKEN, or a text"),
    (B, "return True", "return TAKEN, or a text"),
    (B, "s.leader = 1\n    if s.leader == 1:\n        return 'too late'", "guards before"),
    (R, "m.number += 1", "take the item, and add the changed one"),
    (R, "m.kind = 'tell'", "take the item, and add the changed one"),
    (INV, "assert s.counter < 1", "return the reason, as a text"),
    (INV, "return s.counter < 1", "return HOLDS, or a sentence"),
    (INV, "s.counter = 0", "only actions change"),
    (MORE, "@spec.invariants\ndef other(s, c):\n    return HOLDS", "in the singular"),
    (MORE, "@spec.action\ndef other(s):\n    return TAKEN", "(s, c, ...)"),
    (MORE, "@spec.action\ndef other(s, c, n):\n    return TAKEN", "say after a colon"),
    (MORE, "@spec.action\ndef other(s, c, n: int):\n    return TAKEN", "say after a colon"),
    (MORE, "@spec.action\ndef other(s, c, m: Member('mgs')):\n    return TAKEN", "no field 'mgs'"),
    (MORE, "@spec.action\ndef other(s, c, m: Member('mgs')):\n    return TAKEN\n",
     "other, parameter m: "),
    (MORE, "@spec.action\ndef other(s, c, k: Range(0, 'len(log) - 1')):\n    return TAKEN",
     "is a function, as in Range(0, lambda s, c: len(s.log) - 1)"),
    (MORE, "@spec.action\ndef act(s, c):\n    return TAKEN", "defines act twice"),
    (MORE, "@spec.invariant\ndef other(s):\n    return HOLDS", "function of (s, c)"),
    (MORE, "class Other(Struct):\n    n: int\n\nclass S2(Struct):\n    o: Other\n\n"
     "spec.state = S2", "int is not a field type"),
    (MORE, "class Other(Struct):\n    n: Int8 = 3", "a field has a type and no value"),
    (MORE, "Bad = Per('servers', Int8)", "needs a kind of node first"),
    (MORE, "Other = Node(2)", "write the name of the constant"),
    (B, "if s.alive == {1, 2}:\n        s.leader = 1", "write only(1) | only(2)"),
    (B, "old = s.queue.items[0]\n    pop_first(s.queue)\n    s.leader = old.server",
     "old is another name for s.queue.items[0]"),
    (B, "s.leader, s.counter = s.counter, s.leader", "assign one field at a time"),
    (MORE, "class S2(Struct):\n    q: Seq(Int8, 'slotss')\n\nspec.state = S2", "slotss"),
    (MORE, "spec.messages('msgs')", "source="),
    (MORE, "spec.weakly_fair('act')", "of an action's function"),
    (MORE, "@spec.property\ndef ends():\n    return True", "ends returned True; return always(p)"),
    (MORE, "@spec.property\ndef ends():\n    return eventually(True)", "without calling is_done"),
    (MORE, "@spec.property\ndef ends():\n    return eventually(start())",
     "without calling is_done"),
    (MORE, "spec.weakly_fair(either('start'))", "of actions' functions"),
    (MORE, "spec.symmetric('servers')", "Node"),
    # --- What Python accepts, and what it means in a spec
    (B, "counter = 5", "nothing reads this variable: write s.counter = 5"),
    (B, "counter += 1", "there is no variable counter: write s.counter"),
    (B, "if s.counter > 90 and mode == 'idle':\n        return 'no'", "write s.mode"),
    (B, "if s.counter > slots:\n        return 'no'", "write c.slots"),
    (B, "State.counter = 1", "State is a class, not the state: write s.counter"),
    (B, "s = State()", "s is the state, and stays the same: assign its fields"),
    (B, "s.mode.busy = True", "s.mode is a single value, which has no busy"),
    (B, "s.counter.add(1)", "s.counter is a single value, which has no add"),
    (
        B,
        "s.counter = s.votes.get(server, 0)",
        "write s.votes[n] for n in range(1, c.servers + 1)",
    ),
    (B, "for k, v in s.votes.items():\n        s.counter = v", "write s.votes[n] for n in"),
    (B, "s.log.items.append(1)", "write append(s.log, ...)"),
    (B, "append(1, s.log)", "the sequence or bag comes first: write append(s.log, 1)"),
    (B, "add(Message(kind='ask'), s.msgs)", "write add(s.msgs, Message(kind='ask'))"),
    (B, "s.alive = with_node(server, s.alive)", "write with_node(s.alive, server)"),
    (B, "take(s.msgs)", "write take(bag, item)"),
    (B, "global total\n    total = 1", "declare a field for it"),
    (B, "seen[server] = 1\n\nseen = {}\n\ndef unused():\n    counted = 1",
     "seen is no part of the state: declare a field"),
    (B, "import random\n    s.counter = random.randint(0, 1)", "make the choice a parameter"),
    (B, "s.counter = dice()\n\nfrom random import randint\n\ndef dice():\n    return randint(0, 1)"
     "\n\ndef unused():\n    counted = 1",
     "randint does not give the same result each time"),
    (B, "import time\n    s.counter = int(time.time()) % 2", "time does not give the same result"),
    (B, "if fine == '':\n        return 'no'", "fine is a function, which is always true"),
    (B, "if s.counter > 90 and not fine:\n        return 'no'", "call it, fine(...)"),
    (B, "act(s, c, server)", "a function that calls itself can't be compiled"),
    (B, "server.x = 1", "what belongs to a node is in a field by node"),
    (B, "s.alive = NodeSet(Server)", "store a value, not its type"),
    (B, "s.leader = Server(1)", "a node is a number: write 1"),
    (B, "s.votes = s.votes + 1", "change one slot: s.votes[n] += 1"),
    (B, "s.counter = s.votes['a']", "an index is a whole number"),
    (B, "s.counter = s.votes[server + 0.5]", "numbers are whole: divide with //"),
    (B, "del s.log.items[0]", "write remove_at(sequence, index), or take(bag, item)"),
    (B, "return True", "says why it can't happen (mistake.py line"),
    (INV, "return s.counter < 1", "says what is wrong (mistake.py line"),
    (INV, "return HOLDS if s.counter < 9 else False", "return a text: TAKEN, or HOLDS"),
    (B, "if s.counter > 90:\n        return", "return a text: TAKEN, or HOLDS"),
    (INV, "if s.counter > 90:\n        return None", "return a text: TAKEN, or HOLDS"),
    (B, "if (n := s.counter) > 2:\n        return 'no'", "assign in a line of its own"),
    (B, "while True:\n        s.counter += 0", "while True: (mistake.py line"),
    (B, "while 1:\n        while s.counter:\n            break", "this loop never ends"),
    (B, "a, *b = s.votes", "name the items one by one, or write a loop"),
    (B, "xs = {}\n    xs[server] = 1\n    s.counter = xs[server]", "or a list of numbers, [0] *"),
    (B, "s.counter = next(n for n in s.alive)", "write a loop, or min(...) for the first node"),
    (B, "yield server", "act is a generator, with yield: write a plain function"),
    (MORE, "@spec.action\nasync def other(s, c):\n    return TAKEN", "other is async: write a"),
    (MORE, "@spec.action\n@staticmethod\ndef other(s, c):\n    return TAKEN",
     "let no other decorator stand below that of the spec"),
    (MORE, "import functools\n\n@spec.action\n@functools.cache\ndef other(s, c):\n    return TAKEN",
     "let no other decorator stand below that of the spec"),
    (MORE, "Bad = Named('idle', 'idle')", 'give it the names, each of them once'),
    (MORE, "Bad = Named(0, 1)", 'as in Named("idle", "busy")'),
    (MORE, "Bad = Named()", "give it the names"),
    (MORE, "Bad = Bag('slots', Message)", "the type of an item comes first"),
    (MORE, "Bad = NodeSet('servers')", "needs a kind of node"),
    (MORE, "other = Spec('other', Constants, State)", "the state is a class that is a Struct"),
    (MORE, "other = Spec(State, 'other', Constants)", "the name comes first"),
    (MORE, "other = Spec('other', State(), Constants)", "the state is a class that is a Struct"),
]  # fmt: skip


def source(where: str, code: str) -> str:
    """The spec with one mistake in it."""
    text = SPEC.replace(where, code)
    for other in (B, R, INV):
        text = text.replace(other, SEND if other == B and where == R else "pass")
    return text


def said(where: str, code: str) -> str:
    """What `check` says to a spec with this mistake."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mistake.py"
        file.write_text(source(where, code), encoding="utf-8")
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["check", str(file), "--engine", "python"])
        told = err.getvalue().strip() or out.getvalue().strip()
    return f"({code}) {told}"


@pytest.mark.slow
@pytest.mark.parametrize(("where", "code", "wanted"), one_in(2, MISTAKES))
def test_a_mistake_is_one_sentence_that_says_what_to_write(where, code, wanted):
    told = said(where, code)
    assert wanted in told
    assert not told.startswith(("(0)", "(1)"))
    assert "Traceback" not in told
    assert "The kit failed" not in told
    assert "..\n" not in f"{told}\n".replace("...", "")


def test_there_are_a_hundred():
    assert len({code for _, code, _ in MISTAKES}) >= 100
