"""Quorum coverage: have enough bookies of a cohort answered that every ack quorum contains one of
them?

Recovery waits for it twice. Before it reads, so many bookies of the ensemble must be fenced that
no ack quorum of unfenced ones is left that could still acknowledge a write. And an entry counts as
absent once so many bookies of its write set say so that no ack quorum may hold it.

The cohort is a set of bookies, and some of them satisfy the property in question (are fenced, do
not have the entry). Here are four ways to say that these cover the cohort; that they say the same
is the claim of `quorum_coverage_fencing` and `quorum_coverage_recovery_reads`.

Source: QuorumCoverage.tla by Jack Vanlightly, https://github.com/Vanlightly/bookkeeper-tlaplus.
"""

from typing import Annotated, NamedTuple

from protocol_lab import *

Bookie = Node("all_bookies")


class Constants(NamedTuple):
    """The pool that ensembles are chosen from."""

    all_bookies: Annotated[int, Limits(1, 7, "bookies to choose ensembles from")] = 3


def enough_satisfy(satisfying: NodeSet(Bookie), cohort_size, ack_quorum) -> bool:
    """Affirmative 1: at least (cohort size - ack quorum) + 1 bookies satisfy the property."""
    return len(satisfying) >= (cohort_size - ack_quorum) + 1


def every_ack_quorum_has_one(
    satisfying: NodeSet(Bookie), cohort: NodeSet(Bookie), ack_quorum
) -> bool:
    """Affirmative 2: in every ack quorum of the cohort at least one bookie satisfies it."""
    return satisfying != 0 and all(
        len(each) != ack_quorum or each & satisfying != 0 for each in subsets(cohort)
    )


def few_do_not(not_satisfying: NodeSet(Bookie), ack_quorum) -> bool:
    """Non-affirmative 1: fewer than an ack quorum do not satisfy the property."""
    return len(not_satisfying) < ack_quorum


def no_ack_quorum_does_not(
    not_satisfying: NodeSet(Bookie), cohort: NodeSet(Bookie), ack_quorum
) -> bool:
    """Non-affirmative 2: there is no ack quorum of bookies that do not satisfy it."""
    return not any(
        len(each) == ack_quorum and is_subset(each, not_satisfying) for each in subsets(cohort)
    )


def disagreement(satisfying: NodeSet(Bookie), cohort: NodeSet(Bookie), ack_quorum) -> str:
    """ "" if all four give the same answer, else which one departs from the first."""
    covered = enough_satisfy(satisfying, len(cohort), ack_quorum)
    others = cohort & ~satisfying
    if every_ack_quorum_has_one(satisfying, cohort, ack_quorum) != covered:
        return "asking every ack quorum for one bookie gives another answer than counting"
    if few_do_not(others, ack_quorum) != covered:
        return "counting those that do not satisfy it gives another answer"
    if no_ack_quorum_does_not(others, cohort, ack_quorum) != covered:
        return "looking for an ack quorum that does not satisfy it gives another answer"
    return ""
