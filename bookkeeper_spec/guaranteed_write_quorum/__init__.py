"""A proposal: a client keeps every entry in hand until a write quorum has it, not an ack quorum.

In today's protocol a client forgets an entry once an ack quorum has confirmed it, so that a
fragment or a closed ledger may hold entries with fewer copies than were wanted. Here a client has a
second mark beside its LAC: the LAFR (last add fully replicated), up to which every entry is on a
write quorum. What differs from `bookkeeper.protocol`:

1. A pending add is dropped only once it and all before it are on a write quorum.
2. A new fragment begins after the LAFR: what is not fully replicated moves on.
3. A bookie that has confirmed an entry which is acknowledged, and moves on, is pinned: it can't be
   replaced, since that would take a confirmation away that the caller relies on.
4. A client closes its ledger only when nothing is pending.
5. So does a recovery, as before; now this means that everything is on a write quorum.
6. Recovery starts after the highest LAFR that the bookies know of, not after the LAC: otherwise
   entries on an ack quorum only would stay there. Requests carry the LAFR as well, and bookies keep
   the highest LAC and LAFR that they have seen.

An ack quorum is still enough to acknowledge an entry to the caller.

To read: `model`, then the actions below that are in `guaranteed_write_quorum.actions`, then its
`properties`; all else is as in `bookkeeper.protocol`.

What breaks: nothing that was found. tail_fragments_reach_write_quorum and
all_entries_of_closed_ledger_reached_write_quorum, which today's protocol does not promise, hold.

Quirks of the original, kept as they are: those of `bookkeeper.protocol`. And which bookies failed
is left open: any of those that timed out may be replaced, or none. With none a recovery that has
taken an ensemble which is not in the metadata can begin a fragment with that same ensemble.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble.

Source: tweaks/ProtocolWithGuaranteedWriteQuorum.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec import properties as shared
from bookkeeper_spec.actions import adding as todays_adding
from bookkeeper_spec.actions import recovery as todays_recovery
from bookkeeper_spec.actions import recovery_reads
from bookkeeper_spec.actions.bookies import bookie_sends_read_response
from bookkeeper_spec.bounds import max_lost_messages
from bookkeeper_spec.declarations import ledger_spec
from bookkeeper_spec.draw.ledger import draw_guaranteed_write_quorum
from bookkeeper_spec.guaranteed_write_quorum import properties, situations
from bookkeeper_spec.guaranteed_write_quorum.actions import adding, bookies, recovery, replacing
from bookkeeper_spec.guaranteed_write_quorum.model import CONFIGURATIONS, Constants, State
from bookkeeper_spec.guaranteed_write_quorum.multiplicity import of_ensemble_change, of_stamped_add
from bookkeeper_spec.tlc.multiplicity import of_resend
from bookkeeper_spec.tlc.variables import OF_WRITE_QUORUM

spec = ledger_spec(
    "guaranteed_write_quorum",
    __doc__,
    original="ProtocolWithGuaranteedWriteQuorum",
    draw=draw_guaranteed_write_quorum,
    state=State,
    constants=Constants,
    printed=OF_WRITE_QUORUM,
    configurations=CONFIGURATIONS,
)

spec.action(bookies.bookie_sends_add_confirmed_response, multiplicity=of_stamped_add)
spec.action(bookies.bookie_sends_add_fenced_response)
spec.action(bookies.bookie_sends_fencing_read_lafr_response)
spec.action(bookie_sends_read_response)
spec.action(todays_adding.client_creates_ledger)
spec.action(adding.client_sends_add_entry_requests)
spec.action(adding.client_receives_add_confirmed_response)
spec.action(todays_adding.client_receives_add_fenced_response)
spec.action(replacing.client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(replacing.client_resends_pending_add_op, multiplicity=of_resend)
spec.action(adding.client_closes_ledger_success)
spec.action(todays_adding.client_closes_ledger_fail)
spec.action(todays_recovery.client_starts_recovery)
spec.action(recovery.client_receives_fencing_read_lafr_response)
spec.action(recovery_reads.client_sends_recovery_read_requests)
spec.action(recovery_reads.client_receives_recovery_read_response)
spec.action(recovery.client_writes_back_entry)
spec.action(recovery.recovery_client_receives_add_confirmed_response)
spec.action(replacing.recovery_client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(replacing.recovery_client_sends_pending_add_op, multiplicity=of_resend)
spec.action(todays_recovery.recovery_client_closes_ledger)

spec.invariant(shared.type_ok)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(shared.all_acked_entries_are_readable)
spec.invariant(properties.no_dirty_reads)
spec.invariant(properties.tail_fragments_reach_write_quorum)
spec.invariant(properties.all_entries_of_closed_ledger_reached_write_quorum)
spec.invariant(shared.no_out_of_order_entries)
spec.constraint(max_lost_messages)
spec.sometimes(shared.recovery_closes_the_ledger)

spec.situation(situations.an_acknowledged_entry_is_not_fully_replicated)
spec.situation(situations.a_bookie_is_pinned)
