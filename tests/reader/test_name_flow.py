"""Values that have names are followed through functions, and none is used as another."""

import pytest

from protocol_lab import LabError
from protocol_lab.explore import explore
from protocol_lab.model.spec import Situation
from tests.one_action import declare, found
from tests.spec_checks import ENGINES

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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", BY_DETOURS)
def test_a_name_that_reaches_a_field_by_a_detour_is_not_stored_as_another(body, engine):
    """Also where the first states do not get there."""
    with pytest.raises(LabError) as error:
        explore(declare(body, before=DETOURS), engine=engine, progress=False)
    for said in BY_DETOURS[body]:
        assert said in str(error.value)


def test_names_are_told_apart_in_what_is_no_action_as_well():
    def wrong(s, c, mode):
        return s.hunger == mode

    model = declare("s.found = 1")
    model.spec.situations.append(Situation(lambda s, c: wrong(s, c, s.mode)))
    with pytest.raises(LabError, match=r"wrong: s\.hunger == mode"):
        explore(model, engine="python", progress=False)


@pytest.mark.parametrize(
    "body",
    [
        "mood = s.mode\ns.mode = mood\nmood = s.hunger\ns.hunger = mood\ns.found = 5",
        "s.found = 5 if are_same(s.mode, s.modes[1]) and are_same(s.hunger, s.hungers[2]) else 1",
        "mood = s.hunger\nmood += 1\nput(s, mood)\ns.found = 4 + s.mode",
    ],
)
def test_a_helper_serves_values_of_several_kinds(body):
    assert found(declare(body, before=DETOURS)) == 5
