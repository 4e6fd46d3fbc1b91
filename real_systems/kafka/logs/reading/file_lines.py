"""The lines of a file, compressed or not, in UTF-8 or UTF-16, whole or cut off.

Files may be large. They are read in blocks of whole lines, and a file that can be cut is read in
pieces, which need not be read in one process.
"""

import bz2
import codecs
import gzip
import lzma
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from itertools import chain
from pathlib import Path

from real_systems.kafka.logs.reading.unread import Unread

LONGEST = 1 << 20
"""Bytes of a line that are kept; a dump's longest record is far below."""

PIECE = 32 << 20
"""Bytes of a piece."""

_BLOCK = 4 << 20
_MAGIC = 8  # bytes that tell how a file is compressed

_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
"""How a compressed file begins, and what opens it."""

_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def pieces_of(path: Path) -> list[tuple[int, int | None]]:
    """Where each piece of a file begins and ends, in bytes: whole lines. None: at its end.

    A compressed file, or one in UTF-16, is one piece. Raises OSError.
    """
    size, edges = path.stat().st_size, [0]
    with path.open("rb") as file:
        if not _is_translated(file.read(_MAGIC)):
            while edges[-1] + PIECE < size:
                file.seek(edges[-1] + PIECE)
                file.readline()
                edges.append(file.tell())
    return list(zip(edges, [*edges[1:], None], strict=True))


def blocks_of(
    path: Path, begin: int = 0, end: int | None = None, unread: list[Unread] | None = None
) -> Iterator[bytes]:
    """The lines of a piece, in UTF-8, as blocks that each end with a line.

    unread: gets a compressed file that breaks off; what is before that is read. Raises
    OSError.
    """
    rest = b""
    for data in _chunks(path, begin, end, unread):
        last = data.rfind(b"\n") + 1
        if last:
            yield rest + data[:last]
            rest = b""
        if len(rest) < LONGEST:
            rest += data[last:]
    if rest:
        yield rest + b"\n"


def lines_of(
    path: Path, begin: int = 0, end: int | None = None, unread: list[Unread] | None = None
) -> Iterator[tuple[int, str]]:
    """The lines that begin within a piece, with their numbers in it, from 1. Raises OSError."""
    number = 0
    for block in blocks_of(path, begin, end, unread):
        for line in block.split(b"\n")[:-1]:
            number += 1
            yield number, _text(line)


def lines_with(block: bytes, words: Iterable[bytes]) -> Iterator[tuple[int, str, set[bytes]]]:
    """The lines of a block that have one of these words, with their numbers in it, from 1, and the
    words that each has. To look for a word in a whole block is faster than line by line."""
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
        line = block[start : block.find(b"\n", start)]
        yield number, _text(line), found[start]


def _text(line: bytes) -> str:
    """A line as text. A power cut may leave zeros, behind which the next start begins a line."""
    return line.rpartition(b"\0")[2][:LONGEST].decode("utf-8", "replace").rstrip("\r")


def _chunks(
    path: Path, begin: int, end: int | None, unread: list[Unread] | None
) -> Iterator[bytes]:
    """What is in a piece, as UTF-8 text."""
    with path.open("rb") as file:
        head = file.read(_MAGIC)
    opener = next((each for magic, each in _OPENERS.items() if head.startswith(magic)), open)
    with opener(path, "rb") as file:
        file.seek(begin)
        data = _read(file, None if end is None else end - begin, path, unread)
        first = next(data, b"")
        if encoding := _UTF_16.get(first[:2]):
            decoder = codecs.getincrementaldecoder(encoding)("replace")
            texts = map(decoder.decode, chain([first[2:]], data))
            yield from (each.encode("utf-8", "replace") for each in texts)
        else:
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from data


def _read(
    file: BufferedIOBase, size: int | None, path: Path, unread: list[Unread] | None
) -> Iterator[bytes]:
    """So many bytes, or all up to the end, as far as they can be read: `read1` gives all that is
    before the place where a compressed file breaks off."""
    try:
        while data := file.read1(_BLOCK if size is None else min(size, _BLOCK)):
            yield data
            size = None if size is None else size - len(data)
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if unread is not None:
            unread.append(Unread(path, "breaks off: what is before that was read"))


def _is_translated(head: bytes) -> bool:
    return head[:2] in _UTF_16 or any(head.startswith(each) for each in _OPENERS)
