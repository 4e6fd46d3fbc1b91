"""The names of a spec in plain words, for titles, chips and buttons."""

import re
from typing import Any

from protocol_lab.catalog import package_title
from protocol_lab.errors import LabError
from protocol_lab.model.constants import Limits, changed, limits_of, told
from protocol_lab.model.layout import Node
from protocol_lab.model.node_sets import as_set
from protocol_lab.model.parameters import Domain, Range, Subset
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.step_text import argument_text, plain_arguments

_ACRONYM = re.compile(r"\b([a-z]{2,4}) (\d+)\b")
_RELEASE = re.compile(r"\bv(\d+) (\d+)\b")
_CAPITALISED = re.compile(r"^[A-Z]\w*\((.*)\)$")


def words(name: str) -> str:
    """A snake_case name with spaces."""
    return name.replace("_", " ").strip()


def spec_title(name: str) -> str:
    """ "kafka.kip_320" as "Kafka · KIP-320", and "toy.v4_13" as "Toy · 4.13"."""
    package, _, module = name.rpartition(".")
    plain = _ACRONYM.sub(lambda found: f"{found[1].upper()}-{found[2]}", words(module))
    plain = _RELEASE.sub(lambda found: f"{found[1]}.{found[2]}", plain)
    return f"{package_title(package)} · {plain}" if package else plain.capitalize()


def constant_texts(model: Model, only_changed: bool = False) -> list[tuple[str, str]]:
    """The constants as short texts, such as "3 replicas", each with its meaning.

    If there are very many, or if asked so, only those that differ from their defaults.
    """
    limits = limits_of(type(model.constants))
    shown = changed(model.constants) if only_changed else told(model.constants)
    return [
        (_constant(name, value, limits[name]), limits[name].meaning)
        for name, value in shown.items()
    ]


def _constant(name: str, value: Any, limits: Limits) -> str:
    if value is None:
        return f"{words(name)}: no limit"
    if isinstance(value, bool):
        return f"{words(name)}: {'yes' if value else 'no'}"
    if limits.choices:
        return f"{words(name)}: {words(value)}"
    if name.endswith("s") and not name.startswith("max"):
        return f"{value} {words(name) if value != 1 else singular(words(name))}"
    return f"{words(name)} {value}"


def choice_text(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> str:
    """A choice of parameters in words: "replica 3, 1 record"; "" if there are no parameters.

    `row` is the state in which the choice is made.
    """
    return ", ".join(
        _argument(name, action.domains[name], value, argument_text(model, row, action, name, args))
        for name, value in args.items()
    )


def _argument(name: str, domain: Domain, value: Any, text: str) -> str:
    if isinstance(domain, Node):
        is_the_kind = domain.noun and name == singular(domain.count)
        return f"{domain.noun if is_the_kind else words(name)} {text}"
    if isinstance(domain, Subset):
        return f"{words(name)}: {node_set(value)}"
    if isinstance(domain, Range) and name.endswith("s"):
        return f"{text} {words(name) if value != 1 else singular(words(name))}"
    content = _CAPITALISED.match(text)
    if content:
        return f"{words(name)} with {words(content[1]).replace('=', ' ')}"
    return f"{words(name)} {text}"


def singular(noun: str) -> str:
    """The singular of a regular English plural (also of "-ies" from "-ie", as in "bookies")."""
    if noun.endswith("ies") and not noun.endswith("ookies"):
        return noun[:-3] + "y"
    return noun.removesuffix("s")


def node_set(mask: int) -> str:
    """A set of nodes as text."""
    return "{" + ", ".join(str(node) for node in sorted(as_set(mask))) + "}" if mask else "none"


def first_line(text: str) -> str:
    """The first sentence or line of a docstring."""
    return text.strip().split("\n")[0]


def letter(number: int) -> str:
    """A record's name: A for the first, B for the second, and so on."""
    return chr(ord("A") + number - 1) if number <= 26 else f"{letter(number // 26)}{number % 26}"


# --- Choices --------------------------------------------------------------------------------------
#
# The sentence on a choice's button: "Replica 3 fetches 2 messages".
#
# A spec has templates for them, in which an action's parameters stand in braces:
#
#     "Replica {replica} fetches {entries:message}"           counted: 1 message, 2 messages
#     "Server {message.dest} gets {message.source}'s vote"    fields of a message
#     "w1 creates the ledger on {ensemble:b}"                 a letter before each node: {b1, b2}
#     "w1 stores {entry:A} in epoch {epoch:-1}"               a record's name; a number less one
#
# or functions of the parameters, as plain values by name. A set that a template leaves out follows
# where it is not empty, as in "c1 sends its next entry, lost: {2}".


def choice_sentence(model: Model, row: bytes, action: Action, args: dict[str, Any]) -> str:
    """What happens if this choice is made in this state; without a template, the action's name and
    its parameters.

    LabError: the template names a parameter, or a field, that is not there.
    """
    template = model.spec.choices.get(action.name)
    if template is None:
        name, text = words(action.name).capitalize(), choice_text(model, row, action, args)
        return f"{name}: {text}" if text else name
    plain = plain_arguments(action, args)
    if callable(template):
        return template(**plain)
    shown = {name: _Shown(value) for name, value in plain.items()}
    try:
        said = template.format(**shown)
    except (KeyError, AttributeError, IndexError, ValueError) as error:
        raise LabError(
            f"{model.spec.name}: choices has {template!r} for {action.name}, whose parameters are"
            f" {', '.join(action.domains) or 'none'}: {error}."
        ) from None
    rest = left_out(model, action, args)
    return said + "".join(f", {words(name)}: {format(shown[name])}" for name in rest)


def left_out(model: Model, action: Action, args: dict[str, Any]) -> list[str]:
    """The sets that the action's template leaves out and that are not empty, such as the messages
    that are lost in the step."""
    template = model.spec.choices.get(action.name)
    sets = [name for name in args if isinstance(action.domains[name], Subset) and args[name]]
    return [name for name in sets if isinstance(template, str) and f"{{{name}" not in template]


class _Shown:
    """A parameter's plain value, as a template shows it."""

    def __init__(self, value: Any):
        self._value = value

    def __getattr__(self, name: str) -> "_Shown":
        if not isinstance(self._value, dict) or name not in self._value:
            raise AttributeError(f"there is no {name}")
        return _Shown(self._value[name])

    def __format__(self, how: str) -> str:
        match self._value:
            case list():
                return "{" + ", ".join(f"{how}{node}" for node in self._value) + "}"
            case str():
                return words(self._value)
        if how == "A":
            return letter(self._value)
        if how == "-1":
            return str(self._value - 1)
        plural = "" if self._value == 1 else "s"
        return f"{self._value} {how}{plural}" if how else str(self._value)
