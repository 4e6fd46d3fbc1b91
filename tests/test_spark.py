"""The search on Spark gives what the native one gives, survives, and answers SQL afterwards."""

import importlib
import json
import linecache
import shutil
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from kafka_spec import kip_320, truncate_to_high_watermark
from protocol_lab import LabError
from protocol_lab.declaring.views import plain, view
from protocol_lab.exploring import kernels
from protocol_lab.exploring.native import NativeSearch
from protocol_lab.exploring.predicates import predicate
from protocol_lab.exploring.search import Question
from protocol_lab.spark.levels import LEVEL
from protocol_lab.spark.recipe import model_from, recipe_of
from protocol_lab.spark.search import SparkSearch, divided
from protocol_lab.spark.seen import runs_up_to
from protocol_lab.spark.session import local_session
from protocol_lab.spark.tables import decoded
from protocol_lab.stepping.steps import find_step
from tests.toy_specs import letters

pytestmark = pytest.mark.spark

COUNTS = (
    "verdict",
    "exhaustive",
    "per_depth",
    "per_action",
    "distinct",
    "generated",
    "depth",
    "violated",
    "never_reached",
    "violating",
    "collision_probability",
)

SMALL = {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 1}


@pytest.fixture(scope="module")
def session():
    session = local_session()
    yield session
    session.stop()


def question(model, names=None, **options) -> Question:
    return Question(*model.choose(names), **options)


def on_spark(model, asked, session, **options) -> SparkSearch:
    """Every level but the first goes through Spark."""
    search = SparkSearch(model, asked, session, **{"driver_below": 0, "partitions": 2, **options})
    search.run()
    return search


def same(spark, native) -> None:
    for name in COUNTS:
        assert getattr(spark, name) == getattr(native, name), name


def test_counts_are_the_native_ones(session):
    model = kip_320.spec.bind(**SMALL)
    result = on_spark(model, question(model), session).result
    same(result, NativeSearch(model, question(model)).run())
    assert [level["where"] for level in result.levels[1:]] == ["spark"] * result.depth


@pytest.mark.slow
def test_driver_takes_the_small_levels_and_the_result_says_so(session):
    model = kip_320.spec.bind(**SMALL)
    search = on_spark(model, question(model), session, driver_below=100, partitions=8)
    same(search.result, NativeSearch(model, question(model)).run())
    frontiers = [level["new"] for level in search.result.levels]
    expected = ["spark" if frontier >= 100 else "driver" for frontier in frontiers[:-1]]
    assert [level["where"] for level in search.result.levels] == ["driver", *expected]
    assert {"driver", "spark"} == set(expected)


@pytest.mark.slow
def test_bags_subsets_constraints_steps_and_several_initial_states(session):
    model = letters.bind(servers=2, values=2, starts=2)
    names = ["few_letters", "logged_values_were_seen", "values_grow"]
    asked = question(model, names, to_the_end=True)
    constraint = predicate(model, "s.messages.size <= 1")
    asked.constraint = constraint
    spark = on_spark(model, asked, session).result
    native = NativeSearch(model, asked).run()
    same(spark, native)
    assert spark.violating == native.violating


@pytest.mark.slow
def test_a_trace_is_shortest_and_legal(session):
    model = truncate_to_high_watermark.spec.bind(replicas=3, log_size=2, max_records=1)
    spark = on_spark(model, question(model), session, driver_below=1000).result
    native = NativeSearch(model, question(model)).run()
    assert spark.verdict == native.verdict == "violated"
    assert len(spark.trace_rows) == len(native.trace_rows)
    for row, step, after in zip(spark.trace_rows, spark.trace, spark.trace_rows[1:], strict=False):
        assert find_step(model, row, step.text).row == after
    assert spark.violation_reason


@pytest.mark.slow
def test_a_trace_does_not_depend_on_how_the_work_is_divided(session):
    model = letters.bind(servers=3, starts=2)
    traces = [
        on_spark(model, question(model), session, driver_below=below, partitions=owners).result
        for below, owners in ((0, 1), (0, 4), (10**9, 2))
    ]
    assert len({str(each.trace) + str(each.initial) for each in traces}) == 1
    assert traces[0].violated == "few_letters"


@pytest.mark.slow
def test_deadlock(session):
    model = letters.bind(servers=2, values=1, starts=1)
    asked = question(model, [], deadlock=True)
    spark = on_spark(model, asked, session).result
    native = NativeSearch(model, asked).run()
    assert spark.violated == native.violated == "deadlock"
    assert len(spark.trace_rows) <= len(native.trace_rows)


@pytest.mark.slow
def test_max_states_ends_undecided(session):
    model = kip_320.spec.bind(**SMALL)
    result = on_spark(model, question(model, max_states=50), session).result
    assert result.verdict == "undecided"
    assert result.undecided_reason == "more than 50 distinct states (max_states)"
    assert sum(result.per_depth[:-1]) <= 50 < result.distinct


@pytest.mark.slow
def test_exceeded_capacity_ends_undecided_and_names_the_constant(session):
    model = letters.bind(servers=3, values=9, slots=4, starts=1)
    spark = on_spark(model, question(model, []), session).result
    native = NativeSearch(model, question(model, [])).run()
    assert spark.verdict == native.verdict == "undecided"
    assert "raise slots" in spark.undecided_reason


# --- Surviving -------------------------------------------------------------------------------


def interrupted_at(depth: int):
    def progress(result, frontier, seconds):
        if result.depth == depth:
            raise KeyboardInterrupt

    return progress


def nothing(folder, level):
    """The search is only continued."""


def half_written(folder, level):
    """A killed driver, or a task that outlives it, leaves files of the next level behind."""
    shutil.copytree(level, folder / "level-00009-deadbeef")


def cut_level(folder, level):
    file = next(level.glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:-100])


def flipped_bit(folder, level):
    """The sizes are right, and one bit of a state is not."""
    file = max(level.glob("*.parquet"), key=lambda each: each.stat().st_size)
    content = bytearray(file.read_bytes())
    column = pq.read_metadata(file).row_group(0).column(LEVEL.get_field_index("rows"))
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    file.write_bytes(content)


def lost_file(folder, level):
    next(level.glob("*.parquet")).unlink()


def cut_record(folder, level):
    record = folder / "level-00008.json"
    record.write_text(record.read_text()[:-20])


def lost_runs(folder, level):
    shutil.rmtree(folder / "seen")


def damaged_run(folder, level):
    run = next((folder / "seen").glob("00008-*.npy"))
    content = bytearray(run.read_bytes())
    content[-1] ^= 1
    run.write_bytes(content)


HARMS = {
    each.__name__: each
    for each in (
        nothing,
        half_written,
        cut_level,
        flipped_bit,
        lost_file,
        cut_record,
        lost_runs,
        damaged_run,
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
def test_an_interrupted_search_goes_on_from_its_last_complete_level(session, tmp_path, harm):
    model = kip_320.spec.bind(**SMALL)
    folder = tmp_path / "run"
    options = {"driver_below": 60, "folder": folder}
    first = on_spark(model, question(model, progress=interrupted_at(8)), session, **options)
    assert first.result.verdict == "undecided"
    assert (first.result.undecided_reason, first.result.depth) == ("interrupted", 8)
    HARMS[harm](folder, first.folder.level(8))
    seen = []
    asked = question(model, progress=lambda result, *_: seen.append(result.depth))
    again = on_spark(model, asked, session, **options)
    same(again.result, NativeSearch(model, question(model)).run())
    made_again = json.loads((folder / "level-00009.json").read_text())
    assert made_again["new"] == again.result.per_depth[8]
    assert len(list(folder.glob("level-*/"))) == len(again.result.levels)


def test_a_finished_search_is_answered_from_its_folder(session, tmp_path):
    model = letters.bind(servers=3, starts=1)
    one = on_spark(model, question(model), session, folder=tmp_path / "run", driver_below=10**9)
    before = sorted(tmp_path.rglob("*"))
    two = on_spark(model, question(model), session, folder=tmp_path / "run", driver_below=10**9)
    assert two.result.trace == one.result.trace
    assert two.result.levels == one.result.levels
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_another_search_is_refused(tmp_path):
    model = kip_320.spec.bind(**SMALL)
    folder = tmp_path / "run"
    local = {"session": "none", "folder": folder, "driver_below": 10**9, "partitions": 2}
    SparkSearch(model, question(model, max_states=10), **local).run()
    other = kip_320.spec.bind(**{**SMALL, "log_size": 1})
    for search, said in [
        (SparkSearch(other, question(other), **local), "log_size is 2 there and 1 here"),
        (SparkSearch(model, question(model, []), **local), "invariants is"),
        (SparkSearch(model, question(model, constraint=few_records), **local), "constraint is"),
    ]:
        with pytest.raises(LabError, match=said) as refusal:
            search.run()
        assert str(refusal.value).endswith(".")
    with pytest.raises(LabError, match="holds no search"):
        SparkSearch(model, question(model), **{**local, "folder": tmp_path}).run()
    with pytest.raises(LabError, match="use 4"):
        SparkSearch(model, question(model), **{**local, "partitions": 3})


def few_records(s, c):
    return s.next_record_id <= 1


@pytest.mark.slow
def test_stopping_cancels_the_job_and_returns_what_is_known(session):
    model = kip_320.spec.bind(**SMALL)
    calls = iter(range(1000))
    result = on_spark(model, question(model, stopped=lambda: next(calls) > 2), session).result
    assert (result.verdict, result.undecided_reason) == ("undecided", "stopped")
    assert result.distinct == sum(level["new"] for level in result.levels)


# --- Afterwards ------------------------------------------------------------------------------


@pytest.mark.slow
def test_states_and_edges_answer_sql(session):
    model = letters.bind(servers=2, values=2, starts=2)
    asked = question(model, ["few_letters", "logged_values_were_seen"], to_the_end=True)
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


@pytest.mark.parametrize(
    "model",
    [
        letters.bind(servers=2, values=2, starts=2, slots=5),
        kip_320.spec.bind(replicas=2, log_size=3, max_records=2, max_leader_epoch=1),
    ],
    ids=["letters", "kip_320"],
)
def test_decoded_columns_are_what_the_views_show(model):
    rows = NativeSearch(model, question(model, [])).run().states[::7]
    columns = decoded(model, np.ascontiguousarray(rows))
    for k, row in enumerate(rows):
        values = plain(view(model.layout, row.tobytes()))
        for name, column in columns.items():
            assert_same(column[k].as_py(maps_as_pydicts="strict"), values[name])


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


def test_runs_cover_every_depth_once():
    for depth in range(1, 100):
        runs = runs_up_to(depth)
        covered = [each for run in runs for each in range(run - (run & -run) + 1, run + 1)]
        assert sorted(covered) == list(range(1, depth + 1))
        assert len(runs) <= depth.bit_length()


def test_shares_are_about_equally_large():
    pieces = [("a", group, size) for group, size in enumerate([5, 1, 1, 1, 1, 1, 9, 1])]
    plan = divided(pieces, 2)
    assert sorted(piece for share in plan for piece in share) == sorted(pieces)
    assert [sum(size for _, _, size in share) for share in plan] == [10, 10]
    assert divided(pieces[:1], 4) == [pieces[:1]]


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


@pytest.fixture
def cell():
    """A spec as a notebook cell leaves it: in __main__, its source known to linecache only."""
    name = "<cell 1>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    scope = {"__name__": "__main__"}
    exec(compile(CELL, name, "exec"), scope)
    yield scope["spec"]
    del linecache.cache[name]


def test_a_spec_from_a_notebook_cell_runs_on_the_workers(session, cell):
    model = cell.bind(limit=9)
    search = on_spark(model, question(model, constraint=lambda s, c: s.pair.right < 3), session)
    same(search.result, NativeSearch(model, question(model)).run())
    assert search.result.depth == 6  # 0, 2, 4, 6, 8, 9


def test_a_spec_from_a_notebook_cell_travels_with_its_source(cell):
    model = cell.bind(limit=8)
    NativeSearch(model, question(model)).run()
    recipe = recipe_of(model)
    assert recipe.spec is None
    assert not hasattr(cell.actions[0].function, "lab_source")
    linecache.cache["<cell 1>"] = (1, None, ["# another cell"], "<cell 1>")
    compiled = len(kernels.compilations)
    again = model_from(recipe).model
    same(NativeSearch(again, question(again)).run(), NativeSearch(again, question(again)).run())
    assert again.spec is not cell
    assert len(kernels.compilations) == compiled


def test_a_module_that_was_edited_since_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "spec_of_a_learner.py"
    file.write_text(CELL)
    spec = importlib.import_module("spec_of_a_learner").spec
    recipe = recipe_of(spec.bind())
    assert recipe.spec == ("spec_of_a_learner", "spec")
    assert set(recipe.packages) == {"protocol_lab", "spec_of_a_learner"}
    file.write_text(CELL.replace("+ by > room(c)", "+ by + 1 > room(c)"))
    monkeypatch.delitem(sys.modules, "spec_of_a_learner")
    with pytest.raises(LabError, match="edited after it was loaded"):
        model_from(recipe)


@pytest.mark.slow
def test_the_large_configuration_of_kip_320(session, tmp_path):
    """737,794 states, as TLC counts them."""
    model = kip_320.spec.bind(replicas=3, log_size=2, max_records=2, max_leader_epoch=2)
    result = on_spark(model, question(model), session, driver_below=20_000).result
    same(result, NativeSearch(model, question(model)).run())
    assert (result.distinct, result.generated, result.depth) == (737_794, 1_967_560, 26)
    assert any(level["where"] == "spark" for level in result.levels)
