"""The function that compiled code calls in the place of `enabled`.

`possible(action, given)` is a generated function in the language of specs: it tries the choices of
the parameters that are not given one by one, each on a copy of the state.
"""

import ast
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.layout import Named, Node
from protocol_lab.model.node_sets import size, smallest
from protocol_lab.model.parameters import (
    Bound,
    Domain,
    Member,
    OneOf,
    Range,
    Sequences,
    Subset,
    domains_of,
    names_used,
)
from protocol_lab.model.transitions import open_parameters, writable
from protocol_lab.reader.source_code import is_plain


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
    domains = open_parameters(action, given)
    scope: dict[str, Any] = {"__name__": __name__, "action_": action, "writable_": writable}
    scope["size_of"], scope["smallest_of"] = size, smallest
    lines, indent = [f"def possible({', '.join(['s', 'c', *given])}):"], "    "

    def bound(name: str) -> Callable[[str, Bound], str]:
        """The code for the bounds of a parameter; functions that it calls come into the scope."""

        def value(which: str, declared: Bound) -> str:
            if not callable(declared):
                return over_constants(declared)
            scope[f"{which}_{name}_"] = declared
            return f"{which}_{name}_({', '.join(names_used(declared))})"

        return value

    for name, domain in domains.items():
        found = loop_over(name, domain, bound(name))
        if isinstance(domain, Member):
            found = [f"for {name} in s.{domain.path}:"]
        if found is None:
            raise LabError(
                f"enabled({action.__name__}) can't be compiled without {name}, one of Sequences, of"
                f' which there may be too many: use engine="python".'
            )
        for line in found:
            lines.append(indent + line)
            indent += "    " if line.startswith(("for ", "while ")) else ""
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


def loop_over(name: str, domain: Domain, bound: Callable[[str, Bound], str]) -> list[str] | None:
    """The loop over the numbers that a parameter may be: the lines before it, its head, and the
    first lines of its body, which call `size_of` and `smallest_of`. None for a domain of other
    values.

    bound: gives the code for a bound of the domain, and for the name that a function has there.
    """
    match domain:
        case Node(count):
            return [f"for {name} in range(1, {over_constants(count)} + 1):"]
        case Range(low, high):
            return [f"for {name} in range({bound('low', low)}, {bound('high', high)} + 1):"]
        case Named(names):
            return [f"for {name} in range({len(names)}):"]
        case Subset(of, wanted):
            every = f"(1 << ({over_constants(of.count)} + 1)) - 2" if isinstance(of, Node) else ""
            # The same order as `subsets`, but a generator would take much longer to compile.
            lines = [
                f"every_{name}_ = {every or bound('of', of)}",
                f"{name} = every_{name}_",
                f"for at_{name}_ in range(1 << size_of(every_{name}_)):",
                f"{name} = ({name} - every_{name}_) & every_{name}_",
            ]
            if wanted is not None:
                lines.append(f"if size_of({name}) != {over_constants(wanted)}: continue")
            return lines
        case OneOf(of):
            return [
                f"left_{name}_ = max(1, {bound('of', of)})  # bit 0, NONE, if the set is empty",
                f"while left_{name}_ > 0:",
                f"{name} = smallest_of(left_{name}_)",
                f"left_{name}_ &= left_{name}_ - 1",
            ]
    return None


def over_constants(expression: int | str) -> str:
    """A bound over names of constants as code that reads them from `c`."""
    tree = ast.parse(str(expression), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = f"c.{node.id}"
    return f"({ast.unparse(tree)})"
