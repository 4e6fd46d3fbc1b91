"""Explains a refusal or a violation by the values that its own expressions read.

    blocked: the follower is not in this leader's epoch
    (replica_state[follower].leader_epoch = 1, replica_state[leader].leader_epoch = 2)

`interpreter` runs the function once more, `decisive_values` finds what decided its result, and
`phrasing` writes it as text. A spec has to do nothing for it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.explain.decisive_values import Deciding, Group
from protocol_lab.explain.interpreter import Frame, Run
from protocol_lab.model.evaluation import given
from protocol_lab.model.parameters import Domain
from protocol_lab.model.spec import Model, Property
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import Attempt

_ENOUGH = 4
"""After this many clauses no further comparison is added."""


@dataclass(frozen=True)
class Clause:
    """The text of something that was read, and of its value: "hw" and "1"."""

    text: str
    value: str

    def __str__(self) -> str:
        return f"{self.text} = {self.value}"


@dataclass(frozen=True)
class Explanation:
    """The values that decided, the most informative first; false if none could be found.

    `where` has the loop variables of the element that decided: which replica, which offset. If all
    elements decided together, their values are side by side, in `where` and in clauses.
    """

    clauses: tuple[Clause, ...] = ()
    where: tuple[Clause, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.clauses or self.where)

    def __str__(self) -> str:
        parts = [", ".join(map(str, each)) for each in (self.where, self.clauses) if each]
        return ": ".join(parts)


def why_refused(model: Model, row: bytes, attempt: Attempt) -> Explanation:
    """The values that made this attempt in this state a refusal; none if it was not refused."""
    if attempt.taken or attempt.over_capacity:
        return Explanation()
    return at_best(lambda: refusal(model, row, attempt))


def why_broken(model: Model, row: bytes, broken: Property) -> Explanation:
    """The witness and the values that break an invariant in a state."""
    states = [view(model.layout, row)]
    return at_best(lambda: failure(model, states, broken.function))


def why_step_broken(model: Model, before: bytes, after: bytes, broken: Property) -> Explanation:
    """The same for a step invariant on a transition."""
    states = [view(model.layout, before), view(model.layout, after)]
    return at_best(lambda: failure(model, states, broken.function))


def at_best(explain: Callable[[], Explanation]) -> Explanation:
    """The explanation, or an empty one where it can't be made: the reason is shown in any case."""
    try:
        return explain()
    except Exception:
        return Explanation()


def refusal(model: Model, row: bytes, attempt: Attempt) -> Explanation:
    """As `why_refused`, but raises where that gives up (for tests)."""
    action = attempt.action
    return _explained(
        frame_of(action.function, model, bytearray(row), attempt.args), action.domains
    )


def failure(model: Model, states: list[Any], function: Callable) -> Explanation:
    """As `why_broken`, for an invariant's or step invariant's function, but raises (for tests)."""
    names = function.__code__.co_varnames[: len(states) + 1]
    # With two states the text has to say which one is meant; a single state is not mentioned.
    hidden = names if len(states) == 1 else names[-1:]
    arguments = dict(zip(names, [*states, model.constants], strict=True))
    return _explained(Frame.outermost(function, arguments, hidden), {})


def _explained(frame: Frame, domains: dict[str, Domain]) -> Explanation:
    with given(*frame.values.values()):
        run = Run(frame).follow()
        deciding = Deciding(domains)
        return explanation(deciding, deciding.returned(run)) if run.value else Explanation()


def frame_of(function: Callable, model: Model, row: bytearray, args: dict[str, Any]) -> Frame:
    """The frame in which an action runs on a state, which it may change."""
    state, constants, *_ = function.__code__.co_varnames
    arguments = {state: view(model.layout, row), constants: model.constants, **args}
    return Frame.outermost(function, arguments, (state, constants))


def explanation(deciding: Deciding, groups: list[Group]) -> Explanation:
    """The clauses of these groups, without repetition, and not too many."""
    total = len({each.text for group in groups for each in group})
    found: dict[str, str] = {}
    for group in groups:
        if len(found) >= _ENOUGH:
            break
        telling = {each.value for each in group if not each.given}
        for each in group:
            # Values that the learner has chosen are shown only while there is room.
            if each.given and (each.value in telling or (telling and total > _ENOUGH)):
                continue
            if each.text not in deciding.where:
                found.setdefault(each.text, each.value)
    return Explanation(
        tuple(Clause(text, value) for text, value in found.items()),
        tuple(Clause(name, value) for name, value in deciding.where.items()),
    )
