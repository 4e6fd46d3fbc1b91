"""Extensions: parts of a spec that exist only where a constant adds them.

A spec may have additions that are off by default, each behind a constant of its own::

    class Constants(NamedTuple):
        retries: Annotated[int, addition("clients ask again")] = 0

    class State(Struct):
        asked: Where("retries", Per(Client, Int8))       # takes no byte without it

    spec.action(ask_again, where="retries")              # is neither tried nor shown without it
    spec.action(give_up, where="not retries")            # and this one only without it

Where the constant is 0 these fields, actions and properties do not exist: states are the same bytes
as if they had never been declared, and what stands under `if c.retries` is not compiled. So a
shared action can contain what the addition does in it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from protocol_lab.errors import LabError
from protocol_lab.spec.constants import limits_of

if TYPE_CHECKING:
    from protocol_lab.spec.spec import Spec
    from protocol_lab.spec.temporal_formulas import Fairness

KINDS = (
    "actions",
    "invariants",
    "step_invariants",
    "sometimes_properties",
    "situations",
    "properties",
    "channels",
)
"""The lists of a spec whose items may depend on a constant."""


def left_out(constants: Any) -> frozenset[str]:
    """The constants that would add parts to the spec, but are 0."""
    return frozenset(
        name
        for name, limits in limits_of(type(constants)).items()
        if limits.adds and getattr(constants, name) == 0
    )


def is_there(where: str, constants: Any) -> bool:
    """Does a part exist that is declared with this `where`? Raises LabError for an unknown
    constant."""
    name = where.removeprefix("not ")
    if not where:
        return True
    limits = limits_of(type(constants)).get(name)
    if limits is None or not limits.adds:
        raise LabError(f"where={where!r} needs the name of a constant that is an `addition`.")
    return (getattr(constants, name) != 0) != where.startswith("not ")


def with_parts(spec: "Spec", constants: Any) -> "Spec":
    """The spec with only the parts that exist for these constants: itself, if those are all.

    Raises LabError.
    """
    kept = {
        kind: [each for each in getattr(spec, kind) if is_there(each.where, constants)]
        for kind in KINDS
    }
    if all(len(kept[kind]) == len(getattr(spec, kind)) for kind in KINDS):
        return spec
    gone = _functions(spec.actions) - _functions(kept["actions"])
    fairness = [each for assumed in spec.fairness for each in _without(gone, assumed)]
    return replace(spec, fairness=fairness, **kept)


def where_else(name: str, declared: Iterable[Any]) -> str:
    """What to add to a message about a missing part that would exist with other constants."""
    for each in declared:
        if each.name == name and each.where:
            constant = each.where.removeprefix("not ")
            value = "false" if constant != each.where else "true"
            return f" (it is there with {constant}={value})"
    return ""


def _without(gone: set[Callable], assumed: "Fairness") -> Iterator["Fairness"]:
    """The fairness assumption for its remaining actions; nothing if none remains."""
    left = tuple(each for each in assumed.functions if each not in gone)
    if left or not assumed.functions:
        yield replace(assumed, functions=left)


def _functions(actions: Iterable[Any]) -> set[Callable]:
    return {each.function for each in actions}
