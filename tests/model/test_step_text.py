"""Steps as text: short in files, and with whole messages for people."""

import pytest

from protocol_lab import TAKEN, Int8, Named, Spec, Struct
from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.interchange.readers import read_pasted
from protocol_lab.model.constants import choice
from protocol_lab.model.step_text import start_text
from protocol_lab.model.transitions import initial
from protocol_lab.traces.scenario_format import link_text, parse_scenario, scenario_text
from protocol_lab.traces.scenarios import play
from protocol_lab.traces.text_exports import to_itf
from protocol_lab.traces.walk import Walk
from tests import ROOT
from tests.spec_checks import read_link
from tests.toy_specs import letters


@pytest.fixture(scope="module")
def paxos() -> Walk:
    """Two ballots have begun, and acceptor 1 has answered in both."""
    walk = Walk.begin(load(ROOT / "examples" / "paxos.py").bind())
    for step in ("phase1a(b=0)", "phase1a(b=1)", "phase1b(a=1, m=Message(bal=0))"):
        walk.take(step)
    walk.take('phase1b(a=1, m=Message(kind="1a", bal=1))')
    return walk


def test_a_step_is_short_in_files_and_prints_whole_messages(paxos):
    last = paxos.steps[-2]
    assert last.text == "phase1b(a=1, m=Message(bal=0))"
    assert str(last) == "phase1b(a=1, m=Message(kind='1a', bal=0))"


def test_what_is_printed_is_read_again(paxos):
    again = Walk.begin(paxos.model)
    for step in paxos.steps:
        again.take(str(step))
    assert again.row == paxos.row


def test_a_message_of_one_type_has_all_its_fields():
    walk = Walk.begin(letters.bind(servers=3, starts=1))
    walk.take("broadcast(source=1, lost={})")
    walk.take("receive(message=Message(dest=3))")
    assert str(walk.steps[-1]) == "receive(message=Message(source=1, dest=3, value=0))"


NOT_THERE = {
    'phase1b(a=3, m=Message(kind="2a"))': ["for m there are Message(kind=", "bal=1)"],
    "phase1b(a=4)": ["for a there are 1, 2, 3."],
    "phase1b(a=1, m=Message(balot=1))": ["for m there are Message(kind=", "bal=1)"],
}


@pytest.mark.parametrize("text", NOT_THERE)
def test_a_choice_that_is_not_there_is_told_those_that_are(paxos, text):
    with pytest.raises(LabError) as error:
        paxos.take(text)
    assert f"{text}: there is no such choice in this state; " in str(error.value)
    assert all(said in str(error.value) for said in NOT_THERE[text])


def test_where_there_is_no_choice_it_is_told():
    walk = Walk.begin(letters.bind(servers=3, starts=1))
    with pytest.raises(LabError, match="nothing to choose for message: messages is empty"):
        walk.take("receive(message=Message(dest=3))")


NAMES = [
    *("read-only", "a b", "C++", "1.5", "7", "None", "class", "it's", 'say "no"', "C#", "a=b"),
    *("a, b", "(x)", "{1}", "two\nlines", "läuft", "", "set", "init"),
]


class Chosen(Struct):
    mode: Named(*NAMES)
    turns: Int8


named = Spec("named", Chosen, meaning="")


@named.init
def begin(s: Chosen, c, mode: Named(*NAMES)):
    """Chooses."""
    s.mode = mode
    return TAKEN


@named.action
def go(s: Chosen, c, way: Named(*NAMES)):
    """Chooses again."""
    if s.turns == 2:
        return "enough"
    s.mode = way
    s.turns += 1
    return TAKEN


@pytest.mark.parametrize("number", range(len(NAMES)), ids=map(ascii, NAMES))
def test_a_value_of_any_name_is_written_so_that_it_is_read_again(number):
    model = named.bind()
    start = next(each for each in initial(model) if each.args["mode"] == number)
    walk = Walk.begin(model, start_text(model, start))
    offered = next(each for each in walk.attempts() if each.args["way"] == number)
    walk.take(walk.step_of(offered).text, "a caption with # and '")  # as the stepper does
    assert walk.state.mode == NAMES[number]
    assert walk.steps[-1].to_json()["args"] == {"way": NAMES[number]}
    again = [
        play(parse_scenario(scenario_text(walk)), model),
        read_link(link_text(walk), model),
        read_pasted(to_itf(walk), model),
    ]
    assert {each.row for each in again} == {walk.row}
    assert {each.init for each in again} == {walk.init}


@pytest.mark.parametrize("name", ["a b", "a=b", "C#", 'say "no"', "it's", "", "Strict"])
def test_a_name_that_can_not_be_typed_is_refused_as_a_constant(name):
    with pytest.raises(LabError, match="can't be typed as NAME=VALUE"):
        choice("first", name, meaning="what is served")
