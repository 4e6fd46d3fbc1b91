"""The domains of an action's parameters, declared by its annotations.

Every choice that an action leaves open is a named parameter: a learner makes the choice, a trace
records it, and a search tries all of them:

    follower: Replica                         a node 1..n
    epoch: Range(0, "max_leader_epoch")       a number
    lost: Subset(Replica)                     a set of nodes
    chosen: Subset(Replica, "quorum")         a set of so many nodes
    leader: OneOf(electable)                  a node of the set that a function gives
    request: Member("requests")               an item of a sequence or bag of the state
    answer: Named("yes", "no")                a name; the action sees 0, 1, ...
    commits: Bool                             False or True
    keys: Sequences(0, "key_space", "length") a tuple of numbers

A bound of `Range` or `Sequences`, and the set of `Subset`, may also be a function, as that of
`OneOf` is. It is called with those of `s`, `c` and the earlier parameters that its own parameters
name.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.layout import NONE, Boolean, Named, Node, named_values, size_with
from protocol_lab.model.node_sets import Nodes, members, nodes_up_to, size, subsets

Bound = int | str | Callable[..., int]


@dataclass(frozen=True)
class Range:
    """The whole numbers low..high, both included; empty if high < low."""

    low: Bound
    high: Bound


@dataclass(frozen=True)
class TrueOrFalse(Range):
    """What a parameter declared as `Bool` may be: False, then True; 0 and 1 in compiled code."""

    low: Bound = 0
    high: Bound = 1


@dataclass(frozen=True)
class Subset:
    """Every subset of the nodes, or of the bitmask that a function gives.

    With a size, a number or an expression over constants, only the subsets of that many nodes.
    """

    of: Node | Callable[..., int]
    size: int | str | None = None


@dataclass(frozen=True)
class OneOf:
    """A node of the set that a function gives; NONE if the set is empty."""

    of: Callable[..., int]


@dataclass(frozen=True)
class Member:
    """An item of the sequence or bag at this path, as it was before the step.

    Of several equal items of a bag only one is offered.
    """

    path: str


@dataclass(frozen=True)
class Sequences:
    """Every sequence of `length` whole numbers low..high: a tuple, an array in compiled code.

    There are (high - low + 1) ** length of them; for length 0 the empty one.
    """

    low: Bound
    high: Bound
    length: Bound


Domain = Node | Range | Subset | OneOf | Member | Named | Sequences


def domains_of(function: Callable, skip: int) -> dict[str, Domain]:
    """The domains of a function's parameters after the first `skip`. Raises LabError."""
    found = {}
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < skip:
        raise LabError(f"{function.__name__} must take the state and the constants: (s, c, ...).")
    for parameter in parameters[skip:]:
        is_bool = isinstance(parameter.annotation, Boolean)
        domain = TrueOrFalse() if is_bool else parameter.annotation
        if not isinstance(domain, Domain):
            raise LabError(
                f"{function.__name__}: say after a colon what the parameter {parameter.name} may"
                " be: a Node, Range, Subset, OneOf, Member, Named, Bool or Sequences, as in"
                " `lost: Subset(Server)`."
            )
        if parameter.default is not parameter.empty:
            raise LabError(
                f"{function.__name__}: leave out the default of {parameter.name}; all values that"
                " its annotation admits are tried."
            )
        found[parameter.name] = domain
    return found


@cache
def names_used(function: Callable) -> list[str]:
    """The parameter names of a bound's function, which say what to call it with."""
    return list(inspect.signature(function).parameters)


def evaluate(bound: Bound, scope: dict[str, Any]) -> int:
    """The value of a bound, given `s`, `c` and the earlier parameters. Raises LabError."""
    if callable(bound):
        return evaluated(bound, *(scope[name] for name in names_used(bound)))
    try:
        return size_with(bound, scope["c"])
    except LabError as error:
        raise LabError(
            f"{error} A bound that depends on the state is a function, as in Range(0, lambda s, c:"
            " len(s.log) - 1)."
        ) from None


def values(domain: Domain, scope: dict[str, Any]) -> Iterator[Any]:
    """The values of a domain, in the order in which every engine tries them."""
    match domain:
        case Node():
            yield from range(1, domain.number(scope["c"]) + 1)
        case TrueOrFalse():
            yield from (False, True)
        case Range(low, high):
            yield from range(evaluate(low, scope), evaluate(high, scope) + 1)
        case Named(names):
            yield from named_values(names)
        case Subset(of, wanted):
            is_kind = isinstance(of, Node)
            found = subsets(nodes_up_to(of.number(scope["c"])) if is_kind else evaluate(of, scope))
            if wanted is not None:
                count = evaluate(wanted, scope)
                found = (each for each in found if size(each) == count)
            yield from map(Nodes, found)
        case OneOf(of):
            yield from list(members(evaluate(of, scope))) or [NONE]
        case Sequences(low, high, length):
            numbers = range(evaluate(low, scope), evaluate(high, scope) + 1)
            yield from product(numbers, repeat=evaluate(length, scope))
        case Member(path):
            container, previous = follow(scope["s"], path), None
            for position in range(len(container)):
                item = container.items[position]
                if position == 0 or container._layout.kind == "seq" or item != previous:
                    yield item
                previous = item


def number_of_values(domain: Domain, scope: dict[str, Any]) -> int:
    """How many values a domain has. Raises as `values`."""
    match domain:
        case Range(low, high):
            return max(0, evaluate(high, scope) - evaluate(low, scope) + 1)
        case Sequences(low, high, length):
            of_each = max(0, evaluate(high, scope) - evaluate(low, scope) + 1)
            return of_each ** evaluate(length, scope)
    return sum(1 for _ in values(domain, scope))


def drawn(domain: Domain, scope: dict[str, Any], chance: Random) -> list[Any]:
    """One value of a domain, drawn at random; none if it has none."""
    if isinstance(domain, Sequences):
        low, high = evaluate(domain.low, scope), evaluate(domain.high, scope)
        length = evaluate(domain.length, scope)
        if high < low and length:
            return []
        return [tuple(chance.randint(low, high) for _ in range(length))]
    found = list(values(domain, scope))
    return [chance.choice(found)] if found else []


def is_sequence_of(domain: Sequences, value: Any, scope: dict[str, Any]) -> bool:
    """Is it one of these sequences? There may be too many to try them all."""
    low, high = evaluate(domain.low, scope), evaluate(domain.high, scope)
    return (
        isinstance(value, list | tuple)
        and len(value) == evaluate(domain.length, scope)
        and all(type(each) is int and low <= each <= high for each in value)
    )


def same_for_all(domains: dict[str, Domain], first: int) -> bool:
    """Have the parameters after the first ones the same values, whichever these have among
    themselves?

    If a later one's bounds look at another one after the first, they might have no value for some
    choice.
    """
    names = list(domains)
    later = names[first:]
    bounds = [each for name in later for each in functions_of(domains[name]).values()]
    return not any(name in later for each in bounds for name in names_used(each))


def functions_of(domain: Domain) -> dict[str, Callable[..., int]]:
    """The functions among what a domain is declared with, by the names of its bounds."""
    return {which: bound for which, bound in vars(domain).items() if callable(bound)}


def follow(state: Any, path: str) -> Any:
    """The container at a dotted path of a state. Raises LabError if there is none."""
    for name in path.split("."):
        try:
            state = getattr(state, name)
        except AttributeError as error:
            raise LabError(f"Member({path!r}): {error}.") from None
    if getattr(state, "_layout", None) is None or not hasattr(state, "items"):
        raise LabError(f"Member({path!r}): there is no Seq or Bag at this path.")
    return state
