"""The segments of topics as they are on disk: where the epochs of a replica's log begin, and where
it ends. Values of records are not read."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from real_systems.kafka.logs.reading.segments import PARTITION, whole
from real_systems.kafka.logs.reading.sources import Source
from real_systems.kafka.logs.reading.tool_output import LogOnDisk
from real_systems.kafka.logs.reading.unread import Unread


def logs_in(
    segments: Iterable[Source], topic: str | None, unread: list[Unread]
) -> Iterator[LogOnDisk]:
    """The replicas' logs that these segments are of.

    Of topics only this one is read, or all but Kafka's own. What can't be read goes to `unread`.
    Raises OSError.
    """
    in_order = sorted(segments, key=lambda each: each.path)
    for folder, some in groupby(in_order, lambda each: each.path.parent):
        files = list(some)
        name, node = files[0].name, files[0].node
        its_topic = folder.name.rpartition("-")[0]
        if not PARTITION.fullmatch(folder.name):
            unread.append(Unread(name, "is of no known partition: keep its folder, as in t-0"))
        elif its_topic == topic if topic else not its_topic.startswith("__"):
            if node is None:
                unread.append(Unread(name, "is of no known broker: keep a folder for each"))
            else:
                found = _log_in(files, folder.name, node, unread)
                if found:
                    yield found


def _log_in(
    files: list[Source], partition: str, node: int, unread: list[Unread]
) -> LogOnDisk | None:
    epochs: list[tuple[int, int]] = []
    end = None
    for source in files:
        for batch in whole(source.path, unread, source.name):
            end = batch.last + 1
            if batch.epoch not in (None, -1, *[epoch for epoch, _ in epochs[-1:]]):
                epochs.append((batch.epoch, batch.base))
    place = "/".join(files[0].path.parts[-3:-1])
    return LogOnDisk(place, partition, node, tuple(epochs), end) if epochs else None
