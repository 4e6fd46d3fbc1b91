"""How a step of an action is written: its parameters, and the values that each can have.

bookie_sends_add_confirmed_response(bookie, lost)
    bookie: 1 to bookies
    lost: a set of 1 to bookies, such as {1, 2}; none if left out
"""

from collections.abc import Callable

from protocol_lab.model.layout import Bag, Named, Node, Seq, Struct
from protocol_lab.model.parameters import (
    Bound,
    Domain,
    Member,
    OneOf,
    Range,
    Sequences,
    Subset,
    TrueOrFalse,
    names_used,
)
from protocol_lab.model.spec import Action


def values_of_parameters(action: Action, state: type[Struct]) -> dict[str, str]:
    """For each parameter of an action a sentence about its values, in terms of the constants."""
    return {name: _values(domain, state) for name, domain in action.domains.items()}


def _values(domain: Domain, state: type[Struct]) -> str:
    match domain:
        case Node(count):
            return f"1 to {count}"
        case TrueOrFalse():
            return "False, True"
        case Range(low, high):
            return f"{_bound(low)} to {_bound(high)}"
        case Named(names):
            return ", ".join(names)
        case Subset(of, None):
            return f"{_set_of(of)}; none if left out"
        case Subset(of, size):
            return f"{_set_of(of)}; {_bound(size)} of them"
        case OneOf(of):
            return f"one of the nodes {_bound(of)}; 0 for none"
        case Sequences(low, high, length):
            return f"a list of numbers {_bound(low)} to {_bound(high)}; {_bound(length)} of them"
        case Member(path):
            return f"an item of {path}{_forms(_item_at(path, state))}"
    raise AssertionError(f"{domain} is no domain")


def _set_of(of: Node | Callable[..., int]) -> str:
    if isinstance(of, Node):
        return f"a set of 1 to {of.count}, such as {{1, 2}}"
    return f"a set such as {{1, 2}} of the nodes {_bound(of)}"


def _bound(bound: Bound) -> str:
    """A number or an expression over constants; of a function its name and what it looks at."""
    if not callable(bound):
        return str(bound)
    arguments = ", ".join(names_used(bound))
    name = bound.__name__
    return f"what depends on {arguments}" if name == "<lambda>" else f"{name}({arguments})"


def _item_at(path: str, state: type[Struct]) -> object:
    """The declared type of the items in the container at a dotted path."""
    declared: object = state
    for name in path.split("."):
        declared = getattr(declared, "field_types", {}).get(name)
    return declared.item if isinstance(declared, Seq | Bag) else None


def _forms(item: object) -> str:
    """How such an item is written, if it has fields: those that tell it from others are enough."""
    if not (isinstance(item, type) and issubclass(item, Struct)):
        return ""
    return f", by fields that single it out: {item.__name__}({', '.join(item.field_types)})"
