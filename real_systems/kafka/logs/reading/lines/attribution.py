"""Whose line it is, line by line: the strongest clue decides.

In this order: the id that a line says itself; the names that a wrapper has put before it, once
lines with such a name have said their id; the other lines of its file; what other files in its
folder say; the number in the folder's name. Clues of one strength that disagree decide nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from real_systems.kafka.logs.reading.lines.layouts import Columns, Line

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

    folders: for files that are no logs, and say it themselves, their brokers.
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
        certain = {column: True for column, _ in self.known}
        for (column, _), ids in self.known.items():
            certain[column] &= len(ids) == 1
        self.columns = {
            column
            for column, each in values.items()
            if len(each) <= _MOST_NAMES and certain.get(column, True) and column[0] != "a"
        }
        if len(self.ids) > 1:  # what stands between time and level may be a host, or a thread
            self.columns |= {column for column, sure in certain.items() if sure}
        self.has_many = any(len(values[column]) > 1 for column in self.columns)

    @property
    def values(self) -> dict[str, set[int]]:
        """For each name of this file its ids."""
        found: dict[str, set[int]] = defaultdict(set)
        for (column, value), ids in self.known.items():
            if column in self.columns and not value.isdecimal():
                found[value] |= ids
        return found
