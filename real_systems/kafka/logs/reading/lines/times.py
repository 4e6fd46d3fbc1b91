"""Times as logs write them, wherever they stand in a line.

Read: ISO 8601 and its kin with any separators, with or without a zone; compact; with the names of
months, as java.util.logging, the date command, web servers and Kibana write them; day and month in
either order, where a file shows which; seconds, milliseconds, microseconds and nanoseconds since
1970; and two that need a date from elsewhere: syslog's, without a year, and a clock alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

DAY = 24 * 3600 * 1000
"""Milliseconds."""

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}"
_CLOCK = r"\d\d?:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?[AP]M\b)?"
_ZONES = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET"), 0),
    **{"CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "BST": 60, "WEST": 60, "MSK": 180},
    **{"EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360},
    **{"PST": -480, "PDT": -420, "JST": 540, "KST": 540},
}
"""Minutes east of Greenwich. IST is left out: it is India's, Israel's and Ireland's."""

_ZONE = rf"(?: ?[+-]\d\d:?\d\d(?![\d:])|[+-]\d\d(?![\d:])| ?(?:{'|'.join(_ZONES)})\b)?"

_FORMS = {
    "iso": rf"\d{{4}}([-/.])\d\d\1\d\d(?:[T_]| {{1,2}}){_CLOCK}{_ZONE}",
    "compact": rf"(?:19|20)\d{{6}}[T -]?\d\d:?\d\d:?\d\d(?:[.,]\d{{1,9}})?{_ZONE}",
    "day": rf"\d\d?[-/ ]{_MONTH}[-/ ]\d{{4}}[:, T]{{1,2}}{_CLOCK}{_ZONE}",
    "month": rf"{_MONTH} {{1,2}}\d\d?, ?\d{{4}},?(?: @| at)? {_CLOCK}{_ZONE}",
    "syslog": rf"{_MONTH} {{1,2}}\d\d? {_CLOCK}{_ZONE}(?: (?:19|20)\d\d(?![\d:]))?",
    "numbers": rf"(?<![.:+-])\d\d?[-/.]\d\d?[-/.](?:\d\d){{1,2}}(?:[T_]|,? {{1,2}}){_CLOCK}{_ZONE}",
    "epoch": r"(?<![.:+-])(?:1\d{18}(?!\d)|1\d{15}(?!\d)|1\d{12}(?!\d)|1\d{9}(?:\.\d{1,9})?(?!\d))",
    "clock": rf"(?<![.:+-]){_CLOCK}(?:Z\b)?",
}
_ANY = re.compile(
    r"(?<!\d)(?:"
    + "|".join(rf"(?P<{name}>{form})" for name, form in _FORMS.items()).replace(r"\1", r"(?:[-/.])")
    + ")"
)
_PARTS = re.compile(
    rf"(?P<hour>\d\d?):?(?P<minute>\d\d):?(?P<second>\d\d)(?:[.,:](?P<fraction>\d{{1,9}}))?"
    rf"(?: ?(?P<half>[AP])M)?(?P<zone>{_ZONE})(?: (?P<year>\d{{4}}))?$"
)

NEEDS_YEAR, NEEDS_DAY = "year", "day"
"""What a time lacks."""

ORDERS = ("dmy", "mdy")
"""The orders of day and month in a date of numbers that ends with the year."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time in a line, from `begin` up to `end`.

    time: milliseconds since 1970, UTC where no zone is named; without a year, since the year began
    (of 366 days); without a date, since midnight. lacks: "" or `NEEDS_YEAR` or `NEEDS_DAY`.
    """

    time: int
    begin: int
    end: int
    lacks: str = ""


def stamps_in(text: str, begin: int, end: int, order: str = "") -> Iterator[Stamp]:
    """The times in a part of a line. order: of a date of numbers; without one it is no time."""
    for found in _ANY.finditer(text, begin, end):
        read = _read(found.lastgroup, found[0], order)
        if read is not None:
            yield Stamp(read[0], *found.span(), read[1])


def stamp_at(text: str, order: str = "") -> Stamp | None:
    """The time that a text is, such as a field of a record; None if it is anything else."""
    text = text.strip()
    found = next(stamps_in(text, 0, len(text), order), None)
    return found if found and found.begin <= 1 and len(text) - found.end <= _AROUND else None


_AROUND = 20
"""Characters that may follow a time in its field, such as [Europe/Paris]."""


def order_of(texts: Sequence[str]) -> str:
    """The order of day and month in the dates of a file: the one that makes each of them a date, or
    else the one by which they are of one or two days; "" if that does not tell."""
    dates = {found[0] for each in texts for found in _DATE.finditer(each)}
    if not dates:
        return ""
    days = {order: [_day_of(each, order) for each in dates] for order in ORDERS}
    right = [order for order in ORDERS if None not in days[order]]
    if len(right) == 2:
        spans = {order: max(days[order]) - min(days[order]) for order in right}
        near = [order for order in right if len(dates) > 1 and spans[order] <= 2]
        same = sorted(map(str, days["dmy"])) == sorted(map(str, days["mdy"]))
        right = right[:1] if same else near
    return right[0] if len(right) == 1 else ""


_DATE = re.compile(r"(?<![\d.:+-])(\d\d?)[-/.](\d\d?)[-/.](\d{4})(?!\d)")


def _day_of(text: str, order: str) -> int | None:
    one, other, year = map(int, re.split(r"[-/.]", text))
    return _days(year, other, one) if order == "dmy" else _days(year, one, other)


@lru_cache(4096)
def _days(year: int, month: int, day: int) -> int | None:
    """Days since 1970; None for no date of a log."""
    try:
        return date(year, month, day).toordinal() - _EPOCH if 1990 <= year <= 2100 else None
    except ValueError:
        return None


_EPOCH = date(1970, 1, 1).toordinal()


def _clock_of(text: str) -> tuple[int, str] | None:
    """Milliseconds since midnight in Greenwich, of what ends a text, and the year if it has one."""
    found = _PARTS.search(text)
    if found is None:
        return None
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (found["half"] == "P")
    if hour > 23 or minute > 59 or second > 60:
        return None
    time = (hour * 60 + minute) * 60_000 + second * 1000
    if found["fraction"]:
        time += int(found["fraction"][:3].ljust(3, "0"))
    zone = found["zone"].strip()
    return time - _minutes(zone) * 60_000, found["year"] or ""


@lru_cache(256)
def _minutes(zone: str) -> int:
    if zone in _ZONES or not zone:
        return _ZONES.get(zone, 0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return int(zone[0] + "1") * (int(digits[:2]) * 60 + int(digits[2:]))


_DATES = {
    "iso": r"(?P<year>\d{4})\D(?P<month>\d\d)\D(?P<day>\d\d)",
    "compact": r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    "day": r"(?P<day>\d+)\W(?P<month>[A-Za-z]+)\W(?P<year>\d{4})",
    "month": r"(?P<month>[A-Za-z]+) +(?P<day>\d+), ?(?P<year>\d{4})",
    "syslog": r"(?P<month>[A-Za-z]+) +(?P<day>\d+)",
    "numbers": r"(?P<one>\d+)\D(?P<other>\d+)\D(?P<last>\d+)",
    "clock": r"",
}
"""What stands before the clock in each form."""

_DATE_PARTS = {name: re.compile(form) for name, form in _DATES.items()}
_LEAP = 2000


def _read(form: str, text: str, order: str) -> tuple[int, str] | None:
    """The time that a text of a form is, and what it lacks; None if there is no such time."""
    if form == "epoch":
        whole, _, fraction = text.partition(".")
        seconds = int(whole) * 1000 + int(fraction[:3].ljust(3, "0"))
        return (seconds if len(whole) == 10 else int(whole[:13])), ""
    date = _DATE_PARTS[form].match(text)
    clock = _clock_of(text[date.end() :])
    if clock is None or form == "clock":
        return clock and (clock[0], NEEDS_DAY)
    parts = date.groupdict()
    if form == "numbers":
        one, other, last = parts.values()
        if len(last) == 2:  # as Hadoop writes it
            parts = {"year": f"20{one:0>2}", "month": other, "day": last}
        elif order in ORDERS:
            day, month = (one, other) if order == "dmy" else (other, one)
            parts = {"year": last, "month": month, "day": day}
        else:
            return None
    year, month = parts.get("year") or clock[1], parts["month"]
    month = int(month) if month.isdecimal() else _MONTHS.index(month[:3]) + 1
    days = _days(int(year or _LEAP), month, int(parts["day"]))
    if days is None:
        return None
    if year:
        return days * DAY + clock[0], ""
    return (days - _days(_LEAP, 1, 1)) * DAY + clock[0], NEEDS_YEAR


def in_year(time: int, year: int) -> int:
    """A time that lacks its year, in this one."""
    days, rest = divmod(time, DAY)
    there = date.fromordinal(_EPOCH + _days(_LEAP, 1, 1) + days)
    found = _days(year, there.month, there.day)
    return (found if found is not None else _days(year, 2, 28) + 1) * DAY + rest


def day_named(text: str) -> int | None:
    """The day in a file's name, as in server.log.2026-11-25-02, in days since 1970."""
    found = re.search(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)", text)
    return _days(int(found[1]), int(found[3]), int(found[4])) if found else None
