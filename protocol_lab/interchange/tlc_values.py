"""Compares a state with one that another tool printed, using only the declared types.

Names are compared without case and underscores: `leaderEpoch` is `leader_epoch`. A node is the
number of its model value (`Names`); any other value in a node's place is NONE. Records are compared
in the fields that both have, so either may have more. A value in a record's place that is not a
record, such as -1 or Nil, is an empty slot; a sequence there is compared with the sequence inside
our record. The order of items counts only if the tool's value is a sequence, too. A function of
1..n, which TLC prints as a sequence, may fill an array from slot 0, or from slot 1 if slot 0 stays
empty.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from protocol_lab.errors import shortened
from protocol_lab.interchange.tlc_output import Atom, Function, PrintedTrace, Sequence, SetOf, Value
from protocol_lab.model.layout import (
    Array,
    Bag,
    Boolean,
    Integer,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
)

_NOTHING = re.compile(r"(no|none|nil|null|nobody|empty|undefined)$", re.IGNORECASE)
_LONGEST = 80
"""The longest value, in characters, that is shown whole."""

Name = Atom | int


def same_name(ours: str, theirs: str) -> bool:
    """Do both names agree, as `leader_epoch` and `leaderEpoch`?"""
    return ours.replace("_", "").lower() == theirs.replace("_", "").lower()


def variables_of(state: type[Struct], names: Iterable[str]) -> dict[str, str]:
    """Our field for each of the tool's variables; variables that are not fields are left out."""
    pairs = ((ours, theirs) for theirs in names for ours in state.field_types)
    return {theirs: ours for ours, theirs in pairs if same_name(ours, theirs)}


# --- What a trace tells of the model -----------------------------------------------------------


@dataclass
class Places:
    """The model values in a trace by place, and the sizes of what has a fixed size.

    The key of `atoms` is the constant that counts the nodes, or the path of a number. `sizes` are
    the constants that the trace shows: how many nodes, how long the arrays. `domains` are the nodes
    where all of them are known.
    """

    atoms: dict[str, dict[Name, None]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    domains: dict[str, set[Name]] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: PrintedTrace, state: type[Struct]) -> "Places":
        """The places in all states of a trace."""
        places = cls()
        for printed in trace.states:
            for theirs, ours in variables_of(state, printed.variables).items():
                places._look(state.field_types[ours], printed.variables[theirs], ours)
        return places

    def _look(self, declared: Any, value: Value, path: str) -> None:
        match declared, value:
            case (Node(count), Atom() | int()):
                self._note(count, value)
            case (NodeSet(Node(count)), SetOf(items)) if _are_names(items):
                for each in items:
                    self._note(count, each)
            case (Integer(), Atom()):
                self._note(path, value)
            case (Per(Node(count), item), Function() | Sequence()) if _is_by_node(value):
                known = self.domains.setdefault(count, set())
                known.update(key for key, _ in pairs_of(value))
                self.sizes[count] = len(known)
                for key, each in pairs_of(value):
                    self._note(count, key)
                    self._look(item, each, path)
            case (Array(item, size), Function() | Sequence()):
                if isinstance(size, str) and size.isidentifier():
                    self.sizes[size] = len(pairs_of(value))
                for _, each in pairs_of(value):
                    self._look(item, each, path)
            case (Seq(item, _) | Bag(item, _), SetOf() | Sequence() | Function()):
                for each in items_of(value):
                    self._look(item, each, path)
            case (type(), Function()):
                for ours, each in fields_of(declared, value):
                    self._look(declared.field_types[ours], each, f"{path}.{ours}")
            case (type(), Sequence()):
                for name, each in declared.field_types.items():
                    if isinstance(each, Seq):
                        self._look(each, value, f"{path}.{name}")

    def _note(self, key: str, value: Name) -> None:
        self.atoms.setdefault(key, {})[value] = None

    def _nodes(self, key: str) -> list[Name]:
        """The names in this place, without those that stand for NONE."""
        domain = self.domains.get(key)
        known = _is_something if domain is None else domain.__contains__
        return list(filter(known, self.atoms[key]))

    def names(self) -> "Names":
        """The numbers of the names: those of one place, or of places that share one, together."""
        groups: list[list[Name]] = []
        for key in self.atoms:
            own = self._nodes(key)
            shared = [group for group in groups if set(group) & set(own)]
            merged = list(dict.fromkeys(each for group in [*shared, own] for each in group))
            groups = [group for group in groups if group not in shared] + [merged]
        whole = list(self.domains.values())
        found: dict[Name, int] = {}
        for group in groups:
            found |= _numbered(group, set(group) in whole)
        return Names(found)


def _numbered(names: list[Name], whole: bool) -> dict[Name, int]:
    """Numbers by the digits at the ends of the names, else alphabetical; if these are all nodes,
    the digits give only the order."""
    ends = {name: re.search(r"\d+$", str(name)) for name in names}
    if not all(ends.values()):
        return {name: k for k, name in enumerate(sorted(names, key=str), 1)}
    numbers = {name: int(found.group()) for name, found in ends.items()}
    if whole or len(set(numbers.values())) < len(names) or 0 in numbers.values():
        return {name: k for k, name in enumerate(sorted(names, key=numbers.get), 1)}
    return numbers


def _are_names(values: Iterable[Value]) -> bool:
    """Can these be nodes, rather than something that the spec keeps in another shape?"""
    return all(isinstance(each, Name) for each in values)


def _is_by_node(value: Function | Sequence) -> bool:
    """Is it an array by node? An empty one could be any function, so it says nothing."""
    pairs = pairs_of(value)
    return bool(pairs) and _are_names(key for key, _ in pairs)


def _is_something(value: Name) -> bool:
    return value >= 0 if isinstance(value, int) else not _NOTHING.match(value.name)


# --- Agreement -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The numbers of the nodes' names; any other name is NONE, which is 0."""

    numbers: dict[Name, int]

    def agree(self, declared: Any, ours: Any, theirs: Value) -> bool:
        """Does our plain value agree with the tool's, for this declared type?"""
        match declared, theirs:
            case (Boolean(), bool()):
                return bool(ours) == theirs
            case (Integer(), int()):
                return ours == int(theirs)
            case (Integer() | Node(), Atom() | int()):
                return ours == self.numbers.get(theirs, 0)
            case (NodeSet(), SetOf(items)):
                return ours == {self.numbers.get(each, 0) for each in items}
            case (Named(), Atom(name)):
                return same_name(ours, name)
            case (Seq(item, _) | Bag(item, _), SetOf() | Sequence() | Function()) if not (
                isinstance(declared, Seq) and isinstance(theirs, Sequence)
            ):
                return _match(lambda a, b: self.agree(item, a, b), ours, items_of(theirs))
            case (type(), Sequence()):
                own = [(t, ours[k]) for k, t in declared.field_types.items() if isinstance(t, Seq)]
                return not _is_blank(ours) and any(self.agree(*each, theirs) for each in own)
            case (type(), Atom() | int()):
                return _is_blank(ours)
        return self._all_agree(self._parts(declared, ours, theirs))

    def _all_agree(self, parts: list["Part"] | None) -> bool:
        return parts is not None and all(self.agree(*each) for _, *each in parts)

    def difference(self, declared: Any, ours: Any, theirs: Value, path: str, tool: str) -> str:
        """How values that do not agree differ, at the innermost place that both have:
        `zk_state.leader is 2, TLC has 1`."""
        for name, *part in self._parts(declared, ours, theirs) or ():
            if not self.agree(*part):
                return self.difference(*part, path + name, tool)
        own = "{" + ", ".join(map(str, sorted(ours))) + "}" if isinstance(ours, set) else ours
        return f"{path} is {shortened(own, _LONGEST)}, {tool} has {self.text_of(theirs)}"

    def _parts(self, declared: Any, ours: Any, theirs: Value) -> list["Part"] | None:
        """What both have at the same places; None if their parts do not correspond."""
        match declared, theirs:
            case type(), Function():
                pairs, types = fields_of(declared, theirs), declared.field_types
                return [(f".{k}", types[k], ours[k], each) for k, each in pairs] or None
            case Per(_, item), Function() | Sequence():
                keyed = [(self.numbers.get(key, 0), each) for key, each in pairs_of(theirs)]
                return _slots(item, ours, keyed)
            case Array(item, _), Function(pairs):
                return _slots(item, dict(enumerate(ours)), pairs)
            case Array(item, _), Sequence():
                ways = (
                    _slots(item, dict(enumerate(ours, first)), pairs_of(theirs)) for first in (1, 0)
                )
                return next(filter(self._all_agree, ways), None)
            case Seq(item, _), Sequence(items) if len(items) == len(ours):
                return _slots(item, dict(enumerate(ours)), enumerate(items))
        return None

    def text_of(self, value: Value) -> str:
        """The value in TLA+, shortened, on one line; a node's name is followed by its number."""
        number = self.numbers.get(value) if isinstance(value, Atom) else None
        text = shortened(" ".join(_text(value).split()), _LONGEST)
        return text if number is None else f"{text} (node {number})"


Part = tuple[str, Any, Any, Value]
"""How a part is called, its type, and both values."""


def _slots(
    item: Any, ours: dict[Any, Any], pairs: Iterable[tuple[Any, Value]]
) -> list[Part] | None:
    """The slots of an array or sequence with the tool's values; None if it lacks one of them."""
    pairs = list(pairs)
    if not all(key in ours for key, _ in pairs):
        return None
    return [(f"[{key}]", item, ours[key], each) for key, each in pairs]


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


def _match(agree: Callable[[Any, Any], bool], ours: Iterable, theirs: Iterable) -> bool:
    """Do the items of two collections agree one by one, in any order?"""
    rest = list(ours)
    for each in theirs:
        found = next((k for k, mine in enumerate(rest) if agree(mine, each)), None)
        if found is None:
            return False
        del rest[found]
    return not rest


def pairs_of(value: Function | Sequence) -> list[tuple[Value, Value]]:
    """Arguments and values of a function; a sequence is one of 1, 2, ..."""
    return list(enumerate(value.items, 1)) if isinstance(value, Sequence) else list(value.pairs)


def items_of(value: SetOf | Sequence | Function) -> list[Value]:
    """The items of a collection; for a bag, which is a function to counts, each repeated that
    often."""
    if isinstance(value, Function):
        counts = ((item, count if isinstance(count, int) else 1) for item, count in value.pairs)
        return [item for item, count in counts for _ in range(count)]
    return list(value.items)


def fields_of(declared: type[Struct], value: Function) -> list[tuple[str, Value]]:
    """The tool's values of the fields that both sides have, by our names."""
    pairs = ((ours, key, each) for key, each in value.pairs for ours in declared.field_types)
    return [(ours, each) for ours, key, each in pairs if same_name(ours, str(key))]


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return all(map(_is_blank, parts))
    return not value
