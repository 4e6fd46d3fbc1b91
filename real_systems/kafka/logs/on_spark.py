"""Reads files and judges partitions on Spark: the same functions, called by the executors.

Executors read the files themselves, so these must lie where every executor can read them, as on a
shared file system. What they give is compressed, and comes back as it is here.
"""

import io
import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from protocol_lab.errors import LabError
from protocol_lab.model.spec import Model
from protocol_lab.spark.packaging import packages_for, ship
from protocol_lab.spark.session import cause, expect_spark, local_session
from real_systems.kafka.logs.controller_part import spec

_COLUMNS = "place long, content binary"


def on_spark(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Runs on the Spark session of this process, or on one in local mode.

    Raises what the function raises, and LabError if Spark fails.
    """
    expect_spark()
    from protocol_lab.spark.executor.stages import in_worker

    session = local_session()
    work = in_worker(_call_all, ship(session, packages_for([__name__])))
    rows = [(place, packed((function, item))) for place, item in enumerate(items)]
    if not rows:
        return
    try:
        frame = session.createDataFrame(rows, _COLUMNS).repartition(len(rows), "place")
        found = frame.mapInArrow(work, _COLUMNS).collect()
    except Exception as error:  # Spark's own, and py4j's
        raise LabError(f"Spark failed: {cause(str(error))}.") from None
    for _, content in sorted(found):
        result = unpacked(bytes(content))
        if isinstance(result, Exception):
            raise result
        yield result


def _call_all(batches: Iterator[Any]) -> Iterator[Any]:
    """The stage for `mapInArrow`."""
    import pyarrow as pa

    for batch in batches:
        for place, content in zip(*map(list, batch.columns), strict=True):
            result = pa.array([_called(content.as_py())], pa.binary())
            yield pa.RecordBatch.from_arrays([pa.array([place.as_py()]), result], batch.schema)


def _called(content: bytes) -> bytes:
    """Call a function on an item, in an executor; an error of a file is its result."""
    function, item = unpacked(content)
    try:
        return packed(function(item))
    except (OSError, LabError) as error:
        return packed(error)


class _Pickler(pickle.Pickler):
    """Pickles the controller's model by its constants."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Model) and value.spec is spec:
            return _controller, (tuple(value.constants),)
        return NotImplemented


def _controller(constants: tuple) -> Model:
    return spec.model(spec.constants(*constants))


def packed(value: Any) -> bytes:
    """A value as compressed bytes."""
    stream = io.BytesIO()
    _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(value)
    return zlib.compress(stream.getvalue(), 1)


def unpacked(content: bytes) -> Any:
    """The inverse of `packed`."""
    return pickle.loads(zlib.decompress(content))
