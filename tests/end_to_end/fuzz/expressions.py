"""Random expressions of the language that actions are written in, by the kind of their value.

What they need of a place (an index in range, an existing node) is so by construction: only
`faults` writes what has no value. Where all nodes must be treated `alike`, nothing tells one from
another: no number of a node, no first item of a bag.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from tests.end_to_end.fuzz.declarations import (
    ByNode,
    Declarations,
    Flag,
    Kind,
    Line,
    Mask,
    Name,
    NodeKind,
    Number,
    OneNode,
    Pile,
    Record,
    Slots,
)

_DEEPEST = 12  # nodes that are computed from numbers that are found at nodes, and so on


class NoWay(Exception):
    """There is nothing of that kind to be written here."""


@dataclass(frozen=True)
class Scope:
    """What can be read: records by the text that names them, nodes by kind, numbers, sets."""

    roots: tuple[tuple[str, Record], ...]
    nodes: tuple[tuple[str, NodeKind], ...] = ()
    numbers: tuple[str, ...] = ()
    masks: tuple[tuple[str, NodeKind], ...] = ()
    helpers: tuple[str, ...] = field(default=(), compare=False)

    def with_node(self, text: str, node: NodeKind) -> "Scope":
        return replace(self, nodes=(*self.nodes, (text, node)))

    def with_number(self, text: str) -> "Scope":
        return replace(self, numbers=(*self.numbers, text))

    def without(self, name: str) -> "Scope":
        """What can be read where this name stands for something else."""

        def kept(text: str) -> bool:
            return not re.search(rf"\b{name}\b", text)

        return replace(
            self,
            roots=tuple(each for each in self.roots if kept(each[0])),
            nodes=tuple(each for each in self.nodes if kept(each[0])),
            numbers=tuple(filter(kept, self.numbers)),
            masks=tuple(each for each in self.masks if kept(each[0])),
        )


class Expressions:
    """Draws expressions over the given declarations."""

    def __init__(self, chance: Random, declared: Declarations, alike: bool):
        self.chance, self.declared, self.alike = chance, declared, alike
        self.loops = 0
        self.nested = 0  # how many nodes are being written, each to find the next

    # --- Choosing ----------------------------------------------------------------------------

    def one_of(self, *options: Callable[[], str]) -> str:
        """What one of the options writes. Raises NoWay if none can."""
        for option in self.chance.sample(options, len(options)):
            try:
                return option()
            except NoWay:
                continue
        raise NoWay

    def place(self, scope: Scope, *wanted: type | Kind, written: bool = False) -> tuple[str, Kind]:
        """A part of a state of one of these kinds: its text and its kind. Raises NoWay.

        written: it is to be assigned, and so is no item of a sequence or bag.
        """
        roots = [each for each in scope.roots if self._leads(each[1], wanted, scope, written, True)]
        if written:
            roots = [each for each in roots if each[0] in ("s", "here", "near", "made")]
        if not roots:
            raise NoWay
        text, kind = self.chance.choice(roots)
        is_root, counts = True, []
        while is_root or not _is(kind, wanted):
            if isinstance(kind, Line | Pile):
                counts.append(f"{self.count(text, kind)} > 0")
            text, kind = self._into(text, kind, wanted, scope, written)
            is_root = False
        if not counts:
            return text, kind
        if not isinstance(kind, Number | Name | OneNode | Mask | Flag):
            raise NoWay
        otherwise = "False" if isinstance(kind, Flag) else "0"
        return f"({text} if {' and '.join(counts)} else {otherwise})", kind

    def _leads(
        self, kind: Kind, wanted: tuple, scope: Scope, written: bool, is_root: bool = False
    ) -> bool:
        if not is_root and _is(kind, wanted):
            return True
        if isinstance(kind, Record):
            return any(self._leads(each, wanted, scope, written) for _, each in kind.fields)
        if isinstance(kind, Pile | Line) and (written or (self.alike and isinstance(kind, Pile))):
            return False
        if isinstance(kind, ByNode) and not self._has_node(scope, kind.node):
            return False
        item = getattr(kind, "item", None)
        return item is not None and self._leads(item, wanted, scope, written)

    def _into(
        self, text: str, kind: Kind, wanted: tuple, scope: Scope, written: bool
    ) -> tuple[str, Kind]:
        match kind:
            case Record():
                parts = [e for e in kind.fields if self._leads(e[1], wanted, scope, written)]
                name, inner = self.chance.choice(parts)
                return f"{text}.{name}", inner
            case Slots(item, size):
                return f"{text}[{self.index(scope, size)}]", item
            case ByNode(node, item):
                return f"{text}[{self.existing(scope, node)}]", item
        if isinstance(kind, Line):
            return self.chance.choice(
                [f"{text}.items[0]", f"{text}[0]", f"last({text})"]
            ), kind.item
        return f"{text}.items[0]", kind.item

    def count(self, text: str, kind: Line | Pile) -> str:
        """How many items there are in a sequence or bag."""
        counter = "length" if isinstance(kind, Line) else "size"
        return self.chance.choice([f"{text}.{counter}", f"len({text})"])

    def _has_node(self, scope: Scope, node: NodeKind) -> bool:
        return not self.alike or any(each == node for _, each in scope.nodes)

    def index(self, scope: Scope, size: int | str) -> str:
        """An index below a size."""
        bound = size if isinstance(size, int) else f"c.{size}"
        if bound == 1 or self.chance.random() < 0.4:
            return "0"
        if isinstance(size, int) and self.chance.random() < 0.4:
            return str(self.chance.randrange(size))
        return f"({self.number(scope, 0)}) % {bound}"

    # --- Nodes and sets of them ----------------------------------------------------------------

    def existing(self, scope: Scope, node: NodeKind) -> str:
        """A node 1..n. Raises NoWay where that would single one out."""
        known = [text for text, each in scope.nodes if each == node]
        if known and (self.alike or self.chance.random() < 0.8):
            return self.chance.choice(known)
        if self.alike:
            raise NoWay
        if self.nested == _DEEPEST:
            return "1"
        self.nested += 1
        try:
            computed = f"1 + ({self.number(scope, 0)}) % c.{node.count}"
        finally:
            self.nested -= 1
        return self.chance.choice(["1", computed])

    def node(self, scope: Scope, node: NodeKind) -> str:
        """A node, or none."""
        options = [
            lambda: self.existing(scope, node),
            lambda: self.existing(scope, node),
            lambda: self.place(scope, OneNode(node))[0],
            lambda: self.place(scope, OneNode(node))[0],
            lambda: "NONE",
        ]
        if not self.alike:
            options.append(lambda: f"smallest({self.mask(scope, node, 0)})")
        return self.one_of(*options)

    def mask(self, scope: Scope, node: NodeKind, depth: int = 1) -> str:
        """A set of nodes."""
        known = [text for text, each in scope.masks if each == node]
        options = [
            lambda: self.place(scope, Mask(node))[0],
            lambda: self.place(scope, Mask(node))[0],
            lambda: self.place(scope, Mask(node))[0],
            lambda: f"with_node({self.place(scope, Mask(node))[0]}, {self.existing(scope, node)})",
            lambda: f"only({self.existing(scope, node)})",
            lambda: self.chance.choice([f"nodes_up_to(c.{node.count})", "0"]),
            *[lambda: self.chance.choice(known)] * (2 if known else 0),
        ]
        if depth > 0:
            inner = lambda: self.mask(scope, node, depth - 1)  # noqa: E731
            helper = self.chance.choice(["with_node", "without_node"])
            sign = self.chance.choice("&|")
            options += [
                lambda: f"{helper}({inner()}, {self.existing(scope, node)})",
                lambda: f"({inner()} {sign} {inner()})",
            ]
        return self.one_of(*options)

    def set_of_nodes(self, scope: Scope, node: NodeKind) -> str:
        """A set of nodes that is known to be one, so that it can be asked with in, len and for."""
        helper = self.chance.choice(["with_node", "without_node"])
        return self.one_of(
            lambda: f"nodes_up_to(c.{node.count})",
            lambda: f"{helper}({self.mask(scope, node, 0)}, {self.existing(scope, node)})",
            lambda: f"({self.mask(scope, node, 0)} | nodes_up_to(c.{node.count}))",
            lambda: (
                self.chance.choice([text for text, each in scope.masks if each == node] or [""])
                or self._field_of_nodes(scope, node)
            ),
            lambda: self._field_of_nodes(scope, node),
        )

    def _field_of_nodes(self, scope: Scope, node: NodeKind) -> str:
        text, _ = self.place(scope, Mask(node))
        if text.startswith("("):
            raise NoWay  # a number where a container is empty
        return text

    # --- Numbers -------------------------------------------------------------------------------

    def number(self, scope: Scope, depth: int = 1) -> str:
        """A whole number, far from the bounds of 64 bits."""
        if depth <= 0 or self.chance.random() < 0.4:
            return self._plain_number(scope)
        inner = lambda: self.number(scope, depth - 1)  # noqa: E731
        small = self.chance.randint(2, 4)
        options = [
            lambda: f"({inner()} {self.chance.choice('+-')} {inner()})",
            lambda: f"({self._plain_number(scope)} * {self._plain_number(scope)})",
            lambda: f"({inner()} // {small})",
            lambda: f"({inner()} % {small})",
            lambda: f"({inner()} % -{small})",
            lambda: f"({inner()} & {small})",
            lambda: f"(({inner()}) >> 1)",
            lambda: f"(({self._plain_number(scope)}) << {small})",
            lambda: f"{self.chance.choice(['min', 'max'])}({inner()}, {inner()})",
            lambda: f"({inner()} if {self.truth(scope, 0)} else {inner()})",
            lambda: f"abs({inner()})",
            lambda: f"-({inner()})",
            lambda: self._over_nodes(scope, "sum"),
            lambda: self._over_nodes(scope, self.chance.choice(["min", "max"])),
            *[lambda: f"{self.chance.choice(scope.helpers)}(s, c, {inner()})"]
            * (3 if scope.helpers else 0),
        ]
        return self.one_of(*options)

    def _plain_number(self, scope: Scope) -> str:
        options = [
            lambda: str(self.chance.choice([0, 1, 1, 2, 2, 3, 5])),
            lambda: "c.top",
            lambda: self.place(scope, Number)[0],
            lambda: self.place(scope, Number)[0],
            lambda: self.place(scope, Number)[0],
            lambda: self.place(scope, Name)[0],
            lambda: self.count(*self.place(scope, Line)),
            lambda: self.count(*self.place(scope, Pile)),
            lambda: f"size({self.mask(scope, self.some_node(), 0)})",
            lambda: f"len({self.set_of_nodes(scope, self.some_node())})",
            *[lambda: self.chance.choice(scope.numbers)] * (2 if scope.numbers else 0),
        ]
        if not self.alike:
            options += [lambda: self.node(scope, self.some_node()), lambda: self._found(scope)]
        return self.one_of(*options)

    def some_node(self) -> NodeKind:
        return self.chance.choice(self.declared.nodes)

    def _found(self, scope: Scope) -> str:
        text, kind = self.place(scope, Pile)
        return f"find({text}, {self.value(scope, kind.item, fresh=True)})"

    def _over_nodes(self, scope: Scope, reducer: str) -> str:
        """all, any, sum, min or max over the nodes, or over the items of a sequence."""
        name = self._variable(scope)
        own = scope.without(name)
        if self.chance.random() < 0.25:
            text, kind = self.place(own, Line, Pile)
            if not isinstance(kind.item, Number | Name) or reducer not in ("sum", "all", "any"):
                raise NoWay
            if isinstance(kind, Line) and self.chance.random() < 0.5:
                over, inner = f"range({text}.length)", own.with_number(f"{text}.items[{name}]")
            else:
                over, inner = text, own.with_number(name)
        else:
            node = self.some_node()
            over = f"range(1, c.{node.count} + 1)"
            if reducer in ("sum", "all", "any") and self.chance.random() < 0.3:
                over = self.chance.choice(
                    [f"members({self.mask(scope, node, 0)})", self.set_of_nodes(scope, node)]
                )
            inner = own.with_node(name, node)
        body = self.truth(inner, 0) if reducer in ("all", "any") else self.number(inner, 0)
        only_if = f" if {self.truth(inner, 0)}" if self.chance.random() < 0.3 else ""
        if reducer in ("min", "max"):
            only_if = ""
        return f"{reducer}({body} for {name} in {over}{only_if})"

    def _variable(self, scope: Scope) -> str:
        """A variable for a comprehension, at times one that the function has as well."""
        self.loops += 1
        taken = [each for each in ("here", "near", "v", "w", "n") if scope != scope.without(each)]
        return self.chance.choice([f"k{self.loops}", f"k{self.loops}", *taken])

    # --- Truth ---------------------------------------------------------------------------------

    def truth(self, scope: Scope, depth: int = 1) -> str:
        """A condition."""
        if depth > 0 and self.chance.random() < 0.5:
            inner = lambda: self.truth(scope, depth - 1)  # noqa: E731
            return self.one_of(
                lambda: f"({inner()} {self.chance.choice(['and', 'or'])} {inner()})",
                lambda: f"not ({inner()})",
                lambda: self._over_nodes(scope, self.chance.choice(["all", "any"])),
                lambda: f"({inner()} if {inner()} else {inner()})",
            )
        node = self.some_node()
        sign = self.chance.choice(["==", "!=", "<", "<=", ">", ">="])
        equal = self.chance.choice(["==", "!="])
        return self.one_of(
            # + 0: two named values of different kinds may not be compared.
            lambda: f"{self.number(scope, depth)} {sign} ({self.number(scope, 0)} + 0)",
            lambda: f"{self.number(scope, depth)} {sign} ({self.number(scope, 0)} + 0)",
            lambda: self.place(scope, Flag)[0],
            lambda: f"{self.place(scope, OneNode(node))[0]} {equal} {self.node(scope, node)}",
            lambda: f"contains({self.mask(scope, node, 0)}, {self.node(scope, node)})",
            lambda: f"({self.node(scope, node)} in {self.set_of_nodes(scope, node)})",
            lambda: f"({self.node(scope, node)} not in {self.set_of_nodes(scope, node)})",
            lambda: f"is_subset({self.mask(scope, node, 0)}, {self.mask(scope, node, 0)})",
            lambda: f"{self.mask(scope, node, 0)} {equal} {self.mask(scope, node, 0)}",
            lambda: self._is_in(scope),
            lambda: self._same_record(scope, equal),
            lambda: self._same_name(scope, equal),
        )

    def _same_name(self, scope: Scope, equal: str) -> str:
        """A named value compared with one of its names, or with several."""
        text, kind = self.place(scope, Name)
        if text.startswith("("):
            raise NoWay  # a number where a container is empty
        if self.chance.random() < 0.3:
            return f"({text} in {self.chance.sample(kind.names, 2)!r})"
        return f"{text} {equal} {self.chance.choice(kind.names)!r}"

    def _is_in(self, scope: Scope) -> str:
        text, kind = self.place(scope, Line, Pile)
        value = self.value(scope, kind.item)
        if isinstance(kind, Pile) and self.chance.random() < 0.5:
            return f"is_in({text}, {value})"
        return f"(({value}) in {text})"

    def _same_record(self, scope: Scope, equal: str) -> str:
        text, kind = self.place(scope, *self.declared.structs)
        return f"{text} {equal} {self.value(scope, kind)}"

    # --- Values to be stored -------------------------------------------------------------------

    def value(self, scope: Scope, kind: Kind, fresh: bool = False) -> str:
        """A value that fits into a field of this kind. fresh: a new struct, no part of a state."""
        numbers, nodes = scope.numbers, scope.nodes
        match kind:
            case Number() if numbers and self.chance.random() < 0.4:
                number = self.chance.choice(numbers)
                return number if number[0] in "p12" else f"({number}) % 3"
            case OneNode(node) if (node in dict(nodes).values()) and self.chance.random() < 0.5:
                return self.existing(scope, node)
            case Number(text):
                return self._fitting(scope, text)
            case Flag():
                return self.truth(scope, 0)
            case Name(names) if self.chance.random() < 0.3:
                return repr(self.chance.choice(names))
            case Name(names):
                return f"({self.number(scope, 0)}) % {len(names)}"
            case OneNode(node):
                return self.node(scope, node)
            case Mask(node):
                return self.mask(scope, node)
            case Record():
                return self._record(scope, kind, fresh)
            case Slots() | ByNode():
                return self._whole_array(scope, kind)
        raise NoWay

    def _whole_array(self, scope: Scope, kind: Slots | ByNode) -> str:
        """An array of the same kind, or a list, whose last items may be left out."""

        def listed() -> str:
            if self.alike:
                raise NoWay  # which item is whose tells nodes apart
            count = self.chance.randint(
                0, kind.size if isinstance(getattr(kind, "size", ""), int) else 1
            )
            return f"[{', '.join(self.value(scope, kind.item) for _ in range(count))}]"

        return self.one_of(lambda: self.place(scope, kind)[0], listed)

    def _fitting(self, scope: Scope, width: str) -> str:
        small = f"({self.number(scope)}) % {self.chance.randint(2, 3)}"
        if self.chance.random() < 0.1:
            return str(self.chance.choice([-1, 0, 1, 2]))
        if width != "Int8" and self.chance.random() < 0.4:
            large = {"Int16": [255, -300], "Int32": [65535, -70000]}[width]
            return f"{self.chance.choice(large)} + {small}"
        return f"-({small})" if self.chance.random() < 0.15 else small

    def _record(self, scope: Scope, kind: Record, fresh: bool) -> str:
        if not fresh and self.chance.random() < 0.4:
            known = [text for text, each in scope.roots if each == kind]
            try:
                return self.chance.choice(known) if known else self.place(scope, kind)[0]
            except NoWay:
                pass
        given = []
        for name, each in kind.fields:
            if isinstance(each, Line | Pile) or self.chance.random() > 0.8:
                continue
            try:
                given.append(f"{name}={self.value(scope, each)}")
            except NoWay:
                continue
        if not given:
            raise NoWay
        return f"{kind.name}({', '.join(given)})"


def _is(kind: Kind, wanted: tuple) -> bool:
    return any(kind == e if not isinstance(e, type) else isinstance(kind, e) for e in wanted)
