"""BookKeeper without the journal: bookies may lose what they have confirmed, and know that.

What it models: a proposed change of the protocol. Without its journal a bookie that crashes forgets
entries that it has confirmed, and that it was fenced. It finds out when it starts again that it was
not shut down properly. From then on the ledger is fenced on it (`fence_on_unclean_shutdown`) and in
limbo (`set_limbo_on_unclean_shutdown`): asked for an entry that it does not have, it answers that
it does not know, and no longer that there is no such entry. One bookie crashes, once, while the
ledger has a status for which that is allowed.

To read: `model`, then the actions below that are in `with_limbo.actions`, the crash and the answers
of a bookie in limbo first; all else is as in `bookkeeper.protocol`, or in
`v4_13.actions.reading_first`.

What breaks: no_divergence_between_client_and_meta_data, without either of the two. A bookie that is
not in limbo denies what it has lost, so that a recovery truncates the ledger. One that is not
fenced again takes an add of the creator after it has told a recovery that there is none. 13 states
each, with one bookie. With both, nothing that was found.

Quirks of the original, kept as they are: like `v4_13` it reads first and writes back afterwards, a
bookie can answer only one read of each client without an entry, and reads that timed out count only
while the answer in hand has the entry. Whether messages timed out, and which come earlier, is asked
of all recoveries together. A recovery that has changed the ensemble can't close the ledger, because
the original says both that the fragments become its own and that they stay; what is meant is the
former, as `close_with_own_fragments` has it. See also `count_from_lac`.

Left out: a second crash, a recovery that is given up, reads by others.

Source: BookKeeperProtocolWithLimbo.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus, with the messages of MessagePassing_v4_13.tla: TLC
can't read it with the MessagePassing.tla that is there now.
"""

from bookkeeper_spec import liveness
from bookkeeper_spec import properties as shared
from bookkeeper_spec.actions import adding
from bookkeeper_spec.actions import bookies as todays_bookies
from bookkeeper_spec.actions.replacing import recovery_client_sends_pending_add_op
from bookkeeper_spec.declarations import ledger_spec
from bookkeeper_spec.draw.ledger import draw_with_limbo
from bookkeeper_spec.tlc.multiplicity import of_add, of_resend
from bookkeeper_spec.tlc.variables import OF_WITH_LIMBO
from bookkeeper_spec.with_limbo import bounds, properties, situations
from bookkeeper_spec.with_limbo.actions import bookies, clients, crashes, reading, replacing
from bookkeeper_spec.with_limbo.model import CONFIGURATIONS, Constants, State, init
from bookkeeper_spec.with_limbo.multiplicity import of_ensemble_change
from protocol_lab import NEXT

spec = ledger_spec(
    "with_limbo",
    __doc__,
    original="BookKeeperProtocolWithLimbo",
    draw=draw_with_limbo,
    state=State,
    constants=Constants,
    init=init,
    printed=OF_WITH_LIMBO,
    configurations=CONFIGURATIONS,
)

spec.action(bookies.bookie_sends_add_confirmed_response, multiplicity=of_add)
spec.action(todays_bookies.bookie_sends_add_fenced_response)
spec.action(todays_bookies.bookie_sends_fencing_read_lac_response)
spec.action(bookies.bookie_sends_read_response)
spec.action(crashes.bookie_crashes_when_ledger_open)
spec.action(crashes.bookie_crashes_when_ledger_in_recovery)
spec.action(crashes.bookie_crashes_when_ledger_closed)
spec.action(adding.client_creates_ledger)
spec.action(clients.client_sends_add_entry_requests)
spec.action(adding.client_receives_add_confirmed_response)
spec.action(adding.client_receives_add_fenced_response)
spec.action(replacing.client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(clients.client_sends_pending_add_op, multiplicity=of_resend)
spec.action(adding.client_closes_ledger_success)
spec.action(clients.client_closes_ledger_fail)
spec.action(clients.client_starts_recovery)
spec.action(reading.client_receives_fencing_read_lac_response)
spec.action(reading.client_sends_read_requests)
spec.action(reading.client_receives_non_final_read)
spec.action(reading.client_completes_read_successfully)
spec.action(reading.client_completes_read_with_no_such_entry)
spec.action(clients.client_writes_back_entry)
spec.action(clients.recovery_client_receives_add_confirmed_response)
spec.action(replacing.recovery_client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(recovery_client_sends_pending_add_op, multiplicity=of_resend)
spec.action(clients.recovery_client_closes_ledger)

spec.invariant(shared.type_ok)
spec.invariant(shared.no_out_of_order_entries)
spec.invariant(properties.no_divergence_between_client_and_meta_data)
spec.invariant(shared.all_committed_entries_reach_ack_quorum, by_default=False)
spec.constraint(bounds.max_lost_messages)
spec.sometimes(shared.recovery_closes_the_ledger)
spec.property(liveness.liveness)
spec.weakly_fair(NEXT)

spec.situation(situations.a_bookie_is_in_limbo)
spec.situation(situations.a_recovery_hears_that_a_bookie_does_not_know)
