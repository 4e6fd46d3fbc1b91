"""Packs plain values into a script file that a page can load without a server.

Recorded states are similar: most of what is shown of one is shown of its neighbours, too. So equal
parts are stored once, in a table, and refer to each other by number. The table is deflated and put
into a script as base64, since a page that was opened from the disk may load no other kind of file.
"""

import json
import re
import zlib
from base64 import b64encode
from typing import Any

_TAG = re.compile(r"(?=<)")
_RAW_DEFLATE = -zlib.MAX_WBITS


def elements(svg: str) -> list[str]:
    """A picture split at its tags, so that pictures can share equal parts."""
    return _TAG.split(svg)


class Table:
    """A table in which equal values have the same number: even for what JSON writes as one word,
    else odd.

    A list or dict is stored as the number of its shape (0: a list; k: the k-th list of keys) and
    the numbers of its parts.
    """

    def __init__(self) -> None:
        self._atoms: dict[Any, int] = {}
        self._shapes: dict[tuple[str, ...], int] = {}
        self._nodes: dict[tuple[int, ...], int] = {}

    def add(self, value: Any) -> int:
        """The number of a plain value."""
        match value:
            case dict():
                keys = tuple(value)
                shape = self._shapes.setdefault(keys, len(self._shapes) + 1)
                return self._node(shape, [self.add(each) for each in value.values()])
            case list() | tuple():
                return self._node(0, [self.add(each) for each in value])
        return 2 * self._atoms.setdefault((type(value), value), len(self._atoms))

    def _node(self, shape: int, parts: list[int]) -> int:
        return 2 * self._nodes.setdefault((shape, *parts), len(self._nodes)) + 1

    def to_json(self, root: int) -> dict[str, Any]:
        """The table, for a reader that begins at `root`."""
        return {
            "atoms": [value for _, value in self._atoms],
            "shapes": [list(keys) for keys in self._shapes],
            "nodes": [list(node) for node in self._nodes],
            "root": root,
        }


def packed(value: Any) -> str:
    """JSON, deflated, as base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), level=9, wbits=_RAW_DEFLATE)).decode()


def as_script(name: str, value: Any) -> str:
    """A script that gives the packed value to the page under this name."""
    return f"labReceive({json.dumps(name)}, {json.dumps(packed(value))});\n"
