"""Sets of nodes as bitmasks: bit k stands for node k, bit 0 (NONE) is never set.

Plain functions that actions call and that are compiled with them. A negative number is not a set:
functions that would go through its bits forever raise Fault.
"""

from protocol_lab.errors import Fault


def refuse_negative(nodes: int) -> None:
    """Raise Fault for a negative number; compiled code has its own version, without a message."""
    if nodes < 0:
        raise Fault(f"{nodes} is not a set of nodes, because it is negative")


COMPILED_APART = (refuse_negative,)
"""The functions that have compiled versions of their own (`compiler.operations`)."""


def contains(nodes: int, node: int) -> bool:
    """Is the node in the set? NONE is in no set."""
    return (nodes >> node) & 1 == 1


def with_node(nodes: int, node: int) -> int:
    """The set and this node."""
    return nodes | (1 << node)


def without_node(nodes: int, node: int) -> int:
    """The set without this node."""
    return nodes & ~(1 << node)


def only(node: int) -> int:
    """The set of this one node."""
    return 1 << node


def nodes_up_to(count: int) -> int:
    """The set {1, ..., count}."""
    return (1 << (count + 1)) - 2


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


def members(nodes: int):
    """The nodes of the set, smallest first."""
    refuse_negative(nodes)
    node = 0
    while nodes != 0:
        if nodes & 1 == 1:
            yield node
        nodes >>= 1
        node += 1


def submasks(nodes: int):
    """Every subset of the set, the empty one first."""
    refuse_negative(nodes)
    chosen = 0
    while chosen != nodes:
        yield chosen
        chosen = (chosen - nodes) & nodes
    yield nodes


def as_set(nodes: int) -> set[int]:
    """The bitmask as a Python set, for printing and tests (not for actions)."""
    return set(members(nodes))


def as_mask(nodes) -> int:
    """A Python collection of nodes as the bitmask (not for actions)."""
    return sum(1 << node for node in set(nodes))
