"""BookKeeper today: the life of one ledger, with any number of clients that recover it.

What it models: a client creates a ledger, adds entries, replaces all bookies that fail at once,
and may close the ledger at any time. Other clients may recover it, several at a time: each fences
the bookies of the last fragment, reads from there on, writes back what it reads while it goes on
reading, and closes the ledger if nobody has changed the metadata meanwhile. Recovery reads fence,
and go to the bookies that were the last ensemble when the recovery began. A recovery keeps its
changes of the ensemble to itself until it closes: others must read where the entries were written.

To read: `model`, then the actions in `writing` and `recovery`, then `properties`. Below is which of
them this spec has.

What breaks: no_divergence_between_client_and_meta_data, if recovery reads do not fence
(`recovery_reads_fence` off): 14 states with 2 bookies and quorums of 2. As it is, nothing that was
found, not even if the writer's close overrides a recovery (`close_overrides_recovery`), as
BookKeeper's does: with `ignore_late_reads` that holds in 724,767 states.

Quirks of the original, kept as they are: an answer that decides about an entry is taken only when
no other read of that recovery is under way. So two bookies that both have the entry block each
other, and few recoveries get past their first read: less is checked than it seems. What is meant is
that the other reads are ignored from then on; `ignore_late_reads` does that. Lost reads are never
forgotten, so that the time-out of one entry still counts for the next. A recovery's LAC may never
rise (see `count_from_lac`).

Left out: bookies that lose data (see `with_limbo`), write quorums smaller than the ensemble.

Source: BookKeeperProtocol.tla by Jack Vanlightly, https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from collections.abc import Callable

from bookkeeper_spec import properties, recovery, writing
from bookkeeper_spec.draw.choices import CLIENTS
from bookkeeper_spec.draw.events import client_events, client_lifelines
from bookkeeper_spec.draw.ledger import draw_protocol
from bookkeeper_spec.model import *
from bookkeeper_spec.writing import client_closes_ledger_success as close_as_in_original
from bookkeeper_spec.writing import close_over_recovery
from protocol_lab import *


def ledger_spec(
    name: str,
    meaning: str | None,
    *,
    original: str,
    tlc: str,
    draw: Callable[..., str],
    state: type[Struct] = State,
    constants: type = Constants,
    init: Callable[..., str] = init,
    events: Callable[..., list] = client_events,
    configurations: tuple[Configuration, ...] = CONFIGURATIONS,
) -> Spec:
    """A spec with any number of clients, without actions: this one, or one of the proposals."""
    spec = Spec(
        f"bookkeeper.{name}",
        state,
        constants,
        meaning,
        draw=draw,
        original=original,
        lifelines=(client_lifelines,),
        events=events,
        choices=CLIENTS,
        tlc=tlc,
        configurations=configurations,
        decisions=(
            "client_starts_recovery",
            "client_starts_new_term",
            "bookie_crashes_when_ledger_open",
            "bookie_crashes_when_ledger_in_recovery",
            "bookie_crashes_when_ledger_closed",
        ),
    )
    spec.symmetric(Bookie, among=symmetric_bookies)
    spec.symmetric(Client)
    spec.init(init)
    return spec


def client_closes_ledger_success(s: State, c: Constants, client: Client):
    """The creator closes the ledger at its LAC, whenever it likes, if it knows the metadata.

    With `close_overrides_recovery` also while somebody recovers it, and knowing that it is fenced.
    That is safe, since a recovery keeps its ensembles to itself until it closes; in `v4_13` it does
    not, and an entry may be missing.
    """
    if c.close_overrides_recovery and s.meta_status == "in_recovery":
        return close_over_recovery(s, s.clients[client])
    return close_as_in_original(s, c, client)


def no_divergence_between_client_and_meta_data(s: State, c: Constants):
    """A closed ledger was closed by one client, at its LAC, and no writer's LAC is beyond the end.

    A recovery's may be: if another has closed the ledger before it, its entries are never read.
    """
    if s.meta_status != "closed":
        return HOLDS
    closers = 0
    for client in range(1, c.clients + 1):
        mine = s.clients[client]
        if mine.status == "closed" and mine.lac == s.meta_last_entry:
            closers += 1
        if (
            mine.status not in ("nil", "in_recovery", "recovery_aborted")
            and mine.lac > s.meta_last_entry
        ):
            return "a client has acknowledged an entry that the closed ledger does not have"
    return HOLDS if closers == 1 else "no client, or several, closed the ledger at their LAC"


spec = ledger_spec(
    "protocol",
    __doc__,
    original="BookKeeperProtocol",
    draw=draw_protocol,
    tlc="bookkeeper_spec.tlc",
)

spec.action(writing.bookie_sends_add_confirmed_response)
spec.action(writing.bookie_sends_add_fenced_response)
spec.action(writing.bookie_sends_fencing_read_lac_response)
spec.action(writing.bookie_sends_read_response)
spec.action(writing.client_creates_ledger)
spec.action(writing.client_sends_add_entry_requests)
spec.action(writing.client_receives_add_confirmed_response)
spec.action(writing.client_receives_add_fenced_response)
spec.action(writing.client_changes_ensemble)
spec.action(writing.client_resends_pending_add_op)
spec.action(client_closes_ledger_success)
spec.action(writing.client_closes_ledger_fail)
spec.action(recovery.client_starts_recovery)
spec.action(recovery.client_receives_fencing_read_lac_response)
spec.action(recovery.client_sends_recovery_read_requests)
spec.action(recovery.client_receives_recovery_read_response)
spec.action(recovery.client_writes_back_entry)
spec.action(recovery.recovery_client_receives_add_confirmed_response)
spec.action(writing.recovery_client_changes_ensemble)
spec.action(writing.recovery_client_sends_pending_add_op)
spec.action(recovery.recovery_client_closes_ledger)

spec.invariant(properties.type_ok)
spec.invariant(no_divergence_between_client_and_meta_data)
spec.invariant(properties.all_acked_entries_are_readable)
spec.invariant(properties.all_committed_entries_reach_ack_quorum)
spec.invariant(properties.no_out_of_order_entries)
spec.constraint(properties.max_lost_messages)
spec.situation(properties.recovery_closes_the_ledger, expected=True)
spec.property(properties.liveness)
spec.weakly_fair(NEXT)

spec.situation(properties.two_clients_recover_at_once)
spec.situation(properties.an_acknowledged_entry_was_not_read_yet)
spec.situation(properties.a_recovery_has_an_ensemble_of_its_own)
