"""The fairness conditions of a model, and the steps that count for each.

`weakly_fair(send, each="server")` is one condition for each server. A condition whose action is
never enabled is met by every run, so a search lists only those that some label belongs to; what
explains a loop names all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, product

from protocol_lab.errors import LabError
from protocol_lab.model.layout import IntegerLayout, Node
from protocol_lab.model.parameters import Member, domains_of
from protocol_lab.model.parameters import values as values_of
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.temporal_formulas import Fairness

_MOST = 1024
"""The most conditions of one assumption that are named one by one."""


@dataclass(frozen=True)
class Condition:
    """One fairness condition: an assumption, and the values of its `each`; without these it stands
    for all conditions of the assumption."""

    fairness: Fairness
    values: tuple[int, ...] = ()

    @property
    def strong(self) -> bool:
        return self.fairness.strong

    @property
    def action(self) -> str:
        """The steps that count, as text: "become_leader(server=2)", "some become_leader", "some
        step of become_leader or resign", "some step"."""
        name, each = self.fairness.name, self.fairness.each
        if not self.fairness.functions:
            return name
        several = len(self.fairness.functions) > 1
        if not each:
            return f"some step of {name}" if several else f"some {name}"
        if not self.values:
            return f"{name} for each {', '.join(each)}"
        shown = (f"{path}={value}" for path, value in zip(each, self.values, strict=True))
        return f"{f'({name})' if several else name}({', '.join(shown)})"

    @property
    def text(self) -> str:
        """The condition in words: "weak fairness of become_leader(server=2)"."""
        return f"{'strong' if self.strong else 'weak'} fairness of {self.action}"


def declared_conditions(model: Model, assumed: Fairness) -> list[Condition]:
    """The conditions of an assumption, one for every choice of its `each`.

    Where these depend on the state, or are too many, it is one that stands for all of them.
    """
    known = [_values(model, assumed.functions, path) for path in assumed.each]
    count = 1
    for each in known:
        count *= len(each)
    if not 0 < count <= _MOST:
        return [Condition(assumed)]
    return [Condition(assumed, each) for each in product(*known)]


def _values(model: Model, functions: tuple[Callable[..., str], ...], path: str) -> list[int]:
    """All values of a parameter, or of a message's field, as numbers; none if they depend on the
    state."""
    found: dict[int, None] = {}
    for function in functions:
        name, _, fields = path.partition(".")
        domain = domains_of(function, skip=2)[name]
        if isinstance(domain, Member):
            found |= dict.fromkeys(_field_values(model, domain, fields))
            continue
        try:
            each = islice(values_of(domain, {"c": model.constants}), _MOST + 1)
            found |= dict.fromkeys(map(int, each))
        except (KeyError, LabError, TypeError):  # it looks at the state, or is no number
            return []
    return list(found)


def _field_values(model: Model, domain: Member, fields: str) -> list[int]:
    layout = model.layout
    for each in domain.path.split("."):
        layout = layout.fields[each]
    layout = layout.fields["items"].item
    for each in fields.split("."):
        layout = layout.fields[each]
    if not isinstance(layout, IntegerLayout):
        return []
    if layout.nodes:
        return list(range(1, Node(layout.nodes).number(model.constants) + 1))
    return list(range(len(layout.names)))


def foreign_actions(model: Model, fairness: list[Fairness]) -> list[Action]:
    """The actions with a fairness condition that are no part of the spec."""
    own = {each.name for each in model.spec.actions}
    found = {function.__name__: function for each in fairness for function in each.functions}
    return [
        Action(function, domains_of(function, skip=2))
        for name, function in found.items()
        if name not in own
    ]
