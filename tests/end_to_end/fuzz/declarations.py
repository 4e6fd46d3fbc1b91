"""The random declarations of a spec: its constants, kinds of nodes, structs and state."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar


@dataclass(frozen=True)
class NodeKind:
    """A kind of node: the name of its type, and the constant that counts them."""

    name: str
    count: str


@dataclass(frozen=True)
class Number:
    text: str


@dataclass(frozen=True)
class Flag:
    text = "Bool"


@dataclass(frozen=True)
class Name:
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"Named({', '.join(map(repr, self.names))})"


@dataclass(frozen=True)
class OneNode:
    node: NodeKind

    @property
    def text(self) -> str:
        return self.node.name


@dataclass(frozen=True)
class Mask:
    node: NodeKind

    @property
    def text(self) -> str:
        return f"NodeSet({self.node.name})"


@dataclass(frozen=True)
class Record:
    """A Struct."""

    name: str
    fields: tuple[tuple[str, "Kind"], ...]

    @property
    def text(self) -> str:
        return self.name


@dataclass(frozen=True)
class ByNode:
    node: NodeKind
    item: "Kind"

    @property
    def text(self) -> str:
        return f"Per({self.node.name}, {self.item.text})"


@dataclass(frozen=True)
class Several:
    """Items of one kind; `size` is a number, or the name of a constant."""

    item: "Kind"
    size: int | str
    written: ClassVar[str]

    @property
    def text(self) -> str:
        return f"{self.written}({self.item.text}, {self.size!r})"


class Slots(Several):
    written = "Array"


class Line(Several):
    written = "Seq"


class Pile(Several):
    written = "Bag"


Kind = Number | Flag | Name | OneNode | Mask | Record | Slots | ByNode | Line | Pile


@dataclass(frozen=True)
class Declarations:
    """What stands at the top of a module. structs: in the order of their declaration.

    constants: declarations without the default, by name; values: the defaults to choose from, with
    all of which the layout of a state is the same.
    """

    nodes: tuple[NodeKind, ...]
    constants: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, tuple[int, ...]], ...]
    structs: tuple[Record, ...]
    state: Record

    def text(self, values: dict[str, int]) -> str:
        """The declarations, with these defaults of the constants."""
        lines = [f'{each.name} = Node("{each.count}")' for each in self.nodes]
        lines += [
            "",
            "",
            "class Constants(NamedTuple):",
            *(f"    {name}: {declared} = {values[name]}" for name, declared in self.constants),
        ]
        for each in (*self.structs, self.state):
            lines += ["", "", f"class {each.name}(Struct):"]
            lines += [f"    {name}: {kind.text}" for name, kind in each.fields]
        return "\n".join(lines)


SERVERS, CLIENTS = NodeKind("Server", "servers"), NodeKind("Client", "clients")


def random_declarations(chance: Random) -> Declarations:
    """Draw them: a few fields, so that the state space stays small."""
    nodes = (SERVERS, CLIENTS) if chance.random() < 0.25 else (SERVERS,)
    drawn = _Declaring(chance, nodes)
    structs = tuple(drawn.struct(name) for name in ("Item", "Inner")[: chance.randint(0, 2)])
    fields = [drawn.field(structs) for _ in range(chance.randint(2, 5))]
    if structs and not any(_holds_struct(each) for each in fields):
        fields.append(chance.choice([Line, Pile])(structs[0], chance.choice([1, 2, "room"])))
    state = Record("State", tuple((f"f{k}", each) for k, each in enumerate(fields)))
    return Declarations(nodes, *drawn.constants(), structs, state)


def is_in(kind: Kind, struct: Record) -> bool:
    """Is there a struct somewhere in what is declared so?"""
    parts = [each for _, each in kind.fields] if isinstance(kind, Record) else []
    parts += [kind.item] if hasattr(kind, "item") else []
    return kind == struct or any(is_in(each, struct) for each in parts)


def _holds_struct(kind: Kind) -> bool:
    return isinstance(kind, Record) or isinstance(getattr(kind, "item", None), Record)


class _Declaring:
    def __init__(self, chance: Random, nodes: tuple[NodeKind, ...]):
        self.chance, self.nodes = chance, nodes

    def constants(self) -> tuple[tuple, tuple]:
        """The constants' declarations and values, see `Declarations`."""
        declared, values = [], []
        for node in self.nodes:
            declared.append((node.count, 'Annotated[int, Limits(1, 3, "nodes")]'))
            values.append((node.count, (self.chance.choice([1, 2, 2, 2, 3, 3]),)))
        declared.append(("top", 'Annotated[int, Limits(0, 9, "a bound")]'))
        values.append(("top", (0, 1, 2, 3)))
        declared.append(("room", 'Annotated[int, Limits(1, 4, "slots")]'))
        values.append(("room", (self.chance.choice([1, 2, 3, 4]),)))
        return tuple(declared), tuple(values)

    def struct(self, name: str) -> Record:
        kinds = [self.simple() for _ in range(self.chance.randint(1, 3))]
        if name == "Inner" and self.chance.random() < 0.5:
            kinds.append(self.container(self.simple()))
        if self.chance.random() < 0.35:
            kinds.append(self.array(self.simple()))
        fields = tuple((f"{name[0].lower()}{k}", e) for k, e in enumerate(kinds))
        return Record(name, fields)

    def simple(self) -> Kind:
        node = self.chance.choice(self.nodes)
        number = Number(self.chance.choice(["Int8", "Int8", "Int16", "Int32"]))
        names = Name(("idle", "busy", "gone")[: self.chance.randint(2, 3)])
        return self.chance.choice([number, number, Flag(), OneNode(node), Mask(node), names])

    def container(self, item: Kind) -> Kind:
        chance, size = self.chance, self.chance.choice([1, 2, 3, "room", "room"])
        node = chance.choice(self.nodes)
        counts = [Line, Pile] if not isinstance(item, Flag) else [Line]
        kind = chance.choice([Slots, ByNode, ByNode, *counts, *counts])
        return ByNode(node, item) if kind is ByNode else kind(item, size)

    def array(self, item: Kind) -> Kind:
        """An array, or a dict by node: what messages hold, too."""
        if self.chance.random() < 0.5:
            return ByNode(self.chance.choice(self.nodes), item)
        return Slots(item, self.chance.choice([1, 2, "room"]))

    def field(self, structs: tuple[Record, ...]) -> Kind:
        draw = self.chance.random()
        if draw < 0.4:
            return self.simple()
        if draw < 0.5 and structs:
            return self.chance.choice(structs)
        item = self.chance.choice(structs) if structs and self.chance.random() < 0.5 else None
        if draw > 0.95:
            return Line(self.array(self.simple()), self.chance.choice([1, 2]))
        return self.container(item or self.simple())
