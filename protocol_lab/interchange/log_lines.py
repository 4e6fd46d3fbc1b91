"""Removes what terminals, logs and mails add to the lines of a program's output.

Colours; quotation marks (`> `); time stamps; the names of containers, pods and hosts; Docker's and
Kubernetes' own formats of log files. What stands before each line is learnt from the lines that are
known to begin otherwise, such as `State 1: <Initial predicate>`.
"""

import json
import re

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")

_BEGINNING = (
    r"(?:State \d+: <|\d+: <Initial predicate>|\d+\. Initial predicate"
    r"|Error: (?:The behavior up|Invariant |Action property|Temporal prop|Deadlock reached))"
)
_KNOWN = re.compile(
    rf"^(?!{_BEGINNING})(?P<mark>.+?)(?<=[^\w@<])(?<!State )(?={_BEGINNING})", re.MULTILINE
)
"""The beginnings of lines that TLC prints, with what stands before them."""

_OF_KUBERNETES = re.compile(r"^\S+ std(?:out|err) (?P<tag>[FP]) ", re.MULTILINE)
"""`P` marks a part of a line that goes on in the next one."""


def without_marks(text: str) -> str:
    """The text as the program has printed it, as far as that can be told."""
    text = _COLOUR.sub("", text.replace("\r\n", "\n").removeprefix("\ufeff"))
    text = _out_of_json(text)
    if _OF_KUBERNETES.search(text):
        lines = [(_OF_KUBERNETES.match(line), line) for line in text.split("\n")]
        text = "".join(
            line[mark.end() :] + "\n" * (mark["tag"] == "F") if mark else f"{line}\n"
            for mark, line in lines
        )
    shapes = dict.fromkeys(_shape(found["mark"]) for found in _KNOWN.finditer(text))
    if not shapes:
        return text
    mark = re.compile("|".join(shapes))
    lines = ((mark.match(line), line) for line in text.split("\n"))
    return "\n".join(line[found.end() :] if found else line for found, line in lines)


def _out_of_json(text: str) -> str:
    """The lines that Docker has written as {"log": "...\\n", "stream": ...}."""
    if not text.startswith('{"log":'):
        return text
    try:
        return "".join(str(json.loads(line)["log"]) for line in text.split("\n") if line.strip())
    except (json.JSONDecodeError, KeyError, TypeError):
        return text


def _shape(mark: str) -> str:
    """A pattern for what stands before a line: the same text, with other numbers.

    Blanks at its end may be missing, as before an empty line, and so may a fraction of a second.
    """
    text = mark.rstrip()
    blanks = mark[len(text) :]
    words = map(re.escape, re.split(r"\d+(?:[.,]\d+)*", text))
    pattern = r"\d+(?:[.,]\d+)*".join(words)
    return rf"{pattern}\s{{0,{len(blanks)}}}"
