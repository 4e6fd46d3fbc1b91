"""The whole site is built, with few recorded states: every stepper lives, and no link is dead."""

import re
import zlib
from pathlib import Path
from urllib.parse import unquote

import pytest

from protocol_lab.site.build import build

pytestmark = pytest.mark.slow

PAGE_LIMIT, SITE_LIMIT = 6_000_000, 80_000_000
"""Bytes as a server sends them."""

_LOADED = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"")


def sent(path: Path) -> int:
    """The bytes of a file that a server compresses."""
    return len(zlib.compress(path.read_bytes(), 6))


def dead_links(folder: Path) -> list[str]:
    """Links to files that are not there."""
    dead = []
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for target in set(re.findall(r"<a [^>]*href=\"([^\"#?]+)[^\"]*\"", text)):
            if re.match(r"[a-z]+:", target):
                continue
            if not (page.parent / unquote(target)).resolve().exists():
                dead.append(f"{page.relative_to(folder)} -> {target}")
    return dead


def too_large(folder: Path) -> list[str]:
    """Pages that are over the limit, with the recordings that they may load."""
    found = []
    for page in folder.rglob("*.html"):
        names = set(re.findall(r"\"recording\": \"([^\"]+)\"", page.read_text(encoding="utf-8")))
        files = [page, *(folder / "_static" / "recordings" / f"{each}.js" for each in names)]
        if sum(map(sent, files)) > PAGE_LIMIT:
            found.append(page.name)
    return found


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """What pages would load from outside the folder."""
    return [
        f"{page.name}: {each}"
        for page in folder.rglob("*.html")
        for each in _LOADED.findall(page.read_text(encoding="utf-8"))
    ]


def test_the_whole_site(tmp_path):
    assert build(tmp_path, whole=100, around=0, most=1) == []
    assert dead_links(tmp_path) == []
    assert too_large(tmp_path) == []
    assert loaded_from_elsewhere(tmp_path) == []
    assert sum(sent(each) for each in tmp_path.rglob("*") if each.is_file()) < SITE_LIMIT
