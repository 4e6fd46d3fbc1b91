"""Layouts: how a declared state becomes one fixed-size row of bytes.

A spec declares its state as `Struct` classes whose annotations are field types of this module::

    Replica = Node("replicas")

    class Log(Struct):
        end_offset: Int8
        records: Array(Record, "log_size")

    class State(Struct):
        leader: Replica              # a node, or NONE
        isr: NodeSet(Replica)        # a bitmask
        replica_log: Per(Replica, Log)

Sizes are names of constants or small expressions over them ("max_leader_epoch + 1"). For given
constants `resolve` gives a tree of `IntegerLayout`, `StructLayout` and `ArrayLayout` with byte
offsets, from which the uncompiled views, the numpy dtype and the compiled types are all made.

Nodes count from 1; 0 is NONE. So the indices of an array by node begin at 1, and `s.replica_log[2]`
is replica 2's, as in the original. Everything that is not in use is zero, so that two rows are
equal exactly if the states are.
"""

import ast
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from protocol_lab.errors import LabError
from protocol_lab.model.evaluation import states_given

if TYPE_CHECKING:
    import numpy as np

NONE = 0
"""No node: no leader, nobody voted for."""


@dataclass(frozen=True)
class Integer:
    """A whole number of fixed width; `constant` names the constant that bounds its growth."""

    code: str
    constant: str = ""

    def bounded_by(self, constant: str) -> "Integer":
        """The same type with the name of the constant to lower where the width does not suffice."""
        return Integer(self.code, constant)


Int8, Int16, Int32 = Integer("int8"), Integer("int16"), Integer("int32")


@dataclass(frozen=True)
class Boolean:
    """True or false, stored as one byte."""


Bool = Boolean()


@dataclass(frozen=True)
class Node:
    """One of the nodes 1..n. As a field also NONE (0).

    count: the constant n, or an expression over constants, such as "left + right". noun: what
    pictures call such a node; "" for the constant's name in the singular.
    """

    count: str
    noun: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.count, str):
            raise LabError(
                f"Node({self.count!r}): write the name of the constant that is the number of these"
                ' nodes, as in Node("servers").'
            )

    def number(self, constants: Any) -> int:
        """How many of these nodes there are with such constants (a named tuple)."""
        return size_with(self.count, constants)


@dataclass(frozen=True)
class NodeSet:
    """A set of nodes as a bitmask: bit k is node k. Use the helpers of `nodes`."""

    of: Node
    is_set: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.of, Node):
            raise LabError(
                f'NodeSet({self.of!r}) needs a kind of node: write Server = Node("servers") above,'
                " and NodeSet(Server)."
            )


@dataclass(frozen=True, init=False)
class Named:
    """One of several names, stored as 0, 1, 2, ...; the pictures show the name.

    Raises LabError unless they are texts, all of them different.
    """

    names: tuple[str, ...]

    def __init__(self, *names: str):
        texts = all(isinstance(each, str) for each in names)
        if not (names and texts and len(set(names)) == len(names)):
            shown = ", ".join(map(repr, names))
            raise LabError(
                f"Named({shown}): give it the names, each of them once, as in"
                ' Named("idle", "busy").'
            )
        object.__setattr__(self, "names", names)


class NamedValue(int):
    """A number that also equals its name: `s.mode == "idle"`. Other texts raise ValueError."""

    names: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return int(self) == number_named(other, self.names)
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __reduce__(self) -> tuple:
        return named_value, (int(self), self.names)


def other_names(of: str, names: tuple[str, ...], others: tuple[str, ...], to: str) -> str:
    """Why a value with these names can't be compared with one with others, or stored there."""
    return (
        f"{of} is one of {', '.join(names)}, and {to} one of {', '.join(others)}: only their"
        " numbers would be used, so write the names, with an `if` for each"
    )


@cache
def named_values(names: tuple[str, ...]) -> tuple[NamedValue, ...]:
    """The values that have these names, in their order."""
    kind = type("NamedValue", (NamedValue,), {"names": names})
    return tuple(kind(k) for k in range(len(names)))


def named_value(value: int | str, names: tuple[str, ...]) -> int:
    """The NamedValue for a number or a name; a number that has no name is returned as it is."""
    number = number_named(value, names) if isinstance(value, str) else int(value)
    return named_values(names)[number] if 0 <= number < len(names) else number


def number_named(text: str, names: tuple[str, ...], of: str = "this") -> int:
    """The number that has this name. Raises ValueError, with the names that there are."""
    if text in names:
        return names.index(text)
    if not names:
        raise ValueError(f"{of} is a number, never {text!r}")
    raise ValueError(f"{of} is one of {', '.join(names)}, never {text!r}")


def _expect_size(declared: Any, size: Any) -> None:
    """Raise LabError for a size that is no number and no expression, such as a type."""
    if not isinstance(size, str | int):
        name = type(declared).__name__
        raise LabError(
            f'{name}: the type of an item comes first, then the size: {name}(Int8, "n").'
        )


@dataclass(frozen=True)
class Array:
    """`size` slots of `item`, counted from 0."""

    item: Any
    size: str | int

    def __post_init__(self) -> None:
        _expect_size(self, self.size)


@dataclass(frozen=True)
class Per:
    """One `item` for every node, indexed by the node; there is none for NONE."""

    node: Node
    item: Any

    def __post_init__(self) -> None:
        if not isinstance(self.node, Node):
            raise LabError(
                f"Per({self.node!r}, ...) needs a kind of node first: write Server ="
                ' Node("servers") above, and Per(Server, ...).'
            )


@dataclass(frozen=True)
class Seq:
    """A sequence: fields `length` and `items`. Use the helpers of `containers`."""

    item: Any
    size: str | int

    def __post_init__(self) -> None:
        _expect_size(self, self.size)


@dataclass(frozen=True)
class Bag:
    """An unordered collection in canonical (sorted) order: fields `size` and `items`.

    It is a set if items are added with `add_once` only; with `add`, equal items may occur several
    times.
    """

    item: Any
    capacity: str | int

    def __post_init__(self) -> None:
        _expect_size(self, self.capacity)


class _Listed(type):
    """The class of a Struct's class: it lists the fields, so that a notebook completes them."""

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), *cls.field_types]


class Struct(metaclass=_Listed):
    """Base of declared records. `Record(id=1, epoch=2)` is a value to store or compare.

    In a function of a spec it is laid out as in the state (see `state_view`), so that its fields
    and their items can be assigned, with the same checks; elsewhere it keeps what it is given.
    `field_types` are the types of all fields.
    """

    field_types: ClassVar[dict[str, Any]] = {}

    def __new__(cls, *unnamed: Any, **values: Any) -> Self:
        for state in states_given():
            if cls in state._layout.structs:
                cls._check_names(unnamed, values)
                return state._new_record(cls, values)
        return super().__new__(cls)

    def __init_subclass__(cls) -> None:
        declared = inspect.get_annotations(cls)
        for name in declared:
            if name in vars(cls):
                raise LabError(
                    f"{cls.__name__}.{name}: a field has a type and no value; every field begins as"
                    " 0, and @spec.init sets what is not."
                )
        cls.field_types = {**cls.field_types, **declared}

    @classmethod
    def _check_names(cls, unnamed: tuple, values: Iterable[str]) -> None:
        """Raise TypeError for a value without a name, or with that of no field."""
        name = cls.__name__
        if unnamed:
            fields = ", ".join(f"{each}=..." for each in cls.field_types)
            raise TypeError(f"name the fields of {name}: {name}({fields})")
        unknown = set(values) - set(cls.field_types)
        if unknown:
            raise TypeError(f"{name} has no field {sorted(unknown)[0]}")

    def __init__(self, *unnamed: Any, **values: Any) -> None:
        self._check_names(unnamed, values)
        for name in self.field_types:
            value = values.get(name, 0)
            if isinstance(self.field_types[name], Named):
                value = named_value(value, self.field_types[name].names)
            # A part of the state is copied, since it may change before this record is stored.
            setattr(self, name, value.copy() if hasattr(value, "copy") else value)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.field_types)
        return f"{type(self).__name__}({values})"


def is_struct(value: Any) -> bool:
    """Is it a class of declared records?"""
    return isinstance(value, type) and issubclass(value, Struct)


@cache
def _limits(code: str) -> tuple[int, int]:
    """The lowest and the highest number of a numpy type."""
    bits = 8 * _size(code)
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if code[0] == "i" else (0, (1 << bits) - 1)


def _size(code: str) -> int:
    """The bytes that a number of a numpy type takes, such as "int8" or "uint32"."""
    return int(code.lstrip("uint")) // 8


@dataclass(frozen=True)
class IntegerLayout:
    """A number of a numpy type; only values from low to high may be stored.

    `nodes`, for a node or a set of nodes, is the constant that counts them, and so names their
    kind. `room` is how many of them the layout has room for.
    """

    code: str
    kind: str = "number"
    constant: str = ""
    names: tuple[str, ...] = ()
    nodes: str = ""
    room: int | None = None

    @cached_property
    def dtype(self) -> "np.dtype":
        import numpy as np

        return np.dtype(self.code)

    @cached_property
    def size(self) -> int:
        return _size(self.code)

    @cached_property
    def signed(self) -> bool:
        return self.code[0] == "i"

    @cached_property
    def low(self) -> int:
        return 0 if self.is_narrow else _limits(self.code)[0]

    @cached_property
    def high(self) -> int:
        if self.choices:
            return len(self.choices) - 1
        if self.room is not None:
            return self.room if self.kind == "node" else (2 << self.room) - 1
        return _limits(self.code)[1]

    @cached_property
    def is_narrow(self) -> bool:
        """Does it take only 0 to `high`, fewer numbers than its bytes have room for?"""
        return bool(self.choices) or self.room is not None

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The names of the numbers from 0 upwards, if they have names."""
        return ("False", "True") if self.kind == "bool" else self.names

    @cached_property
    def shape(self) -> tuple:
        """Equal for layouts between which bytes can be copied, as for those of structs and
        arrays."""
        return self.code, self.low, self.high, self.choices


@dataclass(frozen=True)
class StructLayout:
    """Named fields at byte offsets. `kind` is struct, seq or bag."""

    declared: type
    offsets: dict[str, int] = field(hash=False)
    fields: dict[str, Any] = field(hash=False)
    size: int
    kind: str = "struct"
    constant: str = ""

    @cached_property
    def dtype(self) -> "np.dtype":
        import numpy as np

        return np.dtype(
            {
                "names": list(self.fields),
                "formats": [part.dtype for part in self.fields.values()],
                "offsets": list(self.offsets.values()),
                "itemsize": self.size,
            }
        )

    @cached_property
    def shape(self) -> tuple:
        """See `IntegerLayout.shape`; structs of different classes never have the same."""
        parts = tuple((self.offsets[name], part.shape) for name, part in self.fields.items())
        return self.kind, self.class_name, parts

    @cached_property
    def class_name(self) -> tuple:
        """What distinguishes its class from others: module, name and fields.

        A cell that is run again declares the same class as before, by this name. Numba may use the
        type of one for the other, so compiled code depends on the name, never on the class itself.
        """
        declared = self.declared
        return declared.__module__, declared.__qualname__, *declared.field_types

    @cached_property
    def structs(self) -> "dict[type[Struct], StructLayout]":
        """The layouts of this struct and of all that are somewhere in it, by class."""
        own = {self.declared: self} if self.kind == "struct" else {}
        for part in self.fields.values():
            while isinstance(part, ArrayLayout):
                part = part.item
            if isinstance(part, StructLayout):
                own |= part.structs
        return own


@dataclass(frozen=True)
class ArrayLayout:
    """`count` items one after the other.

    `per_node`, for an array with an item for every node, is the constant that counts the nodes; the
    indices then begin at 1. `items_of`, "seq" or "bag", marks the items of such a container: the
    number of items in use is stored right before them, with type `counter`.
    """

    item: Any
    count: int
    per_node: str = ""
    items_of: str = ""
    counter: str = ""

    @cached_property
    def shape(self) -> tuple:
        """See `IntegerLayout.shape`."""
        return self.item.shape, self.count, self.first, self.items_of

    @cached_property
    def first(self) -> int:
        """The lowest index."""
        return 1 if self.per_node else 0

    @cached_property
    def end(self) -> int:
        """The index after the highest."""
        return self.first + self.count

    def offset(self, index: int) -> int:
        """Where the item of this index begins."""
        return (index - self.first) * self.item.size

    @cached_property
    def size(self) -> int:
        return self.item.size * self.count

    @cached_property
    def dtype(self) -> "np.dtype":
        import numpy as np

        return np.dtype((self.item.dtype, (self.count,)))


class _Sequence(Struct):
    """Marks Seq and Bag where a declared class is expected."""


def resolve(state: type[Struct], sizes: Mapping[str, int]) -> StructLayout:
    """The layout of a state for the given capacities, padded with zeros to whole 8-byte words."""
    exact = _resolve(state, sizes, state.__name__)
    return StructLayout(state, exact.offsets, exact.fields, -(-exact.size // 8) * 8)


def exact_size(state: type[Struct], sizes: Mapping[str, int]) -> int:
    """The bytes of a state for the given capacities, without padding."""
    return _resolve(state, sizes, state.__name__).size


@cache
def sizes_in(declared: Any) -> dict[str, bool]:
    """The constants that a declared type is as large as, in the order in which it names them; and
    whether they count the items of an array."""
    parts, size, is_array = [], "0", False
    match declared:
        case Node(count):
            size = count
        case NodeSet(of):
            size = of.count
        case Per(node, item):
            parts, size, is_array = [item], node.count, True
        case Array(item, size):
            parts, is_array = [item], True
        case Seq(item, size) | Bag(item, size):
            parts = [item]
        case type() if issubclass(declared, Struct):
            parts = declared.field_types.values()
    found = dict.fromkeys(names_in(size), is_array)
    for part in parts:
        for name, is_there in sizes_in(part).items():
            found[name] = is_there or found.get(name, False)
    return found


def _resolve(declared: Any, sizes: Mapping[str, int], place: str) -> Any:
    """place: where it is declared, as State.counter, for what is said of a mistake."""
    match declared:
        case Integer(code, constant):
            return IntegerLayout(code, constant=constant)
        case Boolean():
            return IntegerLayout("uint8", kind="bool")
        case Node(count):
            room = evaluate_size(count, sizes)
            return IntegerLayout("int8", kind="node", nodes=count, room=room)
        case Named(names):
            return IntegerLayout("int8", kind="named", names=names)
        case NodeSet(of):
            highest_bit = evaluate_size(of.count, sizes)
            if highest_bit > 31:
                raise LabError(f"A set holds up to 31 nodes; {of.count} is {highest_bit}.")
            code = next(f"uint{bits}" for bits in (8, 16, 32) if highest_bit < bits)
            return IntegerLayout(code, kind="nodes", nodes=of.count, room=highest_bit)
        case Array(item, size):
            return ArrayLayout(_resolve(item, sizes, place), max(1, evaluate_size(size, sizes)))
        case Per(node, item):
            nodes = evaluate_size(node.count, sizes)
            return ArrayLayout(_resolve(item, sizes, place), nodes, per_node=node.count)
        case Seq(item, size):
            return _counted("length", item, size, sizes, "seq", place)
        case Bag(item, capacity):
            return _counted("size", item, capacity, sizes, "bag", place)
        case type() if issubclass(declared, Struct):
            parts = {
                name: _resolve(part, sizes, f"{declared.__name__}.{name}")
                for name, part in declared.field_types.items()
            }
            return _packed(declared, parts)
    name = getattr(declared, "__name__", declared)
    raise LabError(
        f"{place}: {name} is not a field type: use Int8, Bool, a Node, NodeSet, Per, Array, Seq,"
        " Bag, or a class that is a Struct."
    )


def _counted(
    count: str, item: Any, size: str | int, sizes: Mapping[str, int], kind: str, place: str
) -> Any:
    slots = max(1, evaluate_size(size, sizes))
    counter = "int8" if slots < 128 else "int16"
    parts = {
        count: IntegerLayout(counter),
        "items": ArrayLayout(_resolve(item, sizes, place), slots, items_of=kind, counter=counter),
    }
    return _packed(_Sequence, parts, kind, str(size))


def _packed(declared: type, parts: dict, kind: str = "struct", constant: str = "") -> StructLayout:
    offsets, end = {}, 0
    for name, part in parts.items():
        offsets[name] = end
        end += part.size
    return StructLayout(declared, offsets, parts, end, kind, constant)


def names_in(size: str | int) -> list[str]:
    """The constants that a size is declared with."""
    tree = ast.parse(str(size), mode="eval")
    return [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]


@cache
def _compiled(size: str) -> CodeType:
    return compile(size, "<size>", "eval")


def evaluate_size(size: str | int, sizes: Mapping[str, int]) -> int:
    """The value of a size: a number, a constant's name, or sums and products of both.

    Raises LabError for anything else.
    """
    if isinstance(size, int):
        return int(size)
    try:
        return int(eval(_compiled(str(size)), {}, dict(sizes)))
    except (NameError, SyntaxError, TypeError):
        known = ", ".join(sizes) or "none"
        raise LabError(
            f"The size or bound {size!r} needs numbers and names of constants; there are: {known}."
        ) from None


@lru_cache(typed=True)  # constants of two specs may have equal values, with other names
def size_with(size: str | int, constants: Any) -> int:
    """The value of a size with such constants, a named tuple. Raises LabError."""
    return evaluate_size(size, constants._asdict())
