"""The table in a page: its HTML, and what the page's Python answers, searching by WebAssembly.

`protocol_lab/page/js/asked_table.js` shows it. A change of a setting is a question for each cell,
by rows and by columns; a press on a cell asks for its story; the summary is what all rows come to.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from html import escape
from math import inf
from typing import Any

from protocol_lab.catalog import known_as
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show_text
from protocol_lab.model.spec import Model
from protocol_lab.model.step_text import steps_between
from protocol_lab.model.transitions import evaluate
from protocol_lab.page.searches import name_of, question
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import static_html
from protocol_lab.traces.walk import Walk
from real_systems.promise_table import Cell, Row, Settings, in_a_sentence, story_along
from real_systems.runner.story_views import StoryRun, command_of

Search = Callable[[str, str, str], Awaitable[str]]
"""search(module, question, ""): what a search by WebAssembly tells, as JSON."""

Paths = dict[str, list[bytes]]
"""The states on a shortest path to each broken invariant, by its name."""


_CHOOSER = (
    '<p class="lab-chooser">Or drop files here: {}. <label class="button">Choose files'
    '<input type="file" multiple hidden></label></p><details><summary>Or paste them</summary>'
    '<textarea rows="4" aria-label="Settings from a file"></textarea></details>'
)

_AT_ONCE = 4
"""So many searches may be made for one question about the summary; the rest is asked for again."""


class _Later(Exception):
    """The summary takes more searches than this question may make."""


def _layout(model: Model) -> tuple[str, str]:
    """What the models have in common that one module searches."""
    return model.spec.name, repr(model.layout)


def text_of(value: Any) -> str:
    """A setting's value, as the form has it."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


@dataclass
class Page:
    """The table of one system in a page.

    module: the module whose `answer` is this page's. first: the settings at first. read(files,
    **chosen): the settings that somebody gives. files: which it reads; legend: the sentences below
    the table; both as HTML.
    """

    module: str
    first: Settings
    read: Callable[..., Settings]
    files: str
    legend: str
    found: dict[tuple[Settings, str], tuple[Cell, Paths]] = field(default_factory=dict)
    modules: dict[tuple[str, str], str] = field(default_factory=dict)
    left: float = inf  # searches that may be made for this question

    # --- What the page's Python answers -----------------------------------------------------------

    async def answer(self, asked: str, search: Search) -> str:
        """The answer to one question of the page, as JSON.

        asked, as JSON: `chosen`, the settings by name; `files`, each a name and its text, which
        outrank them; and what is asked `for`: "settings" (which these are), "cell" or "story" of a
        `row` in a `column`, or "summary", which is "" as long as it has to be asked for again.
        """
        wanted = json.loads(asked)
        try:
            settings = self.read([tuple(each) for each in wanted["files"]], **wanted["chosen"])
            return json.dumps(await self._answer(settings, wanted, search))
        except LabError as error:
            return json.dumps({"error": str(error)})

    async def _answer(
        self, settings: Settings, wanted: dict[str, Any], search: Search
    ) -> dict[str, Any]:
        if wanted["for"] == "settings":
            for name, value in settings.values.items():
                if value not in settings.choices[name].values:
                    asked = settings.phrase(name, value)
                    raise LabError(f"{asked}: ask lab.py promise, the page's search is too small.")
            rest = ", ".join(settings.assumed)
            return {
                "chosen": {name: text_of(value) for name, value in settings.values.items()},
                "told": f"Assumed, since nothing says it: {rest}." if rest else "",
                "column": settings.column,
            }
        self.left = _AT_ONCE if wanted["for"] == "summary" else inf
        if wanted["for"] == "summary":
            try:
                return {"html": await self._summary(settings, search)}
            except _Later:
                return {"html": ""}
        settings = _in_column(settings, wanted["column"])
        row = settings.row_named(wanted["row"])
        found = await self._searched(Cell(settings, row), search)
        if wanted["for"] == "cell":
            return _cell(*found)
        kept = [text for text, rows in await self._kept(settings, [row], search) if rows]
        return _story(*found, kept)

    async def _kept(
        self, settings: Settings, rows: list[Row], search: Search
    ) -> list[tuple[str, list[Row]]]:
        """Each single change of a setting, with those of these rows that it keeps."""
        kept = []
        for text, changed in settings.changes():
            cells = [await self._searched(Cell(changed, row), search) for row in rows]
            kept.append((text, [cell.row for cell, _ in cells if cell.is_kept]))
        return kept

    async def _searched(self, cell: Cell, search: Search) -> tuple[Cell, Paths]:
        """The cell, searched, and the states on a shortest path to each thing that it breaks."""
        key = cell.settings, cell.row.name
        if key in self.found:
            return self.found[key]
        if not self.left:
            raise _Later
        self.left -= 1
        bound = cell.settings.model(cell.row)
        asked = question(bound, cell.row.judged, [Walk.begin(bound).row]) | {"to_the_end": True}
        layout = _layout(bound)
        if layout not in self.modules:
            self.modules[layout] = name_of(bound)
        module = self.modules[layout]
        told = json.loads(await search(module, json.dumps(asked), ""))
        if told["state"] != "COMPLETE":
            return replace(cell, bound=f"the search ended ({told['state'].lower()})"), {}
        broken = [name for name in cell.row.judged if name in told["paths"]]
        paths = {name: [bytes.fromhex(each) for each in told["paths"][name]] for name in broken}
        self.found[key] = replace(cell, states=told["distinct"], broken=tuple(broken)), paths
        return self.found[key]

    async def _summary(self, settings: Settings, search: Search) -> str:
        """Your shortest loss, what would save you, and what to do on Monday."""
        own = _in_column(settings, settings.column)
        rows = [row for row in own.rows if row.lost == "lost"]
        found = [await self._searched(Cell(own, row), search) for row in rows]
        lost = [each for each in found if each[0].lost]
        if not lost:
            states = sum(cell.states for cell, _ in found)
            return (
                "<div><h3>Your settings: nothing is lost within these faults</h3><p>"
                f"{len(found)} rows, {states:,} states. With more faults than a row has, something"
                " is lost with any settings.</p></div>"
            )
        least, paths = min(lost, key=lambda each: _least(*each))
        kept = await self._kept(own, [cell.row for cell, _ in lost], search)
        kept = sorted((each for each in kept if each[1]), key=lambda each: -len(each[1]))
        first = (
            f'<div><h3 class="bad">Your settings: {len(lost)} of {len(found)} rows lose a record'
            f"</h3><p>The shortest: {escape(in_a_sentence(least.row.text))}.</p>"
            f"<p><button data-row='{least.row.name}'>▶ Play its {_least(least, paths)} steps"
            "</button></p></div>"
        )
        items = "".join(
            f"<li>{escape(text)}: keeps {len(saved)} of {len(lost)}</li>" for text, saved in kept
        )
        second = f"<ul>{items}</ul>" if items else "<p>No single change of a setting.</p>"
        tasks = [own.todo(text) for text, _ in kept] + own.advice([cell.row for cell, _ in lost])
        tasks = [*dict.fromkeys(filter(None, tasks))] or [
            "Weigh these losses against their price; nothing here ends them."
        ]
        todo = "".join(f"<li>{each}</li>" for each in tasks)
        return (
            f"{first}<div><h3>What saves you</h3>{second}</div>"
            f"<div><h3>On Monday</h3><ul>{todo}</ul></div>"
        )

    # --- The page ---------------------------------------------------------------------------------

    def html(self, sessions: Any) -> str:
        """The section of a page: the settings, the table for those that are chosen at first, and
        the stepper in which the stories are played. sessions: what the site's pages load."""
        first = self.first
        choices = [(name, each) for name, it in first.choices.items() for each in it.values]
        asked = [first, *(first.changed(*each)[1] for each in choices)]
        models = [settings.model(row) for settings in asked for row in first.rows]
        for model in {_layout(each): each for each in models}.values():
            sessions.searches.add(model, spec=known_as(model.spec))
        session = begin(first.model(next(each for each in first.rows if each.stories)))
        data, still = escape(json.dumps(sessions.add(session))), static_html(session.walk, None)
        cells = self._first_cells()
        heads = "".join(
            f'<th scope="col" data-column="{name}"{" data-own" * (name == first.column)}>'
            f"{escape(text)}</th>"
            for name, (text, _) in first.columns.items()
        )
        meanwhile = "Meanwhile, in your column" if first.price else ""
        name = self.module.rpartition(".")[2]
        return "".join(
            [
                f'<div class="lab-asked-table" id="{name}" data-module="{self.module}"><form>',
                *(_select(first, name) for name in first.choices),
                f"</form>{_CHOOSER.format(self.files)}",
                f'<p role="status"></p><table><thead><tr><td></td>{heads}',
                f'<th scope="col">{meanwhile}</th></tr></thead><tbody>',
                *(_row(row, cells[row.name], first.column) for row in first.rows),
                '</tbody></table><div data-part="summary"></div>',
                '<h3 data-part="title"></h3>',
                f'<div class="lab-page-stepper" data-session="{data}" hidden>{still}</div>',
                f'<div data-part="story"></div><p class="small">{self.legend}</p></div>',
            ]
        )

    def _first_cells(self) -> dict[str, dict[str, dict[str, str]]]:
        """The cells of the first settings by row and column, from the golden ones: a test holds
        each against the searches of three engines."""
        columns = {_in_column(self.first, name): name for name in self.first.columns}
        shown: dict[str, dict[str, dict[str, str]]] = {}
        for settings, row, (states, _, _, steps, is_destroyed) in self.first.golden_cells():
            if settings in columns:
                cell = Cell(settings, row, states, tuple(steps))
                least = min((steps[each] for each in cell.lost), default=0)
                cells = shown.setdefault(row.name, {})
                cells[columns[settings]] = cell_of(cell, least, is_destroyed)
        return shown


def _in_column(settings: Settings, name: str) -> Settings:
    """The settings as they are in a column."""
    return replace(settings, **settings.columns[name][1])


def _least(cell: Cell, paths: Paths) -> int:
    """The steps of the shortest loss; 0 if there is none."""
    return min((len(paths[name]) - 1 for name in cell.lost), default=0)


def _cell(cell: Cell, paths: Paths) -> dict[str, str]:
    """What a cell of the table shows."""
    shortest = min((paths[name] for name in cell.lost), key=len, default=None)
    bound, settings = cell.settings.model(cell.row), cell.settings
    is_destroyed = shortest and evaluate(bound, shortest[-1], settings.is_destroyed)
    return cell_of(cell, _least(cell, paths), bool(is_destroyed))


def cell_of(cell: Cell, steps: int, is_destroyed: bool) -> dict[str, str]:
    """What a cell of the table shows. steps, is_destroyed: of the shortest loss."""
    seen = [f"run {run.recording.release}" for run in cell.recordings[:1]]
    if cell.bound:
        text, more, verdict = "undecided", [cell.bound], "undecided"
    elif not cell.lost:
        text, more, verdict = "kept", [f"{cell.states:,} states"], "kept"
    else:
        way = ["destroyed" if is_destroyed else "passed over"] if cell.loses else []
        text, more, verdict = f"{cell.row.lost} · {steps}", way, "lost"
    price = cell.price or "takes writes" if cell.row.price else ""
    return {"text": text, "more": "\n".join([*more, *seen]), "verdict": verdict, "price": price}


def _story(cell: Cell, paths: Paths, kept: list[str]) -> dict[str, Any]:
    """The story of a cell, as HTML and as a scenario."""
    lines, scenario = [], ""
    if paths:
        name = min(cell.lost or paths, key=lambda each: len(paths[each]))
        bound = cell.settings.model(cell.row)
        shown = story_along(cell, name, [each.text for each in steps_between(bound, paths[name])])
        items = "".join(f"<li>{escape(each)}</li>" for each in shown.sentences)
        lines.append(f"<ol>{items}</ol><p>Then {escape(shown.reason)}.</p>")
        header = f"# spec: {known_as(bound.spec)}  {show_text(bound.constants)}"
        scenario = "\n".join([header, *shown.steps, ""])
    if cell.lost:
        way = "Kept within the same faults with: " + "; ".join(kept)
        lines.append(f"<p>{escape(way if kept else 'No single change of a setting keeps it')}.</p>")
    else:
        lines.append(f"<p>Kept in all {cell.states:,} states within these faults.</p>")
    runs = cell.recordings
    told = "".join(_run(each, first=each is runs[0]) for each in runs)
    seen = f"<div>{told}</div>" if told else ""
    return {
        "title": f"{cell.row.text}: {cell.settings.columns[cell.settings.column][0]}",
        "html": f'<div class="lab-beside"><div>{"".join(lines)}</div>{seen}</div>',
        "scenario": scenario,
    }


def _run(run: StoryRun, first: bool) -> str:
    """A recorded run of a real cluster with its lines, and the lesson about it."""
    ran = run.recording
    lesson = run.story.lesson
    lines = "\n".join(map(str, ran.acts))
    return (
        f"<details{' open' * first}><summary>A real cluster, {escape(ran.release)}, recorded on"
        f" {ran.day}: {escape(str(ran.outcome))}</summary><pre tabindex='0'>{escape(lines)}</pre>"
        f"<p>Run it: <code>python3 lab.py real {escape(command_of(ran))}</code>. The lesson:"
        f' <a href="notebooks/{lesson}.html">{escape(lesson)}</a>.</p></details>'
    )


def _select(first: Settings, name: str) -> str:
    now, choice = first.values[name], first.choices[name]
    options = "".join(
        f"<option{' selected' * (each == now)}>{text_of(each)}</option>" for each in choice.values
    )
    return f'<label>{escape(choice.called)} <select name="{name}">{options}</select></label> '


def _row(row: Row, cells: dict[str, dict[str, str]], own: str) -> str:
    shown = "".join(
        f'<td data-column="{name}"{" data-own" * (name == own)}><button'
        f' data-verdict="{cell["verdict"]}"><b>{escape(cell["text"])}</b>'
        f"<small>{escape(cell['more'])}</small></button></td>"
        for name, cell in cells.items()
    )
    return (
        f'<tr data-row="{row.name}"><th scope="row">{escape(row.text)}</th>{shown}'
        f'<td data-part="price">{escape(cells[own]["price"])}</td></tr>'
    )
