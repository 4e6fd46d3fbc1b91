"""The protocols of one ledger, quorum coverage and ledger chaining: counts beyond the golden file,
engines, capacities, claims."""

from functools import cache
from itertools import product

import pytest

from bookkeeper_spec.draw.ledger import describe_unbounded_ledgers, describe_with_limbo
from bookkeeper_spec.model import FENCING, Entry, Fragment, PendingAddOp, smallest_ensemble
from bookkeeper_spec.quorum_coverage import (
    disagreement,
    enough_satisfy,
    every_ack_quorum_has_one,
    few_do_not,
    no_ack_quorum_does_not,
)
from bookkeeper_spec.v4_13 import W2, WRITE, its_new_bookies, why_not_invalid
from protocol_lab import add, append, last
from protocol_lab.checker.result import Result
from protocol_lab.errors import LabError
from protocol_lab.explore import explore
from protocol_lab.model.node_sets import as_set, nodes_up_to, size, subsets
from protocol_lab.model.state_view import view
from protocol_lab.model.transitions import attempts, initial
from tests.checker.test_breadth_first import agree
from tests.spec_checks import HandMade, bind, nodes
from tests.work_units import one_in

V4_13, TODAY, LIMBO = "bookkeeper.v4_13", "bookkeeper.protocol", "bookkeeper.with_limbo"
SMALL = {"bookies": 2, "write_quorum": 2, "ack_quorum": 2}
"""With the defaults of everything else this has the layout of all runs with one entry."""

TWO_ENTRIES = {"bookies": 3, "write_quorum": 2, "send_limit": 2, "recovery_reads_fence": True}


@cache
def explored(name: str, invariants: tuple[str, ...] | None = None, **constants) -> Result:
    return explore(bind(name, **constants), invariants=invariants, progress=False)


# --- Counts ------------------------------------------------------------------------------------

# TLC's figures for configurations that are not in the golden file: distinct, generated, depth.
COMPLETE = [
    (V4_13, {"bookies": 2, "write_quorum": 1, "ack_quorum": 1}, (1307, 3081, 25)),
    (V4_13, {"write_quorum": 1, "ack_quorum": 1}, (1307, 3219, 25)),
    (V4_13, {**SMALL, "recovery_reads_fence": True}, (37817, 139250, 29)),
    (V4_13, {**TWO_ENTRIES, "ack_quorum": 1, "max_lost_messages": 0}, (15139, 80589, 44)),
    (V4_13, {**TWO_ENTRIES, "ack_quorum": 2, "max_lost_messages": 0}, (43971, 281869, 44)),
    (TODAY, {"bookies": 1, "clients": 1, "write_quorum": 1, "ack_quorum": 1}, (13, 15, 6)),
    (TODAY, {"bookies": 2, "clients": 1, "write_quorum": 2, "ack_quorum": 2}, (53, 82, 8)),
    (TODAY, {**SMALL, "max_lost_messages": 0}, (2225, 10823, 16)),
    (TODAY, {**SMALL, "max_lost_messages": 0, "ignore_late_reads": True}, (55945, 343699, 27)),
    (TODAY, {**SMALL, "ack_quorum": 1, "max_lost_messages": 1}, (31969, 159343, 28)),
    (LIMBO, {"bookies": 1, "write_quorum": 1}, (1167, 2439, 20)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "constants", "figures"), one_in(6, COMPLETE))
def test_as_many_states_as_tlc_counts(name, constants, figures):
    found = explored(name, **constants)
    assert found.verdict == "holds"
    assert (found.distinct, found.generated, found.depth) == figures


CLOSE_OVERRIDES = {"write_quorum": 2, "ack_quorum": 1, "close_overrides_recovery": True}

# The smallest losses that are known, by the number of states of their traces.
LOSSES = [
    (V4_13, SMALL, 16),
    (V4_13, {**SMALL, "max_lost_messages": 0}, 16),
    (V4_13, {"write_quorum": 2, "ack_quorum": 1, "lac_from_fragment": False}, 21),
    (TODAY, {**SMALL, "recovery_reads_fence": False}, 14),
    (LIMBO, {"bookies": 1, "write_quorum": 1, "set_limbo_on_unclean_shutdown": False}, 13),
    (LIMBO, {"bookies": 1, "write_quorum": 1, "fence_on_unclean_shutdown": False}, 13),
    (LIMBO, {"set_limbo_on_unclean_shutdown": False}, 17),
    (LIMBO, {"fence_on_unclean_shutdown": False}, 17),
    (LIMBO, {"ack_quorum": 2, "max_crashes": 2, "fence_closed_ledgers": False}, 18),
    (V4_13, {**CLOSE_OVERRIDES, "recovery_reads_fence": True}, 21),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "constants", "states"), LOSSES)
def test_the_smallest_losses(name, constants, states):
    assert len(explored(name, **constants).trace_rows) == states


@pytest.mark.rarely
def test_what_each_switch_mends():
    """The fixes hold where the defects were found; one confirmation needs no fix of defect 1."""
    for fence in (True, False):
        single = explored(V4_13, **{**SMALL, "ack_quorum": 1, "recovery_reads_fence": fence})
        assert (single.verdict, single.distinct) == ("holds", 12973)
    held = explored(V4_13, write_quorum=2, ack_quorum=1)
    assert (held.verdict, held.per_action["w2_tries_invalid_ensemble_change"]) == ("holds", 0)


@pytest.mark.rarely
def test_a_close_that_overrides_a_recovery_is_safe_where_ensembles_are_private():
    held = explored(TODAY, **CLOSE_OVERRIDES, ignore_late_reads=True)
    assert (held.verdict, held.distinct) == ("holds", 724767)
    usual = explored(TODAY, ignore_late_reads=True)
    action = "client_closes_ledger_success"
    assert held.per_action[action] > usual.per_action[action]


@pytest.mark.rarely
def test_one_crash_is_too_few_for_a_closed_ledger_on_two_bookies():
    held = explored(LIMBO, ack_quorum=2, fence_closed_ledgers=False)
    assert held.verdict == "holds"
    assert held.per_action["bookie_crashes_when_ledger_closed"] > 0


@pytest.mark.rarely
def test_a_bookie_in_limbo_that_tells_no_lac_answers_fewer_fence_requests():
    one = {"bookies": 1, "write_quorum": 1}
    told, silent = (explored(LIMBO, **one, limbo_tells_lac=each) for each in (True, False))
    action = "bookie_sends_fencing_read_lac_response"
    assert told.verdict == silent.verdict == "holds"
    assert silent.per_action[action] < told.per_action[action]


# --- Quirks, and what is meant -----------------------------------------------------------------


@pytest.mark.rarely
def test_two_bookies_that_have_the_entry_block_each_other():
    as_it_is, meant = (
        explored(TODAY, **SMALL, max_lost_messages=0, ignore_late_reads=each)
        for each in (False, True)
    )
    assert as_it_is.never_reached == ["recovery_closes_the_ledger"]
    assert meant.never_reached == []


@pytest.mark.rarely
def test_a_recovery_from_a_positive_lac_gets_stuck_unless_it_counts_from_there():
    sizes = {"bookies": 1, "write_quorum": 1, "ack_quorum": 1, "send_limit": 2}
    stuck = explored(V4_13, ("no_stuck_lac",), **sizes)
    assert (stuck.violated, len(stuck.trace_rows)) == ("no_stuck_lac", 19)
    assert explored(V4_13, ("no_stuck_lac",), **sizes, count_from_lac=True).verdict == "holds"


@pytest.mark.rarely
def test_any_ensemble_reaches_more_than_the_smallest():
    sizes = {"write_quorum": 1, "ack_quorum": 1, "max_lost_messages": 1}
    smallest, chosen = (
        explored(V4_13, **sizes, ensemble_choice=each) for each in ("smallest", "any")
    )
    assert smallest.verdict == chosen.verdict == "holds"
    assert chosen.distinct > smallest.distinct


def test_ensembles_to_choose_from():
    def offered(model):
        row = next(initial(model)).row
        tried = attempts(model, row, [model.action("w1_creates_ledger")])
        return [as_set(each.args["ensemble"]) for each in tried if each.taken]

    sizes = {"bookies": 4, "write_quorum": 2}
    assert offered(bind(V4_13, **sizes)) == [{1, 2}]
    every = offered(bind(V4_13, **sizes, ensemble_choice="any"))
    assert sorted(map(sorted, every)) == [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]]
    assert bind(V4_13, ensemble_choice="any").constants.ensemble_choice == "any"


# --- Engines and capacities --------------------------------------------------------------------


def test_constants_that_make_no_sense_are_told():
    with pytest.raises(
        LabError, match=r"ack_quorum=3 is out of bounds; use 1 to 2 \(write_quorum\)"
    ):
        bind(V4_13, write_quorum=2, ack_quorum=3)
    with pytest.raises(LabError, match=r"write_quorum=4 is out of bounds; use 1 to 3 \(bookies\)"):
        bind(V4_13, write_quorum=4)


# --- What the prose says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "describe", "word"),
    [
        (LIMBO, describe_with_limbo, "lost"),
        ("bookkeeper.unbounded_ledgers", describe_unbounded_ledgers, "truncated"),
    ],
)
def test_an_entry_that_is_gone_was_lost_unless_a_term_truncates(name, describe, word):
    model = bind(name)
    state = view(model.layout, next(initial(model)).row)
    assert describe(state, model.constants).removed == word


# --- Rules, on states made by hand ---------------------------------------------------------------


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


@pytest.mark.parametrize("status", ["open", "client_withdrawn"])
def test_a_writer_closes_over_a_recovery_also_if_it_has_heard_that_it_is_fenced(status):
    made = HandMade.of(TODAY, **FOUR, clients=2, close_overrides_recovery=True)
    s, creator = made.s, made.s.clients[1]
    append(s.meta_fragments, Fragment(id=1, ensemble=nodes(1, 2), first_entry_id=1))
    s.meta_status, s.meta_version = "in_recovery", 2
    creator.status, creator.meta_version, creator.lac = status, 1, 1
    creator.fragments = s.meta_fragments
    creator.curr_fragment = s.meta_fragments.items[0]
    after = made.after("client_closes_ledger_success(client=1)")
    assert (after.meta_status, after.meta_last_entry) == ("closed", 1)
    assert after.clients[1].status == "closed"


# --- Ensembles -----------------------------------------------------------------------------------


@pytest.mark.slow
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


# --- Quorum coverage ---------------------------------------------------------------------------

COVERAGE_FENCING = "bookkeeper.quorum_coverage_fencing"
COVERAGE_READS = "bookkeeper.quorum_coverage_recovery_reads"
CHAINING = "bookkeeper.ledger_chaining"


def searched(name: str, /, invariants=None, **constants):
    return explore(bind(name, **constants), invariants=invariants, progress=False)


def test_the_definitions_agree_for_all_cohorts_up_to_six():
    for bookies in range(1, 7):
        cohort = nodes_up_to(bookies)
        for ack_quorum, satisfying in product(range(1, bookies + 1), subsets(cohort)):
            others = cohort & ~satisfying
            answers = {
                enough_satisfy(satisfying, bookies, ack_quorum),
                every_ack_quorum_has_one(satisfying, cohort, ack_quorum),
                few_do_not(others, ack_quorum),
                no_ack_quorum_does_not(others, cohort, ack_quorum),
            }
            assert answers == {size(satisfying) > bookies - ack_quorum}
            assert disagreement(satisfying, cohort, ack_quorum) == ""


@pytest.mark.parametrize("broken", ["every_ack_quorum_has_one", "few_do_not"])
def test_a_definition_that_departs_is_named(monkeypatch, broken):
    module = "bookkeeper_spec.quorum_coverage"
    monkeypatch.setattr(f"{module}.{broken}", lambda *_: False)
    assert "another answer" in disagreement(nodes_up_to(3), nodes_up_to(3), 2)


@pytest.mark.rarely
@pytest.mark.parametrize(
    ("name", "distinct"),
    [(COVERAGE_FENCING, 6 * 3 * 4**5), (COVERAGE_READS, 6 * 4 * 9**5)],
    ids=[COVERAGE_FENCING, COVERAGE_READS],
)
def test_the_definitions_agree_in_every_state_with_six_bookies(name, distinct):
    """The sizes are sums over ensembles, write sets, ack quorums and answers, in closed form."""
    result = searched(name, all_bookies=6)
    assert (result.verdict, result.distinct, result.depth) == ("holds", distinct, 7)
    assert result.never_reached == []


# --- Ledger chaining ---------------------------------------------------------------------------


@pytest.mark.rarely
def test_a_capacity_ends_the_search_as_undecided():
    model = bind(CHAINING, clients=1, ledger_limit="none")
    result = agree(model)
    assert (result.verdict, result.distinct) == ("undecided", 131)
    assert "32 is the maximum of ledger_slots" in result.undecided_reason


@pytest.mark.slow
def test_without_fencing_the_entries_get_out_of_order():
    result = searched(CHAINING, close_fences="false")
    assert (result.violated, len(result.trace)) == ("entry_order_maintained", 12)


@pytest.mark.slow
def test_the_invariant_by_position_says_something_else_than_it_means():
    """It takes ledger_limit=6, and a look-up by id holds in all of these states."""
    checked = "only_one_ledger_open_at_a_time"
    assert searched(CHAINING, [checked], ledger_limit=5).verdict == "holds"
    result = searched(CHAINING, [checked], ledger_limit=6)
    assert (result.violated, len(result.trace_rows)) == (checked, 18)
    meant = searched(CHAINING, ledger_limit=6, open_ledgers_by="id")
    assert (meant.verdict, meant.distinct) == ("holds", 392_542)
