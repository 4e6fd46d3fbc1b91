"""Permutes nodes in a state: the row of the same state with its nodes renamed.

A renaming gives, for each kind of node, the new name of every node: names["replicas"][2] == 3 says
that replica 2 becomes replica 3. The declared types say where nodes occur: items of arrays by node
are moved, nodes and sets of nodes are rewritten, bags are sorted again.

It is the reference for `state_identity`, slower and simpler: it tries all renamings.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, permutations, product
from typing import Any

from protocol_lab.model.evaluation import evaluated
from protocol_lab.model.layout import ArrayLayout, IntegerLayout, StructLayout
from protocol_lab.model.node_sets import as_mask, members
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import read, view, write

Names = Mapping[str, Sequence[int]]


def renamed(layout: StructLayout, row: bytes, names: Names) -> bytes:
    """The row with its nodes renamed."""
    after = bytearray(row)
    _rename(layout, row, 0, after, 0, names)
    return bytes(after)


def all_renamings(model: Model) -> Iterator[Names]:
    """Every renaming of the symmetric nodes, the identity included."""
    kinds = [each.kind for each in model.spec.symmetries]
    for chosen in product(*(_orders(model, k) for k in range(len(kinds)))):
        yield dict(zip(kinds, chosen, strict=True))


def exchanges(model: Model) -> list[Names]:
    """The exchanges of two neighbours, which together generate every renaming."""
    identity = {
        each.kind: range(getattr(model.constants, each.kind) + 1) for each in model.spec.symmetries
    }
    found = []
    for each in model.spec.symmetries:
        for one, other in pairwise(members(each.alike(model.constants))):
            names = list(identity[each.kind])
            names[one], names[other] = other, one
            found.append({**identity, each.kind: names})
    return found


def smallest_name(model: Model, row: bytes) -> bytes:
    """The smallest row, by bytes, of all states that this one can become by renaming."""
    return min(renamed(model.layout, row, names) for names in all_renamings(model))


def erased(model: Model, row: bytes) -> bytes:
    """The state with what the declared view erases set to zero."""
    left = bytearray(row)
    evaluated(model.spec.erase, view(model.layout, left), model.constants)
    return bytes(left)


def _orders(model: Model, at: int) -> Iterator[Sequence[int]]:
    symmetry = model.spec.symmetries[at]
    alike = list(members(symmetry.alike(model.constants)))
    for order in permutations(alike):
        names = list(range(getattr(model.constants, symmetry.kind) + 1))
        for old, new in zip(alike, order, strict=True):
            names[old] = new
        yield names


def _rename(layout: Any, row: bytes, at: int, after: bytearray, there: int, names: Names) -> None:
    """Write what stands at row[at:] renamed to after[there:]."""
    part = after[there : there + layout.size] = row[at : at + layout.size]
    if not any(part) or not _kinds_in(layout) & names.keys():
        return  # no node occurs in it: what is not in use is zero, and NONE stays NONE
    match layout:
        case IntegerLayout(kind="node", nodes=kind):
            write(layout, after, there, names[kind][read(layout, row, at, "")], "node")
        case IntegerLayout(nodes=kind):
            before = members(read(layout, row, at, ""))
            write(layout, after, there, as_mask(names[kind][each] for each in before), "nodes")
        case ArrayLayout(item, _, kind):
            moved = dict(enumerate(names.get(kind, ())))
            for k in range(layout.first, layout.end):
                to = there + layout.offset(moved.get(k, k))
                _rename(item, row, at + layout.offset(k), after, to, names)
        case StructLayout():
            for name, part in layout.fields.items():
                offset = layout.offsets[name]
                _rename(part, row, at + offset, after, there + offset, names)
            if layout.kind == "bag":
                _sort(layout, after, there)


@cache
def _kinds_in(layout: Any) -> frozenset[str]:
    """The kinds of nodes that occur in a part of a state, as values or as indices."""
    match layout:
        case IntegerLayout(nodes=kind):
            return frozenset({kind} - {""})
        case ArrayLayout(item, _, kind):
            return _kinds_in(item) | {kind} - {""}
    return frozenset().union(*map(_kinds_in, layout.fields.values()))


def _sort(layout: StructLayout, data: bytearray, at: int) -> None:
    size, items = layout.fields["size"], layout.fields["items"]
    count = read(size, data, at + layout.offsets["size"], "")
    first, width = at + layout.offsets["items"], items.item.size
    found = [bytes(data[k : k + width]) for k in range(first, first + count * width, width)]
    if isinstance(items.item, IntegerLayout):
        found.sort(key=lambda each: read(items.item, each, 0, ""))
    else:
        found.sort()  # records are kept in the order of their bytes
    data[first : first + count * width] = b"".join(found)
