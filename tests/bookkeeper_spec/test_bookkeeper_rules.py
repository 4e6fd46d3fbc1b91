"""BookKeeper 4.13 and what it shares: rules golden runs seldom meet, on states made by hand."""

import pytest

from bookkeeper_spec.model import FENCING, Entry, Fragment, PendingAddOp, smallest_ensemble
from bookkeeper_spec.v4_13 import W2, WRITE, its_new_bookies, why_not_invalid
from protocol_lab import add, append, last
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


# --- Another ensemble ----------------------------------------------------------------------------


def failing() -> HandMade:
    """w2, which writes back, has lost an add to bookie 1 of its ensemble {1, 2}."""
    made = ledger(nodes(1, 2), status="in_recovery")
    made.s.messages.adds[W2].of[0].requests[0].lost = nodes(1)
    made.s.w2.recovery_phase = WRITE
    return made


def test_a_change_is_invalid_only_if_there_is_another_ensemble():
    made = failing()
    s, c = made.s, made.c
    append(s.meta_fragments, Fragment(id=2, ensemble=nodes(1, 2), first_entry_id=2))
    adds = s.messages.adds[W2]
    for other in (nodes(2, 3), nodes(2, 4)):
        append(s.meta_fragments, Fragment(id=3, ensemble=other, first_entry_id=2))
    assert "there is no other ensemble" in why_not_invalid(s, c, s.w2, adds, 1)
    s.meta_fragments.items[3].ensemble = nodes(3, 4)
    assert why_not_invalid(s, c, s.w2, adds, 1) == ""


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
