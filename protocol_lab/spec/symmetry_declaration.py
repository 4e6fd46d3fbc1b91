"""Declares which nodes are interchangeable, for symmetry reduction.

    spec.symmetric(Replica)                       all replicas are alike
    spec.symmetric(Replica, among=followers)      those are, in the bitmask followers(c)

Alike means: if nodes are renamed throughout a state, the same steps are possible in it under the
new names, and the same properties hold. So of all states that differ by a renaming it is enough to
search one (symmetry reduction; Ip and Dill, "Better Verification Through Symmetry", 1996). A
protocol that picks "the smallest replica" anywhere does not treat its replicas alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.language.node_sets import nodes_up_to
from protocol_lab.spec.layout import Node


@dataclass(frozen=True)
class Symmetry:
    """Nodes of one kind that are alike; `among`, a function of the constants, says which."""

    node: Node
    among: Callable[[Any], int] | None = None

    @property
    def kind(self) -> str:
        """The constant that counts the nodes, as layouts name the kind."""
        return self.node.count

    def alike(self, constants: Any) -> int:
        """The bitmask of the nodes that may change places."""
        every = nodes_up_to(self.node.number(constants))
        return every if self.among is None else self.among(constants) & every
