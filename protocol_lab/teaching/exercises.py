"""Exercises with a check, hints and a worked answer.

An exercise is a function that judges an answer; its docstring is the task, the first line being
its title. It returns `right(...)` or `wrong(...)`, each with a sentence or two:

    @exercise(hints=["Look at ..."], answer=my_own_guard, why="A follower of an older epoch ...")
    def fence_the_fetch(guard):
        '''Fence the fetch.

        Write the guard ...'''
        result = explore(with_action(spec, "follower_fetch", guard).bind(replicas=2))
        return right("It holds.") if result.verdict == "holds" else wrong("...", result)

As the last line of a cell an exercise shows its task, with hints and answer folded;
`fence_the_fetch.check(answer)` shows the judgement. Whatever the learner wrote, the check answers
with sentences.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import update_wrapper
from types import FunctionType
from typing import Any

from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import first_line
from protocol_lab.explore import explore
from protocol_lab.model.constants import show, show_text
from protocol_lab.model.spec import HOLDS, Action, Model, Property, Situation, Spec
from protocol_lab.model.transitions import evaluate, initial
from protocol_lab.quantities import counted
from protocol_lab.teaching.feedback import Feedback, folded, right, wrong
from protocol_lab.teaching.record import note
from protocol_lab.traces.scenario_format import Line, parse_scenario
from protocol_lab.traces.walk import Walk

__all__ = [
    "Exercise",
    "Feedback",
    "exercise",
    "expect_parameters",
    "repair",
    "right",
    "run",
    "same_invariant",
    "shortest_path",
    "take_steps",
    "with_action",
    "with_invariant",
    "wrong",
]

# --- Exercises -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exercise:
    """A task with a check, hints, a worked answer, and the reason why it is right."""

    judge: Callable[[Any], Feedback]
    hints: tuple[str, ...]
    answer: Any
    why: str

    @property
    def name(self) -> str:
        return self.judge.__name__

    @property
    def title(self) -> str:
        return self.task.partition("\n")[0].rstrip(".")

    @property
    def task(self) -> str:
        return inspect.cleandoc(self.judge.__doc__ or "")

    def check(self, answer: Any = None) -> Feedback:
        """Judge an answer: a function, a text or numbers, as the task says. Never raises.

        An interrupted check says so: an answer may have a loop that never ends.
        """
        if answer is None or answer is ...:
            return wrong("There is no answer yet: write one in this cell and run it again.")
        try:
            return self._judged(answer)
        except KeyboardInterrupt:
            return wrong("You have interrupted the check: nothing is known of your answer.")

    def _judged(self, answer: Any) -> Feedback:
        if _is_the_kits_own(answer) and answer is not self.answer:
            return wrong(f"{answer.__name__} is the kit's own: write yours.")
        try:
            feedback = self.judge(answer)
            if feedback.passed:
                note("exercise", self.name, True)
            return feedback
        except LabError as error:
            return wrong(str(error))
        except ModuleNotFoundError as error:
            return wrong(missing(error))
        except Exception as error:
            return wrong(f"Your answer can't be run: {_in_one_sentence(error)}")

    def _repr_markdown_(self) -> str:
        _, _, body = self.task.partition("\n")
        parts = [f"**Exercise: {self.title}**", body.strip()]
        parts += [folded(f"Hint {k}", hint) for k, hint in enumerate(self.hints, 1)]
        parts.append(folded("Worked answer", f"{_as_code(self.answer)}\n\n{self.why}"))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"Exercise: {self.task}"


def exercise(*, answer: Any, why: str, hints: Iterable[str] = ()) -> Callable[..., Exercise]:
    """Make an exercise of a function that judges an answer.

    `answer` is a worked answer that passes: a function (shown as its source) or a value; `why`
    explains it.
    """

    def declare(judge: Callable[[Any], Feedback]) -> Exercise:
        # A copy: the kit's own function, which a learner could import, is not the worked answer.
        worked = _copy(answer) if inspect.isfunction(answer) else answer
        return Exercise(judge, tuple(hints), worked, why)

    return declare


def _as_code(answer: Any) -> str:
    if isinstance(answer, str):
        return f"```text\n{inspect.cleandoc(answer)}\n```"
    source = inspect.getsource(answer) if callable(answer) else repr(answer)
    return f"```python\n{textwrap.dedent(source).strip()}\n```"


def _copy(function: Callable[..., Any]) -> Callable[..., Any]:
    parts = function.__code__, function.__globals__, function.__name__, function.__defaults__
    return update_wrapper(FunctionType(*parts, function.__closure__), function)


def _is_the_kits_own(answer: Any) -> bool:
    """Is it a function of the kit's protocols or rooms, and not of its exercises?"""
    if not inspect.isfunction(answer):
        return False
    room, _, rest = answer.__module__.partition(".")
    is_the_kits = room == __name__.partition(".")[0] or room.endswith("_spec")
    return is_the_kits and not rest.startswith("exercises")


def missing(error: ModuleNotFoundError) -> str:
    """The sentence for an answer that needs a module which is not here."""
    return (
        f"This answer needs {error.name}, which can't be imported here; a page has only a part of"
        " what `python3 lab.py` installs."
    )


def _in_one_sentence(error: Exception) -> str:
    first = str(error).strip().split("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {first}."


# --- What a check does with an answer --------------------------------------------------------


def run(model: Model, **options: Any) -> Result:
    """Explore a model with a learner's function in it. Raises LabError if that can't be run."""
    try:
        return explore(model, **options)
    except LabError:
        raise
    except Exception:
        raise LabError(
            "Your function works, but can't be compiled; keep to what the actions of the spec use:"
            " numbers, if, for, and the spec's own functions."
        ) from None


def with_action(spec: Spec, name: str, function: Callable[..., str]) -> Spec:
    """The spec with another function in place of one action; the parameters stay the same.

    Raises LabError if the spec has no such action or the parameters' names differ.
    """
    names = [each.name for each in spec.actions]
    if name not in names:
        raise LabError(f"{spec.name} has no action {name!r}; it has: {', '.join(names)}.")
    old = spec.actions[names.index(name)]
    expect_parameters(function, "s", "c", *old.domains)
    if function.__name__ != name and function.__name__ in names:
        raise LabError(f"{function.__name__} is another action's name: call your function {name}.")
    actions = list(spec.actions)
    actions[names.index(name)] = Action(function, old.domains)
    return replace(spec, actions=actions)


def repair(
    model: Model,
    replacing: str,
    function: Callable[..., str],
    *,
    invariants: Iterable[str] | None = None,
    must_reach: Iterable[Callable[..., bool]] = (),
) -> Feedback:
    """Judge a learner's version of one action: does the protocol hold, and still do its job?

    Every state is explored. Safe: the invariants (None: the default ones) hold, or a shortest trace
    shows how one breaks. Alive: the action is taken, and all of the spec's expected situations, and
    those in `must_reach` (functions of the same form), can still be reached. So for a fix that
    forbids too much the judgement says what it prevents, and a fix that differs from the original
    but works passes. Raises LabError for a function that can't replace the action.
    """
    spec = with_action(model.spec, replacing, function)
    wanted = [*spec.expected, *(Situation(each, expected=True) for each in must_reach)]
    changed = replace(spec, situations=wanted).bind(**show(model.constants))
    found = run(changed, invariants=invariants)
    checked = " and ".join(found.invariants)
    if found.violated:
        after = counted(len(found.trace), "step")
        return wrong(f"{found.violated} breaks after {after}: {found.violation_reason}.", found)
    if not found.exhaustive:
        return wrong(f"That is undecided: {found.undecided_reason}.")
    lost = [each for each in wanted if each.name in found.never_reached]
    idle = not found.per_action[function.__name__]
    if lost or idle:
        prevented = [f"{replacing} never happens"] if idle else []
        prevented += [f"never: {first_line(each.doc).rstrip('.').lower()}" for each in lost]
        return wrong(
            f"{checked}: safe in all {found.distinct:,} states, but your protocol does too little"
            f" ({'; '.join(prevented)}). Whoever forbids everything is safe and useless."
        )
    return right(
        f"{checked}: safe in all {found.distinct:,} states (depth {found.depth}), and progress is"
        f" not broken: {replacing} happens, and all {len(wanted)} states that must be reachable"
        " are."
    )


def with_invariant(spec: Spec, function: Callable[..., str]) -> Spec:
    """The spec with one more invariant, which is then the only one checked by default.

    A function of (before, after, c) is a step invariant. Raises LabError if the function takes
    anything else, or fails in the initial state.
    """
    changed = replace(
        spec,
        invariants=[replace(each, by_default=False) for each in spec.invariants],
        step_invariants=[replace(each, by_default=False) for each in spec.step_invariants],
    )
    if inspect.isfunction(function) and "before" in inspect.signature(function).parameters:
        expect_parameters(function, "before", "after", "c")
        changed.step_invariants.append(Property(function))
        return changed
    expect_parameters(function, "s", "c")
    changed.invariants.append(Property(function))
    model = changed.bind()
    for start in initial(model):
        evaluate(model, start.row, function)
    return changed


def expect_parameters(function: Any, *names: str) -> None:
    """Raises LabError if the answer is not a function with these parameters."""
    if not inspect.isfunction(function):
        raise LabError(f"Give the function itself, without calling it; this is {function!r}.")
    if list(inspect.signature(function).parameters) != list(names):
        raise LabError(f"Write a function with the parameters ({', '.join(names)}).")


def same_invariant(
    spec: Spec, mine: Callable[..., str], theirs: Callable[..., str], **constants: Any
) -> Feedback:
    """Do both hold in the same reachable states? If not, a shortest path to where they differ."""

    def agree(s, c):
        if (mine(s, c) == HOLDS) == (theirs(s, c) == HOLDS):
            return HOLDS
        return "one of the two holds here, the other does not"

    bare = replace(with_invariant(spec, mine), step_invariants=[], situations=[])
    model = with_invariant(bare, agree).bind(**constants)
    found = run(model)
    size = show_text(model.constants)
    if not found.violated:
        return right(
            f"It says the same as the worked answer in all {found.distinct:,} states ({size})."
        )
    said = evaluate(model, found.trace_rows[-1], mine)
    expected = evaluate(model, found.trace_rows[-1], theirs)
    where = "after these steps" if found.trace else "in the initial state"
    if said == HOLDS:
        return wrong(f"It holds {where}, but should say: {expected}.", found)
    return wrong(f'It should hold {where}, but says "{said}".', found)


def shortest_path(model: Model, target: Callable[..., Any]) -> Result:
    """A shortest path to a state for which a condition (s, c) is true. Raises LabError if none."""

    def not_there_yet(s, c):
        return "it is reached" if target(s, c) else HOLDS

    bare = replace(model.spec, step_invariants=[], situations=[])
    found = run(with_invariant(bare, not_there_yet).bind(**show(model.constants)))
    if not found.violated:
        raise LabError(f"No such state is reachable; {found.distinct:,} states were seen.")
    return found


def take_steps(model: Model, text: str) -> Walk:
    """The walk, at its end, that takes the steps in the lines of a text.

    `#` begins a comment. Raises LabError with the number of the step that can't be taken.
    """
    if not isinstance(text, str):
        raise LabError("Write the steps as a text in triple quotes, one step a line.")
    walk = Walk.begin(model)
    for number, line in enumerate(_steps_in(model, text), 1):
        try:
            walk.take(line.text, line.caption)
        except LabError as error:
            raise LabError(f"Step {number}: {error}") from None
    return walk


def _steps_in(model: Model, text: str) -> list[Line]:
    scenario = parse_scenario(f"# spec: {model.spec.name}\n{text}", "your steps")
    return [line for line in scenario.lines if line.kind == "step"]


class Diff(str):
    """Two functions as one text: a removed line begins with -, an added one with +."""

    def _repr_markdown_(self) -> str:
        return f"```diff\n{self}\n```"

    __repr__ = str.__str__


def diff_of(before: Callable, after: Callable) -> Diff:
    """The difference of two functions' bodies. Raises LabError if one of them can't be read."""
    old, new = _body(before), _body(after)
    whole = max(len(old), len(new))
    lines = unified_diff(old, new, _name(before), _name(after), lineterm="", n=whole)
    return Diff("\n".join(each for each in lines if not each.startswith("@@")))


def _body(function: Callable) -> list[str]:
    """The lines of a function after its docstring."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise LabError(f"The source of {function!r} can't be read; give a function.") from None
    declared = ast.parse(source).body[0]
    first = declared.body[1 if ast.get_docstring(declared) else 0]
    return textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :])).splitlines()


def _name(function: Callable) -> str:
    return f"{function.__module__.replace('__main__', 'this notebook')}: {function.__name__}"
