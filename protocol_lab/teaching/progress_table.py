"""The learner's progress as a table with bars, in which each notebook is a link."""

import os
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

_HEADS = ("Notebook", "Predictions", "Exercises", "Challenges")

_STYLE = """<style>
.lab-done { max-width: 60em; font-size: 14px; color: var(--jp-ui-font-color1, #17202b); }
.lab-done p { margin: 0 0 8px; font-size: 16px; }
.lab-done a { color: var(--jp-content-link-color, #1a5cc0); }
.lab-done table { width: 100%; border-collapse: collapse; font-size: 14px; }
.lab-done :is(th, td) { padding: 8px 12px 8px 0; text-align: left; background: none; }
.lab-done tr { border-bottom: 1px solid var(--jp-border-color2, #d9e0e7); background: none; }
.lab-done progress { width: 6em; height: 8px; margin-right: 8px; accent-color: #1a5cc0; }
.lab-done .lab-all progress { accent-color: #146c3d; }
</style>"""


class Count(NamedTuple):
    """How many tasks of one kind were done, of how many, and with what score in words."""

    done: int
    every: int
    score: str = ""

    def __str__(self) -> str:
        number = f"✓ all {self.every}" if self.is_whole else f"{self.done} of {self.every}"
        return ", ".join(filter(None, [number, self.score]))

    @property
    def is_whole(self) -> bool:
        """Is all of it done, and is there something?"""
        return self.done == self.every > 0


def progress_table(
    folder: Path, counts: dict[str, list[Count]], following: tuple[str, str] | None, closing: str
) -> str:
    """HTML: how much was done in all, the next task, and a row for each notebook of the folder.

    following: the notebook of the next task, and the task; closing: what is said if there is none.
    The links lead there from the folder in which the process runs, as a notebook's kernel does.
    """
    every = [each for row in counts.values() for each in row]
    done = f"<b>{sum(each.done for each in every)} of {sum(each.every for each in every)} done.</b>"
    if following:
        name, task = following
        closing = f'<a href="{_address(folder, name)}">Go on</a>: {escape(task)}'
    else:
        closing = escape(closing)
    heads = "".join(f'<th scope="col">{each}</th>' for each in _HEADS)
    rows = "".join(_row(folder, name, row) for name, row in counts.items())
    return (
        f'{_STYLE}<div class="lab-done"><p>{done} {closing}</p>'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(folder: Path, name: str, counts: Iterable[Count]) -> str:
    link = f'<a href="{_address(folder, name)}">{escape(name)}</a>'
    return f"<tr><td>{link}</td>{''.join(map(_cell, counts))}</tr>"


def _cell(count: Count) -> str:
    if not count.every:
        return "<td>–</td>"
    bar = f'<progress value="{count.done}" max="{count.every}" aria-hidden="true"></progress>'
    look = ' class="lab-all"' if count.is_whole else ""
    return f"<td{look}>{bar}{count}</td>"


def _address(folder: Path, name: str) -> str:
    return quote(Path(os.path.relpath(folder / f"{name}.ipynb")).as_posix())
