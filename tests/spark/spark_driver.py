"""A driver program for the tests of clusters: a process of its own, with nothing of the kit in the
environment that executors inherit.

    python -m tests.spark.spark_driver MASTER FOLDER [NAME ...]

Searches the named CASES, their larger levels by Spark, with run folders in FOLDER, and
prints one JSON object: what the executors could import before anything was shipped, and the
results. MASTER is a Spark master. Some words stand for mischief in the next case, while its second
level by Spark is made: `kill-executor` kills one, `kill-expanding` and `kill-settling` one when a
part of the tasks of that stage is done, `kill-driver` ends this process, like a power failure.
"""

import contextlib
import json
import linecache
import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil

from protocol_lab.catalog import load
from protocol_lab.checker.request import SearchRequest
from protocol_lab.model.spec import Model, Spec
from protocol_lab.spark.distributed_search import SparkSearch
from protocol_lab.system.programs import find_java

CELL = """
from typing import Annotated, NamedTuple
from protocol_lab import HOLDS, TAKEN, Array, Int8, Limits, Range, Spec, Struct

class Constants(NamedTuple):
    limit: Annotated[int, Limits(1, 50, "where counting ends")] = 5

class Pair(Struct):
    left: Int8
    right: Int8

class State(Struct):
    pair: Pair

spec = Spec("cell.pair", State, Constants)

@spec.init
def start(s: State, c: Constants):
    return TAKEN

def room(c) -> int:
    return c.limit

@spec.action
def count(s: State, c: Constants, by: Range(1, 2)):
    if s.pair.left + by > room(c):
        return "the end"
    s.pair = Pair(left=s.pair.left + by, right=by)
    return TAKEN

@spec.invariant
def below(s: State, c: Constants):
    return HOLDS if s.pair.left <= room(c) else "too far"
"""

NAME = "<cell 1>"


def spec_in_a_cell() -> Spec:
    """A learner's spec as a notebook cell leaves it: in __main__, its source known to linecache."""
    linecache.cache[NAME] = (len(CELL), None, CELL.splitlines(keepends=True), NAME)
    scope = {"__name__": "__main__"}
    exec(compile(CELL, NAME, "exec"), scope)
    return scope["spec"]


SMALL = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}

CASES = {
    "kafka": ("kafka.kip_320", SMALL),
    "kafka-violated": ("kafka.truncate_to_high_watermark", SMALL),
    "pulsar": (
        "pulsar.compaction",
        {
            "message_sent_limit": 2,
            "compaction_times_limit": 2,
            "key_space": 1,
            "value_space": 1,
            "max_crash_times": 1,
        },
    ),
    "cell": ("a cell", {"limit": 6}),
}

DRIVER_BELOW = {"pulsar": 150, "kafka-violated": 60, "cell": 0}
"""So that three to five levels of every case are made by Spark; the others' is 100."""

COUNTS = ("verdict", "per_depth", "per_action", "distinct", "generated", "violated")


def model_of(name: str) -> Model:
    """The model of a case."""
    spec, constants = CASES[name]
    return (spec_in_a_cell() if spec == "a cell" else load(spec)).bind(**constants)


def question_of(model: Model) -> SearchRequest:
    """What is asked of it."""
    return SearchRequest(*model.choose(None))


def main(master: str, folder: str, names: list[str]) -> None:
    """Search, and print what was found."""
    session = _session(master, Path(folder))
    found = session.range(0, 4, 1, 4).mapInArrow(_look_around, "kit boolean, executor int")
    seen = [tuple(row) for row in found.collect()]
    told = {"kit": any(kit for kit, _ in seen), "executors": len({each for _, each in seen})}
    results, mischief = {}, None
    for name in names:
        if name.startswith("kill-"):
            mischief = _MISCHIEF[name]
            continue
        model = model_of(name)
        asked = question_of(model)
        if mischief:
            asked.progress = _after_one_level(mischief)
        below = DRIVER_BELOW.get(name, 100)
        place = Path(folder) / name
        # Mischief in a stage needs one with many tasks, to be in the middle of it.
        partitions = 2 if mischief not in (_kill_expanding, _kill_settling) else 8
        asked.session, asked.folder = session, place
        asked.driver_below, asked.partitions = below, partitions
        search = SparkSearch(model, asked)
        result = search.run()
        results[name] = {each: getattr(result, each) for each in COUNTS} | {
            "reason": result.undecided_reason,
            "trace": len(result.trace_rows),
            "by_spark": sum(level["where"] == "spark" for level in result.levels),
        }
        mischief = None
    session.stop()
    print(json.dumps(told | {"results": results}))


def _session(master: str, folder: Path):
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = str(find_java())
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": quick,
        "spark.executor.extraJavaOptions": quick,
        "spark.executor.memory": "512m",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _look_around(batches):
    """Is the kit, or a spec, to be found where this runs? And who runs it?"""
    import importlib.util
    import os
    import time

    import pyarrow as pa

    names = ("protocol_lab", "kafka_spec", "tests")
    for _ in batches:
        time.sleep(0.3)  # so that every executor gets a share
        kit = any(importlib.util.find_spec(name) is not None for name in names)
        yield pa.RecordBatch.from_pydict(
            {"kit": [kit], "executor": pa.array([os.getppid()], pa.int32())}
        )


def _after_one_level(act):
    """A progress callback that has something happen, once, soon after Spark made a level."""
    done = []

    def progress(result, frontier):
        made_by = [each["where"] for each in result.levels[-1:]]  # none while states are begun
        if made_by == ["spark"] and not done:
            done.append(True)
            threading.Thread(target=act, daemon=True).start()

    return progress


def _kill_an_executor(after: float = 0.2) -> None:
    time.sleep(after)
    for process in psutil.process_iter(["cmdline"]):
        with contextlib.suppress(psutil.Error):
            words = process.info["cmdline"] or []
            if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and str(
                os.environ["SPARK_TESTED_HERE"]
            ) in process.environ().get("SPARK_TESTED_HERE", ""):
                process.kill()
                print("killed", process.pid, file=sys.stderr)
                return
    print("nothing to kill", file=sys.stderr)


def _kill_in_stage(last: bool) -> None:
    """Wait until a part of the tasks of a job's first or last stage is done, and kill one."""
    from pyspark import SparkContext

    tracker = SparkContext._active_spark_context.statusTracker()
    while True:
        for job in tracker.getActiveJobsIds():
            stages = sorted(getattr(tracker.getJobInfo(job), "stageIds", []))
            stage = tracker.getStageInfo(stages[-1] if last else stages[0]) if stages else None
            if len(stages) == 2 and stage and 0 < stage.numCompletedTasks < stage.numTasks:
                print(f"{stage.numCompletedTasks} of {stage.numTasks} done", file=sys.stderr)
                return _kill_an_executor(0)
        time.sleep(0.002)


def _kill_expanding() -> None:
    _kill_in_stage(last=False)


def _kill_settling() -> None:
    _kill_in_stage(last=True)


def _kill_the_driver() -> None:
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


_MISCHIEF = {
    "kill-executor": _kill_an_executor,
    "kill-expanding": _kill_expanding,
    "kill-settling": _kill_settling,
    "kill-driver": _kill_the_driver,
}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
