"""The visited set of a search on Spark: sorted runs of fingerprints on disk, by owner.

    seen/00007-0004-00002.run   a run that ends with depth 7: of 4 owners, what owner 2 has in it

A fingerprint belongs to the owner `fingerprint mod P` (`owner_of`), who alone says whether it is
new. P is a power of two and may grow from level to level: owner k of 4 becomes the owners k and k +
4 of 8.

What an owner has seen up to depth d is kept in few runs, after Fenwick's binary indexed trees: the
run of depth d holds the depths d - (d & -d) + 1 to d. So a level reads and writes at most
log2(d) + 1 runs, each fingerprint is rewritten at most log2(depth) times, and no file is ever
changed. At the level where P grows each new owner takes its part out of all runs and keeps it as
one, the base; from there depths are counted anew.

The runs follow from the levels: a search that is resumed makes them again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocol_lab.system.folders import SHARED, write_whole


@dataclass(frozen=True)
class VisitedRuns:
    """The visited set up to a depth, as a list of its runs. It holds no data, and can be pickled.

    depth: 0 before the first level; base: the depth that the first run ends with, if P has grown.
    """

    folder: Path
    depth: int
    partitions: int
    base: int = 0

    def after(self, partitions: int) -> "VisitedRuns":
        """The visited set one level later, with this many owners from there."""
        splits = self.depth > 0 and partitions != self.partitions
        base = self.depth + 1 if splits else self.base
        return VisitedRuns(self.folder, self.depth + 1, partitions, base)

    def runs(self) -> list[int]:
        """The depths that its runs end with."""
        found = [self.base + each for each in runs_up_to(self.depth - self.base)]
        return [*found, self.base] if self.base else found

    def file(self, run: int, owner: int) -> Path:
        """The file of one owner's part of a run."""
        return self.folder / f"{run:05}-{self.partitions:04}-{owner:05}.run"

    def files(self) -> set[Path]:
        """All files that hold it."""
        owners = range(self.partitions)
        return {self.file(run, owner) for run in self.runs() for owner in owners}

    def of(self, owner: int, partitions: int) -> list[tuple[int, np.ndarray]]:
        """One owner's part, of this many owners, as pairs (run, sorted fingerprints).

        The fingerprints are left on disk, unless there are more owners now than at that time.
        """
        runs = []
        for run in self.runs():
            prints = mapped(self.file(run, owner % self.partitions))
            if partitions != self.partitions:
                prints = prints[owner_of(prints, partitions) == owner]
            runs.append((run, prints))
        return runs

    def add(self, owner: int, new: np.ndarray, before: list[tuple[int, np.ndarray]]) -> None:
        """Write the run of this depth: the new fingerprints and the runs that it absorbs."""
        kept = self.runs()
        merged = np.concatenate([new, *(prints for run, prints in before if run not in kept)])
        merged.sort(kind="stable")  # which merges what is sorted already
        self._save(owner, merged)

    def _save(self, owner: int, prints: np.ndarray) -> None:
        """Write the newest run, under its name only when it is whole."""
        write_whole(self.file(self.depth, owner), prints.data, SHARED)

    def rebuild(self, fingerprints: Iterable[np.ndarray]) -> None:
        """Write the only run, the base, from all fingerprints, which come in any order."""
        parts = [self.folder / f"rebuild-{owner:05}.part" for owner in range(self.partitions)]
        for part in parts:
            part.write_bytes(b"")
        for prints in fingerprints:
            owners = owner_of(prints, self.partitions)
            for owner in np.unique(owners):
                with parts[int(owner)].open("ab") as stream:
                    stream.write(prints[owners == owner].tobytes())
        for owner, part in enumerate(parts):
            self._save(owner, np.sort(np.fromfile(part, np.uint64)))
            part.unlink()


def runs_up_to(depth: int) -> list[int]:
    """The depths whose runs together hold the fingerprints of the depths 1 to `depth`."""
    found = []
    while depth > 0:
        found.append(depth)
        depth &= depth - 1
    return found


def mapped(file: Path) -> np.ndarray:
    """The fingerprints of a run, left on disk."""
    if not file.stat().st_size:  # nothing can't be mapped
        return np.empty(0, np.uint64)
    return np.memmap(file, np.uint64, "r")


def owner_of(fingerprints: Any, partitions: int) -> Any:
    """The owners of fingerprints: of an int, or of each in an array of uint64.

    partitions: how many owners there are, a power of two.
    """
    return fingerprints & (partitions - 1)
