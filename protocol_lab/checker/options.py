"""Declarations of the options of a search: name, help, type, and who supports each.

People can set those fields of `request.SearchRequest` that are an `option`. `explore`, the
check of temporal properties, the engines and the command line read these declarations, so that an
option is written down once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import Parameter, cleandoc, signature
from textwrap import fill
from typing import Any

from protocol_lab.errors import LabError, quoted

NATIVE, PYTHON, SPARK = ENGINES = ("native", "python", "spark")

TEMPORAL, SIMULATION = "temporal", "simulation"
"""The check of temporal properties, and simulation: what else may support an option."""

ALONE = "{option} can't be combined with --property: check the property by itself."

_NOT_HERE = "{option} is an option of {supporters}: leave it out with the engine {engine}."
_NOT_IN_WALKS = "{option} is an option of a search, not of a simulation: leave it out."
_REFUSALS = {TEMPORAL: ALONE, SIMULATION: _NOT_IN_WALKS}
_KEY = "option"


@dataclass(frozen=True)
class Option:
    """The declaration of one option.

    name: the keyword that a person writes, and the request's field. help: a clause for the command
    line and for help(). word: the command line's, if it has one. kind: bool for a switch, else the
    type of the value, which help calls metavar. supported_by: some of ENGINES, TEMPORAL and
    SIMULATION. read(model, value): the value for the field; raises LabError. unset: the value that
    means that the option was not given; signatures show it as the default.
    """

    name: str
    help: str
    word: str | None = None
    kind: Any = str
    metavar: str | None = None
    supported_by: tuple[str, ...] = (*ENGINES, TEMPORAL)
    read: Callable[[Any, Any], Any] = lambda model, value: value
    unset: Any = None

    def refusal(self, asked: str) -> str | None:
        """Why one of ENGINES, TEMPORAL or SIMULATION does not take this option; None if it does."""
        if asked in self.supported_by:
            return None
        supporters = " and ".join(each for each in self.supported_by if each in ENGINES)
        said = _REFUSALS.get(asked, _NOT_HERE)
        return said.format(option=self.name, engine=asked, supporters=supporters)


def option(default: Any, **declared: Any) -> Any:
    """A request's field that people can set, with what it declares of its `Option`."""
    return field(default=default, metadata={_KEY: declared})


def options_of(request_class: type) -> dict[str, Option]:
    """The options that a class declares, by name, in the order of its fields."""
    found = []
    for each in fields(request_class):
        if declared := each.metadata.get(_KEY):
            unset = False if declared.get("kind") is bool else None
            found.append(Option(**{"name": each.name, "unset": unset, **declared}))
    return {each.name: each for each in found}


def values_of(
    request_class: type, function: Callable, model: Any, asked: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a request for the options that were given, validated.

    function: what they were given to. asked: one of ENGINES, TEMPORAL or
    SIMULATION. Raises LabError for an
    unknown option, one that is not supported, or a wrong value.
    """
    options = options_of(request_class)
    for name in given:
        if name not in options:
            known = [
                each
                for each in signature(function).parameters
                if each not in options or asked in options[each].supported_by
            ]
            raise LabError(
                f"{function.__name__} has no option {quoted(name)}; it has: {', '.join(known)}."
            )
    values = {}
    for name, value in given.items():
        each = options[name]
        if value is each.unset or (value is None and each.kind is bool):
            continue
        if refused := each.refusal(asked):
            raise LabError(refused)
        values[name] = each.read(model, value)
    return values


def takes_options(request_class: type, *askable: str) -> Callable[[Callable], Callable]:
    """Give a function with `**options` the signature and the help of the options that it takes.

    askable: engines, or TEMPORAL; the options are those that at least one of them supports.
    """
    options = [
        each for each in options_of(request_class).values() if {*askable} & {*each.supported_by}
    ]

    def described(function: Callable) -> Callable:
        own = [each for each in signature(function).parameters.values() if each.name != "options"]
        more = [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=each.unset,
                annotation=each.kind | None if each.unset is None else each.kind,
            )
            for each in options
        ]
        function.__signature__ = signature(function).replace(parameters=own + more)
        lines = [
            fill(f"{each.name}: {each.help}", 88, subsequent_indent="    ") for each in options
        ]
        function.__doc__ = "\n".join([cleandoc(function.__doc__ or ""), "", "Options:", *lines])
        return function

    return described
