"""Tells by field how a state differs from one that another tool printed.

zk_state.leader is 2, TLC has 1
"""

from typing import Any

from protocol_lab.errors import shortened
from protocol_lab.interchange.tlc_output import Atom, Function, Sequence, SetOf, Value
from protocol_lab.interchange.tlc_values import Names, fields_of, pairs_of, same_name
from protocol_lab.spec.layout import Array, Per, Seq

_LONGEST = 80
"""The longest value, in characters, that is shown whole."""


def difference(
    names: Names, declared: Any, ours: Any, theirs: Value, path: str, tool: str = "TLC"
) -> str:
    """The first difference of a value from the tool's, at the innermost place that both have.

    declared: the type of ours; None for a value that `Spec.printed` has made. There must be a
    difference.
    """

    def differs(declared: Any, ours: Any, theirs: Value) -> bool:
        if declared is None:
            return not names.agree_printed(ours, theirs)
        return not names.agree(declared, ours, theirs)

    for each in _parts(names, declared, ours, theirs):
        if differs(*each[1:]):
            name, *values = each
            return difference(names, *values, path + name, tool)
    return f"{path} is {_own_text(ours)}, {tool} has {text_of(theirs, names)}"


Part = tuple[str, Any, Any, Value]


def _parts(names: Names, declared: Any, ours: Any, theirs: Value) -> list[Part]:
    """What both values have at the same place: how the place is called, its type, and both values.

    None for values that are not of the same form.
    """
    match declared, theirs:
        case None, Function() if isinstance(ours, dict):
            return [
                (f".{key}", None, ours[key], each)
                for name, each in theirs.pairs
                for key in ours
                if same_name(str(key), str(name))
            ]
        case None, Sequence(items) if isinstance(ours, list) and len(ours) == len(items):
            pairs = enumerate(zip(ours, items), 1)
            return [(f"[{k}]", None, mine, each) for k, (mine, each) in pairs]
        case None, Function() if _are_pairs(ours):
            return [
                (f"[{_own_text(key)}]", None, mine, each)
                for key, mine in ours
                for theirs_key, each in theirs.pairs
                if names.agree_printed(key, theirs_key)
            ]
        case type(), Function() if isinstance(ours, dict):
            pairs = fields_of(declared, theirs)
            return [(f".{key}", declared.field_types[key], ours[key], each) for key, each in pairs]
        case Per(_, item), Function() | Sequence():
            numbered = [(names.numbers.get(key, 0), each) for key, each in pairs_of(theirs)]
            return [(f"[{k}]", item, ours[k], each) for k, each in numbered if k in ours]
        case Array(item, _), Function() | Sequence():
            first = 1 if isinstance(theirs, Sequence) else 0
            slots = [(key, each) for key, each in pairs_of(theirs) if isinstance(key, int)]
            return [
                (f"[{key - first}]", item, ours[key - first], each)
                for key, each in slots
                if 0 <= key - first < len(ours)
            ]
        case Seq(item, _), Sequence(items) if len(items) == len(ours):
            pairs = enumerate(zip(ours, items))
            return [(f"[{k}]", item, mine, each) for k, (mine, each) in pairs]
    return []


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, tuple) for each in value)


def _own_text(value: Any) -> str:
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(map(str, sorted(value))) + "}"
    return shortened(value, _LONGEST)


def text_of(value: Value, names: Names | None = None) -> str:
    """The value in TLA+, shortened, on one line; a node's name is followed by its number."""
    number = names.numbers.get(value) if names and isinstance(value, Atom) else None
    text = shortened(" ".join(_text(value).split()), _LONGEST)
    return text if number is None else f"{text} (node {number})"


def _text(value: Value) -> str:
    match value:
        case bool():
            return str(value).upper()
        case Sequence(found):
            return f"<<{', '.join(map(_text, found))}>>"
        case SetOf(found):
            return f"{{{', '.join(map(_text, found))}}}"
        case Function(pairs) if all(isinstance(key, Atom) for key, _ in pairs):
            return "[" + ", ".join(f"{key} |-> {_text(each)}" for key, each in pairs) + "]"
        case Function(pairs):
            return "(" + " @@ ".join(f"{_text(key)} :> {_text(each)}" for key, each in pairs) + ")"
    return str(value)
