"""Compares a state with one that TLC printed, using only the declared types.

Names are compared without case and underscores: `leaderEpoch` is `leader_epoch`. A node is the
number of its model value (`Names`); any other value in a node's place is NONE. Records are compared
in the fields that both have, so either may have more. A value in a record's place that is not a
record, such as -1 or Nil, is an empty slot; a sequence there is compared with the sequence inside
our record. The order of items counts only if TLC's value is a sequence, too. A function of 1..n,
which TLC prints as a sequence, may fill an array from slot 0, or from slot 1 if slot 0 stays empty.

A variable that has another shape in the original is compared with the value of the spec's own
function in `Spec.printed`: numbers, texts for model values, dicts for records, lists for sets and
sequences, and for other functions lists of (argument, value).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, permutations, product
from typing import Any

from protocol_lab.interchange.tlc_output import (
    Atom,
    Function,
    Items,
    PrintedTrace,
    Sequence,
    SetOf,
    Value,
)
from protocol_lab.spec.layout import (
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
_MOST_NUMBERINGS = 720


def same_name(ours: str, theirs: str) -> bool:
    """Do both names agree, as `leader_epoch` and `leaderEpoch`?"""
    return ours.replace("_", "").lower() == theirs.replace("_", "").lower()


def variables_of(state: type[Struct], names: Iterable[str]) -> dict[str, str]:
    """Our field for each of TLC's variables; variables that are not fields are left out."""
    pairs = ((ours, theirs) for theirs in names for ours in state.field_types)
    return {theirs: ours for ours, theirs in pairs if same_name(ours, theirs)}


# --- What a trace tells of the model -----------------------------------------------------------


@dataclass
class Places:
    """The model values in a trace by place, and the sizes of what has a fixed size.

    The key of `atoms` is the constant that counts the nodes, or the path of a number. `sizes` are
    the constants that the trace shows: how many nodes, how long the arrays. `domains` are the nodes
    where all of them are known, and `numbers` all numbers. `guesses` are the lengths that sequences
    have in the first state.
    """

    atoms: dict[str, list[Atom | int]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    domains: dict[str, set[Atom | int]] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)
    guesses: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: PrintedTrace, state: type[Struct]) -> "Places":
        """The places in all states of a trace."""
        places = cls()
        first = trace.states[0].variables
        for theirs, ours in variables_of(state, first).items():
            match state.field_types[ours], first[theirs]:
                case (Seq(_, str() as size), Sequence(items)) if items and size.isidentifier():
                    places.guesses[size] = len(items)
        for printed in trace.states:
            known = variables_of(state, printed.variables)
            for theirs, ours in known.items():
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
            case (Integer(), int()):
                self.numbers.add(int(value))
            case (Per(Node(count), item), Function() | Sequence()) if _are_indexed(value):
                pairs = pairs_of(value)
                known = self.domains.setdefault(count, set())
                known.update(key for key, _ in pairs)
                self.sizes[count] = len(known)
                for key, each in pairs:
                    self._note(count, key)
                    self._look(item, each, path)
            case (Array(item, size), Function() | Sequence()):
                pairs = pairs_of(value)
                if isinstance(size, str) and size.isidentifier():
                    self.sizes[size] = len(pairs)
                for _, each in pairs:
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

    def _note(self, key: str, value: Atom | int) -> None:
        atoms = self.atoms.setdefault(key, [])
        if value not in atoms:
            atoms.append(value)

    def nodes(self, count: str) -> list[Atom | int]:
        """The nodes that this constant counts, without names that stand for NONE."""
        domain = self.domains.get(count)
        if domain is not None:
            return [each for each in self.atoms[count] if each in domain]
        return [each for each in self.atoms.get(count, []) if not _is_nothing(each)]

    def groups(self) -> list[list[Atom | int]]:
        """The names that are numbered together: those of one place, or of places that share one."""
        groups: list[list[Atom | int]] = []
        for key in self.atoms:
            own = self.nodes(key)
            shared = [group for group in groups if set(group) & set(own)]
            merged = list(dict.fromkeys(each for group in [*shared, own] for each in group))
            groups = [group for group in groups if group not in shared] + [merged]
        return [group for group in groups if group]

    def numberings(self) -> Iterator[dict[Atom | int, int]]:
        """Possible numberings of the names: first by the digits at their ends, else alphabetical.

        Then the other permutations, up to some hundreds.
        """
        groups = self.groups()
        whole = list(self.domains.values())
        first = [_natural_numbers(group, set(group) in whole) for group in groups]
        yield _merged(first)
        others = product(
            *(
                [dict(zip(group, numbers)) for numbers in permutations(sorted(each.values()))]
                for group, each in zip(groups, first)
                if len(group) <= 7
            )
        )
        for chosen in islice(others, 1, _MOST_NUMBERINGS):
            yield _merged([*first, *chosen])


def _merged(groups: Iterable[dict[Atom | int, int]]) -> dict[Atom | int, int]:
    return {name: number for group in groups for name, number in group.items()}


def _natural_numbers(names: list[Atom | int], whole: bool) -> dict[Atom | int, int]:
    """Numbers by the digits at the ends of the names; if these are all nodes, that is their
    order."""
    ends = {name: re.search(r"\d+$", str(name)) for name in names}
    if not all(ends.values()):
        return {name: k for k, name in enumerate(sorted(names, key=str), 1)}
    numbers = {name: int(found.group()) for name, found in ends.items()}
    if whole or len(set(numbers.values())) < len(names) or 0 in numbers.values():
        return {name: k for k, name in enumerate(sorted(names, key=numbers.get), 1)}
    return numbers


def _are_names(values: Iterable[Value]) -> bool:
    """Can these be nodes, rather than something that the spec keeps in another shape?"""
    return all(isinstance(each, Atom | int) for each in values)


def _are_indexed(value: Function | Sequence) -> bool:
    """Is it an array by node? An empty one could be any function, so it says nothing."""
    pairs = pairs_of(value)
    return bool(pairs) and _are_names(key for key, _ in pairs)


def _is_nothing(value: Atom | int) -> bool:
    return value < 0 if isinstance(value, int) else bool(_NOTHING.match(value.name))


# --- Agreement -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """The numbers of the nodes' names; any other name is NONE, which is 0."""

    numbers: dict[Atom | int, int]

    def agree(self, declared: Any, ours: Any, theirs: Value) -> bool:
        """Does our plain value agree with TLC's, for this declared type?"""
        match declared, theirs:
            case _, Items(items):
                return self.agree(declared, ours, Sequence(items)) or self.agree(
                    declared, ours, SetOf(items)
                )
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
            case (Per(_, item), Function() | Sequence()):
                keyed = [(self.numbers.get(key, 0), each) for key, each in pairs_of(theirs)]
                return all(k in ours and self.agree(item, ours[k], each) for k, each in keyed)
            case (Array(item, _), Function() | Sequence()):
                firsts = (1, 0) if isinstance(theirs, Sequence) else (0,)
                return any(self._agree_from(first, item, ours, theirs) for first in firsts)
            case (Seq(item, _), Sequence(items)):
                return len(ours) == len(items) and all(
                    self.agree(item, mine, each) for mine, each in zip(ours, items)
                )
            case (Seq(item, _) | Bag(item, _), SetOf() | Sequence() | Function()):
                return self._agree_in_some_order(item, ours, items_of(theirs))
            case (type(), Function()):
                pairs = fields_of(declared, theirs)
                types = declared.field_types
                return bool(pairs) and all(
                    self.agree(types[name], ours[name], each) for name, each in pairs
                )
            case (type(), Sequence()):
                own = [
                    (each, ours[name])
                    for name, each in declared.field_types.items()
                    if isinstance(each, Seq)
                ]
                return not _is_blank(ours) and any(self.agree(*each, theirs) for each in own)
            case (type(), Atom() | int()):
                return _is_blank(ours)
        return False

    def _agree_from(self, first: int, item: Any, ours: list, theirs: Function | Sequence) -> bool:
        """Do the values agree if this argument of TLC's function is slot 0 of our array?"""
        slots = {first + k: mine for k, mine in enumerate(ours)}
        return all(
            key in slots and self.agree(item, slots[key], each) for key, each in pairs_of(theirs)
        )

    def agree_printed(self, ours: Any, theirs: Value) -> bool:
        """Does a value from `Spec.printed` agree with TLC's?"""
        if isinstance(theirs, Atom):
            if isinstance(ours, str):
                return same_name(ours, theirs.name)
            return ours == self.numbers[theirs] if theirs in self.numbers else not ours
        if isinstance(ours, dict | list) == isinstance(theirs, int):
            return False
        match theirs:
            case Items(items):
                either = Sequence(items), SetOf(items)
                return any(self.agree_printed(ours, each) for each in either)
            case int():  # TRUE and FALSE as well
                return ours == theirs
            case SetOf(items):
                return _match(self.agree_printed, ours, items)
            case Sequence(items) if all(not isinstance(each, tuple) for each in ours):
                return len(ours) == len(items) and all(map(self.agree_printed, ours, items))
        pairs = ours.items() if isinstance(ours, dict) else ours
        return _match(self._agree_pair, pairs, pairs_of(theirs))

    def _agree_pair(self, ours: tuple[Any, Any], theirs: tuple[Value, Value]) -> bool:
        if isinstance(theirs[0], str):
            return same_name(ours[0], theirs[0]) and self.agree_printed(ours[1], theirs[1])
        return self.agree_printed(ours[0], theirs[0]) and self.agree_printed(ours[1], theirs[1])

    def _agree_in_some_order(self, item: Any, ours: list, theirs: list[Value]) -> bool:
        return _match(lambda mine, each: self.agree(item, mine, each), ours, theirs)


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
    """TLC's values of the fields that both sides have, by our names."""
    pairs = ((ours, key, each) for key, each in value.pairs for ours in declared.field_types)
    return [(ours, each) for ours, key, each in pairs if same_name(ours, str(key))]


def _is_blank(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_blank(each) for each in value.values())
    if isinstance(value, list):
        return all(_is_blank(each) for each in value)
    return not value
