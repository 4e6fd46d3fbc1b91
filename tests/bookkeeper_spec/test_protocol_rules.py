"""BookKeeper's protocol of today, rule by rule, on states that are made by hand."""

import pytest

from bookkeeper_spec.model import FENCING, NO_ENTRY, READ_WRITE, Entry, Fragment, PendingAddOp
from bookkeeper_spec.recovery import (
    NEED_MORE_RESPONSES,
    NO_SUCH_ENTRY,
    OK,
    UNKNOWN,
    count_reads_under_way,
    ignore_reads_under_way,
    read_status,
    read_time_outs,
    why_not_decide,
)
from bookkeeper_spec.writing import replacements, why_not_change_metadata
from protocol_lab import add, append
from tests.hand_made import HandMade, nodes

ONE, TWO = 1, 2
"""The clients: ONE has created the ledger, TWO may recover it."""

CONSTANTS = {
    "bookies": 4,
    "clients": 2,
    "write_quorum": 3,
    "ack_quorum": 2,
    "send_limit": 2,
    "inflight_limit": 2,
}


def ledger(**constants) -> HandMade:
    """An open ledger on bookies 1, 2 and 3."""
    made = HandMade.of("bookkeeper.protocol", **{**CONSTANTS, **constants})
    s, creator = made.s, made.s.clients[ONE]
    append(s.meta_fragments, Fragment(id=1, ensemble=nodes(1, 2, 3), first_entry_id=1))
    s.meta_status, s.meta_version = "open", 1
    creator.status, creator.meta_version = "open", 1
    creator.fragments = s.meta_fragments
    creator.curr_fragment = s.meta_fragments.items[0]
    return made


def recovery(phase: int = READ_WRITE, **constants) -> HandMade:
    """Client TWO recovers the ledger: in the later phase it waits for answers about entry 1."""
    made = ledger(**constants)
    s, mine = made.s, made.s.clients[TWO]
    s.meta_status, s.meta_version = "in_recovery", 2
    mine.status, mine.meta_version, mine.recovery_phase = "in_recovery", 2, phase
    mine.fragments = s.meta_fragments
    mine.curr_fragment = s.meta_fragments.items[0]
    mine.recovery_ensemble = nodes(1, 2, 3)
    if phase == READ_WRITE:
        mine.curr_read_entry = 1
    return made


def pending(entry: int, ensemble: int, fragment: int = 1) -> PendingAddOp:
    return PendingAddOp(entry=Entry(id=entry, data=entry), fragment_id=fragment, ensemble=ensemble)


# --- Metadata ------------------------------------------------------------------------------------


def test_only_a_writer_that_knows_the_metadata_of_an_open_ledger_changes_them():
    s = ledger().s
    mine = s.clients[ONE]
    assert why_not_change_metadata(s, mine) == ""
    s.meta_version = 2
    assert "have changed" in why_not_change_metadata(s, mine)
    s.meta_version, mine.status = 1, "client_withdrawn"
    assert "has no open ledger" in why_not_change_metadata(s, mine)
    s.meta_status, mine.status = "in_recovery", "open"
    assert "somebody recovers it" in why_not_change_metadata(s, mine)


CLOSE = "client_closes_ledger_success(client={})"


@pytest.mark.parametrize("status", ["open", "client_withdrawn"])
def test_a_writer_closes_over_a_recovery_also_if_it_has_heard_that_it_is_fenced(status):
    made = recovery(close_overrides_recovery=True)
    mine = made.s.clients[ONE]
    mine.status, mine.lac = status, 1
    after = made.after(CLOSE.format(ONE))
    assert (after.meta_status, after.meta_last_entry) == ("closed", 1)
    assert after.clients[ONE].status == "closed"


def test_only_the_writer_overrides_a_recovery_and_only_if_that_is_chosen():
    chosen = {"close_overrides_recovery": True}
    assert "has not created" in recovery(**chosen).refusal(CLOSE.format(TWO))
    assert "somebody recovers it" in recovery().refusal(CLOSE.format(ONE))


def test_a_recovery_closes_the_ledger_with_its_own_fragments():
    made = recovery()
    s, mine = made.s, made.s.clients[TWO]
    mine.fragments.items[0].ensemble = nodes(2, 3, 4)
    mine.curr_read_entry, mine.last_recoverable_entry = 0, 1
    after = made.after("recovery_client_closes_ledger(client=2)")
    assert (after.meta_status, after.meta_last_entry) == ("closed", 1)
    assert after.meta_fragments.items[0].ensemble == nodes(2, 3, 4)
    assert s.meta_fragments.items[0].ensemble == nodes(1, 2, 3)


# --- Fencing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "told", "expected"), [(0, 1, (1, 1)), (1, 1, (1, 2)), (1, 0, (1, 2))]
)
def test_a_recovery_begins_later_only_after_a_higher_lac(known, told, expected):
    """The LAP, one above the LAC in the second and third case, shows whether it began anew."""
    made = recovery(FENCING)
    s, mine = made.s, made.s.clients[TWO]
    mine.lac, mine.lap = known, known + (known > 0)
    s.messages[TWO].fence_responses[told].waiting = nodes(1)
    hear = f"client_receives_fencing_read_lac_response(client=2, bookie=1, lac={told})"
    after = made.after(hear).clients[TWO]
    assert (after.lac, after.lap) == expected


def test_a_bookie_answers_a_read_once():
    made = recovery()
    reads = made.s.messages[TWO].reads[0]
    reads.requests.waiting = nodes(3)
    answer = "bookie_sends_read_response(bookie=3, client=2, entry=1, lost={})"
    assert made.after(answer).messages[TWO].reads[0].no_such_entry.waiting == nodes(3)
    reads.no_such_entry.handled = nodes(3)
    assert "has sent this answer before" in made.refusal(answer)


# --- Reading -------------------------------------------------------------------------------------


def mails_of_reads(messages) -> list:
    """Messages of each kind, also about the last entry that a recovery may ask for."""
    reads = messages.reads
    return [
        reads[0].requests,
        reads[2].requests,
        reads[2].no_such_entry,
        reads[0].responses[1],
        reads[2].responses[0],
    ]


@pytest.mark.parametrize("which", range(5))
def test_whatever_is_lost_of_a_read_times_out(which):
    made = recovery()
    messages = made.s.messages[TWO]
    mails_of_reads(messages)[which].lost = nodes(2)
    assert read_time_outs(messages) == nodes(2)


@pytest.mark.parametrize("which", range(5))
def test_reads_under_way_are_counted_until_they_are_ignored(which):
    made = recovery()
    messages = made.s.messages[TWO]
    mail = mails_of_reads(messages)[which]
    mail.waiting = nodes(1, 2, 4)
    assert count_reads_under_way(messages, nodes(1, 2, 3)) == 2
    ignore_reads_under_way(messages, nodes(1, 2, 3))
    assert (mail.waiting, mail.handled) == (nodes(4), nodes(1, 2))


@pytest.mark.parametrize(
    ("data", "negative", "time_outs", "expected"),
    [
        (1, 0, 0, OK),
        (0, 0, 0, NEED_MORE_RESPONSES),  # one of three says no
        (0, nodes(1), 0, NO_SUCH_ENTRY),  # two of three: no ack quorum of two can have it
        (0, 0, nodes(1), NEED_MORE_RESPONSES),
        (0, 0, nodes(1, 3), UNKNOWN),  # nobody else will answer
        (0, 0, nodes(1, 4), NEED_MORE_RESPONSES),  # bookie 4 was not asked
    ],
)
def test_what_answers_and_time_outs_say_of_an_entry(data, negative, time_outs, expected):
    made = recovery()
    mine = made.s.clients[TWO]
    mine.read_responses = negative
    assert read_status(made.c, mine, 2, data, time_outs) == expected


def test_the_original_decides_only_when_no_other_read_is_under_way():
    c = recovery().c
    assert "other reads" in why_not_decide(c, OK, 2)
    assert why_not_decide(c, OK, 1) == ""
    assert why_not_decide(c, NEED_MORE_RESPONSES, 2) == ""
    assert why_not_decide(recovery(ignore_late_reads=True).c, OK, 2) == ""


def answered(made: HandMade, data: int) -> str:
    """The step in which TWO hears what bookie 2 says about entry 1."""
    reads = made.s.messages[TWO].reads[0]
    answer = reads.responses[data - 1] if data else reads.no_such_entry
    answer.waiting = nodes(2)
    return f"client_receives_recovery_read_response(client=2, bookie=2, data={data})"


def test_only_a_recovery_that_reads_hears_answers():
    made = recovery()
    hear = answered(made, data=1)
    mine, reads = made.s.clients[TWO], made.s.messages[TWO].reads
    reads[0].responses[0].waiting = nodes(1)
    assert "no such answer" in made.refusal(hear)
    reads[0].responses[0].waiting = nodes(2)
    mine.status = "recovery_aborted"
    assert "does not wait for answers" in made.refusal(hear)
    mine.status, mine.curr_read_entry = "in_recovery", 0
    reads[2].responses[0].waiting = nodes(2)  # where index -1 would look
    assert "does not wait for answers" in made.refusal(hear)


def test_an_entry_that_is_found_is_to_be_written_back():
    made = recovery(ignore_late_reads=True)
    hear = answered(made, data=1)
    made.s.clients[TWO].read_responses = nodes(1)
    made.s.messages[TWO].reads[0].requests.waiting = nodes(3)
    after = made.after(hear)
    mine, reads = after.clients[TWO], after.messages[TWO].reads[0]
    assert (mine.lap, mine.curr_read_entry, mine.read_responses) == (1, 0, 0)
    assert (mine.status, mine.recovery_ensemble) == ("in_recovery", nodes(1, 2, 3))
    assert mine.last_recoverable_entry == NO_ENTRY
    assert mine.pending_add_ops.items[0].entry.data == 1
    assert reads.responses[0].handled == nodes(2)
    assert (reads.requests.waiting, reads.requests.handled) == (0, nodes(3))


def test_an_answer_that_does_not_decide_is_counted():
    made = recovery()
    mine = made.after(answered(made, data=0)).clients[TWO]
    assert (mine.read_responses, mine.curr_read_entry, mine.lap) == (nodes(2), 1, 0)
    assert mine.last_recoverable_entry == NO_ENTRY


def test_an_entry_that_does_not_exist_ends_the_reading():
    made = recovery()
    hear = answered(made, data=0)
    made.s.clients[TWO].read_responses = nodes(1)
    mine = made.after(hear).clients[TWO]
    assert (mine.last_recoverable_entry, mine.status) == (0, "in_recovery")
    assert (mine.recovery_ensemble, mine.curr_read_entry, mine.read_responses) == (0, 0, 0)
    assert (mine.lap, mine.pending_add_ops.size) == (0, 0)


def test_a_recovery_is_given_up_where_nothing_can_be_known():
    made = recovery()
    hear = answered(made, data=0)
    made.s.messages[TWO].reads[0].requests.lost = nodes(1, 3)
    mine = made.after(hear).clients[TWO]
    assert (mine.status, mine.last_recoverable_entry) == ("recovery_aborted", NO_ENTRY)


# --- Writing back --------------------------------------------------------------------------------


def test_only_a_recovery_that_reads_writes_back():
    made = recovery()
    mine = made.s.clients[TWO]
    add(mine.pending_add_ops, pending(1, nodes(1, 2, 3)))
    write = "client_writes_back_entry(client=2, lost={})"
    sent = made.after(write).messages[TWO].adds.of[0].requests[0]
    assert sent.waiting == nodes(1, 2, 3)
    mine.recovery_phase = FENCING
    assert "not in the phase" in made.refusal(write)
    mine.recovery_phase, mine.status = READ_WRITE, "recovery_aborted"
    assert "not in the phase" in made.refusal(write)


# --- Another ensemble ----------------------------------------------------------------------------


def failing(client: int, **constants) -> HandMade:
    """A client that writes has confirmed entry 1 and lost an add of entry 2 to bookie 1."""
    made = ledger(**constants) if client == ONE else recovery(**constants)
    mine, adds = made.s.clients[client], made.s.messages[client].adds
    mine.lac, mine.lap = 1, 2
    mine.confirmed[1] = mine.confirmed[2] = nodes(1, 2)
    add(mine.pending_add_ops, pending(2, nodes(1, 2, 3)))
    adds.of[1].requests[1].lost = nodes(1)
    return made


def fragments_of(fragments) -> list:
    items = [fragments.items[k] for k in range(fragments.length)]
    return [(each.id, each.ensemble, each.first_entry_id) for each in items]


REPLACED = [(1, nodes(1, 2, 3), 1), (2, nodes(2, 3, 4), 2)]


def test_an_ensemble_is_tried_even_where_there_is_nothing_to_replace():
    """One, so that the action is there, and says why it is not possible."""
    made = failing(ONE, ensemble_choice="any")
    assert replacements(made.s, made.c, ONE) == nodes(2, 3, 4)
    made.s.messages[ONE].adds.of[1].requests[1].lost = 0
    assert replacements(made.s, made.c, ONE) == nodes(1, 2, 3)


def test_the_creator_replaces_a_bookie_in_the_metadata():
    made = failing(ONE)
    change = "client_changes_ensemble(client=1, ensemble={2, 3, 4})"
    after = made.after(change)
    mine = after.clients[ONE]
    assert fragments_of(after.meta_fragments) == fragments_of(mine.fragments) == REPLACED
    assert (after.meta_version, mine.meta_version, mine.curr_fragment.id) == (2, 2, 2)
    assert (mine.confirmed[1], mine.confirmed[2]) == (nodes(1, 2), nodes(2))
    lost = after.messages[ONE].adds.of[1].requests[1]
    assert (lost.lost, lost.handled) == (0, nodes(1))
    made.s.meta_version = 2
    assert "have changed" in made.refusal(change)
    made.s.meta_version = 1
    made.s.messages[ONE].adds.of[1].requests[1].lost = nodes(4)
    assert "has timed out" in made.refusal("client_changes_ensemble(client=1, ensemble={1, 2, 3})")


def test_a_recovery_replaces_a_bookie_and_tells_nobody():
    made = failing(TWO)
    change = "recovery_client_changes_ensemble(client=2, ensemble={2, 3, 4})"
    after = made.after(change)
    assert fragments_of(after.clients[TWO].fragments) == REPLACED
    assert fragments_of(after.meta_fragments) == REPLACED[:1]
    assert (after.meta_version, after.clients[TWO].meta_version) == (2, 2)
    made.s.meta_status = "closed"
    assert "the ledger is closed" in made.refusal(change)
    made.s.meta_status, made.s.clients[TWO].status = "in_recovery", "recovery_aborted"
    assert "the client does not recover" in made.refusal(change)


@pytest.mark.parametrize(
    ("client", "action", "why_not"),
    [
        (ONE, "client_resends_pending_add_op", "has no open ledger"),
        (TWO, "recovery_client_sends_pending_add_op", "does not recover"),
    ],
)
def test_only_who_writes_sends_pending_adds_again(client, action, why_not):
    made = failing(client)
    mine = made.s.clients[client]
    mine.curr_fragment.id, mine.curr_fragment.ensemble = 2, nodes(2, 3, 4)
    send = f"{action}(client={client}, entry=2, lost={{}})"
    after = made.after(send)
    assert after.messages[client].adds.of[1].requests[1].waiting == nodes(4)
    assert after.clients[client].pending_add_ops.items[0].ensemble == nodes(2, 3, 4)
    mine.status = "client_withdrawn"
    assert why_not in made.refusal(send)


@pytest.mark.parametrize("status", ["open", "in_recovery"])
def test_a_recovery_without_the_journal_may_lose_its_fence_requests(status):
    constants = {**CONSTANTS, "clients": 3}
    del constants["inflight_limit"]
    made = HandMade.of("bookkeeper.with_limbo", **constants)
    append(made.s.meta_fragments, Fragment(id=1, ensemble=nodes(1, 2, 3), first_entry_id=1))
    made.s.meta_status, made.s.meta_version = status, 1
    after = made.after("client_starts_recovery(client=3, lost={1, 2})")
    assert after.messages[3].fence_requests.lost == nodes(1, 2)
