"""The entries of a broker's or controller's log, and their times.

Logs may write a clock without a day, or a day without a year. Then a wrapper's time is taken first
(`layouts`), then the file's name, as in server.log.2026-11-25-02, then the days of which the other
files speak, and for a year the one in which the file was last written.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from real_systems.kafka.logs.reading.lines.layouts import Columns
from real_systems.kafka.logs.reading.lines.times import (
    DAY,
    NEEDS_DAY,
    NEEDS_YEAR,
    day_named,
    in_year,
    stamps_in,
)


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


_HALF = DAY // 2
_MOST_DAYS = 400


def completed(entries: Sequence[Entry], name: Path, written: int, known: Sequence[int]) -> str:
    """Complete the times of a file's entries that lack their day or their year. Returns by what, or
    "" if nothing tells.

    written: when the file was last written. known: the first and the last time of which other files
    speak, if any do.
    """
    _roll_over(entries)
    named = day_named(name.name)
    span = [named * DAY, (named + 1) * DAY - 1] if named is not None else list(known)
    if not span and entries[0].lacks == NEEDS_YEAR:
        span = [written - 366 * DAY, written + DAY]
    shift = _shift(entries, span) if span else None
    if shift is None:
        return ""
    for each in entries:
        each.time, each.lacks = each.time + shift, ""
    return "its name" if named is not None else "other files" if known else "its own date"


def _roll_over(entries: Sequence[Entry]) -> None:
    """Let clocks go on where a day or a year ends, as far as entries are in order."""
    turns, before = 0, entries[0].time
    for each in entries:
        period = DAY if each.lacks == NEEDS_DAY else 366 * DAY
        if each.time < before - period // 2:
            turns += 1
        before = each.time
        each.time += turns * period


def _shift(entries: Sequence[Entry], span: Sequence[int]) -> int | None:
    """What is to be added so that the entries are within a time, or next to it; None if no shift or
    more than one does that."""
    first, last = min(each.time for each in entries), max(each.time for each in entries)
    begin, end = min(span), max(span)
    if entries[0].lacks == NEEDS_DAY:
        days = range(begin // DAY - 1, min(end // DAY + 2, begin // DAY + _MOST_DAYS))
        shifts = [each * DAY for each in days]
    else:
        year = 1970 + int(begin // (365.2425 * DAY))
        shifts = [in_year(first, each) - first for each in range(year - 1, year + 3)]
    inside = [each for each in shifts if begin <= each + first and each + last <= end]
    near = [each for each in shifts if begin - _HALF <= each + first and each + last <= end + _HALF]
    chosen = inside or near
    return chosen[0] if len(chosen) == 1 else None
