"""Quorum coverage and ledger chaining: engines that agree, capacities, claims of the prose."""

from itertools import product

import pytest

from bookkeeper_spec.quorum_coverage import (
    disagreement,
    enough_satisfy,
    every_ack_quorum_has_one,
    few_do_not,
    no_ack_quorum_does_not,
)
from protocol_lab.catalog import load
from protocol_lab.explore import explore
from protocol_lab.model.node_sets import nodes_up_to, size, subsets
from tests.checker.test_breadth_first import agree

FENCING = "bookkeeper.quorum_coverage_fencing"
READS = "bookkeeper.quorum_coverage_recovery_reads"
CHAINING = "bookkeeper.ledger_chaining"


def explored(name: str, /, invariants=None, **constants):
    return explore(load(name).bind(**constants), invariants=invariants, progress=False)


# --- Quorum coverage ---------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("name", "distinct"), [(FENCING, 6 * 3 * 4**5), (READS, 6 * 4 * 9**5)], ids=[FENCING, READS]
)
def test_the_definitions_agree_in_every_state_with_six_bookies(name, distinct):
    """The sizes are sums over ensembles, write sets, ack quorums and answers, in closed form."""
    result = explored(name, all_bookies=6)
    assert (result.verdict, result.distinct, result.depth) == ("holds", distinct, 7)
    assert result.never_reached == []


# --- Ledger chaining ---------------------------------------------------------------------------


@pytest.mark.slow
def test_a_capacity_ends_the_search_as_undecided():
    model = load(CHAINING).bind(clients=1, ledger_limit="none")
    result = agree(model)
    assert (result.verdict, result.distinct) == ("undecided", 131)
    assert "32 is the maximum of ledger_slots" in result.undecided_reason


@pytest.mark.slow
def test_without_fencing_the_entries_get_out_of_order():
    result = explored(CHAINING, close_fences="false")
    assert (result.violated, len(result.trace)) == ("entry_order_maintained", 12)


@pytest.mark.slow
def test_the_invariant_by_position_says_something_else_than_it_means():
    """It takes ledger_limit=6, and a look-up by id holds in all of these states."""
    checked = "only_one_ledger_open_at_a_time"
    assert explored(CHAINING, [checked], ledger_limit=5).verdict == "holds"
    result = explored(CHAINING, [checked], ledger_limit=6)
    assert (result.violated, len(result.trace_rows)) == (checked, 18)
    meant = explored(CHAINING, ledger_limit=6, open_ledgers_by="id")
    assert (meant.verdict, meant.distinct) == ("holds", 392_542)
