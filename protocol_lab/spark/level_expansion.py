"""Makes a level from the previous one, in the driver or by a Spark job.

Either way states are expanded, the candidates divided among the owners, and each owner settles
which are new (see `tasks`) and has them written (see `level_files`); a report comes back.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from protocol_lab.spark.executor.candidates import Parcel
from protocol_lab.spark.executor.level_files import Block, LevelPiece, write_part
from protocol_lab.spark.executor.stages import (
    CANDIDATE_COLUMNS,
    REPORT_COLUMNS,
    expand_pieces,
    in_worker,
    settle_owner,
)
from protocol_lab.spark.executor.task_reports import Report
from protocol_lab.spark.executor.tasks import Tasks
from protocol_lab.spark.executor.visited_runs import VisitedRuns
from protocol_lab.spark.jobs import Jobs
from protocol_lab.spark.model_transfer import PackedModel
from protocol_lab.spark.packaging import ship
from protocol_lab.spark.run_folder import RunFolder


@dataclass
class LevelMaker:
    """Makes the levels of one search; each is written into a folder that is empty before.

    `reached`: the expected situations that a state of an earlier level has, as bits.
    """

    folder: RunFolder
    tasks: Tasks
    jobs: Jobs
    packed: PackedModel
    _archives: tuple[str, ...] | None = None

    def by_driver(
        self, level: Path, after: VisitedRuns, reached: int, rows: list[bytes] | None = None
    ) -> Report:
        """The next level, made in this process, with its candidates in memory. rows: the initial
        states, if it is the first."""
        before, report, owners = self.folder.seen, Report(), after.partitions
        if rows is None:
            parcels = self.tasks.expand(self.folder.read(before.depth), owners, report)
        else:
            report.per_action = [len(rows)]
            joined = np.frombuffer(b"".join(rows), np.uint64).copy()
            parcels = self.tasks.start(
                joined.reshape(len(rows), self.tasks.model.words), owners, report
            )
        mine: dict[int, list[Parcel]] = {owner: [] for owner in range(owners)}
        for parcel in parcels:
            mine[parcel.owner].append(parcel)

        def settled() -> Iterator[tuple[int, Block]]:
            for owner, candidates in mine.items():
                own = Report()
                for block in self.tasks.settle(before, after, owner, candidates, reached, own):
                    yield owner, block
                report.add(own)

        report.files = write_part(level, settled())
        return report

    def by_spark(
        self,
        level: Path,
        after: VisitedRuns,
        reached: int,
        watch: Callable[[int, int], None],
    ) -> Report:
        """The next level, made by a Spark job; see `Jobs.run` for what is raised."""
        session, before = self.jobs.session(), self.folder.seen
        plan = divided(self.folder.pieces(before.depth), 2 * after.partitions)
        if self._archives is None:
            self._archives = ship(session, self.packed.packages)
        common = (self._archives, self.packed)
        expand = in_worker(expand_pieces, *common, plan, after.partitions)
        settle = in_worker(settle_owner, *common, before, after, reached, level)
        reports = (
            session.range(0, len(plan), 1, len(plan))
            .mapInArrow(expand, CANDIDATE_COLUMNS)
            .repartitionById(after.partitions, "owner")
            .mapInArrow(settle, REPORT_COLUMNS)
        )
        report = Report()
        for row in self.jobs.run(reports.collect, watch):
            report.add(Report.of(json.loads(row["report"])))
        return report


def divided(pieces: list[LevelPiece], shares: int) -> list[list[LevelPiece]]:
    """The pieces of a level in at most this many shares of about equal size."""
    plan: list[list] = [[] for _ in range(min(shares, len(pieces)))]
    sizes = [0] * len(plan)
    for piece in sorted(pieces, key=lambda piece: -piece.size):
        smallest = sizes.index(min(sizes))
        plan[smallest].append(piece)
        sizes[smallest] += piece.size
    return plan
