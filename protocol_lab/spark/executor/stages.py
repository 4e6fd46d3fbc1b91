"""The stages of a level as Spark's Python workers run them, between Arrow batches.

Each stage is a generator over record batches. `in_worker` makes the function that is given to
Spark: it is pickled by value, so that a worker can run it before it has imported this package.
"""

import gc
import itertools
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from protocol_lab.errors import LabError
from protocol_lab.spark.executor.candidates import Parcel
from protocol_lab.spark.executor.level_files import LevelPiece, buffer_of, read_piece, write_part
from protocol_lab.spark.executor.task_reports import Report
from protocol_lab.spark.executor.tasks import Tasks
from protocol_lab.spark.executor.visited_runs import VisitedRuns
from protocol_lab.spark.model_transfer import PackedModel, unpack_model
from protocol_lab.spark.packaging import unpacker

CANDIDATES = pa.schema(
    [
        ("owner", pa.int32()),
        ("rows", pa.binary()),
        ("parents", pa.binary()),
        ("actions", pa.binary()),
        ("report", pa.string()),
    ]
)
"""The rows from the first stage to the owners: a parcel in three blobs, or a report."""

REPORTS = pa.schema([("report", pa.string())])
"""The rows from the owners to the driver."""

_PARCELS_SENT = 32
"""Parcels in a batch, since every batch has a fixed cost."""


def _columns(schema: pa.Schema) -> str:
    names = {pa.int32(): "int", pa.binary(): "binary", pa.string(): "string"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)


CANDIDATE_COLUMNS, REPORT_COLUMNS = _columns(CANDIDATES), _columns(REPORTS)
"""Both schemas in Spark's notation."""


def in_worker(
    stage: Callable[..., Iterator], archives: tuple[str, ...], *arguments: Any
) -> Callable[[Iterator], Iterator]:
    """A function for `mapInArrow` that runs stage(batches, *arguments) in a worker, with the code
    in these archives (see `packaging`)."""
    unpack, cargo = unpacker(archives), pickle.dumps((stage, arguments))

    def work(batches: Iterator) -> Iterator:
        import pickle

        unpack()
        stage, arguments = pickle.loads(cargo)
        return stage(batches, *arguments)

    return work


@lru_cache(maxsize=4)
def tasks_for(packed: PackedModel) -> Tasks:
    """The `Tasks` of a Python worker, which are kept for many tasks.

    Spark has a worker collect its garbage after every task. All that is loaded by now stays, and
    looking through it would take most of the time of a small task: it is left out from here on.
    """
    tasks = Tasks(unpack_model(packed))
    gc.freeze()
    return tasks


def expand_pieces(
    batches: Iterator[pa.RecordBatch],
    packed: PackedModel,
    plan: list[list[LevelPiece]],
    owners: int,
) -> Iterator[pa.RecordBatch]:
    """First stage of a level: the candidates from the states of plan[k], for each number k."""
    tasks = tasks_for(packed)
    for batch in batches:
        for share in batch.column(0).to_pylist():
            report = Report()
            state_bytes = tasks.model.layout.size
            blocks = (block for piece in plan[share] for block in read_piece(piece, state_bytes))
            parcels = tasks.expand(blocks, owners, report)
            while some := list(itertools.islice(parcels, _PARCELS_SENT)):
                rows = [
                    {
                        "owner": parcel.owner,
                        "rows": parcel.rows.tobytes(),
                        "parents": parcel.parents.tobytes(),
                        "actions": parcel.actions.tobytes(),
                    }
                    for parcel in some
                ]
                yield _batch(CANDIDATES, rows)
            yield _batch(
                CANDIDATES, [{"owner": share % owners, "report": json.dumps(report.to_json())}]
            )


def no_states(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A stage that gives nothing; by then the worker has imported all that it will need."""
    for _ in batches:
        yield _batch(CANDIDATES, [{"owner": 0}])


def expect_owner(owner: int, sent_to: list[int]) -> None:
    """Raise LabError if a task was given what another owner has to settle.

    The shuffle names the owner as the number of the partition. If a setting or a release of Spark
    changed that, states would be counted twice, or not at all.
    """
    strays = sorted(set(sent_to) - {owner})
    if strays:
        raise LabError(
            f"Spark gave the task of owner {owner} what was sent to owner {strays[0]}: the"
            " partition of a row is not its owner, so that this session can't run the search."
        )


def settle_owner(
    batches: Iterator[pa.RecordBatch],
    packed: PackedModel,
    before: VisitedRuns,
    after: VisitedRuns,
    reached: int,
    level: Path,
) -> Iterator[pa.RecordBatch]:
    """Second stage of a level: candidates of one owner go in; its new states are written, and
    what it and others have to report comes out."""
    from pyspark import TaskContext

    tasks, owner = tasks_for(packed), TaskContext.get().partitionId()
    reports: list[str] = []

    def parcels() -> Iterator[Parcel]:
        for batch in batches:
            expect_owner(owner, batch["owner"].to_pylist())
            reports.extend(batch["report"].drop_null().to_pylist())
            rows = buffer_of(batch["rows"], np.uint64).reshape(-1, tasks.model.words)
            parents = buffer_of(batch["parents"], np.uint64)
            yield Parcel(owner, rows, parents, buffer_of(batch["actions"], np.int16))

    report = Report()
    new = tasks.settle(before, after, owner, parcels(), reached, report)
    report.files = write_part(level, ((owner, block) for block in new), owner)
    yield _batch(REPORTS, [{"report": each} for each in [json.dumps(report.to_json()), *reports]])


def _batch(schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    """A record batch; columns that are not given are null."""
    return pa.RecordBatch.from_pylist(list(rows), schema=schema)
