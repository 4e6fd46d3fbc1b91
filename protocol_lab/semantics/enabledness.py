"""`enabled`: can an action be taken in a state, with some choice of its parameters?

    enabled(lend)                     for some message
    enabled(ask, client=2)            for this client
    enabled(lend, before, c)          in this state, where it is not called s

In plain Python the choices are tried one by one, each on a copy of the state. Compiled code calls
`possible(action, given)` in its place, a generated function in the language of specs that does the
same. A step that would change nothing counts, as in TLA+'s ENABLED; so does a step that leads
outside a constraint. Where a step can't be computed, whether it is possible can't either.
"""

import ast
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import FrameType
from typing import Any

from protocol_lab.errors import LabError, quoted
from protocol_lab.language.dependencies import is_plain
from protocol_lab.language.node_sets import size
from protocol_lab.language.source_code import COMPILED_OTHERWISE, IMPLIES_STATE
from protocol_lab.spec.layout import Named, Node
from protocol_lab.spec.parameters import (
    Bound,
    Domain,
    Member,
    Range,
    Sequences,
    Subset,
    domains_of,
    names_used,
    values,
)


def enabled(action: Callable[..., str], s: Any = None, c: Any = None, /, **given: Any) -> bool:
    """Can the action be taken in the state `s` with these parameters, whatever the others are?

    In a spec's function `s` and `c` may be left out: they are that function's own. Raises LabError
    for something else than an action, and for a parameter that it does not have.
    """
    domains = _open(action, tuple(given))
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


def _open(action: Any, given: tuple[str, ...]) -> dict[str, Domain]:
    """The parameters that are not given. Raises LabError."""
    if not is_plain(action):
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


def reached(names: dict[str, Any]) -> list[Callable]:
    """The generated functions on which calls of `enabled` depend, given the names that the caller
    reads."""
    found = []
    for each in filter(is_plain, names.values()):
        with suppress(LabError):  # it is no action
            domains = domains_of(each, skip=2)
            known = tuple(name for name in domains if isinstance(domains[name], Sequences))
            found.append(possible(each, known))
    return found


@cache
def possible(action: Callable[..., str], given: tuple[str, ...]) -> Callable[..., bool]:
    """A function (s, c, given parameters in their order) that compiled code calls for `enabled`.

    Raises LabError for parameters that compiled code can't try.
    """
    domains = _open(action, given)
    scope: dict[str, Any] = {"__name__": __name__, "action_": action, "writable_": writable}
    scope["size_"] = size
    lines, indent = [f"def possible({', '.join(['s', 'c', *given])}):"], "    "
    for name, domain in domains.items():
        for line in _loop(action, name, domain, scope):
            lines.append(indent + line)
            indent += "    " if line.startswith("for ") else ""
    arguments = ", ".join(["writable_(s)", "c", *domains_of(action, skip=2)])
    lines += [
        f"{indent}if len(action_({arguments})) == 0:",
        f"{indent}    return True",
        "    return False",
    ]
    source = "\n".join(lines) + "\n"
    exec(compile(source, f"<enabled {action.__name__}>", "exec"), scope)
    function = scope["possible"]
    function.lab_source = source
    return function


def _loop(action: Callable, name: str, domain: Domain, scope: dict[str, Any]) -> list[str]:
    """The loop over a parameter's values, and the lines before it. Puts functions that its bounds
    call into the scope."""

    def value(which: str, bound: Bound) -> str:
        if not callable(bound):
            return _over_constants(bound)
        scope[f"{which}_{name}_"] = bound
        return f"{which}_{name}_({', '.join(names_used(bound))})"

    match domain:
        case Node(count):
            return [f"for {name} in range(1, {_over_constants(count)} + 1):"]
        case Range(low, high):
            return [f"for {name} in range({value('low', low)}, {value('high', high)} + 1):"]
        case Named(names):
            return [f"for {name} in range({len(names)}):"]
        case Member(path):
            return [f"for {name} in s.{path}:"]
        case Subset(of, wanted):
            every = f"(1 << ({_over_constants(of.count)} + 1)) - 2" if isinstance(of, Node) else ""
            lines = [
                f"every_{name}_ = {every or value('mask', of)}",
                f"{name} = every_{name}_",
                f"for at_{name}_ in range(1 << size_(every_{name}_)):",
                f"{name} = ({name} - every_{name}_) & every_{name}_",
            ]
            if wanted is not None:
                lines.append(f"if size_({name}) != {_over_constants(wanted)}: continue")
            return lines
    raise LabError(
        f"enabled({action.__name__}) can't be compiled without {name}, one of Sequences, of which"
        f' there may be too many: use engine="python".'
    )


def _over_constants(expression: int | str) -> str:
    """A bound over names of constants as code that reads them from `c`."""
    tree = ast.parse(str(expression), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"c.{node.id}"
    return f"({ast.unparse(tree)})"


for each in (enabled, writable):
    setattr(each, COMPILED_OTHERWISE, True)
setattr(enabled, IMPLIES_STATE, reached)
