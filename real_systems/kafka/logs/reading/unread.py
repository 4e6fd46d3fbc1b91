"""What was not read or not understood, and lines that may be of several brokers.

Each of these takes something away from what an answer covers; `str` gives a sentence.
"""

from dataclasses import dataclass
from pathlib import Path

from protocol_lab.errors import visible

_QUOTED = 100
"""Characters of a line that are quoted."""


@dataclass(slots=True)
class Unread:
    """Lines of a file that were not understood; or all of a file or an archive.

    path: the file. why: what follows its name in a sentence, as in "is encrypted". lines: how many;
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
        which = f"{name}:{self.number}{_more(self.lines)}"
        return f"Not understood: {which} {self.why}: {quote(self.first)}"


@dataclass(slots=True)
class Doubt(Unread):
    """Lines whose broker is not certain: they are attributed to none (`Entry.node` is None).

    nodes: the brokers that they may be of; empty if nothing names one.
    """

    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        whose = " or ".join(map(str, self.nodes))
        whose = f"which may be of broker {whose}" if whose else "whose broker nothing tells"
        which = f"{shown(self.path)}:{self.number}{_more(self.lines)}"
        return f"Not attributed: {which}, {whose}: {quote(self.first)}"


def _more(lines: int) -> str:
    """How many lines there are besides the first."""
    return "" if lines < 2 else f" and {lines - 1:,} more line{'s' * (lines > 2)}"


def add(unread: list[Unread], path: Path, why: str, number: int, first: str) -> None:
    """Add a line that was not understood, to those of the file that have the same reason."""
    for each in unread:
        if each.lines and (each.path, each.why) == (path, why):
            each.lines += 1
            return
    unread.append(Unread(path, why, 1, number, first[: 2 * _QUOTED]))


def shown(path: Path) -> str:
    """A path in one line that is harmless on a terminal."""
    return one_line(str(path))


def one_line(text: str) -> str:
    """A text, such as a topic's name, in one line and harmless on a terminal."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def quote(text: str) -> str:
    """The beginning of a line, in quotation marks, harmless on a terminal."""
    line = visible(text.strip()).replace("\n", "␊").replace("\t", " ")
    return f'"{line}"' if len(line) <= _QUOTED else f'"{line[:_QUOTED]}..."'
