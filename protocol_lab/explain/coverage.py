"""Coverage of a search: the actions that were taken, and the guards that refused the others.

An invariant that holds because half of the protocol was never executed says little. The search
itself counts how often each action was taken, in all states. How often each guard refused is found
by the uncompiled functions, which give reasons: in every state if there are few, else in states
spread evenly over the search. The text says which.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError
from protocol_lab.model.spec import TAKEN, Action, Model
from protocol_lab.model.transitions import counted_attempts

TRIED = 2_000
"""In how many states refusals are counted by default."""


@dataclass
class ActionCoverage:
    """One action. `taken`: how often in the whole exploration, as TLC counts generated states.

    In the states that were tried again: `attempts`, the choices of its parameters; `refused`, how
    often each reason was given, in the order of the guards as far as it is known; `without_choice`,
    the states in which its parameters had no values.
    """

    name: str
    taken: int
    attempts: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    without_choice: int = 0


@dataclass(repr=False)
class Coverage:
    """All actions of a spec, in its order; refusals were counted in `tried` of `states` states.

    exhaustive: had the search seen all reachable states?
    """

    actions: list[ActionCoverage]
    tried: int
    states: int
    exhaustive: bool

    @property
    def never_taken(self) -> list[ActionCoverage]:
        """The actions that were never taken."""
        return [each for each in self.actions if not each.taken]

    def to_json(self) -> dict[str, Any]:
        """As in `check --coverage --json`."""
        return {
            "tried": self.tried,
            "states": self.states,
            "exhaustive": self.exhaustive,
            "actions": {each.name: vars(each) for each in self.actions},
        }

    def __repr__(self) -> str:
        where = "all" if self.tried == self.states else f"{self.tried:,} of the"
        lines = [f"coverage, with refusals counted in {where} {self.states:,} states"]
        if not self.exhaustive:
            lines[0] += ", which are not all that there are"
        for each in self.actions:
            lines.append(f"  {each.name}: {_how_often(each)}")
            if not each.taken:
                lines += [f"      {count:,} times: {why}" for why, count in each.refused.items()]
        return "\n".join(lines)


def _how_often(each: ActionCoverage) -> str:
    if each.taken:
        refused = sum(each.refused.values())
        return f"taken {each.taken:,} times; {refused:,} of {each.attempts:,} attempts refused"
    if not each.attempts:
        return "never taken; in no state was there anything to choose for its parameters"
    last = next(reversed(each.refused))
    return f'never taken; no attempt got past "{last}"'


def coverage(result: Result, tried: int = TRIED) -> Coverage:
    """The coverage of an exploration by the native engine that kept its states.

    tried: in how many states to count refusals, spread evenly. Raises LabError for a result
    without states.
    """
    if result.states is None or not len(result.states):
        raise LabError(
            'Coverage needs the states of an exploration with engine="native"; of a large one they'
            " are kept with keep_states=True."
        )
    count = len(result.states)
    import numpy as np

    chosen = np.unique(np.linspace(0, count - 1, min(tried, count)).astype(np.int64))
    rows = [result.states[k].tobytes() for k in chosen]
    actions = [
        _refusals(result.model, rows, action, result.per_action.get(action.name, 0))
        for action in result.model.spec.actions
    ]
    return Coverage(actions, len(rows), count, result.exhaustive)


def _refusals(model: Model, rows: list[bytes], action: Action, taken: int) -> ActionCoverage:
    reasons: Counter[str] = Counter()
    without_choice = 0
    for row in rows:
        told: Counter[str] = Counter()
        for each, count in counted_attempts(model, row, action):
            told[each.reason] += count
        reasons.update(told)
        without_choice += not told
    count = reasons.total()
    reasons.pop(TAKEN, None)
    texts = [each for each in action.function.__code__.co_consts if isinstance(each, str)]

    def place(reason: str) -> tuple[int, int]:
        """A sort key: the guards of the action itself in their order, then other reasons."""
        return (texts.index(reason) if reason in texts else len(texts), -reasons[reason])

    ordered = {reason: reasons[reason] for reason in sorted(reasons, key=place)}
    return ActionCoverage(action.name, taken, count, ordered, without_choice)
