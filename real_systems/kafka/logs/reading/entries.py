"""The lines of a broker's or controller's log that carry a time, in any of the usual layouts."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[,.](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_WITHIN = 60
"""Characters within which a line has its time."""


@dataclass(slots=True)
class Entry:
    """A line of a log.

    time: milliseconds since 1970; a time without a zone is taken as it stands, as if it were UTC.
    node: the broker or controller that wrote it, if that is known.
    """

    time: int
    text: str
    node: int | None
    path: Path
    number: int

    @property
    def place(self) -> str:
        """Where it stands, as in server.log:17."""
        return f"{self.path.parent.name}/{self.path.name}:{self.number}"


def time_in(line: str) -> int | None:
    """The time at the beginning of a line, in milliseconds since 1970."""
    found = _TIME.search(line, 0, _WITHIN)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    zone = {"Z": "+00:00", None: "+00:00"}.get(zone, zone)
    try:
        whole = datetime.fromisoformat(f"{day}T{clock}{zone}")
    except ValueError:
        return None
    return int(whole.timestamp()) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))


def clock(time: int) -> str:
    """A time as people read it: 12:04:31.250, in UTC."""
    return f"{datetime.fromtimestamp(time / 1000, UTC):%H:%M:%S}.{time % 1000:03}"


def day(time: int) -> str:
    """The day of a time: 2026-11-25, in UTC; "" for a time that is not known."""
    return f"{datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d}" if time else ""


def by_day(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Texts with their times, in order; each day is named in a line before the first of it."""
    before = ""
    for time, text in lines:
        if day(time) != before:
            before = day(time)
            yield before
        yield text
