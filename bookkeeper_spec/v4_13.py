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
fragment would begin before the last one. The fixed protocol starts no earlier than the last
fragment, since everything before it is confirmed.

What would break: all_committed_entries_reach_ack_quorum, if w1's close overrides the recovery
(`close_overrides_recovery`, off in the original): 20 steps with a write quorum of 2 and an ack
quorum of 1, since w2 writes its new ensemble to the metadata at once. BookKeeper's writer does
override a recovery; since 4.9.0 a recovery keeps its ensembles to itself.

A released version is history: this file has its rules, top to bottom. What a ledger, its metadata,
its messages and an ensemble are is in `model`; what a value may be, and how lost messages are
counted, in `properties`. `with_limbo` shares the reads that come before all writes.

Quirks of the original, kept as they are: a bookie that stores nothing can answer only one read of
a run, because its answer does not tell which entry was asked for, and nothing is sent twice. Reads
that timed out count as answered only while the answer in hand is a positive one. After a failed
attempt to close, w1 goes on as if the ledger were open. w2's LAC may never rise (see
`count_from_lac`).

Left out: reads by others, several ledgers, bookies that lose data, a recovery that gives up.

Source: BookKeeperProtocol_v4_13.tla by Jack Vanlightly,
https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.draw.choices import TWO_WRITERS
from bookkeeper_spec.draw.events import v4_13_events, v4_13_lifelines
from bookkeeper_spec.draw.ledger import draw_v4_13
from bookkeeper_spec.model import *
from bookkeeper_spec.properties import (
    all_committed_entries_reach_ack_quorum,
    count_lost_fencing,
    count_lost_writes,
    is_ledger_of_its_type,
    is_set_of_bookies,
    is_writer_of_its_type,
    no_out_of_order_entries,
    within_lost_messages,
)
from protocol_lab import *

# --- Constants and state: one writer w1, one recovery by w2 --------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched.

    The original has the first five constants. It behaves as the defaults of the others say: it has
    `lac_from_fragment` built in, although release 4.13.0 lacks it. With as many bookies as the
    write quorum, as in both configurations, nobody can replace a bookie.
    """

    bookies: BookieCount = 3
    write_quorum: WriteQuorum = 3
    ack_quorum: AckQuorum = 2
    send_limit: SendLimit = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence (fixes defect 1)")] = 0
    lac_from_fragment: Annotated[
        int, flag("does recovery start no earlier than the last fragment (fixes defect 2)")
    ] = 1
    max_lost_messages: MaxLostMessages = NO_LIMIT
    ensemble_choice: EnsembleChoice = "smallest"
    count_from_lac: CountFromLac = 0
    close_overrides_recovery: CloseOverridesRecovery = 0


CONFIGURATIONS = (
    Configuration(
        "default",
        "defect 1 of version 4.13",
        "violated in 20 states, after 2,003,183 distinct states",
    ),
    Configuration(
        "shipped",
        "the same, as in BookKeeperProtocol_v4_13.cfg, which comes with the original",
        "violated in 20 states, after 2,003,183 distinct states",
        {"bookies": 3, "write_quorum": 3, "ack_quorum": 2, "recovery_reads_fence": False},
    ),
)


SomeWriter = Named("w1", "w2")
"""Who sent a message and gets the answer: w1's adds are refused when fenced, w2's are not."""

W1, W2 = 0, 1
"""Where each client's adds stand in `messages.adds`."""

READ, PENDING_READ_RESPONSE, WRITE = 2, 3, 4
"""The phases of recovery after FENCING. All reads before all writes give fewer states than both
mixed."""


class WriterState(Writer):
    """w1 or w2; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read
    no_such_entry: NodeSet(Bookie)  # and who that it does not


class Reads(Struct):
    """Requests for one entry, and the answers that have its data."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1


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
    decisions=("w2_place_in_recovery",),
)
spec.symmetric(Bookie, among=symmetric_bookies)
spec.weakly_fair(NEXT)


@spec.init
def init(s, c):
    """There is no ledger."""
    return TAKEN


# --- Bookies answer both clients -----------------------------------------------------------------


@spec.action
def bookie_sends_add_confirmed_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    writer: SomeWriter,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie stores an entry and says so. Once fenced, it does so for a recovery only."""
    adds = s.messages.adds[writer].of[entry - 1]
    reason = why_not_handle_add(s.messages.adds[writer], entry, lac, bookie)
    if reason:
        return reason
    if bookie in s.b_fenced and writer == "w1":
        return "the ledger is fenced on this bookie"
    if bookie in sent(adds.confirmed):
        return "the bookie has sent this answer before"
    reply(adds.requests[lac], adds.confirmed, bookie, lost)
    store(s, bookie, entry, adds.data, lac)
    return TAKEN


@spec.action
def bookie_sends_add_fenced_response(
    s: State, c: Constants, bookie: Bookie, entry: SomeEntry, lac: SomeLac, lost: Subset(its_own)
):
    """A bookie on which the ledger is fenced refuses an add of w1."""
    adds = s.messages.adds[W1].of[entry - 1]
    reason = why_not_handle_add(s.messages.adds[W1], entry, lac, bookie)
    if reason:
        return reason
    if bookie not in s.b_fenced:
        return "the ledger is not fenced on this bookie"
    if bookie in sent(adds.refused):
        return "the bookie has sent this answer before"
    reply(adds.requests[lac], adds.refused, bookie, lost)
    return TAKEN


@spec.action
def bookie_sends_fencing_read_lac_response(
    s: State, c: Constants, bookie: Bookie, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it knows the ledger or not, and tells its LAC."""
    requests, answer = s.messages.fence_requests, s.messages.fence_responses[s.b_lac[bookie]]
    if bookie not in requests.waiting:
        return "no fence request of the client is under way to this bookie"
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    reply(requests, answer, bookie, lost)
    s.b_fenced = with_node(s.b_fenced, bookie)
    return TAKEN


@spec.action
def bookie_sends_read_response(
    s: State, c: Constants, bookie: Bookie, entry: Range(1, "send_limit + 1"), lost: Subset(its_own)
):
    """A bookie answers a recovery read: with the entry, or that it has no such entry (defect 1)."""
    reads = s.messages.reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way to this bookie"
    answer = answer_from(s, c, bookie, reads, entry, s.messages.no_such_entry)
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    reply(reads.requests, answer, bookie, lost)
    return TAKEN


# --- w1 creates and adds -------------------------------------------------------------------------


def first_ensembles(s: State, c: Constants) -> NodeSet(Bookie):
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == "nil" else placeholder_ensemble(c)


@spec.action
def w1_creates_ledger(s: State, c: Constants, ensemble: Subset(first_ensembles, "write_quorum")):
    """w1 chooses the first ensemble; the bookies are not told."""
    if s.meta_status != "nil" or s.w1.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = "open"
    s.meta_version = 1
    s.w1.status = "open"
    s.w1.meta_version = 1
    s.w1.curr_fragment = last(s.meta_fragments)
    return TAKEN


def its_ensemble(writer) -> NodeSet(Bookie):
    """The bookies to which a client with an open ledger sends what it adds."""
    return writer.curr_fragment.ensemble if writer.status == "open" else nodes_up_to(0)


@spec.action
def w1_sends_add_entry_requests(s: State, c: Constants, lost: Subset(lambda s: its_ensemble(s.w1))):
    """w1 sends its next entry, with its LAC, to all bookies of its current ensemble."""
    entry, ensemble = s.w1.lap + 1, s.w1.curr_fragment.ensemble
    if s.w1.status != "open":
        return "w1 has no open ledger"
    if entry > c.send_limit:
        return "the client has sent everything that it has to send"
    adds = s.messages.adds[W1].of[entry - 1]
    if were_adds_sent(adds, s.w1.lac, ensemble):
        return "this very request was sent before"
    send_adds(adds, entry, s.w1.lac, ensemble, lost)
    s.w1.lap = entry
    add_pending_op(s.w1, entry, entry)
    return TAKEN


def why_not_confirm(writer, messages, bookie, entry) -> str:
    """Why the client can't receive this bookie's confirmation of an entry; "" if it can."""
    if bookie not in messages.of[entry - 1].confirmed.waiting:
        return "no confirmation of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if bookie not in writer.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    return TAKEN


def confirm(c, writer, messages, bookie, entry) -> None:
    """Note that a bookie has stored an entry; raise the LAC, and drop what is done with.

    The original counts from entry 1, and w2 knows of no confirmations of entries before its LAC. So
    if it began at a LAC of 1 or more and writes an entry back, it waits forever. BookKeeper counts
    from what is known already; `count_from_lac` does that.
    """
    handle(messages.of[entry - 1].confirmed, bookie)
    writer.confirmed[entry] = with_node(writer.confirmed[entry], bookie)
    reached = confirmed_from(c, writer, writer.lac if c.count_from_lac else 0, c.ack_quorum)
    writer.lac = max(writer.lac, reached)
    drop_pending_ops(writer, reached)


@spec.action
def w1_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry of w1: the LAC may rise, and the caller is told."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    reason = why_not_confirm(s.w1, s.messages.adds[W1], bookie, entry)
    if reason:
        return reason
    confirm(c, s.w1, s.messages.adds[W1], bookie, entry)
    return TAKEN


@spec.action
def w1_receives_add_fenced_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """w1 learns that the ledger is fenced: somebody recovers it, and w1 stops."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    reason = why_not_hear_refusal(s.messages.adds[W1], entry, bookie)
    if reason:
        return reason
    if bookie not in s.w1.curr_fragment.ensemble:
        return "the bookie is not in w1's current ensemble"
    s.w1.status = "nil"
    handle(s.messages.adds[W1].of[entry - 1].refused, bookie)
    return TAKEN


# --- w1 replaces a bookie, and so does w2 below --------------------------------------------------


def is_valid_next_fragment(s, first_entry_id) -> bool:
    """Does no fragment of the metadata begin after this entry?"""
    return all(fragment.first_entry_id <= first_entry_id for fragment in s.meta_fragments)


def is_at_work(s: State, writer) -> bool:
    """Does the client write the ledger, or recover it, and do the metadata say the same?"""
    return writer.status == s.meta_status and writer.status in ("open", "in_recovery")


def without_one(s, c, writer, time_outs: NodeSet(Bookie), bookie) -> NodeSet(Bookie):
    """The bookies for an ensemble without a bookie that is one of those that timed out."""
    ensemble = writer.curr_fragment.ensemble
    if not is_at_work(s, writer) or bookie not in ensemble & time_outs:
        return placeholder_ensemble(c)
    return bookies_to_choose(s, c, without_node(ensemble, bookie), only(bookie))


def replacements(s: State, c: Constants, writer, messages, bookie) -> NodeSet(Bookie):
    """The bookies for an ensemble without a bookie that timed out."""
    return without_one(s, c, writer, add_time_outs(messages), bookie)


def why_not_without_one(writer, time_outs: NodeSet(Bookie), bookie) -> str:
    """Why a client need not go on without this bookie; "" if it has to."""
    if bookie not in writer.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    if bookie not in time_outs:
        return "no add to this bookie has timed out"
    return TAKEN


def why_not_begin_fragment(s, writer, bookie, ensemble) -> str:
    """Why the client can't use this ensemble after its LAC, without the bookie; "" if it can."""
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    good = without_node(writer.curr_fragment.ensemble, bookie)
    if not is_valid_ensemble(s, ensemble, good, only(bookie)):
        return "the ensemble lacks a good bookie, has a failed one, or is a fragment's already"
    if not is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would begin before an existing one"
    return TAKEN


def why_not_try(s: State, c: Constants, writer, messages, bookie) -> str:
    """Why a client can't try to replace this bookie; "" if it can."""
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    if writer.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return why_not_without_one(writer, add_time_outs(messages), bookie)


def why_not_change(s: State, c: Constants, writer, messages, bookie, ensemble) -> str:
    """Why the client can't replace the bookie with this ensemble; "" if it can."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if reason:
        return reason
    return why_not_begin_fragment(s, writer, bookie, ensemble)


def change_ensemble(s: State, c: Constants, writer, messages, bookie, ensemble) -> None:
    """Begin a new fragment after the LAC without the bookie, and write that to the metadata."""
    begin_fragment(c, writer, s.meta_fragments, writer.lac + 1, only(bookie), ensemble)
    s.meta_version += 1
    writer.meta_version = s.meta_version
    act_upon_add_time_outs(messages, only(bookie))


def why_not_invalid(s: State, c: Constants, writer, messages, bookie) -> str:
    """Why the new fragment would not begin before an existing one; "" if it would."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if reason:
        return reason
    if is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would not begin before another"
    if (
        smallest_ensemble(s, c, without_node(writer.curr_fragment.ensemble, bookie), only(bookie))
        == 0
    ):
        return "there is no other ensemble"
    return TAKEN


@spec.action
def w1_changes_ensemble(
    s: State,
    c: Constants,
    bookie: Bookie,
    ensemble: Subset(
        lambda s, c, bookie: replacements(s, c, s.w1, s.messages.adds[W1], bookie), "write_quorum"
    ),
):
    """An add of w1 timed out: it replaces the bookie, and writes that to the metadata."""
    if not is_at_work(s, s.w1):
        return "w1 has no open ledger, or somebody recovers it"
    reason = why_not_change(s, c, s.w1, s.messages.adds[W1], bookie, ensemble)
    if reason:
        return reason
    change_ensemble(s, c, s.w1, s.messages.adds[W1], bookie, ensemble)
    return TAKEN


@spec.action
def w1_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w1 would have to begin a fragment before the last one. It never has to."""
    if not is_at_work(s, s.w1):
        return "w1 has no open ledger, or somebody recovers it"
    reason = why_not_invalid(s, c, s.w1, s.messages.adds[W1], bookie)
    if reason:
        return reason
    s.w1.status = "invalid"
    return TAKEN


# --- What was not confirmed goes to the new bookie -----------------------------------------------


def its_new_bookies(writer, entry) -> NodeSet(Bookie):
    """The bookies to which a client that is not done has not sent a pending add."""
    is_at_it = writer.status in ("open", "in_recovery")
    return new_bookies_for(writer, entry) if is_at_it else nodes_up_to(0)


def why_not_resend(writer, messages, entry) -> str:
    """Why the client can't send a pending add to the new bookies; "" if it can."""
    for op in writer.pending_add_ops:
        if op.entry.id == entry:
            if not needs_resend(op, writer.curr_fragment):
                return "the entry was sent to the current ensemble"
            if is_sent_later(writer, op):
                return "an earlier entry that went to the same ensemble comes first"
            bookies = writer.curr_fragment.ensemble & ~op.ensemble
            if were_adds_sent(messages.of[entry - 1], writer.lac, bookies):
                return "this very request was sent before"
            return TAKEN
    return "the entry is not pending"


def resend(writer, messages, entry, lost) -> None:
    """Send a pending add to those bookies of the new ensemble that were not in its own."""
    for op in writer.pending_add_ops:
        if op.entry.id == entry:
            data, bookies = op.entry.data, writer.curr_fragment.ensemble & ~op.ensemble
            send_adds(messages.of[entry - 1], data, writer.lac, bookies, lost)
            take(writer.pending_add_ops, op)
            add_pending_op(writer, entry, data)
            return


@spec.action
def w1_sends_pending_add_op(
    s: State,
    c: Constants,
    entry: SomeEntry,
    lost: Subset(lambda s, entry: its_new_bookies(s.w1, entry)),
):
    """After a change of the ensemble, w1 sends an unconfirmed entry to the new bookie."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    reason = why_not_resend(s.w1, s.messages.adds[W1], entry)
    if reason:
        return reason
    resend(s.w1, s.messages.adds[W1], entry, lost)
    return TAKEN


# --- w1 closes -----------------------------------------------------------------------------------


@spec.action
def w1_close_ledger_success(s: State, c: Constants):
    """w1 closes the ledger at its LAC, whenever it likes, if the metadata are as it knows them.

    With `close_overrides_recovery` also while w2 recovers it, and knowing that it is fenced.
    """
    has_created = s.w1.status == "open" or s.w1.status == "nil"
    if c.close_overrides_recovery and has_created and s.meta_status == "in_recovery":
        close_ledger(s, s.w1, s.w1.lac)
        return TAKEN
    if s.w1.status != "open" or s.meta_status != "open":
        return "w1 has no open ledger, or somebody recovers it"
    if s.w1.meta_version != s.meta_version:
        return "the metadata have changed since w1 read them"
    close_ledger(s, s.w1, s.w1.lac)
    return TAKEN


@spec.action
def w1_close_ledger_fail(s: State, c: Constants):
    """w1 tries to close the ledger, but somebody recovers it. w1 goes on all the same."""
    if s.w1.status != "open" or s.meta_status == "open":
        return "w1 has no open ledger, or nobody recovers it"
    if s.w1.meta_version == s.meta_version:
        return "w1 knows the latest metadata"
    s.w1.meta_version = 0
    return TAKEN


# --- w2 fences -----------------------------------------------------------------------------------


def last_ensemble(s: State) -> NodeSet(Bookie):
    """The bookies that a recovery fences."""
    return last(s.meta_fragments).ensemble if s.meta_status == "open" else nodes_up_to(0)


@spec.action
def w2_place_in_recovery(s: State, c: Constants, lost: Subset(last_ensemble)):
    """w2 sets the status to IN_RECOVERY, and asks the last ensemble to fence and for the LACs."""
    if s.w2.status != "nil":
        return "w2 has begun its recovery before"
    if s.meta_status != "open":
        return "the ledger is not open"
    s.meta_status = "in_recovery"
    s.meta_version += 1
    s.w2.status = "in_recovery"
    s.w2.meta_version = s.meta_version
    s.w2.recovery_phase = FENCING
    s.w2.curr_fragment = last(s.meta_fragments)
    send(s.messages.fence_requests, s.w2.curr_fragment.ensemble, lost)
    return TAKEN


def has_asked(messages) -> bool:
    """Has the client asked for any entry?"""
    return any(sent(reads.requests) != 0 for reads in messages.reads)


@spec.action
def w2_receives_fencing_read_lac_response(s: State, c: Constants, bookie: Bookie, lac: SomeLac):
    """w2 learns that a bookie is fenced. Until it reads, it begins after the highest LAC so far.

    And no earlier than the last fragment, unless `lac_from_fragment` is off (defect 2).
    """
    if bookie not in s.messages.fence_responses[lac].waiting:
        return "no such answer is under way from this bookie"
    confirmed = max(lac, s.w2.curr_fragment.first_entry_id - 1) if c.lac_from_fragment else lac
    s.w2.fenced = with_node(s.w2.fenced, bookie)
    if confirmed > s.w2.lac and not has_asked(s.messages):
        s.w2.lac = confirmed
        s.w2.lap = confirmed
    handle(s.messages.fence_responses[lac], bookie)
    return TAKEN


# --- Recovery reads everything first, and writes it back afterwards ------------------------------

# BookKeeper itself overlaps both (`recovery`). Here the recovery waits until every bookie that it
# has asked for an entry has answered or timed out. It recovers the entry if an ack quorum has it,
# and has read all there is once so many bookies deny it that no ack quorum can have it. These
# functions, which `with_limbo` shares, take the client's own record (`mine`) and its messages.


def ensemble_to_read(mine, fragments) -> NodeSet(Bookie):
    """The bookies that a recovery asks for the entry after its LAP."""
    if mine.status != "in_recovery":
        return nodes_up_to(0)
    return fragments[fragment_of_entry(fragments, mine.lap + 1)].ensemble


def why_not_ask(c, mine, messages) -> str:
    """Why a recovery can't ask for the entry after its LAP; "" if it can.

    No ack quorum may be left that is not fenced.
    """
    if mine.status != "in_recovery":
        return "the client does not recover"
    if mine.recovery_phase != READ:
        if mine.recovery_phase != FENCING:
            return "the recovery is not about to read"
        cohort = mine.curr_fragment.ensemble
        if not has_quorum_coverage(c, len(mine.fenced & cohort), len(cohort)):
            return "there may be an ack quorum of bookies that are not fenced"
    if sent(messages.reads[mine.lap].requests) != 0:
        return "the recovery has asked for this entry before"
    return TAKEN


def ask_for_next_entry(mine, messages, fragments, lost) -> None:
    """Ask for the entry after the LAP."""
    mine.recovery_phase = PENDING_READ_RESPONSE
    send(messages.reads[mine.lap].requests, ensemble_to_read(mine, fragments), lost)


def read_time_outs(messages) -> NodeSet(Bookie):
    """The bookies of which the client has lost a read, or an answer to one."""
    bookies = messages.no_such_entry.lost
    for reads in messages.reads:
        bookies |= reads.requests.lost
        for answer in reads.responses:
            bookies |= answer.lost
    return bookies


def act_upon_read_time_outs(messages, bookies) -> None:
    """Forget that reads from these bookies have timed out."""
    act_upon_losses(messages.no_such_entry, bookies)
    for reads in messages.reads:
        act_upon_losses(reads.requests, bookies)
        for answer in reads.responses:
            act_upon_losses(answer, bookies)


def asked_for(fragments, entry) -> NodeSet(Bookie):
    """The bookies whose time-outs count: the original looks at them only with a positive answer."""
    if entry == 0:
        return nodes_up_to(0)
    return fragments[fragment_of_entry(fragments, entry)].ensemble


def with_answer(answers_so, bookies, bookie) -> NodeSet(Bookie):
    """The bookies that gave an answer to the current read, and this one if it gives it, too."""
    return with_node(bookies, bookie) if answers_so else bookies


def how_many_have_it(mine, bookie, has_it) -> int:
    """How many bookies have the entry, as far as the recovery knows with this answer."""
    return len(with_answer(has_it, mine.has_entry, bookie))


def how_many_deny_it(mine, bookie, denies_it) -> int:
    """How many bookies do not have the entry, as far as the recovery knows with this answer."""
    return len(with_answer(denies_it, mine.no_such_entry, bookie))


def note_answer(mine, bookie, has_it, denies_it, entry, data) -> None:
    """Remember what a bookie has answered; 0 for the entry if the answer is none."""
    mine.has_entry = with_answer(has_it, mine.has_entry, bookie)
    mine.no_such_entry = with_answer(denies_it, mine.no_such_entry, bookie)
    if has_it:
        mine.curr_read_entry = Entry(id=entry, data=data)


def forget_answers(mine) -> None:
    """Forget the answers about the entry: it is decided."""
    mine.has_entry = nodes_up_to(0)
    mine.no_such_entry = nodes_up_to(0)
    mine.curr_read_entry = Entry()


def recover_entry(mine, has_it, data) -> None:
    """The entry is to be written back, and the next one read."""
    mine.lap += 1
    add_pending_op(mine, mine.lap, data if has_it else mine.curr_read_entry.data)
    mine.recovery_phase = READ


@spec.action
def w2_sends_read_requests(
    s: State, c: Constants, lost: Subset(lambda s: ensemble_to_read(s.w2, s.meta_fragments))
):
    """w2 asks for the next entry, once no ack quorum is left that is not fenced."""
    reason = why_not_ask(c, s.w2, s.messages)
    if reason:
        return reason
    ask_for_next_entry(s.w2, s.messages, s.meta_fragments, lost)
    return TAKEN


EntryOrNone = Range(0, "send_limit")
"""The entry that a bookie answers a read with; 0 for "no such entry"."""

ItsData = Range(
    lambda entry: min(entry, 1),
    lambda c, entry: c.send_limit if entry > 0 else 0,
)
"""The data of the answer: any if it has an entry, else 0."""


def answer_to_read(s: State, entry, data):
    """The messages with this answer."""
    return s.messages.reads[entry - 1].responses[data - 1] if entry else s.messages.no_such_entry


def received_all_responses(s: State, c: Constants, bookie, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    time_outs = asked_for(s.meta_fragments, entry) & read_time_outs(s.messages)
    heard = how_many_have_it(s.w2, bookie, entry > 0) + how_many_deny_it(s.w2, bookie, entry == 0)
    return heard + len(time_outs) == c.write_quorum


def why_not_decide(s: State, c: Constants, bookie, entry, data) -> str:
    """Why this answer is not the last that w2 waits for; "" if it is."""
    if bookie not in answer_to_read(s, entry, data).waiting:
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, bookie, entry):
        return "w2 waits for more answers"
    return TAKEN


def note_fenced(s: State, c: Constants, bookie) -> None:
    """A bookie that has answered a read is fenced, if reads fence."""
    if c.recovery_reads_fence:
        s.w2.fenced = with_node(s.w2.fenced, bookie)


def finish_read(s: State, c: Constants, bookie, entry, data) -> None:
    """Take the answer, forget all answers about the entry, and act upon time-outs."""
    handle(answer_to_read(s, entry, data), bookie)
    forget_answers(s.w2)
    note_fenced(s, c, bookie)
    act_upon_read_time_outs(s.messages, asked_for(s.meta_fragments, entry))


@spec.action
def w2_receives_non_final_read(
    s: State, c: Constants, bookie: Bookie, entry: EntryOrNone, data: ItsData
):
    """w2 notes an answer to its read, and waits for more."""
    if bookie not in answer_to_read(s, entry, data).waiting:
        return "no such answer is under way from this bookie"
    if received_all_responses(s, c, bookie, entry):
        return "this is the last answer that w2 waits for"
    note_answer(s.w2, bookie, entry > 0, entry == 0, entry, data)
    note_fenced(s, c, bookie)
    handle(answer_to_read(s, entry, data), bookie)
    return TAKEN


@spec.action
def w2_completes_read_successfully(
    s: State, c: Constants, bookie: Bookie, entry: EntryOrNone, data: ItsData
):
    """An ack quorum of bookies have the entry: it is to be written back, and the next one read."""
    reason = why_not_decide(s, c, bookie, entry, data)
    if reason:
        return reason
    if how_many_have_it(s.w2, bookie, entry > 0) < c.ack_quorum:
        return "fewer bookies than an ack quorum have the entry"
    recover_entry(s.w2, entry > 0, data)
    finish_read(s, c, bookie, entry, data)
    return TAKEN


@spec.action
def w2_completes_read_with_no_such_entry(
    s: State, c: Constants, bookie: Bookie, entry: EntryOrNone, data: ItsData
):
    """So many bookies do not have the entry that no ack quorum can: w2 has read what there is."""
    reason = why_not_decide(s, c, bookie, entry, data)
    if reason:
        return reason
    if not has_quorum_coverage(c, how_many_deny_it(s.w2, bookie, entry == 0), c.write_quorum):
        return "there may be an ack quorum of bookies that have the entry"
    s.w2.recovery_phase = WRITE
    finish_read(s, c, bookie, entry, data)
    return TAKEN


# --- w2 writes back and closes -------------------------------------------------------------------


def its_write_ensemble(mine) -> NodeSet(Bookie):
    """The bookies to which a recovery writes entries back: none before it has read everything."""
    return mine.curr_fragment.ensemble if mine.recovery_phase == WRITE else nodes_up_to(0)


@spec.action
def w2_writes_back_entry(s: State, c: Constants, lost: Subset(lambda s: its_write_ensemble(s.w2))):
    """w2 writes an entry back, to the last ensemble, wherever it was read."""
    if s.w2.status != "in_recovery" or s.w2.recovery_phase != WRITE:
        return "w2 has not read all there is"
    for op in s.w2.pending_add_ops:
        adds = s.messages.adds[W2].of[op.entry.id - 1]
        if not was_add_sent(adds):
            send_adds(adds, op.entry.data, s.w2.lac, s.w2.curr_fragment.ensemble, lost)
            return TAKEN
    return "every entry that was read was written back"


@spec.action
def w2_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry that w2 wrote back."""
    if s.w2.status != "in_recovery":
        return "w2 does not recover"
    reason = why_not_confirm(s.w2, s.messages.adds[W2], bookie, entry)
    if reason:
        return reason
    confirm(c, s.w2, s.messages.adds[W2], bookie, entry)
    return TAKEN


@spec.action
def w2_changes_ensemble(
    s: State,
    c: Constants,
    bookie: Bookie,
    ensemble: Subset(
        lambda s, c, bookie: replacements(s, c, s.w2, s.messages.adds[W2], bookie), "write_quorum"
    ),
):
    """A write back timed out: w2 replaces the bookie, and writes that to the metadata."""
    if not is_at_work(s, s.w2):
        return "w2 does not recover"
    reason = why_not_change(s, c, s.w2, s.messages.adds[W2], bookie, ensemble)
    if reason:
        return reason
    change_ensemble(s, c, s.w2, s.messages.adds[W2], bookie, ensemble)
    return TAKEN


@spec.action
def w2_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w2 would have to begin a fragment before the last one: recovery fails (defect 2)."""
    if not is_at_work(s, s.w2):
        return "w2 does not recover"
    reason = why_not_invalid(s, c, s.w2, s.messages.adds[W2], bookie)
    if reason:
        return reason
    s.w2.status = "invalid"
    return TAKEN


@spec.action
def w2_sends_pending_add_op(
    s: State,
    c: Constants,
    entry: SomeEntry,
    lost: Subset(lambda s, entry: its_new_bookies(s.w2, entry)),
):
    """After a change of the ensemble, w2 writes an unconfirmed entry to the new bookie."""
    if s.w2.status != "in_recovery":
        return "w2 does not recover"
    reason = why_not_resend(s.w2, s.messages.adds[W2], entry)
    if reason:
        return reason
    resend(s.w2, s.messages.adds[W2], entry, lost)
    return TAKEN


@spec.action
def w2_closes_ledger(s: State, c: Constants):
    """Everything that was read is written back: w2 closes the ledger at its LAC."""
    reason = why_not_end_recovery(s, s.w2, s.w2.recovery_phase == WRITE)
    if reason:
        return reason
    close_ledger(s, s.w2, s.w2.lac)
    return TAKEN


# --- What is claimed -----------------------------------------------------------------------------


@spec.invariant
def type_ok(s: State, c: Constants):
    """Every variable holds what it is declared to hold."""
    if not is_ledger_of_its_type(s, c) or not is_set_of_bookies(c, s.b_fenced):
        return "a value of the metadata or of a bookie is out of range"
    if not is_writer_of_its_type(c, s.w1) or not is_writer_of_its_type(c, s.w2):
        return "a value of a client is out of range"
    return HOLDS


@spec.invariant
def only_valid_fragments(s: State, c: Constants):
    """Nobody had to begin a fragment before an existing one."""
    if s.w1.status == "invalid" or s.w2.status == "invalid":
        return "a client would have to begin a fragment before an existing one"
    return HOLDS


spec.invariant(no_out_of_order_entries)


@spec.invariant
def no_divergence_between_writer_and_meta_data(s: State, c: Constants):
    """Once the ledger is closed, it has every entry that w1 has acknowledged."""
    if s.meta_status == "closed" and s.w1.lac > s.meta_last_entry:
        return "w1 has acknowledged an entry that the closed ledger does not have"
    return HOLDS


spec.invariant(all_committed_entries_reach_ack_quorum)


@spec.invariant(by_default=False)
def no_stuck_lac(s: State, c: Constants):
    """w2's LAC rises with what it writes back: an extra, false unless `count_from_lac` is on."""
    next_entry = s.w2.lac + 1
    if next_entry <= c.send_limit and len(s.w2.confirmed[next_entry]) >= c.ack_quorum:
        return "an entry that was written back is confirmed, and w2's LAC does not rise"
    return HOLDS


def ledger_is_closed(s: State, c: Constants):
    """The ledger is closed, and w1 knows."""
    return s.meta_status == "closed" and s.w1.status == "closed"


@spec.property
def liveness():
    """w1 eventually closes the ledger. The original claims it under weak fairness of Next.

    It is false: lost messages may stop the ledger, and nobody tells w1 of a recovery.
    """
    return always_eventually(ledger_is_closed)


# --- The bound on a search: how many messages are lost at a time ----------------------------------


def count_lost_reads(messages) -> int:
    """How many reads of the client, and answers to them, are lost now."""
    return len(messages.no_such_entry.lost) + sum(
        len(reads.requests.lost) + sum(len(answer.lost) for answer in reads.responses)
        for reads in messages.reads
    )


@spec.constraint
def max_lost_messages(s: State, c: Constants):
    """At most max_lost_messages are lost at a time, not counting those acted upon."""
    if c.max_lost_messages == NO_LIMIT:
        return HOLDS
    lost = count_lost_fencing(s.messages) + count_lost_reads(s.messages)
    for adds in s.messages.adds:
        lost += count_lost_writes(adds)
    return within_lost_messages(c, lost)


# --- Situations ----------------------------------------------------------------------------------


@spec.situation(expected=True)
def recovery_closes_the_ledger(s: State, c: Constants) -> bool:
    """A recovery closes the ledger."""
    return s.w2.status == "closed"


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
    return s.meta_status == "closed" and any(
        has_entry(s, bookie, entry)
        for bookie in range(1, c.bookies + 1)
        for entry in range(s.meta_last_entry + 1, c.send_limit + 1)
    )


WHAT_EACH_RULE_KEEPS_OUT = """
A violation, in as many steps; releases are BookKeeper's.

bookie_sends_read_response, a read fences (`recovery_reads_fence`, the released fix of defect 1): 15
    steps to no_divergence_between_writer_and_meta_data with two bookies and quorums of 2. Without
    the fence a bookie may store the entry after it has denied it. The challenge outrun_the_fence
    plays it; the exercise make_a_no_last finds a fix with fewer fences.
w2_receives_fencing_read_lac_response, no earlier than the last fragment (`lac_from_fragment`, which
    fixes defect 2): 20 steps to only_valid_fragments with three bookies, a write quorum of 2 and an
    ack quorum of 1. The exercise begin_where_it_is_safe asks for it.
w1_close_ledger_success, not over a recovery (`close_overrides_recovery`): 20 steps to
    all_committed_entries_reach_ack_quorum, since w2 has written a new ensemble to the metadata at
    once, and not yet the entries. BookKeeper's writer does override a recovery, and keeps a
    recovery's ensembles private since 4.9.0, as `bookkeeper.protocol` does.
"""
