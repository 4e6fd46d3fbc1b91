"""Distances from all states to chosen ones, by a backward search over the edges on Spark.

It reads what `SparkSearch.save` has written. The search begins with the chosen states, and goes
from each edge's target to its source, level by level. Each level is written as Parquet and read
back, since the plan of a DataFrame that is derived from itself grows with every level.
"""

from pathlib import Path
from typing import TYPE_CHECKING

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
    # A level is small: run one job for each question, rather than one for each stage.
    "spark.sql.adaptive.enabled": "false",
}


def _go_backwards(session: "SparkSession", place: Path, condition: str, found: Path) -> None:
    states = session.read.parquet(address(place / "states"))
    edges = session.read.parquet(address(place / "edges"))
    inside = edges.where("inside").select("source", "target")
    level, steps = states.where(condition).select("fingerprint"), 0
    while _write(session, found, steps, level) or steps == 0:
        newest = _level(session, found, steps).withColumnRenamed("fingerprint", "target")
        before = inside.join(newest, "target").select("source")
        if steps == 0 and condition == VIOLATION:
            before = before.union(edges.where(VIOLATION).select("source"))
        known = session.read.parquet(address(found)).select("fingerprint")
        before = before.withColumnRenamed("source", "fingerprint").distinct()
        level, steps = before.join(known, "fingerprint", "left_anti"), steps + 1


def _write(session: "SparkSession", found: Path, steps: int, level: "DataFrame") -> int:
    """Write a level; returns how many states it has."""
    level.write.parquet(address(found / f"steps={steps}"))
    return _level(session, found, steps).count()


def _level(session: "SparkSession", found: Path, steps: int) -> "DataFrame":
    return session.read.parquet(address(found / f"steps={steps}"))
