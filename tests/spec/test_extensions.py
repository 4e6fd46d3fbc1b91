"""Parts of a spec that a constant adds: there with it, and without it as if never declared."""

from dataclasses import replace
from typing import Annotated, NamedTuple

import pytest

from protocol_lab import (
    HOLDS,
    TAKEN,
    Bag,
    Int8,
    LabError,
    Member,
    Node,
    Per,
    Spec,
    Struct,
    Where,
    add,
    addition,
    either,
    eventually,
    take,
)
from protocol_lab.cli import describe
from protocol_lab.liveness.check import check_property
from protocol_lab.semantics.step_text import find_step
from protocol_lab.semantics.transitions import initial
from protocol_lab.spec.constants import Limits
from tests.spec_checks import agree

Clerk = Node("clerks", noun="clerk")


class Constants(NamedTuple):
    clerks: Annotated[int, Limits(1, 3, "clerks", classes=(3,))] = 2
    notes: Annotated[int, addition("who has stamped leaves a note, and who reads it stamps")] = 0
    strikes: Annotated[int, Limits(0, 2, "strikes, each of which undoes a stamp", adds=True)] = 0


class Note(Struct):
    source: Clerk


class State(Struct):
    stamped: Per(Clerk, Int8)
    notes: Where("notes", Bag(Note, 4))
    struck: Where("strikes", Int8)


def leave_note(s, clerk) -> None:
    add(s.notes, Note(source=clerk))


def begin(s, c):
    return TAKEN


def stamp(s, c, clerk: Clerk):
    """A clerk stamps; with notes the others hear of it."""
    if s.stamped[clerk] != 0:
        return "the clerk has stamped"
    s.stamped[clerk] = 1 if not c.notes else 2
    if c.notes and c.clerks > 1:
        leave_note(s, clerk)
    elif c.strikes:
        s.struck = s.struck + 0
    return TAKEN


def read_note(s, c, note: Member("notes")):
    """A note is read, and is gone."""
    take(s.notes, note)
    return TAKEN


def strike(s, c, clerk: Clerk):
    """A stamp is undone."""
    if s.struck >= c.strikes:
        return "there were strikes enough"
    if s.stamped[clerk] == 0:
        return "there is no stamp"
    s.stamped[clerk] = 0
    s.struck += 1
    return TAKEN


def shout(s, c):
    """Only where nobody can leave a note."""
    return "nobody listens"


def few_notes(s, c):
    """There are no more notes than there can be stamps."""
    return HOLDS if s.notes.size <= c.clerks + c.strikes else "too many notes"


def all_have_stamped():
    """All clerks have stamped in the end."""
    return eventually(lambda s, c: s.stamped[1] > 0)


def all_notes_read():
    """No note is left."""
    return eventually(lambda s, c: s.notes.size == 0)


@pytest.fixture(scope="module")
def spec():
    spec = Spec("toy.clerks", State, Constants, __doc__)
    spec.init(begin)
    spec.action(stamp)
    spec.action(read_note, where="notes")
    spec.action(strike, where="strikes")
    spec.action(shout, where="not notes")
    spec.invariant(few_notes, where="notes")
    spec.messages("notes", source="source", dest="board", where="notes")
    spec.weakly_fair(stamp, each="clerk")
    spec.weakly_fair(read_note, each="note.source")
    spec.property(all_have_stamped)
    spec.property(all_notes_read, where="notes")
    return spec


def names(model) -> dict[str, list[str]]:
    spec = model.spec
    return {
        "fields": list(model.layout.fields),
        "actions": [each.name for each in spec.actions],
        "invariants": [each.name for each in spec.invariants],
        "properties": [each.name for each in spec.properties],
        "fairness": [each.name for each in spec.fairness],
        "channels": [each.path for each in spec.channels],
    }


def test_without_the_constant_a_part_is_not_there(spec):
    assert names(spec.bind()) == {
        "fields": ["stamped"],
        "actions": ["stamp", "shout"],
        "invariants": [],
        "properties": ["all_have_stamped"],
        "fairness": ["stamp"],
        "channels": [],
    }


def test_with_it_it_is(spec):
    assert names(spec.bind(notes=True, strikes=1)) == {
        "fields": ["stamped", "notes", "struck"],
        "actions": ["stamp", "read_note", "strike"],
        "invariants": ["few_notes"],
        "properties": ["all_have_stamped", "all_notes_read"],
        "fairness": ["stamp", "read_note"],
        "channels": ["notes"],
    }


def test_fairness_of_one_or_the_other_is_of_the_one_that_is_there(spec):
    extended = replace(spec, fairness=[])
    extended.weakly_fair(either(stamp, read_note))
    extended.weakly_fair(either(strike, read_note))
    assert names(extended.bind(notes=True, strikes=1))["fairness"] == [
        "stamp or read_note",
        "strike or read_note",
    ]
    assert names(extended.bind())["fairness"] == ["stamp"]


@pytest.mark.parametrize(
    ("constants", "distinct"),
    [({}, 4), ({"notes": True, "strikes": 1}, 30)],
)
def test_both_engines_leave_out_what_is_not_there(spec, constants, distinct):
    result = agree(spec.bind(**constants), progress=False)
    assert (result.verdict, result.distinct) == ("holds", distinct)


def test_a_model_can_be_bound_again_with_what_it_lacks(spec):
    assert names(spec.bind().declared.bind(notes=True)) == names(spec.bind(notes=True))


def test_who_asks_for_a_part_that_is_not_there_is_told_where_it_is(spec):
    model = spec.bind()
    row = next(initial(model)).row
    with pytest.raises(LabError, match=r"'read_note' \(it is there with notes=true\)"):
        find_step(model, row, "read_note(note=Note(source=1))")
    with pytest.raises(LabError, match=r"'few_notes' \(it is there with notes=true\)"):
        model.choose(["few_notes"])
    with pytest.raises(LabError, match=r"'shout' \(it is there with notes=false\)"):
        spec.bind(notes=True).action("shout")
    with pytest.raises(LabError, match="'all_notes_read'"):
        check_property(model, "all_notes_read", progress=False)


def test_a_part_needs_a_constant_that_adds():
    spec = Spec("toy.clerks", State, Constants, __doc__)
    spec.init(begin)
    spec.action(stamp, where="clerks")
    with pytest.raises(LabError, match="needs the name of a constant that is an `addition`"):
        spec.bind()


def test_the_list_of_specs_tells_the_added_actions_apart(spec):
    told = describe(spec)
    assert told["actions"] == ["stamp", "shout"]
    assert told["actions_added"] == {"notes": ["read_note"], "strikes": ["strike"]}
