"""Constants of a spec: one typed tuple with defaults, documented bounds and validation.

A spec writes a NamedTuple whose fields are annotated with `Limits`::

    class Constants(NamedTuple):
        replicas: Annotated[int, Limits(1, 7, "brokers with a copy")] = 3
        max_epoch: Annotated[int, Limits(0, 99, "bound on elections", may_be_none=True)] = NO_LIMIT

For a first try plain types are enough: `nodes: int = 3` is any number from 0, `lossy: bool = True`
a flag.

Actions read a constant as `c.replicas`, always a plain integer. A limit that is switched off is the
integer `NO_LIMIT`, so that `x < c.max_epoch` stays a plain comparison, compiled or not.

Constants that belong together have a name as a configuration, with the size of its state space.
A spec declares configurations beside its constants, and hands them to
`Spec(..., configurations=...)`::

    CONFIGURATIONS = (
        Configuration("default", "two replicas", "1,234 distinct states"),
        Configuration("large", "five replicas", "more than 10^8 states", {"replicas": 5}),
    )

`spec.bind("large", max_epoch=3)` and `check SPEC --config large --set max_epoch=3` start from the
configuration's constants and change single ones. Constants that a configuration does not name have
their defaults. The one called "default" names none: it says how large the state space of the
defaults is.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, get_args, get_type_hints

from protocol_lab.errors import LabError, quoted, shortened
from protocol_lab.model.layout import Struct, exact_size, named_value, names_in, sizes_in
from protocol_lab.quantities import whole_number_of

NO_LIMIT = 2**31 - 1

UNBOUNDED = NO_LIMIT - 1
"""The upper bound of a constant that is declared as a plain `int`."""

_LONGEST = 1_000
"""Longer texts are refused without being read: no constant has a value of so many characters."""


@dataclass(frozen=True)
class Limits:
    """Bounds (inclusive) and meaning of one constant.

    `low` and `high` may name another constant. `may_be_none` admits NAME=none, for no limit.
    `choices` gives the values names, from 0 upwards.
    `storage` marks one that only says how many items are stored, and nothing about the protocol: a
    search that needs more room makes it larger, up to `high`.
    """

    low: int | str
    high: int | str
    meaning: str
    may_be_none: bool = False
    choices: tuple[str, ...] = ()
    storage: bool = False


def storage(low: int, high: int, meaning: str) -> Limits:
    """Limits of a constant that is only room for items: a search that needs more makes it
    larger."""
    return Limits(low, high, f"storage: {meaning}", storage=True)


def choice(*names: str, meaning: str) -> Limits:
    """Limits of a constant that is one of several names; actions see 0, 1, 2, ...

    A name is typed after `--set NAME=` and stands in the first line of scenarios. Raises LabError
    for one that can't.
    """
    for each in names:
        if not re.fullmatch(r"[^\s=#\"']+", each) or each != each.lower():
            raise LabError(
                f"choice(): the name {quoted(each)} can't be typed as NAME=VALUE: write it in small"
                " letters, without spaces, quotes, = and #."
            )
    return Limits(0, len(names) - 1, meaning, choices=names)


def flag(meaning: str) -> Limits:
    """Limits of a constant that is true or false; actions see 1 or 0."""
    return choice("false", "true", meaning=meaning)


def extends(base: type, without: Collection[str] = ()) -> Callable[[type], type]:
    """The constants of a variant: those of another spec, and those that the class below adds.

    Write it above a NamedTuple: `@extends(lock.Constants)`. A constant that both have is the added
    one, in its old place. without: constants of the other spec that the variant lacks. Raises
    LabError if the other spec has no such constant.
    """
    for name in without:
        if name not in base._fields:
            raise LabError(f"{base.__module__} has no constant {quoted(name)} to leave out.")

    def extended(added: type) -> type:
        hints = {
            name: hint
            for each in (base, added)
            for name, hint in get_type_hints(each, include_extras=True).items()
            if each is added or name not in without
        }
        defaults = {**base._field_defaults, **added._field_defaults}
        made = NamedTuple(added.__name__, list(hints.items()))
        made._field_defaults = {name: defaults[name] for name in hints if name in defaults}
        made.__module__, made.__doc__ = added.__module__, added.__doc__
        return made

    return extended


class NoConstants(NamedTuple):
    """The constants of a spec that has none."""


def limits_of(constants: type) -> dict[str, Limits]:
    """The Limits of every constant, in declaration order. Raises LabError."""
    if not (issubclass(constants, tuple) and hasattr(constants, "_fields")):
        raise LabError(
            f"Write the constants as a named tuple: class {constants.__name__}(NamedTuple)."
        )
    hints = get_type_hints(constants, include_extras=True)
    return {name: _limits(name, hints[name]) for name in constants._fields}


def _limits(name: str, hint: Any) -> Limits:
    for each in get_args(hint):
        if isinstance(each, Limits):
            return each
    if hint is bool:
        return flag("")
    if hint is int:
        return Limits(0, UNBOUNDED, "")
    raise LabError(f"The constant {name} is a number: write `{name}: int = 2`, or Limits with it.")


def bind(constants: type, values: Mapping[str, Any], spec_name: str) -> Any:
    """The constants tuple for the given values over the defaults.

    Values may be integers, booleans, None (no limit) or their texts, as typed after `--set`.
    Raises LabError with one sentence for an unknown name or a value out of bounds.
    """
    limits = limits_of(constants)
    for name in values:
        if name not in limits:
            known = ", ".join(limits)
            raise LabError(f"{spec_name} has no constant {quoted(name)}; it has: {known}.")
    bound = {
        name: _parsed(name, value, limits[name]) if isinstance(value, str) else int(value)
        for name, value in constants._field_defaults.items()
    }
    for name, value in values.items():
        bound[name] = _parsed(name, value, limits[name])
    for name in limits:
        if name not in bound:
            raise LabError(f"{spec_name}: {name} has no default; write bind({name}=...).")
    for name, value in bound.items():
        _check(name, value, limits[name], bound)
        if limits[name].choices:
            bound[name] = named_value(value, limits[name].choices)
    return constants(**bound)


def show(constants: Any) -> dict[str, int | str | bool | None]:
    """The values as people write them: names for choices, None for no limit."""
    return {
        name: _shown(value, limits)
        for (name, limits), value in zip(limits_of(type(constants)).items(), constants, strict=True)
    }


MANY = 12
"""Above this many constants, only those that differ from their defaults are shown."""


def told(constants: Any) -> dict[str, int | str | bool | None]:
    """What `show` gives; if there are very many, only those that differ from their defaults."""
    shown = show(constants)
    return shown if len(shown) <= MANY else changed(constants)


def changed(constants: Any) -> dict[str, int | str | bool | None]:
    """Of what `show` gives, the constants that differ from their defaults."""
    defaults = type(constants)._field_defaults
    return {
        name: value
        for name, value in show(constants).items()
        if getattr(constants, name) != defaults[name]
    }


def show_text(constants: Any) -> str:
    """What `told` gives as one line, `replicas=3 max_epoch=none`, which `bind` reads back."""
    return " ".join(f"{name}={as_text(value)}" for name, value in told(constants).items())


def as_text(value: int | str | bool | None) -> str:
    """A shown value as it is typed after `--set NAME=`."""
    return "none" if value is None else str(value).lower()


ROOMS = (3, 5, 7, 31)
"""The rooms that are made; 31 nodes are the most that a set holds."""

MOST_GROWTH = 1.2
"""No room is made that makes a state larger than this times what it has to be."""


@lru_cache(maxsize=4096, typed=True)
def capacities(state: type[Struct], constants: Any) -> dict[str, int]:
    """How much room the layout of a state has for each constant that its declaration names.

    A constant below its default has the room of the default, and another the next of ROOMS, so that
    few layouts have to be compiled; but no more than its upper bound and MOST_GROWTH allow. Storage
    has no other room than it says, nor has a constant without an upper bound, nor a default number
    of an array's items. (Items that are not there are zero.)
    """
    limits, defaults = limits_of(type(constants)), constants._field_defaults
    values = constants._asdict()
    usual = values | defaults
    found = dict(values)
    for name, is_visited in sizes_in(state).items():
        high = limits[name].high
        if limits[name].storage or high == UNBOUNDED:
            continue
        high = values[high] if isinstance(high, str) else high
        found[name] = least = max(values[name], usual[name])
        if is_visited and least == usual[name]:
            continue
        room = min(next((each for each in ROOMS if each >= least), least), high)
        exact, roomy = (exact_size(state, usual | {name: each}) for each in (least, room))
        if roomy <= MOST_GROWTH * exact:
            found[name] = room
    return found


def widened(constants: Any, size: str) -> Any | None:
    """The constants with more room in the container that is declared with this size; None if they
    are at their maximum.

    size: an expression over constants. Each of them that is storage is doubled, but never above
    `high`.
    """
    limits = limits_of(type(constants))
    wider = {}
    for name in names_in(size):
        if name in limits and limits[name].storage:
            room = getattr(constants, name)
            more = min(2 * room, limits[name].high)
            if more > room:
                wider[name] = more
    return constants._replace(**wider) if wider else None


def _shown(value: int, limits: Limits) -> int | str | bool | None:
    if limits.choices == ("false", "true"):
        return bool(value)
    if limits.choices:
        return limits.choices[value]
    return None if limits.may_be_none and value == NO_LIMIT else value


def _parsed(name: str, value: Any, limits: Limits) -> int:
    text = " ".join(shortened(value, _LONGEST).split())
    number = whole_number_of(text)
    if limits.choices:
        if text.lower() in limits.choices:
            return limits.choices.index(text.lower())
        if number is not None and 0 <= number < len(limits.choices):
            return number
        raise LabError(f"{name}={shortened(text)} is not one of {', '.join(limits.choices)}.")
    if value is None or text.lower() == "none":
        if limits.may_be_none:
            return NO_LIMIT
        raise LabError(f"{name} needs a number, {_range(limits)}; only bounds can be none.")
    if number is None:
        raise LabError(f"{name}={shortened(text)} is not a whole number; use {_range(limits)}.")
    return number


def _check(name: str, value: int, limits: Limits, bound: Mapping[str, int]) -> None:
    if limits.may_be_none and value == NO_LIMIT:
        return
    if abs(value) > NO_LIMIT:  # compiled code takes it for granted that a sum of constants fits
        raise LabError(f"{name}={value} has more than 32 bits; use at most {NO_LIMIT}.")
    ends = (limits.low, limits.high)
    low, high = (bound[each] if isinstance(each, str) else each for each in ends)
    if not low <= value <= high:
        shown = (f"{bound[each]} ({each})" if isinstance(each, str) else each for each in ends)
        raise LabError(f"{name}={value} is out of bounds; use {_range(limits, *shown)}.")


def _range(limits: Limits, low: int | str | None = None, high: int | str | None = None) -> str:
    """The bounds in words; `low` and `high` in place of the declared ones."""
    none = " or none" if limits.may_be_none else ""
    return f"{limits.low if low is None else low} to {limits.high if high is None else high}{none}"


# --- Configurations -------------------------------------------------------------------------------

DEFAULT = "default"
"""The configuration that a spec has when none is named."""


class Expected(NamedTuple):
    """What a search of a configuration finds: how many distinct states, up to the violation if
    there is one, and how many states are on the path to that. None: not known."""

    distinct: int | None
    violated_in: int | None


_SIZE = re.compile(
    r"(?:violated in (?P<path>\d+) states, after )?(?P<distinct>[\d,]+) distinct states"
    r"|more than [\d,]+ distinct states|not explored to the end"
)


@dataclass(frozen=True)
class Configuration:
    """Constants under a name. `meaning` and `size` are phrases for people: what the configuration
    is for, and what is known about the number of its states.

    This is where such a count stands: tests read it as `expects`, and derive it. TLC's counts, in
    tests/golden, are of configurations of the originals.
    """

    name: str
    meaning: str
    size: str
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def expects(self) -> Expected:
        """The counts that `size` gives. Raises LabError for a phrase of another form."""
        found = _SIZE.fullmatch(self.size)
        if found is None:
            raise LabError(
                f"The size of {self.name} is {quoted(self.size)}: write `1,234 distinct states`,"
                " `violated in 5 states, after 67 distinct states`, `more than 1,000,000 distinct"
                " states`, or `not explored to the end`."
            )
        path, distinct = (each and int(each.replace(",", "")) for each in found.groups())
        return Expected(distinct, path)


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
