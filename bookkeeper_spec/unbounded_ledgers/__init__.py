"""A proposal: a ledger that is written by one client after the other, and need not end.

In today's protocol a ledger has one writer, and whoever takes over closes it and goes on in
another. Here a client that takes over begins a new term of the same ledger. What differs from
`bookkeeper.guaranteed_write_quorum`, on which this is built:

1. The ledger has a term. A client that takes over raises it in the metadata, then on the bookies.
2. Fencing is by term: bookies reject every request of an older term than they know of, and raise
   theirs if the request's is newer. A client that is rejected withdraws.
3. Recovery is how a term begins: read what there is, write it back, and open the ledger again.
4. A recovery's last write is an empty entry (NoOp) that truncates: the bookies delete whatever they
   have beyond it. So the same id may have other data in a later term, and the data have to be told
   from the ids: what clients want to write are values, and each is sent once.
5. A recovery sends the LAC and the LAFR with which it began.

To read: `model`, then the actions below that are in `unbounded_ledgers.actions`, then its
`properties`; bookies are replaced as in `guaranteed_write_quorum`.

What breaks: tail_fragments_reach_write_quorum, in 9 states, and in 29 states
all_entries_of_closed_ledger_reached_write_quorum. The LAFR is counted from the LAC, and not from
the LAFR: what is acknowledged but not on a write quorum is taken for fully replicated as soon as
another confirmation arrives. So a fragment is left, or a ledger closed, with an entry that is on
one bookie of two. That is the original as written; `count_from_lafr` counts from the LAFR, and
with the default constants and no loss both hold.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way (see `ignore_late_reads`). A client that has withdrawn
goes on hearing that bookies are fenced. A rejected read does not say which entry it was about, so a
bookie can reject one read of a client and no more. The NoOp of a recovery counts as an acknowledged
value if its last confirmation arrives after the ledger was opened again.

Left out: reads by others, bookies that lose data, write quorums smaller than the ensemble, clients
that come back once they have withdrawn.

Source: tweaks/ProtocolUnboundedLedgersAndGWQ.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec.declarations import ledger_spec
from bookkeeper_spec.draw.events import unbounded_events
from bookkeeper_spec.draw.ledger import draw_unbounded_ledgers
from bookkeeper_spec.guaranteed_write_quorum import properties as write_quorum
from bookkeeper_spec.guaranteed_write_quorum.actions import replacing
from bookkeeper_spec.guaranteed_write_quorum.multiplicity import of_ensemble_change
from bookkeeper_spec.tlc.multiplicity import of_resend
from bookkeeper_spec.tlc.variables import OF_UNBOUNDED_LEDGERS
from bookkeeper_spec.unbounded_ledgers import bounds, properties, situations
from bookkeeper_spec.unbounded_ledgers.actions import new_term, old_term, writing
from bookkeeper_spec.unbounded_ledgers.model import CONFIGURATIONS, Constants, State, init

spec = ledger_spec(
    "unbounded_ledgers",
    __doc__,
    original="ProtocolUnboundedLedgersAndGWQ",
    draw=draw_unbounded_ledgers,
    state=State,
    constants=Constants,
    init=init,
    events=unbounded_events,
    printed=OF_UNBOUNDED_LEDGERS,
    configurations=CONFIGURATIONS,
)

spec.action(old_term.bookie_rejects_request)
spec.action(writing.bookie_sends_add_confirmed_response)
spec.action(new_term.bookie_sends_fencing_read_lafr_response)
spec.action(new_term.bookie_sends_read_response)
spec.action(old_term.client_withdraws)
spec.action(writing.client_creates_ledger)
spec.action(writing.client_sends_add_entry_requests, multiplicity=writing.unsent_values)
spec.action(writing.client_receives_add_confirmed_response)
spec.action(replacing.client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(replacing.client_resends_pending_add_op, multiplicity=of_resend)
spec.action(writing.client_closes_ledger_success)
spec.action(writing.client_closes_ledger_fail, multiplicity=writing.reasons_to_fail)
spec.action(new_term.client_starts_new_term)
spec.action(new_term.client_receives_fencing_read_lafr_response)
spec.action(new_term.client_sends_recovery_read_requests)
spec.action(new_term.client_receives_recovery_read_response)
spec.action(new_term.client_performs_recovery_write)
spec.action(new_term.recovery_client_receives_add_confirmed_response)
spec.action(replacing.recovery_client_changes_ensemble, multiplicity=of_ensemble_change)
spec.action(new_term.recovery_client_sends_pending_add_op, multiplicity=of_resend)
spec.action(new_term.client_changes_term_to_open)

spec.invariant(properties.type_ok)
spec.invariant(write_quorum.no_divergence_between_client_and_meta_data)
spec.invariant(properties.all_committed_ids_are_readable)
spec.invariant(properties.all_acked_values_are_readable)
spec.invariant(write_quorum.no_dirty_reads)
spec.invariant(write_quorum.tail_fragments_reach_write_quorum)
spec.invariant(write_quorum.all_entries_of_closed_ledger_reached_write_quorum)
spec.invariant(properties.no_log_divergence)
spec.constraint(bounds.max_lost_messages)
spec.sometimes(properties.a_later_term_is_opened)
spec.sometimes(properties.an_old_writer_withdraws)

spec.situation(situations.two_terms_write_at_once)
spec.situation(situations.an_id_has_two_data)
