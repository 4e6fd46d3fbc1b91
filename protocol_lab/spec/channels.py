"""The messages in flight that a state declares; sequence diagrams are drawn from them.

    spec.messages("requests", source="client", dest="server", lost_by=["lose_request"])

says that the bag (or sequence) `requests` holds messages. Each end, source and dest, is a field of
the message that holds a node; or the name of a participant of whom there is only one; or a function
of (message, c) that gives the name, as in "replica 2". `label`, a function of the message,
describes it in a few words; without one its fields are listed.

    network: Per(Process, Per(Process, Seq(Message, "slots")))
    spec.messages("network")

declares a channel for every pair of nodes. There an end may also be the number of an index; by
default the first index is the source and the second the destination. An inbox for every node,
`inbox: Per(Process, Bag(Message, 4))`, is declared with `source="sender", dest=0`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.spec.layout import Bag, Node, NodeSet, Per, Seq, Struct

End = str | int | Callable[[Any, Any], str]


@dataclass(frozen=True)
class Channel:
    """Messages of one kind, as `Spec.messages` declares them.

    `nodes` are the kinds of nodes that index the containers. `message` is the type of the items,
    such as a Struct.
    """

    path: str
    nodes: tuple[Node, ...]
    message: Any
    source: End
    dest: End
    lost_by: tuple[str, ...] = ()
    lost: str = ""
    label: Callable[[Any], str] | None = None

    def node_of(self, end: End) -> Node | None:
        """The kind of node in an end's field or index; None if the end is given by its name."""
        if isinstance(end, int):
            return self.nodes[end]
        found = _fields(self.message).get(end) if isinstance(end, str) else None
        return found if isinstance(found, Node) else None


def channel(state: type[Struct], path: str, source: End, dest: End, **more: Any) -> Channel:
    """Check and make the channel at this path of a state. Raises LabError."""
    declared: Any = state
    for name in path.split("."):
        fields = _fields(declared)
        if name not in fields:
            known = ", ".join(fields) or "no fields"
            raise LabError(f"messages({path!r}): there is no field {name!r}; there are {known}.")
        declared = fields[name]
    nodes = []
    while isinstance(declared, Per):
        nodes.append(declared.node)
        declared = declared.item
    if not isinstance(declared, Bag | Seq):
        raise LabError(
            f"messages({path!r}) needs a Bag or Seq at that path, or one for every node or pair of"
            " nodes: Per(Node, Per(Node, Seq(...)))."
        )
    made = Channel(path, tuple(nodes), declared.item, source, dest, **more)
    for name, end in (("source", source), ("dest", dest)):
        _check_end(made, name, end)
    return made


def _check_end(made: Channel, name: str, end: End) -> None:
    if isinstance(end, int) and end not in range(len(made.nodes)):
        raise LabError(
            f"messages({made.path!r}): say who the {name} is: {name}= with a field that holds a"
            " node, or a name."
        )
    found = _fields(made.message).get(end) if isinstance(end, str) else None
    if found is not None and not isinstance(found, Node):
        held = "a set of nodes" if isinstance(found, NodeSet) else "no node"
        raise LabError(
            f"messages({made.path!r}): the field {end!r} holds {held}; name another end."
        )


def _fields(declared: Any) -> dict[str, Any]:
    is_struct = isinstance(declared, type) and issubclass(declared, Struct)
    return declared.field_types if is_struct else {}


def lifeline(kind: Node, node: int) -> str:
    """The name of a node in diagrams: "replica 2"; "" for no node."""
    named = kind.count.removesuffix("s").replace("_", " ") if kind.count.isidentifier() else "node"
    noun = kind.noun or named
    return f"{noun} {node}" if node else ""
