"""A second implementation of the language of specs, over plain Python objects.

A generated module imports its names from `protocol_lab`. `load` executes the same text with the
names of this module instead: states are nested lists and integers here, no bytes, and nothing of
the kit is used. So what the kit's engines have in common (layout, views, domains) is tested, too.

It has what generated specs need and no more: no drawings, no messages, no additions.
"""

from collections.abc import Callable, Iterator
from inspect import signature
from itertools import product
from typing import Any, NamedTuple, get_args, get_type_hints

TAKEN = HOLDS = ""
NONE = 0
_WORD = 2**63


class Undecided(Exception):
    """An evaluation that has no result: storage exceeded, no such slot, no 64-bit number."""


class Fault(Exception):
    """A function of the spec that is wrong in itself."""


# --- Declared types ------------------------------------------------------------------------------


class Integer(NamedTuple):
    width: int

    def bounded_by(self, constant: str) -> "Integer":
        return self


Int8, Int16, Int32 = Integer(1), Integer(2), Integer(4)


class Boolean(NamedTuple):
    pass


Bool = Boolean()


class Node(NamedTuple):
    count: str


class NodeSet(NamedTuple):
    of: Node


class Named:
    __match_args__ = ("names",)

    def __init__(self, *names: str):
        self.names = names


class Array(NamedTuple):
    item: Any
    size: str | int


class Per(NamedTuple):
    node: Node
    item: Any


class Seq(NamedTuple):
    item: Any
    size: str | int


class Bag(NamedTuple):
    item: Any
    capacity: str | int


class Struct:
    """Base of declared records: the parts of a new one are 0, or the given fields.

    `layout` is set when the state is known. `union`: see `one_of`.
    """

    layout: "Fields"
    union: "tuple[type[Struct], int] | None" = None

    def __new__(cls, **values: Any) -> "Parts":
        of, number = cls.union or (cls, None)
        made = of.layout.new()
        if number is not None:
            made.kind = number
        for name, value in values.items():
            setattr(made, name, value)
        return made


def one_of(*kinds: type[Struct]) -> type[Struct]:
    """A union: what one of its kinds makes is a record of all fields, which says its kind."""
    fields: dict[str, Any] = {"kind": Named(*(each.__name__ for each in kinds))}
    for each in kinds:
        fields |= each.__annotations__
    union = type("Union", (Struct,), {"__annotations__": fields})
    for number, each in enumerate(kinds):
        each.union = union, number
    return union


class Range(NamedTuple):
    low: Any
    high: Any


class Subset(NamedTuple):
    of: Any
    size: Any = None


class Member(NamedTuple):
    path: str


class Sequences(NamedTuple):
    low: Any
    high: Any
    length: Any


class Limits:
    """The bounds of a constant; of its `classes` the next larger one gives the sizes."""

    def __init__(self, low: int, high: int, meaning: str, classes: tuple[int, ...] = ()):
        self.classes = classes


# --- Numbers, records and slots of a state -------------------------------------------------------


class Exact(int):
    """A number read from a state: arithmetic beyond 64 bits has no result."""

    def _checked(name: str) -> Callable:
        def operation(self: int, *others: int) -> int:
            plain = getattr(int, name)(int(self), *map(int, others))
            if plain is NotImplemented:
                return plain
            if isinstance(plain, float) or not -_WORD <= plain < _WORD:
                raise Undecided("a number beyond 64 bits")
            return Exact(plain)

        return operation

    for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "lshift", "and", "or", "xor"):
        locals()[f"__{_name}__"] = _checked(f"__{_name}__")
        locals()[f"__r{_name}__"] = _checked(f"__r{_name}__")
    __rshift__ = _checked("__rshift__")
    for _name in ("neg", "abs", "invert"):
        locals()[f"__{_name}__"] = _checked(f"__{_name}__")
    del _name, _checked


class Mask(Exact):
    """A set of nodes, which can be asked as Python's sets are."""

    def __contains__(self, node: int) -> bool:
        return node in members(self)

    def __len__(self) -> int:
        return len(members(self))

    def __iter__(self) -> Iterator[int]:
        return iter(members(self))

    def __and__(self, other: int) -> "Mask":
        return Mask(int(self) & int(other))

    def __or__(self, other: int) -> "Mask":
        return Mask(int(self) | int(other))

    __rand__, __ror__ = __and__, __or__


class Word(Exact):
    """A named value, which also equals its name."""

    def __new__(cls, value: int, names: tuple[str, ...]) -> "Word":
        word = super().__new__(cls, value)
        word.names = names
        return word

    def __eq__(self, other: object) -> bool:
        return int(self) == (self.names.index(other) if isinstance(other, str) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Exact.__hash__


class Whole:
    """The kind of a number: what it can hold, and how it is shown."""

    def __init__(
        self,
        width: int,
        signed: bool = True,
        names: tuple = (),
        nodes: str = "",
        high: int | None = None,
    ):
        self.width, self.signed, self.names, self.nodes = width, signed, names, nodes
        self.low = -(1 << 8 * width - 1) if signed and high is None else 0
        self.high = (1 << 8 * width - signed) - 1 if high is None else high
        self.is_set = bool(nodes) and not signed

    def new(self) -> int:
        return 0

    def read(self, value: int) -> Any:
        if self.names:
            return Word(value, self.names)
        return Mask(value) if self.is_set else Exact(value)

    def become(self, _: int, value: Any) -> int:
        number = self.names.index(value) if isinstance(value, str) else int(value)
        if not self.low <= number <= self.high:
            raise Undecided("a number beyond its field")
        return number

    def shown(self, value: int) -> Any:
        if self.is_set:
            return tuple(k for k in range(40) if value >> k & 1)
        return self.names[value] if self.names else value

    def order(self, value: int) -> Any:
        return value

    def as_bytes(self, value: int) -> bytes:
        return value.to_bytes(self.width, "little", signed=self.signed)

    def renamed(self, value: int, names: dict) -> int:
        if self.nodes not in names:
            return value
        new = names[self.nodes]
        return sum(1 << new[k] for k in self.shown(value)) if self.is_set else new[value]


class Truth(Whole):
    """The kind of a flag."""

    def __init__(self):
        super().__init__(1, signed=False, high=1)

    def read(self, value: int) -> bool:
        return bool(value)

    def shown(self, value: int) -> bool:
        return bool(value)


class Composite:
    """The kind of what has parts: `names` are fields, or the indices of slots."""

    def new(self) -> "Parts":
        return Parts(self, {name: kind.new() for name, kind in self.kinds.items()})

    def read(self, value: "Parts") -> "Parts":
        return value

    def become(self, present: "Parts", value: Any) -> "Parts":
        """Copy a value into these parts, which others may already refer to."""
        if isinstance(value, list | tuple):
            items = [each.copied() if isinstance(each, Parts) else each for each in value]
            given_parts = self.listed(items)
        elif isinstance(value, Parts):
            given_parts = value.copied()._parts  # it may be a part of what it is copied into
        else:
            given_parts = {}
        for name, kind in self.kinds.items():
            given = given_parts.get(name, kind.new())
            present._parts[name] = kind.become(present._parts[name], given)
        return present

    def shown(self, value: "Parts") -> Any:
        return tuple(kind.shown(value._parts[name]) for name, kind in self.kinds.items())

    def order(self, value: "Parts") -> bytes:
        return self.as_bytes(value)

    def as_bytes(self, value: "Parts") -> bytes:
        return b"".join(kind.as_bytes(value._parts[name]) for name, kind in self.kinds.items())

    def renamed(self, value: "Parts", names: dict) -> "Parts":
        after = {n: kind.renamed(value._parts[n], names) for n, kind in self.kinds.items()}
        return Parts(self, after)


class Fields(Composite):
    """The kind of a struct."""

    def __init__(self, kinds: dict[str, Any]):
        self.kinds = kinds


class Slots(Composite):
    """The kind of an array; with `nodes` it is indexed by node, and slot 0 stays zero."""

    def __init__(self, item: Any, count: int, nodes: str = ""):
        self.item, self.count, self.nodes = item, count, nodes
        self.kinds = dict.fromkeys(range(count), item)

    def listed(self, value: list) -> dict:
        """The items of a list by their indices."""
        first = 1 if self.nodes else 0
        if len(value) > self.count - first:
            raise Undecided("too long a list")
        return dict(enumerate(value, first))

    def shown(self, value: "Parts") -> tuple:
        return super().shown(value)[1 if self.nodes else 0 :]

    def renamed(self, value: "Parts", names: dict) -> "Parts":
        plain = super().renamed(value, names)
        if self.nodes not in names:
            return plain
        new = names[self.nodes]
        return Parts(self, {new[k]: each for k, each in plain._parts.items()}).sorted()


class Counted(Composite):
    """The kind of a sequence or bag."""

    def __init__(self, counter: str, item: Any, slots: int):
        self.counter, self.item = counter, item
        self.kinds = {counter: Whole(1 if slots < 128 else 2), "items": Slots(item, slots)}

    def shown(self, value: "Parts") -> tuple:
        return value._parts["items"]._kind.shown(value._parts["items"])[: self.count(value)]

    def count(self, value: "Parts") -> int:
        return value._parts[self.counter]

    def renamed(self, value: "Parts", names: dict) -> "Parts":
        after = super().renamed(value, names)
        if self.counter == "size":
            _refill(after, sorted(_items(after), key=self.item.order))
        return after


class Parts:
    """A struct, sequence, bag or array of a state: fields by name, slots by index."""

    def __init__(self, kind: Composite, parts: dict[Any, Any]):
        vars(self).update(_kind=kind, _parts=parts)

    def __getattr__(self, name: str) -> Any:
        if name not in self._parts:
            raise AttributeError(name)
        if isinstance(self._kind, Counted) and name == "items":
            return Items(self)
        return self._kind.kinds[name].read(self._parts[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._parts:
            raise Fault(f"there is no field {name}")
        self._parts[name] = self._kind.kinds[name].become(self._parts[name], value)

    def _at(self, index: int) -> int:
        first = 1 if self._kind.nodes else 0
        if not first <= index < first + len(self):
            raise Undecided("no such slot")
        return int(index)

    def __getitem__(self, index: int) -> Any:
        if isinstance(self._kind, Counted):
            return self.items[index]
        return self._kind.item.read(self._parts[self._at(index)])

    def __setitem__(self, index: int, value: Any) -> None:
        if isinstance(self._kind, Counted):
            self.items[index] = value
            return
        index = self._at(index)
        self._parts[index] = self._kind.item.become(self._parts[index], value)

    def __len__(self) -> int:
        if isinstance(self._kind, Counted):
            return Exact(self._kind.count(self))
        return len(self._parts) - bool(self._kind.nodes)

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self._kind, Counted):
            yield from self.items
            return
        first = 1 if self._kind.nodes else 0
        for index in range(first, first + len(self)):
            yield self[index]

    def __contains__(self, value: Any) -> bool:
        return any(each == value for each in self)

    def __eq__(self, other: Any) -> bool:
        own = self._kind
        if not isinstance(other, Parts):
            other = own.become(own.new(), other)
        return own.as_bytes(self) == own.as_bytes(other)

    __hash__ = None

    def copied(self) -> "Parts":
        return Parts(
            self._kind,
            {n: v.copied() if isinstance(v, Parts) else v for n, v in self._parts.items()},
        )

    def sorted(self) -> "Parts":
        """The same with the slots in the order of their indices."""
        return Parts(self._kind, dict(sorted(self._parts.items())))


class Items(Parts):
    """The items of a sequence or bag: the slots in use, and no others."""

    def __init__(self, container: Parts):
        slots = container._parts["items"]
        vars(self).update(_kind=slots._kind, _parts=slots._parts, _container=container)

    def __len__(self) -> int:
        return self._container._kind.count(self._container)


def resolve(declared: Any, sizes: dict[str, int]) -> Any:
    """The kind that a declared type is with these sizes."""
    match declared:
        case Integer(width):
            return Whole(width)
        case Boolean():
            return Truth()
        case Node(count):
            return Whole(1, nodes=count, high=sizes[count])
        case Named(names):
            return Whole(1, names=names, high=len(names) - 1)
        case NodeSet(Node(count)):
            most, width = sizes[count], next(w for w in (1, 2, 4) if sizes[count] < 8 * w)
            return Whole(width, False, (), count, high=(2 << most) - 1)
        case Array(item, size):
            return Slots(resolve(item, sizes), max(1, _number(size, sizes)))
        case Per(Node(count), item):
            return Slots(resolve(item, sizes), sizes[count] + 1, count)
        case Seq(item, size):
            return Counted("length", resolve(item, sizes), max(1, _number(size, sizes)))
        case Bag(item, size):
            return Counted("size", resolve(item, sizes), max(1, _number(size, sizes)))
    parts = {name: resolve(each, sizes) for name, each in declared.__annotations__.items()}
    declared.layout = Fields(parts)
    return declared.layout


def _number(size: str | int, names: dict[str, int]) -> int:
    return int(eval(str(size), {}, names))


# --- What actions call ---------------------------------------------------------------------------


def _items(container: Parts) -> list:
    """Copies of the items of a sequence or bag."""
    slots = container._parts["items"]._parts
    held = [slots[k] for k in range(container._kind.count(container))]
    return [each.copied() if isinstance(each, Parts) else each for each in held]


def _refill(container: Parts, items: list) -> None:
    slots, item = container._parts["items"], container._kind.item
    if len(items) > len(slots):
        raise Undecided("a full container")
    for k in range(len(slots)):
        value = items[k] if k < len(items) else 0
        slots._parts[k] = item.become(slots._parts[k], value)
    container._parts[container._kind.counter] = len(items)


def _as_item(container: Parts, value: Any) -> Any:
    """A copy of a value, as an item of this container."""
    kind = container._kind.item
    return kind.become(kind.new(), value)


def erase(items, index) -> None:
    items[index] = 0


def append(sequence, item) -> None:
    _refill(sequence, [*_items(sequence), item])


def truncate(sequence, length) -> None:
    if length < sequence.length:
        _refill(sequence, _items(sequence)[:length])


def remove_at(sequence, index) -> None:
    items = _items(sequence)
    if not 0 <= index < len(items):
        raise Undecided("no such item")
    del items[index]
    _refill(sequence, items)


def pop_first(sequence) -> Any:
    if not _items(sequence):
        raise Undecided("no such item")
    item = sequence._kind.item.read(_items(sequence)[0])
    remove_at(sequence, 0)
    return item


def last(sequence) -> Any:
    return sequence.items[len(sequence) - 1]


def find(bag, item) -> int:
    order, wanted = bag._kind.item.order, _wanted(bag, item)
    return Exact(sum(order(each) < wanted for each in _items(bag)))


def is_in(bag, item) -> bool:
    order, wanted = bag._kind.item.order, _wanted(bag, item)
    return any(order(each) == wanted for each in _items(bag))


def _wanted(bag, item) -> Any:
    """What an item is compared by; a number may be one that no item can be."""
    kind = bag._kind.item
    if not isinstance(kind, Whole):
        return kind.order(_as_item(bag, item))
    return kind.names.index(item) if isinstance(item, str) else item


def add(bag, item) -> None:
    _refill(bag, sorted([*_items(bag), _as_item(bag, item)], key=bag._kind.item.order))


def add_once(bag, item) -> None:
    if not is_in(bag, item):
        add(bag, item)


def take(bag, item) -> None:
    if not is_in(bag, item):
        raise Undecided("no such item")
    items = _items(bag)
    del items[find(bag, item)]
    _refill(bag, items)


def contains(nodes, node) -> bool:
    return node in members(nodes)


def with_node(nodes, node) -> int:
    return Mask(nodes if contains(nodes, node) else nodes + 2**node)


def without_node(nodes, node) -> int:
    return Mask(nodes - 2**node if contains(nodes, node) else nodes)


def only(node) -> int:
    return Mask(2**node)


def nodes_up_to(count) -> int:
    return Mask(sum(2**k for k in range(1, count + 1)))


def size(nodes) -> int:
    return Exact(len(members(nodes)))


def is_subset(nodes, of) -> bool:
    return set(members(nodes)) <= set(members(of))


def smallest(nodes) -> int:
    return Exact(min(members(nodes), default=0))


def members(nodes) -> list[int]:
    return [Exact(k) for k, bit in enumerate(reversed(f"{nodes:b}")) if bit == "1"]


# --- A spec --------------------------------------------------------------------------------------


class Action(NamedTuple):
    function: Callable
    domains: dict[str, Any]
    ways: Callable | None


class Formula(NamedTuple):
    operator: str
    predicates: tuple


def _operator(name: str) -> Callable[..., Formula]:
    return lambda *predicates: Formula(name, predicates)


always, eventually, leads_to = map(_operator, ("always", "eventually", "leads to"))
always_eventually, eventually_always = map(_operator, ("always eventually", "eventually always"))


class Spec:
    """What a generated module declares."""

    def __init__(self, name: str, state: type, constants: type, meaning: str):
        self.name, self.state, self.constants = name, state, constants
        self.inits: list[Action] = []
        self.actions: list[Action] = []
        self.nodes_alike: list[str] = []
        self.erase: Callable | None = None
        for kind in ("invariants", "step_invariants", "sometimes_properties", "constraints"):
            setattr(self, kind, {})
        self.properties: dict[str, Callable] = {}

    def init(self, function: Callable) -> Callable:
        self.inits.append(_as_action(function))
        return function

    def action(self, function: Callable | None = None, *, multiplicity: Any = None) -> Callable:
        def register(function: Callable) -> Callable:
            self.actions.append(_as_action(function, multiplicity))
            return function

        return register(function) if function else register

    def _register(self, kind: str, function: Callable) -> Callable:
        getattr(self, kind)[function.__name__] = function
        return function

    def invariant(self, function: Callable) -> Callable:
        return self._register("invariants", function)

    def step_invariant(self, function: Callable) -> Callable:
        return self._register("step_invariants", function)

    def sometimes(self, function: Callable) -> Callable:
        return self._register("sometimes_properties", function)

    def constraint(self, function: Callable) -> Callable:
        return self._register("constraints", function)

    def property(self, function: Callable) -> Callable:
        return self._register("properties", function)

    def view(self, function: Callable) -> Callable:
        self.erase = function
        return function

    def symmetric(self, node: Node) -> None:
        self.nodes_alike.append(node.count)


def _as_action(function: Callable, ways: Callable | None = None) -> Action:
    domains = {
        name: function.__annotations__[name] for name in list(signature(function).parameters)[2:]
    }
    return Action(function, domains, ways)


class PlainModel:
    """A spec with the defaults of its constants: its initial states, steps and properties."""

    def __init__(self, spec: Spec):
        self.spec, self.constants = spec, spec.constants()
        hints = get_type_hints(spec.constants, include_extras=True)
        self.sizes = {
            name: next((each for each in get_args(hints[name])[1].classes if each >= value), value)
            for name, value in self.constants._asdict().items()
        }
        self.kind = resolve(spec.state, self.sizes)
        self.c = spec.constants(*map(Exact, self.constants))

    def starts(self) -> Iterator[tuple[str, Parts, int]]:
        """Every initial state. Raises Undecided."""
        for action in self.spec.inits:
            yield from self._taken(self.kind.new(), action)

    def steps(self, state: Parts) -> Iterator[tuple[str, Parts, int]]:
        """(action, state after it, multiplicity) of every step. Raises Undecided and Fault."""
        for action in self.spec.actions:
            yield from self._taken(state, action)

    def _taken(self, before: Parts, action: Action) -> Iterator[tuple[str, Parts, int]]:
        for choice in self._choices(before, action.domains, {}):
            after = before.copied()
            reason = _said(_called(action.function, after, self.c, *choice.values()))
            if reason != TAKEN:
                if after != before:
                    raise Fault("an effect before a refusal")
                continue
            ways = _called(action.ways, before, self.c, *choice.values()) if action.ways else 1
            yield action.function.__name__, after, int(ways)

    def _choices(self, before: Parts, domains: dict[str, Any], chosen: dict) -> Iterator[dict]:
        if len(chosen) == len(domains):
            yield chosen
            return
        name = list(domains)[len(chosen)]
        for value in list(self._values(domains[name], {"s": before, "c": self.c, **chosen})):
            yield from self._choices(before, domains, {**chosen, name: value})

    def _values(self, domain: Any, scope: dict[str, Any]) -> Iterator[Any]:
        def bound(given: Any) -> int:
            if callable(given):
                return _called(given, *(scope[each] for each in signature(given).parameters))
            return _number(given, self.constants._asdict())

        match domain:
            case Node(count):
                yield from map(Exact, range(1, getattr(self.constants, count) + 1))
            case Named(names):
                yield from map(Exact, range(len(names)))
            case Range(low, high):
                yield from map(Exact, range(bound(low), bound(high) + 1))
            case Subset(of, wanted):
                mask = (
                    nodes_up_to(getattr(self.constants, of.count))
                    if isinstance(of, Node)
                    else bound(of)
                )
                nodes = members(mask)
                count = None if wanted is None else bound(wanted)
                for bits in product((0, 1), repeat=len(nodes)):
                    chosen = [n for n, bit in zip(nodes, reversed(bits), strict=True) if bit]
                    if count is None or len(chosen) == count:
                        yield Mask(sum(2**n for n in chosen))
            case Sequences(low, high, length):
                numbers = [Exact(k) for k in range(bound(low), bound(high) + 1)]
                yield from product(numbers, repeat=bound(length))
            case Member(path):
                container = scope["s"]
                for each in path.split("."):
                    container = getattr(container, each)
                items = _items(container)
                is_bag = container._kind.counter == "size"
                for k, item in enumerate(items):
                    if not (is_bag and k and item == items[k - 1]):
                        yield container._kind.item.read(item)

    def holds(self, kind: str, name: str, *states: Parts) -> bool:
        """Does a property of this kind hold? Raises Undecided and Fault."""
        return not _said(_called(getattr(self.spec, kind)[name], *states, self.c))

    def erased(self, state: Parts) -> Parts:
        """The state without what the view leaves out."""
        after = state.copied()
        self.spec.erase(after, self.c)
        return after

    def renamings(self) -> Iterator[dict[str, list[int]]]:
        """Every renaming of the nodes that are declared alike."""
        from itertools import permutations

        orders = []
        for count in self.spec.nodes_alike:
            nodes, slots = getattr(self.constants, count), self.sizes[count]
            rest = list(range(nodes + 1, slots + 1))
            orders.append([[0, *p, *rest] for p in permutations(range(1, nodes + 1))])
        for chosen in product(*orders):
            yield dict(zip(self.spec.nodes_alike, chosen, strict=True))

    def exchanges(self) -> Iterator[dict[str, list[int]]]:
        """The renamings that exchange two nodes; one after the other they make every renaming."""
        for names in self.renamings():
            if sum(new != old for each in names.values() for old, new in enumerate(each)) == 2:
                yield names

    def renamed(self, state: Parts, names: dict[str, list[int]]) -> Parts:
        return self.kind.renamed(state, names)

    def shown(self, state: Parts) -> tuple:
        """The state as nested tuples, which tell it apart from all others."""
        return self.kind.shown(state)


def _said(answer: Any) -> str:
    if not isinstance(answer, str):
        raise Fault(f"a function returned {answer!r}")
    return answer


def _called(function: Callable, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (Undecided, Fault):
        raise
    except (ZeroDivisionError, ValueError):
        raise Undecided("a division by zero, a negative shift, the least of nothing") from None
    except Exception as error:
        raise Fault(type(error).__name__) from error


def load(text: str) -> PlainModel:
    """The model of a generated module, with the defaults of its constants."""
    scope: dict[str, Any] = {"__name__": "generated"}
    text = text.replace("from protocol_lab import", f"from {__name__} import")
    exec(compile(text, "<generated>", "exec"), scope)
    return PlainModel(scope["spec"])
