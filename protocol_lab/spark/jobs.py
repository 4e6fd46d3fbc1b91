"""Spark jobs of a search: their session and settings, and how they are stopped."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from protocol_lab.spark.executor.stages import CANDIDATE_COLUMNS, in_worker, no_states
from protocol_lab.spark.packaging import KIT, ship
from protocol_lab.spark.session import changed, local_session, session_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS = {
    # Blobs are large, so a batch of the usual 10,000 rows would be too large.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    # Adaptive planning gains nothing, since the number of owners is fixed, and costs time.
    "spark.sql.adaptive.enabled": "false",
    # A task that is run again gives the same candidates, and a report with other times. Spark would
    # take that for an indeterminate result, and give up the job of a lost executor.
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableQueryLevelRollbackOnMismatch": "false",
}


class JobFailed(Exception):
    """A Spark job failed; the cause is Spark's exception."""


class Jobs:
    """Runs the jobs of one search, one after the other, in a given session, or in one at a given
    address; if none is given, in one in local mode, which starts, and warms up, in the background.

    A context manager: at the end the session's settings are restored.
    """

    def __init__(self, session: "SparkSession | str | None"):
        self._given = session_at(session) if isinstance(session, str) else session
        self._failure: BaseException | None = None
        self._settings: ExitStack | None = None
        self._thread = threading.Thread(target=self._start, daemon=True)
        if self._given is None:
            self._thread.start()

    def _start(self) -> None:
        try:
            self._given = local_session()
            _warm_up(self._given)
        except BaseException as error:
            self._failure = error

    def session(self) -> "SparkSession":
        """The session, once it has started. Raises what its start raised."""
        if self._thread.ident is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
        return self._given

    def __enter__(self) -> "Jobs":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._settings is not None:
            self._settings.close()
            self._settings = None

    def _set_up(self) -> None:
        if self._settings is None:
            self._settings = ExitStack()
            self._settings.enter_context(changed(self._given, _SETTINGS))

    def _tasks(self) -> tuple[int, int]:
        """How many tasks of the stages at work are done, and how many there are."""
        counts = []
        with suppress(Exception):  # if Spark is gone, the job itself will say so
            tracker = self._given.sparkContext.statusTracker()
            stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
            counts = [(each.numCompletedTasks, each.numTasks) for each in stages]
        return sum(done for done, _ in counts), sum(count for _, count in counts)

    def run(self, job: Callable[[], Any], watch: Callable[[int, int], None]) -> Any:
        """Run a job in a thread of its own; returns its result.

        watch(done, all), of the job's tasks in its present stage, is called several times a second
        meanwhile. What it raises cancels the job, and is raised here. Raises JobFailed from what
        the job itself raised.
        """
        session, tag = self.session(), f"protocol-lab-{uuid.uuid4()}"
        self._set_up()

        def work() -> Any:
            session.addTag(tag)
            return job()

        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(work)
            try:
                while not answer.done():
                    wait([answer], 0.2)
                    watch(*self._tasks())
            except BaseException:
                with suppress(Exception):
                    session.interruptTag(tag)
                raise
        if (failure := answer.exception()) is not None:
            raise JobFailed from failure
        return answer.result()


def _warm_up(session: "SparkSession") -> None:
    """Run a level of nothing, so that Spark loads what a level needs while kernels compile."""
    work = in_worker(no_states, ship(session, [KIT]))
    nothing = session.range(0, 2, 1, 2).mapInArrow(work, CANDIDATE_COLUMNS)
    nothing.repartitionById(2, "owner").mapInArrow(work, CANDIDATE_COLUMNS).collect()
