"""The visited set against Python's: what is new, in which order, and how it fills its memory."""

import numpy as np
import pytest

from protocol_lab.checker.visited_set import KNOWN, NEW, OUTSIDE, PARTITIONS, VisitedSet
from protocol_lab.system.memory import Budget


def entered(prints: np.ndarray, verdicts: np.ndarray, ranges, bound=10**9) -> list[int]:
    """Enter fingerprints in parts of 5,000, each by several ranges of partitions."""
    found, visited = [], VisitedSet(Budget(bound))
    for at in range(0, len(prints), 5_000):
        part, own = prints[at : at + 5_000], verdicts[at : at + 5_000]
        for first, last in ranges:
            found.append(visited.enter(first, last, part, len(part), own)[0])
    return found


def expected(prints: np.ndarray, outside: np.ndarray) -> list[int]:
    known, verdicts = set(), []
    for each, is_outside in zip(prints.tolist(), outside, strict=True):
        verdicts.append(OUTSIDE if is_outside else KNOWN if each in known else NEW)
        known |= {each} - ({each} if is_outside else set())
    return verdicts


@pytest.mark.parametrize("ranges", [[(0, 64)], [(32, 64), (0, 32)], [(7, 64), (0, 1), (1, 7)]])
def test_the_first_of_equal_fingerprints_is_new(ranges):
    chance = np.random.default_rng(1)
    prints = chance.integers(1, 2**64, 40_000, np.uint64)
    prints[30_000:] = prints[:10_000]
    outside = chance.random(40_000) < 0.1
    verdicts = np.where(outside, OUTSIDE, KNOWN).astype(np.uint8)
    assert set(entered(prints, verdicts, ranges)) == {5_000}
    assert verdicts.tolist() == expected(prints, outside)


def test_a_full_set_says_where_it_stopped():
    """All before that place is entered, and its memory is used but for one growing partition."""
    prints = np.random.default_rng(2).integers(1, 2**64, 400_000, np.uint64)
    verdicts, budget = np.zeros(400_000, np.uint8), Budget(2_000_000)
    visited = VisitedSet(budget)
    handled, new = visited.enter(0, PARTITIONS, prints, 400_000, verdicts)
    assert handled == new < 400_000
    assert (verdicts[:handled] == NEW).all()
    assert (verdicts[handled:] == KNOWN).all()
    assert 0.9 * budget.bound < budget.most <= budget.bound
    assert budget.used / handled < 20
