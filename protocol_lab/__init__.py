"""Declare, step, explore and draw protocols: what every spec in this kit is made with."""

from protocol_lab.system import process

if process.is_command_line():
    process.begin()  # before the imports below, which take a while

from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.language.containers import (
    add,
    add_once,
    append,
    capacity,
    erase,
    find,
    is_in,
    remove_at,
    take,
    truncate,
)
from protocol_lab.language.node_sets import (
    contains,
    is_subset,
    members,
    nodes_up_to,
    only,
    size,
    smallest,
    submasks,
    with_node,
    without_node,
)
from protocol_lab.spec.configurations import Configuration
from protocol_lab.spec.constants import NO_LIMIT, Limits, addition, choice, flag, storage
from protocol_lab.spec.layout import (
    NONE,
    Array,
    Bag,
    Bool,
    Int8,
    Int16,
    Int32,
    Named,
    Node,
    NodeSet,
    Per,
    Seq,
    Struct,
    Where,
)
from protocol_lab.spec.parameters import Member, Range, Sequences, Subset
from protocol_lab.spec.spec import HOLDS, TAKEN, Spec
from protocol_lab.spec.temporal_formulas import (
    NEXT,
    always,
    always_eventually,
    eventually,
    eventually_always,
    leads_to,
)

__all__ = [
    "HOLDS",
    "NEXT",
    "NONE",
    "NO_LIMIT",
    "TAKEN",
    "Array",
    "Bag",
    "Bool",
    "CapacityExceeded",
    "Configuration",
    "Int8",
    "Int16",
    "Int32",
    "LabError",
    "Limits",
    "Member",
    "Named",
    "Node",
    "NodeSet",
    "Per",
    "Range",
    "Seq",
    "Sequences",
    "Spec",
    "Struct",
    "Subset",
    "Where",
    "add",
    "add_once",
    "addition",
    "always",
    "always_eventually",
    "append",
    "capacity",
    "choice",
    "contains",
    "erase",
    "eventually",
    "eventually_always",
    "find",
    "flag",
    "is_in",
    "is_subset",
    "leads_to",
    "members",
    "nodes_up_to",
    "only",
    "remove_at",
    "size",
    "smallest",
    "storage",
    "submasks",
    "take",
    "truncate",
    "with_node",
    "without_node",
]
