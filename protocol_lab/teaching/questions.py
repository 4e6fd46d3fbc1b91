"""Questions: the learner commits to an answer, and what the run says comes in the same place.

`ask(...)` is a whole cell: the question, its choices, the run that settles it, and what follows
from it. In a notebook it is a card; a press on a choice computes the answer and opens the rest.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.system.notebook_shell import display, get_ipython
from protocol_lab.teaching.record import note

KEPT = "application/vnd.protocol-lab.question+json"
"""The kind of output under which a saved notebook has a question as data, for the site's pages."""

ANSWERED = "PROTOCOL_LAB_ANSWERED"
"""Where this variable is set, each question is answered at once, for outputs that are kept."""

FOLD = "<details><summary>The answer. Choose first, then open it.</summary>"

STEPPER = "<!-- a stepper -->"
"""What a fold has in place of a stepper, after its drawing."""

_CHOSEN: dict[tuple[str, ...], int | None] = {}
"""The choices made in this kernel, None where the learner gave up: a cell that runs again shows its
answer again."""

_asked: list["Question"] = []

Part = str | Callable[[], Any] | Any
"""What follows an answer: Markdown, anything else that a notebook shows, or a function that gives
one or a list of these. What the function prints is shown, too."""


@dataclass(frozen=True)
class Answer:
    """What the run says: the number of the right choice, why, and the outputs that follow, each a
    dictionary from MIME type to data."""

    right: int
    why: str
    outputs: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Said:
    """What `says` gives."""

    choice: Any
    then: tuple[Part, ...]
    why: str


def says(choice: Any, *then: Part, why: str = "") -> Said:
    """What a run has to say where it is more than the right choice: what follows, and why."""
    return Said(choice, then, why)


class Question:
    """A question with its choices. `chosen` is the number of the learner's choice, None until there
    is one; `answer` is None until it was chosen or given up."""

    def __init__(
        self,
        question: str,
        choices: Mapping[Any, str],
        run: Callable[[], Any],
        why: str | Callable[[], str] = "",
        then: Part | list[Part] = (),
    ):
        self.question = question
        self.choices = {shown(choice): sentence for choice, sentence in choices.items()}
        self._run, self._why, self._then = run, why, then
        self.chosen: int | None = None
        self.answer: Answer | None = None
        self.failed = ""
        self._text: Any = None  # the output that a saved notebook keeps

    def choose(self, choice: int | None) -> None:
        """Commit to a choice by its number, or to none, and compute the answer.

        Where the run fails or is interrupted, `failed` says so, and the question stays open.
        """
        self.failed = ""
        try:
            self.answer = self.settled()
        except KeyboardInterrupt:
            self.failed = "You have interrupted the run. Choose again to start it again."
        except LabError as error:
            self.failed = str(error)
        except Exception as error:  # of a cell that was edited, or not run
            self.failed = (
                f"The run failed: {type(error).__name__}: {error}. Run the cells above, then choose"
                " again."
            )
        if self.answer is None:
            return
        self.chosen = _CHOSEN[self._key] = choice
        if self._text is not None:
            self._text.update(self.kept(), raw=True)
        if choice is not None:
            note("prediction", self.question, choice == self.answer.right)

    def settled(self) -> Answer:
        """The answer, computed anew. Raises LabError if the run gives none of the choices."""
        ran: list[Any] = []
        _captured(lambda: ran.append(self._run()))
        said = ran[0] if isinstance(ran[0], Said) else says(ran[0])
        fact = shown(said.choice)
        if fact not in self.choices:
            offered = ", ".join(self.choices)
            raise LabError(f"The run says {fact!r}, which is none of the choices: {offered}.")
        why = said.why or (self._why() if callable(self._why) else self._why)
        outputs = _outputs_of([*said.then, self._then])
        return Answer(list(self.choices).index(fact), why, tuple(outputs))

    @property
    def _key(self) -> tuple[str, ...]:
        return self.question, *self.choices

    # --- How it is shown ---

    def to_json(self) -> dict[str, Any]:
        """What the card shows; the answer and its sentences only once there is an answer."""
        answer = self.answer
        sentences = list(self.choices.values())
        return {
            "question": self.question,
            "choices": list(self.choices),
            "chosen": self.chosen,
            "right": answer and answer.right,
            "why": answer and answer.why,
            "because": "" if answer is None or self.chosen is None else sentences[self.chosen],
            "failed": self.failed,
        }

    def kept(self) -> dict[str, Any]:
        """The answered question as one output of a saved notebook: its answer and what follows are
        folded."""
        answer = self.answer or self.settled()
        following = "\n\n".join(map(_as_markdown, answer.outputs))
        told = f"**{list(self.choices)[answer.right]}**. {answer.why}".strip()
        folded = f"{FOLD}\n\n{told}\n\n{following}\n\n</details>"
        data = {
            "question": self.question,
            "choices": list(self.choices),
            "whys": list(self.choices.values()),
            "right": answer.right,
            "why": answer.why,
        }
        text = f"{self._repr_markdown_()}\n\n{folded}"
        return {"text/markdown": text, "text/plain": repr(self), KEPT: data}

    def _ipython_display_(self) -> None:
        if os.environ.get(ANSWERED):
            self.answer = self.settled()
            _asked.append(self)
            display(self.kept(), raw=True)
            return
        text = {"text/markdown": self._repr_markdown_(), "text/plain": repr(self)}
        self._text = display(text, raw=True, display_id=True)
        if get_ipython() is not None:
            from protocol_lab.teaching.question_card import QuestionCard

            if self._key in _CHOSEN:
                self.choose(_CHOSEN[self._key])
            QuestionCard(self).show()

    def _repr_markdown_(self) -> str:
        asked = self.question.replace("\n", " ")
        return "\n".join([f"> **Predict:** {asked}", ">", *(f"> - {c}" for c in self.choices)])

    def __repr__(self) -> str:
        return f"Predict: {self.question} ({' / '.join(self.choices)})"


def ask(
    question: str,
    choices: Mapping[Any, str],
    run: Callable[[], Any],
    why: str | Callable[[], str] = "",
    then: Part | list[Part] = (),
) -> Question:
    """Ask a question whose answer is computed when a choice is pressed, or when it is given up.

    choices: the answers to choose from, each with a sentence for learners who choose it although it
        is wrong, and "" for the right one.
    run: gives the right choice, or `says(choice, what follows, ..., why=...)` where these need what
        the run has found. It is called later, when other cells may have run: what it reads
        must still be as it was, as `walk.after()` keeps a walk. True stands for "yes".
    why: the reason, as Markdown in one paragraph, or a function that gives it.
    then: what follows from the answer, and would give it away: Markdown, pictures, a stepper, or
        functions that make them.

    As a cell's last line it shows a card. A saved notebook and the site's pages have the answer and
    what follows in one fold. A presenter can poll a room with the card: it then counts the hands,
    and shows the answer when the presenter says so.

    Raises LabError for choices or a run that can't settle it.
    """
    if not isinstance(choices, Mapping) or len(choices) < 2:
        raise LabError('Give two choices or more with their sentences: {"yes": "...", "no": ""}.')
    if not callable(run):
        raise LabError("run: give a function that computes the right choice: lambda: ...")
    return Question(question, choices, run, why, then)


def expect_same_answers() -> None:
    """Compute each question that was answered at once again, now that all cells have run.

    Raises LabError if an answer differs: the question reads what a later cell has changed.
    """
    for each in _asked:
        if _told(each.settled()) != _told(each.answer):
            raise LabError(f"A later cell changes the answer of: {each.question}")


def shown(value: Any) -> str:
    """A value as people write it: yes and no, thousands separated, sets in order without braces."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, set | frozenset):
        return ", ".join(map(shown, sorted(value))) or "nothing"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "nothing"
    return str(value)


# --- What follows an answer ---


def _outputs_of(part: Part) -> list[dict[str, Any]]:
    """What a notebook shows of a part."""
    if isinstance(part, str):
        return [{"text/markdown": part}]
    if isinstance(part, list | tuple):
        return [output for each in part for output in _outputs_of(each)]
    if not callable(part):
        return _captured(lambda: _show(part))
    made: list[Any] = []
    printed = _captured(lambda: made.append(part()))
    return [*printed, *(_outputs_of(made[0]) if made[0] is not None else [])]


def _show(part: Any) -> None:
    if hasattr(part, "_repr_html_") or hasattr(part, "_repr_markdown_") or _has_own_display(part):
        display(part)
    else:
        display({"text/plain": str(part)}, raw=True)  # a result is meant to be printed


def _has_own_display(part: Any) -> bool:
    return any(hasattr(part, f"_{name}_") for name in ("ipython_display", "repr_mimebundle"))


def _captured(act: Callable[[], None]) -> list[dict[str, Any]]:
    """What an act displays and prints, as outputs."""
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        act()
    last: dict[Any, dict[str, Any]] = {}  # of an output that is replaced, such as progress
    for each in captured.outputs if get_ipython() is not None else []:
        last[(each.transient or {}).get("display_id", each)] = each.data
    outputs = [data for data in last.values() if data != {"text/plain": ""}]
    printed = captured.stdout.strip("\n")
    return [*([{"text/plain": printed}] if printed else []), *outputs]


def _told(answer: Answer) -> tuple[int, str, list[str]]:
    """What an answer says, without what is printed, which may have times."""
    shown_there = [each for each in answer.outputs if not each.keys() <= {"text/plain"}]
    return answer.right, answer.why, [_as_markdown(each) for each in shown_there]


def _as_markdown(output: dict[str, Any]) -> str:
    """An output as Markdown that can stand in a fold; of a widget, which needs its kernel, only a
    mark."""
    if "text/markdown" in output:
        return output["text/markdown"].strip()
    if "text/html" in output:
        return f"<div>{_in_one_line(output['text/html'])}</div>"
    if "image/png" in output:
        return f'<div><img alt="" src="data:image/png;base64,{output["image/png"].strip()}"></div>'
    if any("widget" in kind for kind in output):
        return STEPPER
    return f"```text\n{output.get('text/plain', '')}\n```"


def _in_one_line(html: str) -> str:
    """HTML without line breaks: in Markdown an empty line would end it."""
    kept = re.sub(
        r"<pre.*?</pre>", lambda pre: pre[0].replace("\n", "&#10;"), html, flags=re.DOTALL
    )
    return " ".join(kept.splitlines())
