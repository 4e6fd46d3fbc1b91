"""What was not read or not understood, and lines that may be of several brokers.

Each of these takes something away from what an answer covers; `str` gives a sentence.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from protocol_lab.visible_text import visible

_QUOTED = 100
"""Characters of a line that are quoted."""


@dataclass(slots=True)
class Unread:
    """Lines of a file that were not understood; or all of a file or an archive.

    path: the file. why: the sentence's verb and the reason, as in "is encrypted". lines: how many;
    0 for the file as a whole. number, first: the first such line and what it says, if there is one.
    """

    path: Path
    why: str
    lines: int = 0
    number: int = 0
    first: str = ""

    def __str__(self) -> str:
        name = shown(self.path)
        if not self.lines:
            quoted = f", which begins with {quote(self.first)}," if self.first else ""
            return f"{name}{quoted} {self.why}."
        several = f" and {self.lines - 1:,} more lines" if self.lines > 1 else ""
        return f"{name}:{self.number}{several} {self.why}: {quote(self.first)}"


@dataclass(slots=True)
class Doubt:
    """Lines whose broker is not certain: they are attributed to none (`Entry.node` is None).

    nodes: the brokers that they may be of; empty if nothing names one. lines, number, first: as in
    `Unread`.
    """

    path: Path
    nodes: tuple[int, ...]
    lines: int
    number: int
    first: str

    def __str__(self) -> str:
        several = f" and {self.lines - 1:,} more lines" if self.lines > 1 else ""
        which = f"may be of brokers {' or '.join(map(str, self.nodes))}" if self.nodes else ""
        return (
            f"{shown(self.path)}:{self.number}{several}"
            f" {which or 'name no broker'}: {quote(self.first)}"
        )


def together(unread: Iterable[Unread]) -> list[Unread]:
    """The same, with the lines of a file that have one reason as one."""
    found: dict[tuple[Path, str, bool], Unread] = {}
    for each in unread:
        known = found.setdefault((each.path, each.why, bool(each.lines)), each)
        if known is not each:
            known.lines += each.lines
    return list(found.values())


def shown(path: Path) -> str:
    """A path in one line that is harmless on a terminal."""
    return visible(str(path)).replace("\n", "␊").replace("\t", "␉")


def quote(text: str) -> str:
    """The beginning of a line, in quotation marks, harmless on a terminal."""
    line = visible(text.strip()).replace("\n", "␊").replace("\t", " ")
    return f'"{line}"' if len(line) <= _QUOTED else f'"{line[:_QUOTED]}..."'
