"""Ledgers chained to one log: the next leader closes the last ledger, and appends a new one.

A ledger has one writer and an end. A log without end is a list of ledgers, which any client may
lead. A client that becomes the leader

1. reads the ledger list and the metadata of its last ledger, and remembers both versions,
2. closes that ledger, which fences it on the bookies,
3. creates a ledger,
4. appends it to the list, if the list is still the one that it has read,
5. writes.

To read: `model`; `actions.takeover` has steps 1 and 2, `actions.writing` steps 3 to 5; then
`properties`.

What it models: clients, any of which may be chosen as the leader at any time, and which do not hear
of it at once. So a deposed client goes on as a leader until a version in the metadata store or a
fenced ledger stops it. A ledger takes one entry, which is enough to see an order; entries are
numbered across all ledgers.

What breaks: nothing that is meant. With close_fences=false, ours, closing is a matter of metadata
only, and entries get out of order in 12 steps: the bookies still accept the old leader's entry
after one of the next leader's. And one invariant of the original does not say what it
means: see only_one_ledger_open_at_a_time.

Left out: the election itself, how a ledger is replicated (see `bookkeeper.protocol`), and what
becomes of ledgers that were created and never got into the list: they stay open, and empty.

Source: LedgerChaining.tla by Jack Vanlightly, https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from bookkeeper_spec.draw.chaining import draw_ledger_chaining
from bookkeeper_spec.ledger_chaining import bounds, properties, situations
from bookkeeper_spec.ledger_chaining.actions import takeover, writing
from bookkeeper_spec.ledger_chaining.model import CONFIGURATIONS, Constants, State, init
from protocol_lab import Spec

spec = Spec(
    "bookkeeper.ledger_chaining",
    State,
    Constants,
    __doc__,
    draw=draw_ledger_chaining,
    original="LedgerChaining",
    configurations=CONFIGURATIONS,
)
spec.init(init)

spec.action(takeover.leader_chosen)
spec.action(takeover.become_leader)
spec.action(takeover.abdicate)
spec.action(takeover.get_last_ledger)
spec.action(takeover.ledger_already_closed)
spec.action(takeover.close_last_ledger_success)
spec.action(takeover.close_last_ledger_bad_version)
spec.action(writing.create_ledger)
spec.action(writing.append_ledger_success)
spec.action(writing.append_ledger_bad_version)
spec.action(writing.write_to_ledger)
spec.action(writing.close_own_ledger_success)
spec.action(writing.close_own_ledger_bad_version)

spec.constraint(bounds.ledger_limit)
spec.invariant(properties.type_ok)
spec.invariant(properties.all_non_empty_ledgers_in_ledger_list)
spec.invariant(properties.entry_order_maintained)
spec.invariant(properties.only_one_ledger_open_at_a_time)
spec.sometimes(properties.two_ledgers_hold_entries)

spec.situation(situations.a_deposed_leader_goes_on)
spec.situation(situations.two_clients_have_a_ledger)
spec.situation(situations.a_ledger_is_left_over)
spec.situation(situations.an_empty_ledger_is_in_the_list)
