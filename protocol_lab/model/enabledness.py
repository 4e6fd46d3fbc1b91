"""`enabled`: can an action be taken in a state, with some choice of its parameters?

    enabled(lend)                     for some message
    enabled(ask, client=2)            for this client
    enabled(lend, before, c)          in this state, where it is not called s

The choices are tried one by one, each on a copy of the state; compiled code calls a generated
function in its place (`reader.possible_steps`). A step that would change nothing counts, as in
TLA+'s ENABLED; so does a step that leads outside a constraint. Where a step can't be computed,
whether it is possible can't either.
"""

import sys
from collections.abc import Callable
from inspect import isfunction
from types import FrameType
from typing import Any

from protocol_lab.errors import LabError, quoted
from protocol_lab.model.parameters import Domain, domains_of, values


def enabled(action: Callable[..., str], s: Any = None, c: Any = None, /, **given: Any) -> bool:
    """Can the action be taken in the state `s` with these parameters, whatever the others are?

    In a spec's function `s` and `c` may be left out: they are that function's own. Raises LabError
    for something else than an action, and for a parameter that it does not have.
    """
    domains = open_parameters(action, tuple(given))
    if s is None or c is None:
        s, c = _of_caller(action, sys._getframe(1))
    return _possible(action, s, c, list(domains.items()), given)


def _of_caller(action: Callable, frame: FrameType | None) -> tuple[Any, Any]:
    """The `s` and `c` of the function that calls `enabled`, or that has a generator which does.

    Raises LabError if it does not have them.
    """
    while frame is not None and frame.f_code.co_name in ("<genexpr>", "<listcomp>"):
        frame = frame.f_back
    names = frame.f_locals if frame else {}
    if "s" not in names or "c" not in names:
        raise LabError(
            f"enabled({action.__name__}): say which state, as in"
            f" enabled({action.__name__}, before, c)."
        )
    return names["s"], names["c"]


def _possible(action: Callable, s: Any, c: Any, domains: list, chosen: dict[str, Any]) -> bool:
    if not domains:
        return len(action(writable(s), c, **chosen)) == 0
    [(name, domain), *rest] = domains
    return any(
        _possible(action, s, c, rest, {**chosen, name: value})
        for value in values(domain, {"s": s, "c": c, **chosen})
    )


def writable(s: Any) -> Any:
    """A copy of a whole state, which an action may change."""
    return type(s)(bytearray(bytes(s)), 0, "state")


def open_parameters(action: Any, given: tuple[str, ...]) -> dict[str, Domain]:
    """The parameters that are not given. Raises LabError."""
    if not isfunction(action):
        raise LabError(
            f"enabled takes an action's function, as in enabled(lend), not {quoted(action)}."
        )
    domains = domains_of(action, skip=2)
    for name in given:
        if name not in domains:
            known = ", ".join(domains) or "none"
            raise LabError(
                f"enabled: {action.__name__} has no parameter {name!r}; it has: {known}."
            )
    return {name: domain for name, domain in domains.items() if name not in given}
