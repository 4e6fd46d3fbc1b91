"""BookKeeper as released in 4.13: one writer, one recovery, and the two defects of that version.

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

To read: `model`, then the actions below in the modules of `v4_13.actions` that have them (what they
share with `bookkeeper.protocol` is in `bookkeeper_spec.actions`), then `properties` and `liveness`.

Quirks of the original, kept as they are: a bookie that stores nothing can answer only one read of
a run, because its answer does not tell which entry was asked for, and nothing is sent twice. Reads
that timed out count as answered only while the answer in hand is a positive one. After a failed
attempt to close, w1 goes on as if the ledger were open. See also `count_from_lac`.

Left out: reads by others, several ledgers, bookies that lose data, a recovery that gives up.

Source: BookKeeperProtocol_v4_13.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec import properties as shared
from bookkeeper_spec.draw.events import v4_13_events, v4_13_lifelines
from bookkeeper_spec.draw.ledger import draw_v4_13
from bookkeeper_spec.model.ledger import Bookie, alike
from bookkeeper_spec.tlc.variables import OF_V4_13
from bookkeeper_spec.v4_13 import bounds, liveness, multiplicity, properties, situations
from bookkeeper_spec.v4_13.actions import bookies, recovery, replacing, writer
from bookkeeper_spec.v4_13.model import CONFIGURATIONS, Constants, State, init
from protocol_lab import NEXT, Spec

spec = Spec(
    "bookkeeper.v4_13",
    State,
    Constants,
    __doc__,
    draw=draw_v4_13,
    original="BookKeeperProtocol_v4_13",
    printed=OF_V4_13,
    lifelines=(v4_13_lifelines,),
    events=v4_13_events,
    configurations=CONFIGURATIONS,
)
spec.symmetric(Bookie, among=alike)
spec.init(init)

spec.action(bookies.bookie_sends_add_confirmed_response, multiplicity=multiplicity.of_add)
spec.action(bookies.bookie_sends_add_fenced_response)
spec.action(bookies.bookie_sends_fencing_read_lac_response)
spec.action(bookies.bookie_sends_read_response)
spec.action(writer.w1_creates_ledger)
spec.action(writer.w1_sends_add_entry_requests)
spec.action(writer.w1_receives_add_confirmed_response)
spec.action(writer.w1_receives_add_fenced_response)
spec.action(replacing.w1_changes_ensemble, multiplicity=multiplicity.of_w1_ensemble_change)
spec.action(
    replacing.w1_tries_invalid_ensemble_change, multiplicity=multiplicity.of_w1_ensemble_change
)
spec.action(replacing.w1_sends_pending_add_op, multiplicity=multiplicity.of_w1_resend)
spec.action(writer.w1_close_ledger_success)
spec.action(writer.w1_close_ledger_fail)
spec.action(recovery.w2_place_in_recovery)
spec.action(recovery.w2_receives_fencing_read_lac_response)
spec.action(recovery.w2_sends_read_requests)
spec.action(recovery.w2_receives_non_final_read)
spec.action(recovery.w2_completes_read_successfully)
spec.action(recovery.w2_completes_read_with_no_such_entry)
spec.action(recovery.w2_writes_back_entry)
spec.action(recovery.w2_receives_add_confirmed_response)
spec.action(replacing.w2_changes_ensemble, multiplicity=multiplicity.of_w2_ensemble_change)
spec.action(
    replacing.w2_tries_invalid_ensemble_change, multiplicity=multiplicity.of_w2_ensemble_change
)
spec.action(replacing.w2_sends_pending_add_op, multiplicity=multiplicity.of_w2_resend)
spec.action(recovery.w2_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(properties.only_valid_fragments)
spec.invariant(shared.no_out_of_order_entries)
spec.invariant(properties.no_divergence_between_writer_and_meta_data)
spec.invariant(shared.all_committed_entries_reach_ack_quorum)
spec.invariant(properties.no_stuck_lac, by_default=False)
spec.constraint(bounds.max_lost_messages)
spec.sometimes(properties.recovery_closes_the_ledger)
spec.property(liveness.liveness)
spec.weakly_fair(NEXT)

spec.situation(situations.w2_reads_while_a_bookie_is_not_fenced)
spec.situation(situations.w1_has_acknowledged_what_w2_has_not_read)
spec.situation(situations.a_stored_entry_is_cut_off)
