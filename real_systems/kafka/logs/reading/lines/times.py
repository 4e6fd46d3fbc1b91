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
_ZONES = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET"), 0),
    **{"CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "BST": 60, "WEST": 60, "MSK": 180},
    **{"EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360},
    **{"PST": -480, "PDT": -420, "JST": 540, "KST": 540},
}
"""Minutes east of Greenwich. IST is left out: it is India's, Israel's and Ireland's."""

_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]{{0,6}})"
_CLOCK = (
    r"(?P<hour>\d\d?):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?"
    r"(?: ?(?P<half>[AP])M\b)?"
)
_ZONE = (
    r"(?P<zone> ?[+-]\d\d:?\d\d(?![\d:])|[+-]\d\d(?![\d:])"
    r"| ?(?:GMT|UTC)[+-]\d\d?(?::?\d\d)?(?![\d:])"
    rf"| ?(?:{'|'.join(_ZONES)})\b)?"
)
_AT = rf"{_CLOCK}{_ZONE}"

_FORMS = {
    "iso": r"(?P<year>\d{4})[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)" rf"(?:[T_]| {{1,2}}){_AT}",
    "compact": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)[T -]?(?P<hour>\d\d):?"
    rf"(?P<minute>\d\d):?(?P<second>\d\d)(?:[.,](?P<fraction>\d{{1,9}}))?{_ZONE}",
    "day": rf"(?P<day>\d\d?)[-/ ]{_MONTH}[-/ ](?P<year>\d{{4}})[:, T]{{1,2}}{_AT}",
    "month": rf"{_MONTH} {{1,2}}(?P<day>\d\d?), ?(?P<year>\d{{4}}),?(?: @| at)? {_AT}",
    "syslog": rf"{_MONTH} {{1,2}}(?P<day>\d\d?) {_AT}(?: (?P<year>(?:19|20)\d\d)(?![\d:]))?",
    "numbers": r"(?<![.:+-])(?P<one>\d\d?)[-/.](?P<other>\d\d?)[-/.](?P<last>(?:\d\d){1,2})"
    rf"(?:[T_]|,? {{1,2}}){_AT}",
    "epoch": r"(?<![.:+-])(?:1\d{18}(?!\d)|1\d{15}(?!\d)|1\d{12}(?!\d)|1\d{9}(?:\.\d{1,9})?(?!\d))",
    "clock": rf"(?<![.:+-]){_CLOCK}(?P<zone>Z\b)?",
}
_PARTS = {form: re.compile(pattern) for form, pattern in _FORMS.items()}
_NAME = re.compile(r"\(\?P<\w+>")
_ANY = re.compile(
    r"(?<!\d)(?:"
    + "|".join(f"(?P<{form}>{_NAME.sub('(?:', pattern)})" for form, pattern in _FORMS.items())
    + ")"
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
        form = found.lastgroup
        read = _read(form, _PARTS[form].match(text, found.start(), end), order)
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


def _since_midnight(parts: dict[str, str | None]) -> int | None:
    """Milliseconds since midnight in Greenwich; None if there is no such time."""
    hour, minute, second = (int(parts[name]) for name in ("hour", "minute", "second"))
    if parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (parts["half"] == "P")
    if hour > 23 or minute > 59 or second > 60:
        return None
    time = (hour * 60 + minute) * 60_000 + second * 1000 + _millis(parts["fraction"])
    return time - _minutes((parts["zone"] or "").strip()) * 60_000


def _millis(fraction: str | None) -> int:
    return int((fraction or "")[:3].ljust(3, "0"))


@lru_cache(256)
def _minutes(zone: str) -> int:
    if zone in _ZONES or not zone:
        return _ZONES.get(zone, 0)
    sign, hours, minutes = re.fullmatch(r"[A-Z]*([+-])(\d\d?):?(\d\d)?", zone).groups()
    return int(sign + "1") * (int(hours) * 60 + int(minutes or 0))


_LEAP = 2000


def _read(form: str, found: re.Match[str], order: str) -> tuple[int, str] | None:
    """The time that a text of a form is, and what it lacks; None if there is no such time."""
    if form == "epoch":
        whole, _, fraction = found[0].partition(".")
        return (int(whole) * 1000 + _millis(fraction) if len(whole) == 10 else int(whole[:13])), ""
    parts = found.groupdict()
    clock = _since_midnight(parts)
    if clock is None or form == "clock":
        return None if clock is None else (clock, NEEDS_DAY)
    if form == "numbers":
        one, other, last = parts["one"], parts["other"], parts["last"]
        if len(last) == 2:  # as Hadoop writes it
            parts |= {"year": f"20{one:0>2}", "month": other, "day": last}
        elif order in ORDERS:
            day, month = (one, other) if order == "dmy" else (other, one)
            parts |= {"year": last, "month": month, "day": day}
        else:
            return None
    year, month = parts["year"], parts["month"]
    month = int(month) if month.isdecimal() else _MONTHS.index(month[:3]) + 1
    days = _days(int(year or _LEAP), month, int(parts["day"]))
    if days is None:
        return None
    if year:
        return days * DAY + clock, ""
    return (days - _days(_LEAP, 1, 1)) * DAY + clock, NEEDS_YEAR


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
