"""What authors of specs get wrong without noticing: right in every engine, or one clear sentence.

Each case is the body of an action, compiled also where trying the spec out would not meet it.
"""

import json
import pickle

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from protocol_lab.model.layout import named_values
from protocol_lab.model.state_view import view
from tests.one_action import declare, found, told
from tests.spec_checks import ENGINES, agree
from tests.work_units import one_in

# --- Slots that are not in use -------------------------------------------------------------------

NO_SLOT = {
    "s.found = s.votes[s.leader]": "state.votes has no slot for NONE; guard against it",
    "s.votes[s.leader] += 1": "state.votes has no slot for NONE; guard against it",
    "s.votes[s.leader] = 1": "state.votes has no slot for NONE; guard against it",
    "s.heard[1][s.leader] = True": "state.heard[1] has no slot for NONE",
    "s.found = s.votes[3]": "state.votes has no slot 3",
    "s.found = s.places[-1]": "state.places has no slot -1",
    "s.found = s.log.items[2].text": "state.log.items has no item 2; there are 2",
    "s.found = s.notes.items[s.notes.size].text": "state.notes.items has no item 2; there are 2",
    "remove_at(s.log, 2)": "log.items has no item 2; there are 2",
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", NO_SLOT)
def test_a_slot_that_is_not_in_use_is_neither_read_nor_written(monkeypatch, body, engine):
    assert NO_SLOT[body] in told(declare(body), engine, monkeypatch)


MODES = "which is none of idle (0), busy (1), gone (2)"
NODES = "which is none of the nodes that servers counts"
NO_VALUE = {
    "s.mode = s.n + 2": f"state.mode would be 3, {MODES}",
    "s.log.items[0].mode = s.n + 2": f"state.log.items[0].mode would be 3, {MODES}",
    "s.heard[1][2] = s.n + 1": "state.heard[1][2] would be 2, which is none of False (0), True (1)",
    "s.leader = s.n + 2": f"state.leader would be 3, {NODES}",
    "append(s.letters, Letter(to=c.servers + s.n))": f"to would be 3, {NODES}",
    "s.quorum = with_node(s.quorum, s.n + 2)": f"state.quorum would hold 3, {NODES}",
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", NO_VALUE)
def test_a_field_takes_no_number_that_stands_for_nothing(monkeypatch, body, engine):
    assert NO_VALUE[body] in told(declare(body), engine, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("index", "left"), [(0, 2), (1, 1)])
def test_an_item_of_a_sequence_is_removed_and_the_later_ones_move_up(index, left):
    body = f"remove_at(s.log, {index})\ns.found = 10 * s.log.length + s.log.items[0].text"
    assert found(declare(body)) == 10 + left


# --- What keeps its order, and its count ---------------------------------------------------------

IN_ORDER = "a bag keeps its items in order: take the item, and add the changed one"
REFUSED = {
    "s.notes.items[0] = s.notes.items[1]": IN_ORDER,
    "s.numbers.items[0] += 5": IN_ORDER,
    "s.notes.items[0].text = 9": IN_ORDER,
    "first = s.notes.items[0]\nfirst.text += 1": IN_ORDER,
    "for each in s.notes.items:\n    each.text = 0": IN_ORDER,
    "first = s.log.items[0]\nif s.found == 0:\n    first = s.notes.items[0]\n"
    "first.text = 1": IN_ORDER,
    "s.notes.size = 1": "can't be assigned to: add, add_once and take change it",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", REFUSED)
def test_what_would_break_a_containers_order_is_refused(monkeypatch, body, engine):
    assert REFUSED[body] in told(declare(body), engine, monkeypatch)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path", ["notes", "log"])
def test_a_message_that_is_a_parameter_is_not_changed(monkeypatch, path, engine):
    model = declare("note.text = 9", more=f", note: Member('{path}')")
    sentence = told(model, engine, monkeypatch)
    assert "only actions change a state" in sentence or "in order" in sentence


def test_equal_nodes_of_a_bag_are_one_choice():
    model = declare("s.found = server", more=", server: Member('called')")
    result = agree(model, progress=False)
    founds = [view(model.layout, row.tobytes()).found for row in result.states]
    assert (result.per_action["act"], founds) == (2, [0, 1, 2])


def test_a_changed_copy_takes_the_place_of_an_item():
    body = """
old = s.notes.items[0]
new = Note(text=old.text + 5)
take(s.notes, old)
add(s.notes, new)
s.found = 10 * s.notes.items[0].text + s.notes.items[1].text
"""
    assert found(declare(body)) == 59


# --- Loops over what is there --------------------------------------------------------------------

VISITED = {
    "for each in s.notes.items:\n    s.found += 10 + each.text": 29,
    "for each in s.log.items:\n    s.found += 10 + each.text": 23,
    "s.found = sum(10 + each.text for each in s.notes.items)": 29,
    "s.found = sum(1 for row in s.heard for each in row)": 4,
    "s.found = 10 * len(s.votes) + len(s.heard[1])": 22,
    "votes = s.votes\ns.found = 10 * how_long(votes) + how_long(s.places)": 23,
    "for k in range(1, len(s.votes) + 1):\n    s.votes[k] = k\ns.found = sum(s.votes)": 3,
    "s.found = len(s.channel) if len(s.votes) == how_many(s.votes) else 0": 2,
    "s.found = capacity(s.notes)": 4,
    "for each in s.notes:\n    s.found += 10 + each.text": 29,
    "for k, each in enumerate(s.log):\n    s.found += k * each.text": 2,
    "s.found = sum(10 + each.text for each in s.notes)": 29,
    "s.found = sum(s.numbers) + max(s.numbers) + min(s.called)": 21,
    "s.found = how_many(s.notes) + how_many(s.log)": 4,
    "s.found = s.log[0].text + 10 * s.log[1].text": 21,
    "s.log[1] = s.log[0]\ns.log[0].text = 7\ns.found = s.log[0].text + s.log[1].text": 8,
}

CHANGED = {
    "for each in s.log:\n    append(s.log, Note(text=3))": "state.log is changed",
    "for k, each in enumerate(s.log):\n    truncate(s.log, k)": "state.log is changed",
    "for each in s.notes:\n    take(s.notes, each)": "state.notes is changed",
    "for each in s.notes:\n    raised(s, each)": "state.notes is changed",
    "numbers = s.numbers\nfor each in numbers:\n    add(s.numbers, 1)": "state.numbers is changed",
    "s.found = sum(longer(s) for each in s.counts)": "state.counts is changed",
    "for server in s.called:\n    if server == 2:\n        add(s.called, 1)": "state.called is",
    "for each in s.notes:\n    for other in s.notes:\n        if each == other:\n"
    "            take(s.notes, other)\n            break": "state.notes is changed",
}

CHANGING = """
def raised(s, note):
    text = note.text
    take(s.notes, note)
    add(s.notes, Note(text=text + 5))

def longer(s):
    append(s.counts, 1)
    return 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", CHANGED)
def test_a_loop_over_what_it_changes_is_a_fault(monkeypatch, body, engine):
    body = f"append(s.counts, 1)\n{body}"
    said = told(declare(body, before=CHANGING), engine, monkeypatch)
    assert CHANGED[body.partition("\n")[2]] in said
    assert "while a for goes through it" in said
    assert ", at act, line " in said


STAYS = {
    "for each in s.notes:\n    if each.text == 4:\n        take(s.notes, each)\n        break\n"
    "s.found = len(s.notes)": 1,
    "for each in s.log:\n    each.text += 1\n    add(s.numbers, each.text)\n"
    "s.found = sum(s.numbers)": 18,
    "for k, each in enumerate(s.log):\n    s.log[k] = Note(text=9)\n    add_once(s.numbers, 7)\n"
    "s.found = last(s.log).text": 9,
    "for each in s.notes:\n    for number in s.numbers:\n        append(s.counts, 1)\n"
    "        break\ns.found = len(s.counts)": 2,
    "for server in members(s.quorum | 6):\n    add(s.numbers, server)\ns.found = len(s.numbers)": 4,
    "k = 0\nwhile k < len(s.notes):\n    if s.notes.items[k].text == 4:\n"
    "        take(s.notes, s.notes.items[k])\n    else:\n        k += 1\ns.found = len(s.notes)": 1,
    "for row in s.heard:\n    for each in row:\n        add(s.numbers, 1)\n        break\n"
    "s.found = len(s.numbers)": 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("body", STAYS)
def test_a_loop_may_change_what_it_does_not_go_through(body):
    assert found(declare(body)) == STAYS[body]


HOW_MANY = """
def how_many(container):
    return sum(1 for each in container)

def how_long(container):
    return len(container)
"""


@pytest.mark.slow
@pytest.mark.parametrize("body", VISITED)
def test_a_loop_visits_what_is_there(body):
    assert found(declare(body, before=HOW_MANY)) == VISITED[body]


ASKED = {
    "Note(text=4) in s.notes": True,
    "s.notes.items[0] in s.notes": True,
    "Note(text=2) in s.log": True,
    "Note(text=2) not in s.log": False,
    "2 in s.called and 3 not in s.called": True,
    "1 in s.votes": False,
    "'idle' in s.modes": True,
}


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_in_a_container_is_found(asked):
    assert found(declare(f"s.found = 2 if {asked} else 1")) == 1 + ASKED[asked]


# --- The first and the last item, and lists of one's own -----------------------------------------

TAKEN_OUT = {
    "first = pop_first(s.log)\ns.found = 10 * first.text + len(s.log) + s.log[0].text": 13,
    "a = pop_first(s.log)\nb = pop_first(s.log)\ns.found = 10 * a.text + b.text": 12,
    "append(s.log, pop_first(s.log))\ns.found = 10 * s.log[0].text + s.log[1].text": 21,
    "while len(s.log) > 0:\n    s.found = 10 * s.found + pop_first(s.log).text": 12,
    "append(s.counts, 7)\nappend(s.counts, 8)\ns.found = pop_first(s.counts) + last(s.counts)": 15,
    "s.found = last(s.log).text\nlast(s.log).text = 5\ns.found += 10 * s.log[1].text": 52,
}


@pytest.mark.slow
@pytest.mark.parametrize("body", TAKEN_OUT)
def test_the_first_item_is_taken_out_and_the_last_is_read(body):
    assert found(declare(body)) == TAKEN_OUT[body]


NO_ITEM = {
    "take(s.notes, Note(text=3))": "has no Note(text=3, mode='idle') to take: guard against it",
    "take(s.numbers, 3)": "state.numbers has no 3 to take",
    "pop_first(s.letters)": "letters.items has no item 0; there are 0",
    "s.leader = last(s.letters).to": "letters.items has no item -1; there are 0",
    "s.found = s.log[2].text": "state.log.items has no item 2; there are 2",
    "s.log[2] = s.log[0]": "state.log.items has no item 2; there are 2",
    "s.found = s.log[-1].text": "has no item -1; there are 2; the last one is last(state.log)",
    "s.found = s.notes[0].text": "a bag has no first item",
    "s.notes[0] = Note(text=1)": "a bag has no first item",
    "first = pop_first(s.log)\nfirst.text = 1": "take the item, and add the changed one",
    "numbers = [0] * 2\ns.found = numbers[2]": "list index out of range",
    "numbers = [0] * 2\nnumbers[-3] += 1": "list index out of range",
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", NO_ITEM)
def test_an_item_that_is_not_there_is_told(monkeypatch, body, engine):
    assert NO_ITEM[body] in told(declare(body), engine, monkeypatch)


LISTS = {
    "votes = [0] * (c.servers + 1)\nvotes[2] += 5\nvotes[1] = 3\n"
    "s.found = sum(votes) + 10 * max(votes)": 58,
    "seen = [False] * 3\nseen[1] = True\ns.found = sum(1 for each in seen if not each)": 2,
    "numbers = 3 * [4]\nnumbers[-1] = 2\ns.found = len(numbers) * numbers[2] + numbers[0]": 10,
    "numbers = [1] * 0\ns.found = 2 if 1 in numbers else 1": 1,
    "numbers = [2] * 3\nfill(numbers, 6)\ns.found = 2 if 6 in numbers else 1": 2,
}

FILL = """
def fill(numbers, value):
    for k in range(len(numbers)):
        numbers[k] = value
"""


@pytest.mark.slow
@pytest.mark.parametrize("body", LISTS)
def test_a_function_keeps_a_list_of_numbers(body):
    assert found(declare(body, before=FILL)) == LISTS[body]


REFUSED_LISTS = [
    "a = [0] * 2\nb = a + a\ns.found = len(b)",
    "a = [0] * 2\nb = [0] * 2\ns.found = 2 if a == b else 1",
    "a = [0] * 2\ns.found = a[0:1][0]",
    "a = [s.log[0]] * 2\ns.found = a[0].text",
    "numbers[0] = 1",
]


@pytest.mark.parametrize("body", REFUSED_LISTS)
def test_what_lists_of_pythons_have_beyond_that_is_not_compiled(monkeypatch, body):
    model = declare(body, more=", numbers: Sequences(0, 1, 2)")
    assert "can't be compiled" in told(model, "native", monkeypatch)


ONE_PLACE = [
    "a = Note(text=1)\nfor k in range(3):\n    b = a\n    a = Note(text=k)\n    s.found = b.text",
    "a = pop_first(s.log)\nwhile len(s.log) > 0:\n    b = a\n    a = pop_first(s.log)\n"
    "    s.found = b.text",
]


@pytest.mark.parametrize("body", ONE_PLACE)
def test_a_record_of_an_earlier_turn_is_not_kept(monkeypatch, body):
    said = told(declare(body), "native", monkeypatch)
    assert "b was made in an earlier turn of the loop" in said


@pytest.mark.parametrize("engine", ENGINES)
def test_who_removes_an_item_and_then_refuses_is_told(monkeypatch, engine):
    body = "return 'too late'"
    for change in ("remove_at(s.log, 0)", "s.found = pop_first(s.log).text"):
        model = declare("return late(s)", before=f"def late(s):\n    {change}\n    {body}")
        assert "guards before the first change" in told(model, engine, monkeypatch)


# --- Sets of nodes -------------------------------------------------------------------------------

SETS = """
def everybody(c) -> NodeSet(Server):
    return nodes_up_to(c.servers)

def count_of(nodes: NodeSet(Server)):
    return len(nodes)

def is_quorum(nodes: NodeSet(Server), c):
    votes = 0
    for server in nodes:
        votes += 1
    return 2 * votes > c.servers
"""
OF_SETS = {
    "s.found = 2 if 1 in s.quorum else 1": 2,
    "s.found = 2 if s.leader in s.quorum else 1": 1,
    "s.found = 2 if 2 not in s.quorum and not 2 in s.quorum else 1": 2,
    "quorum = with_node(s.quorum, 2)\ns.found = len(quorum) + 10 * len(s.quorum)": 12,
    "for server in with_node(s.quorum, 2):\n    s.found += 10 * server": 30,
    "s.found = sum(server for server in nodes_up_to(c.servers) if server not in s.quorum)": 2,
    "s.found = 2 if all(server in s.quorum for server in everybody(c)) else 1": 1,
    "both = s.quorum | only(2)\nboth &= everybody(c)\ns.found = len(both)": 2,
    "s.found = count_of(everybody(c)) + 2 * is_quorum(s.quorum, c)": 2,
    "s.found = max(server for server in chosen) if len(chosen) == 2 else 0": 2,
    "nodes = s.quorum\nif s.n == 1:\n    nodes = with_node(nodes, 2)\ns.found = len(nodes)": 2,
    "s.found = sum(1 for some in subsets(chosen) if len(some) == 1 and 1 in some)": 1,
    "nodes = chosen if 2 in chosen else s.quorum\ns.found = len(nodes) if 1 in nodes else 0": 2,
    "s.acks[1] = chosen\ns.found = 5 if 2 in s.acks[1] and 2 not in s.acks[2] else 1": 5,
    "s.acks[2] = chosen\ns.found = sum(len(nodes) for nodes in s.acks)": 2,
    "s.heard[1][2] = 2 in chosen\ns.found = sum(1 for each in members(chosen))": 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("body", OF_SETS)
def test_a_set_of_nodes_is_asked_as_pythons_sets_are(body):
    more = ", chosen: Subset(Server, 2)"
    model = declare(f"s.quorum = only(1)\n{body}", before=SETS, more=more)
    assert found(model) == OF_SETS[body]


ROOM = """
class Constants(NamedTuple):
    servers: Annotated[int, Limits(1, 5, "servers")] = 3

State.field_types["seen"] = Per(Server, Bool)
spec = Spec("trap.roomy", State, Constants)

@spec.init
def begin(s, c):
    return TAKEN

def all_seen(s):
    return all(s.seen)
"""
THROUGH_ROOM = [
    "for each in s.votes:\n    s.found += 1",
    "votes = s.votes\ns.found = sum(1 for each in votes if each == 0)",
    "s.found = 2 if 0 in s.votes else 1",
    "s.found = max(s.votes)",
    "s.found = 1 if 2 * s.n > len(s.votes) else 2",
    "s.heard[1][1] = all_seen(s)",
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", THROUGH_ROOM)
def test_room_for_nodes_that_are_not_there_is_not_visited(body, engine):
    with pytest.raises(LabError, match="has room for more nodes than there are"):
        explore(declare(body, before=ROOM).spec.bind(servers=2), engine=engine, progress=False)


UNKNOWN = [
    "s.found = len(s.n)",
    "for k in s.n:\n    s.found = k",
    "s.found = 1 if 1 in s.n else 0",
    "s.found = 1 if 1 in c.servers else 0",
    "nodes = 0\nfor k in (1, 2):\n    nodes = nodes + k\ns.found = len(nodes)",
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", UNKNOWN)
def test_a_number_is_no_set(monkeypatch, body, engine):
    said = told(declare(body), engine, monkeypatch)
    assert "not known to be a set of nodes" in said
    if engine == "native":
        assert "what it returns as in `def others(me) -> NodeSet(Server)`" in said
    assert "f it is one, write " in said


EMPTY_SETS = """
def waiting(s) -> NodeSet(Server):
    nobody = nodes_up_to(0)
    for server in (1, 2):
        if s.votes[server] > 0:
            nobody = with_node(nobody, server)
    return nobody

def how_many(nodes: NodeSet(Server)):
    return len(nodes) + sum(1 for _ in nodes) + (1 if 1 in nodes else 0)

def either(one: NodeSet(Server), other: NodeSet(Server)) -> NodeSet(Server):
    if is_empty(one):
        return other
    return one | other

def is_empty(nodes: NodeSet(Server)):
    return len(nodes) == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("s.found = len(waiting(s)) + 7", 7),
        ("s.found = 5 if 1 in waiting(s) else 6", 6),
        ("s.found = 9\nfor server in waiting(s):\n    s.found = server", 9),
        ("s.found = how_many(nodes_up_to(0)) + 1", 1),
        ("s.found = how_many(only(1))", 3),
        ("s.votes[2] = 1\ns.found = len(either(nodes_up_to(0), waiting(s)) | only(1))", 2),
    ],
)
def test_a_set_keeps_its_kind_through_helpers(body, result):
    """Also the empty set: as a parameter of a helper, and as its result."""
    assert found(declare(body, before=EMPTY_SETS)) == result


@pytest.mark.parametrize("engine", ENGINES)
def test_a_helper_is_given_a_set_and_no_number(engine):
    with pytest.raises(LabError, match=r"size\(nodes\); the empty set is nodes_up_to\(0\)"):
        explore(declare("s.found = how_many(0)", before=EMPTY_SETS), engine=engine, progress=False)


# --- Values that have names ----------------------------------------------------------------------

HELPERS = """
def same_note(s):
    return s.log.items[0] == s.notes.items[0] or s.log.items[0] != s.log.items[0]

GONE = "gone"
CALM = ("idle", "gone")

def mode_of(s, server):
    return s.modes[server]

def is_in(s, server, mode):
    return s.modes[server] == mode

def count_in(s, c, mode: Mode):
    found = 0
    for server in range(1, c.servers + 1):
        if s.modes[server] == mode:
            found += 1
    return found

def why(s):
    if s.mode == "idle":
        return "it is idle"
    return ""

def send(s, server, mode: Mode):
    append(s.channel[server], mode)

def send_undeclared(s, server, mode):
    append(s.channel[server], mode)

def note_undeclared(s, mode):
    add(s.notes, Note(mode=mode))

def is_text(s, mode):
    found = s.n
    return found == mode
"""

SAME = {
    's.found = s.mode == "idle"': 1,
    's.found = s.mode != "idle"': 0,
    's.mode = "busy"\ns.found = s.mode == 1': 1,
    's.modes[2] = "gone" if s.mode == "idle" else "busy"\ns.found = s.modes[2]': 2,
    's.found = s.modes[1] in ("busy", "idle")': 1,
    "s.found = s.modes[1] in CALM": 1,
    'mode = s.mode\ns.found = mode == "idle"': 1,
    's.found = sum(1 for mode in s.modes if mode == "idle")': 2,
    's.found = all(s.modes[k] == "idle" for k in range(1, c.servers + 1))': 1,
    's.found = mode_of(s, 1) == "idle"': 1,
    's.found = is_in(s, 1, "idle")': 1,
    's.found = count_in(s, c, "idle")': 2,
    's.found = c.pace == "slow"': 1,
    'add(s.notes, Note(text=1, mode="gone"))\ns.found = s.notes.items[0].mode': 2,
    's.log.items[0].mode = "busy"\ns.found = s.log.items[0].mode == "busy"': 1,
    's.found = why(s) == "it is idle"': 1,
    'said = why(s)\ns.found = said in ("it is idle", "")': 1,
    'append(s.channel[1], "gone")\ns.found = s.channel[1][0]': 2,
    'queue = s.channel[2]\nappend(queue, GONE if s.n > 0 else "busy")\ns.found = queue[0]': 2,
    'send(s, 2, "gone")\ns.found = last(s.channel[2])': 2,
    'add(s.moods, "gone")\nadd(s.moods, "busy")\nadd_once(s.moods, "busy")\n'
    'take(s.moods, "gone")\ns.found = 10 * len(s.moods) + (1 if "busy" in s.moods else 0)': 11,
    "s.found = same_note(s)": 0,
    "s.modes[2] += 1\nfound = s.modes[2]\ns.modes[found] |= 2\ns.found = s.modes[1]": 2,
    "s.mode = 2\ns.found = s.mode + 3 * (s.mode << 1)": 14,
}


@pytest.mark.slow
@pytest.mark.parametrize("body", one_in(3, SAME))
def test_a_named_value_is_compared_with_its_name(body):
    assert found(declare(body, before=HELPERS)) == SAME[body]


NO_NAME = {
    's.found = s.mode == "idel"': "s.mode is one of idle, busy, gone, never 'idel'",
    's.modes[1] = "away"': "s.modes[1] is one of idle, busy, gone, never 'away'",
    'add(s.notes, Note(mode="away"))': "mode is one of idle, busy, gone, never 'away'",
    's.found = count_in(s, c, "away")': "mode is one of idle, busy, gone, never 'away'",
    's.found = c.pace == "quick"': "c.pace is one of slow, fast, never 'quick'",
    's.found = s.n == "one"': "s.n is a number, never 'one'",
    'add(s.moods, "away")': "s.moods is one of idle, busy, gone, never 'away'",
    's.n = "one"': "s.n is a number, never 'one'",
}


def test_a_number_is_compared_with_no_text_of_unknown_value(monkeypatch):
    body = 'names = ("idle", "busy")\ns.found = s.mode in names'
    said = told(declare(body, before=HELPERS), "native", monkeypatch)
    assert "a number is compared with a text" in said
    assert "declare it: `def is_of(m, kind: Kind)`" in said
    body = 's.found = is_text(s, "idle" if s.n > 0 else "busy")'
    said = told(declare(body, before=HELPERS), "native", monkeypatch)
    assert "found is a number, never 'busy'" in said


@pytest.mark.parametrize("call", ['send_undeclared(s, 1, "gone")', 'note_undeclared(s, "gone")'])
def test_a_name_that_is_stored_by_a_helper_is_declared(monkeypatch, call):
    said = told(declare(call, before=HELPERS), "native", monkeypatch)
    assert "filled with a text, which is not known to be one of its names" in said
    assert "declare it: `def is_of(m, kind: Kind)`" in said


OTHER_NAMES = {
    "s.hunger = s.mode": "s.hunger is one of idle, gone, busy, and s.mode one of idle, busy, gone",
    "s.found = s.hunger == s.mode": "s.hunger is one of idle, gone, busy, and s.mode one of",
    "s.found = s.mode in s.hungers": "s.mode is one of idle, busy, gone, and s.hungers one of",
    "s.found = s.mode != c.pace": "s.mode is one of idle, busy, gone, and c.pace one of slow",
    "s.mode = s.hunger if s.n > 0 else s.modes[1]": "and s.hunger one of idle, gone, busy",
    "s.found = count_in(s, c, s.hunger)": "mode is one of idle, busy, gone, and s.hunger one of",
}


@pytest.mark.parametrize("body", NO_NAME | OTHER_NAMES)
def test_a_value_has_no_text_or_value_with_other_names(body):
    """Only their numbers would be copied or compared: `busy` would become `gone`."""
    with pytest.raises(LabError) as error:
        explore(declare(body, before=HELPERS), engine="python", progress=False)
    assert (NO_NAME | OTHER_NAMES)[body] in str(error.value)


def test_a_named_value_is_a_number_else():
    [idle, busy] = named_values(("idle", "busy"))
    assert (busy == "busy", busy == "idle", busy != "idle", busy == 1, idle < busy) == (
        *(True, False, True, True, True),
    )
    assert (busy + 1, busy << 2, type(busy + 1), {busy: 3}[1]) == (2, 4, int, 3)
    assert pickle.loads(pickle.dumps(busy)) == "busy"
    assert json.dumps([busy]) == "[1]"
    with pytest.raises(ValueError, match="is one of idle, busy, never 'away'"):
        assert busy == "away"


# --- Names that helpers return -------------------------------------------------------------------

MODE_OF = """
def mode_of(s) -> Mode:
    if s.n > 5:
        return "gone"
    return "busy" if s.leader == NONE else "idle"
"""


def test_a_helper_may_return_a_name():
    body = (
        'mode = mode_of(s)\ns.mode = mode\nif mode == "busy" and s.mode != "gone":\n    s.found = 7'
    )
    assert found(declare(body, MODE_OF)) == 7


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_that_a_helper_returns_is_one_of_those_it_declares(engine):
    with pytest.raises(LabError, match="one of idle, busy, gone, never 'tired'"):
        explore(declare("s.mode = mode_of(s)", MODE_OF.replace('"gone"', '"tired"')), engine=engine)
