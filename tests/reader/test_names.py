"""Names whose value is not what it seems to be: places that were changed, and no value at all."""

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from tests.one_action import declare, found, told
from tests.spec_checks import ENGINES

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
    "s.n, s.found = 1, 2": "assign one field at a time",
    "s.n = s.found = 2": "assign one field at a time",
    "s.found, n = 1, 2": "assign one field at a time",
    "[s.found] = [1]": "assign one field at a time",
    "s.found: int = 300": "leave the type out",
    "for s.found in range(300, 301):\n    s.n += 0": "let the loop have a variable of its own",
    "for k, s.found in ((1, 300), (2, 3)):\n    s.n += k": "and assign the field in its body",
    "for s.heard[1] in range(3):\n    s.n += 0": "let the loop have a variable of its own",
    "k = [0 for s.found in range(300, 301)]\ns.n += k[0]": "let the loop have a variable of its",
    "old = s.log[1]\ns.log[1] = Note(text=7)\nif all(old > 0 for old in (1, 2)):\n"
    "    s.found = old.text": "old is another name for s.log[1]",
    "if s.n == 1:\n    old = s.log[1]\nelse:\n    old = s.log[0]\ns.log[1] = Note(text=7)\n"
    "s.found = old.text": "old is another name for s.log[1]",
    "old = s.kept\nfor j in range(2):\n    s.found = old.text\n    old = s.last\n"
    "    s.last = Note(text=3)": "old is another name for s.last",
    "old = s.last\nfor j in range(2):\n    s.found = old.text\n    s.last = Note(text=3)": "old is",
    "for each in s.log:\n    s.log[0] = Note(text=3)\n    s.found = each.text": "each is another",
    "log = s.log\nold = log[0]\ns.log[0] = Note(text=3)\ns.found = old.text": "old is another",
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
    "if s.n > 9:\n    k = 1\nelif s.n < 0:\n    k = 2\ns.found = k",
    "for k in range(s.n):\n    s.n += 0\ns.found = k",
    "for j in range(s.n):\n    k = j\ns.found = k",
    "for j in range(3):\n    if j == s.n:\n        break\n    k = j\nelse:\n    k = 1\ns.found = k",
    "for j in range(3):\n    if j > s.n:\n        s.found = k\n    k = j",
    "while True:\n    if s.n > 9:\n        break\n    k = 1\n    s.n += 1\ns.found = k",
    "if s.n > 9:\n    k = 1\nk += 1\ns.found = k",
    "for j in range(3):\n    if s.n == j:\n        continue\n    k = j\ns.found = k",
    "if s.n > 9:\n    k = 1\ns.found = 1 if any(k > j for j in range(3)) else 0",
    "k: int\ns.found = k",
]

MISLEADING_NAMES = STALE | dict.fromkeys(UNASSIGNED, NONE_GIVEN)


@pytest.mark.slow
@pytest.mark.parametrize("tried_out", [True, False])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", MISLEADING_NAMES)
def test_a_name_that_may_not_have_the_value_it_seems_to_have_is_refused(
    monkeypatch, body, engine, tried_out
):
    model = declare(body, before=HELPERS)
    if tried_out:
        with pytest.raises(LabError) as error:
            explore(model, engine=engine, progress=False)
        assert MISLEADING_NAMES[body] in str(error.value)
        assert "of its cell)" in str(error.value)
    elif engine == "native":
        assert MISLEADING_NAMES[body] in told(model, engine, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "old = s.n\ns.n = 3\ns.found = old + 4",  # a number is a copy
        "old = s.last\ns.found = old.text + 5\ns.last = Note(text=3)",
        "note = s.last\nnote.text = 5\ns.found = note.text",
        "old = s.last\nif s.n > 5:\n    s.last = Note()\n    return TAKEN\ns.found = old.text + 5",
        "first = s.log.items[0]\nappend(s.log, Note(text=4))\ns.found = first.text + 4",
        "n, m = 2, 3\ns.found = n + m",
        "n: int = 2\nfor k, m in ((0, 3), (0, 3)):\n    n += k\ns.found = n + m",
        "if s.n > 9:\n    k = 1\nelse:\n    k = 5\ns.found = k",
        "if s.n > 9:\n    return TAKEN\nelse:\n    k = 5\ns.found = k",
        "if s.n > 9:\n    k = 1\nelif s.n > 8:\n    return TAKEN\nelse:\n    k = 5\ns.found = k",
        "for j in range(s.n):\n    k = 5\n    break\nelse:\n    k = 1\ns.found = k",
        "for j in range(1, 3):\n    k = j + 3\ns.found = k",
        "for j in (1, 2):\n    if s.n > 9:\n        continue\ns.found = j + 3",
        "while True:\n    if s.n == 0:\n        k = 5\n        break\n    s.n -= 1\ns.found = k",
        "for j in range(3):\n    if s.n > 9:\n        continue\n    k = j + 3\n    s.found = k",
        "s.found = sum(k for k in range(3)) + 2",
        "for note in s.notes:\n    if note.text == 5:\n        s.found = taken(s, note)\n"
        "        break",
        "for note in s.notes:\n    if note.text == 5:\n        return taken_last(s, note)",
        "note = s.notes.items[1]\nk = taken(s, note)\ns.found = k",
    ],
)
def test_a_name_may_be_read_where_its_value_is_known(body):
    assert found(declare(body, before=HELPERS)) == 5


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


@pytest.mark.parametrize("body", APART)
def test_the_variables_of_a_comprehension_are_its_own(body):
    assert found(declare(body)) == APART[body]


def test_a_message_has_the_name_that_was_written():
    body = "m = s.mode\ns.found = sum(1 for m in s.modes if m == 'away')"
    with pytest.raises(LabError, match="m is one of idle, busy, gone, never 'away'"):
        explore(declare(body), progress=False)
