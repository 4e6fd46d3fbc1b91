"""Measures the site: the bytes that each page loads, and the bytes of all files."""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

MOST_OF_A_PAGE = 2_000_000
"""Bytes of a page with the frames of its steppers, compressed as servers do."""

MOST_OF_ALL = 80_000_000
"""Bytes of the whole folder."""

_FRAMES = re.compile(r'"frames": "([^"]+)"')


def too_large(
    folder: Path, most_of_a_page: int = MOST_OF_A_PAGE, most_of_all: int = MOST_OF_ALL
) -> Iterator[str]:
    """A sentence for each page that takes too long to load, and one if the site is too large."""
    frames = {each.stem: _compressed(each) for each in folder.glob("_static/frames/*.js")}
    for page in sorted(folder.rglob("*.html")):
        named = set(_FRAMES.findall(page.read_text(encoding="utf-8")))
        size = _compressed(page) + sum(frames[name] for name in named)
        if size > most_of_a_page:
            name = page.relative_to(folder).as_posix()
            yield f"{name} takes {_megabytes(size)} to load."
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    if size > most_of_all:
        yield f"The site takes {_megabytes(size)}."


def _compressed(path: Path) -> int:
    return len(zlib.compress(path.read_bytes()))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
