"""Distances from all states to chosen ones, by a backward search over the edges on Spark.

It reads what `SparkSearch.save` has written. The search begins with the chosen states, and goes
from each edge's target to its source, level by level. Each level is written as Parquet and read
back, since the plan of a DataFrame that is derived from itself grows with every level.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from pyarrow.parquet import read_metadata

from protocol_lab.errors import LabError
from protocol_lab.spark.session import address, changed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
