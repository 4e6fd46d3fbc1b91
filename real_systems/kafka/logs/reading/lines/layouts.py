"""A line of a log taken apart, whatever has written it and whatever has wrapped it since.

A line may be wrapped several times: a broker's own layout (text, JSON) in that of a container, a
collector or an export (JSON, logfmt, text). The innermost time is the broker's; what the wrappers
add, such as the names of a pod and a host, is kept for the question whose line it is. Nothing here
knows a product's layout: a time is looked for near the level, a message by the words in it.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from real_systems.kafka.logs.reading.lines.times import (
    DAY,
    NEEDS_DAY,
    Stamp,
    in_year,
    order_of,
    stamp_at,
    stamps_in,
)

_WINDOW = 1024
"""Characters within which a line has its level, and its time unless that stands last."""

_LEVELS = "TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE|CRITICAL"
_LEVEL = re.compile(rf"(?<![\w./-])(?:{_LEVELS})(?![\w./=-])|\[ ?(?i:{_LEVELS}) ?\]")
_TOKEN = re.compile(r"\w(?:[\w./:@-]*\w)?")
_LINE_NUMBER = re.compile(r":\d+$")  # as grep -n adds it
_MOST_TOKENS = 12
_BRACKET = re.compile(r"\[[A-Z]\w+ ")

TIME_KEY = re.compile(r"time|date|instant|epoch|millis|\b(?:ts|t|when)$", re.I)
_OTHER_TIME = re.compile(
    r"ingest|observ|receiv|creat|index|modif|start|boot|uptime|relative|monoton|zone", re.I
)
_TIME_KEYS = ("instant", "timestamp", "ts", "time", "@timestamp", "date")
_LEVEL_KEY = re.compile(r"(?:level|lvl|severity|priority)(?:_?name)?$|levelname$", re.I)
_NAME_KEY = re.compile(
    r"host|pod|container|instance|node|broker|source|service|unit|app|identifier"
    r"|job|name$|path|file",
    re.I,
)
_NO_NAME_KEY = re.compile(
    r"logger|thread|level|class|method|line|namespace|image|version|offset"
    r"|time|lang|marker|stream$",
    re.I,
)
MESSAGE_KEYS = (
    "message",
    "msg",
    "log",
    "line",
    "text",
    "body",
    "short_message",
    "_raw",
    "textpayload",
    "@message",
)
_PAIR = re.compile(r'(?:^|(?<=\s))([\w.@/-]{1,60})=("(?:[^"\\]|\\.)*"|\S*)')
_PAIR_LEVEL = re.compile(r"(?:^|\s)(?:level|lvl|severity)=")
_DECODER = json.JSONDecoder()

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """What is learned from a file's first lines. order: of day and month, see `times.ORDERS`.

    rank: the least `Line.rank` of a line that begins an entry; others continue one. is_plain: are
    these lines as Kafka's own layout has them, which is read faster?
    """

    order: str = ""
    rank: int = 1
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line taken apart.

    stamp: its time; None if it has none. rank: 2 if a level stands beside that, 1 if not, 0 without
    a time, -1 with a level but a time that can't be read. text: the innermost text from the time
    on, or all of it. columns: names that the wrappers have added, each with where it stands: the
    name of a field, or p and its place before the time, or a and its place between time and level.
    told: where in `text` the message begins.
    """

    stamp: Stamp | None
    rank: int
    text: str
    columns: Columns = ()
    told: int = 0


def learned(lines: Sequence[str]) -> tuple[Layout, Counter[int]]:
    """The layout of a file that begins with these lines, and how many of them have which rank."""
    order = order_of(lines)
    taken = [parsed(each, (), Layout(order)) for each in lines]
    ranks = Counter(each.rank for each in taken)
    is_plain = all(
        _plain(line) == each for line, each in zip(lines, taken, strict=True) if each.rank == 2
    )
    return Layout(order, 2 if 3 * ranks[2] >= ranks[1] and ranks[2] else 1, is_plain), ranks


def parsed(line: str, words: Collection[str], layout: Layout) -> Line:
    """A line taken apart. words: of which its message has one, if that is known."""
    if layout.is_plain and (plain := _plain(line)):
        return plain
    found = record_in(line)
    if found is not None:
        before, record = found
        outer, columns = _prefix(line[:before], layout)
        inner = _of_record(record, words, layout)
        if inner is not None:
            stamp = _completed(inner.stamp, outer) if inner.stamp else outer
            return replace(inner, stamp=stamp, columns=columns + inner.columns)
    return _of_text(line, layout, _WINDOW)


_PLAIN = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)


def _plain(line: str) -> Line | None:
    """A line in Kafka's own layout."""
    found = _PLAIN.match(line)
    stamp = next(stamps_in(line, 1, found.end(1)), None) if found else None
    return Line(stamp, 2, line[1:], (), found.end() - 1) if stamp else None


# --- Text -----------------------------------------------------------------------------------------


def _of_text(line: str, layout: Layout, reach: int) -> Line:
    """A line of text, whose time begins within `reach` characters, or ends it."""
    level = _innermost_level(line, layout)
    outer: Stamp | None = None
    if level:
        stamps = list(stamps_in(line, 0, level.start(), layout.order))
        after = next(stamps_in(line, level.end(), level.end() + 60, layout.order), None)
        if after and not line[level.end() : after.begin].strip(" \t[(|:-"):
            stamps.append(after)
    else:
        stamps = _chain(line, list(stamps_in(line, 0, min(reach, 300), layout.order)))
    stamp = stamps[-1] if stamps else None
    if stamp is None and level:
        last = list(stamps_in(line, max(level.end(), len(line) - 60), len(line), layout.order))
        if last and len(line) - last[-1].end <= 2 and ":" in line[last[-1].begin :]:
            return Line(last[-1], 2, line, (), level.end())
    if stamp is None or stamp.begin > reach:
        is_odd = level is not None and level.start() < _EARLY
        return Line(None, -is_odd, line, _columns(line[:_WINDOW], [], "p"))
    for each in stamps[:-1]:
        outer = _completed(each, outer)
    until = stamp.begin if level or layout.rank < 2 else _WINDOW
    columns = _columns(line[:until], stamps, "p")
    told = max(stamp.end, level.end() if level else 0)
    if level and level.start() > stamp.end:
        columns += _columns(line[stamp.end : level.start()], [], "a")
    begin = stamp.begin
    return Line(_completed(stamp, outer), 1 + bool(level), line[begin:], columns, told - begin)


_EARLY = 80
"""A line whose level is within so many characters is no continuation where levels have times."""


def _innermost_level(line: str, layout: Layout) -> re.Match[str] | None:
    """The level of a line; of a line in a line the one of that."""
    level = _LEVEL.search(line, 0, _WINDOW)
    while level:
        inner = _LEVEL.search(line, level.end(), level.end() + 160)
        stamp = inner and next(stamps_in(line, level.end(), inner.start(), layout.order), None)
        if (
            not stamp
            or inner.start() - stamp.end > 60
            or _BRACKET.search(line, level.end(), stamp.begin)
            or line[level.end() : stamp.begin].rstrip()[-1:].isalnum()  # prose leads to it
        ):
            break
        level = inner
    return level


def _chain(line: str, stamps: list[Stamp]) -> list[Stamp]:
    """Of the times in a line without a level those before the message."""
    found: list[Stamp] = []
    for each in stamps:
        between = line[found[-1].end if found else 0 : each.begin]
        if len(between) > (60 if found else 200) or _BRACKET.search(between):
            break
        found.append(each)
    return found


def _prefix(text: str, layout: Layout) -> tuple[Stamp | None, Columns]:
    """What stands before a record: the last time, and names."""
    stamps = list(stamps_in(text, 0, min(len(text), _WINDOW), layout.order))
    outer = None
    for each in stamps:
        outer = _completed(each, outer)
    return outer, _columns(text, stamps, "p")


def _columns(text: str, stamps: list[Stamp], place: str) -> Columns:
    """The words of a text, but for times and levels, each with its place."""
    for each in reversed(stamps):
        if each.end <= len(text):
            text = f"{text[: each.begin]} {text[each.end :]}"
    words = _TOKEN.findall(_LEVEL.sub(" ", text))[:_MOST_TOKENS]
    return tuple((f"{place}{k}", _LINE_NUMBER.sub("", each)) for k, each in enumerate(words))


def continues(line: Line, head: Line) -> bool:
    """May this line, which begins no entry, belong to that one? Not if their prefixes differ."""
    one, other = (
        [value for column, value in each.columns if column[0] != "a" and not value.isdecimal()]
        for each in (head, line)
    )
    return one == other[: len(one)]


def _completed(stamp: Stamp, outer: Stamp | None) -> Stamp:
    """A time that lacks its day or year, with the one of a wrapper's time, which is near."""
    if not stamp.lacks or outer is None or outer.lacks:
        return stamp
    if stamp.lacks == NEEDS_DAY:
        midnight = outer.time // DAY * DAY
        near = [midnight + stamp.time + k * DAY for k in (-1, 0, 1)]
    else:
        year = 1970 + outer.time // int(365.2425 * DAY)
        near = [in_year(stamp.time, year + k) for k in (-1, 0, 1)]
    return Stamp(min(near, key=lambda each: abs(each - outer.time)), stamp.begin, stamp.end)


# --- Records --------------------------------------------------------------------------------------


def record_in(line: str) -> tuple[int, dict[str, Any]] | None:
    """A record in JSON or logfmt, and where in the line it begins."""
    end = line[-8:].rstrip(", ]\r")
    if end.endswith("}"):
        begin = line.find("{", 0, _WINDOW)
        if begin >= 0 and not _LEVEL.search(line, 0, begin):
            try:
                value, _ = _DECODER.raw_decode(line, begin)
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict) and value:
                return begin, value
    if _PAIR_LEVEL.search(line, 0, _WINDOW):
        pairs = list(_PAIR.finditer(line))
        if len(pairs) > 1:
            return pairs[0].start(), {each[1]: _unquoted(each[2]) for each in pairs}
    return None


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text.strip('"')


def _of_record(record: dict[str, Any], words: Collection[str], layout: Layout) -> Line | None:
    """What a record says; None if it has no text."""
    leaves = list(_leaves(record, "", 0))
    texts = [(key, value) for key, value in leaves if isinstance(value, str)]
    chosen = _message(texts, words)
    if chosen is None:
        return None
    times = [
        (rank, stamp)
        for key, value in leaves
        if key != chosen[0] and (rank := _time_rank(key)) is not None
        if (stamp := _stamp_of(value, layout.order)) is not None
    ]
    stamp = min(times, key=lambda each: each[0])[1] if times else None
    columns = tuple(
        sorted((key, value) for key, value in texts if key != chosen[0] and _is_name(key, value))
    )
    has_level = any(_LEVEL_KEY.search(key) for key, _ in leaves)
    inner = parsed_text(chosen[1].rstrip("\n"), words, layout)
    if inner.stamp is not None:
        return replace(inner, stamp=_completed(inner.stamp, stamp), columns=columns + inner.columns)
    rank = 0 if stamp is None else 1 + has_level
    return Line(stamp, rank, inner.text, columns, 0)


def parsed_text(text: str, words: Collection[str], layout: Layout) -> Line:
    """The text of a record, which may be a line of its own."""
    head, _, rest = text.partition("\n")
    found = record_in(head)
    if found is not None and (inner := _of_record(found[1], words, layout)) is not None:
        return inner
    line = _of_text(head, layout, 60)
    return replace(line, text=f"{line.text}\n{rest}") if rest else line


def _message(texts: list[tuple[str, str]], words: Collection[str]) -> tuple[str, str] | None:
    """The field that is the message: one that has such a word, or a usual name, or is longest."""
    with_word = [each for each in texts if any(word in each[1] for word in words)]
    named = {key.rpartition(".")[2].lower(): (key, value) for key, value in reversed(texts)}
    for name in MESSAGE_KEYS:
        if name in named and (not with_word or named[name] in with_word):
            return named[name]
    return max(with_word or texts, key=lambda each: len(each[1]), default=None)


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The fields of a record, by their paths; bytes as text, and a time in two parts as one."""
    if isinstance(value, dict) and depth < 8:
        seconds = next((value[k] for k in ("epochSecond", "seconds") if k in value), None)
        if isinstance(seconds, int):
            nanos = next((n for k, n in value.items() if "nano" in k.lower()), 0)
            yield path, seconds + (nanos if isinstance(nanos, int) else 0) / 1e9
            return
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list):
        if value and all(isinstance(each, int) and 0 <= each < 256 for each in value):
            yield path, bytes(value).decode("utf-8", "replace")  # as journalctl writes it
        elif len(value) == 1:
            yield from _leaves(value[0], path, depth + 1)
    else:
        yield path, value


def _time_rank(path: str) -> tuple | None:
    """How likely a field is its record's time, the least being the likeliest; None: not at all."""
    key = path.rpartition(".")[2]
    if not TIME_KEY.search(key) and not TIME_KEY.search(path.rpartition(".")[0]):
        return None
    known = _TIME_KEYS.index(key.lower()) if key.lower() in _TIME_KEYS else len(_TIME_KEYS)
    return bool(_OTHER_TIME.search(path)), known, path.count("."), path


def _stamp_of(value: Any, order: str) -> Stamp | None:
    if isinstance(value, str):
        return stamp_at(value[:100], order)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for unit in (1000, 1, 1e-3, 1e-6):  # seconds, milliseconds, microseconds, nanoseconds
        if 1e12 <= value * unit < 2e12:
            return Stamp(round(value * unit), 0, 0)
    return None


def _is_name(path: str, value: str) -> bool:
    if not 0 < len(value) <= 200 or _NO_NAME_KEY.search(path) or not _NAME_KEY.search(path):
        return False
    return "/" in value or not re.search(r"file|path", path.rpartition(".")[2], re.I)
