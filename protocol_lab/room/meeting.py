"""The state of a room, and the messages that change it.

A message is a JSON object with a `kind` and that kind's fields, no more. The state is a function of
the messages that were accepted: a room that starts again repeats them.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.room.site_questions import Question, SiteQuestions

LEADER = "leader"
MOST_LEARNERS = 200
MOST_OWN = 100
"""So many questions that the site does not have can the leader ask."""
PASSING = ("place",)
"""Kinds that a room which starts again need not repeat."""

_LINK = r"#(?:beat-\d{1,4}|lab1\.[\w-]{1,8000})(?:~\d{1,3})?"


def _text(most: int) -> Callable[[Any], bool]:
    return lambda each: isinstance(each, str) and len(each) <= most and each.isprintable()


def _number(most: int) -> Callable[[Any], bool]:
    return lambda each: type(each) is int and 0 <= each <= most


def _flag(each: Any) -> bool:
    return isinstance(each, bool)


def _link(each: Any) -> bool:
    return isinstance(each, str) and re.fullmatch(_LINK, each, re.ASCII) is not None


def _choices(each: Any) -> bool:
    return isinstance(each, list) and 2 <= len(each) <= 30 and all(map(_text(300), each))


_LEARNERS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "name": {"name": _text(40)},
    "hand": {"up": _flag},
    "vote": {"question": _text(300), "choice": _number(99)},
    "place": {"page": _text(300), "at": _number(9999), "of": _number(9999)},
    "won": {"challenge": _text(100), "steps": _number(999), "link": _link},
}
_LEADERS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "follow": {"on": _flag},
    "keys": {"to": lambda each: each is None or _number(MOST_LEARNERS)(each)},
    "ask": {"question": _text(300), "on": _flag, "text": _text(1000), "choices": _choices},
    "reveal": {"question": _text(300)},
}
_STAND = {"page": _text(300), "about": lambda each: each == "" or _link(each)}


@dataclass
class Learner:
    """Somebody in the room. votes: by question; ways: by challenge, the steps and the link; place:
    page, beat or step, and of how many; since: when that began, as `time.time` has it."""

    number: int
    name: str = ""
    hand: bool = False
    votes: dict[str, int] = field(default_factory=dict)
    ways: dict[str, tuple[int, str]] = field(default_factory=dict)
    place: tuple[str, int, int] = ("", 0, 0)
    since: int = 0


class Meeting:
    """Who is in the room, what was asked and answered, and where all stand who follow.

    `keys`: the number of the learner who steps for all instead of the leader.
    """

    def __init__(self, site: SiteQuestions):
        self.site, self.questions = site, dict(site.questions)
        self.learners: dict[int, Learner] = {}
        self.numbers: dict[str, int] = {}  # of the learners, by the digest of their secret
        self.asked: set[str] = set()
        self.revealed: set[str] = set()
        self.follow = False
        self.keys: int | None = None
        self.own: str | None = None  # the question that the leader asked last of those in no page
        self.stand = {"page": "", "about": ""}

    def join(self, digest: str) -> int | None:
        """The number of the learner with this secret, who may be new; None if the room is full."""
        if digest not in self.numbers and len(self.numbers) < MOST_LEARNERS:
            number = self.numbers[digest] = len(self.numbers) + 1
            self.learners[number] = Learner(number)
        return self.numbers.get(digest)

    def why_not_accepted(self, who: int | str, message: Any) -> str:
        """Why a message from this sender is refused; "" if it can be applied."""
        fields = dict(message) if isinstance(message, dict) else {}
        kind = str(fields.pop("kind", None))
        kinds = _LEADERS if who == LEADER else _LEARNERS
        checks = kinds | ({"stand": _STAND} if who == (self.keys or LEADER) else {})
        if kind not in checks:
            return f"you can't send this: {kind[:20]}"
        if fields.keys() != checks[kind].keys() or not all(
            check(fields[name]) for name, check in checks[kind].items()
        ):
            return f"malformed: {kind}"
        question = self.questions.get(fields.get("question", ""))
        is_new, known = kind == "ask" and question is None, self.site
        refusals = {
            "no such question": kind in ("vote", "reveal") and question is None,
            "no such choice": question and fields.get("choice", 0) >= len(question.choices),
            "no such page": fields.get("page", "") not in ("", *known.pages),
            "no such challenge": kind == "won" and fields["challenge"] not in known.challenges,
            "no such learner": fields.get("to") not in (None, *self.learners),
            "too many questions": is_new and len(self.questions) >= len(known.questions) + MOST_OWN,
        }
        return next((reason for reason, holds in refusals.items() if holds), "")

    def apply(self, who: int | str, message: dict[str, Any]) -> None:
        """Change the state by a message that is accepted."""
        me = self.learners.get(who)
        match message:
            case {"kind": "name", "name": name}:
                me.name = name.strip()
            case {"kind": "hand", "up": up}:
                me.hand = up
            case {"kind": "vote", "question": question, "choice": choice}:
                # It may be changed while it waits; who has seen the answer can't.
                is_open = question not in (*self.revealed, *me.votes)
                if is_open or self.is_held(question):
                    me.votes[question] = choice
            case {"kind": "place", "page": page, "at": at, "of": of}:
                if me.place != (page, at, of):
                    me.place, me.since = (page, at, of), int(time.time())
            case {"kind": "won", "challenge": challenge, "steps": steps, "link": link}:
                me.ways[challenge] = min(me.ways.get(challenge, (1000, "")), (steps, link))
            case {"kind": "stand", "page": page, "about": about}:
                self.own = self.own if page == self.stand["page"] else None  # it is over
                self.stand = {"page": page, "about": about}
            case {"kind": "follow", "on": on}:
                self.follow = on
            case {"kind": "keys", "to": to}:
                self.keys, self.follow = to, self.follow or to is not None
                if to is not None:
                    self.learners[to].hand = False
            case {"kind": "ask", "question": question, "on": on, "text": text, "choices": choices}:
                own = Question("the leader's own", text, tuple(choices))
                self.questions.setdefault(question, own)
                self.own = question if on and question not in self.site.questions else None
                (self.asked.add if on else self.asked.discard)(question)
            case {"kind": "reveal", "question": question}:
                self.revealed.add(question)
                self.own = self.own if question == self.own else None

    def is_held(self, question: str) -> bool:
        """Do the answers to a question wait for the leader?"""
        return (self.follow or question in self.asked) and question not in self.revealed

    def counts(self, question: str) -> list[int]:
        """How many chose each choice."""
        chosen = [each.votes.get(question) for each in self.learners.values()]
        return [chosen.count(k) for k in range(len(self.questions[question].choices))]

    def answered(self) -> list[str]:
        """The questions that have an answer, in the order of the site."""
        votes = {question for each in self.learners.values() for question in each.votes}
        return [each for each in self.questions if each in votes]

    def view(self, who: int | str, here: set[int]) -> dict[str, Any]:
        """What this member sees, as plain values; here: the learners who are connected."""
        shown = {
            **{"me": who, "here": len(here), "follow": self.follow, "keys": self.keys},
            **{"stand": self.stand, "asked": sorted(self.asked - self.revealed)},
            "revealed": {each: self.counts(each) for each in sorted(self.revealed)},
        }
        if who != LEADER:
            me = self.learners[who]
            own = self.questions.get(self.own or "")
            asked = own and {"name": self.own, "text": own.text, "choices": own.choices}
            return shown | {"name": me.name, "hand": me.hand, "mine": me.votes, "own": asked}
        ways: dict[str, list[tuple[int, int, str]]] = {}
        for each in self.learners.values():
            for challenge, (steps, link) in each.ways.items():
                ways.setdefault(challenge, []).append((steps, each.number, link))
        return shown | {
            "people": [
                {**vars(each), "votes": None, "ways": None, "here": each.number in here}
                for each in self.learners.values()
            ],
            "counts": {each: self.counts(each) for each in self.answered()},
            "ways": {each: sorted(found)[:5] for each, found in ways.items()},
        }
