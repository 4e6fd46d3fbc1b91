"""An overview of the tasks in the notebooks, and of how much was done.

The tasks are read from the notebooks' cells: each `ask(...)`, each question of a `lesson(...)`,
each exercise's `check(...)` and each `challenge(...)`. What was done is read from the learner's
record.
"""

import ast
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from protocol_lab.errors import LabError, unknown
from protocol_lab.lessons.gates import Gate
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.teaching import record
from protocol_lab.teaching.record import Record
from protocol_lab.traces.scenario_format import split_caption

_LINK = re.compile(r"\((\w+)/\w+\.ipynb\)")


@dataclass(frozen=True)
class Task:
    """Something to do in a notebook: a prediction, an exercise or a challenge, by its name in the
    record. text: what is asked, if that is not the name."""

    kind: str
    name: str
    text: str = ""

    def is_done(self, done: Record) -> bool:
        """Does the record have it?"""
        return self.name in done[self.kind]

    def __str__(self) -> str:
        if self.kind == "prediction":
            return f"predict: {self.text or self.name}"
        return f"the {self.kind} `{self.name}`"


@dataclass(frozen=True)
class Progress:
    """How much of some notebooks was done, as lines; in a notebook with links."""

    tasks: dict[str, list[Task]]
    done: Record
    is_kept: bool = True

    def _done_in(self, notebook: str) -> list[Task]:
        return [each for each in self.tasks[notebook] if each.is_done(self.done)]

    @property
    def next(self) -> tuple[str, Task] | None:
        """The first task that is not done yet, from the learner's last one on."""
        begun = [name for name in self.tasks if self._done_in(name)]
        order = list(self.tasks)
        start = order.index(begun[-1]) if begun else 0
        for name in [*order[start:], *order[:start]]:
            for each in self.tasks[name]:
                if not each.is_done(self.done):
                    return name, each
        return None

    def _counts(self, notebook: str) -> list[str]:
        """For each kind of task that there is: how many were done, of how many, with what score."""
        counts = []
        for kind in record.KINDS:
            every = [each for each in self.tasks[notebook] if each.kind == kind]
            done = [each.name for each in every if each.is_done(self.done)]
            is_whole = len(done) == len(every)
            number = f"✓ all {len(every)}" if is_whole else f"{len(done)} of {len(every)}"
            score, total = "", sum(self.done[kind][name] for name in done)
            if kind == "prediction" and done:
                score = f"{total} right"
            if kind == "challenge" and done:
                score = f"{total} of {10 * len(done)} points"
            if every:
                counts.append(f"{kind}s: {', '.join(filter(None, [number, score]))}")
        return counts

    def _closing(self, name_of: Callable[[str], str]) -> str:
        if not self.is_kept:
            return "What you do now can't be kept: the notebooks' folder is read-only."
        if self.next is None:
            return "All of it is done."
        notebook, task = self.next
        where = "" if len(self.tasks) == 1 else f"in {name_of(notebook)}, "
        return f"Next: {where}{task}"

    def lines(self, name_of: Callable[[str], str] = str) -> list[str]:
        """A line for each notebook that was begun, or for the only one; then the next task.

        name_of: how a notebook is named.
        """
        begun = [each for each in self.tasks if len(self.tasks) == 1 or self._done_in(each)]
        lines = []
        for name in begun:
            told = "; ".join(self._counts(name)) or "nothing is asked here"
            lines.append(f"{name_of(name)}: {told}.")
        return [*(lines or ["Nothing was done yet."]), self._closing(name_of)]

    def _repr_markdown_(self) -> str:
        return "  \n".join(self.lines(_link))

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def _link(notebook: str) -> str:
    """A link to a notebook from the folder in which the process runs, as a notebook's does."""
    path = Path(os.path.relpath(record.FOLDER / f"{notebook}.ipynb")).as_posix()
    return f"[{notebook}]({quote(path)})"


def progress(notebook: str = "") -> Progress:
    """The progress in a notebook, given by a part of its name, or in all; and what to do next.

    Raises LabError with the names that there are for one that is unknown.
    """
    tasks = {name: list(tasks_of(path)) for name, path in _notebooks(record.FOLDER).items()}
    chosen = {name: found for name, found in tasks.items() if notebook in name}
    if not chosen:
        raise unknown("notebook", notebook, tasks)
    return Progress(chosen, record.recorded(), record.is_writable())


def tasks_of(path: Path) -> Iterator[Task]:
    """The tasks of a notebook, in the order of its cells; of a damaged one those that can be
    read."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    told = set()
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a learner's cell, or a magic command
            continue
        for call in ast.walk(tree):
            for task in _tasks(call) if isinstance(call, ast.Call) else ():
                if task not in told:
                    told.add(task)
                    yield task


def _questions(lesson: str) -> Iterator[str]:
    """The questions of a lesson; none if it can't be read."""
    with suppress(LabError):
        for part in lesson_named(lesson).parts:
            for each in part.lines:
                if isinstance(each, Gate):
                    yield split_caption(each.question)[1]


def _tasks(call: ast.Call) -> Iterator[Task]:
    """The tasks that a call stands for, if it does."""
    first = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    if isinstance(call.func, ast.Name) and isinstance(first, str):
        if call.func.id == "ask":
            yield Task("prediction", first)
        if call.func.id == "challenge":
            yield Task("challenge", first)
        if call.func.id == "lesson":
            for question in _questions(first):
                yield Task("prediction", f"{first} {question}", question)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "check":
        of = call.func.value
        name = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", None)
        if name:
            yield Task("exercise", name)


def _notebooks(folder: Path) -> dict[str, Path]:
    """The notebooks that came with the kit, by name, in the order in which they are read."""
    found = [
        path
        for path in folder.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts and ".my-copy-" not in path.name
    ]
    named = {path.relative_to(folder).with_suffix("").as_posix(): path for path in found}
    rooms = _rooms(named[min(named)]) if named else []

    def place(name: str) -> tuple[int, str]:
        room = name.partition("/")[0] if "/" in name else ""
        return (rooms.index(room) if room in rooms else len(rooms), name)

    return {name: named[name] for name in sorted(named, key=place)}


def _rooms(start: Path) -> list[str]:
    """The folders in the order in which the start notebook links to them; it comes before all."""
    try:
        text = start.read_text(encoding="utf-8")
    except (OSError, ValueError):
        text = ""
    return list(dict.fromkeys(["", *_LINK.findall(text)]))
