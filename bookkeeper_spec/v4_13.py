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

Quirks of the original, kept as they are: a bookie that stores nothing can answer only one read of
a run, because its answer does not tell which entry was asked for, and nothing is sent twice. Reads
that timed out count as answered only while the answer in hand is a positive one. After a failed
attempt to close, w1 goes on as if the ledger were open. See also `count_from_lac`.

Left out: reads by others, several ledgers, bookies that lose data, a recovery that gives up.

Source: BookKeeperProtocol_v4_13 in the BookKeeper specifications.
"""

from typing import Annotated, NamedTuple

from bookkeeper_spec.as_printed import OF_V4_13
from bookkeeper_spec.draw.events import v4_13_events, v4_13_lifelines
from bookkeeper_spec.draw.ledger import draw_v4_13
from bookkeeper_spec.ledger import (
    CLOSED,
    IN_RECOVERY,
    INVALID,
    NIL,
    OPEN,
    SMALLEST,
    Bookie,
    Entry,
    Fragment,
    Ledger,
    SomeEntry,
    SomeLac,
    alike,
    all_committed_entries_reach_ack_quorum,
    bookies_to_choose,
    data_of,
    fragment_of_entry,
    has_entry,
    is_ledger_of_its_type,
    is_valid_ensemble,
    last_fragment,
    no_ensemble,
    no_out_of_order_entries,
    smallest_ensemble,
    store,
    update_fragments,
)
from bookkeeper_spec.messages import (
    AddMessages,
    Mail,
    act_upon_add_time_outs,
    act_upon_losses,
    add_time_outs,
    count_lost_of,
    handle,
    is_earliest_answer,
    is_earliest_request,
    its_own,
    send,
    sent,
)
from bookkeeper_spec.writing import (
    Writer,
    add_pending_op,
    change_count,
    forget_confirmations,
    has_pending_resends,
    is_writer_of_its_type,
    new_bookies_for,
    receive_confirmation,
    resend_count,
    resend_pending_op,
    send_next_entry,
    write_back_next_entry,
)
from protocol_lab import (
    HOLDS,
    NEXT,
    NO_LIMIT,
    TAKEN,
    Array,
    Limits,
    Named,
    NodeSet,
    Range,
    Spec,
    Struct,
    Subset,
    always_eventually,
    append,
    choice,
    contains,
    flag,
    only,
    size,
    with_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and what can be switched."""

    bookies: Annotated[int, Limits(1, 7, "bookies that there are", classes=(4, 7))] = 3
    write_quorum: Annotated[int, Limits(1, "bookies", "bookies that store each entry")] = 3
    ack_quorum: Annotated[
        int, Limits(1, "write_quorum", "bookies that have to confirm each entry")
    ] = 2
    send_limit: Annotated[
        int, Limits(1, 6, "entries that the writer has to write", classes=(1, 2, 4, 6))
    ] = 1
    recovery_reads_fence: Annotated[int, flag("do recovery reads fence (mends defect 1)")] = 0
    lac_from_fragment: Annotated[
        int, flag("does recovery start no earlier than the last fragment (mends defect 2)")
    ] = 1
    max_lost_messages: Annotated[
        int, Limits(0, 99, "bound on messages that are lost at a time", may_be_none=True)
    ] = NO_LIMIT
    ensemble_choice: Annotated[
        int, choice("smallest", "any", meaning="which available ensemble is taken")
    ] = SMALLEST
    count_from_lac: Annotated[
        int, flag("does a LAC rise from where it is, and not only if counted from entry 1")
    ] = 0


# --- State -----------------------------------------------------------------------------------

NOT_STARTED, FENCING, READ, PENDING_READ_RESPONSE, WRITE = range(5)
"""The phases of recovery. BookKeeper overlaps reads and writes; apart they give fewer states."""

W1, W2 = 0, 1
"""Who sent a message and gets the answer: w1's adds are refused when fenced, w2's are not."""

SomeWriter = Named(("w1", "w2"))


class WriterState(Writer):
    """w1 or w2; what follows is for recovery."""

    curr_read_entry: Entry  # the entry that is being read, if an answer had it
    has_entry: NodeSet(Bookie)  # who answered that it has the entry that is being read
    no_such_entry: NodeSet(Bookie)  # and who that it does not


class Reads(Struct):
    """w2 asks for an entry, and is answered with its data."""

    requests: Mail
    responses: Array(Mail, "send_limit")  # by the data, from 1


class Messages(Struct):
    """All that is or was under way."""

    adds: Array(AddMessages, 2)  # w1's and w2's
    fence_requests: Mail
    fence_responses: Array(Mail, "send_limit + 1")  # by the bookie's LAC
    reads: Array(Reads, "send_limit + 1")  # by the entry, from 1
    no_such_entry: Mail  # the answer to a read that does not tell which entry was meant


class State(Ledger):
    """The ledger, its two clients, and the messages between them and the bookies."""

    w1: WriterState
    w2: WriterState
    messages: Messages


# --- What the guards ask ---------------------------------------------------------------------


def first_ensembles(s, c) -> int:
    """The bookies for the first ensemble."""
    return bookies_to_choose(s, c, 0, 0) if s.meta_status == NIL else no_ensemble(c)


def replacements(s, c, writer, messages, bookie) -> int:
    """The bookies for an ensemble without a bookie that timed out."""
    if not contains(writer.curr_fragment.ensemble & add_time_outs(c, messages), bookie):
        return no_ensemble(c)
    return bookies_to_choose(s, c, writer.curr_fragment.ensemble & ~only(bookie), only(bookie))


def is_valid_next_fragment(s, first_entry_id) -> bool:
    """Does a fragment that begins there begin before none that there is?"""
    return all(
        s.meta_fragments.items[k].first_entry_id <= first_entry_id
        for k in range(s.meta_fragments.length)
    )


def read_was_sent(s, entry) -> bool:
    """Has w2 asked for this entry?"""
    return sent(s.messages.reads[entry - 1].requests) != 0


def read_phase_has_started(s, c) -> bool:
    """Has w2 asked for any entry?"""
    return any(read_was_sent(s, entry) for entry in range(1, c.send_limit + 2))


def read_time_outs(s, c) -> int:
    """The bookies of which w2 has lost a read, or an answer to one."""
    bookies = s.messages.no_such_entry.lost
    for k in range(c.send_limit + 1):
        bookies |= s.messages.reads[k].requests.lost
        for data in range(c.send_limit):
            bookies |= s.messages.reads[k].responses[data].lost
    return bookies


def has_quorum_coverage(c, bookies, cohort) -> bool:
    """Does every ack quorum of the cohort have one of these bookies?"""
    return size(bookies & cohort) >= size(cohort) - c.ack_quorum + 1


# --- Bookies ---------------------------------------------------------------------------------


def add_witnesses(s, c, bookie, writer, entry, lac, lost) -> int:
    """The original says "not fenced, or of a recovery", and both may be true."""
    return 2 if writer == W2 and not contains(s.b_fenced, bookie) else 1


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
    messages = s.messages.adds[writer]
    adds = messages.of[entry - 1]
    if not contains(adds.requests[lac].waiting, bookie):
        return "no such request is under way to this bookie"
    if not is_earliest_request(c, messages, entry, bookie):
        return "a request for an earlier entry is under way to this bookie"
    if contains(s.b_fenced, bookie) and writer == W1:
        return "the ledger is fenced on this bookie"
    if contains(sent(adds.confirmed), bookie):
        return "the bookie has sent this answer before"
    store(s, bookie, entry, adds.data, lac)
    handle(adds.requests[lac], bookie)
    send(adds.confirmed, only(bookie), lost)
    return TAKEN


def bookie_sends_add_fenced_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    entry: SomeEntry,
    lac: SomeLac,
    lost: Subset(its_own),
):
    """A bookie on which the ledger is fenced refuses an add of w1."""
    messages = s.messages.adds[W1]
    adds = messages.of[entry - 1]
    if not contains(adds.requests[lac].waiting, bookie):
        return "no such request of w1 is under way to this bookie"
    if not contains(s.b_fenced, bookie):
        return "the ledger is not fenced on this bookie"
    if not is_earliest_request(c, messages, entry, bookie):
        return "a request for an earlier entry is under way to this bookie"
    if contains(sent(adds.refused), bookie):
        return "the bookie has sent this answer before"
    handle(adds.requests[lac], bookie)
    send(adds.refused, only(bookie), lost)
    return TAKEN


def bookie_sends_fencing_read_lac_response(
    s: State, c: Constants, bookie: Bookie, lost: Subset(its_own)
):
    """A bookie fences the ledger, whether it has heard of it or not, and tells its LAC."""
    if not contains(s.messages.fence_requests.waiting, bookie):
        return "no fence request is under way to this bookie"
    answer = s.messages.fence_responses[s.b_lac[bookie]]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    s.b_fenced = with_node(s.b_fenced, bookie)
    handle(s.messages.fence_requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


def bookie_sends_read_response(
    s: State,
    c: Constants,
    bookie: Bookie,
    entry: Range(1, "send_limit + 1"),
    lost: Subset(its_own),
):
    """A bookie answers a recovery read: with the entry, or that it has no such entry."""
    requests = s.messages.reads[entry - 1].requests
    if not contains(requests.waiting, bookie):
        return "no read of this entry is under way to this bookie"
    answer = s.messages.no_such_entry
    if entry <= c.send_limit and has_entry(s, bookie, entry):
        answer = s.messages.reads[entry - 1].responses[data_of(s, bookie, entry) - 1]
    if contains(sent(answer), bookie):
        return "the bookie has sent this answer before"
    if c.recovery_reads_fence:
        s.b_fenced = with_node(s.b_fenced, bookie)
    handle(requests, bookie)
    send(answer, only(bookie), lost)
    return TAKEN


# --- w1, the writer --------------------------------------------------------------------------


def w1_creates_ledger(s: State, c: Constants, ensemble: Subset(first_ensembles, "write_quorum")):
    """w1 chooses the first ensemble; the bookies are not told."""
    if s.meta_status != NIL or s.w1.meta_version != 0:
        return "the ledger exists"
    append(s.meta_fragments, Fragment(id=1, ensemble=ensemble, first_entry_id=1))
    s.meta_status = OPEN
    s.meta_version = 1
    s.w1.status = OPEN
    s.w1.meta_version = 1
    s.w1.curr_fragment = s.meta_fragments.items[0]
    return TAKEN


def w1s_ensemble(s) -> int:
    """The bookies to which w1 sends what it adds."""
    return s.w1.curr_fragment.ensemble if s.w1.status == OPEN else 0


def w1_sends_add_entry_requests(s: State, c: Constants, lost: Subset(w1s_ensemble)):
    """w1 sends its next entry, with its LAC, to all bookies of its current ensemble."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return send_next_entry(c, s.w1, s.messages.adds[W1], lost)


def w1_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry of w1: the LAC may rise, and the caller is told."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return receive_confirmation(c, s.w1, s.messages.adds[W1], bookie, entry)


def w1_receives_add_fenced_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """w1 hears that the ledger is fenced: somebody recovers it, and w1 stops."""
    messages = s.messages.adds[W1]
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    if not contains(messages.of[entry - 1].refused.waiting, bookie):
        return "no refusal of this entry is under way from this bookie"
    if not is_earliest_answer(messages, entry, bookie):
        return "an answer about an earlier entry is under way from this bookie"
    if not contains(s.w1.curr_fragment.ensemble, bookie):
        return "the bookie is not in w1's current ensemble"
    s.w1.status = NIL
    handle(messages.of[entry - 1].refused, bookie)
    return TAKEN


# --- w1 or w2: a bookie has failed -------------------------------------------------------------


def w1s_replacements(s, c, bookie) -> int:
    """The bookies for an ensemble of w1 without one that timed out."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return no_ensemble(c)
    return replacements(s, c, s.w1, s.messages.adds[W1], bookie)


def w2s_replacements(s, c, bookie) -> int:
    """The bookies for an ensemble of w2 without one that timed out."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return no_ensemble(c)
    return replacements(s, c, s.w2, s.messages.adds[W2], bookie)


def why_not_replace(s, c, writer, messages, bookie) -> str:
    """Why a client can't replace this bookie; "" if it can try."""
    if has_pending_resends(writer):
        return "adds are to be sent to the bookies of the new ensemble first"
    if writer.meta_version != s.meta_version:
        return "the metadata have changed since the client read them"
    if not contains(writer.curr_fragment.ensemble, bookie):
        return "the bookie is not in the client's current ensemble"
    if not contains(add_time_outs(c, messages), bookie):
        return "no add to this bookie has timed out"
    return TAKEN


def change_ensemble(s, c, writer, messages, bookie, ensemble) -> str:
    """Begin a new fragment after the LAC without the bookie, and write that to the metadata."""
    reason = why_not_replace(s, c, writer, messages, bookie)
    if len(reason) != 0:
        return reason
    good = writer.curr_fragment.ensemble & ~only(bookie)
    if not is_valid_ensemble(s, ensemble, good, only(bookie)):
        return "this is no ensemble of all good bookies and others that no fragment has"
    first_entry_id = writer.lac + 1
    if not is_valid_next_fragment(s, first_entry_id):
        return "the fragment would begin before one that there is"
    update_fragments(s.meta_fragments, writer.curr_fragment, first_entry_id, ensemble)
    s.meta_version += 1
    writer.meta_version = s.meta_version
    forget_confirmations(c, writer, only(bookie))
    writer.curr_fragment = last_fragment(s.meta_fragments)
    act_upon_add_time_outs(c, messages, only(bookie))
    return TAKEN


def try_invalid_ensemble_change(s, c, writer, messages, bookie) -> str:
    """Find that the new fragment would begin before one that there is."""
    reason = why_not_replace(s, c, writer, messages, bookie)
    if len(reason) != 0:
        return reason
    if is_valid_next_fragment(s, writer.lac + 1):
        return "the fragment would begin after all that there are"
    if smallest_ensemble(s, c, writer.curr_fragment.ensemble & ~only(bookie), only(bookie)) == 0:
        return "there is no other ensemble"
    writer.status = INVALID
    return TAKEN


def w1_change_witnesses(s, c, bookie, ensemble) -> int:
    """As often as there are time-outs and ensembles."""
    return change_count(s, c, s.w1, s.messages.adds[W1], only(bookie))


def w1_changes_ensemble(
    s: State, c: Constants, bookie: Bookie, ensemble: Subset(w1s_replacements, "write_quorum")
):
    """An add of w1 timed out: it replaces the bookie, and writes that to the metadata."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    return change_ensemble(s, c, s.w1, s.messages.adds[W1], bookie, ensemble)


def w1_invalid_witnesses(s, c, bookie) -> int:
    """As often as there are time-outs and ensembles."""
    return change_count(s, c, s.w1, s.messages.adds[W1], only(bookie))


def w1_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w1 would have to begin a fragment before the last one. It never has to."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    return try_invalid_ensemble_change(s, c, s.w1, s.messages.adds[W1], bookie)


def w1s_new_bookies(s, entry) -> int:
    """The bookies to which w1 has not sent a pending add."""
    return new_bookies_for(s.w1, entry) if s.w1.status == OPEN else 0


def w1_resend_witnesses(s, c, entry, lost) -> int:
    """Twice if both fragment and ensemble are others."""
    return resend_count(s.w1, entry)


def w1_sends_pending_add_op(
    s: State, c: Constants, entry: SomeEntry, lost: Subset(w1s_new_bookies)
):
    """After a change of the ensemble, w1 sends an unconfirmed entry to the new bookie."""
    if s.w1.status != OPEN:
        return "w1 has no open ledger"
    return resend_pending_op(c, s.w1, s.messages.adds[W1], entry, lost)


# --- w1 closes ---------------------------------------------------------------------------------


def w1_close_ledger_success(s: State, c: Constants):
    """w1 closes the ledger at its LAC, whenever it likes, if the metadata are as it knows them."""
    if s.w1.status != OPEN or s.meta_status != OPEN:
        return "w1 has no open ledger, or somebody recovers it"
    if s.w1.meta_version != s.meta_version:
        return "the metadata have changed since w1 read them"
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = s.w1.lac
    s.w1.meta_version = s.meta_version
    s.w1.status = CLOSED
    return TAKEN


def w1_close_ledger_fail(s: State, c: Constants):
    """w1 tries to close the ledger, but somebody recovers it. w1 goes on all the same."""
    if s.w1.status != OPEN or s.meta_status == OPEN:
        return "w1 has no open ledger, or nobody recovers it"
    if s.w1.meta_version == s.meta_version:
        return "w1 knows the latest metadata"
    s.w1.meta_version = 0
    return TAKEN


# --- w2 fences ---------------------------------------------------------------------------------


def last_ensemble(s) -> int:
    """The bookies that a recovery fences."""
    return last_fragment(s.meta_fragments).ensemble if s.meta_status == OPEN else 0


def w2_place_in_recovery(s: State, c: Constants, lost: Subset(last_ensemble)):
    """w2 sets the status to IN_RECOVERY, and asks the last ensemble to fence and for the LACs."""
    if s.w2.status != NIL:
        return "w2 has begun its recovery"
    if s.meta_status != OPEN:
        return "the ledger is not open"
    s.meta_status = IN_RECOVERY
    s.meta_version += 1
    s.w2.status = IN_RECOVERY
    s.w2.meta_version = s.meta_version
    s.w2.recovery_phase = FENCING
    s.w2.curr_fragment = last_fragment(s.meta_fragments)
    send(s.messages.fence_requests, s.w2.curr_fragment.ensemble, lost)
    return TAKEN


def w2_receives_fencing_read_lac_response(s: State, c: Constants, bookie: Bookie, lac: SomeLac):
    """w2 hears that a bookie is fenced. Until it reads, it begins after the highest LAC so far.

    And in any case no earlier than the last fragment, unless `lac_from_fragment` is off.
    """
    if not contains(s.messages.fence_responses[lac].waiting, bookie):
        return "no such answer is under way from this bookie"
    confirmed = max(lac, s.w2.curr_fragment.first_entry_id - 1) if c.lac_from_fragment else lac
    s.w2.fenced = with_node(s.w2.fenced, bookie)
    if confirmed > s.w2.lac and not read_phase_has_started(s, c):
        s.w2.lac = confirmed
        s.w2.lap = confirmed
    handle(s.messages.fence_responses[lac], bookie)
    return TAKEN


# --- w2 reads ----------------------------------------------------------------------------------


def read_ensemble(s) -> int:
    """The bookies that w2 asks for the entry after its LAP."""
    if s.w2.status != IN_RECOVERY:
        return 0
    fragments = s.meta_fragments
    return fragments.items[fragment_of_entry(fragments, s.w2.lap + 1)].ensemble


def w2_sends_read_requests(s: State, c: Constants, lost: Subset(read_ensemble)):
    """w2 asks for the next entry, once no ack quorum is left that is not fenced."""
    if s.w2.status != IN_RECOVERY:
        return "w2 does not recover"
    if s.w2.recovery_phase != READ:
        if s.w2.recovery_phase != FENCING:
            return "w2 is not about to read"
        if not has_quorum_coverage(c, s.w2.fenced, s.w2.curr_fragment.ensemble):
            return "there may be an ack quorum of bookies that are not fenced"
    if read_was_sent(s, s.w2.lap + 1):
        return "w2 has asked for this entry before"
    s.w2.recovery_phase = PENDING_READ_RESPONSE
    send(s.messages.reads[s.w2.lap].requests, read_ensemble(s), lost)
    return TAKEN


def first_data(entry) -> int:
    """An answer without an entry has no data: 0."""
    return min(entry, 1)


def last_data(c, entry) -> int:
    """An answer with an entry may have any data."""
    return c.send_limit if entry > 0 else 0


SomeAnswer = Range(0, "send_limit")
"""The entry that a bookie answers a read with; 0 for "no such entry"."""

ItsData = Range(first_data, last_data)


def answer_to_read(s, entry, data):
    """The messages with this answer."""
    return s.messages.reads[entry - 1].responses[data - 1] if entry else s.messages.no_such_entry


def who_has_it(s, bookie, entry) -> int:
    """The bookies that have the entry, as far as w2 knows with this answer."""
    return with_node(s.w2.has_entry, bookie) if entry > 0 else s.w2.has_entry


def who_has_it_not(s, bookie, entry) -> int:
    """The bookies that do not have the entry, as far as w2 knows with this answer."""
    return s.w2.no_such_entry if entry > 0 else with_node(s.w2.no_such_entry, bookie)


def asked_for(s, entry) -> int:
    """The bookies that may have timed out: the original looks only at a positive answer's."""
    fragments = s.meta_fragments
    return fragments.items[fragment_of_entry(fragments, entry)].ensemble if entry > 0 else 0


def received_all_responses(s, c, bookie, entry) -> bool:
    """With this answer, has every bookie answered or timed out?"""
    return (
        size(who_has_it(s, bookie, entry))
        + size(who_has_it_not(s, bookie, entry))
        + size(asked_for(s, entry) & read_time_outs(s, c))
        == c.write_quorum
    )


def finish_read(s, c, bookie, entry, data) -> None:
    """Take the answer, forget what was found out about the entry, and act upon time-outs."""
    handle(answer_to_read(s, entry, data), bookie)
    s.w2.has_entry = 0
    s.w2.no_such_entry = 0
    s.w2.curr_read_entry.id = 0
    s.w2.curr_read_entry.data = 0
    if c.recovery_reads_fence:
        s.w2.fenced = with_node(s.w2.fenced, bookie)
    bookies = asked_for(s, entry)
    act_upon_losses(s.messages.no_such_entry, bookies)
    for k in range(c.send_limit + 1):
        act_upon_losses(s.messages.reads[k].requests, bookies)
        for each in range(c.send_limit):
            act_upon_losses(s.messages.reads[k].responses[each], bookies)


def w2_receives_non_final_read(
    s: State, c: Constants, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """w2 notes an answer to its read, and waits for more."""
    if not contains(answer_to_read(s, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if received_all_responses(s, c, bookie, entry):
        return "this is the last answer that w2 waits for"
    s.w2.has_entry = who_has_it(s, bookie, entry)
    s.w2.no_such_entry = who_has_it_not(s, bookie, entry)
    if entry > 0:
        s.w2.curr_read_entry.id = entry
        s.w2.curr_read_entry.data = data
    if c.recovery_reads_fence:
        s.w2.fenced = with_node(s.w2.fenced, bookie)
    handle(answer_to_read(s, entry, data), bookie)
    return TAKEN


def w2_completes_read_successfully(
    s: State, c: Constants, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """An ack quorum of bookies have the entry: it is to be written back, and the next one read."""
    if not contains(answer_to_read(s, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, bookie, entry):
        return "w2 waits for more answers"
    if size(who_has_it(s, bookie, entry)) < c.ack_quorum:
        return "less than an ack quorum of bookies have the entry"
    s.w2.lap += 1
    add_pending_op(s.w2, s.w2.lap, data if entry > 0 else s.w2.curr_read_entry.data)
    s.w2.recovery_phase = READ
    finish_read(s, c, bookie, entry, data)
    return TAKEN


def w2_completes_read_with_no_such_entry(
    s: State, c: Constants, bookie: Bookie, entry: SomeAnswer, data: ItsData
):
    """So many bookies do not have the entry that no ack quorum can: w2 has read what there is."""
    if not contains(answer_to_read(s, entry, data).waiting, bookie):
        return "no such answer is under way from this bookie"
    if not received_all_responses(s, c, bookie, entry):
        return "w2 waits for more answers"
    if size(who_has_it_not(s, bookie, entry)) < c.write_quorum - c.ack_quorum + 1:
        return "there may be an ack quorum of bookies that have the entry"
    s.w2.recovery_phase = WRITE
    finish_read(s, c, bookie, entry, data)
    return TAKEN


# --- w2 writes back, and closes ------------------------------------------------------------------


def w2s_ensemble(s) -> int:
    """The bookies to which w2 writes entries back."""
    return s.w2.curr_fragment.ensemble if s.w2.recovery_phase == WRITE else 0


def w2_writes_back_entry(s: State, c: Constants, lost: Subset(w2s_ensemble)):
    """w2 writes an entry back, to the last ensemble, wherever it was read."""
    if s.w2.status != IN_RECOVERY or s.w2.recovery_phase != WRITE:
        return "w2 has not read all there is"
    return write_back_next_entry(c, s.w2, s.messages.adds[W2], lost)


def w2_receives_add_confirmed_response(s: State, c: Constants, bookie: Bookie, entry: SomeEntry):
    """A bookie has stored an entry that w2 wrote back."""
    if s.w2.status != IN_RECOVERY:
        return "w2 does not recover"
    return receive_confirmation(c, s.w2, s.messages.adds[W2], bookie, entry)


def w2_change_witnesses(s, c, bookie, ensemble) -> int:
    """As often as there are time-outs and ensembles."""
    return change_count(s, c, s.w2, s.messages.adds[W2], only(bookie))


def w2_changes_ensemble(
    s: State, c: Constants, bookie: Bookie, ensemble: Subset(w2s_replacements, "write_quorum")
):
    """A write back timed out: w2 replaces the bookie, and writes that to the metadata."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "w2 does not recover"
    return change_ensemble(s, c, s.w2, s.messages.adds[W2], bookie, ensemble)


def w2_invalid_witnesses(s, c, bookie) -> int:
    """As often as there are time-outs and ensembles."""
    return change_count(s, c, s.w2, s.messages.adds[W2], only(bookie))


def w2_tries_invalid_ensemble_change(s: State, c: Constants, bookie: Bookie):
    """w2 would have to begin a fragment before the last one: recovery fails (defect 2)."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "w2 does not recover"
    return try_invalid_ensemble_change(s, c, s.w2, s.messages.adds[W2], bookie)


def w2s_new_bookies(s, entry) -> int:
    """The bookies to which w2 has not sent a pending add."""
    return new_bookies_for(s.w2, entry) if s.w2.status == IN_RECOVERY else 0


def w2_resend_witnesses(s, c, entry, lost) -> int:
    """Twice if both fragment and ensemble are others."""
    return resend_count(s.w2, entry)


def w2_sends_pending_add_op(
    s: State, c: Constants, entry: SomeEntry, lost: Subset(w2s_new_bookies)
):
    """After a change of the ensemble, w2 writes an unconfirmed entry to the new bookie."""
    if s.w2.status != IN_RECOVERY:
        return "w2 does not recover"
    return resend_pending_op(c, s.w2, s.messages.adds[W2], entry, lost)


def w2_closes_ledger(s: State, c: Constants):
    """Everything that was read is written back: w2 closes the ledger at its LAC."""
    if s.w2.status != IN_RECOVERY or s.meta_status != IN_RECOVERY:
        return "w2 does not recover"
    if s.w2.recovery_phase != WRITE:
        return "w2 has not read all there is"
    if s.w2.pending_add_ops.size != 0:
        return "not all that was read is written back"
    if s.w2.meta_version != s.meta_version:
        return "the metadata have changed since w2 read them"
    s.meta_version += 1
    s.meta_status = CLOSED
    s.meta_last_entry = s.w2.lac
    s.w2.meta_version = s.meta_version
    s.w2.status = CLOSED
    return TAKEN


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
spec.action(w1_tries_invalid_ensemble_change, witnesses=w1_invalid_witnesses)
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
spec.action(w2_tries_invalid_ensemble_change, witnesses=w2_invalid_witnesses)
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
    lost = size(s.messages.fence_requests.lost) + size(s.messages.no_such_entry.lost)
    for k in range(2):
        lost += count_lost_of(c, s.messages.adds[k])
    for k in range(c.send_limit + 1):
        lost += size(s.messages.fence_responses[k].lost) + size(s.messages.reads[k].requests.lost)
        for data in range(c.send_limit):
            lost += size(s.messages.reads[k].responses[data].lost)
    return HOLDS if lost <= c.max_lost_messages else "more messages are lost than max_lost_messages"


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
