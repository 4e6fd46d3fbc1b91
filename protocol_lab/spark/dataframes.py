"""The results of a search on Spark as DataFrames: decoded states, edges, and distances.

The columns of a state are named and nested as in the spec, so that a condition reads the same in
an action and in SQL:

    s.quorum_state.leader == 2                SELECT ... WHERE quorum_state.leader = 2
    s.replica_state[1].hw                     replica_state[1].hw            a map by node
    s.replica_log[1].records[0].id            replica_log[1].records[0].id   an array
    contains(s.quorum_state.isr, 3)           array_contains(quorum_state.isr, 3)
    size(s.quorum_state.isr) == 1             size(quorum_state.isr) = 1

An item that may not be there is read with `get`, as in get(leader_and_isr_requests, 0).leader.
A set of nodes is a sorted array, NONE is 0, sequences and bags are arrays as long as they are, and
all numbers are int. Decoding goes column by column with numpy, not state by state.
"""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow.parquet import read_metadata

from protocol_lab.compiler.fingerprint import fingerprints
from protocol_lab.errors import LabError
from protocol_lab.model.layout import (
    Array,
    ArrayLayout,
    IntegerLayout,
    Per,
    StructLayout,
    evaluate_size,
)
from protocol_lab.model.spec import Model
from protocol_lab.spark.executor.level_files import Block, LevelPiece, read_piece
from protocol_lab.spark.executor.stages import tasks_for
from protocol_lab.spark.executor.tasks import Tasks
from protocol_lab.spark.model_transfer import PackedModel
from protocol_lab.spark.session import address, changed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_STATES_AT_A_TIME = 1 << 14

EDGES = pa.schema(
    [
        ("source", pa.int64()),
        ("action", pa.string()),
        ("target", pa.int64()),
        ("inside", pa.bool_()),
        ("violates", pa.list_(pa.string())),
    ]
)
"""Transitions: fingerprints of both states. A target that is not `inside` the constraint is no
stored state. violates: the step invariants that were asked for and do not hold."""

LEVELS = pa.schema(
    [
        ("depth", pa.int32()),
        ("new", pa.int64()),
        ("generated", pa.int64()),
        ("sent", pa.int64()),
        ("seconds", pa.float64()),
        ("where", pa.string()),
        ("partitions", pa.int32()),
    ]
)
"""How the search went: see `Result.levels`."""


def states_schema(model: Model) -> pa.Schema:
    """The columns of `states`: fingerprint, depth, parent (fingerprint; 0 for an initial state),
    action (that led from the parent; null for an initial state), violates (names of the state
    invariants that were asked for and do not hold), and then the variables of the spec."""
    own = [
        ("fingerprint", pa.int64()),
        ("depth", pa.int32()),
        ("parent", pa.int64()),
        ("action", pa.string()),
        ("violates", pa.list_(pa.string())),
    ]
    empty = decoded(model, np.empty((0, model.words), np.uint64))
    return pa.schema([*own, *((name, column.type) for name, column in empty.items())])


def decode_states(
    batches: Iterator[pa.RecordBatch],
    packed: PackedModel,
    plan: list[list[LevelPiece]],
) -> Iterator[pa.RecordBatch]:
    """A stage for `mapInArrow`: the decoded states of plan[k], for each number k that comes in."""
    tasks = tasks_for(packed)
    schema = states_schema(tasks.model)
    actions = pa.array([each.name for each in tasks.model.spec.actions], pa.string())
    for block in _blocks(batches, tasks, plan):
        first = block.actions < 0
        violated = tasks.failed(block.rows)
        columns = [
            _signed(block.fingerprints),
            pa.array(np.full(len(block), block.depth, np.int32)),
            _signed(block.parents),
            actions.take(pa.array(block.actions, mask=first)),
            _lists_of_names(violated, packed.request.invariants),
            *decoded(tasks.model, block.rows).values(),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def make_edges(
    batches: Iterator[pa.RecordBatch],
    packed: PackedModel,
    plan: list[list[LevelPiece]],
    expanded: int,
) -> Iterator[pa.RecordBatch]:
    """A stage for `mapInArrow`: all transitions from the states of plan[k] up to depth `expanded`,
    for each number k."""
    tasks = tasks_for(packed)
    actions = pa.array([each.name for each in tasks.model.spec.actions], pa.string())
    for block in _blocks(batches, tasks, plan):
        for found in tasks.edges(block) if block.depth <= expanded else ():
            columns = [
                _signed(block.fingerprints[found.before]),
                actions.take(pa.array(found.actions)),
                _signed(fingerprints(found.rows)),
                pa.array(found.inside.astype(bool)),
                _lists_of_names(found.violated, packed.request.step_invariants),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=EDGES)


def _blocks(
    batches: Iterator[pa.RecordBatch], tasks: Tasks, plan: list[list[LevelPiece]]
) -> Iterator[Block]:
    for batch in batches:
        for share in batch.column(0).to_pylist():
            for piece in plan[share]:
                for block in read_piece(piece, tasks.model.layout.size):
                    for at in range(0, len(block), _STATES_AT_A_TIME):
                        yield block.part(at, at + _STATES_AT_A_TIME)


def decoded(model: Model, rows: np.ndarray) -> dict[str, pa.Array]:
    """States, rows of a uint64 array, as one Arrow array for each variable of the spec."""
    values = rows.view(model.layout.dtype).reshape(len(rows))
    sizes = model.constants._asdict()
    declared = model.layout.declared.field_types
    return {
        name: _column(part, declared[name], values[name], sizes)
        for name, part in model.layout.fields.items()
    }


def _column(layout: Any, declared: Any, values: np.ndarray, sizes: dict[str, int]) -> pa.Array:
    """The values of one variable or part of it, one for each state, as an Arrow array."""
    match layout:
        case IntegerLayout(kind="bool"):
            return pa.array(values.astype(bool))
        case IntegerLayout(kind="named"):
            return pa.array(layout.names, pa.string()).take(pa.array(values.astype(np.int32)))
        case IntegerLayout(kind="nodes"):
            which = values.astype(np.uint32)[:, None] >> np.arange(32, dtype=np.uint32) & 1
            members = pa.array(np.nonzero(which)[1].astype(np.int32))
            return pa.ListArray.from_arrays(_offsets(which.sum(axis=1)), members)
        case IntegerLayout():
            return pa.array(values.astype(np.int32))
        case ArrayLayout():
            return _array_column(layout, declared, values, sizes)
    if layout.kind != "struct":
        return _counted_column(layout, declared, values, sizes)
    fields = layout.declared.field_types
    return pa.StructArray.from_arrays(
        [
            _column(part, fields[name], np.ascontiguousarray(values[name]), sizes)
            for name, part in layout.fields.items()
        ],
        list(layout.fields),
    )


def _array_column(
    layout: ArrayLayout, declared: Array | Per, values: np.ndarray, sizes: dict[str, int]
) -> pa.Array:
    """The slots that the constants speak of: a layout may have more."""
    size = declared.node.count if isinstance(declared, Per) else declared.size
    count = min(evaluate_size(size, sizes), layout.count)
    used = values[:, :count]
    used = np.ascontiguousarray(used).reshape(-1, *values.shape[2:])  # items may be arrays, too
    items = _column(layout.item, declared.item, used, sizes)
    offsets = _offsets(np.full(len(values), count))
    if isinstance(declared, Per):
        nodes = np.tile(np.arange(1, count + 1, dtype=np.int32), len(values))
        return pa.MapArray.from_arrays(offsets, pa.array(nodes), items)
    return pa.ListArray.from_arrays(offsets, items)


def _counted_column(
    layout: StructLayout, declared: Any, values: np.ndarray, sizes: dict[str, int]
) -> pa.Array:
    items = layout.fields["items"]
    counts = values["length" if layout.kind == "seq" else "size"].astype(np.int32)
    used = values["items"][np.arange(items.count) < counts[:, None]]
    return pa.ListArray.from_arrays(
        _offsets(counts), _column(items.item, declared.item, used, sizes)
    )


def _offsets(counts: np.ndarray) -> pa.Array:
    return pa.array(np.append(0, np.cumsum(counts)).astype(np.int32))


def _signed(prints: np.ndarray) -> pa.Array:
    """Spark has no unsigned numbers: the same 64 bits as a signed one."""
    return pa.array(prints.view(np.int64))


def _lists_of_names(bits: np.ndarray, names: tuple[str, ...]) -> pa.Array:
    which = bits[:, None] >> np.arange(len(names)) & 1
    listed = pa.array(names, pa.string()).take(pa.array(np.nonzero(which)[1]))
    return pa.ListArray.from_arrays(_offsets(which.sum(axis=1)), listed)


_CHANGING = [
    (re.compile(r"(, )?\[?plan_id=\d+\]?"), ""),
    (re.compile(r"#\d+L?"), ""),  # the number that Spark gives to a column
    (re.compile(r"file:/[^\s\],)]+"), "file:/…"),
]
"""The parts that differ from run to run."""


def plan_text(table: "DataFrame") -> str:
    """The tree of operators that `explain("formatted")` prints.

    The numbers of columns and plans, and the paths of files, are left out.
    """
    with redirect_stdout(StringIO()) as said:
        table.explain("formatted")
    return same_in_every_run(said.getvalue()).partition("\n\n\n")[0]


def same_in_every_run(plan: str) -> str:
    """A plan without what differs from run to run."""
    for pattern, instead in _CHANGING:
        plan = pattern.sub(instead, plan)
    return plan.strip()


VIOLATION = "size(violates) > 0"


def steps_to(
    session: "SparkSession", folder: str | Path, condition: str = VIOLATION, name: str = "distances"
) -> "DataFrame":
    """A DataFrame of every state from which a chosen one can be reached: fingerprint, and the
    fewest steps.

    condition: SQL over a row of states; by default the chosen states are violations, and a state
    with a step that breaks a step invariant is one step away from one. Reads `states` and `edges`
    in the folder, and writes a folder of this name beside them. Raises LabError if the former do
    not exist, or the latter does.
    """
    place = Path(folder).absolute()
    if not (place / "states").exists() or not (place / "edges").exists():
        raise LabError(f"{place} has no states and edges: write them with search.save(folder).")
    found = place / name
    if found.exists():
        raise LabError(f"{found} exists already: read it, or give another name.")
    with changed(session, _SETTINGS):
        _go_backwards(session, place, condition, found)
    return session.read.parquet(address(found))


_SETTINGS = {
    # A level is small: it is made by one job, rather than by one for each stage.
    "spark.sql.adaptive.enabled": "false",
}


def _go_backwards(session: "SparkSession", place: Path, condition: str, found: Path) -> None:
    """Go from each edge's target to its source, level by level.

    Each level is written and read back: the plan of a DataFrame that is derived from itself grows
    with every level.
    """
    states = session.read.parquet(address(place / "states"))
    edges = session.read.parquet(address(place / "edges"))
    inside = edges.where("inside").select("source", "target")
    level, steps = states.where(condition).select("fingerprint"), 0
    read = session.read.schema(level.schema)  # known: so Spark need not run a job to find it out
    while _write(level, found / f"steps={steps}") or steps == 0:
        newest = read.parquet(address(found / f"steps={steps}"))
        before = inside.join(newest.withColumnRenamed("fingerprint", "target"), "target")
        before = before.select("source")
        if steps == 0 and condition == VIOLATION:
            before = before.union(edges.where(VIOLATION).select("source"))
        known = read.parquet(address(found)).select("fingerprint")
        before = before.withColumnRenamed("source", "fingerprint").distinct()
        level, steps = before.join(known, "fingerprint", "left_anti"), steps + 1


def _write(level: "DataFrame", folder: Path) -> int:
    """Write a level; returns how many states it has, which its files say without another job."""
    level.write.parquet(address(folder))
    return sum(read_metadata(each).num_rows for each in folder.glob("*.parquet"))
