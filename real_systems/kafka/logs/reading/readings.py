"""What the pieces of a cluster's files say. Each piece is read by itself, here or on Spark."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from real_systems.kafka.logs.reading.broker_lines import WORDS, Said, said_in
from real_systems.kafka.logs.reading.entries import Entry, time_in
from real_systems.kafka.logs.reading.file_lines import blocks_of, lines_of, lines_with, pieces_of
from real_systems.kafka.logs.reading.metadata_log import UNKNOWN, MetadataRecord, records_in
from real_systems.kafka.logs.reading.sources import Kind, Source
from real_systems.kafka.logs.reading.unread import Doubt, Unread

Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""run(function, items): what the function gives for each of the items, in their order."""


@dataclass(frozen=True)
class Piece:
    """A part of a file: bytes from `begin` up to `end`, or up to the file's."""

    source: Source
    begin: int
    end: int | None


@dataclass
class Reading:
    """What a piece says. lines: how many it has; those that are named are counted from its
    beginning, until `follow` says how many were before."""

    lines: int = 0
    said: list[Said] = field(default_factory=list)
    records: list[MetadataRecord] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def follow(self, lines: int, snapshot: int | None) -> None:
        """So many lines of the file come before this piece; its first records are in this snapshot,
        or in none, unless a header says otherwise."""
        entries = {id(each.entry): each.entry for each in self.said}  # one may say two things
        for each in [*entries.values(), *self.unread, *self.doubts]:
            each.number += lines if each.number else 0  # 0: the file as a whole
        for k, record in enumerate(self.records):
            if record.snapshot != UNKNOWN:
                break
            self.records[k] = replace(record, snapshot=snapshot)


def here(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Runs in this process."""
    return map(function, items)


def read_files(sources: Iterable[Source], run: Run = here) -> Iterator[tuple[Source, Reading]]:
    """What each file says: a large one gives several readings, in order. Raises OSError."""
    pieces = [
        Piece(source, begin, end) for source in sources for begin, end in pieces_of(source.path)
    ]
    lines, snapshot = 0, None
    for piece, reading in zip(pieces, run(read_piece, pieces), strict=True):
        if piece.begin == 0:
            lines, snapshot = 0, None
        reading.follow(lines, snapshot)
        lines += reading.lines
        if reading.records:
            snapshot = reading.records[-1].snapshot
        yield piece.source, reading


def read_piece(piece: Piece) -> Reading:
    """What a piece of a log or of a decoded metadata log says. Raises OSError."""
    reading, source = Reading(), piece.source
    where = (source.path, piece.begin, piece.end, reading.unread)
    if source.kind is Kind.METADATA:
        lines = _counted(lines_of(*where), reading)
        snapshot = UNKNOWN if piece.begin else None
        reading.records = list(records_in(lines, source.path, reading.unread, snapshot))
    else:
        reading.said = list(said_in(_entries(blocks_of(*where), source, reading)))
    return reading


def _counted(lines: Iterable[tuple[int, str]], reading: Reading) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        reading.lines = number
        yield number, line


def _entries(
    blocks: Iterable[bytes], source: Source, reading: Reading
) -> Iterator[tuple[Entry, set[bytes]]]:
    """The lines that may say something, and carry a time; others continue one of these."""
    for block in blocks:
        for number, line, words in lines_with(block, WORDS):
            time = time_in(line)
            if time is not None:
                yield Entry(time, line, source.node, source.path, reading.lines + number), words
        reading.lines += block.count(b"\n")
