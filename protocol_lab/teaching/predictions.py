"""Predictions: the learner commits to an answer before the result is revealed.

In a notebook a prediction is a widget with choices to press, or a field to type in; in plain Python
the answer is an argument. `settle` compares it with what the run has shown.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from protocol_lab.checker.result import Result
from protocol_lab.system.notebook_shell import display, get_ipython
from protocol_lab.teaching.feedback import Feedback
from protocol_lab.teaching.guesses import how_far, is_same, shown
from protocol_lab.teaching.record import note

if TYPE_CHECKING:
    from IPython.display import HTML

    from protocol_lab.teaching.prediction_field import PredictionField

_SETTLED = ("As you predicted:", "A surprise:")

_KEPT: dict[tuple[str, tuple[str, ...]], Any] = {}
"""The guesses made in this kernel, by question and choices: an unchanged question that is asked
again keeps its guess."""

Choices = Mapping[Any, str] | Iterable[Any]


class Prediction:
    """A question, and the learner's guess; `settle` compares it with the fact.

    `guess` is None until there is one. `choices` are the answers to choose from, each with a
    sentence for learners who chose it and are wrong, or "".
    """

    def __init__(self, question: str, guess: Any = None, choices: Choices = ()):
        self.question, self.guess = question, guess
        self.choices = _pairs(choices)
        self._fact: tuple[Any, str] | None = None
        self._corrections = self.choices
        self._is_told = False  # by the cell that settles it: nothing is left to reveal
        self._field: PredictionField | None = None

    def settle(
        self, actual: Any, why: str = "", *, wrong: Mapping[Any, str] | None = None
    ) -> Feedback:
        """Compare the guess with what the run has shown: a value, or an exploration.

        Of an exploration the number of steps of the shortest trace counts, or else its verdict.
        `wrong` has a sentence for each wrong choice, which here is not visible in the cell that
        asks. A page folds the answer if there is no prediction.
        """
        if isinstance(actual, Result):
            actual = len(actual.trace) if actual.violated else actual.verdict
        self._fact, self._is_told = (actual, why), self.guess is not None
        self._corrections = [*(wrong or {}).items(), *self.choices]
        self._keep_record()
        if self._field is not None:
            self._field.show(self)
        return self._feedback()

    def reveals(self, *answers: Any) -> "HTML":
        """Pictures, tables or results that answer the question: a page without a prediction folds
        them."""
        from IPython.display import HTML

        page = answers[0] if len(answers) == 1 and isinstance(answers[0], HTML) else None
        page = page or HTML("".join(map(_page_of, answers)))
        if self.guess is not None:
            return page
        summary = "What the run shows. Predict first, then open it."
        return HTML(f"<details><summary>{summary}</summary>{page.data}</details>")

    def _feedback(self) -> Feedback:
        actual, why = self._fact or (None, "")
        after = f" {why}" if why else ""
        if self.guess is None:
            return Feedback(None, f"{shown(actual)}.{after}")
        if self._is_right(actual):
            return Feedback(True, f"{shown(actual)}.{after}", words=_SETTLED)
        beside = [self._why_not() or how_far(self.guess, actual)]
        text = f"you predicted {shown(self.guess)}, the run says {shown(actual)}."
        text = " ".join([text, *filter(None, beside)])
        return Feedback(False, f"{text}{after}", words=_SETTLED)

    def _is_right(self, actual: Any) -> bool:
        return _agree(self.guess, actual)

    def _why_not(self) -> str:
        """The sentence for the wrong choice that was made."""
        said = (why for choice, why in self._corrections if why and is_same(self.guess, choice))
        return next(said, "")

    def _keep_record(self) -> None:
        if self._fact and self.guess is not None:
            note("prediction", self.question, self._is_right(self._fact[0]))

    def to_json(self) -> dict[str, Any]:
        """What the widget shows, with the answer only once there is a guess."""
        told = self._feedback() if self._fact and self.guess is not None else None
        return {
            "question": self.question,
            "choices": [shown(each) for each, _ in self.choices],
            "guess": None if self.guess is None else shown(self.guess),
            "settled": self._fact is not None,
            "told": self._is_told,
            "passed": told and told.passed,
            "verdict": told and f"{told.verdict} {told.text}",
            "right": told and self._right_choice(),
            "because": told and self._why_not(),
            "answer": told and self._answer(),
        }

    def _right_choice(self) -> int | None:
        """The number of the choice that the run has shown to be right."""
        actual = self._fact[0]
        right = (k for k, (each, _) in enumerate(self.choices) if _agree(each, actual))
        return next(right, None)

    def _answer(self) -> str:
        actual, why = self._fact
        return f"{shown(actual)}. {why}".strip()

    def choose(self, guess: str) -> None:
        """Take the guess that was pressed or typed."""
        named = [each for each, _ in self.choices if shown(each) == guess]
        self.guess = named[0] if named else guess.strip() or None
        if self.guess is not None:
            _KEPT[self._key] = self.guess
        self._keep_record()

    @property
    def _key(self) -> tuple[str, tuple[str, ...]]:
        return self.question, tuple(shown(each) for each, _ in self.choices)

    def _ipython_display_(self) -> None:
        data = {"text/markdown": self._repr_markdown_(), "text/plain": repr(self)}
        display(data, raw=True)
        if get_ipython() is not None and (self.guess is None or self._field is not None):
            from protocol_lab.teaching.prediction_field import PredictionField

            if self.guess is None:
                self.guess = _KEPT.get(self._key)
            self._field = self._field or PredictionField(self)
            bundle = self._field._repr_mimebundle_()
            shown_as = bundle[0] if isinstance(bundle, tuple) else bundle
            display({kind: shown_as[kind] for kind in shown_as if kind != "text/plain"}, raw=True)

    def _repr_markdown_(self) -> str:
        if self.guess is not None:
            mine = f"you predict {shown(self.guess)}"
        elif self.choices:
            mine = f"{self._offered()}: run this cell, then press an answer"
        else:
            mine = "run this cell, then type your answer"
        return f"> **Predict:** {self.question}\n>\n> *{mine}*"

    def _offered(self) -> str:
        return ", ".join(f"“{escape(shown(each))}”" for each, _ in self.choices)

    def __repr__(self) -> str:
        offered = (
            f" ({' / '.join(shown(each) for each, _ in self.choices)})" if self.choices else ""
        )
        return f"Predict: {self.question}{offered}"


def predict(question: str, guess: Any = None, *, choices: Choices = ()) -> Prediction:
    """Ask a question before the run. As a cell's last line it shows buttons or a field.

    `choices` are answers, pairs (answer, sentence), or {answer: sentence}: the sentence is shown if
    that answer was chosen and is wrong. Where the sentences would give the answer away, they can be
    given to `settle`. In plain Python the learner writes the guess in place of None: a number, a
    name, a set or a few words. A presenter can poll a room with the widget's button "poll", which
    counts answers, and shows them when the presenter says so.
    """
    return Prediction(question, guess, choices)


def _agree(guess: Any, actual: Any) -> bool:
    return (actual == "holds" and is_same(guess, "never")) or is_same(guess, actual)


def _pairs(choices: Choices) -> list[tuple[Any, str]]:
    """Answers with their sentences; "" for an answer without one."""
    if isinstance(choices, Mapping):
        return list(choices.items())
    return [each if isinstance(each, tuple) and len(each) == 2 else (each, "") for each in choices]


def _page_of(answer: Any) -> str:
    """How an answer looks in a notebook, as HTML: its own form, source code, or its text."""
    if hasattr(answer, "_repr_html_"):
        return answer._repr_html_()
    if hasattr(answer, "_repr_markdown_"):  # as `notebook.source` gives it
        answer = answer._repr_markdown_().removeprefix("```python\n").removesuffix("\n```")
    return f'<pre style="word-break: normal; overflow-wrap: anywhere">{escape(str(answer))}</pre>'
