"""Executing notebooks, and what of their outputs must be the same in every run.

What is kept in a file is less than what a run shows: a widget needs its kernel, and a progress
line is gone when the cell is done. What is compared is less than what is kept: times, rates, for
how many states there was time to compare them, addresses, ids, the pixels of plots and the places
that Graphviz chooses differ from run to run or from machine to machine.
"""

import ast
import json
import os
import re
from difflib import unified_diff
from pathlib import Path
from urllib.parse import unquote

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from protocol_lab.teaching.questions import ANSWERED, KEPT
from tests import ROOT
from tests.compact_pictures import EMBEDDED, compact, with_compact_pictures
from tests.graphviz_drawing import contents, is_graphviz_drawing

FOLDER = ROOT / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"
LARGEST = 800_000
"""How many bytes a notebook may have: that of the talk shows two runs of real brokers."""

_MOST_LINES = 24
_CHANGING = [
    (re.compile(r"; [\d,]+ states? compared with plain Python"), ""),
    (re.compile(r"\b[\d,]+(\.\d+)? (distinct states|states|steps)/s"), "<rate>"),
    (re.compile(r"(?<![\w.])[\d,]+(\.\d+)? ?(µs|ms|s|min|seconds?)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b"), "<id>"),
]


def notebooks() -> list[Path]:
    """All notebooks of the kit, in the order of their names."""
    found = FOLDER.rglob("*.ipynb")
    return sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)


def name_of(path: Path) -> str:
    """The notebook as people call it: kafka/03_the_talk."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def read(path: Path) -> NotebookNode:
    """The notebook as it is kept."""
    return nbformat.read(path, as_version=4)


def execute(path: Path, timeout: float = 600, **environment: str) -> NotebookNode:
    """The notebook run from top to bottom by a fresh kernel in its folder, whatever it raises.

    Each question is answered where it is asked, and again when all cells have run, as by a learner
    who presses then: an answer that has changed meanwhile is the last cell's error.

    environment: variables that the kernel has in addition.
    """
    notebook = read(path)
    notebook.cells.append(nbformat.v4.new_code_cell(_ANSWER_AGAIN))
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        allow_errors=True,
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
    )
    known = os.environ.get("PYTHONPATH", "")
    searched = os.pathsep.join([str(ROOT), *filter(None, known.split(os.pathsep))])
    apart = {"PYTHONPATH": searched, "PROTOCOL_LAB_PROGRESS": os.devnull, ANSWERED: "1"}
    ran = client.execute(env={**os.environ, **apart, **environment})
    again = ran.cells.pop()
    ran.cells[-1].outputs += [each for each in again.outputs if each.output_type == "error"]
    return ran


_ANSWER_AGAIN = """from protocol_lab.teaching.questions import expect_same_answers
expect_same_answers()"""


def storable(fresh: NotebookNode) -> NotebookNode:
    """A run notebook without what means nothing in a file, and with compact pictures.

    The code that asks a question is folded: the card asks it, and the code would answer it.
    """
    notebook = nbformat.from_dict(fresh)
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        }
    )
    for cell in code_cells(notebook):
        cell.metadata.pop("execution", None)
        if asks(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
        cell.outputs = [each for each in cell.outputs if not _is_passing(each)]
        for each in cell.outputs:
            for kind in {"text/html", "text/markdown"} & set(each.get("data", {})):
                each.data[kind] = with_compact_pictures(each.data[kind])
    return notebook


def question_of(cell: NotebookNode) -> ast.Call | None:
    """The call that asks a question and shows its card, if the cell ends with one."""
    try:
        lines = ast.parse(cell.source).body
    except SyntaxError:
        return None
    match lines:
        case [*_, ast.Expr(ast.Call(ast.Name("ask")) as call)]:
            return call
    return None


def asks(cell: NotebookNode) -> bool:
    """Does the cell show the card of a question?"""
    return question_of(cell) is not None


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shows_widget(cell: NotebookNode) -> bool:
    """Does the cell's run show something that lives only as long as the kernel?"""
    return any(WIDGET in each.get("data", {}) for each in cell.outputs)


def shows_state_graph(notebook: NotebookNode) -> bool:
    """Has one of its pictures been drawn by Graphviz?"""
    pictures = (
        unquote(found[1])
        for cell in code_cells(notebook)
        for output in cell.outputs
        for kind in ("text/html", "text/markdown")
        for found in EMBEDDED.finditer(output.get("data", {}).get(kind, ""))
    )
    return any(map(is_graphviz_drawing, pictures))


def shows_drawing(cell: NotebookNode) -> bool:
    """Has the cell a picture, a table, or a terminal's first screen, that needs no kernel?"""
    for each in cell.outputs:
        data = each.get("data", {})
        if "image/svg+xml" in data or "image/png" in data:
            return True
        seen = ("<img", "<svg", "<table", 'class="lab-incident-holder"')
        if any(tag in data.get("text/html", "") for tag in seen):
            return True
    return False


def normal_form(cell: NotebookNode) -> list[str]:
    """What the cell's outputs say, line by line, without what differs from run to run."""
    lines = []
    for each in cell.outputs:
        if each.output_type == "stream":
            lines += _lines(each.name, each.text)
        elif each.output_type == "error":
            lines += _lines("error", f"{each.ename}: {each.evalue}")
        else:
            for kind in sorted(each.data):
                data = each.data[kind]
                text = json.dumps(data, sort_keys=True) if kind == KEPT else data
                lines += _lines(kind, _comparable(kind, text))
    return lines


def differences(name: str, kept: NotebookNode, fresh: NotebookNode) -> list[str]:
    """One report for each cell that does not say what the file says: where, and a short diff."""
    reports = []
    for number, (old, new) in enumerate(zip(kept.cells, fresh.cells, strict=True), 1):
        if old.cell_type != "code" or (before := normal_form(old)) == (after := normal_form(new)):
            continue
        diff = list(unified_diff(before, after, "kept", "executed", n=1, lineterm=""))
        shown = [line[:200] for line in diff[:_MOST_LINES]]
        if len(diff) > _MOST_LINES:
            shown.append(f"... and {len(diff) - _MOST_LINES} more lines")
        first = old.source.splitlines()[0] if old.source else ""
        reports.append("\n".join([f"{name}, cell {number} [{old.id}]: {first}", *shown]))
    return reports


def _is_passing(output: NotebookNode) -> bool:
    """A widget, or a progress line: gone when the kernel is, or when the cell is done."""
    data = output.get("data", {})
    return WIDGET in data or data == {"text/plain": ""}


def _comparable(kind: str, value: object) -> str:
    if kind.startswith("image/") and kind != "image/svg+xml":
        return "<pixels>"
    text = value if isinstance(value, str) else "".join(map(str, value))
    if kind == "image/svg+xml":
        return _picture(text)
    return EMBEDDED.sub(lambda found: f"\n{_picture(compact(unquote(found[1])))}\n", text)


def _picture(svg: str) -> str:
    return "\n".join(contents(svg)) if is_graphviz_drawing(svg) else svg


def _lines(kind: str, text: str) -> list[str]:
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    return [f"{kind} | {line.rstrip()}" for line in text.replace("><", ">\n<").splitlines()]
