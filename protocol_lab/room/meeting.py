"""The state of a room, and the messages that change it.

A message is `kind, about, value`: what a member is, where, or what the member answers. The state is
a function of the messages that were accepted: a room that starts again repeats them.
"""

import json
import re
import time
from typing import Any

from protocol_lab.room.site_questions import Question

LEADER = "leader"
MOST_LEARNERS = 200
MOST_WON = 100  # challenges of one learner whose shortest ways are kept

_LINK = r"#(?:beat-\d{1,4}|lab1\.[\w-]{1,8000})(?:~\d{1,3})?"
_ABOUT = r'"(?:[^"\\]|\\["\\]){0,300}"'
_TEXT = r'"(?:[^"\\]|\\["\\]){0,1000}"'
_LEARNERS = (
    r'"name", "", "(?:[^"\\]|\\["\\]){0,40}"',
    r'"(?:hand|alone)", "", (?:true|false)',
    rf'"place", "", {_ABOUT}',
    rf'"vote", {_ABOUT}, \d\d?',
    rf'"won", {_ABOUT}, \[\d{{1,3}}, \d{{1,3}}, "{_LINK}"\]',
)
_LEADERS = (
    r'"follow", "", (?:true|false)',
    r'"keys", "", (?:null|[1-9]\d{0,2})',
    rf'"ask", {_ABOUT}, \[(?:{_TEXT}(?:, {_TEXT}){{2,30}})?\]',
    rf'"reveal", {_ABOUT}, true',
)
_STAND = rf'"stand", "", "/(?:\w[\w./-]{{0,300}})?(?:{_LINK}|#[\w-]{{1,200}})?"'


class Meeting:
    """Who is in the room, and what they said.

    learners: a row for each, by number. `vote` has the numbers of the choices by question, `won`
    the steps, par and link by challenge, `since` when the learner came to this `place`.
    led: what the leader has set. `keys` is the number of the learner who steps for all, `stand` the
    address where everybody is led, `ask` the name, text and choices of what is polled, `revealed`
    the counts of questions that are answered.
    """

    def __init__(self, questions: dict[str, Question]):
        self.questions = dict(questions)
        self.numbers: dict[str, int] = {}  # of the learners, by the digest of their secret
        self.learners: dict[int, dict[str, Any]] = {}
        self.led: Any = {"follow": False, "keys": None, "stand": "", "ask": [], "revealed": {}}

    def accepts(self, who: int | str, *message: Any) -> bool:
        """May this member say this? What is said has the form of an array in JSON."""
        forms = _LEADERS if who == LEADER else _LEARNERS
        if who == (self.led["keys"] or LEADER):
            forms = (*forms, _STAND)
        said = json.dumps(message, ensure_ascii=False)[1:-1]
        if not (said.isprintable() and any(re.fullmatch(each, said) for each in forms)):
            return False
        kind, about, value = message
        if kind in ("vote", "reveal") and about not in self.questions:
            return False
        if kind == "vote":
            return value < len(self.questions[about].choices)
        if kind == "won":
            return about in (won := self.learners[who]["won"]) or len(won) < MOST_WON
        return kind != "keys" or value in (None, *self.learners)

    def apply(self, who: int | str, kind: str, about: str, value: Any) -> None:
        """Change the state by a message that is accepted, or by `joined` with a new digest."""
        me, led = self.learners.get(who, {}), self.led
        match kind:
            case "joined":
                self.numbers[about] = who
                me = {"number": who, "name": "", "hand": False, "alone": False, "since": 0}
                self.learners[who] = me | {"place": "", "vote": {}, "won": {}}
            case "vote":
                # It may be changed while it waits; who has seen the answer can't.
                if self.is_held(about) or about not in (*me["vote"], *led["revealed"]):
                    me["vote"][about] = value
            case "won":
                me["won"][about] = min(value, me["won"].get(about, value))
            case "place":
                me["since"] = me["since"] if me["place"] == value else int(time.time())
                me["place"] = value
            case "ask":
                led["ask"] = value and [about, *value]
                if value:
                    own = Question("the leader's own", value[0], value[1:])
                    self.questions.setdefault(about, own)
            case "reveal":
                led["revealed"][about] = self.counts(about)
            case "stand":
                if value.partition("#")[0] != led["stand"].partition("#")[0]:
                    led["ask"] = []  # a poll ends with its page
                led["stand"] = value
            case "keys":
                led["keys"], led["follow"] = value, led["follow"] or value is not None
                if value:
                    self.learners[value]["hand"] = False
            case _:
                (led if who == LEADER else me)[kind] = value

    def is_held(self, question: str) -> bool:
        """Do the answers to a question wait for the leader?"""
        is_asked = self.led["follow"] or question in self.led["ask"][:1]
        return is_asked and question not in self.led["revealed"]

    def counts(self, question: str) -> list[int]:
        """How many chose each choice."""
        chosen = [each["vote"].get(question) for each in self.learners.values()]
        return [chosen.count(k) for k in range(len(self.questions[question].choices))]

    def beliefs(self) -> dict[str, list[int]]:
        """The counts of the questions that have an answer, in the order of the site."""
        return {each: votes for each in self.questions if any(votes := self.counts(each))}

    def view(self, who: int | str, here: set[int]) -> dict[str, Any]:
        """What this member sees, as plain values; here: the learners who are connected."""
        shown = {"me": who, "here": len(here), **self.led}
        if who != LEADER:
            return shown | {"mine": self.learners[who]}
        ways: dict[str, list[tuple[Any, ...]]] = {}
        people = []
        for number, each in self.learners.items():
            people.append({**each, "vote": None, "won": None, "here": number in here})
            for challenge, (steps, par, link) in each["won"].items():
                ways.setdefault(challenge, []).append((steps, par, number, link))
        best = {challenge: sorted(found)[:5] for challenge, found in ways.items()}
        return shown | {"people": people, "counts": self.beliefs(), "ways": best}
