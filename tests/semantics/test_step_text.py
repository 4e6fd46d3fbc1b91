"""Steps as text: short in files, and with whole messages for people."""

import pytest

from protocol_lab.catalog import load
from protocol_lab.errors import LabError
from protocol_lab.semantics import step_text
from protocol_lab.semantics.step_text import told_fields
from protocol_lab.spec.state_view import plain
from protocol_lab.traces.walk import Walk
from tests import ROOT
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


def test_no_two_messages_look_alike(paxos):
    messages = [plain(each) for each in paxos.state.msgs.items]
    layout = paxos.model.layout.fields["msgs"].fields["items"].item
    texts = {str([(n, each[n]) for n in told_fields(layout, each, messages)]) for each in messages}
    assert len(texts) == len(messages) == 4


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


def test_of_many_choices_some_are_listed_and_all_counted(paxos, monkeypatch):
    monkeypatch.setattr(step_text, "_LISTED", 1)
    with pytest.raises(LabError, match=r"for a there are 1 and 2 more\."):
        paxos.take("phase1b(a=4)")


def test_where_there_is_no_choice_it_is_told():
    walk = Walk.begin(letters.bind(servers=3, starts=1))
    with pytest.raises(LabError, match="nothing to choose for message: messages is empty"):
        walk.take("receive(message=Message(dest=3))")
