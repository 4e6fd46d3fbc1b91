"""Estimates how much of the state space random walks have seen.

To estimate how many species live in a wood, a biologist sets traps, and counts the species that
only one trap caught, and those that exactly two did: many of the first kind mean that many species
are still unseen. Walks are the traps, and states the species (Chao, "Estimating the Population Size
for Capture-Recapture Data with Unequal Catchability", 1987, known as Chao2; Böhme, "STADS", 2018,
for programs).

With Q1 states met by one walk only and Q2 by two, of m walks, at least

    seen + (m - 1) / m * Q1² / (2 Q2)

states can be met by such walks. This assumes that walks are drawn independently from the same
distribution, but not that states are equally likely: if they are not, the true number is larger,
often much larger. It says nothing about states that need longer walks. It is a lower bound with a
statistical error, and not a verdict.

To bound the memory, once there are too many states only those whose fingerprint begins with `level`
zero bits are counted, and the counts are multiplied by 2**level.
"""

from dataclasses import dataclass

import numpy as np

KEPT = 1 << 17
"""Up to this many states are all counted; beyond that every second one is, then every fourth, and
so on."""

_ALL_BITS = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Estimate:
    """The coverage of the walks.

    seen: different states (about, if sampled); least: a lower bound of the states that such walks
    can meet; new: the share of one more walk's states that no walk has met so far.
    """

    walks: int
    seen: int
    least: int
    new: float
    sampled: bool

    @property
    def text(self) -> str:
        """The estimate in one sentence."""
        about = "about " if self.sampled else ""
        if self.walks < 2:
            return f"{about}{self.seen:,} different states seen; one walk allows no estimate"
        share = self.seen / self.least if self.least else 1.0
        return (
            f"{about}{self.seen:,} different states seen; such walks can meet at least about"
            f" {self.least:,} (seen: {share:.0%} of these), and of the states of one more walk"
            f" {self.new:.1%} would be new"
        )


class Sightings:
    """Counts in how many walks each state was met.

    keys: the fingerprints of the states that are counted, in order; counts: the walks of each.
    """

    def __init__(self) -> None:
        self.level = self.walks = 0
        self.keys, self.counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)

    def add(self, visits: np.ndarray) -> None:
        """Note the states of some walks: a row of fingerprints for each, 0 after its end."""
        rows = np.sort(visits, axis=1)
        counts_here = (rows != 0) & self._are_counted(rows)
        counts_here[:, 1:] &= rows[:, 1:] != rows[:, :-1]  # once for each walk
        every = np.concatenate([self.keys, rows[counts_here]])
        weights = np.concatenate([self.counts, np.ones(len(every) - len(self.keys), np.int64)])
        self.keys, position = np.unique(every, return_inverse=True)
        self.counts = np.bincount(position, weights).astype(np.int64)
        while len(self.keys) > KEPT:
            self.level += 1
            kept = self._are_counted(self.keys)
            self.keys, self.counts = self.keys[kept], self.counts[kept]
        self.walks += len(visits)

    def _are_counted(self, prints: np.ndarray) -> np.ndarray:
        """Which of these begin with so many zero bits?"""
        return prints <= _ALL_BITS >> np.uint64(self.level)

    def estimate(self) -> Estimate:
        """The estimate from the counts."""
        once, twice = (int(np.sum(self.counts == times)) for times in (1, 2))
        unseen = once * (once - 1) / 2 if twice == 0 else once * once / (2 * twice)
        if self.walks:
            unseen *= (self.walks - 1) / self.walks
        stored, met, scale = len(self.keys), int(self.counts.sum()), 1 << self.level
        return Estimate(
            self.walks,
            stored * scale,
            round((stored + unseen) * scale),
            once / met if met else 1.0,
            self.level > 0,
        )
