"""The model of BookKeeper 4.13: one writer, one recovery, and the two defects of that version.

What it models: the writer w1 creates a ledger, adds entries, replaces bookies that fail, and may
close the ledger at any time. A second client w2 may recover it, once: it sets the status to
IN_RECOVERY, fences the bookies of the last fragment and asks for their LACs, reads entry after
entry from there on until one does not exist, writes all of them back, and closes the ledger at the
last one. w1 need not know: that is what fencing is for.

What breaks, defect 1: no_divergence_between_writer_and_meta_data. Fencing is enough once no ack
quorum is left unfenced, but an entry that some bookies have confirmed already needs fewer than
that. If w2 hears "no such entry" from a bookie that is not fenced, that bookie may store the entry
afterwards and complete the ack quorum: w1 acknowledges an entry that the closed ledger does not
have. 16 states with 2 bookies and quorums of 2, with or without a lost message. With recovery
reads that fence as well (`recovery_reads_fence`) it holds.

What breaks, defect 2: only_valid_fragments, if `lac_from_fragment` is off. A bookie learns
that an entry is confirmed from the next add only, and a bookie that was never written to knows
nothing: so w2 may start long before the last fragment. If it then has to replace a bookie, the new
fragment would begin before the last one. The mended protocol starts no earlier than the last
fragment, since everything before it is confirmed.

What would break: all_committed_entries_reach_ack_quorum, if w1's close overrides the recovery
(`close_overrides_recovery`, off in the original): 20 steps with a write quorum of 2 and an ack
quorum of 1, since w2 writes its new ensemble to the metadata at once. BookKeeper's writer does
override a recovery; since 4.9.0 a recovery keeps its ensembles to itself.

To read: `v4_13.model`, `v4_13.actions` and `v4_13.properties`; what they share with
`bookkeeper.protocol` is in `model`, `writing`, `recovery` and `properties`.

Quirks of the original, kept as they are: a bookie that stores nothing can answer only one read of
a run, because its answer does not tell which entry was asked for, and nothing is sent twice. Reads
that timed out count as answered only while the answer in hand is a positive one. After a failed
attempt to close, w1 goes on as if the ledger were open. w2's LAC may never rise (see
`count_from_lac`).

Left out: reads by others, several ledgers, bookies that lose data, a recovery that gives up.

Source: BookKeeperProtocol_v4_13.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec import properties as shared
from bookkeeper_spec.draw.choices import TWO_WRITERS
from bookkeeper_spec.draw.events import v4_13_events, v4_13_lifelines
from bookkeeper_spec.draw.ledger import draw_v4_13
from bookkeeper_spec.v4_13 import actions, properties
from bookkeeper_spec.v4_13.model import *
from protocol_lab import *

spec = Spec(
    "bookkeeper.v4_13",
    State,
    Constants,
    __doc__,
    draw=draw_v4_13,
    original="BookKeeperProtocol_v4_13",
    tlc="bookkeeper_spec.tlc",
    lifelines=(v4_13_lifelines,),
    events=v4_13_events,
    choices=TWO_WRITERS,
    configurations=CONFIGURATIONS,
)
spec.symmetric(Bookie, among=alike)
spec.init(init)

spec.action(actions.bookie_sends_add_confirmed_response)
spec.action(actions.bookie_sends_add_fenced_response)
spec.action(actions.bookie_sends_fencing_read_lac_response)
spec.action(actions.bookie_sends_read_response)
spec.action(actions.w1_creates_ledger)
spec.action(actions.w1_sends_add_entry_requests)
spec.action(actions.w1_receives_add_confirmed_response)
spec.action(actions.w1_receives_add_fenced_response)
spec.action(actions.w1_changes_ensemble)
spec.action(actions.w1_tries_invalid_ensemble_change)
spec.action(actions.w1_sends_pending_add_op)
spec.action(actions.w1_close_ledger_success)
spec.action(actions.w1_close_ledger_fail)
spec.action(actions.w2_place_in_recovery)
spec.action(actions.w2_receives_fencing_read_lac_response)
spec.action(actions.w2_sends_read_requests)
spec.action(actions.w2_receives_non_final_read)
spec.action(actions.w2_completes_read_successfully)
spec.action(actions.w2_completes_read_with_no_such_entry)
spec.action(actions.w2_writes_back_entry)
spec.action(actions.w2_receives_add_confirmed_response)
spec.action(actions.w2_changes_ensemble)
spec.action(actions.w2_tries_invalid_ensemble_change)
spec.action(actions.w2_sends_pending_add_op)
spec.action(actions.w2_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(properties.only_valid_fragments)
spec.invariant(shared.no_out_of_order_entries)
spec.invariant(properties.no_divergence_between_writer_and_meta_data)
spec.invariant(shared.all_committed_entries_reach_ack_quorum)
spec.invariant(properties.no_stuck_lac, by_default=False)
spec.constraint(properties.max_lost_messages)
spec.situation(properties.recovery_closes_the_ledger, expected=True)
spec.property(properties.liveness)
spec.weakly_fair(NEXT)

spec.situation(properties.w2_reads_while_a_bookie_is_not_fenced)
spec.situation(properties.w1_has_acknowledged_what_w2_has_not_read)
spec.situation(properties.a_stored_entry_is_cut_off)
