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

from protocol_lab.compiler.fingerprint import slot_of
from protocol_lab.compiler.kernel_cache import kernel

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
    """Counts in how many walks each state was met. Walks have to be added in order."""

    def __init__(self) -> None:
        self.level = self.stored = self.walks = 0
        self.keys, self.last, self.count = _tables(1 << (4 * KEPT).bit_length())

    def add(self, visits: np.ndarray, first: int) -> None:
        """Note the states of some walks: a row of fingerprints for each, 0 after its end."""
        begin = 0
        while begin < len(visits):
            begin, self.stored = note(
                visits, begin, first, self.level, KEPT, self.keys, self.last, self.count,
                self.stored,
            )  # fmt: skip
            if begin < len(visits):
                self._count_fewer()
        self.walks += len(visits)

    def _count_fewer(self) -> None:
        self.level += 1
        keys, last, count = _tables(len(self.keys))
        self.stored = move(self.keys, self.last, self.count, self.level, keys, last, count)
        self.keys, self.last, self.count = keys, last, count

    def estimate(self) -> Estimate:
        """The estimate from the counts."""
        counts = self.count[self.keys != 0]
        once, twice = int(np.sum(counts == 1)), int(np.sum(counts == 2))
        unseen = once * (once - 1) / 2 if twice == 0 else once * once / (2 * twice)
        if self.walks:
            unseen *= (self.walks - 1) / self.walks
        met, scale = int(counts.sum()), 1 << self.level
        return Estimate(
            self.walks,
            self.stored * scale,
            round((self.stored + unseen) * scale),
            once / met if met else 1.0,
            self.level > 0,
        )


def _tables(slots: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(slots, np.uint64), np.full(slots, -1, np.int64), np.zeros(slots, np.int64)


# --- Compiled loops; without signatures, so that importing this module compiles nothing -------


@kernel()
def is_counted(key, level) -> bool:
    """Does a fingerprint begin with this many zero bits?"""
    return key & ~(_ALL_BITS >> np.uint64(level)) == np.uint64(0)


@kernel()
def note(visits, begin, first, level, kept, keys, last, count, stored) -> tuple[int, int]:
    """Count the walks from `begin` on, up to one in which more than `kept` states are stored.

    last: the latest walk that met a state, so that a walk counts once even if it is added again.
    Returns (the walk to continue with, states stored).
    """
    for walk in range(begin, visits.shape[0]):
        for k in range(visits.shape[1]):
            key = visits[walk, k]
            if key == np.uint64(0) or not is_counted(key, level):
                continue
            if stored > kept:
                return walk, stored
            slot = slot_of(keys, key)
            if keys[slot] == np.uint64(0):
                keys[slot] = key
                stored += 1
            if last[slot] != first + walk:
                last[slot] = first + walk
                count[slot] += 1
    return visits.shape[0], stored


@kernel()
def move(keys, last, count, level, new_keys, new_last, new_count) -> int:
    """Keep the states that are counted at this level; returns how many."""
    stored = 0
    for k in range(keys.shape[0]):
        if keys[k] != np.uint64(0) and is_counted(keys[k], level):
            slot = slot_of(new_keys, keys[k])
            new_keys[slot], new_last[slot], new_count[slot] = keys[k], last[k], count[k]
            stored += 1
    return stored
