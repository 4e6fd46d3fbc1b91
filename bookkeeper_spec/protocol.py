"""BookKeeper today: the life of one ledger, with any number of clients that recover it.

What it models: a client creates a ledger, adds entries, replaces all bookies that fail at once,
and may close the ledger at any time. Other clients may recover it, several at a time: each fences
the bookies of the last fragment, reads from there on, writes back what it reads while it goes on
reading, and closes the ledger if nobody has changed the metadata meanwhile. Recovery reads fence,
and go to the bookies that were the last ensemble when the recovery began. A recovery keeps its
changes of the ensemble to itself until it closes: others must read where the entries were written.

To read: `model`, then the actions below in the modules of `actions` that have them, then
`properties` and `liveness`.

What breaks: no_divergence_between_client_and_meta_data, if recovery reads do not fence
(`recovery_reads_fence` off): 14 states with 2 bookies and quorums of 2. As it is, nothing that was
found.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way. So two bookies that both have the entry block each
other, and few recoveries get past their first read: less is checked than it seems. What is meant is
that the other reads are ignored from then on; `ignore_late_reads` does that. Lost reads are never
forgotten, so that the time-out of one entry still counts for the next. See also `count_from_lac`.

Left out: bookies that lose data (see `with_limbo`), write quorums smaller than the ensemble.

Source: BookKeeperProtocol.tla by Jack Vanlightly, https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec import bounds, liveness, properties, situations
from bookkeeper_spec.actions import adding, bookies, recovery, recovery_reads, replacing
from bookkeeper_spec.declarations import ledger_spec
from bookkeeper_spec.draw.ledger import draw_protocol
from bookkeeper_spec.tlc import multiplicity
from bookkeeper_spec.tlc.variables import OF_PROTOCOL
from protocol_lab import NEXT

spec = ledger_spec(
    "protocol", __doc__, original="BookKeeperProtocol", draw=draw_protocol, printed=OF_PROTOCOL
)

spec.action(bookies.bookie_sends_add_confirmed_response, multiplicity=multiplicity.of_add)
spec.action(bookies.bookie_sends_add_fenced_response)
spec.action(bookies.bookie_sends_fencing_read_lac_response)
spec.action(bookies.bookie_sends_read_response)
spec.action(adding.client_creates_ledger)
spec.action(adding.client_sends_add_entry_requests)
spec.action(adding.client_receives_add_confirmed_response)
spec.action(adding.client_receives_add_fenced_response)
spec.action(replacing.client_changes_ensemble, multiplicity=multiplicity.of_ensemble_change)
spec.action(replacing.client_resends_pending_add_op, multiplicity=multiplicity.of_resend)
spec.action(adding.client_closes_ledger_success)
spec.action(adding.client_closes_ledger_fail)
spec.action(recovery.client_starts_recovery)
spec.action(recovery.client_receives_fencing_read_lac_response)
spec.action(recovery_reads.client_sends_recovery_read_requests)
spec.action(recovery_reads.client_receives_recovery_read_response)
spec.action(recovery.client_writes_back_entry)
spec.action(recovery.recovery_client_receives_add_confirmed_response)
spec.action(
    replacing.recovery_client_changes_ensemble, multiplicity=multiplicity.of_ensemble_change
)
spec.action(replacing.recovery_client_sends_pending_add_op, multiplicity=multiplicity.of_resend)
spec.action(recovery.recovery_client_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(properties.all_acked_entries_are_readable)
spec.invariant(properties.all_committed_entries_reach_ack_quorum)
spec.invariant(properties.no_out_of_order_entries)
spec.constraint(bounds.max_lost_messages)
spec.sometimes(properties.recovery_closes_the_ledger)
spec.property(liveness.liveness)
spec.weakly_fair(NEXT)

spec.situation(situations.two_clients_recover_at_once)
spec.situation(situations.an_acknowledged_entry_was_not_read_yet)
spec.situation(situations.a_recovery_has_an_ensemble_of_its_own)
