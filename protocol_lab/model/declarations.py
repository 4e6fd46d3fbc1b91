"""What a spec registers: functions under their names, messages, a mapping, nodes that are alike.

# Messages
The messages in flight that a state declares; sequence diagrams are drawn from them.

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

# Refinement
Refinement mappings: each state of a spec as a state of a more abstract spec.

    consensus = Spec("consensus", Chosen, Values)          # what Paxos is for: a value is chosen

    def chosen_values(s, c, a):
        '''A value is chosen if a quorum has voted for it in one ballot.'''
        for v in range(1, c.values + 1):
            if is_chosen(s, c, v):
                a.chosen = with_node(a.chosen, v)

    paxos.refines(consensus, chosen_values)

A mapping fills the abstract state `a`, whose fields all begin as 0. Every initial state has to map
to an initial state, and every step to a step of the abstract spec, or to none. That is checked by
`liveness.refinement`.

# Symmetry
Declares which nodes are interchangeable, for symmetry reduction.

    spec.symmetric(Replica)                       all replicas are alike
    spec.symmetric(Replica, among=followers)      those are, in the bitmask followers(c)

Alike means: if nodes are renamed throughout a state, the same steps are possible in it under the
new names, and the same properties hold. So of all states that differ by a renaming it is enough to
search one (symmetry reduction; Ip and Dill, "Better Verification Through Symmetry", 1996). A
protocol that picks "the smallest replica" anywhere does not treat its replicas alike.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.layout import Bag, Node, NodeSet, Per, Seq, Struct, is_struct
from protocol_lab.model.node_sets import nodes_up_to


class Declared:
    """A function that is registered with a spec, under its name."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def doc(self) -> str:
        return (self.function.__doc__ or "").strip()


def expect_plain(function: Any) -> None:
    """Raise LabError unless it is a plain function, whose code can be read and compiled."""
    name = getattr(function, "__name__", repr(function))
    if not inspect.isfunction(function):
        raise LabError(
            f"{name} is a {type(function).__name__} and no plain function: let no other decorator"
            " stand below that of the spec."
        )
    for kind, found in (
        ("async", inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)),
        ("a generator, with yield", inspect.isgeneratorfunction(function)),
    ):
        if found:
            raise LabError(f"{name} is {kind}: write a plain function, with return.")


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
    return declared.field_types if is_struct(declared) else {}


def lifeline(kind: Node, node: int) -> str:
    """The name of a node in diagrams: "replica 2"; "" for no node."""
    named = kind.count.removesuffix("s").replace("_", " ") if kind.count.isidentifier() else "node"
    noun = kind.noun or named
    return f"{noun} {node}" if node else ""


@dataclass(frozen=True)
class Refinement(Declared):
    """A claim that a spec refines `other`, a Spec; the function is its mapping (s, c, a).

    constants: a function of c that gives the constants of the other spec; None for those that both
    have under one name.
    """

    function: Callable[..., None]
    other: Any
    constants: Callable[[Any], dict[str, Any]] | None = None

    @property
    def name(self) -> str:
        return f"refines_{self.other.name.rpartition('.')[2]}"

    def abstract(self, constants: Any) -> Any:
        """The abstract model with the constants that belong to these. Raises LabError."""
        if self.constants is not None:
            return self.other.bind(**self.constants(constants))
        shared = set(self.other.constants._fields) & set(constants._fields)
        return self.other.bind(**{name: getattr(constants, name) for name in shared})


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


# --- Claims ------------------------------------------------------------------------------------

# What somebody is about to conclude from the nodes' answers, and what each node has said:
#
#     @spec.claim("w2 may leave e1 out", needs="ack_quorum", excludes="is_written")
#     def leaves_out(s, c, bookie):
#         return yes("has no e1") if bookie in s.w2.no_such_entry else NOTHING
#
# A claim is made once as many nodes as it needs have said yes. They are plain functions of a state,
# which only the board calls (`explain.tally`): they may use all of Python.

YES, NO, ON_ITS_WAY, NO_LONGER, SILENT = "yes", "no", "on its way", "can no longer", ""


@dataclass(frozen=True)
class Cell:
    """What a node has said about a claim, or may still say, and the word for it."""

    kind: str
    word: str = ""


NOTHING = Cell(SILENT)


def yes(word: str) -> Cell:
    """The node has said yes."""
    return Cell(YES, word)


def no(word: str) -> Cell:
    """The node has said no."""
    return Cell(NO, word)


def on_its_way(word: str) -> Cell:
    """A question to the node, or its answer, is under way."""
    return Cell(ON_ITS_WAY, word)


def no_longer(word: str) -> Cell:
    """The node can't say yes any more."""
    return Cell(NO_LONGER, word)


@dataclass(frozen=True)
class Claim(Declared):
    """A claim: a function (s, c, node) that returns a Cell.

    needs: how many nodes have to say yes, an expression over the constants, or a function of (s,
    c). excludes: the name of a claim to which no node may say yes as well. meets: the name of one
    which may not be made, too, by other nodes alone.
    """

    function: Callable[..., Cell]
    title: str
    needs: str | Callable[..., int]
    excludes: str = ""
    meets: str = ""

    def goal(self, s: Any, c: Any) -> int:
        """How many nodes have to say yes."""
        if callable(self.needs):
            return self.needs(s, c)
        return eval(self.needs, {"__builtins__": {}}, c._asdict())
