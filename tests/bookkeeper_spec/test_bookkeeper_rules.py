"""BookKeeper 4.13 and what it shares, rule by rule, on states that are made by hand."""

import pytest

from bookkeeper_spec.model import (
    FENCING,
    Entry,
    Fragment,
    PendingAddOp,
    act_upon_add_time_outs,
    add_time_outs,
    is_valid_ensemble,
    smallest_ensemble,
    why_not_hear_refusal,
)
from bookkeeper_spec.recovery import why_not_end_recovery
from bookkeeper_spec.v4_13.actions import (
    act_upon_read_time_outs,
    its_new_bookies,
    read_time_outs,
    replacements,
    try_invalid_ensemble_change,
    why_not_try,
)
from bookkeeper_spec.v4_13.model import PENDING_READ_RESPONSE, W1, W2, WRITE
from bookkeeper_spec.writing import close_ledger
from protocol_lab import add, append, last
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import successors
from tests.hand_made import HandMade, nodes

FOUR = {"bookies": 4, "write_quorum": 2, "ack_quorum": 2, "send_limit": 3}


def ledger(*ensembles: int, status: int = "open", **constants) -> HandMade:
    """A ledger with a fragment for each of these ensembles, from entries 1, 2, ... on. w1 has
    created it; if it is in recovery, w2 recovers it."""
    made = HandMade.of("bookkeeper.v4_13", **{**FOUR, **constants})
    s = made.s
    for k, ensemble in enumerate(ensembles, 1):
        append(s.meta_fragments, Fragment(id=k, ensemble=ensemble, first_entry_id=k))
    s.meta_status, s.meta_version = status, 1
    s.w1.status, s.w1.meta_version = "open", 1
    writers = [s.w1]
    if status == "in_recovery":
        s.meta_version = s.w2.meta_version = 2
        s.w2.status, s.w2.recovery_phase = "in_recovery", FENCING
        writers.append(s.w2)
    for writer in writers if ensembles else ():
        writer.curr_fragment = last(s.meta_fragments)
    return made


def pending(entry: int, fragment: int, ensemble: int) -> PendingAddOp:
    return PendingAddOp(entry=Entry(id=entry, data=entry), fragment_id=fragment, ensemble=ensemble)


# --- Ensembles -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("in_use", "include", "exclude", "expected"),
    [
        ((), 0, 0, nodes(1, 2)),
        ((nodes(1, 2), nodes(1, 3)), 0, 0, nodes(1, 4)),  # before {2, 3}
        ((nodes(1, 2), nodes(1, 3), nodes(1, 4)), 0, 0, nodes(2, 3)),
        ((nodes(1, 2),), nodes(2), nodes(1), nodes(2, 3)),
        ((nodes(1, 2), nodes(2, 3)), nodes(2), nodes(1), nodes(2, 4)),
        ((nodes(2, 3), nodes(2, 4)), nodes(2), nodes(1), 0),
    ],
)
def test_the_smallest_ensemble_is_that_of_the_smallest_bookies(in_use, include, exclude, expected):
    made = ledger(*in_use)
    assert smallest_ensemble(made.s, made.c, include, exclude) == expected


@pytest.mark.parametrize(
    ("ensemble", "expected"),
    [(nodes(2, 4), True), (nodes(3, 4), False), (nodes(1, 2), False), (nodes(2, 3), False)],
)
def test_a_valid_ensemble_has_the_good_bookies_and_is_new(ensemble, expected):
    """With bookie 2, without bookie 1; {2, 3} is a fragment's."""
    assert is_valid_ensemble(ledger(nodes(2, 3)).s, ensemble, nodes(2), nodes(1)) == expected


# --- Answers and time-outs -----------------------------------------------------------------------


def test_a_refusal_is_heard_after_the_answers_about_earlier_entries():
    for kind in ("confirmed", "refused"):
        adds = ledger(nodes(1, 2)).s.messages.adds[W1]
        assert "no refusal of this entry" in why_not_hear_refusal(adds, 2, 1)
        adds.of[1].refused.waiting = nodes(1)
        assert why_not_hear_refusal(adds, 2, 1) == ""
        getattr(adds.of[0], kind).waiting = nodes(2)
        assert why_not_hear_refusal(adds, 2, 1) == ""
        getattr(adds.of[0], kind).waiting = nodes(1)
        assert "an answer about an earlier entry" in why_not_hear_refusal(adds, 2, 1)


def mails_of_adds(adds) -> list:
    return [adds.of[1].confirmed, adds.of[1].refused, adds.of[2].requests[1]]


@pytest.mark.parametrize("which", range(3))
def test_whatever_is_lost_of_an_add_times_out_once(which):
    made = ledger(nodes(1, 2))
    adds = made.s.messages.adds[W1]
    mails_of_adds(adds)[which].lost = nodes(1, 2)
    assert add_time_outs(adds) == nodes(1, 2)
    act_upon_add_time_outs(adds, nodes(1))
    assert add_time_outs(adds) == nodes(2)
    assert mails_of_adds(adds)[which].handled == nodes(1)


def mails_of_reads(messages) -> list:
    reads = messages.reads
    return [messages.no_such_entry, reads[0].requests, reads[3].requests, reads[1].responses[2]]


@pytest.mark.parametrize("which", range(4))
def test_whatever_is_lost_of_a_read_times_out_once(which):
    made = ledger(nodes(1, 2), status="in_recovery")
    messages = made.s.messages
    mails_of_reads(messages)[which].lost = nodes(1, 2)
    assert read_time_outs(messages) == nodes(1, 2)
    act_upon_read_time_outs(messages, nodes(1))
    assert read_time_outs(messages) == nodes(2)
    assert mails_of_reads(messages)[which].handled == nodes(1)


# --- Closing -------------------------------------------------------------------------------------


def test_who_closes_a_ledger_knows_the_new_version():
    s = ledger(nodes(1, 2)).s
    close_ledger(s, s.w1, 2)
    assert (s.meta_status, s.meta_last_entry, s.w1.status) == ("closed", 2, "closed")
    assert (s.meta_version, s.w1.meta_version) == (2, 2)


def test_only_a_client_that_recovers_ends_a_recovery():
    s = ledger(nodes(1, 2), status="in_recovery").s
    assert why_not_end_recovery(s, s.w2, True) == ""
    for status in ("nil", "invalid"):
        s.w2.status = status
        assert "does not recover" in why_not_end_recovery(s, s.w2, True)
    s.w2.status, s.meta_status = "in_recovery", "closed"
    assert "somebody has ended the recovery" in why_not_end_recovery(s, s.w2, True)


def test_w1_hears_of_a_fence_from_its_current_ensemble_only():
    made = ledger(nodes(1, 2))
    s = made.s
    s.messages.adds[W1].of[0].refused.waiting = nodes(1, 3)
    assert made.after("w1_receives_add_fenced_response(bookie=1, entry=1)").w1.status == "nil"
    hear = "w1_receives_add_fenced_response(bookie=3, entry=1)"
    assert "not in w1's current ensemble" in made.refusal(hear)


# --- Recovery ------------------------------------------------------------------------------------


def test_a_ledger_is_recovered_once():
    made = ledger(nodes(1, 2))
    s = made.s
    assert made.after("w2_place_in_recovery(lost={})").w2.status == "in_recovery"
    s.w2.status = "closed"
    assert "begun its recovery before" in made.refusal("w2_place_in_recovery(lost={})")


@pytest.mark.parametrize(
    ("known", "told", "has_asked", "expected"),
    [(0, 2, False, 2), (2, 1, False, 2), (1, 1, False, 1), (0, 2, True, 0)],
)
def test_a_recovery_begins_after_the_highest_lac_until_it_reads(known, told, has_asked, expected):
    made = ledger(nodes(1, 2), status="in_recovery")
    s = made.s
    s.w2.lac, s.w2.lap = known, known + has_asked
    s.messages.fence_responses[told].waiting = nodes(1)
    if has_asked:
        s.w2.recovery_phase = PENDING_READ_RESPONSE
        s.messages.reads[0].requests.waiting = nodes(1)
    after = made.after(f"w2_receives_fencing_read_lac_response(bookie=1, lac={told})")
    assert (after.w2.lac, after.w2.lap) == (expected, expected + has_asked)
    assert after.w2.fenced == nodes(1)


# --- Another ensemble ----------------------------------------------------------------------------


def failing(status: int = "in_recovery") -> HandMade:
    """The client that writes has lost an add to bookie 1 of its ensemble {1, 2}."""
    made = ledger(nodes(1, 2), status=status)
    s = made.s
    s.messages.adds[W2 if status == "in_recovery" else W1].of[0].requests[0].lost = nodes(1)
    if status == "in_recovery":
        s.w2.recovery_phase = WRITE
    return made


def test_only_a_bookie_of_the_ensemble_that_failed_is_replaced():
    made = failing()
    s, c = made.s, made.c
    adds = s.messages.adds[W2]
    assert why_not_try(s, c, s.w2, adds, 1) == ""
    assert replacements(s, c, s.w2, adds, 1) == nodes(2, 3)
    assert "no add to this bookie" in why_not_try(s, c, s.w2, adds, 2)
    adds.of[0].requests[0].lost = nodes(1, 3)
    assert "not in the client's current ensemble" in why_not_try(s, c, s.w2, adds, 3)
    s.w2.meta_version = 1
    assert "metadata have changed" in why_not_try(s, c, s.w2, adds, 1)


@pytest.mark.parametrize(
    ("fragment", "ensemble", "is_to_be_sent"),
    [(1, nodes(1, 2), False), (1, nodes(2, 3), True), (2, nodes(1, 2), True)],
)
def test_pending_adds_are_sent_to_the_new_ensemble_first(fragment, ensemble, is_to_be_sent):
    made = failing()
    s = made.s
    add(s.w2.pending_add_ops, pending(1, fragment, ensemble))
    reason = why_not_try(s, made.c, s.w2, s.messages.adds[W2], 1)
    assert ("have to be sent to the new ensemble first" in reason) == is_to_be_sent


def test_a_change_is_invalid_only_if_there_is_another_ensemble():
    made = failing()
    s, c = made.s, made.c
    append(s.meta_fragments, Fragment(id=2, ensemble=nodes(1, 2), first_entry_id=2))
    adds = s.messages.adds[W2]
    for other in (nodes(2, 3), nodes(2, 4)):
        append(s.meta_fragments, Fragment(id=3, ensemble=other, first_entry_id=2))
    assert "there is no other ensemble" in try_invalid_ensemble_change(s, c, s.w2, adds, 1)
    s.meta_fragments.items[3].ensemble = nodes(3, 4)
    assert try_invalid_ensemble_change(s, c, s.w2, adds, 1) == ""
    assert s.w2.status == "invalid"


def test_w2_sends_pending_adds_to_the_new_bookie():
    made = failing()
    s = made.s
    add(s.w2.pending_add_ops, pending(1, 1, nodes(2, 3)))
    assert its_new_bookies(s.w2, 1) == nodes(1)
    s.messages.adds[W2].of[0].requests[0].lost = 0
    send = "w2_sends_pending_add_op(entry=1, lost={})"
    after = made.after(send)
    assert after.messages.adds[W2].of[0].requests[0].waiting == nodes(1)
    assert after.w2.pending_add_ops.items[0].ensemble == nodes(1, 2)
    for status in ("nil", "invalid"):
        s.w2.status = status
        assert its_new_bookies(s.w2, 1) == 0
        assert "w2 does not recover" in made.refusal(send)


@pytest.mark.parametrize(("fragment", "is_first"), [(1, False), (2, True)])
def test_an_earlier_add_to_the_same_ensemble_of_the_same_fragment_is_sent_first(fragment, is_first):
    made = failing()
    s = made.s
    s.messages.adds[W2].of[0].requests[0].lost = 0
    add(s.w2.pending_add_ops, pending(1, 1, nodes(2, 3)))
    add(s.w2.pending_add_ops, pending(2, fragment, nodes(2, 3)))
    reason = made.refusal("w2_sends_pending_add_op(entry=2, lost={})")
    assert ("an earlier entry that went to the same ensemble" in reason) != is_first
    assert (reason == "") == is_first


def test_a_ledger_is_created_with_any_ensemble_if_any_may_be_chosen():
    made = HandMade.of(
        "bookkeeper.protocol", **FOUR, clients=1, inflight_limit=1, ensemble_choice="any"
    )
    created = [each.row for each in successors(made.model, bytes(made.row))]
    chosen = [view(made.model.layout, row).meta_fragments.items[0].ensemble for row in created]
    assert sorted(chosen) == sorted(
        nodes(one, other) for one in range(1, 5) for other in range(one + 1, 5)
    )


@pytest.mark.parametrize("fence", [False, True])
def test_a_read_of_a_recovery_fences_the_bookie_if_reads_fence(fence):
    made = HandMade.of("bookkeeper.protocol", **FOUR, clients=2, recovery_reads_fence=fence)
    made.s.messages[2].reads[0].requests.waiting = nodes(3)
    after = made.after("bookie_sends_read_response(bookie=3, client=2, entry=1, lost={})")
    assert after.b_fenced == (nodes(3) if fence else 0)
    assert after.messages[2].reads[0].no_such_entry.waiting == nodes(3)
