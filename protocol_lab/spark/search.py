"""The explorer on Spark: breadth first, one Spark job a level, levels kept as Parquet.

A level is read in pieces; tasks expand them and send the candidates, in few large blobs, to the
owners of their fingerprints; the owners drop what they have seen and write the rest as the next
level. The driver only reads the tasks' reports. A level that is too small to be worth a Spark job
(which costs some tenths of a second whatever it does) is done by the driver with the same code.

Only the DataFrame API is used, no SparkContext, as Spark Connect has none. What tasks do
is in `tasks`, the files are in `levels`, decoded tables in `tables`.
"""

import os
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from protocol_lab.declaring import constants as constants_module
from protocol_lab.declaring.spec import Model
from protocol_lab.errors import CapacityExceeded, LabError
from protocol_lab.exploring import fingerprint
from protocol_lab.exploring.result import Result
from protocol_lab.exploring.search import Question, add_trace, explain_capacity
from protocol_lab.spark.levels import RunFolder
from protocol_lab.spark.recipe import recipe_of
from protocol_lab.spark.session import local_session
from protocol_lab.spark.stages import (
    CANDIDATE_COLUMNS,
    LEVEL_COLUMNS,
    expand_pieces,
    in_worker,
    level_batches,
    no_states,
    settle_owner,
)
from protocol_lab.spark.tables import EDGES, decode_states, make_edges, states_schema
from protocol_lab.spark.tasks import DEADLOCK, Asked, Parcel, Report, Tasks
from protocol_lab.stepping.attempts import initial, successors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DRIVER_BELOW = 20_000
"""States of a level up to which the driver expands it itself."""

_SETTINGS = {
    # Blobs are large: a batch of the usual 10,000 would be too.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    # There is nothing to adapt: the number of owners is fixed, and planning in stages costs time.
    "spark.sql.adaptive.enabled": "false",
}


class SparkSearch:
    """One search; `run` returns its result.

    session: a Spark session; None for one in local mode, which starts while
    the kernels compile. folder: where the levels are kept; an earlier run of the same search found
    there is continued after its last complete level. None for a temporary folder, which goes with
    this object. driver_below: the driver expands levels of fewer states itself. partitions: the
    number of owners, a power of two; None for one a core.

    The result's `levels` say how many new states each level has and how many were generated for it,
    where (driver or spark), in how many seconds, and how long it waited for Spark to start.

    The result is the native engine's, with two differences at a stop. The level in which something
    was found, or max_states exceeded, is finished first, so that `distinct` and `generated` count
    whole levels. And of several violations of the same depth the one whose state has the smallest
    fingerprint is reported, a deadlock before all others: whatever the number of machines.
    """

    def __init__(
        self,
        model: Model,
        question: Question,
        session: "SparkSession | None" = None,
        folder: str | Path | None = None,
        driver_below: int = DRIVER_BELOW,
        partitions: int | None = None,
    ):
        self.model, self.question, self.driver_below = model, question, driver_below
        self._session = _Starting(session)
        self._asked = Asked.by(question)
        self._recipe = recipe_of(model, question.constraint)
        self._tasks = Tasks(model, question.constraint, self._asked)
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="protocol-lab-run-")
            folder = Path(self._temporary.name) / "run"
        owners = partitions or RunFolder.partitions_of(folder) or _power_of_two(os.cpu_count() or 1)
        if owners & (owners - 1):
            raise LabError(
                f"partitions={owners} is not a power of two: use {_power_of_two(owners)}."
            )
        self.folder = RunFolder(Path(folder).absolute(), owners, model.layout.size)
        self.result = Result(model, "spark", question.names, search=self)
        self.result.compile_seconds = self._tasks.compile_seconds
        self.result.per_action = {"init": 0, **{each.name: 0 for each in model.spec.actions}}
        self._violating = [0] * len(question.names)
        self._reached = 0
        self._first: tuple[int, Any] | None = None

    def run(self) -> Result:
        """Explore until everything was seen or something ends the search.

        Never raises for an interruption or a bound: the result says what is known. Raises LabError
        if there is no Java, if the folder holds another search, or for a faulty action.
        """
        result, self._began = self.result, time.perf_counter()
        try:
            self.folder.claim(self._identity())
            result.exhaustive = self._search()
        except _Undecided as stop:
            result.undecided_reason = str(stop)
        except KeyboardInterrupt:
            result.undecided_reason = "interrupted"
        self._conclude()
        result.seconds = time.perf_counter() - self._began
        return result

    def states(self, session: "SparkSession | None" = None) -> "DataFrame":
        """The stored states with decoded columns: see `tables.states_schema`."""
        return self._table(session, decode_states, states_schema(self.model))

    def edges(self, session: "SparkSession | None" = None) -> "DataFrame":
        """All transitions from stored states, computed anew: source and target are fingerprints,
        `inside` is false for a target outside the constraint, which is not among the states."""
        return self._table(session, make_edges, EDGES)

    def _table(self, session: "SparkSession | None", stage: Callable, columns: Any) -> "DataFrame":
        from pyspark.sql.pandas.types import from_arrow_schema

        session = session or self._session.get()
        depths = range(1, len(self.result.levels) + 1)
        pieces = [piece for depth in depths for piece in self.folder.pieces(depth)]
        plan = divided(pieces, 4 * self.folder.partitions)
        work = in_worker(stage, self._recipe, self._asked, self.folder, plan)
        source = session.range(0, len(plan), 1, len(plan))
        return source.mapInArrow(work, from_arrow_schema(columns))

    def _identity(self) -> dict[str, Any]:
        model = self.model
        return {
            "spec": model.spec.name,
            "constants": constants_module.show(model.constants),
            "constraint": self.question.constraint is not None,
            "invariants": self.question.names,
            "deadlock": self.question.deadlock,
            "to_the_end": self.question.to_the_end,
            "source": self._recipe.source,
            "layout": str(model.layout.dtype),
            "fingerprint": fingerprint.VERSION,
            "partitions": self.folder.partitions,
        }

    def _search(self) -> bool:
        """Go level by level; True if everything was seen, False at a violation."""
        for record in self.folder.completed():
            self._take_in(record)
        while not self._is_at_an_end():
            depth = len(self.result.levels) + 1
            where = "driver" if depth == 1 or self._frontier < self.driver_below else "spark"
            began, report = time.perf_counter(), Report()
            session = self._session.get() if where == "spark" else None
            waited = time.perf_counter() - began
            if depth == 1:
                self._start(report)
            elif session is None:
                self._by_driver(depth, report)
            else:
                self._by_spark(session, depth)
            for each in self.folder.reports(depth):
                report.add(Report.of(each))
            if report.over and not report.finding:
                self._explain(bytes.fromhex(report.over))
            record = {
                "depth": depth,
                "new": report.new,
                "generated": sum(report.per_action),
                "seconds": round(time.perf_counter() - began - waited, 3),
                "waited": round(waited, 3),
                "where": where,
                "report": report.to_json(),
            }
            if not report.over:
                self.folder.complete(depth, record)
            self._take_in(record)
        return not self._stopped_at_violation()

    @property
    def _frontier(self) -> int:
        return self.result.levels[-1]["new"]

    def _take_in(self, record: dict[str, Any]) -> None:
        """Count a complete level, whether it was just made or found in the folder."""
        result, report = self.result, Report.of(record["report"])
        result.levels.append({key: value for key, value in record.items() if key != "report"})
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
        if self.question.progress:
            self.question.progress(result, self._frontier, self._seconds)

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _stopped_at_violation(self) -> bool:
        if self._first is None:
            return False
        return not self.question.to_the_end or self._first[1].invariant == DEADLOCK

    def _is_at_an_end(self) -> bool:
        if not self.result.levels:
            return False
        if self._stopped_at_violation() or not self._frontier:
            return True
        if self.result.distinct > self.question.max_states:
            bound = self.question.max_states
            raise _Undecided(f"more than {bound:,} distinct states (max_states)")
        if self.question.stopped and self.question.stopped():
            raise _Undecided("stopped")
        return False

    # --- Levels -----------------------------------------------------------------------------

    def _start(self, report: Report) -> None:
        try:
            rows = [each.row for each in initial(self.model)]
        except CapacityExceeded as error:
            raise _Undecided(str(error)) from None
        report.per_action = [len(rows)]
        array = np.frombuffer(b"".join(rows), np.uint64).reshape(-1, self.model.words).copy()
        self._settle(1, self._tasks.start(array, self.folder.partitions, report))

    def _by_driver(self, depth: int, report: Report) -> None:
        blocks = self.folder.read(depth - 1)
        self._settle(depth, self._tasks.expand(blocks, self.folder.partitions, report))

    def _settle(self, depth: int, parcels: Iterator[Parcel]) -> None:
        mine: dict[int, list[Parcel]] = {owner: [] for owner in range(self.folder.partitions)}
        for parcel in parcels:
            mine[parcel.owner].append(parcel)
        batches = []
        for owner, candidates in mine.items():
            report = Report()
            new = self._tasks.settle(depth, owner, candidates, self.folder, report)
            batches += level_batches(owner, new, report)
        self.folder.write(depth, batches)

    def _by_spark(self, session: "SparkSession", depth: int) -> None:
        plan = divided(self.folder.pieces(depth - 1), 2 * self.folder.partitions)
        common = (self._recipe, self._asked, self.folder)
        with _settings(session, _SETTINGS):
            level = (
                session.range(0, len(plan), 1, len(plan))
                .mapInArrow(in_worker(expand_pieces, *common, plan), CANDIDATE_COLUMNS)
                .repartitionById(self.folder.partitions, "owner")
                .mapInArrow(in_worker(settle_owner, *common, depth), LEVEL_COLUMNS)
            )
            path = self.folder.level(depth).as_uri()
            self._wait_for(session, lambda: level.write.mode("overwrite").parquet(path))

    def _wait_for(self, session: "SparkSession", job: Callable[[], None]) -> None:
        """Run a Spark job in a thread of its own, so that it can be stopped meanwhile."""
        tag, failures = f"protocol-lab-{uuid.uuid4()}", []

        def work() -> None:
            session.addTag(tag)
            try:
                job()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)
                if self.question.stopped and thread.is_alive() and self.question.stopped():
                    raise _Undecided("stopped")
        except BaseException:
            session.interruptTag(tag)
            thread.join()
            raise
        if failures:
            self._give_up(failures[0])

    def _give_up(self, error: BaseException) -> None:
        done = len(self.result.levels)
        cause = str(error).strip().splitlines()[-1]
        raise _Undecided(
            f"Spark failed after depth {done} ({cause}); name the same folder to go on from there"
        ) from error

    def _explain(self, row: bytes) -> None:
        """Repeat uncompiled what went wrong compiled: that version has the words for it."""
        try:
            list(successors(self.model, row))  # raises LabError with action and cause
        except CapacityExceeded:
            raise _Undecided(explain_capacity(self.model, row)) from None
        raise LabError("a step failed compiled and not uncompiled; please report this.")

    # --- The end ----------------------------------------------------------------------------

    def _conclude(self) -> None:
        result = self.result
        if result.per_depth and not result.per_depth[-1]:
            result.per_depth.pop()
        result.never_reached = self._tasks.never_reached(self._reached)
        if self.question.to_the_end:
            result.violating = dict(zip(self.question.names, self._violating, strict=True))
        if self._first:
            depth, finding = self._first
            deadlock = finding.invariant == DEADLOCK
            result.violated = "deadlock" if deadlock else self.question.names[finding.invariant]
            rows = self.folder.path_to(depth - 1, finding.parent) if depth > 1 else []
            add_trace(result, rows if deadlock else [*rows, bytes.fromhex(finding.row)])


class _Undecided(Exception):
    """The search ends without a verdict; the text says which bound was hit."""


class _Starting:
    """A session, or one in local mode that is starting, and warming up, in the background."""

    def __init__(self, session: "SparkSession | None"):
        self._given, self._failure = session, None
        self._thread = threading.Thread(target=self._start, daemon=True)
        if session is None:
            self._thread.start()

    def _start(self) -> None:
        try:
            self._given = local_session()
            _warm_up(self._given)
        except BaseException as error:
            self._failure = error

    def get(self) -> "SparkSession":
        """The session, once it is there. Raises what its start raised."""
        if self._thread.ident is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._given


def _warm_up(session: "SparkSession") -> None:
    """Run a level of nothing, so that Spark loads what a level needs while kernels compile."""
    with tempfile.TemporaryDirectory(prefix="protocol-lab-warm-") as folder:
        nothing = session.range(0, 2, 1, 2).mapInArrow(in_worker(no_states), CANDIDATE_COLUMNS)
        nothing.repartitionById(2, "owner").write.parquet(f"{Path(folder).as_uri()}/level")


@contextmanager
def _settings(session: "SparkSession", wanted: dict[str, str]) -> Iterator[None]:
    """Settings of a session, put back afterwards."""
    before = {name: session.conf.get(name) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


def divided(pieces: list[tuple[str, int, int]], shares: int) -> list[list[tuple[str, int, int]]]:
    """The pieces of a level as at most so many shares, about equally large."""
    plan: list[list] = [[] for _ in range(min(shares, len(pieces)))]
    sizes = [0] * len(plan)
    for piece in sorted(pieces, key=lambda piece: -piece[2]):
        smallest = sizes.index(min(sizes))
        plan[smallest].append(piece)
        sizes[smallest] += piece[2]
    return plan
