"""What Spark's Python workers run: the stages of a level between Arrow batches.

Each stage is a generator over record batches. `in_worker` makes the function that is handed to
Spark: it is pickled whole, so that a worker need not find this package before it was told where.
"""

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from protocol_lab.spark.levels import BLOB_BYTES, LEVEL, Block, RunFolder, buffer_of
from protocol_lab.spark.recipe import Recipe, model_from
from protocol_lab.spark.tasks import Asked, Parcel, Report, Tasks

CANDIDATES = pa.schema(
    [
        ("owner", pa.int32()),
        ("rows", pa.binary()),
        ("parents", pa.binary()),
        ("actions", pa.binary()),
        ("report", pa.string()),
    ]
)
"""What goes from the first stage to the owners: a parcel in three blobs, or a report."""


def _columns(schema: pa.Schema) -> str:
    names = {pa.int32(): "int", pa.binary(): "binary", pa.string(): "string"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)


CANDIDATE_COLUMNS, LEVEL_COLUMNS = _columns(CANDIDATES), _columns(LEVEL)
"""The two schemas in Spark's words."""


def in_worker(stage: Callable[..., Iterator], *arguments: Any) -> Callable[[Iterator], Iterator]:
    """A function for `mapInArrow` that runs stage(batches, *arguments) in a worker."""
    path, cargo = list(sys.path), pickle.dumps((stage, arguments))

    def work(batches: Iterator) -> Iterator:
        import pickle
        import sys

        sys.path += [each for each in path if each not in sys.path]
        stage, arguments = pickle.loads(cargo)
        return stage(batches, *arguments)

    return work


@lru_cache(maxsize=4)
def tasks_for(recipe: Recipe, asked: Asked) -> Tasks:
    """The kernels in a Python worker, which serves many tasks."""
    model, constraint = model_from(recipe)
    return Tasks(model, constraint, asked)


def expand_pieces(
    batches: Iterator[pa.RecordBatch], recipe: Recipe, asked: Asked, folder: RunFolder, plan: list
) -> Iterator[pa.RecordBatch]:
    """First stage of a level: a number is a share of the plan; candidates come out."""
    tasks = tasks_for(recipe, asked)
    for batch in batches:
        for share in batch.column(0).to_pylist():
            report = Report()
            blocks = (block for piece in plan[share] for block in folder.read_piece(piece))
            for parcel in tasks.expand(blocks, folder.partitions, report):
                yield _batch(
                    CANDIDATES,
                    owner=parcel.owner,
                    rows=parcel.rows.tobytes(),
                    parents=parcel.parents.tobytes(),
                    actions=parcel.actions.tobytes(),
                )
            yield _batch(CANDIDATES, owner=share, report=_as_text(report))


def no_states(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A stage that gives nothing; by then the worker has imported all that it will need."""
    for _ in batches:
        yield _batch(CANDIDATES, owner=0)


def settle_owner(
    batches: Iterator[pa.RecordBatch], recipe: Recipe, asked: Asked, folder: RunFolder, depth: int
) -> Iterator[pa.RecordBatch]:
    """Second stage of a level: candidates of one owner go in, its new states come out."""
    from pyspark import TaskContext

    tasks, owner = tasks_for(recipe, asked), TaskContext.get().partitionId()
    reports: list[str] = []

    def parcels() -> Iterator[Parcel]:
        for batch in batches:
            reports.extend(batch["report"].drop_null().to_pylist())
            rows = buffer_of(batch["rows"], np.uint64).reshape(-1, folder.state_bytes // 8)
            parents, actions = (
                buffer_of(batch["parents"], np.uint64),
                buffer_of(batch["actions"], np.int16),
            )
            yield Parcel(owner, rows, parents, actions)

    report = Report()
    new = tasks.settle(depth, owner, parcels(), folder, report)
    yield from level_batches(owner, new, report)
    for text in reports:
        yield _batch(LEVEL, depth=depth, owner=owner, count=0, report=text)


def level_batches(owner: int, new: Block, report: Report) -> list[pa.RecordBatch]:
    """What an owner writes of a level: its new states in blobs, and its report."""
    size = max(1, BLOB_BYTES // new.rows.itemsize // new.rows.shape[1])
    batches = [
        _batch(
            LEVEL,
            depth=new.depth,
            owner=owner,
            count=len(new.rows[at : at + size]),
            rows=new.rows[at : at + size].tobytes(),
            fingerprints=new.fingerprints[at : at + size].tobytes(),
            parents=new.parents[at : at + size].tobytes(),
            actions=new.actions[at : at + size].tobytes(),
        )
        for at in range(0, len(new), size)
    ]
    return [*batches, _batch(LEVEL, depth=new.depth, owner=owner, count=0, report=_as_text(report))]


def _batch(schema: pa.Schema, **values: Any) -> pa.RecordBatch:
    """One row; what is not given is null."""
    columns = [pa.array([values.get(field.name)], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _as_text(report: Report) -> str:
    return json.dumps(report.to_json())
