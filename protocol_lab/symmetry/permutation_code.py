"""Generates code that colours and permutes nodes along a state's layout.

Two functions are generated from the declared types alone. `colours` gives every node a number that
depends on what the state says about it, but not on any node's name. `permuted` writes the state
with its nodes renamed. Both call the functions of `canonical_form`.
"""

import hashlib
from typing import Any

from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout


def naming_code(layout: StructLayout, slots: dict[str, int]) -> list[str]:
    """The lines of both functions for a layout, and of `canonical`, which is made of them.

    slots: where the nodes of each symmetric kind begin in arrays that hold all of them. The two are
    called by a hash of their text: kernels that were loaded from the disk share one table of
    symbols, where functions of one name and signature are taken for the same.
    """
    colours, permuted = _Text(slots), _Text(slots)
    colours.refer(layout, "0", "np.uint64(1)", {})
    permuted.rename(layout, "0", "base")
    name = hashlib.sha256("\n".join([*colours.lines, *permuted.lines]).encode()).hexdigest()[:16]
    return [
        "@inner",
        f"def colours_{name}(source, sig):",
        *(colours.lines or ["    pass"]),
        "@inner",
        f"def permuted_{name}(source, names, base):",
        *(permuted.lines or ["    pass"]),
        f"canonical = make_canonical(colours_{name}, permuted_{name}, {name!r})",
        "",
    ]


class _Text:
    """Lines of a function body, written along a layout; positions and hashes are expressions."""

    def __init__(self, slots: dict[str, int]):
        self.slots, self.lines, self.indent, self.count = slots, [], 1, 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def most(self, kind: str) -> int:
        """The highest node of a kind for which there is room."""
        begins = list(self.slots.values())
        return begins[list(self.slots).index(kind) + 1] - self.slots[kind] - 1

    def mentions(self, layout: Any) -> bool:
        """Does a value of this layout depend on the names of nodes?"""
        match layout:
            case IntegerLayout():
                return layout.nodes in self.slots and layout.nodes != ""
            case ArrayLayout(item, _, kind):
                return (bool(kind) and kind in self.slots) or self.mentions(item)
        return any(self.mentions(part) for part in layout.fields.values())

    def loop(self, layout: StructLayout | ArrayLayout, at: str) -> tuple[str, str, Any]:
        """Begin a loop over the items at a position: (variable, position of item, its layout).

        Of a sequence or bag over those in use. Ends by `end`.
        """
        each, array = self.name("k"), layout
        if isinstance(layout, StructLayout):
            array, end = layout.fields["items"], _length(layout, at)
            at = f"{at} + {layout.offsets['items']}"
        else:
            end = str(layout.end)
        self.line(f"for {each} in range({array.first}, {end}):")
        self.indent += 1
        here = self.name("at")
        self.line(f"{here} = {_item_at(array, at, each)}")
        return each, here, array.item

    def end(self) -> None:
        self.indent -= 1

    # A renamed copy

    def rename(self, layout: Any, at: str, to: str) -> None:
        """What depends on names at source[at:] is written renamed to source[to:]."""
        if not self.mentions(layout):
            return
        match layout:
            case IntegerLayout(kind="node", nodes=kind):
                self.line(f"source[{to}] = names[{self.slots[kind]} + source[{at}]]")
            case IntegerLayout(nodes=kind):
                first, sizes = self.slots[kind], f"{layout.size}, {self.most(kind)}"
                self.line(f"rename_set(source, {at}, {to}, {sizes}, names, {first})")
            case ArrayLayout(item, _, kind) if kind in self.slots and kind:
                each, here, _ = self.loop(layout, at)
                there = self.name("to")
                new = f"names[{self.slots[kind]} + {each}]"
                self.line(f"{there} = {_item_at(layout, to, new)}")
                self.line(f"for b in range({item.size}):")
                self.line(f"    source[{there} + b] = source[{here} + b]")
                self.rename(item, here, there)
                self.end()
            case ArrayLayout() | StructLayout(kind="seq" | "bag"):
                each, here, item = self.loop(layout, at)
                begin, array = to, layout
                if isinstance(layout, StructLayout):
                    begin, array = f"{to} + {layout.offsets['items']}", layout.fields["items"]
                there = self.name("to")
                self.line(f"{there} = {_item_at(array, begin, each)}")
                self.rename(item, here, there)
                self.end()
                if getattr(layout, "kind", "") == "bag":
                    count = f"{begin}, {_length(layout, at)}, {item.size}"
                    is_number = isinstance(item, IntegerLayout)
                    first, sign = item.size - 1 if is_number else 0, is_number and item.signed
                    self.line(f"sort_items(source, {count}, {first}, {128 if sign else 0})")
            case StructLayout():
                for name, part in layout.fields.items():
                    offset = layout.offsets[name]
                    self.rename(part, f"{at} + {offset}", f"{to} + {offset}")

    # Colours

    def refer(self, layout: Any, at: str, seen: str, owners: dict[str, str]) -> None:
        """Add what source[at:] says about each node to the node's colour.

        seen: an expression, the hash of the place. owners: the variables of the nodes by which the
        arrays around it are indexed, by kind.
        """
        if not self.mentions(layout):
            return
        salt = f"np.uint64({self.salt()})"
        match layout:
            case IntegerLayout(kind="node", nodes=kind):
                self.line(f"if source[{at}] != 0:")
                self.line(f"    sig[{self.slots[kind]} + source[{at}]] += mixed({seen}, {salt})")
            case IntegerLayout(nodes=kind):
                first, sizes = self.slots[kind], f"{layout.size}, {self.most(kind)}"
                self.line(f"mark_set(source, {at}, {sizes}, sig, {first}, mixed({seen}, {salt}))")
            case ArrayLayout(_, _, kind) if kind in self.slots and kind:
                each, here, item = self.loop(layout, at)
                inner = self.begin_hash(f"mixed({seen}, {salt})")
                if kind in owners:
                    self.line(f"{inner} = mixed({inner}, np.uint64({each} == {owners[kind]}))")
                within = {**owners, kind: each}
                self.absorb(item, here, inner, within)
                self.line(f"sig[{self.slots[kind]} + {each}] += {inner}")
                self.refer(item, here, inner, within)
                self.end()
            case ArrayLayout() | StructLayout(kind="seq" | "bag"):
                each, here, item = self.loop(layout, at)
                inner = self.begin_hash(f"mixed({seen}, {salt})")
                if getattr(layout, "kind", "") == "bag":
                    self.absorb(item, here, inner, owners)
                else:
                    self.line(f"{inner} = mixed({inner}, np.uint64({each}))")
                self.refer(item, here, inner, owners)
                self.end()
            case StructLayout():
                for name, part in layout.fields.items():
                    self.refer(part, f"{at} + {layout.offsets[name]}", seen, owners)

    def absorb(self, layout: Any, at: str, into: str, owners: dict[str, str]) -> None:
        """Mix the value at source[at:], without nodes' names, into the variable `into`."""
        match layout:
            case IntegerLayout(kind="node", nodes=kind) if kind in self.slots:
                owner = owners.get(kind, "0")
                same = f"(source[{at}] != 0) + (source[{at}] == {owner})"
                self.line(f"{into} = mixed({into}, np.uint64({same}))")
            case IntegerLayout(kind="nodes", nodes=kind) if kind in self.slots:
                sizes, owner = f"{layout.size}, {self.most(kind)}", owners.get(kind, "0")
                self.line(f"{into} = mixed({into}, set_shape(source, {at}, {sizes}, {owner}))")
            case IntegerLayout():
                for k in range(layout.size):
                    self.line(f"{into} = mixed({into}, np.uint64(source[{at} + {k}]))")
            case ArrayLayout() | StructLayout(kind="seq" | "bag"):
                self._absorb_items(layout, at, into, owners)
            case StructLayout():
                for name, part in layout.fields.items():
                    self.absorb(part, f"{at} + {layout.offsets[name]}", into, owners)

    def _absorb_items(self, layout: Any, at: str, into: str, owners: dict[str, str]) -> None:
        kind = getattr(layout, "per_node", "")
        own_names = bool(kind) and kind in self.slots
        if not own_names and getattr(layout, "kind", "") != "bag":
            each, here, item = self.loop(layout, at)
            self.absorb(item, here, into, owners)
            self.line(f"{into} = mixed({into}, np.uint64({each}))")
            self.end()
            return
        total = self.begin_hash(into)  # the order does not count: a sum of the items' hashes
        each, here, item = self.loop(layout, at)
        inner = self.begin_hash(f"np.uint64({self.salt()})")
        if own_names:
            self.line(f"{inner} = mixed({inner}, np.uint64({each} == {owners.get(kind, '0')}))")
        self.absorb(item, here, inner, {**owners, kind: each} if own_names else owners)
        self.line(f"{total} += {inner}")
        self.end()
        self.line(f"{into} = mixed({into}, {total})")

    def begin_hash(self, value: str) -> str:
        """A new variable with this value."""
        name = self.name("h")
        self.line(f"{name} = {value}")
        return name

    def salt(self) -> int:
        """A number for this place in the layout."""
        self.count += 1
        return self.count


def _item_at(array: ArrayLayout, at: str, index: str) -> str:
    """Where the item of this index begins, of an array at a position."""
    return f"{at} + ({index} - {array.first}) * {array.item.size}"


def _length(layout: StructLayout, at: str) -> str:
    """How many items the sequence or bag at a position holds."""
    wide = next(iter(layout.fields.values())).size == 2
    return f"(source[{at}] + 256 * source[{at} + 1])" if wide else f"source[{at}]"
