"""How long a notebook takes, by one rule from its words, steps and questions: an estimate.

No class was timed. `python -m tests.notebook_minutes` prints each notebook's minutes.
"""

import ast
import re
from pathlib import Path

from nbformat import NotebookNode

from protocol_lab.lessons.lesson_files import Gate, lesson_named
from tests.notebook_outputs import asks, name_of, notebooks, read

WORDS = 200
"""How many words are read in a minute, of prose and of a lesson's captions."""

BEAT, GATE = 5, 30
"""Seconds for each picture of a lesson, and to answer each of its questions."""

QUESTION, OUTPUT, LINE = 90, 60, 3
"""Seconds to answer a question and look at what follows, for what another cell shows, and for each
line of its code."""

CALLS = {"step": 3, "replay": 2, "challenge": 5, "check": 6}
"""Minutes for a stepper, a challenge, and an exercise."""

_SAID = re.compile(r"[*]Minutes: (\d+), an estimate")


def minutes_said(notebook: NotebookNode) -> int | None:
    """The minutes that stand at its top, or None."""
    found = _SAID.search(notebook.cells[0].source)
    return int(found[1]) if found else None


def minutes_of(notebook: NotebookNode) -> int:
    """The estimate, to the nearest five minutes."""
    seconds = sum(_seconds(cell) for cell in notebook.cells)
    return max(5, 5 * round(seconds / 60 / 5))


def words_read(cell: NotebookNode) -> list[str]:
    """A cell's words: its Markdown, or the texts of its code that are more than a word."""
    if cell.cell_type == "markdown":
        return cell.source.split()
    constants = (getattr(each, "value", "") for each in ast.walk(ast.parse(cell.source)))
    texts = [each for each in constants if isinstance(each, str) and " " in each]
    return " ".join(texts).split()


def _seconds(cell: NotebookNode) -> float:
    if cell.cell_type == "markdown":
        return _reading(cell.source)
    called = _called(cell.source)
    seconds = sum(60 * CALLS.get(name, 0) for name, _ in called)
    if asks(cell):
        return seconds + QUESTION + _reading(" ".join(words_read(cell)))
    lessons = [argument for name, argument in called if name == "lesson"]
    if lessons or seconds:
        return seconds + sum(map(lesson_seconds, lessons))
    lines = [each for each in cell.source.splitlines() if each.strip()]
    shown = [each for each in lines if not re.match(r"(from|import) ", each)]
    last = ast.parse(cell.source).body[-1]
    shows = isinstance(last, ast.Expr | ast.For) and "progress" not in dict(called)
    return LINE * len(shown) + OUTPUT * shows


def lesson_seconds(name: str) -> float:
    """A lesson's words, pictures and questions, in seconds."""
    lesson = lesson_named(name)
    lines = [line for part in lesson.parts for line in part.lines]
    gates = [line for line in lines if isinstance(line, Gate)]
    captions = [line.caption for line in lines if not isinstance(line, Gate) and line.caption]
    words = [*lesson.description, *captions]
    words += [text for gate in gates for text in (gate.question, gate.why)]
    words += [choice.text for gate in gates for choice in gate.choices]
    return _reading(" ".join(words)) + BEAT * len(captions) + GATE * len(gates)


def _called(source: str) -> list[tuple[str, str]]:
    """The names that a cell calls, each with its first argument if that is a text."""
    found = []
    for each in ast.walk(ast.parse(source)):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name | ast.Attribute):
            name = each.func.id if isinstance(each.func, ast.Name) else each.func.attr
            first = each.args[0] if each.args else None
            found.append((name, str(getattr(first, "value", ""))))
    return found


def _reading(text: str) -> float:
    return 60 * len(text.split()) / WORDS


def main() -> None:
    """Print the minutes of each notebook, and what stands at its top."""
    for path in map(Path, notebooks()):
        notebook = read(path)
        said = minutes_said(notebook)
        print(f"{minutes_of(notebook):4}  {name_of(path)}{'' if said is None else f'  ({said})'}")


if __name__ == "__main__":
    main()
