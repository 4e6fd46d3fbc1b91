"""Named configurations: values of constants that belong together, and how large their state space
is.

A spec declares them beside its constants, and hands them to `Spec(..., configurations=...)`::

    CONFIGURATIONS = (
        Configuration("default", "two replicas", "1,234 distinct states"),
        Configuration("large", "five replicas", "more than 10^8 states", {"replicas": 5}),
    )

`spec.bind("large", max_epoch=3)` and `check SPEC --config large --set max_epoch=3` start from the
configuration's constants and change single ones. Constants that a configuration does not name have
their defaults. The one called "default" names none: it says how large the state space of the
defaults is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.errors import LabError, quoted

DEFAULT = "default"
"""The configuration that a spec has when none is named."""


@dataclass(frozen=True)
class Configuration:
    """Constants under a name. `meaning` and `size` are phrases for people: what the configuration
    is for, and what is known about the number of its states."""

    name: str
    meaning: str
    size: str
    constants: Mapping[str, Any] = field(default_factory=dict)


def constants_of(
    configurations: Sequence[Configuration], name: str | None, spec_name: str
) -> Mapping[str, Any]:
    """The constants of the configuration with this name; none for None.

    Raises LabError, which lists the names that there are.
    """
    if name is None or name == DEFAULT:
        return {}
    for each in configurations:
        if each.name == name:
            return each.constants
    known = ", ".join(dict.fromkeys([DEFAULT, *(each.name for each in configurations)]))
    raise LabError(f"{spec_name} has no configuration {quoted(name)}; it has: {known}.")
