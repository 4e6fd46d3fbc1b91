"""What a cluster's files say. Each is read by itself, here or on Spark.

Whose line it is: line by line the strongest clue decides. In this order: the id that a line says
itself; the names that a wrapper has put before it, once lines with such a name have said their id;
the other lines of its file; what other files in its folder say; the number in the folder's name.
Clues of one strength that disagree decide nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from real_systems.kafka.logs.reading.broker_lines import WORDS, Said, said_in
from real_systems.kafka.logs.reading.entries import Entry, completed, day
from real_systems.kafka.logs.reading.lines.file_lines import (
    LONGEST,
    blocks_of,
    line_at,
    lines_of,
    lines_with,
)
from real_systems.kafka.logs.reading.lines.layouts import Columns, Layout, Line, continues, parsed
from real_systems.kafka.logs.reading.lines.times import NEEDS_DAY
from real_systems.kafka.logs.reading.metadata_log import MetadataRecord, records_in
from real_systems.kafka.logs.reading.segments import metadata_in
from real_systems.kafka.logs.reading.sources import Kind, Source, Sources
from real_systems.kafka.logs.reading.unread import Doubt, Unread, add, shown

_OWN = re.compile(
    r"\[[A-Z][^\[\]\n]{0,120}?(?:\b(?:id|nodeId|brokerId|broker|controllerId|replicaId|localId)="
    r"| on (?:[Bb]roker|[Cc]ontroller) )(\d{1,9})(?=[\],:\s])"
    r"|\[(?:Kafka Server|[A-Z][A-Za-z ]{0,60}(?:Coordinator|Manager)|Controller|KafkaApi-|Broker)"
    r" ?(\d{1,9})(?=[\],])"
)
_AT_FIRST = re.compile(
    r"\W*(?:(?:Broker|Controller) (\d{1,9}) |Partition \[[^\]\n]{1,260}\] on broker (\d{1,9}):)"
)
"""Until 1.0, and in the state-change log until 3.2."""

_REACH = 160
"""Characters of a message within which it says whose it is."""

_MOST_NAMES = 64
"""A column with more values names no broker."""

_MOST_LINES = 20_000
"""Different columns that are kept of a file."""

_NUMBERED = re.compile(r"(\d{1,9})(?!.*\d)")
_NODE_FOLDER = re.compile(r"(?:^|[^a-z])(?:node|broker|kafka|server|controller)[-_.]?(\d+)$", re.I)


def own_id(line: Line) -> int | None:
    """The broker or controller that a line says it is of."""
    found = _AT_FIRST.match(line.text, line.told) or _OWN.search(
        line.text, line.told, line.told + _REACH
    )
    return int(next(filter(None, found.groups()))) if found else None


Names = dict[Columns, set[int]]
"""What the lines of a file show of whose they are: for their columns the ids that such lines say;
none of that for lines that say no id."""


def note(names: Names, columns: Columns, own: int | None) -> None:
    """Note what a line shows."""
    if columns in names or len(names) < _MOST_LINES:
        names.setdefault(columns, set()).update([] if own is None else [own])


class Attribution:
    """Tells the brokers of the lines of some files, all of whose names were noted.

    said: the brokers of files that are no logs, and say it themselves.
    """

    def __init__(self, names: dict[Path, Names], said: dict[Path, int], roots: Iterable[Path]):
        self._files = {path: _File(each) for path, each in names.items()}
        self._roots = {root if root.is_dir() else root.parent for root in roots}
        self._everywhere: dict[str, set[int]] = defaultdict(set)
        for each in self._files.values():
            for value, ids in each.values.items():
                self._everywhere[value] |= ids
        self._of_folder: dict[Path, set[int]] = defaultdict(set)
        sure = {path: each.ids for path, each in self._files.items() if len(each.ids) == 1}
        for path, ids in [*sure.items(), *((path, {node}) for path, node in said.items())]:
            for folder in self._folders(path):
                self._of_folder[folder] |= ids

    def _folders(self, path: Path) -> list[Path]:
        """The folders of a file, from its own up to one of the roots."""
        found: list[Path] = []
        for folder in path.parents:
            found.append(folder)
            if folder in self._roots:
                break
        return found

    def of_file(self, path: Path) -> tuple[int, ...]:
        """The broker whose file this is, by what is beside it and by its folders; () if nothing
        tells; several if such clues disagree."""
        folders = self._folders(path)
        for folder in folders:
            # the given folder may be a whole cluster's: there only a file's neighbours count
            neighbours = folder not in self._roots or folder == folders[0]
            said = self._of_folder.get(folder, set()) if neighbours else set()
            if said:
                return tuple(sorted(said))
            if found := _NODE_FOLDER.search(folder.name):
                return (int(found[1]),)
        return ()

    def of_line(self, path: Path, columns: Columns) -> tuple[int, ...]:
        """The broker of a line that does not say its id; () or several if that is not certain."""
        file = self._files[path]
        named = [each for each in columns if each[0] in file.columns and each[1]]
        votes = {next(iter(ids)) for each in named if len(ids := file.known.get(each, ())) == 1}
        if len(file.ids) > 1:
            return tuple(votes) if len(votes) == 1 else tuple(sorted(file.ids))
        strangers = [v for c, v in named if (c, v) not in file.known and not v.isdecimal()]
        if file.ids and not strangers:
            return tuple(file.ids)
        elsewhere = {
            next(iter(ids))
            for value in strangers
            if len(ids := self._everywhere.get(value, ())) == 1
        }
        if elsewhere:
            return tuple(sorted(elsewhere))
        numbers = {int(found[1]) for each in strangers if (found := _NUMBERED.search(each))}
        # do the names that are known end with the ids, as in kafka-2?
        are_ids = all(
            ids == {int(found[1])}
            for value, ids in self._everywhere.items()
            if (found := _NUMBERED.search(value))
        )
        if are_ids and len(numbers) == 1:
            beside = self.of_file(path) if not file.ids and not file.has_many else ()
            return tuple(sorted({*numbers, *beside}))
        if file.ids or file.has_many:
            return ()
        return self.of_file(path)


class _File:
    """What the lines of a file show of their brokers. columns: those whose names may tell one."""

    def __init__(self, names: Names):
        self.ids = set().union(*names.values())
        self.known: dict[tuple[str, str], set[int]] = defaultdict(set)
        values: dict[str, set[str]] = defaultdict(set)
        for columns, ids in names.items():
            for column, value in columns:
                values[column].add(value)
                if ids:
                    self.known[column, value] |= ids
        doubtful = {column for (column, _), ids in self.known.items() if len(ids) != 1}
        self.columns = {
            column
            for column, each in values.items()
            if len(each) <= _MOST_NAMES and column not in doubtful and column[0] != "a"
        }
        if len(self.ids) > 1:  # what stands between time and level may be a host, or a thread
            self.columns |= {column for column, _ in self.known} - doubtful
        self.has_many = any(len(values[column]) > 1 for column in self.columns)

    @property
    def values(self) -> dict[str, set[int]]:
        """For each name of this file its ids."""
        found: dict[str, set[int]] = defaultdict(set)
        for (column, value), ids in self.known.items():
            if column in self.columns and not value.isdecimal():
                found[value] |= ids
        return found


Run = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""run(function, items): what the function gives for each of the items, in their order."""


@dataclass
class Reading:
    """What a file says."""

    said: list[Said] = field(default_factory=list)
    records: list[MetadataRecord] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    names: Names = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        """The entries that say something, each once, though it may say two things."""
        return list({id(each.entry): each.entry for each in self.said}.values())


def here(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Runs in this process."""
    return map(function, items)


def read_file(source: Source) -> Reading:
    """What a log or a decoded metadata log says. Raises OSError."""
    reading, path = Reading(), source.path
    if source.kind is Kind.METADATA_SEGMENT:
        reading.records = list(metadata_in(path, reading.unread))
    elif source.kind is Kind.METADATA:
        lines = lines_of(path, reading.unread)
        reading.records = list(records_in(lines, path, reading.unread))
    else:
        blocks = blocks_of(path, reading.unread, source.framing)

        def refused(entry: Entry, why: str) -> None:
            add(reading.unread, path, why, entry.number, entry.text)

        reading.said = list(said_in(_entries(blocks, source, reading), refused))
    reading.unread = [replace(each, path=source.name) for each in reading.unread]
    return reading


_BEFORE = 64 << 10
"""Bytes before a line within which its entry begins."""

_SAMPLE = 200
"""Lines at a block's beginning from which is learned whose lines these are, with all entries."""


def _entries(
    blocks: Iterable[bytes], source: Source, reading: Reading
) -> Iterator[tuple[Entry, set[bytes]]]:
    """The entries that may say something, each with the words that it has of `WORDS`."""
    path, same = source.path, dict[Columns, Columns]()
    before, counted = b"", 0
    for block in blocks:
        for line in block[:LONGEST].split(b"\n", _SAMPLE)[:-1]:
            found = parsed(line.decode("utf-8", "replace"), (), source.layout)
            note(reading.names, found.columns, own_id(found))
        text, lines = before + block, counted - before.count(b"\n")
        for number, found, words in _heads(text, len(before), source.layout):
            if found.stamp is None:
                why = "without a time"
                add(reading.unread, path, why, lines + number, found.text)
                continue
            own = own_id(found)
            note(reading.names, found.columns, own)
            columns = same.setdefault(found.columns, found.columns)
            time, lacks = found.stamp.time, found.stamp.lacks
            yield Entry(time, found.text, own, path, lines + number, columns, lacks), words
        counted += block.count(b"\n")
        before = text[-_BEFORE:].partition(b"\n")[2]


def _heads(text: bytes, begin: int, layout: Layout) -> Iterator[tuple[int, Line, set[bytes]]]:
    """The entries with words that have a line behind `begin`: the number of the first line; that
    line, its text with the other lines that have words; and these words."""
    known: tuple[int, int, Line, set[bytes]] | None = None
    last = 0
    for number, start, raw, words in lines_with(text, WORDS):
        line = parsed(raw, [each.decode() for each in words], layout)
        head = start, number, line
        if line.rank < layout.rank and not line.rank < 0 < layout.rank - 1:
            head = _head(text, start, number, last, line, layout) or head
            if head[0] == start and known and continues(line, known[2]):
                head = known[:3]
        last = start
        if known and known[0] == head[0]:
            both = replace(known[2], text=f"{known[2].text}\n{line.text}")
            known = (*known[:2], both, known[3] | words)
            continue
        if known and known[0] >= begin:
            yield known[1:]
        if head[0] != start:
            # an entry that began in the block before was given there: here only the rest
            before = f"{head[2].text}\n" if head[0] >= begin else ""
            head = (*head[:2], replace(head[2], text=before + line.text))
        known = (max(head[0], begin) if start >= begin else head[0], *head[1:], words)
    if known and known[0] >= begin:
        yield known[1:]


def _head(
    text: bytes, start: int, number: int, last: int, line: Line, layout: Layout
) -> tuple[int, int, Line] | None:
    """The line that begins the entry of a line that begins at `start`: where that begins, its
    number, and what it is. It stands behind `last`, where another entry is known to be."""
    place = start
    while place > last:
        number, place = number - 1, text.rfind(b"\n", 0, place - 1) + 1
        found = parsed(line_at(text, place), (), layout)
        if found.rank >= layout.rank and continues(line, found):
            return place, number, found
    return None


def dated(found: Sequence[tuple[Source, Reading]]) -> tuple[list[str], list[Unread]]:
    """Complete the times that lack their date. What has none says nothing. Returns sentences on
    where dates are from, and what was left out."""
    times = [each.time for _, one in found for each in one.entries if not each.lacks]
    times += [each.time for _, one in found for each in one.records if each.time is not None]
    known = [min(times), max(times)] if times else []
    remarks, unread = [], []
    for source, reading in found:
        lacking = [each for each in reading.entries if each.lacks]
        if not lacking:
            continue
        first, name = lacking[0], source.name
        lacks = "a date" if first.lacks == NEEDS_DAY else "a year"
        written = round(source.path.stat().st_mtime * 1000)
        if by := completed(lacking, name, written, known):
            remarks.append(
                f"{shown(name)} has times without {lacks}: by {by} they begin on {day(first.time)}."
            )
        else:
            reading.said = [each for each in reading.said if not each.entry.lacks]
            why = "without a date, which neither the file's name nor other files tell"
            unread.append(Unread(name, why, len(lacking), first.number, first.text))
    return remarks, unread


def attributed(sources: Sources, found: Iterable[tuple[Source, Reading]]) -> list[Doubt]:
    """Decide whose the entries and the other files are, as far as that is certain.

    Sets the entries' and the sources' `node`. Returns what is in doubt.
    """
    readings = [(source, each) for source, each in found if source.kind is Kind.LOG]
    names = {source.path: reading.names for source, reading in readings}
    said = {each.path: each.node for each in sources.files if each.node is not None}
    attribution = Attribution(names, said, sources.roots)
    doubts: dict[tuple[Path, tuple[int, ...]], Doubt] = {}
    for source, reading in readings:
        for entry in reading.entries:
            if entry.node is None:
                nodes = attribution.of_line(source.path, entry.columns)
                entry.node = nodes[0] if len(nodes) == 1 else None
                if entry.node is None:
                    first = Doubt(source.name, "", 0, entry.number, entry.text, nodes)
                    doubts.setdefault((source.name, nodes), first).lines += 1
            entry.columns = ()
    for k, source in enumerate(sources.files):
        if source.node is None and source.kind is not Kind.LOG:
            nodes = attribution.of_file(source.path)
            sources.files[k] = replace(source, node=nodes[0] if len(nodes) == 1 else None)
    return list(doubts.values())
