"""Segments and snapshots as they are on disk, decoded by a Kafka's own tool where there is one.

The tool is kafka-dump-log of `KAFKA_HOME`, an unpacked release, or of the newest release that
`lab.py real` has fetched. Values of a topic's records are not printed.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from protocol_lab.errors import LabError
from protocol_lab.system.cache_folder import cache_folder
from real_systems.kafka.logs.reading.sources import Kind, Source, Sources
from real_systems.kafka.logs.reading.unread import Unread
from real_systems.kafka.releases import number_of
from real_systems.runner.jars import jars_in
from real_systems.runner.java import java_command

_METADATA = "__cluster_metadata-0"
_PATIENCE = 300
"""Seconds that the tool has for a folder."""

_RELEASE = re.compile(r"kafka-clients-(\d+\.\d+\.\d+)\.jar$")


def decode(sources: Sources, topic: str | None, place: Path) -> None:
    """Replace the segments among these sources with what the tool prints of them, in `place`.

    Of topics only this one is read, or all but Kafka's own. What can't be decoded is said once.
    """
    segments = [each for each in sources.of(Kind.SEGMENT) if _is_wanted(each, topic)]
    sources.files = [each for each in sources.files if each.kind is not Kind.SEGMENT]
    if not segments:
        return
    where = segments[0].name.parent
    try:
        jars = _jars()
        if not jars:
            why = (
                f"and the like have a log as it is on disk ({len(segments)} files): set KAFKA_HOME"
                " to an unpacked Kafka, whose kafka-dump-log is called to read it"
            )
            sources.unread.append(Unread(where, why))
            return
        sources.files += _decoded(segments, jars, place)
    except (LabError, OSError, subprocess.SubprocessError) as error:
        said = str(error).strip().rstrip(".")
        sources.unread.append(Unread(where, f"has logs that can't be decoded: {said}"))


def _is_wanted(segment: Source, topic: str | None) -> bool:
    name = segment.path.parent.name
    its_topic = name.rpartition("-")[0]
    return name == _METADATA or (its_topic == topic if topic else not its_topic.startswith("__"))


def _jars() -> list[Path]:
    """The jars of a Kafka that is here; none if there is none."""
    home = os.environ.get("KAFKA_HOME")
    if home:
        return jars_in(Path(home, "libs"))
    cache = cache_folder("jars")
    releases = [
        (number_of(each.name.removeprefix("kafka-")), each)
        for each in (cache.glob("kafka-*") if cache else ())
        if each.is_dir()
    ]
    return jars_in(max(releases)[1]) if releases else []


def _decoded(segments: Iterable[Source], jars: list[Path], place: Path) -> Iterator[Source]:
    """A dump for each folder. Raises OSError, LabError, SubprocessError."""
    releases = [found[1] for each in jars if (found := _RELEASE.search(each.name))]
    new = bool(releases) and number_of(releases[0]) >= (4, 0)
    tool = f"{'org.apache.' if new else ''}kafka.tools.DumpLogSegments"
    in_order = sorted(segments, key=lambda each: each.path)
    for number, (folder, files) in enumerate(groupby(in_order, lambda each: each.path.parent)):
        is_metadata = folder.name == _METADATA
        some = list(files)
        words = ["--cluster-metadata-decoder"] if is_metadata else []
        words += ["--files", ",".join(str(each.path) for each in some)]
        dump = place / str(number) / f"{folder.name}.txt"
        dump.parent.mkdir(parents=True)
        with dump.open("wb") as file:
            ran = subprocess.run(
                java_command(jars, tool, *words, heap=512),
                stdout=file,
                stderr=subprocess.PIPE,
                timeout=_PATIENCE,
            )
        if ran.returncode:
            last = ran.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise LabError(f"kafka-dump-log ends with {''.join(last) or ran.returncode}")
        kind = Kind.METADATA if is_metadata else Kind.TOPIC
        yield Source(dump, kind, name=some[0].name, beside=some[0].path)
