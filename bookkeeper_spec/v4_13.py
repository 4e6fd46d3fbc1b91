"""BookKeeper as released in 4.13: one writer, one recovery, and the two defects of that version.

What it models: the writer w1 creates a ledger, adds entries, replaces bookies that fail, and may
close the ledger at any time. A second client w2 may recover it, once: it sets the status to
IN_RECOVERY, fences the bookies of the last fragment and asks for their LACs, reads entry after
entry from there on until one does not exist, writes all of them back, and closes the ledger at the
last one. The first writer need not know: that is what fencing is for.

What breaks, defect 1: no_divergence_between_writer_and_meta_data. Fencing is enough once no ack
quorum is left unfenced, but an entry that some bookies have confirmed already needs fewer than
that. If w2 hears "no such entry" from a bookie that is not fenced, that bookie may store the entry
afterwards and complete the ack quorum: w1 acknowledges an entry that the closed ledger does not
have. 16 states with 2 bookies and quorums of 2, with or without a lost message. Recovery reads
that fence as well (`recovery_reads_fence`) mend it.

What breaks, defect 2: only_valid_fragments, if `lac_from_fragment` is off. A bookie knows of no
entry's confirmation before the next add tells it, and one that was never written to knows nothing:
so w2 may start long before the last fragment. If it then has to replace a bookie, the new fragment
would begin before the last one. The mended protocol starts no earlier than the last fragment,
since everything before it is confirmed.

Where to read what: here the state, and what is claimed; in `v4_13_writer` what w1 does, in
`v4_13_recovery` what w2 does, in `v4_13_replacing` how either replaces a bookie, and in
`v4_13_bookies` what bookies do.

Quirks of the original, kept as they are: a bookie that stores nothing can answer only one read of
a run, because its answer does not tell which entry was asked for, and nothing is sent twice. Reads
that timed out count as answered only while the answer in hand is a positive one. After a failed
attempt to close, w1 goes on as if the ledger were open. See also `count_from_lac`.

Left out: reads by others, several ledgers, bookies that lose data, a recovery that gives up.

Source: BookKeeperProtocol_v4_13 in the BookKeeper specifications.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.as_printed import OF_V4_13
from bookkeeper_spec.constants import (
    SMALLEST,
    AckQuorum,
    BookieCount,
    CountFromLac,
    EnsembleChoice,
    MaxLostMessages,
    SendLimit,
    WriteQuorum,
)
from bookkeeper_spec.draw.events import v4_13_events, v4_13_lifelines
from bookkeeper_spec.draw.ledger import draw_v4_13
from bookkeeper_spec.ledger import (
    CLOSED,
    INVALID,
    Bookie,
    Entry,
    FencedLedger,
    alike,
    has_entry,
)
from bookkeeper_spec.messages import (
    AddMessages,
    Mail,
    count_lost_of,
    count_lost_of_fencing,
)
from bookkeeper_spec.properties import (
    all_committed_entries_reach_ack_quorum,
    is_ledger_of_its_type,
    is_writer_of_its_type,
    no_out_of_order_entries,
    within_lost_messages,
)
from bookkeeper_spec.reading_first import PENDING_READ_RESPONSE, WRITE, Reads, count_lost_reads
from bookkeeper_spec.v4_13_bookies import (
    add_witnesses,
    bookie_sends_add_confirmed_response,
    bookie_sends_add_fenced_response,
    bookie_sends_fencing_read_lac_response,
    bookie_sends_read_response,
)
from bookkeeper_spec.v4_13_recovery import (
    w2_closes_ledger,
    w2_completes_read_successfully,
    w2_completes_read_with_no_such_entry,
    w2_place_in_recovery,
    w2_receives_add_confirmed_response,
    w2_receives_fencing_read_lac_response,
    w2_receives_non_final_read,
    w2_sends_read_requests,
    w2_writes_back_entry,
)
from bookkeeper_spec.v4_13_replacing import (
    w1_change_witnesses,
    w1_changes_ensemble,
    w1_resend_witnesses,
    w1_sends_pending_add_op,
    w1_tries_invalid_ensemble_change,
    w2_change_witnesses,
    w2_changes_ensemble,
    w2_resend_witnesses,
    w2_sends_pending_add_op,
    w2_tries_invalid_ensemble_change,
)
from bookkeeper_spec.v4_13_writer import (
    w1_close_ledger_fail,
    w1_close_ledger_success,
    w1_creates_ledger,
    w1_receives_add_confirmed_response,
    w1_receives_add_fenced_response,
    w1_sends_add_entry_requests,
)
from bookkeeper_spec.writing import Writer
from protocol_lab import (
    HOLDS,
    NEXT,
    NO_LIMIT,
    TAKEN,
    Array,
    NodeSet,
    Spec,
    Struct,
    always_eventually,
    flag,
    size,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: BookieCount = 3
    write_quorum: WriteQuorum = 3
    ack_quorum: AckQuorum = 2
    send_limit: SendLimit = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence (mends defect 1)")] = 0
    lac_from_fragment: Annotated[
        int, flag("does recovery start no earlier than the last fragment (mends defect 2)")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = SMALLEST
    count_from_lac: CountFromLac = 0


# --- State -----------------------------------------------------------------------------------


class WriterState(Writer):
    """w1 or w2; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read
    no_such_entry: NodeSet(Bookie)  # and who that it does not


class Messages(Struct):
    """All that is or was under way."""

    adds: Array(AddMessages, 2)  # w1's and w2's
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC
    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # the answer to a read that does not tell which entry was meant


class State(FencedLedger):
    """The ledger, its two clients, and the messages between them and the bookies."""

    w1: WriterState
    w2: WriterState
    messages: Messages


# --- The protocol ------------------------------------------------------------------------------

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
)


spec.symmetric(Bookie, among=alike)


@spec.init
def init(s: State, c: Constants):
    """There is no ledger."""
    return TAKEN


spec.action(bookie_sends_add_confirmed_response, witnesses=add_witnesses)
spec.action(bookie_sends_add_fenced_response)
spec.action(bookie_sends_fencing_read_lac_response)
spec.action(bookie_sends_read_response)
spec.action(w1_creates_ledger)
spec.action(w1_sends_add_entry_requests)
spec.action(w1_receives_add_confirmed_response)
spec.action(w1_receives_add_fenced_response)
spec.action(w1_changes_ensemble, witnesses=w1_change_witnesses)
spec.action(w1_tries_invalid_ensemble_change, witnesses=w1_change_witnesses)
spec.action(w1_sends_pending_add_op, witnesses=w1_resend_witnesses)
spec.action(w1_close_ledger_success)
spec.action(w1_close_ledger_fail)
spec.action(w2_place_in_recovery)
spec.action(w2_receives_fencing_read_lac_response)
spec.action(w2_sends_read_requests)
spec.action(w2_receives_non_final_read)
spec.action(w2_completes_read_successfully)
spec.action(w2_completes_read_with_no_such_entry)
spec.action(w2_writes_back_entry)
spec.action(w2_receives_add_confirmed_response)
spec.action(w2_changes_ensemble, witnesses=w2_change_witnesses)
spec.action(w2_tries_invalid_ensemble_change, witnesses=w2_change_witnesses)
spec.action(w2_sends_pending_add_op, witnesses=w2_resend_witnesses)
spec.action(w2_closes_ledger)


# --- Properties ----------------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c):
        return "the metadata or a bookie hold what they can't"
    if not is_writer_of_its_type(c, s.w1) or not is_writer_of_its_type(c, s.w2):
        return "a client holds what it can't"
    return HOLDS


@spec.invariant
def only_valid_fragments(s: State, c: Constants):
    """Nobody had to begin a fragment before one that there is."""
    if s.w1.status == INVALID or s.w2.status == INVALID:
        return "a client would have to begin a fragment before one that there is"
    return HOLDS


spec.invariant(no_out_of_order_entries)


@spec.invariant
def no_divergence_between_writer_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, it has every entry that w1 has acknowledged."""
    if s.meta_status == CLOSED and s.w1.lac > s.meta_last_entry:
        return "w1 has acknowledged an entry that the closed ledger does not have"
    return HOLDS


spec.invariant(all_committed_entries_reach_ack_quorum)


@spec.invariant(by_default=False)
def no_stuck_lac(s: State, c: Constants):
    """w2's LAC rises with what it writes back: an extra, false unless `count_from_lac` is on."""
    next_entry = s.w2.lac + 1
    if next_entry <= c.send_limit and size(s.w2.confirmed[next_entry]) >= c.ack_quorum:
        return "an entry that was written back is confirmed, and w2's LAC does not rise"
    return HOLDS


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """So many messages are lost at a time at the most, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = count_lost_of_fencing(s.messages) + count_lost_reads(c, s.messages)
    for k in range(2):
        lost += count_lost_of(c, s.messages.adds[k])
    return within_lost_messages(c, lost)


@spec.sometimes
def recovery_closes_the_ledger(s: State, c: Constants):
    """A recovery comes to its end."""
    return HOLDS if s.w2.status == CLOSED else "w2 has not closed the ledger"


def ledger_is_closed(s: State, c: Constants):
    """The ledger is closed, and w1 knows."""
    return s.meta_status == CLOSED and s.w1.status == CLOSED


@spec.property
def liveness():
    """The ledger is closed by w1 in the end. The original claims it under weak fairness of Next.

    It is false: messages that are lost may stop the ledger, and after a recovery w1 is never told.
    """
    return always_eventually(ledger_is_closed)


spec.weakly_fair(NEXT)


# --- Situations that are worth finding ---------------------------------------------------------


@spec.situation
def w2_reads_while_a_bookie_is_not_fenced(s: State, c: Constants) -> bool:
    """w2 reads while a bookie of the last fragment is not fenced."""
    return (
        s.w2.recovery_phase == PENDING_READ_RESPONSE
        and s.w2.curr_fragment.ensemble & ~s.b_fenced != 0
    )


@spec.situation
def w1_has_acknowledged_what_w2_has_not_read(s: State, c: Constants) -> bool:
    """w1 has acknowledged an entry beyond those that w2 has read, and w2 reads no further."""
    return s.w2.recovery_phase == WRITE and s.w1.lac > s.w2.lap


@spec.situation
def a_stored_entry_is_cut_off(s: State, c: Constants) -> bool:
    """The ledger is closed before an entry that some bookie stores."""
    return s.meta_status == CLOSED and any(
        has_entry(s, bookie, entry)
        for bookie in range(1, c.bookies + 1)
        for entry in range(s.meta_last_entry + 1, c.send_limit + 1)
    )
