"""What the reading of a spec's code refuses, each with one sentence, and what it accepts.

Each case is the body of an action. It is read before anything runs, also where the first states do
not get there; all engines have this reading, so that the cases run with one. More, in whole specs,
are in `end_to_end/test_typical_mistakes`.
"""

import pytest

from protocol_lab import TAKEN, Bool, LabError, Spec, Struct
from protocol_lab.explore import explore
from protocol_lab.model.spec import Situation
from protocol_lab.traces.walk import Walk
from tests.one_action import declare, found, told
from tests.spec_checks import agree
from tests.work_units import one_in

# --- Names for what was changed, and for nothing -------------------------------------------------

HELPERS = """
def renew(s):
    s.last = Note(text=3)

def text_after(s, note):
    renew(s)
    return note.text

def last_of(s):
    return s.last

def taken(s, note):
    text = note.text
    take(s.notes, note)
    return text

def taken_last(s, note):
    s.found = taken(s, note)
    return TAKEN
"""

STALE = {
    "old = s.last\ns.last = Note(text=3)\ns.found = old.text": "old is another name for s.last",
    "n = s.log.items[0]\nremove_at(s.log, 0)\ns.found = n.text": "has changed s.log.items",
    "n = s.notes.items[1]\ntake(s.notes, n)\nif n.text > 3:\n    s.found = 1": "n.text (line",
    "n = s.notes.items[0]\nadd(s.notes, Note(text=1))\ns.found = n.text": "n is another name",
    "votes = s.heard[1]\ns.heard = 0\ns.found = votes[2]": "votes is another name for s.heard[1]",
    "old = s.last\ns.last = s.kept\ns.kept = old": "old is another name for s.last",
    "old = s.last\ns.last = Note(text=3)\nold.text = 4": "or write s.last if you mean",
    "s.last, s.kept = s.kept, s.last": "assign one field at a time",
    "s.found: int = 300": "leave the type out",
    "for s.found in range(300, 301):\n    s.n += 0": "let the loop have a variable of its own",
    "k = [0 for s.found in range(300, 301)]\ns.n += k[0]": "let the loop have a variable of its",
    "old = s.log[1]\ns.log[1] = Note(text=7)\nif all(old > 0 for old in (1, 2)):\n"
    "    s.found = old.text": "old is another name for s.log[1]",
    "if s.n == 1:\n    old = s.log[1]\nelse:\n    old = s.log[0]\ns.log[1] = Note(text=7)\n"
    "s.found = old.text": "old is another name for s.log[1]",
    "old = s.last\nfor j in range(2):\n    s.found = old.text\n    s.last = Note(text=3)": "old is",
    "for each in s.log:\n    s.log[0] = Note(text=3)\n    s.found = each.text": "each is another",
    "old = s.log[0]\ns.log[s.n] = Note(text=3)\ns.found = old.text": "which may be the same",
    "old = last(s.log)\ntruncate(s.log, 1)\ns.found = old.text": "has changed s.log.items",
    "old = s.log[0]\nkept = pop_first(s.log)\ns.found = old.text + kept.text": "old is another",
    "old = s.last\nrenew(s)\ns.found = old.text": "has changed s.last",
    "s.found = text_after(s, s.last)": "text_after: note.text",
    "old = last_of(s)\ns.last = Note(text=3)\ns.found = old.text": "old is another name for",
}

NONE_GIVEN = "it has no value on some of the paths to this line: give it one before"

UNASSIGNED = [
    "if s.n > 9:\n    k = 1\ns.found = k",
    "for k in range(s.n):\n    s.n += 0\ns.found = k",
    "for j in range(3):\n    if j == s.n:\n        break\n    k = j\nelse:\n    k = 1\ns.found = k",
    "for j in range(3):\n    if j > s.n:\n        s.found = k\n    k = j",
    "if s.n > 9:\n    k = 1\nk += 1\ns.found = k",
    "if s.n > 9:\n    k = 1\ns.found = 1 if any(k > j for j in range(3)) else 0",
]

KNOWN = [
    "old = s.n\ns.n = 3\ns.found = old + 4",  # a number is a copy
    "old = s.last\ns.found = old.text + 5\ns.last = Note(text=3)",
    "note = s.last\nnote.text = 5\ns.found = note.text",
    "old = s.last\nif s.n > 5:\n    s.last = Note()\n    return TAKEN\ns.found = old.text + 5",
    "first = s.log.items[0]\nappend(s.log, Note(text=4))\ns.found = first.text + 4",
    "n: int = 2\nfor k, m in ((0, 3), (0, 3)):\n    n += k\ns.found = n + m",
    "if s.n > 9:\n    k = 1\nelse:\n    k = 5\ns.found = k",
    "if s.n > 9:\n    k = 1\nelif s.n > 8:\n    return TAKEN\nelse:\n    k = 5\ns.found = k",
    "for j in range(s.n):\n    k = 5\n    break\nelse:\n    k = 1\ns.found = k",
    "while True:\n    if s.n == 0:\n        k = 5\n        break\n    s.n -= 1\ns.found = k",
    "for j in range(3):\n    if s.n > 9:\n        continue\n    k = j + 3\n    s.found = k",
    "for note in s.notes:\n    if note.text == 5:\n        s.found = taken(s, note)\n        break",
    "for note in s.notes:\n    if note.text == 5:\n        return taken_last(s, note)",
    "note = s.notes.items[1]\nk = taken(s, note)\ns.found = k",
]

APART = {
    's.found = 5 if all(m == "idle" for m in s.modes) and all(m == "idle" for m in s.hungers) '
    "else 1": 5,
    "m = 2\nif all(m == 'idle' for m in s.modes):\n    s.found = m + 3": 5,
    "each = s.last\ns.found = sum(each.text for each in s.log) + each.text + 2": 5,
    "k = 3\ntotal = sum(k for k in range(3)) + sum(j * k for j in range(2) for k in range(2))\n"
    "s.found = total + k - 2": 5,
    "for k, mode in enumerate(s.modes):\n    if mode == 'idle':\n        s.found += 2 + k": 5,
    "found = [0] * 2\nfound[1] = max(found for found in (1, 5))\ns.found = found[1]": 5,
}

# --- Values that have names, followed through functions ------------------------------------------

DETOURS = """
def put(s, mood):
    s.mode = mood

def put_on(s, mood):
    put(s, mood=mood)

def mood_of(s):
    return s.hunger

def are_same(one, other):
    return one == other

def note_it(s, mode):
    add(s.notes, Note(mode=mode))

def greater(s):
    return max(s.hungers[1], s.hungers[2])

def put_busy(s, mode="bussy"):
    s.mode = mode

def is_busy(mode: Mode):
    return mode == "busy"
"""

BOTH = "one of idle, busy, gone, and {} one of idle, gone, busy"
BY_DETOURS = {
    "put(s, s.hunger)": ["put: s.mode = mood (line", BOTH.format("mood"), "put(s, s.hunger) in"],
    "put_on(s, s.hungers[1])": ["put: s.mode = mood", "the call is put(s, mood=mood) in line"],
    "s.mode = mood_of(s)": ["act: s.mode = mood_of(s) (line", BOTH.format("mood_of(s)")],
    "s.found = are_same(s.mode, s.hunger)": ["are_same: one == other", BOTH.format("other")],
    "note_it(s, last(s.channel[1]) if s.n > 5 else s.hunger)": ["note_it: Note(mode=mode)"],
    "s.mode = greater(s)": [BOTH.format("greater(s)")],
    "mood = s.mode\nif s.n > 5:\n    mood = s.hunger\ns.mode = mood": [BOTH.format("mood")],
    "mood = s.mode\nfor k in range(s.n - 1):\n    s.mode = mood\n    mood = s.hunger": [
        BOTH.format("mood")
    ],
    "for mood in s.hungers:\n    s.mode = mood if s.n > 5 else 0": [BOTH.format("mood")],
    "s.found = any(mood == s.mode for k, mood in enumerate(s.hungers))": ["mood is one of idle"],
    'put(s, "away")': ["s.mode is one of idle, busy, gone, never 'away'", "put(s, 'away') in"],
    "put_busy(s)": ["never 'bussy'"],
    "s.found = is_busy(s.n)": ["s.n is a number, and mode takes one of idle, busy, gone"],
    "s.found = is_busy(mode=1)": ["1 is a number, and mode takes one of idle"],
}

SEVERAL_KINDS = [
    "mood = s.mode\ns.mode = mood\nmood = s.hunger\ns.hunger = mood\ns.found = 5",
    "s.found = 5 if are_same(s.mode, s.modes[1]) and are_same(s.hunger, s.hungers[2]) else 1",
    "mood = s.hunger\nmood += 1\nput(s, mood)\ns.found = 4 + s.mode",
]


# --- Code without effect -------------------------------------------------------------------------

INEFFECTIVE = {
    "s.found = 1 if s.votes[1] == None else 2": "write s.votes[1] == NONE",
    "s.found = 1 if None != s.leader else 2": "write s.leader != NONE",
    "leader = s.leader\nif leader is None:\n    s.found = 1": "write leader == NONE",
    "s.found = led(s.leader)": "led: of is not None",
    "s.found = 1 if s.mode is s.modes[1] else 2": "write ==",
    "without_node(s.acks[1], 2)": "write s.acks[1] = without_node(s.acks[1], ...)",
    "Note(text=3)": "its value is not used",
    "is_in(s.numbers, 3)": "its value is not used",
    "set_leader(s)": "set_leader: s.leader == 1",
}

LED = """
def led(of):
    return 1 if of is not None else 2

def set_leader(s):
    s.leader == 1
"""

EFFECTIVE = [
    "note = None\nfor each in s.notes:\n    note = each\nif note is not None:\n"
    "    s.found = note.text",
    "s.found = given(s)",
    "fives(s)\nlast(s.log).text = 5\ns.found = last(s.log).text",
    "found = 4\nfound += 1\ns.found = found",
    "last = pop_first(s.log)\ns.found = 3 + s.log[0].text",
    "for n in range(2):\n    last = 4 + n\ns.found = last",
]

GIVEN = """
def given(s, number=None):
    return 5 if number is None else number

def fives(s):
    \"\"\"Makes it five.\"\"\"
    s.found = 5
"""

# --- Arrays and containers as conditions ---------------------------------------------------------

A_CONDITION = {
    "if s.votes:\n    s.found = 1": "s.votes is neither true nor false: ask for one slot",
    "s.found = 1 if not s.places else 2": "s.places is neither true nor false: ask for one slot",
    "s.found = 1 if s.n == 1 and s.last else 2": "s.last is neither true nor false: compare its",
    "while s.log:\n    truncate(s.log, 0)": "s.log is neither true nor false: write len(s.log) > 0",
    "votes = s.votes\nif votes:\n    s.found = 1": "votes is neither true nor false",
    "s.found = 1 if any(s.log) else 2": "is neither true nor false: compare its fields",
    "s.found = sum(1 for row in s.heard if row)": "row is neither true nor false",
    "s.n = s.votes and 1": "s.votes is neither true nor false",
    "if is_set(s.votes):\n    s.found = 1": "votes is neither true nor false: ask for one slot",
}

IS_SET = """
def is_set(value):
    if value:
        return True
    return False

def said(s):
    return "no" if s.n else ""
"""

AN_ORDER = dict.fromkeys(
    ["s.found = 1 if s.votes > 3 else 2", "s.found = 1 if 3 <= s.votes else 2"],
    "has no order: compare an item",
)


# --- Python that is not in the language ----------------------------------------------------------

BEFORE = """
SEEN = [1, 2]
NEXT = {1: 2}
FEW = {1, 2}
BUSY = ["busy", "gone"]

class Plain:
    x = 3

OTHER = Plain()

def note(s):
    SEEN.append(s.n)
    return 1

def star(*numbers):
    return 1

def only_named(*, k):
    return k
"""

REFUSED = {
    "s.found = note(s)": "note can't be compiled with SEEN, a list outside the state",
    "s.found = SEEN[0]": "SEEN, a list outside the state",
    "s.found = NEXT[1]": "NEXT, a dict outside the state",
    "BUSY.append('idle')": "BUSY, a list outside the state",
    "s.found = OTHER.x": "OTHER, which is no number, name or tuple",
    "f = lambda x: x\ns.found = f(1)": "a function inside a function",
    "s.found = len({k for k in range(3)})": "a set of Python's",
    "s.found = 1 if 2 in (k for k in range(3)) else 0": "with a generator here (line",
    "s.found = [k for k in reversed((1, 2))][0]": "reversed()",
    "s.found = star(1)": "star can't be compiled with * or / among its parameters",
    "s.found = only_named(k=1)": "only_named can't be compiled with * or / among its parameters",
}

REFUSALS = [
    (before, body, [said] if isinstance(said, str) else said)
    for before, cases in (
        (HELPERS, STALE | dict.fromkeys(UNASSIGNED, NONE_GIVEN)),
        (DETOURS, BY_DETOURS),
        (LED, INEFFECTIVE),
        (IS_SET, A_CONDITION | AN_ORDER),
        (BEFORE, REFUSED),
    )
    for body, said in cases.items()
]


@pytest.mark.parametrize(("before", "body", "said"), REFUSALS)
def test_a_mistake_is_told_in_one_sentence_that_names_the_place(before, body, said):
    with pytest.raises(LabError) as error:
        explore(declare(body, before=before), engine="python", progress=False)
    assert all(each in str(error.value) for each in said)
    assert before == BEFORE or "of its cell)" in str(error.value)


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_in_the_language_is_refused_by_the_stepper_too(body):
    with pytest.raises(LabError) as error:
        Walk.begin(declare(body, before=BEFORE))
    assert REFUSED[body] in str(error.value)


ACCEPTED = [
    *((HELPERS, body) for body in KNOWN),
    *(("", body) for body in APART),
    *((DETOURS, body) for body in SEVERAL_KINDS),
    *((GIVEN, body) for body in EFFECTIVE),
]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "body"), one_in(3, ACCEPTED))
def test_what_is_accepted_finds_what_it_says(before, body):
    assert found(declare(body, before=before)) == 5


def test_a_message_has_the_name_that_was_written():
    body = "m = s.mode\ns.found = sum(1 for m in s.modes if m == 'away')"
    with pytest.raises(LabError, match="m is one of idle, busy, gone, never 'away'"):
        explore(declare(body), progress=False)


def test_names_are_told_apart_in_what_is_no_action_as_well():
    def wrong(s, c, mode):
        return s.hunger == mode

    model = declare("s.found = 1")
    model.spec.situations.append(Situation(lambda s, c: wrong(s, c, s.mode)))
    with pytest.raises(LabError, match=r"wrong: s\.hunger == mode"):
        explore(model, engine="python", progress=False)


@pytest.mark.parametrize("body", [*A_CONDITION, "kept = [0] * 3\nif kept:\n    s.found = 1"])
def test_an_array_is_no_condition_for_the_compiler_either(monkeypatch, body):
    sentence = told(declare(body, before=IS_SET), "native", monkeypatch)
    assert "neither true nor false" in sentence
    assert not any(word in sentence for word in ("Typing", "model", "Function(", "slots("))


def test_numbers_and_texts_are_conditions():
    asked = "s.n and is_set(s.n) and not s.found and s.heard[1][2] == 0 and why"
    body = f"why = said(s)\nif {asked}:\n    s.found = 3"
    assert found(declare(body, before=IS_SET)) == 3


class Locked(Struct):
    lock: Bool


def test_a_spec_may_be_named_as_a_field_is():
    lock = Spec("toy.lock", Locked)

    @lock.init
    def begin(s, c):
        return TAKEN

    @lock.action
    def take_it(s, c):
        if s.lock:
            return "it is taken"
        s.lock = True
        return TAKEN

    assert agree(lock.bind(), progress=False).distinct == 2


def test_texts_in_a_list_may_be_asked_for():
    model = declare("s.found = 2 if s.mode in BUSY else 1", BEFORE)
    assert Walk.begin(model).model is model
    assert explore(model, engine="python", progress=False).verdict == "holds"
