"""Clients: what each knows of the ledger, and whether it wrote it or recovers it.

The first client to act creates the ledger; every other client may recover it. A client does one or
the other, once. So fenced bookies accept the adds of exactly those clients that have begun a
recovery.
"""

from bookkeeper_spec.model.ledger import Bookie, EntryId, Fragment, PendingAddOp, Status
from protocol_lab import Bag, Int8, Node, NodeSet, Per, Seq, Struct

Client = Node("clients")

NOT_STARTED, FENCING = 0, 1
"""The first phases of a recovery."""

READ_WRITE = 2
"""The phase of recovery after FENCING."""

NO_ENTRY = -1
"""The last recoverable entry while it is not known; 0 means that no entry is recoverable."""


class Writer(Struct):
    """What a client knows of the ledger, whether it created it or recovers it."""

    meta_version: Int8  # of the metadata, when it last read or wrote them; 0 for none
    status: Status
    curr_fragment: Fragment
    pending_add_ops: Bag(PendingAddOp, "send_limit")
    lap: Int8  # last add pushed
    lac: Int8  # last add confirmed: entries up to it are acknowledged to the caller
    confirmed: Per(EntryId, NodeSet(Bookie))  # who has confirmed each entry
    fenced: NodeSet(Bookie)  # who has confirmed to a recoverer that it is fenced
    recovery_phase: Int8


class KnownLedger(Writer):
    """What every client has of the ledger."""

    fragments: Seq(Fragment, "send_limit + 1")  # a recoverer's may be ahead of the metadata's


def recovers(s, client) -> bool:
    """Has the client begun to recover the ledger, rather than created it?"""
    return s.clients[client].recovery_phase != NOT_STARTED


# --- Pending adds --------------------------------------------------------------------------------


def position_of_op(writer, entry) -> int:
    """Where the pending add of an entry stands; their number if the entry is not pending."""
    position, ops = 0, writer.pending_add_ops
    while position < ops.size and ops.items[position].entry.id != entry:
        position += 1
    return position


def needs_resend(op, fragment) -> bool:
    """Was the entry sent before the fragment got its ensemble?"""
    return op.fragment_id != fragment.id or op.ensemble != fragment.ensemble


def has_pending_resends(writer) -> bool:
    """Are there pending adds that were not sent to the current ensemble yet?"""
    return any(
        needs_resend(writer.pending_add_ops.items[k], writer.curr_fragment)
        for k in range(writer.pending_add_ops.size)
    )
