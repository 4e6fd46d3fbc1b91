"""The messages in flight that a state declares; sequence diagrams are drawn from them.

    spec.messages("requests", source="client", dest="server", lost_by=["lose_request"])

says that the bag (or sequence) `requests` holds messages. An end is a field of theirs that holds a
node, or, if they have no such field, the name of somebody of whom there is only one; or a function
of (message, c) that gives the name, as in "replica 2". `label`, a function of the message, says
it in a few words; without one its fields are listed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.spec.layout import Bag, Node, NodeSet, Seq, Struct

End = str | Callable[[Any, Any], str]


@dataclass(frozen=True)
class Channel:
    """Messages of one kind, as `Spec.messages` declares them."""

    path: str
    message: type[Struct]
    source: End
    dest: End
    lost_by: tuple[str, ...] = ()
    lost: str = ""
    label: Callable[[Any], str] | None = None
    where: str = ""

    def node_of(self, end: End) -> Node | None:
        """The kind of node that an end's field holds; None if the end is no such field."""
        found = self.message.field_types.get(end) if isinstance(end, str) else None
        return found if isinstance(found, Node) else None


def channel(state: type[Struct], path: str, source: End, dest: End, **more: Any) -> Channel:
    """Check and make the channel at this path of a state. Raises LabError."""
    declared: Any = state
    for name in path.split("."):
        fields = declared.field_types if isinstance(declared, type) else {}
        if name not in fields:
            known = ", ".join(fields) or "no fields"
            raise LabError(f"messages({path!r}): there is no field {name!r}; there are {known}.")
        declared = fields[name]
    item = declared.item if isinstance(declared, Bag | Seq) else None
    if not (isinstance(item, type) and issubclass(item, Struct)):
        raise LabError(f"messages({path!r}) needs a Bag or Seq of structs at that path.")
    for end in (source, dest):
        found = item.field_types.get(end) if isinstance(end, str) else None
        if found is not None and not isinstance(found, Node):
            held = "a set of nodes" if isinstance(found, NodeSet) else "no node"
            raise LabError(f"messages({path!r}): the field {end!r} holds {held}; name another end.")
    return Channel(path, item, source, dest, **more)


def lifeline(kind: Node, node: int) -> str:
    """How a node is called in diagrams: "replica 2"; "" for no node."""
    noun = kind.noun or kind.count.removesuffix("s").replace("_", " ")
    return f"{noun} {node}" if node else ""
