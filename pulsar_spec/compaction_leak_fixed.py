"""A fix for the leak: the cursor names a ledger before it is written.

What it models: `pulsar.compaction` with a cursor that has one more field, `ledgers`: all compacted
ledgers that may be on disk. Before the compactor writes a ledger it puts its id there. Whoever
reads the cursor after a crash deletes those that are in `ledgers` and are not the context's. So is
the old ledger deleted at the end of a compaction.

What holds: compacted_ledger_leak, for any number of crashes, and even
between_compactions_one_ledger_exists: while the compactor rests, there is the cursor's ledger and
no other. What breaks is the other bug, duplicate_null_key_message.

What it costs: the cursor is written twice in each compaction instead of once; a new broker deletes
up to one ledger before it serves the topic. Without the first of the two writes, it would have to
look for leftovers among all ledgers of the cluster by their metadata.

Left out: what `pulsar.compaction` leaves out, and a crash in the middle of the cleaning up (the
next broker would do it again: deleting a ledger that is gone changes nothing).

Source: compaction.tla by thetumbled, https://github.com/thetumbled/pulsar-tlaplus; the fix is ours.
"""

from protocol_lab import *
from pulsar_spec import compaction, model
from pulsar_spec.compaction import compaction_spec, forget_phase_one, take_over, write_ledger
from pulsar_spec.draw.compaction import draw_compaction_with_named_ledgers
from pulsar_spec.model import *
from pulsar_spec.properties import between_compactions_one_ledger_exists, declare_properties


class Cursor(model.Cursor):
    """The cursor on disk, with all compacted ledgers that may be there."""

    ledgers: NodeSet(LedgerId)


class State(model.State):
    """As in `pulsar.compaction`, but for the cursor."""

    cursor: Cursor


def delete_unused_ledgers(s: State) -> None:
    """Delete all that the cursor names, but the ledger of its context."""
    for ledger in without_node(s.cursor.ledgers, s.cursor.compacted_topic_context):
        s.compacted_ledgers[ledger] = Ledger()


def compactor_phase_two_register_ledger(s: State, c: Constants):
    """The cursor is told which ledger will be written next. It forgets those that are gone."""
    new = max_compacted_ledger_id(s, c) + 1
    if s.compactor_state != "compactor_in_phase_two_write":
        return "the compactor is not about to write a ledger"
    if new > c.compaction_times_limit:
        return "compaction_times_limit ledgers have been written"
    if new in s.cursor.ledgers:
        return "the cursor names the new ledger already"
    s.cursor.ledgers = only(new)
    if s.cursor.compacted_topic_context > 0:
        s.cursor.ledgers = with_node(s.cursor.ledgers, s.cursor.compacted_topic_context)
    return TAKEN


def compactor_phase_two_write_registered(s: State, c: Constants):
    """The ledger is written as in `pulsar.compaction`, once the cursor names it."""
    if s.compactor_state != "compactor_in_phase_two_write":
        return "the compactor is not about to write a ledger"
    new = max_compacted_ledger_id(s, c) + 1
    if new not in s.cursor.ledgers:
        return "the cursor does not name the new ledger yet"
    write_ledger(s, c, new)
    return TAKEN


def compactor_phase_two_delete_unused_ledgers(s: State, c: Constants):
    """All ledgers but the new one are deleted, and the compactor begins again."""
    if s.compactor_state != "compactor_in_phase_two_delete_ledger":
        return "the compactor is not about to delete a ledger"
    delete_unused_ledgers(s)
    forget_phase_one(s)
    return TAKEN


def broker_crash_and_clean_up(s: State, c: Constants):
    """The broker crashes; another one reads the cursor and deletes the ledgers that will never be
    used."""
    if s.crash_times >= c.max_crash_times:
        return "the broker has crashed max_crash_times times"
    take_over(s)
    delete_unused_ledgers(s)
    return TAKEN


spec = compaction_spec(
    "compaction_leak_fixed",
    __doc__,
    state=State,
    draw=draw_compaction_with_named_ledgers,
    configurations=(
        Configuration("default", "three messages and one crash", "166,871 distinct states"),
    ),
)
spec.action(compaction.producer)
spec.action(compaction.compactor_phase_one)
spec.action(compactor_phase_two_register_ledger)
spec.action(compactor_phase_two_write_registered)
spec.action(compaction.compactor_phase_two_update_context)
spec.action(compaction.compactor_phase_two_update_horizon)
spec.action(compaction.compactor_phase_two_persist_cusror)
spec.action(compactor_phase_two_delete_unused_ledgers)
spec.action(broker_crash_and_clean_up)
spec.action(compaction.consumer)
spec.action(compaction.terminating)
spec.action(compaction.consumer_connects)
spec.action(compaction.consumer_receives)
spec.action(compaction.consumer_finishes)
declare_properties(spec)
spec.invariant(between_compactions_one_ledger_exists)
