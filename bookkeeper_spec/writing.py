"""How a client adds entries, and replaces bookies that fail: the same for writers and recoverers.

The functions take the client's own record (`writer`) and the add messages between it and the
bookies (`messages`), and the stamp of what it sends (see `messages`); who may do so and when stands
in the protocols' modules. Those that may refuse say why, as an action does, before they change
anything.
"""

from bookkeeper_spec.constants import SMALLEST
from bookkeeper_spec.ledger import (
    Bookie,
    Entry,
    EntryId,
    Fragment,
    PendingAddOp,
    Status,
    count_ensembles,
    is_valid_ensemble,
    last_fragment,
    update_fragments,
)
from bookkeeper_spec.messages import (
    count_lost_adds,
    handle,
    is_earliest_answer,
    send,
    was_add_sent,
    were_adds_sent,
)
from protocol_lab import (
    TAKEN,
    Bag,
    Int8,
    NodeSet,
    Per,
    Struct,
    add,
    contains,
    size,
    take,
    with_node,
)


class Writer(Struct):
    """What a client knows of the ledger, be it the creator or a recoverer."""

    meta_version: Int8  # of the metadata, when it last read or wrote them; 0 for none
    status: Status
    curr_fragment: Fragment
    pending_add_ops: Bag(PendingAddOp, "send_limit")
    lap: Int8  # last add pushed
    lac: Int8  # last add confirmed: so far the entries are acknowledged to the caller
    confirmed: Per(EntryId, NodeSet(Bookie))  # who has confirmed each entry
    fenced: NodeSet(Bookie)  # who has confirmed to a recoverer that it is fenced
    recovery_phase: Int8


# --- Sending ---------------------------------------------------------------------------------


def send_adds(adds, data, stamp, bookies, lost) -> None:
    """Ask these bookies to add an entry, some in vain."""
    if bookies != 0:
        adds.data = data
        send(adds.requests[stamp], bookies, lost)


def add_pending_op(writer, entry, data) -> None:
    """Remember that an entry is to be confirmed by the current ensemble."""
    add(
        writer.pending_add_ops,
        PendingAddOp(
            entry=Entry(id=entry, data=data),
            fragment_id=writer.curr_fragment.id,
            ensemble=writer.curr_fragment.ensemble,
        ),
    )


def send_next_entry(c, writer, messages, data, stamp, lost) -> str:
    """Send the next entry, with these data, to every bookie of the current ensemble."""
    entry, ensemble = writer.lap + 1, writer.curr_fragment.ensemble
    if entry > c.send_limit:
        return "the client has sent everything that it has to send"
    if were_adds_sent(messages.of[entry - 1], stamp, ensemble):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], data, stamp, ensemble, lost)
    writer.lap = entry
    add_pending_op(writer, entry, data)
    return TAKEN


def next_to_write_back(c, writer, messages) -> int:
    """The lowest entry that a recoverer has read and not yet written back; 0 if there is none."""
    for position in range(writer.pending_add_ops.size):
        entry = writer.pending_add_ops.items[position].entry.id
        if not was_add_sent(c, messages.of[entry - 1]):
            return entry
    return 0


def write_back_next_entry(c, writer, messages, stamp, lost) -> str:
    """Send an entry that was read to every bookie of the current ensemble."""
    entry = next_to_write_back(c, writer, messages)
    if entry == 0:
        return "every entry that was read was written back"
    data = writer.pending_add_ops.items[position_of_op(writer, entry)].entry.data
    ensemble = writer.curr_fragment.ensemble
    send_adds(messages.of[entry - 1], data, stamp, ensemble, lost)
    return TAKEN


# --- Confirming ------------------------------------------------------------------------------


def note_confirmation(writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry."""
    mail = messages.of[entry - 1].confirmed
    if not contains(mail.waiting, bookie):
        return "no confirmation of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if not contains(writer.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    handle(mail, bookie)
    writer.confirmed[entry] = with_node(writer.confirmed[entry], bookie)
    return TAKEN


def confirmed_from(c, writer, known, quorum) -> int:
    """The last entry up to which, from the one after `known` on, so many bookies confirmed all."""
    entry = known
    while entry < c.send_limit and size(writer.confirmed[entry + 1]) >= quorum:
        entry += 1
    return entry


def max_contiguous_confirmed_entry(c, writer, known, quorum) -> int:
    """The last entry up to which so many bookies have confirmed all.

    The original counts from entry 1, and a recoverer knows of no confirmation of entries that were
    before its LAC. So a recoverer that began at a LAC of 1 or more and wrote an entry back waits
    for ever. BookKeeper counts from what is known already: so does `count_from_lac`.
    """
    return confirmed_from(c, writer, known if c.count_from_lac else 0, quorum)


def receive_confirmation(c, writer, messages, bookie, entry) -> str:
    """Note that a bookie has stored an entry; raise the LAC, and drop what is done with."""
    reason = note_confirmation(writer, messages, bookie, entry)
    if len(reason) != 0:
        return reason
    reached = max_contiguous_confirmed_entry(c, writer, writer.lac, c.ack_quorum)
    writer.lac = max(writer.lac, reached)
    drop_pending_ops(writer, reached)
    return TAKEN


def drop_pending_ops(writer, reached) -> None:
    """Forget the pending adds up to an entry: enough bookies have confirmed them."""
    ops = writer.pending_add_ops
    position = 0
    while position < ops.size:
        if ops.items[position].entry.id <= reached:
            take(ops, ops.items[position])
        else:
            position += 1


# --- Replacing bookies -----------------------------------------------------------------------


def needs_resend(op, fragment) -> bool:
    """Was the entry sent before the fragment got its ensemble?"""
    return op.fragment_id != fragment.id or op.ensemble != fragment.ensemble


def has_pending_resends(writer) -> bool:
    """Are there pending adds to be sent to bookies of a new ensemble first?"""
    return any(
        needs_resend(writer.pending_add_ops.items[k], writer.curr_fragment)
        for k in range(writer.pending_add_ops.size)
    )


def why_not_replace(s, writer, failed, ensemble) -> str:
    """Why a client can't take this ensemble instead of its own one; "" if it can."""
    good = writer.curr_fragment.ensemble & ~failed
    if has_pending_resends(writer):
        return "adds are to be sent to the bookies of the new ensemble first"
    if not is_valid_ensemble(s, ensemble, good, failed):
        return "this is no ensemble of all good bookies and others that no fragment has"
    return TAKEN


def begin_fragment(c, writer, fragments, first_entry_id, failed, ensemble) -> None:
    """Go on with another ensemble from an entry on.

    What the failed bookies have confirmed of these entries counts no more: the new ensemble does
    not have them.
    """
    update_fragments(fragments, writer.curr_fragment, first_entry_id, ensemble)
    writer.curr_fragment = last_fragment(fragments)
    for entry in range(first_entry_id, c.send_limit + 1):
        writer.confirmed[entry] &= ~failed


def position_of_op(writer, entry) -> int:
    """Where the pending add of an entry stands; their number if the entry is not pending."""
    position, ops = 0, writer.pending_add_ops
    while position < ops.size and ops.items[position].entry.id != entry:
        position += 1
    return position


def new_bookies_for(writer, entry) -> int:
    """The bookies of the current ensemble to which a pending add was not sent."""
    position = position_of_op(writer, entry)
    if position == writer.pending_add_ops.size:
        return 0
    return writer.curr_fragment.ensemble & ~writer.pending_add_ops.items[position].ensemble


def resend_pending_op(writer, messages, entry, stamp, lost) -> str:
    """Send a pending add to those bookies of the new ensemble that were not in its own."""
    position, ops = position_of_op(writer, entry), writer.pending_add_ops
    if position == ops.size:
        return "the entry is not pending"
    op, fragment = ops.items[position], writer.curr_fragment
    if not needs_resend(op, fragment):
        return "the entry was sent to the current ensemble"
    if any(
        ops.items[k].fragment_id == op.fragment_id and ops.items[k].ensemble == op.ensemble
        for k in range(position)
    ):
        return "an earlier entry that went to the same ensemble comes first"
    bookies = new_bookies_for(writer, entry)
    if were_adds_sent(messages.of[entry - 1], stamp, bookies):
        return "this very request was sent before"
    send_adds(messages.of[entry - 1], op.entry.data, stamp, bookies, lost)
    sent = PendingAddOp(entry=op.entry, fragment_id=fragment.id, ensemble=fragment.ensemble)
    take(ops, op)
    add(ops, sent)
    return TAKEN


# --- How often TLC generates a step ----------------------------------------------------------


def resend_count(writer, entry) -> int:
    """The original says "another fragment, or another ensemble", and both may be true."""
    op = writer.pending_add_ops.items[position_of_op(writer, entry)]
    same_ensemble = op.ensemble == writer.curr_fragment.ensemble
    return 1 if same_ensemble or op.fragment_id == writer.curr_fragment.id else 2


def change_count(s, c, writer, messages, failed) -> int:
    """The original says that some message to or from each failed bookie is lost, and that there
    is some ensemble: as often as there are such messages and ensembles.
    """
    count = 1
    for bookie in range(1, c.bookies + 1):
        if contains(failed, bookie):
            count *= count_lost_adds(c, messages, bookie)
    if c.ensemble_choice == SMALLEST:
        good = writer.curr_fragment.ensemble & ~failed
        count *= count_ensembles(s, c, good, failed)
    return count
