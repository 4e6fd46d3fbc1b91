"""BookKeeper's protocol of today: rules that golden runs seldom meet, on states made by hand."""

import pytest

from bookkeeper_spec.model import NO_ENTRY, READ_WRITE, Entry, Fragment, PendingAddOp
from bookkeeper_spec.recovery import NEED_MORE_RESPONSES, OK, why_not_decide
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


# --- Reading -------------------------------------------------------------------------------------


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


def test_a_recovery_is_given_up_where_nothing_can_be_known():
    made = recovery()
    hear = answered(made, data=0)
    made.s.messages[TWO].reads[0].requests.lost = nodes(1, 3)
    mine = made.after(hear).clients[TWO]
    assert (mine.status, mine.last_recoverable_entry) == ("recovery_aborted", NO_ENTRY)


# --- Another ensemble ----------------------------------------------------------------------------


def failing(**constants) -> HandMade:
    """A recovery has confirmed entry 1 and lost an add of entry 2 to bookie 1."""
    made = recovery(**constants)
    mine, adds = made.s.clients[TWO], made.s.messages[TWO].adds
    mine.lac, mine.lap = 1, 2
    mine.confirmed[1] = mine.confirmed[2] = nodes(1, 2)
    add(mine.pending_add_ops, pending(2, nodes(1, 2, 3)))
    adds.of[1].requests[1].lost = nodes(1)
    return made


def fragments_of(fragments) -> list:
    items = [fragments.items[k] for k in range(fragments.length)]
    return [(each.id, each.ensemble, each.first_entry_id) for each in items]


REPLACED = [(1, nodes(1, 2, 3), 1), (2, nodes(2, 3, 4), 2)]


def test_a_recovery_replaces_a_bookie_and_tells_nobody():
    made = failing()
    change = "recovery_client_changes_ensemble(client=2, ensemble={2, 3, 4})"
    after = made.after(change)
    assert fragments_of(after.clients[TWO].fragments) == REPLACED
    assert fragments_of(after.meta_fragments) == REPLACED[:1]
    assert (after.meta_version, after.clients[TWO].meta_version) == (2, 2)
    made.s.meta_status = "closed"
    assert "the ledger is closed" in made.refusal(change)
    made.s.meta_status, made.s.clients[TWO].status = "in_recovery", "recovery_aborted"
    assert "the client does not recover" in made.refusal(change)


@pytest.mark.parametrize("status", ["open", "in_recovery"])
def test_a_recovery_without_the_journal_may_lose_its_fence_requests(status):
    constants = {**CONSTANTS, "clients": 3}
    del constants["inflight_limit"]
    made = HandMade.of("bookkeeper.with_limbo", **constants)
    append(made.s.meta_fragments, Fragment(id=1, ensemble=nodes(1, 2, 3), first_entry_id=1))
    made.s.meta_status, made.s.meta_version = status, 1
    after = made.after("client_starts_recovery(client=3, lost={1, 2})")
    assert after.messages[3].fence_requests.lost == nodes(1, 2)
