"""The table in a page: its HTML, and what the page's Python answers, searching by WebAssembly.

`js/asked_table.js` shows it. A change of a setting is a question for each cell, by rows and by the
rules of releases; a press on a cell asks for its story; the summary is what all rows come to.
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
from real_systems.kafka.promise.cluster_settings import RULES, WITH_ELR, Settings, read, rules_of
from real_systems.kafka.promise.promise_report import LIMITS, assumed, in_a_sentence, recordings_of
from real_systems.kafka.promise.promise_table import (
    ROWS,
    Cell,
    Row,
    changes,
    golden_cells,
    model_of,
    story_along,
)
from real_systems.runner.story_views import StoryRun, command_of

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


def _column(release: str, elr: bool) -> str:
    """The name of the column with these rules."""
    return f"{release}{' elr' * elr}"


COLUMNS = {_column(*rules): rules for rules in RULES}

_Found = tuple[Cell, Paths]
_found: dict[tuple[Settings, str], _Found] = {}
"""What the page has searched."""


async def answer(asked: str, search: Search) -> str:
    """The answer to one question of the page, as JSON.

    asked, as JSON: `chosen`, the settings by name; `files`, each a name and its text, which outrank
    them; and what is asked `for`: "settings" (which these are), "cell" or "story" of a `row` in a
    `column`, or "summary".
    """
    wanted = json.loads(asked)
    try:
        chosen = wanted["chosen"]
        if chosen.get("release") in RELEASES and chosen["release"] not in WITH_ELR:
            chosen |= {"elr": None}
        settings = read([tuple(each) for each in wanted["files"]], **chosen)
        return json.dumps(await _answer(settings, wanted, search))
    except LabError as error:
        return json.dumps({"error": str(error)})


async def _answer(settings: Settings, wanted: dict[str, Any], search: Search) -> dict[str, Any]:
    if wanted["for"] == "settings":
        values = {name: text_of(value) for name, value in settings.constants.items()}
        rest = ", ".join(assumed(settings))
        told = f"Assumed, since nothing says it: {rest}." if rest else ""
        column = _column(*rules_of(settings.release, settings.elr))
        return {"chosen": values, "told": told, "column": column}
    if wanted["for"] == "summary":
        return {"html": await _summary(settings, search)}
    release, elr = COLUMNS[wanted["column"]]
    settings = replace(settings, release=release, elr=elr)
    row = next(each for each in ROWS if each.name == wanted["row"])
    found = await _searched(Cell(settings, row, 0, ()), search)
    if wanted["for"] == "cell":
        return _cell(*found)
    kept = [text for text, each in await _kept(settings, [row], search) if each]
    return _story(*found, kept)


async def _kept(settings: Settings, rows: list[Row], search: Search) -> list[tuple[str, list[Row]]]:
    """Each single change of a setting, with those of these rows that it keeps."""
    found = []
    for changed in changes(settings):
        cells = [await _searched(Cell(changed.settings, row, 0, ()), search) for row in rows]
        found.append((changed.text, [cell.row for cell, _ in cells if cell.is_kept]))
    return found


async def _searched(cell: Cell, search: Search) -> _Found:
    """The cell, searched, and the states on a shortest path to each thing that it breaks."""
    key = cell.settings, cell.row.name
    if key in _found:
        return _found[key]
    bound = model_of(cell.settings, cell.row)
    asked = question(bound, cell.row.judged, [Walk.begin(bound).row]) | {"to_the_end": True}
    told = json.loads(await search(_module(), json.dumps(asked), ""))
    if told["state"] != "COMPLETE":
        return replace(cell, bound=f"the search ended ({told['state'].lower()})"), {}
    broken = [name for name in cell.row.judged if name in told["paths"]]
    paths = {name: [bytes.fromhex(each) for each in told["paths"][name]] for name in broken}
    _found[key] = replace(cell, states=told["distinct"], broken=tuple(broken)), paths
    return _found[key]


@cache
def _module() -> str:
    """The module that searches the model, which has one layout for all settings."""
    return name_of(model_of(FIRST, ROWS[0]))


# --- A cell, its story, and what all of them come to ----------------------------------------------


def _cell(cell: Cell, paths: Paths) -> dict[str, str]:
    """What a cell of the table shows."""
    shortest = min((paths[name] for name in cell.lost), key=len, default=None)
    bound = model_of(cell.settings, cell.row)
    return cell_of(
        cell,
        len(shortest or [0]) - 1,
        bool(shortest and evaluate(bound, shortest[-1], acknowledged_is_on_a_disk)),
    )


def cell_of(cell: Cell, steps: int, is_destroyed: bool) -> dict[str, str]:
    """What a cell of the table shows. steps, is_destroyed: of the shortest loss."""
    runs = recordings_of(cell)
    seen = [f"run {runs[0].recording.release}"] if runs else []
    if cell.bound:
        text, more, verdict = "undecided", [cell.bound], "undecided"
    elif not cell.lost:
        text, more, verdict = "kept", [f"{cell.states:,} states"], "kept"
    elif "told_failed_is_not_written" in cell.lost:
        text, more, verdict = f"written · {steps}", [], "lost"
    else:
        way = "destroyed" if is_destroyed else "passed over"
        text, more, verdict = f"lost · {steps}", [way], "lost"
    return {
        "text": text,
        "more": "\n".join([*more, *seen]),
        "verdict": verdict,
        "price": cell.price or "takes writes",
    }


def _story(cell: Cell, paths: Paths, kept: list[str]) -> dict[str, Any]:
    """The story of a cell, as HTML and as a scenario."""
    title = f"{cell.row.text}: {RULES[cell.rules]}"
    lines = []
    runs, scenario = recordings_of(cell), ""
    if paths:
        name = min(cell.lost or paths, key=lambda each: len(paths[each]))
        bound = model_of(cell.settings, cell.row)
        steps = [each.text for each in steps_between(bound, paths[name])]
        shown = story_along(bound, name, steps)
        items = "".join(f"<li>{escape(each)}</li>" for each in shown.sentences)
        lines.append(f"<ol>{items}</ol><p>Then {escape(shown.reason)}.</p>")
        header = f"# spec: {known_as(bound.spec)}  {show_text(bound.constants)}"
        scenario = "\n".join([header, *shown.steps, ""])
    if cell.lost:
        way = "Kept within the same faults with: " + "; ".join(kept)
        lines.append(f"<p>{escape(way if kept else 'No single change of a setting keeps it')}.</p>")
    else:
        lines.append(f"<p>Kept in all {cell.states:,} states within these faults.</p>")
    told = "".join(_run(each, first=each is runs[0]) for each in runs)
    seen = f"<div>{told}</div>" if told else ""
    html = f'<div class="lab-beside"><div>{"".join(lines)}</div>{seen}</div>'
    return {"title": title, "html": html, "scenario": scenario}


def _run(run: StoryRun, first: bool) -> str:
    """A recorded run of real brokers with its lines, and the lesson about it."""
    ran = run.recording
    lesson = run.story.lesson
    lines = "\n".join(map(str, ran.acts))
    return (
        f"<details{' open' * first}><summary>Real brokers, {escape(ran.release)}, recorded on"
        f" {ran.day}: {escape(str(ran.outcome))}</summary><pre tabindex='0'>{escape(lines)}</pre>"
        f"<p>Run it: <code>python3 lab.py real {escape(command_of(ran))}</code>. The lesson:"
        f' <a href="notebooks/{lesson}.html">{escape(lesson)}</a>.</p></details>'
    )


async def _summary(settings: Settings, search: Search) -> str:
    """Your shortest loss, what would save you, and what to do on Monday."""
    release, elr = rules_of(settings.release, settings.elr)
    own = replace(settings, release=release, elr=elr)
    found = [await _searched(Cell(own, row, 0, ()), search) for row in LOSSES]
    lost = [(cell, paths) for cell, paths in found if cell.lost]
    if not lost:
        states = sum(cell.states for cell, _ in found)
        return (
            f"<div><h3>Your settings: nothing is lost within these faults</h3><p>{len(found)} rows,"
            f" {states:,} states. With more faults than a row has, something is lost with any"
            " settings.</p></div>"
        )
    least, paths = min(lost, key=lambda each: min(len(each[1][name]) for name in each[0].lost))
    steps = min(len(paths[name]) for name in least.lost) - 1
    kept = await _kept(own, [cell.row for cell, _ in lost], search)
    kept = sorted((each for each in kept if each[1]), key=lambda each: -len(each[1]))
    rows = f"{len(lost)} of {len(found)} rows lose a record"
    first = (
        f'<div><h3 class="bad">Your settings: {rows}</h3><p>The shortest:'
        f" {escape(in_a_sentence(least.row.text))}.</p>"
        f"<p><button data-row='{least.row.name}'>▶ Play its {steps} steps</button></p></div>"
    )
    items = "".join(
        f"<li>{escape(text)}: keeps {len(rows)} of {len(lost)}</li>" for text, rows in kept
    )
    second = f"<ul>{items}</ul>" if items else "<p>No single change of a setting.</p>"
    todo = "".join(f"<li>{each}</li>" for each in _monday([text for text, _ in kept], own, lost))
    return (
        f"{first}<div><h3>What saves you</h3>{second}</div>"
        f"<div><h3>On Monday</h3><ul>{todo}</ul></div>"
    )


LOSSES = tuple(each for each in ROWS if each.name != "told_failed")


def _monday(kept: list[str], own: Settings, lost: list[tuple[Cell, Paths]]) -> list[str]:
    """What to do, each for a change that keeps a row, or for a row that is lost; as HTML."""
    found = []
    for text in kept:
        if text.startswith("ELR"):
            found.append(
                "Before an upgrade that switches ELR on, set min.insync.replicas for each topic: "
                "in 4.1.0, 4.3.1 and 4.4.0 the brokers’ own value fell to 1"
                " (<code>lab.py real upgrade</code>)."
            )
        elif text.startswith("min.insync.replicas"):
            found.append(f"Set {escape(text)} on the topic, if it may take no writes more often.")
        elif text.startswith("acks"):
            found.append("Set acks=all in the producers.")
        elif text.startswith("unclean"):
            found.append("Switch unclean.leader.election.enable off.")
        elif "replicas" in text:
            found.append(f"Reassign the topic to {escape(text)}.")
        elif "power" in text:
            found.append("Spread the replicas: broker.rack for each power supply.")
    if any("power_cuts" in cell.row.faults and not own.elr for cell, _ in lost):
        found.append(
            "In the runbook: after a power cut the broker without a clean shutdown file does not"
            ' start first (<a href="docs/runbook_offline_partition.html">an offline partition</a>).'
        )
    return list(dict.fromkeys(found)) or [
        "Weigh these losses against their price; nothing here ends them."
    ]


# --- The page -------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """A setting's value, as the form has it."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


_LEGEND = (
    "Lost · 6: the shortest story has six steps. Passed over: a good copy was there, and another"
    " broker led. Destroyed: no good copy was left. Written: consumers read the record, whose"
    " producer was told that it failed. Run: recorded on real brokers of this release."
)


def html(sessions: Any) -> str:
    """The section of a page: the settings, the table for those that are chosen at first, and the
    stepper in which the stories are played. sessions: what the site's pages load."""
    session = begin(model_of(FIRST, next(each for each in ROWS if each.stories)))
    data = json.dumps(sessions.add(session)).replace("</", "<\\/")
    stepper = f'<script type="application/json">{data}</script>{static_html(session.walk, None)}'
    cells = _first_cells()
    own = _column(FIRST.release, FIRST.elr)
    heads = "".join(
        f'<th scope="col" data-column="{name}"{" data-own" * (name == own)}>'
        f"{escape(RULES[rules])}</th>"
        for name, rules in COLUMNS.items()
    )
    return "".join(
        [
            f'<div class="lab-asked-table" data-module="{__name__}"><form>',
            *(_select(name) for name in CHOICES),
            '</form><p class="lab-chooser">Or drop files here: <code>server.properties</code>, a'
            " Strimzi resource, or what <code>kafka-configs</code>, <code>kafka-topics</code> or"
            " <code>kafka-features</code> print with <code>--describe</code>.",
            ' <label class="button">Choose files<input type="file" multiple hidden></label></p>',
            "<details><summary>Or paste them</summary>",
            '<textarea rows="4" aria-label="Settings from a file"></textarea></details>',
            f'<p role="status"></p><table><thead><tr><td></td>{heads}',
            '<th scope="col">Meanwhile, in your column</th></tr></thead><tbody>',
            *(_row(row, cells[row.name], own) for row in ROWS),
            '</tbody></table><div data-part="summary"></div>',
            f'<h3 data-part="title"></h3><div class="lab-page-stepper" hidden>{stepper}</div>',
            '<div data-part="story"></div>',
            f'<p class="small">{_LEGEND} {escape(LIMITS)} Other losses need two quick elections,'
            " or two leaders at once: "
            '<a href="notebooks/kafka/03_the_talk.html#10-The-found-scenario">the talk</a>'
            " has them.</p></div>",
        ]
    )


def _first_cells() -> dict[str, dict[str, dict[str, str]]]:
    """The cells of the first settings by row and column, from the golden ones: a test holds each
    against the searches of three engines."""
    shown: dict[str, dict[str, dict[str, str]]] = {}
    for settings, row, (states, _, _, steps, is_destroyed) in golden_cells():
        name = _column(settings.release, settings.elr)
        if replace(settings, release=FIRST.release, elr=FIRST.elr) == FIRST and name in COLUMNS:
            cell = Cell(settings, row, states, tuple(steps))
            least = min((steps[each] for each in cell.lost), default=0)
            shown.setdefault(row.name, {})[name] = cell_of(cell, least, is_destroyed)
    return shown


def _select(name: str) -> str:
    now = FIRST.constants[name]
    options = "".join(
        f"<option{' selected' * (each == now)}>{text_of(each)}</option>" for each in CHOICES[name]
    )
    return f'<label>{escape(NAMES[name])} <select name="{name}">{options}</select></label> '


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
