"""The sentence on a choice's button: "Replica 3 fetches 2 messages".

A spec has templates for them, in which an action's parameters stand in braces:

    "Replica {replica} fetches {entries:message}"           counted: 1 message, 2 messages
    "Server {message.dest} gets {message.source}'s vote"    fields of a message
    "w1 creates the ledger on {ensemble:b}"                 a letter before each node: {b1, b2}
    "w1 stores {entry:A} in epoch {epoch:-1}"               a record's name; a number less one

or functions of the parameters, as plain values by name. A set that a template leaves out follows
where it is not empty, as in "c1 sends its next entry, lost: {2}".
"""

from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.explain.wording import choice_text, letter, words
from protocol_lab.model.parameters import Subset
from protocol_lab.model.spec import Action, Model
from protocol_lab.model.step_text import plain_arguments


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
