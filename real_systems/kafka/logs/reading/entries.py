"""The entries of a broker's or controller's log, and their times."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from real_systems.kafka.logs.reading.lines.layouts import Columns
from real_systems.kafka.logs.reading.lines.times import stamps_in


@dataclass(slots=True)
class Entry:
    """An entry of a log: a line, and what follows it without a time of its own.

    time: milliseconds since 1970; a time without a zone is taken as it stands, as if it were UTC.
    text: what the broker wrote, without what others have wrapped it in. node: the broker or
    controller that wrote it, if that is certain. number: of the first line. While files are read,
    `columns` has the names that the line's wrappers give, and `lacks` what its time lacks, see
    `times.Stamp`.
    """

    time: int
    text: str
    node: int | None
    path: Path
    number: int
    columns: Columns = ()
    lacks: str = ""

    @property
    def place(self) -> str:
        """Where it stands, as in server.log:17."""
        return f"{self.path.parent.name}/{self.path.name}:{self.number}"


def time_in(text: str) -> int | None:
    """The first time in a text, with its date, in milliseconds since 1970."""
    stamps = stamps_in(text, 0, len(text))
    return next((each.time for each in stamps if not each.lacks), None)


def clock(time: int) -> str:
    """A time as people read it: 12:04:31.250, in UTC."""
    return f"{_date(time):%H:%M:%S}.{time % 1000:03}"


def day(time: int) -> str:
    """The day of a time: 2026-11-25, in UTC; "" for a time that is not known."""
    return f"{_date(time):%Y-%m-%d}" if time else ""


def _date(time: int) -> datetime:
    """A time out of Python's range becomes the nearest one in it."""
    return datetime.fromtimestamp(min(max(time, 0), _LAST) / 1000, UTC)


_LAST = 253_402_300_799_999
"""The end of the year 9999."""


def by_day(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Texts with their times, in order; each day is named in a line before the first of it."""
    before = ""
    for time, text in lines:
        if day(time) != before:
            before = day(time)
            yield before
        yield text
