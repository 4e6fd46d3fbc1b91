"""A question of a lesson: its lines in the file, its choices, and its answer.

A question is about the state where it stands. Its answer is computed from the states of the walk,
never written:

    ? can STEP            can the step be taken here? Its guard is the answer
    ? which next          which step does the run take next? `can`: which of these can be taken
                          here? `cannot`: which is refused?
    ? where EXPRESSION    a number, shown as a line in the lane that it names, or through all lanes
    ? holder EXPRESSION   the nodes n for which it is true; or the node that it is, or nobody
    ? last INVARIANT      is the promise broken at the end of this part?
    ? cell CLAIM          the nodes that have said yes, on the board
    ? say EXPRESSION      a free question with a computed answer

EXPRESSION is Python over the state s, the constants c, and the names of the spec; for `say` also
over the names of the modules in a line `# uses: MODULE ...`. Before what `where`, `holder`, `cell`
and `say` ask, `next:` and `end:` choose another state: that of the next beat, or of the part's end.

`- CHOICE` offers a choice, `~ CHOICE: SENTENCE` one with what to say to whoever chooses it wrongly;
where none is offered the kit lists them. `= SENTENCE` is the reason beside the answer.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from typing import Any

from protocol_lab.compiler.conditions import names_in_scope
from protocol_lab.errors import LabError, quoted, shortened, unknown, visible
from protocol_lab.explain.tally import node_names, tally
from protocol_lab.explain.wording import choice_sentence, words
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import view
from protocol_lab.model.step_text import find_step, step_of
from protocol_lab.traces.events import AT_ONCE, DELIVERED, Arrow, events
from protocol_lab.traces.scenario_format import split_comment
from protocol_lab.traces.walk import Moment, Walk

TIMES = ("next", "end")
KINDS = ("can", "which", "where", "holder", "last", "cell", "say")
ORDERS = ("next", "can", "cannot")
"""What `which` asks."""

_TIMED = ("where", "holder", "cell", "say")
NOBODY = "nobody"
YES, NO = "yes", "no"
_NODE = re.compile(r"\[(\d+)\]|=(\d+)")
_OF_NODES = ("holder", "cell")
"""The kinds of questions whose answer is a set of nodes."""

_ONE_NODE = re.compile(r"\bn\b")


@dataclass(frozen=True)
class Choice:
    """A choice, and what is said to a reader who chose it wrongly; "" if nothing is."""

    text: str
    counter: str = ""


@dataclass
class Gate:
    """A question: `asks` is a step, an expression, an invariant or a claim, as its kind says.

    when: "" for the state here, "next" or "end".
    """

    kind: str
    asks: str
    question: str
    number: int
    when: str = ""
    choices: list[Choice] = field(default_factory=list)
    why: str = ""

    @property
    def lacks_choices(self) -> bool:
        """Has the file to offer choices, and does it not?"""
        return self.kind in ("say", "which") and len(self.choices) < 2


# --- Its lines in a file ---


def parse_gate(row: str, number: int) -> Gate:
    """The question of the line with this number, which begins with ?. Raises LabError."""
    code, question = split_comment(row[1:])
    kind, _, asks = code.partition(" ")
    asks = asks.strip()
    if kind not in KINDS:
        raise LabError(
            f"{quoted(row)} is not known; write ? {', ? '.join(KINDS)}, and the question behind a"
            " #."
        )
    if not question:
        raise LabError("the question is missing: write it behind a #.")
    if not asks and kind not in ("which", "last"):
        raise LabError(f"what is asked? Write it behind ? {kind}.")
    if kind == "which" and (asks := asks or "next") not in ORDERS:
        raise LabError(f"write ? which {', ? which '.join(ORDERS)}.")
    time, colon, rest = asks.partition(":")
    when = time if colon and kind in _TIMED and time in TIMES else ""
    return Gate(kind, rest.strip() if when else asks, visible(question), number, when)


def add_line(row: str, gate: Gate) -> None:
    """Add a choice, or the reason, to a question. Raises LabError."""
    mark, told = row[0], visible(row[1:].strip())
    text, colon, counter = told.partition(": ")
    if mark == "=":
        gate.why = f"{gate.why} {told}".strip()
    elif mark == "~" and not (colon and text and counter.strip()):
        raise LabError(
            "write `~ CHOICE: SENTENCE`, or `- CHOICE` for one about which nothing is said."
        )
    elif not told:
        raise LabError("the choice is missing.")
    else:
        choice = Choice(text, counter.strip()) if mark == "~" else Choice(told)
        if choice.text in [each.text for each in gate.choices]:
            raise LabError(f"{quoted(choice.text)} is offered twice.")
        gate.choices.append(choice)


# --- Its choices and its answer ---


@dataclass(frozen=True)
class Option:
    """A choice as it is shown: `label` on the button, `text` as the file has it, and what is said
    to whoever chose it wrongly. nodes: those that it names, whose lanes in the picture stand for
    it; place: the number that a line in the picture stands for."""

    label: str
    text: str
    counter: str = ""
    nodes: tuple[int, ...] = ()
    place: int | None = None


@dataclass(frozen=True)
class Answer:
    """The text of the right option, and the reason that the run gives, such as a guard's."""

    right: str
    reason: str = ""


@dataclass(frozen=True)
class Asked:
    """A question at its place: the walk of its part, the moment, and the beats around it."""

    gate: Gate
    walk: Walk
    moment: Moment
    following: Moment
    uses: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        return self.walk.model

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes that the picture has lanes for."""
        return node_names(self.model)

    @property
    def node(self) -> int:
        """The node that the question is about; 0 if it names none."""
        found = _NODE.search(self.gate.asks)
        return int(found[1] or found[2]) if found else 0

    def options(self) -> list[Option]:
        """The choices, in the order in which they are shown."""
        gate = self.gate
        listed = {each.text: each.counter for each in gate.choices}
        if gate.kind in ("can", "last"):
            return [Option(each, each, listed.get(each, "")) for each in (YES, NO)]
        if gate.kind == "where":
            highest = max(self._number(), *(int(each) for each in listed if each.isdigit()), 1)
            return [
                Option(str(k), str(k), listed.get(str(k), ""), place=k)
                for k in range(highest + (0 if str(highest) in listed else 1) + 1)
            ]
        if gate.kind == "which":
            return [Option(self._sentence(text), text, said) for text, said in listed.items()]
        if gate.kind not in _OF_NODES:
            return [Option(text, text, said) for text, said in listed.items()]
        return [self._of_nodes(text, said) for text, said in (listed or self._subsets()).items()]

    def _subsets(self) -> dict[str, str]:
        """All sets of nodes, as an answer names them."""
        every = range(1, len(self.nodes) + 1)
        sets = [each for size in range(len(every) + 1) for each in combinations(every, size)]
        return {_set_text(each): "" for each in sets}

    def _of_nodes(self, text: str, said: str) -> Option:
        nodes = tuple(int(each) for each in re.findall(r"\d+", text))
        known = nodes and all(1 <= each <= len(self.nodes) for each in nodes)
        label = " and ".join(self.nodes[each - 1] for each in nodes) if known else text
        return Option(label, text, said, nodes if known else ())

    def answer(self) -> Answer:
        """What the run says. Raises LabError if that is not among the choices."""
        found = getattr(self, f"_answer_{self.gate.kind}")()
        known = [each.text for each in self.options()]
        if found.right not in known:
            raise LabError(
                f"the run answers {quoted(found.right)}, and the choices are {', '.join(known)}:"
                " offer it."
            )
        return found

    def heard(self) -> str:
        """What the node that the question is about has heard last, in a sentence.

        "" if the question is about none, or the spec has no messages.
        """
        spec = self.model.spec
        has_messages = bool(spec.channels) or spec.events is not None
        if not has_messages or not 0 < self.node <= len(self.nodes):
            return ""
        name = self.nodes[self.node - 1]
        for moment in reversed(self.moment.path()[1:]):
            for each in reversed(events(self.model, moment.previous.row, moment.step, moment.row)):
                arrives = isinstance(each, Arrow) and each.kind in (DELIVERED, AT_ONCE)
                if arrives and each.dest == name:
                    return f"{name} last received, in state {moment.depth}: “{each.label}”."
        return f"{name} has received nothing so far."

    # --- Each kind of question ---

    def _answer_can(self) -> Answer:
        each = find_step(self.model, self.moment.row, self.gate.asks)
        return Answer(YES if each.taken else NO, "" if each.taken else each.reason)

    def _answer_which(self) -> Answer:
        tried = {
            each.text: find_step(self.model, self.moment.row, each.text)
            for each in self.gate.choices
        }
        if self.gate.asks == "next":
            ahead = self.following.path()[self.moment.depth :]
            step = (ahead[0] if ahead else self.following).step
            same = [
                text
                for text, each in tried.items()
                if step and each.taken and self._text(each) == step.text
            ]
            return Answer(same[0] if same else step.text if step else "nothing")
        wanted = self.gate.asks == "can"
        right = [text for text, each in tried.items() if each.taken == wanted]
        if len(right) != 1:
            raise LabError(
                f"of the choices exactly one has to be {'possible' if wanted else 'refused'} here;"
                f" there are {len(right)}."
            )
        return Answer(right[0], tried[right[0]].reason)

    def _answer_where(self) -> Answer:
        return Answer(str(self._number()))

    def _answer_holder(self) -> Answer:
        every = range(1, len(self.nodes) + 1)
        if _ONE_NODE.search(self.gate.asks):
            holding = [k for k in every if self._value(n=k)]
        else:
            holding = [k for k in every if k == self._value()]
        return Answer(_set_text(holding))

    def _answer_cell(self) -> Answer:
        found = {each.claim.name: each for each in tally(self.model, self._row).rows}
        if self.gate.asks not in found:
            raise unknown("claim", self.gate.asks, found)
        return Answer(_set_text(found[self.gate.asks].nodes))

    def _answer_last(self) -> Answer:
        end = self.walk.path[-1]
        standings = [each for each in self.walk.standings(end) if each.is_broken]
        names = [each.name for each in self.walk.standings(end)]
        if self.gate.asks and self.gate.asks not in names:
            raise LabError(f"there is no invariant {quoted(self.gate.asks)}.")
        broken = [
            each
            for each in standings
            if (each.name == self.gate.asks if self.gate.asks else each.by_default)
        ]
        return Answer(YES if broken else NO, broken[0].reason if broken else "")

    def _answer_say(self) -> Answer:
        return Answer(_as_text(self._value()))

    # --- Expressions ---

    @property
    def _row(self) -> bytes:
        """The state that the question is about."""
        moments = {"": self.moment, "next": self.following, "end": self.walk.path[-1]}
        return moments[self.gate.when].row

    def _number(self) -> int:
        value = self._value()
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise LabError(f"{quoted(self.gate.asks)} is {value!r} here, and not a number from 0.")
        return int(value)

    def _value(self, **more: int) -> Any:
        """The value of the question's expression."""
        state = view(self.model.layout, self._row)
        scope = names_in_scope(self.model)
        for module in self.uses if self.gate.kind == "say" else ():
            scope |= vars(import_module(module))
        scope |= {"s": state, "c": self.model.constants, **more}
        try:
            return eval(self.gate.asks, scope)  # a lesson is a file of a package, as its code is
        except Exception as error:
            raise LabError(
                f"{quoted(self.gate.asks)} can't be computed ({type(error).__name__}:"
                f" {shortened(error)})."
            ) from None

    def _sentence(self, text: str) -> str:
        """A step in words; as it is written if it can't be told here."""
        try:
            each = find_step(self.model, self.moment.row, text)
            return choice_sentence(self.model, self.moment.row, each.action, each.args)
        except LabError:
            return text

    def _text(self, each: Any) -> str:
        return step_of(self.model, self.moment.row, each.action, each.args).text


def _set_text(nodes: Iterable[int]) -> str:
    """A set of nodes as an answer names it: "1 and 3"."""
    return " and ".join(map(str, nodes)) or NOBODY


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    return words(str(value))
