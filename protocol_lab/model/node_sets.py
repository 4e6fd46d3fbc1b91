"""Sets of nodes as bitmasks: bit k stands for node k, bit 0 (NONE) is never set.

Plain functions that actions call and that are compiled with them. A negative number is not a set:
functions that would go through its bits forever raise Fault.

A set that is read from a field, chosen as a parameter or made by these functions also understands
`node in nodes`, `len(nodes)` and `for node in nodes`. Uncompiled it is a `Nodes` for that. Compiled
code has numbers only: there `reader.named_values` replaces them with calls of the functions.
"""

from collections.abc import Iterator

from protocol_lab.errors import Fault

IS_A_NUMBER = "this is a number, and not known to be a set of nodes"
"""What is said of `in`, `len` or `for` with a number."""


class Nodes(int):
    """A bitmask that supports `in`, `len` and `for`, as Python's sets do."""

    def __contains__(self, node: int) -> bool:
        return contains(self, node)

    def __len__(self) -> int:
        return size(self)

    def __iter__(self) -> Iterator[int]:
        return members(self)

    def __and__(self, other: int) -> "Nodes":
        return Nodes(int(self) & other)

    def __or__(self, other: int) -> "Nodes":
        return Nodes(int(self) | other)

    def __xor__(self, other: int) -> "Nodes":
        return Nodes(int(self) ^ other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


def as_nodes(mask: int) -> Nodes:
    """A bitmask as a set that can be asked with `in`, `len` and `for`."""
    return Nodes(mask)


def refuse_negative(nodes: int) -> None:
    """Raise Fault for a negative number; compiled code has its own version, without a message."""
    if nodes < 0:
        raise Fault(f"{nodes} is not a set of nodes, because it is negative")


def contains(nodes: int, node: int) -> bool:
    """Is the node in the set? NONE is in no set."""
    return (nodes >> node) & 1 == 1


def with_node(nodes: int, node: int) -> Nodes:
    """The set and this node."""
    return as_nodes(nodes | (1 << node))


def without_node(nodes: int, node: int) -> Nodes:
    """The set without this node."""
    return as_nodes(nodes & ~(1 << node))


def only(node: int) -> Nodes:
    """The set of this one node."""
    return as_nodes(1 << node)


def nodes_up_to(count: int) -> Nodes:
    """The set {1, ..., count}."""
    return as_nodes((1 << (count + 1)) - 2)


def size(nodes: int) -> int:
    """How many nodes are in the set."""
    refuse_negative(nodes)
    count = 0
    while nodes != 0:
        nodes &= nodes - 1
        count += 1
    return count


def is_subset(nodes: int, of: int) -> bool:
    """Is every node of the first set in the second?"""
    return nodes & ~of == 0


def smallest(nodes: int) -> int:
    """The smallest node of the set; NONE if it is empty."""
    if nodes == 0:
        return 0
    node = 0
    while (nodes >> node) & 1 == 0:
        node += 1
    return node


def members(nodes: int) -> Iterator[int]:
    """The nodes of the set, smallest first."""
    refuse_negative(nodes)
    node = 0
    while nodes != 0:
        if nodes & 1 == 1:
            yield node
        nodes >>= 1
        node += 1


def subsets(nodes: int) -> Iterator[Nodes]:
    """Every subset of the set, the empty one first."""
    refuse_negative(nodes)
    chosen = 0
    while chosen != nodes:
        yield as_nodes(chosen)
        chosen = (chosen - nodes) & nodes
    yield as_nodes(nodes)


def as_set(nodes: int) -> set[int]:
    """The bitmask as a Python set, for printing and tests (not for actions)."""
    return set(members(nodes))


def as_mask(nodes) -> int:
    """A Python collection of nodes as the bitmask (not for actions)."""
    return sum(1 << node for node in set(nodes))


COMPILED_APART = (as_nodes, members, refuse_negative)
"""The functions of which compiled code has versions of its own (`compiler.operations`)."""
