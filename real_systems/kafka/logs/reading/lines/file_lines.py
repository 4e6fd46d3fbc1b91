"""The lines of a file, compressed or not, in UTF-8 or UTF-16, whole or cut off.

Files may be large: they are read in blocks of whole lines. What a line may have, and so what is in
memory, is bounded, whatever a file holds.
"""

import bz2
import codecs
import gzip
import json
import lzma
import re
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from real_systems.kafka.logs.reading.lines.documents import as_lines
from real_systems.kafka.logs.reading.unread import Unread, add

LONGEST = 1 << 20
"""Bytes of a line that are kept; a dump's longest record is far below."""

_BLOCK = 4 << 20
_MAGIC = 8  # bytes that tell how a file is compressed

_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
"""How a compressed file begins, and what opens it."""

DAMAGES = (EOFError, zlib.error, lzma.LZMAError, OSError)
"""What reading a compressed file raises, if that is damaged; an OSError then has no number."""

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

_COLOURS = re.compile(rb"(?:\x1b|\\u001[bB]|#033)\[[0-9;:?]{0,40}[A-Za-z]")

_AS_BYTES = re.compile(rb'(?<="MESSAGE":)\s?\[([\d, ]{0,1048576})\]')
_ESCAPES = (b"\x1b", b"\\u001", b"#033")


def blocks_of(
    path: Path, unread: list[Unread] | None = None, framing: str = "", most: int | None = None
) -> Iterator[bytes]:
    """The lines of a file, in UTF-8 and without colours, as blocks that each end with a line.

    unread: gets a compressed file that breaks off, and lines that are too long; what is before that
    is read. framing: see `documents.framing_of`. most: as many bytes are read. Raises OSError.
    """
    chunks = _chunks(path, most, unread)
    rest, lines = bytearray(), 0
    for data in as_lines(chunks, framing, path, unread) if framing else chunks:
        last = data.rfind(b"\n") + 1
        if last:
            rest += data[:last]
            block = _cleaned(bytes(rest))
            if unread is not None:
                _note_too_long(path, block, lines, unread)
            lines += block.count(b"\n")
            yield block
            rest.clear()
        if len(rest) <= LONGEST:
            rest += data[last:]
    if rest:
        block = _cleaned(bytes(rest)) + b"\n"
        if unread is not None:
            _note_too_long(path, block, lines, unread)
        yield block


def _cleaned(block: bytes) -> bytes:
    """A block without colours, and with journalctl's messages in bytes as text."""
    if any(each in block for each in _ESCAPES):
        block = _COLOURS.sub(b"", block)
    return _AS_BYTES.sub(_as_text, block) if b'"MESSAGE"' in block else block


def _as_text(found: re.Match[bytes]) -> bytes:
    numbers = [int(each) for each in found[1].split(b",") if each.strip()]
    text = bytes(each for each in numbers if each < 256).decode("utf-8", "replace")
    return json.dumps(_COLOURS.sub(b"", text.encode()).decode()).encode()


def _note_too_long(path: Path, block: bytes, before: int, unread: list[Unread]) -> None:
    """Note the lines of a block that are not read to their ends; zeros are no loss."""
    place, number = 0, before
    while len(block) - place > LONGEST:
        end = block.find(b"\n", place)
        number += 1
        if end - place > LONGEST and block[place:end].strip(b"\0"):
            why = f"of more than {LONGEST:,} bytes, the rest of which was not read"
            add(unread, path, why, number, _text(block[place : place + 200]))
        place = end + 1


def lines_of(
    path: Path, unread: list[Unread] | None = None, framing: str = "", most: int | None = None
) -> Iterator[tuple[int, str]]:
    """The lines of a file, with their numbers, from 1. Raises OSError."""
    number = 0
    for block in blocks_of(path, unread, framing, most):
        for line in block.split(b"\n")[:-1]:
            number += 1
            yield number, _text(line)


def lines_with(block: bytes, words: Iterable[bytes]) -> Iterator[tuple[int, int, str, set[bytes]]]:
    """The lines of a block that have one of these words: where each begins, its number in the
    block, from 1, its text, and the words that it has. To look for a word in a whole block is
    faster than line by line."""
    found: dict[int, set[bytes]] = {}
    for word in words:
        place = block.find(word)
        while place >= 0:
            found.setdefault(block.rfind(b"\n", 0, place) + 1, set()).add(word)
            place = block.find(word, block.find(b"\n", place))
    number, counted = 1, 0
    for start in sorted(found):
        number += block.count(b"\n", counted, start)
        counted = start
        yield number, start, line_at(block, start), found[start]


def line_at(block: bytes, start: int) -> str:
    """The line of a block that begins there."""
    return _text(block[start : block.find(b"\n", start)])


def _text(line: bytes) -> str:
    """A line as text. A power cut may leave zeros, behind which the next start begins a line."""
    return line.rpartition(b"\0")[2][:LONGEST].decode("utf-8", "replace").rstrip("\r")


def _chunks(path: Path, most: int | None, unread: list[Unread] | None) -> Iterator[bytes]:
    """What is in a file, as UTF-8 text."""
    with path.open("rb") as file:
        head = file.read(_MAGIC)
    with opener_of(head)(path, "rb") as file:
        data = _read(file, most, path, unread)
        first = next(data, b"")
        if encoding := _UTF_16.get(first[:2]):
            decoder = codecs.getincrementaldecoder(encoding)("replace")
            texts = map(decoder.decode, chain([first[2:]], data))
            yield from (each.encode("utf-8", "replace") for each in texts)
        else:
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from data


def opener_of(head: bytes):
    """What opens a file that begins like this."""
    return next((each for magic, each in _OPENERS.items() if head.startswith(magic)), open)


def _read(
    file: BufferedIOBase, size: int | None, path: Path, unread: list[Unread] | None
) -> Iterator[bytes]:
    """So many bytes, or all up to the end, as far as they can be read: `read1` gives all that is
    before the place where a compressed file breaks off."""
    try:
        while data := file.read1(_BLOCK if size is None else min(size, _BLOCK)):
            yield data
            size = None if size is None else size - len(data)
    except DAMAGES as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if unread is not None:
            unread.append(Unread(path, f"breaks off ({error}): what is before that was read"))
