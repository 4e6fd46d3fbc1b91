"""Every notebook runs from top to bottom, and says what the kept outputs say."""

import ast
import os
import re
import subprocess
import tempfile
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from protocol_lab.lessons.gates import Gate
from protocol_lab.lessons.lesson_files import lesson_named
from protocol_lab.teaching.questions import KEPT
from tests.graphviz_drawing import contents, installed_dots, keeping_dot
from tests.notebook_outputs import (
    FOLDER,
    LARGEST,
    ROOT,
    WIDGET,
    asks,
    code_cells,
    differences,
    execute,
    name_of,
    normal_form,
    notebooks,
    read,
    shows_drawing,
    shows_state_graph,
    shows_widget,
    storable,
)
from tests.spec_checks import packages
from tests.temporal_verdicts import notebook_environment, told_by_notebook


def _marks(path: Path) -> list[pytest.MarkDecorator]:
    uses_spark = any("local_session()" in cell.source for cell in code_cells(read(path)))
    return [pytest.mark.slow, *([pytest.mark.spark] if uses_spark else [])]


every = pytest.mark.parametrize("path", notebooks(), ids=name_of)
every_run = pytest.mark.parametrize(
    "path", [pytest.param(path, id=name_of(path), marks=_marks(path)) for path in notebooks()]
)


class Runs:
    """The notebooks' runs, each made once, and the graphs that each has had Graphviz draw."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._made: dict[Path, nbformat.NotebookNode] = {}

    def run(self, path: Path) -> nbformat.NotebookNode:
        if path not in self._made:
            programs, graphs = self._folders(path)
            programs.mkdir(parents=True)
            graphs.mkdir()
            keeping_dot(programs, graphs)
            searched = f"{programs}{os.pathsep}{os.environ['PATH']}"
            listening = notebook_environment(self._listening(path))
            self._made[path] = execute(path, PATH=searched, **listening)
        return self._made[path]

    def about_nothing(self, path: Path) -> list[str]:
        self.run(path)
        return told_by_notebook(self._listening(path))

    def graphs(self, path: Path) -> list[Path]:
        self.run(path)
        return sorted(self._folders(path)[1].iterdir())

    def _listening(self, path: Path) -> Path:
        return self._folder / name_of(path) / "listening"

    def _folders(self, path: Path) -> tuple[Path, Path]:
        own = self._folder / name_of(path)
        return own / "programs", own / "graphs"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Runs:
    return Runs(tmp_path_factory.mktemp("runs"))


@every_run
def test_it_runs_and_says_what_the_file_says(path, runs):
    reports = differences(name_of(path), read(path), storable(runs.run(path)))
    assert not reports, "\n\n".join(
        [*reports, f"If this is right: python -m tests.update_notebooks {name_of(path)}"]
    )


@every_run
def test_no_temporal_verdict_in_it_is_about_nothing(path, runs):
    assert runs.about_nothing(path) == []


@pytest.mark.rarely
@pytest.mark.skipif("machine's dot" not in installed_dots(), reason="the packaged dot drew above")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=_marks(path))
        for path in notebooks()
        if shows_state_graph(read(path))
    ],
)
def test_the_packaged_dot_draws_the_same(path, runs):
    graphs = runs.graphs(path)
    assert graphs
    for graph in graphs:
        one, other = (
            contents(subprocess.check_output([dot, "-Tsvg", graph], encoding="utf-8"))
            for dot in installed_dots().values()
        )
        assert one == other


@every_run
def test_beside_every_widget_there_is_what_needs_no_kernel(path, runs):
    lonely = [
        cell.source
        for cell in code_cells(runs.run(path))
        if shows_widget(cell) and not (shows_drawing(cell) or asks(cell))
    ]
    assert not lonely, "nothing to see where no kernel runs"


@every
def test_outputs_are_kept(path):
    notebook = read(path)
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "not the run of a fresh kernel"
    assert any(cell.outputs for cell in code_cells(notebook))


@every
def test_what_it_imports_of_the_kit_is_there(path):
    """Each commit runs few notebooks; this notices in all of them that a module has moved."""
    for cell in code_cells(read(path)):
        for each in ast.walk(ast.parse(TransformerManager().transform_cell(cell.source))):
            if isinstance(each, ast.ImportFrom) and each.module != "exercises":
                exec(ast.unparse(each), {})


@every
def test_an_exercise_begins_with_a_first_attempt_that_its_own_cell_checks(path):
    checks = [cell for cell in code_cells(read(path)) if ".check(" in cell.source]
    for cell in checks:
        # A name that the cell does not bind would be an answer from another cell; one's own
        # protocol, `spec`, is edited where it stands.
        last = ast.parse(cell.source).body[-1].value.args[0]
        named = {each.id for each in ast.walk(last) if isinstance(each, ast.Name)} - {"spec"}
        assert all(re.search(rf"(def|import|,) {name}\b|\b{name} =", cell.source) for name in named)
        said = "".join(each.data.get("text/plain", "") for each in cell.outputs)
        assert "Not yet" in said, cell.source
        assert "There is no answer yet" not in said, cell.source


@every
def test_no_output_is_an_error_or_a_warning(path):
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", output.text


@every
def test_no_widget_is_kept_that_nobody_answers(path):
    notebook = read(path)
    assert "widgets" not in notebook.metadata
    assert not [cell.source for cell in code_cells(notebook) if WIDGET in str(cell.outputs)]


@every
def test_nothing_of_this_machine_is_in_it(path):
    folders = {str(ROOT), str(Path.home()), tempfile.gettempdir(), "/home/", "/Users/"}
    names = "|".join(re.escape(folder.rstrip("/") + "/") for folder in folders if folder != "/")
    for cell in read(path).cells:
        said = [cell.source, *(normal_form(cell) if cell.cell_type == "code" else [])]
        found = [line for line in said if re.search(rf"(?<![\w.])({names})", line)]
        assert not found, found[0]


@every
def test_its_form(path):
    notebook = read(path)
    assert path.stat().st_size < LARGEST
    assert notebook.metadata.kernelspec.name == "python3"
    assert (notebook.nbformat, notebook.nbformat_minor) >= (4, 5)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]+", each) for each in ids), "ids are words, for links"
    assert notebook.cells[0].source.startswith("# ")
    assert not [cell.id for cell in notebook.cells if not cell.source.strip()]


@every
def test_what_follows_a_question_is_in_its_cell(path):
    """Between a question and the next heading there is no Markdown and no open output."""
    asked = ""
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            asked = ""
        elif cell.cell_type == "code" and asks(cell):
            asked = cell.id
        else:
            is_open = cell.cell_type == "markdown" or bool(cell.outputs)
            assert not (asked and is_open), f"{asked} is followed by {cell.id}"


@every
def test_a_question_offers_answers_and_each_wrong_one_is_told_why(path):
    for cell in filter(asks, code_cells(read(path))):
        (asked,) = (each.data[KEPT] for each in cell.outputs if KEPT in each.get("data", {}))
        for number, (choice, why) in enumerate(zip(asked["choices"], asked["whys"], strict=True)):
            assert bool(why) == (number != asked["right"]), f"{cell.id}: {choice}"


@every
def test_the_code_that_asks_is_folded_as_the_card_asks_it_and_the_code_answers_it(path):
    for cell in filter(asks, code_cells(read(path))):
        folded = cell.metadata.get("jupyter", {}).get("source_hidden")
        assert folded, f"{cell.id}: python -m tests.update_notebooks"


@every
def test_its_last_cell_shows_what_was_done_in_it(path):
    last = re.search(r'^progress\(("[\w/]+")?\)$', code_cells(read(path))[-1].source, re.MULTILINE)
    assert last, "no progress() at its end"
    assert name_of(path).startswith((last[1] or "").strip('"'))


# --- How long a notebook takes, by one rule from its words, steps and questions: an estimate ------

# No class was timed.

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


KAFKA = [each for each in notebooks() if name_of(each).startswith(("00_", "kafka/"))]
PATH = [each for each in KAFKA if re.match(r"kafka/0\d_", name_of(each))]


KRAFT = [each for each in notebooks() if re.match(r"kraft/0\d_", name_of(each))]


@pytest.mark.parametrize("path", [*KAFKA, *KRAFT], ids=name_of)
def test_the_minutes_at_its_top_are_those_of_the_rule(path):
    assert minutes_said(read(path)) == minutes_of(read(path))


def test_the_path_is_short_and_what_kafka_has_is_limited():
    assert len(PATH) == 4
    assert all(len(read(path).cells) <= 20 and minutes_of(read(path)) <= 25 for path in PATH)
    assert 75 <= sum(minutes_of(read(path)) for path in PATH) <= 90
    assert sum(minutes_of(read(path)) for path in KRAFT) <= 75
    cells = [cell for path in KAFKA for cell in read(path).cells]
    assert len(cells) <= 260
    assert sum(len(words_read(cell)) for cell in cells) <= 10_000


# --- Its exercises, and the way to all notebooks -------------------------------------------------


@pytest.mark.parametrize("package", packages())
def test_every_exercise_of_a_protocol_keeps_a_place(package):
    """Its challenges: `test_challenges`."""
    code = "".join(cell.source for path in notebooks() for cell in code_cells(read(path)))
    folder = ROOT / f"{package}_spec" / "exercises"
    written = "".join(each.read_text(encoding="utf-8") for each in folder.glob("*.py"))
    tasks = re.findall(r"^@exercise[\s\S]*?^def (\w+)\(", written, re.MULTILINE)
    assert tasks
    assert [task for task in tasks if f".{task}.check(" not in code] == []


def test_the_start_notebook_leads_to_every_folder():
    said = "".join(cell.source for cell in read(FOLDER / "00_start_here.ipynb").cells)
    firsts = {sorted(path.parent.glob("*.ipynb"))[0] for path in notebooks()}
    for first in firsts - {FOLDER / "00_start_here.ipynb"}:
        assert f"({first.relative_to(FOLDER).as_posix()})" in said
