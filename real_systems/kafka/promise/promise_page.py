"""The table in a page: its HTML, and what the page's Python answers, searching by WebAssembly.

`js/asked_table.js` shows it: each change of a setting is a question for each row, and a press on a
row asks for its story.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from html import escape
from typing import Any

from kafka_spec.settings import RELEASES, acknowledged_is_on_a_disk
from protocol_lab.catalog import known_as
from protocol_lab.errors import LabError
from protocol_lab.model.constants import show_text
from protocol_lab.model.step_text import steps_between
from protocol_lab.model.transitions import evaluate
from protocol_lab.page.searches import name_of, question
from protocol_lab.stepper.starting_point import begin
from protocol_lab.stepper.static_view import static_html
from protocol_lab.traces.walk import Walk
from real_systems.kafka.promise.cluster_settings import WITH_ELR, Settings, read
from real_systems.kafka.promise.promise_report import (
    LIMITS,
    assumed,
    in_short,
    line_of,
    recorded_runs,
)
from real_systems.kafka.promise.promise_table import (
    ROWS,
    Cell,
    Story,
    changes,
    model_of,
    searched,
    story_along,
)

Search = Callable[[str, str, str], Awaitable[str]]
"""search(module, question, ""): what a search by WebAssembly tells, as JSON."""

Paths = dict[str, list[bytes]]
"""The states on a shortest path to each broken invariant, by its name."""

CHOICES = {
    "release": RELEASES,
    "replicas": range(1, 6),
    "min_isr": range(1, 6),
    "acks": ("all", "1", "0"),
    "elr": (True, False),
    "unclean": (False, True),
    "racks": range(1, 6),
}
NAMES = {
    "release": "Kafka",
    "replicas": "replicas",
    "min_isr": "min.insync.replicas",
    "acks": "acks",
    "elr": "ELR",
    "unclean": "unclean elections",
    "racks": "power supplies",
}
FIRST = Settings(min_isr=2)


async def answer(asked: str, search: Search) -> str:
    """The answer to one question of the page, as JSON.

    asked, as JSON: `chosen`, the settings by name; `files`, each a name and its text, which outrank
    them; and the `row` that is asked about, with its `story` or only in a line. Without a row:
    which settings that makes.
    """
    wanted = json.loads(asked)
    try:
        return json.dumps(await _answer(wanted, search))
    except LabError as error:
        return json.dumps({"error": str(error)})


async def _answer(wanted: dict[str, Any], search: Search) -> dict[str, Any]:
    chosen = wanted["chosen"]
    if chosen.get("release") in RELEASES and chosen["release"] not in WITH_ELR:
        chosen |= {"elr": None}
    settings = read([tuple(each) for each in wanted["files"]], **chosen)
    if "row" not in wanted:
        values = {name: text_of(value) for name, value in settings.constants.items()}
        rest = ", ".join(assumed(settings))
        return {
            "chosen": values,
            "told": f"Assumed, since nothing says it: {rest}." if rest else "",
        }
    row = next(each for each in ROWS if each.name == wanted["row"])
    cell, found = await _searched(Cell(settings, row, 0, ()), search)
    if not wanted.get("story"):
        return _line(cell, found)
    kept = []
    for changed in changes(settings) if cell.lost else ():
        other, _ = await _searched(Cell(changed.settings, row, 0, ()), search)
        if other.is_kept:
            kept.append(changed.text)
    return _told(cell, found, kept)


async def _searched(cell: Cell, search: Search) -> tuple[Cell, Paths]:
    """The cell, searched, and the states on a shortest path to each thing that it breaks."""
    bound = model_of(cell.settings, cell.row)
    asked = question(bound, cell.row.judged, [Walk.begin(bound).row]) | {"to_the_end": True}
    told = json.loads(await search(_module(), json.dumps(asked), ""))
    if told["state"] != "COMPLETE":
        return replace(cell, bound=f"the search ended ({told['state'].lower()})"), {}
    broken = [name for name in cell.row.judged if name in told["paths"]]
    found = {name: [bytes.fromhex(each) for each in told["paths"][name]] for name in broken}
    return replace(cell, states=told["distinct"], broken=tuple(broken)), found


@cache
def _module() -> str:
    """The module that searches the model, which has one layout for all settings."""
    return name_of(model_of(FIRST, ROWS[0]))


def _line(cell: Cell, found: Paths) -> dict[str, Any]:
    """What a row of the table shows."""
    verdict = "undecided" if cell.bound else "lost" if cell.lost else "kept"
    if not cell.lost:
        return {"text": in_short(cell, 0, False), "verdict": verdict}
    shortest = min((found[name] for name in cell.lost), key=len)
    bound = model_of(cell.settings, cell.row)
    is_destroyed = bool(evaluate(bound, shortest[-1], acknowledged_is_on_a_disk))
    return {"text": in_short(cell, len(shortest) - 1, is_destroyed), "verdict": verdict}


def _told(cell: Cell, found: Paths, kept: list[str]) -> dict[str, Any]:
    """The story of a row, as HTML and as a scenario."""
    if not found:
        return {"html": f"<p>{escape(cell.row.text)}: nothing is lost, and writes go on.</p>"}
    name = min(cell.lost or found, key=lambda each: len(found[each]))
    bound = model_of(cell.settings, cell.row)
    shown = story_along(bound, name, [each.text for each in steps_between(bound, found[name])])
    steps = "".join(f"<li>{escape(each)}</li>" for each in shown.sentences)
    lines = [f"<h3>{escape(cell.row.text)}</h3><ol>{steps}</ol>"]
    lines.append(f"<p>Then {escape(shown.reason)}.</p>")
    if cell.lost:
        way = "Kept within the same faults with: " + "; ".join(kept)
        lines.append(f"<p>{escape(way if kept else 'No single change of a setting keeps it')}.</p>")
    for each in recorded_runs(cell):
        lines.append(f"<p>Seen on real brokers: <code>python3 {escape(each)}</code></p>")
    return {"html": "".join(lines), "scenario": _scenario(cell, shown)}


def _scenario(cell: Cell, shown: Story) -> str:
    bound = model_of(cell.settings, cell.row)
    header = f"# spec: {known_as(bound.spec)}  {show_text(bound.constants)}"
    return "\n".join([header, *shown.steps, ""])


def text_of(value: Any) -> str:
    """A setting's value, as the form has it."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def html(sessions: Any) -> str:
    """The section of a page: the settings, the table for those that are chosen at first, and the
    stepper in which the stories are played. sessions: what the site's pages load."""
    at_first = searched(FIRST, next(each for each in ROWS if each.stories))
    session = begin(model_of(at_first.settings, at_first.row))
    data = json.dumps(sessions.add(session)).replace("</", "<\\/")
    stepper = f'<script type="application/json">{data}</script>{static_html(session.walk, None)}'
    return "".join(
        [
            f'<div class="lab-asked-table" data-module="{__name__}"><form>',
            *(_select(name) for name in CHOICES),
            "</form><details><summary>Or paste them from a file</summary>",
            '<textarea rows="4" aria-label="Settings from a file" placeholder="Paste'
            " server.properties, a Strimzi resource, or what kafka-configs, kafka-topics or"
            ' kafka-features print with --describe"></textarea></details>',
            '<p role="status"></p><table><tbody>',
            *(_row(searched(FIRST, row)) for row in ROWS),
            f'</tbody></table><p class="small">{escape(LIMITS)} Press a row to see its story.</p>',
            '<div data-part="story"></div>',
            f'<div class="lab-page-stepper" hidden>{stepper}</div></div>',
        ]
    )


def _select(name: str) -> str:
    now = FIRST.constants[name]
    options = "".join(
        f"<option{' selected' * (value == now)}>{text_of(value)}</option>"
        for value in CHOICES[name]
    )
    return f'<label>{escape(NAMES[name])} <select name="{name}">{options}</select></label> '


def _row(cell: Cell) -> str:
    return (
        f'<tr data-row="{cell.row.name}"><th scope="row">{escape(cell.row.text)}</th>'
        f'<td><button data-verdict="{"lost" if cell.lost else "kept"}">{escape(line_of(cell))}'
        "</button></td></tr>"
    )
