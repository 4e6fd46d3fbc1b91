"""Exports that are one document, as lines of JSON with a record each: JSON of any shape, and CSV.

Examples are what the interfaces of Loki, Elasticsearch and CloudWatch answer, what Grafana and
Kibana save, and layouts in JSON that write several lines for a record.
"""

import codecs
import csv
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from real_systems.kafka.logs.reading.lines.layouts import MESSAGE_KEYS, TIME_KEY, record_in
from real_systems.kafka.logs.reading.lines.times import stamps_in
from real_systems.kafka.logs.reading.unread import Unread

LARGEST = 64 << 20
"""Characters of a value that is taken into memory as a whole."""

_DELIMITERS = ",;\t"
_WIDEST = 10_000
"""Characters of a CSV's first line that are looked at."""

_DECODER = json.JSONDecoder()


def framing_of(head: str) -> str:
    """What a file is that begins like this: "json", a CSV's delimiter, or "" for lines."""
    text = head.lstrip()
    first = re.split(r"[\r\n]", text, maxsplit=1)[0].strip()
    if text[:1] == "[" and text[1:].lstrip()[:1] in ("{", "["):
        return "json"
    if text[:1] == "{" and text[1:].lstrip()[:1] in ('"', ""):
        found = record_in(first)
        if found is None or (not _has_message(found[1], 0) and any(_lists(found[1], 0))):
            return "json"
    for delimiter in _DELIMITERS:
        cells = [
            each.strip() for each in next(csv.reader([first[:_WIDEST]], delimiter=delimiter), [])
        ]
        names = [each.lower().lstrip("_") for each in cells]
        if (
            len(cells) > 1
            and all(0 < len(each) < 60 for each in cells)
            and any(TIME_KEY.search(each) for each in cells)
            and any(each.rpartition(".")[2] in MESSAGE_KEYS for each in names)
            and not any(True for _ in stamps_in(first, 0, len(first)))
        ):
            return delimiter
    return ""


def as_lines(
    chunks: Iterable[bytes], framing: str, path: Path, unread: list[Unread] | None
) -> Iterator[bytes]:
    """The records of a document in UTF-8, as lines. unread: gets what is no whole record."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = map(decoder.decode, chunks)
    try:
        values = _values(texts) if framing == "json" else _rows(texts, framing)
        for value in values:
            for record in _records(value):
                yield json.dumps(record).encode() + b"\n"
    except (ValueError, RecursionError, csv.Error) as error:
        if unread is not None:
            unread.append(Unread(path, f"is no whole document: {error}"))


def _values(texts: Iterable[str]) -> Iterator[Any]:
    """The values of a document, those of an outermost list one by one. Raises ValueError."""
    rest, wanted = "", 0
    for text in chain(texts, [None]):
        rest += text or ""
        if text is not None and len(rest) < wanted:
            continue
        place, error = 0, None
        while error is None:
            while place < len(rest) and rest[place] in " \r\n\t,[]":
                place += 1
            if place == len(rest):
                break
            try:
                value, place = _DECODER.raw_decode(rest, place)
                yield value
            except json.JSONDecodeError as some:
                error = some
        rest = rest[place:]
        wanted = 2 * len(rest)
        if error is not None and (text is None or len(rest) > LARGEST):
            raise ValueError(error.msg if text is None else "a record has more than 64 MiB")


def _rows(texts: Iterable[str], delimiter: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV, by the names in its first. Raises csv.Error."""
    for row in csv.DictReader(_lines(texts), delimiter=delimiter, restkey="rest", restval=""):
        yield {str(key): value for key, value in row.items() if isinstance(value, str)}


def _lines(texts: Iterable[str]) -> Iterator[str]:
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        yield from (f"{line}\n" for line in lines)
    if rest:
        yield rest


def _has_message(value: Any, depth: int) -> bool:
    return isinstance(value, dict) and any(
        (isinstance(each, str) and str(key).lower() in MESSAGE_KEYS)
        or (depth < 4 and _has_message(each, depth + 1))
        for key, each in value.items()
    )


def _records(value: Any) -> Iterator[dict]:
    """The records in a value. Pairs in a list, as Loki gives them, are each a time and a line; the
    names beside the list are theirs."""
    if not isinstance(value, dict):
        return
    lists = [] if _has_message(value, 0) else list(_lists(value, 0))
    if not lists:
        yield value
    for each in lists:
        names = {key: names for key, names in each[0].items() if isinstance(names, dict)}
        for element in each[1]:
            if isinstance(element, dict):
                yield from _records(element)
            elif isinstance(element, list) and len(element) > 1:
                yield {**names, "time": element[0], "message": str(element[1])}


def _lists(value: dict, depth: int) -> Iterator[tuple[dict, list]]:
    """The lists of dicts or pairs in a value, each with the dict that it stands in."""
    for each in value.values():
        if isinstance(each, list) and any(isinstance(some, dict | list) for some in each):
            yield value, each
        elif isinstance(each, dict) and depth < 8:
            yield from _lists(each, depth + 1)
