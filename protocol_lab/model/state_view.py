"""A row of bytes with named fields: the state that uncompiled actions read and write.

A state view holds no values, only where to find them. Reading a number gives a plain Python
integer, so that uncompiled arithmetic is exact; storing one checks that it fits, so that nothing
wraps around. Compiled functions get records with fields of the same names (`compiler`), and both
must agree.
"""

from collections.abc import Callable, Iterator
from struct import Struct as Codec
from typing import Any

from protocol_lab.errors import CapacityExceeded, Fault
from protocol_lab.model.layout import (
    ArrayLayout,
    IntegerLayout,
    NamedValue,
    Struct,
    StructLayout,
    named_value,
    number_named,
    other_names,
)
from protocol_lab.model.node_sets import Nodes, as_mask, as_set

_CODECS = {
    code: Codec("<" + letter)
    for code, letter in [
        ("int8", "b"),
        ("uint8", "B"),
        ("int16", "h"),
        ("uint16", "H"),
        ("int32", "i"),
        ("uint32", "I"),
    ]
}

_COUNTERS = {"seq": "length", "bag": "size"}
"""The field of a container that counts its items."""

ITEMS_IN_ORDER = "a bag keeps its items in order: take the item, and add the changed one"
"""Why no item of a bag can be assigned to; compiled code says the same."""

NEITHER = "neither true nor false"
"""What an array or record is that is used as a condition; compiled code says the same."""

NO_INDEX = (
    "a bag has no first item: go through all with for, or by items[k] if you remove some, or make"
    " it a Seq"
)
"""Why a bag has no index; compiled code says the same."""

CHANGED_IN_LOOP = (
    "is changed while a for goes through it, which would skip items: leave the loop with break,"
    " or write a while over its len"
)
"""Why a loop over a sequence or bag fails."""


class View:
    """Base of all views: a buffer, a position in it, and where in the state that is."""

    __slots__ = ("_at", "_data", "_path")

    def __init__(self, data: bytearray | bytes, at: int, path: str):
        _set_data(self, data)
        _set_at(self, at)
        _set_path(self, path)

    def copy(self) -> "View":
        """The same values in bytes of its own, which nothing else changes."""
        return read(self._layout, bytes(self), 0, self._path)

    def __bool__(self) -> bool:
        raise TypeError(f"{self._path} is {NEITHER}: {how_to_ask(self._layout, self._path)}")

    def __bytes__(self) -> bytes:
        return bytes(self._data[self._at : self._at + self._layout.size])

    def __eq__(self, other: Any) -> bool:
        return bytes(self) == encode(self._layout, other, self._path)

    def __lt__(self, other: Any) -> bool:
        return bytes(self) < encode(self._layout, other, self._path)

    def __hash__(self) -> int:
        return hash(bytes(self))


_set_data, _set_at, _set_path = (getattr(View, name).__set__ for name in ("_data", "_at", "_path"))
"""Set the slots of a view directly, without a look at the names of its fields: views are made by
the hundred in every step."""


class StructView(View):
    """Fields by name; made for one layout by `struct_view_class`."""

    __slots__ = ()

    def _new_record(self, declared: type[Struct], values: dict[str, Any]) -> "StructView":
        """A new record of a class that is somewhere in this state, with these fields set."""
        layout = self._layout.structs[declared]
        made = view(layout, bytearray(layout.size), declared.__name__)
        for name, value in values.items():
            setattr(made, name, value)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._layout.fields:
            object.__setattr__(self, name, value)
        else:
            known = ", ".join(self._layout.fields)
            raise AttributeError(f"{self._path} has no field {name!r}; it has: {known}")

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(self._layout.fields)
        raise AttributeError(f"{self._path} has no field {name!r}; it has: {known}")

    def overflow(self) -> None:
        """Raise CapacityExceeded for a full sequence or bag, which says what constant to raise."""
        constant = self._layout.constant
        remedy = "declare it with more room" if constant.isdecimal() else f"raise {constant}"
        raise CapacityExceeded(
            f"{self._path} has no room for more than {self.capacity()}: {remedy}", constant
        )

    def as_item(self, item: Any) -> Any:
        """An item as it is compared with those that are there: a name as its number."""
        layout = self._layout.fields["items"].item
        is_name = isinstance(item, str) and getattr(layout, "kind", "") == "named"
        return number_named(item, layout.names, self._path) if is_name else item

    def has_no(self, item: Any) -> None:
        """Raise Fault for an item that is to be taken out, and is not there."""
        raise Fault(f"{self._path} has no {item!r} to take: guard against it with `in`")

    def capacity(self) -> int:
        """How many items a sequence or bag has room for."""
        return self._layout.fields["items"].count

    def put_item(self, position: int, item: Any) -> None:
        """Store an item of a sequence or bag, in use or not; for the helpers of `containers`."""
        items = self._layout.fields["items"]
        at = self._at + self._layout.offsets["items"] + position * items.item.size
        write(items.item, self._data, at, item, f"{self._path}.items[{position}]")

    def set_count(self, count: int) -> None:
        """Store how many items a sequence or bag has; for the helpers of `containers`."""
        name = _COUNTERS[self._layout.kind]
        layout, at = self._layout.fields[name], self._at + self._layout.offsets[name]
        write(layout, self._data, at, count, f"{self._path}.{name}")

    def __repr__(self) -> str:
        values = plain(self)
        if not isinstance(values, dict):
            return f"{self._layout.declared.__name__}({values!r})"
        shown = (f"{name}={each!r}" for name, each in values.items())
        return f"{self._layout.declared.__name__}({', '.join(shown)})"


class ContainerView(StructView):
    """A sequence or bag, as a list of the items that are there; a bag has no index.

    Its errors say what to write instead of list or set methods.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        instead = _INSTEAD.get((self._layout.kind, name))
        if name in _COUNTERS.values():
            raise AttributeError(f"{self._path} is {_WHAT[self._layout.kind]}")
        if instead is None:
            super().__getattr__(name)
        instead = instead.replace("{}", self._path)
        raise AttributeError(f"{self._path} has no {name}(): write {instead}")

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __contains__(self, item: Any) -> bool:
        kept = self._layout.fields["items"].item
        if isinstance(kept, StructLayout) and not isinstance(item, Struct | StructView):
            raise TypeError(f"{self._path} {kind_wanted(kept)}, and {item!r} is not one")
        return any(each == item for each in self)

    def __getitem__(self, index: int) -> Any:
        self._expect_order()
        return self.items[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self._expect_order()
        self.items[index] = value

    def _expect_order(self) -> None:
        if self._layout.kind == "bag":
            raise TypeError(f"{self._path}: {NO_INDEX}")

    def __add__(self, other: Any) -> Any:
        raise TypeError(f"{self._path} {why_not_assigned(self._layout.kind)}")


def how_to_ask(layout: ArrayLayout | StructLayout, shown: str) -> str:
    """What to write instead of an array, sequence, bag or record as a condition."""
    if isinstance(layout, ArrayLayout):
        return f"ask for one slot, or write any(... for each in {shown})"
    return "compare its fields" if layout.kind == "struct" else f"write len({shown}) > 0"


_WHAT = {
    "seq": "a sequence: its helpers are append, truncate and remove_at; ask it with `in` and len",
    "bag": "a bag: its helpers are add, add_once and take; ask it with `in` and len",
}
"""What a sequence and a bag are, for the error when a helper is called with the wrong one."""

_INSTEAD = {
    ("seq", "append"): "append({}, item)",
    ("seq", "extend"): "append({}, item) for each",
    ("seq", "pop"): "pop_first({}), or remove_at({}, index) having read the item",
    ("seq", "clear"): "truncate({}, 0)",
    ("bag", "add"): "add({}, item), or add_once for a set",
    ("bag", "append"): "add({}, item)",
    ("bag", "remove"): "take({}, item)",
    ("bag", "discard"): "take({}, item), if item in {}",
}
"""What to write instead of the methods of Python's lists and sets."""


class ArrayView(View):
    """Items by index, from 0; arrays by node from 1.

    Of a sequence or bag only the items in use can be read, and only they are visited.
    """

    __slots__ = ("_layout",)

    def __init__(self, data: bytearray | bytes, at: int, path: str, layout: ArrayLayout):
        self._data, self._at, self._path, self._layout = data, at, path, layout

    def __len__(self) -> int:
        return self._end() - self._layout.first

    def _end(self) -> int:
        """The index after the last one in use."""
        if not self._layout.items_of:
            return self._layout.end
        codec = _CODECS[self._layout.counter]
        return codec.unpack_from(self._data, self._at - codec.size)[0]

    def _locate(self, index: int) -> int:
        if isinstance(index, slice):
            raise TypeError(f"{self._path} can't be sliced: write a loop over its indices")
        layout = self._layout
        if not layout.first <= index < self._end():
            raise IndexError(self._no_slot(index))
        return self._at + layout.offset(index)

    def _no_slot(self, index: int) -> str:
        if self._layout.per_node and index == 0:
            return f"{self._path} has no slot for NONE; guard against it"
        if self._layout.items_of:
            last = self._path.removesuffix(".items")
            more = f"; the last one is last({last})" if index < 0 and self._is_list() else ""
            return f"{self._path} has no item {index}; there are {self._end()}{more}"
        return f"{self._path} has no slot {index}"

    def _is_list(self) -> bool:
        return self._layout.items_of == "seq"

    def __getitem__(self, index: int) -> Any:
        at, layout = self._locate(index), self._layout
        data = self._data
        if layout.items_of == "bag" and isinstance(data, bytearray):
            data = memoryview(data).toreadonly()
        return read(layout.item, data, at, f"{self._path}[{index}]")

    def __setitem__(self, index: int, value: Any) -> None:
        if self._layout.items_of == "bag":
            raise TypeError(f"{self._path}[{index}]: {ITEMS_IN_ORDER}")
        at = self._locate(index)
        write(self._layout.item, self._data, at, value, f"{self._path}[{index}]")

    def __iter__(self) -> Iterator[Any]:
        """The items; raises Fault once a loop's body has changed a bag, or a sequence's length.

        The compiled version is in `compiler.operations.bags`.
        """
        index, before = self._layout.first, self._in_use()
        while index < self._end():
            yield self[index]
            if self._in_use() != before:
                raise Fault(f"{self._path.removesuffix('.items')} {CHANGED_IN_LOOP}")
            index += 1

    def _in_use(self) -> Any:
        """What must stay the same while a loop goes through: of a sequence its length."""
        if not self._layout.items_of or not isinstance(self._data, bytearray):
            return None
        end = self._end()
        return (
            end
            if self._is_list()
            else self._data[self._at : self._at + end * self._layout.item.size]
        )

    def __repr__(self) -> str:
        return repr(plain_value(self._layout, self._data, self._at))


_VIEW_CLASSES: dict[int, type] = {}
"""By the id of the layout, which the class keeps alive: so it is not used again."""


def struct_view_class(layout: StructLayout) -> type:
    """The view class of a struct layout: one property a field."""
    try:
        return _VIEW_CLASSES[id(layout)]
    except KeyError:
        return _VIEW_CLASSES.setdefault(id(layout), _build_class(layout))


def _build_class(layout: StructLayout) -> type:
    members: dict[str, Any] = {"__slots__": (), "_layout": layout}
    for name, part in layout.fields.items():
        members[name] = _field(name, part, layout.offsets[name])
    base = ContainerView if layout.kind in _COUNTERS else StructView
    return type(f"{layout.declared.__name__}View", (base,), members)


def _field(name: str, layout: Any, offset: int) -> property:
    made = _reader(layout)

    def fget(view: View) -> Any:
        return made(view._data, view._at + offset, f"{view._path}.{name}")

    def fset(view: View, value: Any) -> None:
        if view._layout.kind != "struct":
            raise TypeError(f"{view._path}.{name} {why_not_assigned(view._layout.kind)}")
        write(layout, view._data, view._at + offset, value, f"{view._path}.{name}")

    if isinstance(layout, IntegerLayout) and layout.kind not in ("bool", "named", "nodes"):
        unpack = _CODECS[layout.code].unpack_from

        def fget(view: View) -> int:
            return unpack(view._data, view._at + offset)[0]

    return property(fget, fset)


def _reader(layout: Any) -> Callable[[Any, int, str], Any]:
    """`read` for one layout: from a buffer, at a position, with the value's path."""
    if isinstance(layout, StructLayout):
        return struct_view_class(layout)
    if isinstance(layout, ArrayLayout):
        return lambda data, at, path: ArrayView(data, at, path, layout)
    return lambda data, at, path: read(layout, data, at, path)


def why_not_assigned(kind: str) -> str:
    """Why a field of a sequence or bag can't be assigned to, for messages here and in compiled
    code."""
    helpers = "append and truncate" if kind == "seq" else "add, add_once and take"
    return f"can't be assigned to: {helpers} change it"


def view(layout: StructLayout, data: bytearray | bytes, path: str = "state") -> Any:
    """The view of a whole row. A bytearray can be written through it, bytes can't."""
    return struct_view_class(layout)(data, 0, path)


def read(layout: Any, data: Any, at: int, path: str) -> Any:
    """The value at a position: a number, or a view that writes through."""
    if isinstance(layout, StructLayout):
        return struct_view_class(layout)(data, at, path)
    if isinstance(layout, ArrayLayout):
        return ArrayView(data, at, path, layout)
    value = _CODECS[layout.code].unpack_from(data, at)[0]
    kind = layout.kind
    if kind == "named":
        return named_value(value, layout.names)
    if kind == "nodes":
        return Nodes(value)
    return bool(value) if kind == "bool" else value


def write(layout: Any, data: bytearray, at: int, value: Any, path: str) -> None:
    """Store a copy of a value; 0 erases. Raises CapacityExceeded if a number does not fit."""
    if isinstance(data, bytes):
        if ".items[" in path:
            raise TypeError(f"{path} can't be changed here: {ITEMS_IN_ORDER}")
        raise TypeError("only actions change a state; look at it here, and return what you find")
    if isinstance(data, memoryview):
        raise TypeError(f"{path}: {ITEMS_IN_ORDER}")
    if not isinstance(layout, IntegerLayout):
        data[at : at + layout.size] = encode(layout, value, path)
        return
    if layout.kind == "named":
        if isinstance(value, str):
            value = number_named(value, layout.names, path)
        elif isinstance(value, NamedValue) and value.names != layout.names:
            raise TypeError(other_names(path, layout.names, value.names, "the value"))
    if value is None:
        instead = "NONE, nobody" if layout.kind == "node" else "0, or another number"
        raise TypeError(f"{path} can't be None: store {instead}")
    if isinstance(value, float):
        raise TypeError(f"{path} holds a whole number, and {value!r} is not one: divide with //")
    if layout.kind == "nodes" and isinstance(value, list | tuple | set):
        raise TypeError(f"{path} is a set of nodes: write with_node, without_node, or only(node)")
    if isinstance(value, str | list | tuple | dict | set | Struct | View):
        raise TypeError(f"{path} holds a number; {value!r} can't be stored there")
    number = int(value)
    if not layout.low <= number <= layout.high:
        if layout.choices:
            known = ", ".join(f"{each} ({k})" for k, each in enumerate(layout.choices))
            raise Fault(f"{path} would be {number}, which is none of {known}")
        if layout.room is not None:
            raise Fault(_no_node(layout, number, path))
        bound = f"set or lower {layout.constant}" if layout.constant else "declare it wider"
        raise CapacityExceeded(
            f"{path} would be {number}, and its {layout.code} holds {layout.low} to"
            f" {layout.high}: {bound}"
        )
    _CODECS[layout.code].pack_into(data, at, number)


def _no_node(layout: IntegerLayout, number: int, path: str) -> str:
    """Why a number is not a node, or not a set of nodes, of this model."""
    if layout.kind == "node":
        return f"{path} would be {number}, which is none of the nodes that {layout.nodes} counts"
    if number < 0:
        return f"{path} would be {number}, which is not a set of nodes"
    beyond = number.bit_length() - 1
    return f"{path} would hold {beyond}, which is none of the nodes that {layout.nodes} counts"


def encode(layout: Any, value: Any, path: str = "this") -> bytes:
    """The bytes that a value has in a layout: a view, a Struct value, a number, or 0 for empty.

    path: where it is to be stored, for the message of a TypeError.
    """
    if isinstance(value, View) and _same_shape(value._layout, layout):
        return bytes(value)
    data = bytearray(layout.size)
    if isinstance(layout, IntegerLayout):
        write(layout, data, 0, value, "value")
    elif isinstance(layout, ArrayLayout) and (items := _as_items(layout, value, path)) is not None:
        for index, item in enumerate(items, layout.first):
            write(layout.item, data, layout.offset(index), item, f"{path}[{index}]")
    elif _is_record_of(layout, value):
        for name, part in layout.fields.items():
            if hasattr(value, name):
                write(part, data, layout.offsets[name], getattr(value, name), f"{path}.{name}")
    elif isinstance(value, list | tuple | dict | Struct | View) or value != 0:
        raise TypeError(f"{path} {kind_wanted(layout)}, and {value!r} can't be stored there")
    return bytes(data)


def _same_shape(one: Any, other: Any) -> bool:
    return one is other or one.shape == other.shape


def _is_record_of(layout: Any, value: Any) -> bool:
    """Is it a record of the layout's class?"""
    if not isinstance(layout, StructLayout) or layout.kind != "struct":
        return False
    if isinstance(value, StructView):
        return value._layout.class_name == layout.class_name
    return type(value) is layout.declared


def _as_items(layout: ArrayLayout, value: Any, path: str) -> Any:
    """The items of a value that an array can be filled with, from its first one on: of an array
    with the same indices, a sequence, a list. None if it is none of these."""
    if isinstance(value, ArrayView) and not value._layout.items_of:
        own = value._layout
        if (own.count, own.first) == (layout.count, layout.first):
            return value
        raise TypeError(
            f"{path} has the items {layout.first} to {layout.end - 1}, and {value._path} has"
            f" {own.first} to {own.end - 1}: copy them in a loop"
        )
    is_list = isinstance(value, list | tuple) or (
        isinstance(value, View) and _list_kind(value._layout) == "seq"
    )
    if not is_list:
        return None
    if len(value) > layout.count:
        raise Fault(f"{path} has {layout.count} items, and a list of {len(value)} does not fit")
    return value


def _list_kind(layout: ArrayLayout | StructLayout) -> str:
    """Of what it is, or has the items: a seq, a bag, or neither."""
    return layout.items_of if isinstance(layout, ArrayLayout) else layout.kind


def kind_wanted(layout: ArrayLayout | StructLayout) -> str:
    """What a field that is not a number holds, and how to fill it: part of a sentence."""
    if isinstance(layout, ArrayLayout):
        each = "node" if layout.per_node else "index"
        return f"has an item for every {each}: write them as a list, or assign to one item"
    if layout.kind != "struct":
        return why_not_assigned(layout.kind)
    name, fields = layout.declared.__name__, ", ".join(f"{each}=..." for each in layout.fields)
    return f"holds a {name}: write {name}({fields})"


def plain_value(layout: Any, data: Any, at: int = 0) -> Any:
    """Nested dicts, lists, sets and numbers: for people, JSON-like exports and tests."""
    match layout:
        case IntegerLayout(kind="nodes"):
            return as_set(read(layout, data, at, ""))
        case IntegerLayout(kind="named"):
            return layout.names[read(layout, data, at, "")]
        case IntegerLayout():
            return read(layout, data, at, "")
        case ArrayLayout(item, count, per_node):
            values = [plain_value(item, data, at + k * item.size) for k in range(count)]
            return dict(enumerate(values, 1)) if per_node else values
    fields = {
        name: plain_value(part, data, at + layout.offsets[name])
        for name, part in layout.fields.items()
    }
    if layout.kind == "struct":
        return fields
    return fields["items"][: fields[_COUNTERS[layout.kind]]]


def plain(state_view: View) -> Any:
    """A view as nested plain Python values."""
    return plain_value(state_view._layout, state_view._data, state_view._at)


def repacked(layout: Any, wider: Any, row: bytes) -> bytes:
    """The row of the same state in a layout with more room."""
    return encode_plain(wider, plain(view(layout, row))).ljust(wider.size, b"\0")


def encode_plain(layout: Any, value: Any) -> bytes:
    """The inverse of `plain_value`: every state must come back as the same bytes."""
    data = bytearray(layout.size)
    match layout:
        case IntegerLayout():
            write(layout, data, 0, as_mask(value) if layout.kind == "nodes" else value, "value")
        case ArrayLayout(item, _, per_node):
            for k, each in value.items() if per_node else enumerate(value):
                at = layout.offset(k)
                data[at : at + item.size] = encode_plain(item, each)
        case StructLayout(kind=kind):
            parts = value if kind == "struct" else {_COUNTERS[kind]: len(value), "items": value}
            for name, part in layout.fields.items():
                at = layout.offsets[name]
                data[at : at + part.size] = encode_plain(part, parts[name])
    return bytes(data)
