"""The search on Spark gives what the native one gives, survives, and answers SQL afterwards."""

import contextlib
import importlib
import linecache
import re
import shutil
import signal
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import psutil
import pytest

from kafka_spec import kip_320, truncate_to_high_watermark
from protocol_lab import LabError
from protocol_lab.catalog import spec_names
from protocol_lab.checker.breadth_first import NativeSearch
from protocol_lab.checker.request import SearchRequest
from protocol_lab.compiler.conditions import predicate
from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.model.spec import HOLDS, Property
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import find_step
from protocol_lab.model.transitions import successors
from protocol_lab.spark import distributed_search as search_module
from protocol_lab.spark import jobs
from protocol_lab.spark.dataframes import decoded, steps_to
from protocol_lab.spark.distributed_search import SparkSearch
from protocol_lab.spark.executor import candidates, deduplication, level_files
from protocol_lab.spark.executor.candidates import Parcel
from protocol_lab.spark.executor.deduplication import UnvisitedCandidates
from protocol_lab.spark.executor.level_files import Block, write_part
from protocol_lab.spark.executor.task_reports import Report, TaskRequest
from protocol_lab.spark.executor.tasks import Tasks
from protocol_lab.spark.jobs import JobFailed
from protocol_lab.spark.level_expansion import LevelMaker
from protocol_lab.spark.model_transfer import UnpackedModel, pack_model, unpack_model
from protocol_lab.spark.session import cause, local_session
from protocol_lab.system import programs
from protocol_lab.traces.walk import Walk
from tests.checker.test_faults import LATE, counting, slot_past_the_end
from tests.end_to_end.fuzz.comparison import compare
from tests.end_to_end.fuzz.generator import family_name, generate, spec_name
from tests.spark.spark_driver import CELL, NAME, spec_in_a_cell
from tests.spec_checks import NO_SESSION, bind, cases_of, sampled, spark_search
from tests.toy_specs import letters, values_last

pytestmark = pytest.mark.spark

COUNTS = (
    *("undecided_reason", "verdict", "exhaustive", "per_depth", "per_action", "distinct"),
    *("generated", "depth", "violated", "never_reached", "violating", "collision_probability"),
)

SMALL = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}
LARGE = {"replicas": 3, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}


@pytest.fixture(scope="module")
def session():
    session = local_session()
    yield session
    session.stop()


def request(model, names=None, **options) -> SearchRequest:
    return SearchRequest(*model.choose(names), **options)


def on_spark(model, asked, session, **options) -> SparkSearch:
    """All but the small levels go through Spark."""
    search = spark_search(model, asked, session, **{"driver_below": 60, "partitions": 2, **options})
    search.run()
    return search


def same(spark, native) -> None:
    for name in COUNTS:
        assert getattr(spark, name) == getattr(native, name), name


@pytest.mark.slow
def test_counts_are_the_native_ones(session):
    model = kip_320.spec.bind(**SMALL)
    told = set()
    asked = request(model, progress=lambda result, *_: told.add(result.activity))
    result = on_spark(model, asked, session, driver_below=0).result
    said = r"\d+ of \d+ tasks done|between two tasks"
    assert all(re.fullmatch(said, each) for each in told - {""})
    assert len(told) > 1
    assert result.activity == ""
    same(result, NativeSearch(model, request(model)).run())
    assert [level["where"] for level in result.levels[1:]] == ["spark"] * result.depth


@pytest.mark.rarely
def test_a_random_spec_gives_the_same_answers(session, here):
    """`python3 lab.py fuzz` compares many."""
    which = (7, 18)  # of the seed and the number whose levels are large enough for Spark
    text, name = generate(*which), spec_name(*which)
    report = compare(text, name, family_name(*which), here, session)
    assert report.differences == []
    assert report.verdicts["on spark"] == 1


@pytest.mark.slow
def test_bags_subsets_constraints_steps_and_several_initial_states(session):
    model = letters.bind(servers=2, values=2, starts=2)
    names = ["few_letters", "logged_values_were_seen", "values_grow"]
    asked = request(model, names, to_the_end=True)
    constraint = predicate(model, "s.messages.size <= 1")
    asked.constraint = constraint
    spark = on_spark(model, asked, session, driver_below=10).result
    native = NativeSearch(model, asked).run()
    same(spark, native)
    assert spark.violating == native.violating


@pytest.mark.slow
def test_a_trace_is_shortest_and_legal(session):
    model = truncate_to_high_watermark.spec.bind(replicas=3, log_size=2, max_records=1)
    spark = on_spark(model, request(model), session, driver_below=1000).result
    native = NativeSearch(model, request(model)).run()
    assert spark.verdict == native.verdict == "violated"
    assert len(spark.trace_rows) == len(native.trace_rows)
    for row, step, after in zip(spark.trace_rows, spark.trace, spark.trace_rows[1:], strict=False):
        assert find_step(model, row, step.text).row == after
    assert spark.violation_reason


@pytest.mark.rarely
def test_no_parent_depends_on_how_the_work_is_divided(session, monkeypatch):
    """Every state keeps the smallest (parent, action) of all that led there one level before."""
    model = kip_320.spec.bind(**SMALL)

    def kept(**how) -> dict:
        folder = on_spark(model, request(model), session, **how).folder
        blocks = [block for depth in range(1, 16) for block in folder.read(depth)]
        return {
            state: (block.depth, parent, action)
            for block in blocks
            for state, parent, action in zip(
                block.fingerprints.tolist(), block.parents.tolist(), block.actions.tolist()
            )
        }

    found = kept(driver_below=10**9, partitions=1)
    assert len(found) == 957
    assert kept(driver_below=10**9, partitions=8) == found
    assert kept(driver_below=140, partitions=4) == found
    monkeypatch.setattr(level_files, "BLOB_BYTES", 1 << 9)
    monkeypatch.setattr(candidates, "_STORE_BYTES", 1)
    assert kept(driver_below=10**9, partitions=4) == found
    rows = {
        int(fingerprints(row[None])[0]): row
        for row in NativeSearch(model, request(model)).run().states
    }
    numbers = {each.name: k for k, each in enumerate(model.spec.actions)}
    least = {}
    for state, (depth, _, _) in found.items():
        for step in successors(model, rows[state].tobytes()):
            after = int(fingerprints(np.frombuffer(step.row, np.uint64)[None])[0])
            if found[after][0] == depth + 1:
                least[after] = min(least.get(after, (2**64, 0)), (state, numbers[step.action.name]))
    assert {
        state: (parent, action) for state, (depth, parent, action) in found.items() if depth > 1
    } == least


@pytest.mark.slow
def test_deadlock(session):
    model = letters.bind(servers=2, values=1, starts=1)
    asked = request(model, [], deadlock=True)
    spark = on_spark(model, asked, session, driver_below=0).result
    native = NativeSearch(model, asked).run()
    assert spark.violated == native.violated == "deadlock"
    assert len(spark.trace_rows) <= len(native.trace_rows)


@pytest.mark.slow
def test_max_states_ends_undecided(session):
    model = kip_320.spec.bind(**SMALL)
    result = on_spark(model, request(model, max_states=50), session, driver_below=20).result
    assert result.verdict == "undecided"
    assert result.undecided_reason == "more than 50 distinct states (max_states)"
    assert sum(result.per_depth[:-1]) <= 50 < result.distinct


# --- Bounded memory --------------------------------------------------------------------------


def test_owners_double_as_the_search_grows(monkeypatch, tmp_path):
    """The splits of what was seen lose nothing; a resumed search goes on with as many owners."""
    monkeypatch.setattr(search_module, "OWNER_FINGERPRINTS", 40)
    model = kip_320.spec.bind(**SMALL)
    local = {"folder": tmp_path / "run", "driver_below": 10**9, "partitions": 1}
    first = on_spark(model, request(model, progress=interrupted_at(9)), NO_SESSION, **local)
    assert first.result.depth == 9
    result = on_spark(model, request(model), NO_SESSION, **local).result
    same(result, NativeSearch(model, request(model)).run())
    owners = [level["partitions"] for level in result.levels]
    assert owners == sorted(owners)
    assert {1, 4, 16} <= set(owners)
    seen = np.cumsum([level["new"] for level in result.levels])
    assert (seen <= 2 * 40 * np.array(owners)).all()


@pytest.mark.rarely
def test_memory_of_tasks_is_bounded(monkeypatch, tmp_path):
    """One more level, as the two tasks of a cluster with one owner would make it: with room for
    all candidates, and with little."""
    monkeypatch.setattr(level_files, "BLOB_BYTES", 1 << 13)
    model = kip_320.spec.bind(**LARGE)
    expected = NativeSearch(model, request(model)).run().per_depth
    local = {"folder": tmp_path / "run", "driver_below": 10**9, "partitions": 1}
    search = on_spark(model, request(model, max_states=350_000), NO_SESSION, **local)
    tasks, folder = (
        Tasks(UnpackedModel(model, request=TaskRequest.by(request(model)))),
        search.folder,
    )
    before = folder.seen
    peaks, found = [], []
    for limit in (1 << 30, 1 << 16, 1 << 16):  # the first time Python's own tables may grow
        for module, name in ((deduplication, "LIMIT_BYTES"), (candidates, "_STORE_BYTES")):
            monkeypatch.setattr(module, name, limit)
        after = replace(before.after(1), folder=tmp_path / f"seen {len(found)}")
        after.folder.mkdir()
        report, level = Report(), folder.new_level(after.depth)
        tracemalloc.start()
        parcels = tasks.expand(folder.read(before.depth), 1, report)
        settled = tasks.settle(before, after, 0, parcels, 0, report)
        write_part(level, ((0, block) for block in settled), 0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        found.append(report.new)
    roomy, *tight = peaks
    candidates_bytes = report.sent * (model.layout.size + 24)
    assert 4 * min(tight) < candidates_bytes < roomy
    assert found == [expected[before.depth]] * 3


@pytest.mark.parametrize("limit", [1, 3_000, 10**9])
def test_what_does_not_fit_is_spilled_and_settled_the_same(limit):
    random = np.random.default_rng(1)
    rows = random.integers(0, 300, (2_000, 1)).astype(np.uint64)
    parents, actions = random.integers(1, 9, 2_000), random.integers(0, 3, 2_000)
    seen = np.sort(fingerprints(rows[:100]))
    expected = {}
    for row, parent, action in zip(rows[:, 0].tolist(), parents.tolist(), actions.tolist()):
        if row not in rows[:100]:
            expected[row] = min(expected.get(row, (99, 99)), (parent, action))
    with UnvisitedCandidates(1, [seen[:60], seen[60:], seen[:0]], limit) as unseen:
        for at in range(0, 2_000, 128):
            part = slice(at, at + 128)
            some = (rows[part], parents[part].astype(np.uint64), actions[part].astype(np.int16))
            unseen.add(Parcel(0, *some))
        assert unseen.spilled == (limit < 10**9)
        parts = list(unseen.settled(3))
    found = [
        (int(row), (int(parent), int(action)))
        for part in parts
        for (row,), parent, action in zip(part.rows, part.parents, part.actions)
    ]
    assert dict(found) == expected
    assert len(found) == len(expected)
    prints = np.concatenate([part.fingerprints for part in parts])
    assert (prints[1:] > prints[:-1]).all()
    assert (len(parts) > 1) == (limit < 10**9)


def test_a_task_that_fails_while_it_writes_leaves_no_half_file(tmp_path):
    random = np.random.default_rng(1)
    rows = random.integers(0, 300, (100, 1)).astype(np.uint64)
    block = Block(3, rows, fingerprints(rows), fingerprints(rows), np.zeros(100, np.int16))

    def failing():
        for _ in range(20):
            yield 0, block
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        write_part(tmp_path, failing(), 0)
    # Whole files stay: the task that is run instead writes the same ones.
    whole = sorted(tmp_path.iterdir())
    assert [each.suffix for each in whole] == [".parquet"] * 2
    written = write_part(tmp_path, ((0, block) for _ in range(20)), 0)
    assert set(written) > {each.name for each in whole}
    assert write_part(tmp_path, [(0, block.part(0, 0))], 1) == {}


# --- Surviving -------------------------------------------------------------------------------


def interrupted_at(depth: int):
    def progress(result, frontier):
        if result.depth == depth:
            raise KeyboardInterrupt

    return progress


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["nothing", "half written"])
def test_an_interrupted_search_goes_on_from_its_last_complete_level(session, tmp_path, harm):
    """Also where a killed driver, or a task that outlives it, leaves files of the next level; what
    is damaged is in test_run_folder."""
    model = kip_320.spec.bind(**SMALL)
    folder = tmp_path / "my run, a=1 50%"
    first = on_spark(model, request(model, progress=interrupted_at(8)), session, folder=folder)
    assert (first.result.undecided_reason, first.result.depth) == ("interrupted", 8)
    if harm == "half written":
        shutil.copytree(first.folder.level(8), folder / "level-00009-deadbeef")
    again = on_spark(model, request(model), session, folder=folder)
    same(again.result, NativeSearch(model, request(model)).run())
    assert len(list(folder.glob("level-*/"))) == len(again.result.levels)


def limit_file_sizes(process: psutil.Process, limit: int) -> None:
    """No file that the process writes may become larger, as on a disk that is full."""
    process.rlimit(psutil.RLIMIT_FSIZE, (limit, psutil.RLIM_INFINITY))


@pytest.fixture
def full_disk():
    """A function that fills the disk for this process, or for Spark's; it is empty afterwards."""
    limited = []

    def fill(processes) -> None:
        for process in processes:
            limited.append(process)
            limit_file_sizes(process, 2_000)

    def free() -> None:
        while limited:
            with contextlib.suppress(psutil.NoSuchProcess):
                limit_file_sizes(limited.pop(), psutil.RLIM_INFINITY)

    fill.free, fill.limited = free, limited
    yield fill
    free()


def own_process() -> list[psutil.Process]:
    return [psutil.Process()]


def spark_processes() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "driver_below"), [(own_process, 10**9), (spark_processes, 60)]
)
def test_a_full_disk_is_told_and_the_search_goes_on_later(
    session, tmp_path, full_disk, processes, driver_below
):
    model = kip_320.spec.bind(**SMALL)
    options = {"folder": tmp_path / "run", "driver_below": driver_below}

    def progress(result, frontier):
        if result.depth == 8 and not full_disk.limited:
            full_disk(processes())

    first = on_spark(model, request(model, progress=progress), session, **options).result
    full_disk.free()
    assert first.verdict == "undecided"
    said = r"stopped after depth \d+: the disk is full: free some space; name the same folder"
    assert re.match(said, first.undecided_reason), first.undecided_reason
    again = on_spark(model, request(model), session, **options).result
    same(again, NativeSearch(model, request(model)).run())
    assert again.levels[: first.depth] == first.levels


LOSSES = [
    "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)",
    "A shuffle map stage with indeterminate output was failed and retried.",
    "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failures", "ends_well"),
    [
        (LOSSES[:1], True),
        (LOSSES[1:], True),
        (LOSSES, False),
        (["IOException: No space left on device; ExecutorLostFailure"], False),
        (["ValueError: 3 is too few"], False),
    ],
)
def test_a_job_that_spark_gave_up_for_lost_executors_is_run_again(
    tmp_path, monkeypatch, failures, ends_well
):
    model = letters.bind(servers=2, starts=1)
    waiting = list(failures)

    def by_spark(self, level, after, reached, watch):
        report = self.by_driver(level, after, reached)
        if waiting:
            raise JobFailed from RuntimeError(waiting.pop(0))
        return report

    monkeypatch.setattr(LevelMaker, "by_spark", by_spark)
    options = {"folder": tmp_path / "run", "driver_below": 0, "partitions": 2}
    found = on_spark(model, request(model), NO_SESSION, **options).result
    assert (found.verdict == "holds") == ends_well, found.undecided_reason
    again = on_spark(model, request(model), NO_SESSION, **options).result
    same(again, NativeSearch(model, request(model)).run())
    assert len(list((tmp_path / "run").glob("level-*/"))) == len(again.levels)


@pytest.mark.rarely
def test_a_folder_that_another_search_works_in_is_refused(tmp_path):
    model = letters.bind(servers=2, starts=1)
    options = {"session": "none", "folder": tmp_path / "run", "driver_below": 10**9}
    refusals = []

    def progress(result, frontier):
        with pytest.raises(LabError, match="Another search is using"):
            spark_search(model, request(model), **options).run()
        refusals.append(result.depth)

    assert spark_search(model, request(model, progress=progress), **options).run().depth > 1
    assert refusals


def test_a_finished_search_is_answered_from_its_folder(session, tmp_path):
    model = letters.bind(servers=3, starts=1)
    one = on_spark(model, request(model), session, folder=tmp_path / "run", driver_below=10**9)
    before = sorted(tmp_path.rglob("*"))
    two = on_spark(model, request(model), session, folder=tmp_path / "run", driver_below=10**9)
    assert two.result.trace == one.result.trace
    assert two.result.levels == one.result.levels
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_another_search_is_refused(tmp_path):
    model = kip_320.spec.bind(**SMALL)
    folder = tmp_path / "run"
    local = {"session": "none", "folder": folder, "driver_below": 10**9, "partitions": 2}
    spark_search(model, request(model, max_states=10), **local).run()
    other = kip_320.spec.bind(**{**SMALL, "log_size": 1})
    for search, said in [
        (spark_search(other, request(other), **local), "log_size is 2 there and 1 here"),
        (spark_search(model, request(model, []), **local), "invariants is"),
        (spark_search(model, request(model, constraint=few_records), **local), "constraint is"),
    ]:
        with pytest.raises(LabError, match=said) as refusal:
            search.run()
        assert str(refusal.value).endswith(".")
    with pytest.raises(LabError, match="has no search"):
        spark_search(model, request(model), **{**local, "folder": tmp_path}).run()
    with pytest.raises(LabError, match="use 4"):
        spark_search(model, request(model), **{**local, "partitions": 3})


def few_records(s, c):
    return s.next_record_id <= 1


@pytest.mark.slow
def test_interrupting_a_cell_cancels_the_job_that_runs(session):
    model = kip_320.spec.bind(**SMALL)

    def progress(result, frontier):
        if result.activity:  # a job is running
            signal.raise_signal(signal.SIGINT)

    result = on_spark(model, request(model, progress=progress), session).result
    assert (result.verdict, result.undecided_reason) == ("undecided", "interrupted")
    assert 0 < result.distinct == sum(level["new"] for level in result.levels)
    assert "spark" not in [level["where"] for level in result.levels]
    assert not session.sparkContext.statusTracker().getActiveJobsIds()


# --- Afterwards ------------------------------------------------------------------------------


@pytest.mark.slow
def test_states_and_edges_answer_sql(session):
    model = letters.bind(servers=2, values=2, starts=2)
    asked = request(model, ["few_letters", "logged_values_were_seen"], to_the_end=True)
    search = on_spark(model, asked, session, driver_below=10**9)
    search.states().createOrReplaceTempView("states")
    search.edges(session).createOrReplaceTempView("edges")
    levels = session.sql("SELECT depth, count(*) FROM states GROUP BY depth ORDER BY depth")
    assert [row[1] for row in levels.collect()] == search.result.per_depth
    orphans = """SELECT * FROM states AS s WHERE s.depth > 1 AND NOT EXISTS (
                     SELECT * FROM edges AS e JOIN states AS p ON p.fingerprint = e.source
                     WHERE e.source = s.parent AND e.target = s.fingerprint
                     AND e.action = s.action AND p.depth = s.depth - 1)"""
    assert session.sql(orphans).count() == 0
    steps = session.sql("SELECT count(*) FROM edges").first()[0]
    assert steps == search.result.generated - search.result.per_action["init"]
    violating = "SELECT count(*) FROM states WHERE array_contains(violates, 'few_letters')"
    assert session.sql(violating).first()[0] == search.result.violating["few_letters"]
    nested = """SELECT server[1].mode, reached FROM states
                WHERE get(server[1].log, 0).value = 1 LIMIT 1"""
    mode, reached = session.sql(nested).first()
    assert mode in ("idle", "busy")
    assert 1 in reached
    deepest = "SELECT fingerprint, depth FROM states ORDER BY depth DESC, fingerprint LIMIT 1"
    fingerprint, depth = session.sql(deepest).first()
    walk = Walk.to(search.result, fingerprint)
    assert len(walk.path) == depth
    row = np.frombuffer(walk.row, np.uint64).reshape(1, -1)
    assert fingerprints(row).view(np.int64) == [fingerprint]
    with pytest.raises(LabError, match=r"No stored state has the fingerprint 7\."):
        Walk.to(search.result, 7)
    with pytest.raises(LabError, match="the result of a search on Spark"):
        Walk.to(NativeSearch(model, asked).run(), fingerprint)


@pytest.mark.rarely
def test_edges_start_in_states_that_the_search_has_expanded(session):
    """From the violating state a step can't be computed."""
    spec = counting("action", slot_past_the_end)

    @spec.invariant
    def small(s, c):
        return HOLDS if s.n < LATE else "too large"

    @spec.step_invariant
    def goes_on(before, after, c):
        return HOLDS if after.n < LATE else "too far"

    model = spec.bind()
    search = on_spark(model, request(model, ["small", "goes_on"]), session)
    assert (search.result.verdict, search.result.depth) == ("violated", LATE + 1)
    assert search.edges(session).count() == 2 * LATE  # each state rests, or counts on
    broken = search.states(session).where("size(violates) > 0").select("depth", "violates")
    assert list(map(tuple, broken.collect())) == [(LATE + 1, ["small"])]
    broken = search.edges(session).where("size(violates) > 0").select("violates").collect()
    assert list(map(tuple, broken)) == [(["goes_on"],)]


@pytest.mark.rarely
def test_tables_are_parquet_that_others_open_and_distances_are_the_fewest_steps(session, tmp_path):
    spec = replace(letters, step_invariants=[*letters.step_invariants, Property(values_last)])
    model = spec.bind(servers=2, values=3, starts=2)
    names = ["few_letters", "logged_values_were_seen", "values_last"]
    asked = request(model, names, to_the_end=True)
    search = on_spark(model, asked, session, driver_below=10**9)
    search.save(tmp_path, session)
    with pytest.raises(LabError, match="exists already"):
        search.save(tmp_path, session)
    tables = {name: pd.read_parquet(tmp_path / name) for name in ("states", "edges", "levels")}
    result = search.result
    assert list(tables["levels"].sort_values("depth").new)[: result.depth] == result.per_depth
    assert len(tables["states"]) == result.distinct
    broken = pd.concat([tables["states"].violates, tables["edges"].violates]).explode().dropna()
    counted = broken.value_counts().to_dict()
    assert counted == {name: count for name, count in result.violating.items() if count}
    assert {"few_letters", "values_last"} <= counted.keys()
    assert_duckdb_reads(tmp_path, result)
    found = steps_to(session, tmp_path).toPandas()
    assert dict(zip(found.fingerprint, found.steps)) == fewest_steps(tables)
    with pytest.raises(LabError, match="exists already"):
        steps_to(session, tmp_path)
    with pytest.raises(LabError, match="has no states"):
        steps_to(session, tmp_path / "elsewhere")


NESTED = (
    "MAP(INTEGER, STRUCT(seen INTEGER[],"
    ' log STRUCT("source" INTEGER, dest INTEGER, "value" INTEGER)[], "mode" VARCHAR))'
)


def assert_duckdb_reads(folder: Path, result) -> None:
    """Types, and what is asked of nested columns; pandas has read the same files."""

    def ask(query: str, name: str) -> list[tuple]:
        return duckdb.sql(query.format(f"'{folder / name}/*.parquet'")).fetchall()

    types = {name: kind for name, kind, *_ in ask("DESCRIBE FROM {}", "states")}
    assert types["server"] == NESTED
    assert (types["reached"], types["violates"]) == ("INTEGER[]", "VARCHAR[]")
    per_depth = ask("SELECT depth, count(*) FROM {} GROUP BY 1 ORDER BY 1", "states")
    assert per_depth == list(enumerate(result.per_depth, 1))
    late = [
        row.fingerprint
        for row in pd.read_parquet(folder / "states").itertuples()
        if dict(row.server)[1]["mode"] == "busy" and len(dict(row.server)[1]["log"]) == 2
    ]
    busy = "SELECT fingerprint FROM {} WHERE server[1].mode = 'busy' AND len(server[1].log) = 2"
    assert sorted(late) == sorted(each for (each,) in ask(busy, "states"))
    assert late
    (steps,) = ask("SELECT count(*), count(DISTINCT action) FROM {}", "edges")
    assert steps[0] == result.generated - result.per_action["init"]
    (made,) = ask("SELECT sum(new), sum(generated) FROM {}", "levels")
    assert made == (result.distinct, result.generated)


def fewest_steps(tables) -> dict[int, int]:
    """Distances by a plain search backwards, one state at a time."""
    broken = tables["states"][tables["states"].violates.map(len) > 0].fingerprint
    edges = tables["edges"]
    steps = dict.fromkeys(map(int, broken), 0)
    for source in edges[edges.violates.map(len) > 0].source:
        steps.setdefault(int(source), 1)
    before = {}
    for source, target in zip(edges.source, edges.target):
        before.setdefault(int(target), []).append(int(source))
    waiting = sorted(steps, key=steps.get)
    while waiting:
        target = waiting.pop(0)
        for source in before.get(target, []):
            if steps.get(source, 10**9) > steps[target] + 1:
                steps[source] = steps[target] + 1
                waiting.append(source)
    return steps


def assert_decoded(model, rows) -> None:
    columns = decoded(model, np.frombuffer(b"".join(rows), np.uint64).reshape(len(rows), -1))
    assert columns.keys() == model.layout.fields.keys()
    for k, row in enumerate(rows):
        values = plain(view(model.layout, row))
        for name, column in columns.items():
            assert_same(column[k].as_py(maps_as_pydicts="strict"), values[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", spec_names())
def test_decoded_columns_of_every_spec(name):
    which = cases_of(name)[0]
    assert_decoded(bind(name, **dict(which[1])), sampled(which)[::10])


def assert_same(shown, value) -> None:
    """Equal, but for capacity that the constants do not speak of."""
    if isinstance(value, dict) and all(isinstance(key, int) for key in value):
        assert shown.keys() <= value.keys()
        for key, each in shown.items():
            assert_same(each, value[key])
    elif isinstance(value, dict):
        assert shown.keys() == value.keys()
        for key, each in shown.items():
            assert_same(each, value[key])
    elif isinstance(value, list):
        assert len(shown) <= len(value)
        for each, expected in zip(shown, value, strict=False):
            assert_same(each, expected)
    else:
        assert shown == (sorted(value) if isinstance(value, set) else value)


# --- Parts -----------------------------------------------------------------------------------


@pytest.fixture
def cell():
    yield spec_in_a_cell()
    del linecache.cache[NAME]


def test_a_spec_from_a_notebook_cell_runs_on_the_workers(session, cell):
    model = cell.bind(limit=9)
    search = on_spark(
        model, request(model, constraint=lambda s, c: s.pair.right < 3), session, driver_below=0
    )
    same(search.result, NativeSearch(model, request(model)).run())
    assert search.result.depth == 6  # 0, 2, 4, 6, 8, 9


def test_a_module_that_was_edited_since_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "spec_of_a_learner.py"
    file.write_text(CELL, encoding="utf-8")
    spec = importlib.import_module("spec_of_a_learner").spec
    packed = pack_model(UnpackedModel(spec.bind()))
    assert packed.spec == ("spec_of_a_learner", "spec")
    assert set(packed.packages) == {"protocol_lab", "spec_of_a_learner"}
    file.write_text(CELL.replace("+ by > room(c)", "+ by + 1 > room(c)"), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "spec_of_a_learner")
    with pytest.raises(LabError, match="edited after it was loaded"):
        unpack_model(packed)


@pytest.mark.rarely
def test_the_large_configuration_of_kip_320(session, tmp_path):
    """737,794 states, as TLC counts them."""
    model = kip_320.spec.bind(**LARGE)
    result = on_spark(model, request(model), session, driver_below=20_000).result
    same(result, NativeSearch(model, request(model)).run())
    assert (result.distinct, result.generated, result.depth) == (737_794, 1_967_560, 26)
    assert any(level["where"] == "spark" for level in result.levels)


# --- What goes wrong, and noise ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "said"), [(11, "the newest here is 11"), (0, "there is none here")]
)
def test_a_java_that_is_too_old_or_missing_is_told_before_anything_starts(
    monkeypatch, version, said
):
    """Also by a search, which starts Spark in the background."""
    monkeypatch.setattr(programs, "_installed_javas", lambda: ["java"])
    monkeypatch.setattr(programs, "_java_from_the_wheel", lambda: "java")
    monkeypatch.setattr(programs, "_ask_java", lambda java: (Path("home"), version))
    sentence = rf"^Spark needs Java, and {said}: install Java [^\n]*\.$"
    with pytest.raises(LabError, match=sentence):
        programs.find_java()
    monkeypatch.setattr(jobs, "local_session", programs.find_java)
    model = letters.bind(servers=2, starts=1)
    with pytest.raises(LabError, match=sentence):
        spark_search(model, request(model), driver_below=0).run()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            ": org.x.SparkException: Job aborted: No space left on device\n\tat x",
            "the disk is full",
        ),
        (
            "Traceback\nprotocol_lab.errors.LabError: a file is damaged: run again.\n",
            "a file is dam",
        ),
        (
            "Traceback (most recent call last):\n  File x\nValueError: 3 is few\n",
            "ValueError: 3 is f",
        ),
        (": org.x.SparkException: Job aborted: Lost task 0.0: a.B$Exception: odd\n\tat x", "odd"),
        ("java.lang.OutOfMemoryError: Java heap space", "Spark ran out of memory: give it more"),
        (
            "Could not reserve enough space for 67108864KB object heap",
            "there is not as much memory",
        ),
        (
            "java.net.BindException: Address already in use: failed after 16",
            "a port that Spark was to",
        ),
        (
            "py4j.protocol.Py4JNetworkError: Answer from Java side is empty",
            "Spark has ended, or can't",
        ),
        ("OSError: 14677 requested and 3568 written", "the disk is full: free some space"),
        ("", "no reason was given"),
    ],
)
def test_what_spark_says_at_length_becomes_one_sentence(text, sentence):
    assert cause(text).startswith(sentence)
