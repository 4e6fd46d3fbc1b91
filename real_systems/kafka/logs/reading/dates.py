"""Dates for the entries of logs that write a clock without a day, or a day without a year.

A wrapper's time is taken first (`layouts`). Then comes the file's name, as in
server.log.2026-11-25-02, then the days of which the other files speak, and for a year the one in
which the file was last written.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from real_systems.kafka.logs.reading.entries import Entry, day
from real_systems.kafka.logs.reading.lines.times import (
    DAY,
    NEEDS_DAY,
    NEEDS_YEAR,
    day_named,
    in_year,
)
from real_systems.kafka.logs.reading.unread import shown

_HALF = DAY // 2
_MOST_DAYS = 400


def completed(
    files: Iterable[tuple[Path, int, Sequence[Entry]]], known: Sequence[int]
) -> tuple[list[str], list[tuple[Path, Entry, int]]]:
    """Complete the times of these entries, file by file.

    files: each with its name, when it was last written, and its entries. known: the first and the
    last time of which other files speak, if any do. Returns sentences on
    where dates are from, and for each file without any its first entry and how many there are.
    """
    remarks, without = [], []
    for name, written, entries in files:
        lacking = [each for each in entries if each.lacks]
        if not lacking:
            continue
        _roll_over(lacking)
        named = day_named(name.name)
        span = [named * DAY, (named + 1) * DAY - 1] if named is not None else list(known)
        if not span and lacking[0].lacks == NEEDS_YEAR:
            span = [written - 366 * DAY, written + DAY]
        shift = _shift(lacking, span) if span else None
        if shift is None:
            without.append((name, lacking[0], len(lacking)))
            continue
        lacks = "a date" if lacking[0].lacks == NEEDS_DAY else "a year"
        for each in lacking:
            each.time, each.lacks = each.time + shift, ""
        source = "its name" if named is not None else "other files" if known else "its own date"
        remarks.append(
            f"{shown(name)} has times without {lacks}: by {source} they begin on"
            f" {day(lacking[0].time)}."
        )
    return remarks, without


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
