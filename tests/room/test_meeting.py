"""What changes a room, who may send it, and what is refused; the table of what it believed."""

import csv

import pytest

from protocol_lab.room.beliefs import write_beliefs
from protocol_lab.room.meeting import LEADER, MOST_LEARNERS, MOST_OWN, Meeting
from protocol_lab.room.site_questions import Question, SiteQuestions

HW = "Put broker 2's high watermark where it is now."
SITE = SiteQuestions(
    {"q": Question("kafka/one_record", HW, ("0", "1", "=2"), 0)},
    {"/index.html": "First"},
    {"lose": {"page": "/index.html", "par": 3}},
)
VOTE, STAND = {"kind": "vote", "question": "q", "choice": 1}, {"kind": "stand", "about": ""}
ASK = {"kind": "ask", "question": "q", "on": True, "text": HW, "choices": ["0", "1"]}
REVEAL, WON = {"kind": "reveal", "question": "q"}, {"kind": "won", "challenge": "lose"}


@pytest.fixture
def room():
    """A room with the learners 1 and 2."""
    meeting = Meeting(SITE)
    assert [meeting.join(each) for each in ("a", "b", "a")] == [1, 2, 1]
    return meeting


def send(room, who, message):
    refusal = room.why_not_accepted(who, message)
    if not refusal:
        room.apply(who, message)
    return refusal


@pytest.mark.parametrize(
    "message",
    [
        *(None, [], "vote", 7, {}, {"kind": None}, {"kind": ["vote"]}, {"kind": "__class__"}),
        *({**VOTE, "choice": each} for each in (-1, 3, True, 1.0, "1", None, [1], 2**70)),
        *({**VOTE, "question": each} for each in ("p", "", None, ["q"], {}, "q" * 400)),
        *({**VOTE, "who": 2}, {"kind": "vote", "question": "q"}),
        *({"kind": "name", "name": each} for each in ("x" * 41, 3, "a\nb", "\u202e", "\x00")),
        *({"kind": "hand", "up": each} for each in (1, "yes", None)),
        *({"kind": "place", "page": p, "at": 1, "of": 2} for p in ("/../x", "//evil", "http://x")),
        {"kind": "place", "page": "/index.html", "at": -1, "of": 10**9},
        *({**WON, "steps": 3, "link": each} for each in ("javascript:1", "#lab1.a b", "#beat-1\n")),
        *({**WON, "steps": 3, "link": "#lab1." + "a" * 9000}, {**WON, "steps": 3}),
        {"kind": "won", "challenge": "other", "steps": 3, "link": "#lab1.a"},
        *(ASK, REVEAL, {"kind": "follow", "on": True}, {"kind": "keys", "to": 1}),
        {**STAND, "page": "/index.html"},
    ],
)
def test_a_learner_s_hostile_message_changes_nothing(room, message):
    before = room.view(LEADER, {1}), room.view(2, {1})
    assert send(room, 1, message)
    assert (room.view(LEADER, {1}), room.view(2, {1})) == before


def test_the_leader_is_held_to_the_form_as_well(room):
    for each in (VOTE, {**ASK, "choices": ["one"]}, {**REVEAL, "question": "p"}, {"kind": "keys"}):
        assert send(room, LEADER, each)
    assert send(room, LEADER, {"kind": "keys", "to": 9}) == "no such learner"
    own = [send(room, LEADER, {**ASK, "question": f"own {k}"}) for k in range(MOST_OWN + 1)]
    assert own == [""] * MOST_OWN + ["too many questions"]
    own = room.view(1, set())["own"]  # the room decides, as on call
    assert send(room, 1, {**VOTE, "question": own["name"]}) == ""
    assert room.view(LEADER, set())["counts"] == {"own 99": [0, 1]}


def test_answers_wait_and_may_be_changed_until_the_leader_shows_what_happens(room):
    send(room, 1, VOTE)
    send(room, 1, {**VOTE, "choice": 0})  # nobody has asked: the run's answer was seen
    assert room.counts("q") == [0, 1, 0]
    send(room, LEADER, ASK)
    send(room, 1, {**VOTE, "choice": 0})
    assert not {"counts", "people"} & room.view(2, set()).keys()
    send(room, LEADER, REVEAL)
    send(room, 1, VOTE)
    send(room, 2, VOTE)  # too late
    assert room.view(2, set())["revealed"] == {"q": [1, 0, 0]}


def test_who_has_the_keys_steps_for_all(room):
    here = {**STAND, "page": "/index.html", "about": "#beat-3~0"}
    assert [bool(send(room, who, here)) for who in (LEADER, 2)] == [False, True]
    send(room, 2, {"kind": "hand", "up": True})
    send(room, LEADER, {"kind": "keys", "to": 2})
    assert [bool(send(room, who, here)) for who in (2, LEADER, 1)] == [False, True, True]
    shown = room.view(2, {1})
    assert (shown["follow"], shown["stand"]["about"], shown["hand"]) == (True, "#beat-3~0", False)


def test_the_room_is_full_and_shortest_ways_come_first(room):
    for who, steps in ((1, 7), (2, 5), (1, 4), (1, 9)):
        assert send(room, who, {**WON, "steps": steps, "link": f"#lab1.a{steps}"}) == ""
    assert room.view(LEADER, set())["ways"] == {"lose": [(4, 1, "#lab1.a4"), (5, 2, "#lab1.a5")]}
    assert [room.join(f"s{k}") for k in range(MOST_LEARNERS)].count(None) == 2


def test_the_table_stands_beside_the_workshop_s(room, tmp_path):
    send(room, LEADER, ASK)
    for who in (1, 2):
        send(room, who, {**VOTE, "choice": who})
    send(room, 1, {"kind": "name", "name": "Ana"})
    write_beliefs(room, tmp_path / "room.csv")
    text = (tmp_path / "room.csv").read_text(encoding="utf-8")
    _, row = csv.reader(text.splitlines())
    assert row[:8] == ["kafka/one_record", HW, "0", "2", "0", "1", "1", "1"]
    assert "Ana" not in text
