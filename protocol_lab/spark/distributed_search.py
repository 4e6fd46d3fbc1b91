"""Breadth-first search on Spark: one job for each level, levels kept as Parquet.

A level is read in pieces; tasks expand them and send the candidates, in few large blobs, to the
owners of their fingerprints; the owners drop what they have seen and write the rest as the next
level. The driver only reads the tasks' reports. A level that is too small to be worth a Spark job
(which costs some tenths of a second whatever it does) is done by the driver with the same code.

Only the DataFrame API is used, no SparkContext. What tasks do is in
`executor.tasks`, how a level is made in `level_expansion`; the files are in `run_folder`, decoded
tables in `dataframes`.
"""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocol_lab.checker.counterexample import add_trace
from protocol_lab.checker.cross_check import compare
from protocol_lab.checker.request import (
    SearchRequest,
    Undecided,
    ending,
    evaluation_error,
    too_many_states,
)
from protocol_lab.checker.result import Result
from protocol_lab.compiler import fingerprint
from protocol_lab.errors import EvaluationError, LabError
from protocol_lab.model import constants as constants_module
from protocol_lab.model.spec import Model
from protocol_lab.spark.dataframes import EDGES, LEVELS, decode_states, make_edges, states_schema
from protocol_lab.spark.executor.stages import in_worker
from protocol_lab.spark.executor.task_reports import DEADLOCK, Report, TaskRequest
from protocol_lab.spark.executor.tasks import Tasks
from protocol_lab.spark.executor.visited_runs import VisitedRuns
from protocol_lab.spark.jobs import JobFailed, Jobs
from protocol_lab.spark.level_expansion import LevelMaker, divided
from protocol_lab.spark.model_transfer import UnpackedModel, pack_model
from protocol_lab.spark.packaging import ship
from protocol_lab.spark.run_folder import RunFolder
from protocol_lab.spark.session import address, cause, expect_spark, is_a_loss
from protocol_lab.system.folders import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FIRST_BYTES = 256 << 20
"""The most bytes of initial states, since the driver alone makes the first level."""

OWNER_BYTES = 32 << 20
OWNER_FINGERPRINTS = 1 << 22
"""How many states of a level, and in all, one owner should have; beyond it there are more
owners."""

_MOST_OWNERS = 1 << 14

_RECORDS = 2
"""The version of a level's record in the folder."""

_ATTEMPTS = 3
"""How often a level's job is run if executors are lost."""


class SparkSearch:
    """One search; `run` returns its result.

    The result's `levels` say for each level how many new states it has, how many were generated and
    how many of these were sent to their owners (a task sends a state once, however often it meets
    it), where it was made (driver or spark), and in how many seconds.

    The result is the native engine's, with two differences at a stop. The level in which something
    was found, or max_states exceeded, is finished first, so that `distinct` and `generated` count
    whole levels. And of several violations of the same depth the one whose state has the smallest
    fingerprint is reported, a deadlock before all others: whatever the number of machines.
    """

    def __init__(self, model: Model, request: SearchRequest):
        expect_spark()
        self.model, self.request = model, request
        self._least_owners = request.partitions or _power_of_two(os.cpu_count() or 1)
        if self._least_owners & (self._least_owners - 1):
            least = _power_of_two(self._least_owners)
            raise LabError(f"partitions={self._least_owners} is not a power of two: use {least}.")
        self._jobs = Jobs(request.session)
        unpacked = UnpackedModel(model, request.constraint, TaskRequest.by(request))
        self._packed = pack_model(unpacked)
        self._tasks = Tasks(unpacked)
        self._temporary = None
        if request.folder is None:
            self._temporary = temporary_folder("run", self)
        folder = self._temporary / "run" if self._temporary else Path(request.folder).absolute()
        self.folder = RunFolder(folder, model.layout.size, self._least_owners)
        self._maker = LevelMaker(self.folder, self._tasks, self._jobs, self._packed)
        self.result = Result(model, "spark", request.names, search=self)
        self.result.compile_seconds = self._tasks.compile_seconds
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self._violating = [0] * len(request.names)
        self._reached = 0
        self._first: tuple[int, Any] | None = None

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search.

        Never raises for an interruption or a bound: the result says what is known. Raises LabError
        if there is no Java, if the folder holds another search, if a level's files are damaged
        while it runs, or for a faulty action.
        """
        result = self.result
        with self.folder.claimed(self._identity()), self._jobs:
            with ending(result):
                result.exhaustive = self._search()
            if self._temporary is None:  # a named folder holds one search, of one layout
                result.exceeded = ""
            self._conclude()
            if result.undecided_reason != "interrupted":
                compare(self._tasks.compiled, self.request, result, self.folder.sample())
        result.activity = ""
        return result

    # --- Afterwards it is data --------------------------------------------------------------

    def states(self, session: "SparkSession | None" = None) -> "DataFrame":
        """The stored states with decoded columns: see `dataframes.states_schema`."""
        return self._table(session, decode_states, states_schema(self.model))

    def edges(self, session: "SparkSession | None" = None) -> "DataFrame":
        """All transitions from the states that the search expanded, computed again: see
        `dataframes.EDGES`."""
        return self._table(session, make_edges, EDGES, self._expanded)

    def levels(self, session: "SparkSession | None" = None) -> "DataFrame":
        """How the search went, level by level: see `dataframes.LEVELS`."""
        from pyspark.sql.pandas.types import from_arrow_schema

        rows = [tuple(map(level.get, LEVELS.names)) for level in self.result.levels]
        return (session or self._jobs.session()).createDataFrame(rows, from_arrow_schema(LEVELS))

    def save(self, folder: str | Path, session: "SparkSession | None" = None) -> None:
        """Write the three tables as Parquet, which pandas or DuckDB open too: states, edges and
        levels, each a folder in this one. Raises LabError if they are there."""
        place = Path(folder).absolute()
        for make in (self.states, self.edges, self.levels):
            if (place / make.__name__).exists():
                raise LabError(f"{place / make.__name__} exists already: name another folder.")
        for make in (self.states, self.edges, self.levels):
            make(session).write.parquet(address(place / make.__name__))

    def path_to(self, fingerprint: int) -> list[bytes]:
        """The states from an initial one to a stored state, given by its fingerprint, signed as in
        `states` or not. Raises LabError if there is none."""
        own = int(fingerprint) % (1 << 64)
        for depth in range(1, len(self.folder.records) + 1):
            if self.folder.find(depth, own):
                return self.folder.path_to(depth, own)
        raise LabError(f"No stored state has the fingerprint {fingerprint}.")

    @property
    def _expanded(self) -> int:
        """How many levels were expanded: all but the last, which has no state after a whole
        search."""
        return len(self.folder.records) - 1

    def _table(
        self, session: "SparkSession | None", stage: Callable, columns: Any, *more: Any
    ) -> "DataFrame":
        """A DataFrame made by a stage of `dataframes` from all levels; `more`: its last
        arguments."""
        from pyspark.sql.pandas.types import from_arrow_schema

        session = session or self._jobs.session()
        depths = range(1, len(self.folder.records) + 1)
        pieces = [piece for depth in depths for piece in self.folder.pieces(depth)]
        plan = divided(pieces, 4 * self.folder.seen.partitions)
        archives = ship(session, self._packed.packages)
        work = in_worker(stage, archives, self._packed, plan, *more)
        source = session.range(0, len(plan), 1, len(plan))
        return source.mapInArrow(work, from_arrow_schema(columns))

    def _identity(self) -> dict[str, Any]:
        model = self.model
        return {
            "spec": model.spec.name,
            "constants": constants_module.show(model.constants),
            "constraint": self.request.constraint is not None,
            "invariants": self.request.names,
            "deadlock": self.request.deadlock,
            "to_the_end": self.request.to_the_end,
            "source": self._packed.source,
            "layout": str(model.layout.dtype),
            "fingerprint": fingerprint.VERSION,
            "records": _RECORDS,
        }

    def _search(self) -> bool:
        """Make level after level; returns True if everything was seen, False at a violation."""
        self.folder.resume()
        for record in self.folder.records:
            self._take_in(record)
        if not self._is_at_an_end():
            self.folder.rebuild_seen()
        while not self._is_at_an_end():
            self._make_level(len(self.result.levels) + 1)
            self.request.report(self.result, self._frontier)
        return not self._stopped_at_violation()

    def _make_level(self, depth: int) -> None:
        where = "driver" if depth == 1 or self._frontier < self.request.driver_below else "spark"
        if where == "spark":
            self._jobs.session()
        began = time.perf_counter()
        after = self.folder.seen.after(self._owners())
        try:
            level, rows, error = self.folder.new_level(depth), None, None
            if depth == 1:
                rows, error = self._first_rows()
            if where == "driver":
                report = self._maker.by_driver(level, after, self._reached, rows)
            else:
                level, report = self._by_spark(level, after)
            if report.over and (not report.finding or self.request.to_the_end):
                row, unmet = bytes.fromhex(report.over), self._tasks.never_reached(self._reached)
                raise evaluation_error(self.model, row, self.request, unmet)
            record = {
                "depth": depth,
                "new": report.new,
                "generated": sum(report.per_action),
                "sent": report.sent,
                "seconds": round(time.perf_counter() - began, 3),
                "where": where,
                "report": report.to_json(),
            }
            if not report.over and error is None:
                self.folder.complete(level, after, record)
        except (JobFailed, OSError) as failure:
            raise self._given_up(failure.__cause__ or failure) from failure
        self._take_in(record)
        if error is not None and not self._stopped_at_violation():
            raise error

    def _by_spark(self, level: Path, after: VisitedRuns) -> tuple[Path, Report]:
        """Make the next level on Spark; returns its report and its folder.

        Spark repeats tasks, and stages, of a lost executor. If it gives up, the whole job is
        repeated, _ATTEMPTS times in all, each time into an empty folder.
        """
        left = _ATTEMPTS
        while True:
            left -= 1
            try:
                report = self._maker.by_spark(level, after, self._reached, self._watch)
                return level, report
            except JobFailed as failure:
                if not left or not is_a_loss(str(failure.__cause__)):
                    raise
            shutil.rmtree(level, ignore_errors=True)
            level = self.folder.new_level(after.depth)

    def _first_rows(self) -> tuple[list[bytes], EvaluationError | None]:
        """The initial states up to one that can't be computed, and the error of that one.

        There is a bound, since the driver has them all in memory.
        """
        rows, most = [], FIRST_BYTES // self.model.layout.size
        try:
            for row in self.request.first_rows(self.model):
                if len(rows) == most:
                    raise Undecided(f"more than {most:,} initial states: lower the constants")
                self.request.report(self.result, len(rows))
                rows.append(row)
        except EvaluationError as error:
            return rows, error
        return rows, None

    def _owners(self) -> int:
        """How many owners the next level needs: as many as before, or doubled until none has too
        much, if the levels go on growing as they did."""
        sizes = self.result.per_depth[-2:]
        growth = min(8.0, sizes[1] / sizes[0]) if len(sizes) == 2 and sizes[0] else 1.0
        expected = int(self._frontier * max(growth, 1.0)) if sizes else 0
        by_level = expected * self.model.layout.size // OWNER_BYTES
        by_seen = (self.result.distinct + expected) // OWNER_FINGERPRINTS
        needed = _power_of_two(max(1, by_level, by_seen))
        return max(self.folder.seen.partitions, min(needed, _MOST_OWNERS))

    @property
    def _frontier(self) -> int:
        return self.result.levels[-1]["new"]

    def _take_in(self, record: dict[str, Any]) -> None:
        """Add a complete level to the result, whether it was just made or found in the folder."""
        result, report = self.result, Report.of(record["report"])
        result.levels.append({name: record[name] for name in LEVELS.names if name in record})
        result.per_depth.append(report.new)
        names = (
            ["init"] if record["depth"] == 1 else [each.name for each in self.model.spec.actions]
        )
        for name, more in zip(names, report.per_action, strict=True):
            result.per_action[name] += more
        self._violating = [a + b for a, b in zip(self._violating, report.violating, strict=True)]
        self._reached |= report.reached
        if report.finding and (self._first is None or report.finding.invariant == DEADLOCK):
            self._first = record["depth"], report.finding

    def _stopped_at_violation(self) -> bool:
        if self._first is None:
            return False
        return not self.request.to_the_end or self._first[1].invariant == DEADLOCK

    def _is_at_an_end(self) -> bool:
        if not self.result.levels:
            return False
        if self._stopped_at_violation() or not self._frontier:
            return True
        if self.result.distinct > self.request.max_states:
            raise too_many_states(self.request.max_states)
        return False

    # --- Progress ----------------------------------------------------------------------------

    def _watch(self, done: int, tasks: int) -> None:
        """Called while a job runs: report the progress, and stop if the search was stopped."""
        self.result.activity = f"{done} of {tasks} tasks done" if tasks else "between two tasks"
        self.request.report(self.result, self._frontier)

    def _given_up(self, error: BaseException) -> Undecided:
        done = len(self.result.levels)
        hint = "name a folder next time, and it could go on from there"
        if self._temporary is None:
            hint = "name the same folder to go on from there"
        return Undecided(f"stopped after depth {done}: {cause(str(error))}; {hint}")

    # --- The end ----------------------------------------------------------------------------

    def _conclude(self) -> None:
        result = self.result
        if result.per_depth and not result.per_depth[-1]:
            result.per_depth.pop()
        result.never_reached = self._tasks.never_reached(self._reached)
        if self.request.to_the_end:
            result.violating = dict(zip(self.request.names, self._violating, strict=True))
        if self._first:
            depth, finding = self._first
            deadlock = finding.invariant == DEADLOCK
            result.violated = "deadlock" if deadlock else self.request.names[finding.invariant]
            rows = self.folder.path_to(depth - 1, finding.parent) if depth > 1 else []
            path = rows if deadlock else [*rows, bytes.fromhex(finding.row)]
            add_trace(result, path, self.request)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
