"""What changes a room, who may send it, and what is refused; the table of what it believed."""

import csv

import pytest

from protocol_lab.room.meeting import LEADER, MOST_WON, Meeting
from protocol_lab.room.site_questions import Question, write_beliefs

HW = "Put broker 2's high watermark where it is now."
ASK = [HW, "0", "1", "=2"]
LINKS = ("javascript:1", "#lab1.a b", "#beat-1\n", "#lab1." + "a" * 9000, "/x.html#beat-1", None)
HOSTILE = {
    (1, "vote", "q"): (-1, 3, True, 1.0, "1", None, [1], 2**70),
    **{(1, "vote", about): (1,) for about in ("p", "", None, ("q",), "q" * 400, "\ud800")},
    **{(1, kind, "q"): (0, None) for kind in (None, (), 7, "__class__", "joined", "votes")},
    (1, "name", ""): ("x" * 41, 3, "a\nb", "\u202e", "\x00", None),
    **{(1, kind, ""): (1, "yes", None) for kind in ("hand", "alone")},
    (1, "place", ""): ("x" * 301, ["x"], 1),
    (1, "won", "lose"): ([3, 2], [-1, 2, "#beat-1"], "3", *([3, 2, link] for link in LINKS)),
    **{(1, kind, "q"): (ASK, [], True) for kind in ("ask", "reveal")},
    **{(1, kind, ""): (True, 1, None, "/a.html") for kind in ("follow", "keys", "stand")},
    (LEADER, "stand", ""): ("//evil.example", "http://x", "/\\evil", "/a.html#x:1", "", None),
    (LEADER, "ask", "q"): (["one choice", "0"], ["?", "0", 1], "text", None, ["?"] * 99),
    (LEADER, "reveal", "p"): (True,),
    (LEADER, "keys", ""): (9, 0, "1", True),
    (LEADER, "vote", "q"): (1,),
}


@pytest.fixture
def room():
    """A room with the learners 1 and 2."""
    meeting = Meeting({"q": Question("kafka/one_record", HW, ["0", "1", "=2"], 0)})
    for number in (1, 2):
        meeting.apply(number, "joined", f"digest {number}", None)
    return meeting


def send(room, *message):
    if accepted := room.accepts(*message):
        room.apply(*message)
    return accepted


def test_hostile_messages_are_refused(room):
    accepted = [(*who, value) for who, values in HOSTILE.items() for value in values]
    assert [each for each in accepted if room.accepts(*each)] == []


def test_answers_wait_and_may_be_changed_until_the_leader_shows_what_happens(room, tmp_path):
    send(room, 1, "vote", "q", 1)
    send(room, 1, "vote", "q", 0)  # nobody has asked: the run's answer was seen
    assert room.counts("q") == [0, 1, 0]
    send(room, LEADER, "ask", "q", ASK)
    send(room, 1, "vote", "q", 2)
    assert not {"counts", "people"} & room.view(2, set()).keys()
    send(room, LEADER, "reveal", "q", True)
    for late in (1, 2):
        send(room, late, "vote", "q", 1)
    assert room.view(2, set())["revealed"] == {"q": [0, 0, 1]}
    send(room, LEADER, "ask", "on call: 0", ["What now?", "wait", "elect"])
    assert send(room, 2, "vote", "on call: 0", 1)
    assert send(room, 2, "name", "", 'Ana "é"')
    write_beliefs(room.questions, room.beliefs(), tmp_path / "room.csv")
    text = (tmp_path / "room.csv").read_text(encoding="utf-8")
    _, row, own = csv.reader(text.splitlines())
    assert row[:8] == ["kafka/one_record", HW, "0", "1", "0", "'=2", "1", "1"]
    assert own[-1] == "wait: 0; elect: 1"
    assert "Ana" not in text


def test_who_has_the_keys_steps_for_all(room):
    assert send(room, LEADER, "stand", "", "/a.html#beat-3~0")
    send(room, LEADER, "ask", "q", ASK)
    send(room, 2, "hand", "", True)
    send(room, LEADER, "keys", "", 2)
    movers = [who for who in (LEADER, 1, 2) if send(room, who, "stand", "", "/b.html#a-section")]
    shown = room.view(2, {1})
    assert (movers, shown["follow"], shown["mine"]["hand"]) == ([2], True, False)
    assert (shown["stand"], shown["ask"]) == ("/b.html#a-section", [])  # the poll's page was left


def test_shortest_ways_come_first_and_are_bounded(room):
    for who, steps in ((1, 7), (2, 5), (1, 4), (1, 9)):
        assert send(room, who, "won", "lose", [steps, 3, f"#lab1.{steps}"])
    assert room.view(LEADER, {1})["ways"] == {"lose": [(4, 3, 1, "#lab1.4"), (5, 3, 2, "#lab1.5")]}
    won = [send(room, 1, "won", f"{k}", [3, 3, "#lab1.a"]) for k in range(MOST_WON)]
    assert won.count(False) == 1
