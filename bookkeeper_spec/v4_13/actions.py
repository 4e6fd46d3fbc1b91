"""The actions of 4.13, in the order in which a ledger lives.

The writer w1 creates the ledger, adds entries and hears of confirmations. Bookies store entries,
are fenced, and answer both clients. w1 and w2 replace one bookie at a time, in the metadata at
once. w1 closes the ledger, or w2 fences it, reads everything, writes it back, and closes it.

`with_limbo` shares the reads that come before all writes; what both share with
`bookkeeper.protocol` is in `writing` and `recovery`.
"""

from bookkeeper_spec.recovery import (
    has_quorum_coverage,
    why_not_end_recovery,
    write_back_next_entry,
)
from bookkeeper_spec.v4_13.model import *
from bookkeeper_spec.writing import (
    add_pending_op,
    begin_fragment,
    close_ledger,
    fence,
    first_ensembles,
    new_bookies_for,
    receive_confirmation,
    resend_pending_op,
    send_next_entry,
    why_not_replace,
)
from protocol_lab import *

# The domains of w1's and w2's parameters come from the same functions, called with the client's
# record and its adds.

# --- w1 creates and adds -------------------------------------------------------------------------


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


def w1_sends_add_entry_requests(s: State, c: Constants, lost: Subset(lambda s: its_ensemble(s.w1))):
    """w1 sends its next entry, with its LAC, to all bookies of its current ensemble."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    return send_next_entry(c, s.w1, s.messages.adds[W1], s.w1.lap + 1, s.w1.lac, lost)


def w1_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry of w1: the LAC may rise, and the caller is told."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    return receive_confirmation(c, s.w1, s.messages.adds[W1], bookie, entry)


def w1_receives_add_fenced_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """w1 hears that the ledger is fenced: somebody recovers it, and w1 stops."""
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


# --- Bookies answer both clients -----------------------------------------------------------------


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
    reason = reply_to(adds.requests[lac], adds.confirmed, bookie, lost)
    if reason:
        return reason
    store(s, bookie, entry, adds.data, lac)
    return TAKEN


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
    return reply_to(adds.requests[lac], adds.refused, bookie, lost)


def bookie_sends_fencing_read_lac_response(
    s: State, c: Constants, bookie: Bookie, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAC."""
    return fence(s, s.messages, bookie, s.b_lac[bookie], lost)


def bookie_sends_read_response(
    s: State, c: Constants, bookie: Bookie, entry: Range(1, "send_limit + 1"), lost: Subset(its_own)
):
    """A bookie answers a recovery read: with the entry, or that it has no such entry.

    Defect 1: the bookie need not be fenced, and may store the entry after it has denied it. 15
    steps to no_divergence_between_writer_and_meta_data, with two bookies and quorums of 2 (the
    challenge `outrun_the_fence`). The released fix is `recovery_reads_fence`; the exercise
    `make_a_no_last` finds one with fewer fences.
    """
    reads = s.messages.reads[entry - 1]
    if bookie not in reads.requests.waiting:
        return "no read of this entry is under way to this bookie"
    answer = answer_from(s, c, bookie, reads, entry, s.messages.no_such_entry)
    if bookie in sent(answer):
        return "the bookie has sent this answer before"
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    handle(reads.requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- w1 and w2 replace a bookie ------------------------------------------------------------------


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
        return no_ensemble(c)
    return bookies_to_choose(s, c, ensemble & ~only(bookie), only(bookie))


def replacements(s: State, c: Constants, writer, messages, bookie) -> NodeSet(Bookie):
    """The bookies for an ensemble without a bookie that timed out."""
    return without_one(s, c, writer, add_time_outs(messages), bookie)


def why_not_try(s: State, c: Constants, writer, messages, bookie) -> str:
    """Why a client can't try to replace this bookie; "" if it can."""
    if has_pending_resends(writer):
        return "pending adds have to be sent to the new ensemble first"
    if writer.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    return why_not_without_one(writer, add_time_outs(messages), bookie)


def why_not_without_one(writer, time_outs: NodeSet(Bookie), bookie) -> str:
    """Why a client need not go on without this bookie; "" if it has to."""
    if bookie not in writer.curr_fragment.ensemble:
        return "the bookie is not in the client's current ensemble"
    if bookie not in time_outs:
        return "no add to this bookie has timed out"
    return TAKEN


def go_on_without_one(s, c, writer, fragments, time_outs: NodeSet(Bookie), bookie, ensemble) -> str:
    """Begin a new fragment after the LAC, without a bookie that is one of those that timed out."""
    reason = why_not_without_one(writer, time_outs, bookie)
    if reason:
        return reason
    reason = why_not_replace(s, writer, only(bookie), ensemble)
    if reason:
        return reason
    if not is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would begin before an existing one"
    begin_fragment(c, writer, fragments, writer.lac + 1, only(bookie), ensemble)
    return TAKEN


def change_ensemble(s: State, c: Constants, writer, messages, bookie, ensemble) -> str:
    """Begin a new fragment after the LAC without the bookie, and write that to the metadata."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if reason:
        return reason
    time_outs = add_time_outs(messages)
    reason = go_on_without_one(s, c, writer, s.meta_fragments, time_outs, bookie, ensemble)
    if reason:
        return reason
    s.meta_version += 1
    writer.meta_version = s.meta_version
    act_upon_add_time_outs(messages, only(bookie))
    return TAKEN


def try_invalid_ensemble_change(s: State, c: Constants, writer, messages, bookie) -> str:
    """Find that the new fragment would begin before an existing one."""
    reason = why_not_try(s, c, writer, messages, bookie)
    if reason:
        return reason
    if is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would not begin before another"
    if smallest_ensemble(s, c, writer.curr_fragment.ensemble & ~only(bookie), only(bookie)) == 0:
        return "there is no other ensemble"
    writer.status = "invalid"
    return TAKEN


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
    return change_ensemble(s, c, s.w1, s.messages.adds[W1], bookie, ensemble)


def w1_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w1 would have to begin a fragment before the last one. It never has to."""
    if not is_at_work(s, s.w1):
        return "w1 has no open ledger, or somebody recovers it"
    return try_invalid_ensemble_change(s, c, s.w1, s.messages.adds[W1], bookie)


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
    return change_ensemble(s, c, s.w2, s.messages.adds[W2], bookie, ensemble)


def w2_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w2 would have to begin a fragment before the last one: recovery fails (defect 2)."""
    if not is_at_work(s, s.w2):
        return "w2 does not recover"
    return try_invalid_ensemble_change(s, c, s.w2, s.messages.adds[W2], bookie)


# --- What was not confirmed goes to the new bookie -----------------------------------------------


def its_new_bookies(writer, entry) -> NodeSet(Bookie):
    """The bookies to which a client that is not done has not sent a pending add."""
    is_at_it = writer.status in ("open", "in_recovery")
    return new_bookies_for(writer, entry) if is_at_it else nodes_up_to(0)


def w1_sends_pending_add_op(
    s: State,
    c: Constants,
    entry: SomeEntry,
    lost: Subset(lambda s, entry: its_new_bookies(s.w1, entry)),
):
    """After a change of the ensemble, w1 sends an unconfirmed entry to the new bookie."""
    if s.w1.status != "open":
        return "w1 has no open ledger"
    return resend_pending_op(s.w1, s.messages.adds[W1], entry, s.w1.lac, lost)


def w2_sends_pending_add_op(
    s: State,
    c: Constants,
    entry: SomeEntry,
    lost: Subset(lambda s, entry: its_new_bookies(s.w2, entry)),
):
    """After a change of the ensemble, w2 writes an unconfirmed entry to the new bookie."""
    if s.w2.status != "in_recovery":
        return "w2 does not recover"
    return resend_pending_op(s.w2, s.messages.adds[W2], entry, s.w2.lac, lost)


# --- w1 closes -----------------------------------------------------------------------------------


def w1_close_ledger_success(s: State, c: Constants):
    """w1 closes the ledger at its LAC, whenever it likes, if the metadata are as it knows them.

    With `close_overrides_recovery` also while w2 recovers it, as BookKeeper's writer does, and
    knowing that it is fenced. Here that breaks all_committed_entries_reach_ack_quorum, in 20 steps:
    w2 has written a new ensemble to the metadata at once, and not yet the entries. BookKeeper keeps
    a recovery's ensembles private since 4.9.0, as `bookkeeper.protocol` does.
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


def w2_receives_fencing_read_lac_response(s: State, c: Constants, bookie: Bookie, lac: SomeLac):
    """w2 hears that a bookie is fenced. Until it reads, it begins after the highest LAC so far.

    And in any case no earlier than the last fragment, unless `lac_from_fragment` is off: that is
    defect 2. 20 steps to only_valid_fragments, with three bookies, a write quorum of 2 and an ack
    quorum of 1 (the exercise `begin_where_it_is_safe`).
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


def has_asked(messages) -> bool:
    """Has the client asked for any entry?"""
    return any(sent(reads.requests) != 0 for reads in messages.reads)


def ensemble_to_read(mine, fragments) -> NodeSet(Bookie):
    """The bookies that a recovery asks for the entry after its LAP."""
    if mine.status != "in_recovery":
        return nodes_up_to(0)
    return fragments[fragment_of_entry(fragments, mine.lap + 1)].ensemble


def ask_for_next_entry(c, mine, messages, fragments, lost) -> str:
    """Ask for the entry after the LAP, once no ack quorum is left that is not fenced."""
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
    mine.recovery_phase = PENDING_READ_RESPONSE
    send(messages.reads[mine.lap].requests, ensemble_to_read(mine, fragments), lost)
    return TAKEN


def its_write_ensemble(mine) -> NodeSet(Bookie):
    """The bookies to which a recovery writes entries back: none before it has read everything."""
    return mine.curr_fragment.ensemble if mine.recovery_phase == WRITE else nodes_up_to(0)


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


def with_bookie_if(answers_so, bookies, bookie) -> NodeSet(Bookie):
    """The bookies that gave an answer to the current read, and this one if it gives it, too."""
    return with_node(bookies, bookie) if answers_so else bookies


def how_many_have_it(mine, bookie, has_it) -> int:
    """How many bookies have the entry, as far as the recovery knows with this answer."""
    return len(with_bookie_if(has_it, mine.has_entry, bookie))


def how_many_deny_it(mine, bookie, denies_it) -> int:
    """How many bookies do not have the entry, as far as the recovery knows with this answer."""
    return len(with_bookie_if(denies_it, mine.no_such_entry, bookie))


def note_answer(mine, bookie, has_it, denies_it, entry, data) -> None:
    """Remember what a bookie has answered; 0 for the entry if the answer is none."""
    mine.has_entry = with_bookie_if(has_it, mine.has_entry, bookie)
    mine.no_such_entry = with_bookie_if(denies_it, mine.no_such_entry, bookie)
    if has_it:
        mine.curr_read_entry = Entry(id=entry, data=data)


def forget_answers(mine) -> None:
    """Forget the answers about the entry: it is decided."""
    mine.has_entry = 0
    mine.no_such_entry = 0
    mine.curr_read_entry = Entry()


def recover_entry(mine, has_it, data) -> None:
    """The entry is to be written back, and the next one read."""
    mine.lap += 1
    add_pending_op(mine, mine.lap, data if has_it else mine.curr_read_entry.data)
    mine.recovery_phase = READ


# --- w2 reads ------------------------------------------------------------------------------------


def w2_sends_read_requests(
    s: State, c: Constants, lost: Subset(lambda s: ensemble_to_read(s.w2, s.meta_fragments))
):
    """w2 asks for the next entry, once no ack quorum is left that is not fenced."""
    return ask_for_next_entry(c, s.w2, s.messages, s.meta_fragments, lost)


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


def w2_writes_back_entry(s: State, c: Constants, lost: Subset(lambda s: its_write_ensemble(s.w2))):
    """w2 writes an entry back, to the last ensemble, wherever it was read."""
    if s.w2.status != "in_recovery" or s.w2.recovery_phase != WRITE:
        return "w2 has not read all there is"
    return write_back_next_entry(s.w2, s.messages.adds[W2], s.w2.lac, lost)


def w2_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry that w2 wrote back."""
    if s.w2.status != "in_recovery":
        return "w2 does not recover"
    return receive_confirmation(c, s.w2, s.messages.adds[W2], bookie, entry)


def w2_closes_ledger(s: State, c: Constants):
    """Everything that was read is written back: w2 closes the ledger at its LAC."""
    reason = why_not_end_recovery(s, s.w2, s.w2.recovery_phase == WRITE)
    if reason:
        return reason
    close_ledger(s, s.w2, s.w2.lac)
    return TAKEN
