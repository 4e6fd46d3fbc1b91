"""Named configurations: constants that belong together, with what is known of their state space.

A spec declares them beside its constants, and hands them to `Spec(..., configurations=...)`::

    CONFIGURATIONS = (
        Configuration("default", "two replicas", "1,234 distinct states"),
        Configuration("large", "five replicas", "more than 10^8 states", {"replicas": 5}),
    )

`spec.bind("large", max_epoch=3)` and `check SPEC --config large --set max_epoch=3` start from the
configuration's constants and change single ones. What a configuration does not name has its
default. The one called "default" names nothing: it tells how large the defaults are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.errors import LabError, quoted

DEFAULT = "default"
"""The configuration that a spec has without a name."""


@dataclass(frozen=True)
class Configuration:
    """Constants under a name. `meaning` and `size` are phrases for people: what the configuration
    is for, and what is known of the number of its states."""

    name: str
    meaning: str
    size: str
    constants: Mapping[str, Any] = field(default_factory=dict)


def constants_of(
    configurations: Sequence[Configuration], name: str | None, spec_name: str
) -> Mapping[str, Any]:
    """The constants of the configuration of this name; none for None.

    Raises LabError, which lists the names that there are.
    """
    if name is None or name == DEFAULT:
        return {}
    for each in configurations:
        if each.name == name:
            return each.constants
    known = ", ".join(dict.fromkeys([DEFAULT, *(each.name for each in configurations)]))
    raise LabError(f"{spec_name} has no configuration {quoted(name)}; it has: {known}.")
