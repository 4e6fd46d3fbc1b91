"""The stepper as HTML without scripts, for saved notebooks and printed pages.

JupyterLab strips SVG and style sheets from the HTML of notebooks that it does not trust. So the
picture is an image with its data in the address, and every element has its own style.

In a saved notebook a lesson has a picture for each question, with the steps before it in words, the
board if the lesson has one, and a fold with the answer; on paper a picture a beat, with answers and
the speaker's notes.
"""

import re
from collections.abc import Collection
from html import escape
from typing import Any

from protocol_lab.drawing import palette
from protocol_lab.drawing.pictures import READING_WIDTH, image_html, stills
from protocol_lab.drawing.svg import legend_of
from protocol_lab.errors import LabError
from protocol_lab.explain.tally import said, tally
from protocol_lab.explain.wording import constant_texts, spec_title
from protocol_lab.lessons.played_lesson import Beat, PlayedLesson
from protocol_lab.stepper import panels
from protocol_lab.stepper.board import caption_parts, watched_invariants
from protocol_lab.traces.walk import Walk

_PADDING = 14
"""Pixels beside the picture."""


def static_html(walk: Walk, watched: Collection[str] | None = None) -> str:
    """Title, changed constants, what is broken, the step's sentence, and the picture, as HTML."""
    return _element(
        "div",
        f"border: 1px solid {palette.LINE}; border-radius: 8px; font: 14px/1.45 sans-serif;"
        f" color: {palette.INK}; background: {palette.PAPER}; margin: 6px 0; overflow: hidden",
        _head(walk, watched_invariants(walk, watched)) + _caption(walk) + _picture(walk),
        cls="lab-static",
    )


def static_text(walk: Walk, watched: Collection[str] | None = None) -> str:
    """The same as text without the picture, for a terminal."""
    lines = [_title(walk), caption_parts(walk)["text"]]
    return "\n  ".join([*lines, *map(_verdict, watched_invariants(walk, watched))])


def _title(walk: Walk) -> str:
    return spec_title(walk.model.spec.name)


def _head(walk: Walk, invariants: list[dict[str, Any]]) -> str:
    chip = (
        f"display: inline-block; border: 1px solid {palette.LINE}; border-radius: 10px;"
        f" padding: 1px 8px; margin: 0 4px 2px 0; color: {palette.MUTED};"
        f" background: {palette.PAPER}"
    )
    constants = constant_texts(walk.model, only_changed=True)
    chips = "".join(_element("span", chip, escape(text)) for text, _ in constants)
    title = _element("b", "font-size: 16px; margin-right: 12px", escape(_title(walk)))
    return _box(
        f"background: {palette.PANEL}; border-bottom: 1px solid {palette.LINE}; padding: 8px 14px",
        title + chips + _promises(invariants),
    )


def _promises(invariants: list[dict[str, Any]]) -> str:
    """What is broken, in one line; it unfolds to all invariants, with the values."""
    if not invariants:
        return ""
    broken = [each["reason"] for each in invariants if not each["holds"]]
    line = f"✗ Broken promise: {broken[0]}" if broken else "✓ Every promise kept"
    more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
    color = palette.BAD if broken else palette.GOOD
    summary = _element("span", f"color: {color}; font-weight: 600", escape(line + more))
    style = f"border-bottom: 1px solid {palette.GRID}; padding: 3px 0"
    rows = "".join(_box(style, escape(_verdict(each))) for each in invariants)
    return f"<details><summary>{summary}</summary>{rows}</details>"


def _verdict(invariant: dict[str, Any]) -> str:
    if invariant["holds"]:
        return f"✓ {invariant['name']}"
    values = f" ({invariant['values']})" if invariant["values"] else ""
    return f"✗ {invariant['name']}: {invariant['reason']}{values}"


def _picture(walk: Walk) -> str:
    try:
        [picture] = stills(walk.model, [walk.moment], READING_WIDTH - 2 * _PADDING, alone=True)
    except LabError:
        picture = panels.cluster(walk, panels.Options())["svg"]
    image = image_html(picture, f"{_title(walk)}: {caption_parts(walk)['text']}")
    legend = legend_of(picture)
    words = _box(f"color: {palette.MUTED}; font-size: 13px", escape(legend)) if legend else ""
    return _box(f"padding: 4px {_PADDING}px", image + words)


def _caption(walk: Walk) -> str:
    caption = caption_parts(walk)
    slide = _element("b", f"color: {palette.ACCENT}", f"Slide {escape(caption['slide'])}")
    text = (f"{slide} " if caption["slide"] else "") + escape(caption["text"])
    return _box("background: #eaf1fd; padding: 8px 14px; font-size: 16px", text)


def _box(style: str, content: str) -> str:
    return _element("div", style, content)


def _element(name: str, style: str, content: str, cls: str = "") -> str:
    named = f' class="{cls}"' if cls else ""
    return f'<{name}{named} style="{style}">{content}</{name}>'


_PAPER_WIDTH = 960

PAPER = f"""\
@page {{ size: A4 landscape; margin: 12mm }}
.lab-paper {{ margin: 0; font: 16px/1.4 system-ui, sans-serif; color: {palette.INK} }}
.lab-paper section {{ break-after: page; break-inside: avoid }}
.lab-paper img {{ display: block; max-width: 100%; max-height: 125mm; margin: 8px 0 }}
.lab-paper :is(small, .note) {{ color: {palette.MUTED}; font-size: 14px }}
.lab-paper .right {{ font-weight: 650 }}"""
"""The style sheet of the printed lesson."""

_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>{style}</style><body class="lab-paper">{body}</body></html>"""


def static_lesson(lesson: PlayedLesson) -> str:
    """The lesson as HTML for a notebook's output."""
    values = lesson.values
    parts, steps = [], []
    for k, beat in enumerate(values["beats"]):
        if k and beat["part"] != values["beats"][k - 1]["part"]:
            parts.append(f"<h4>{escape(values['parts'][beat['part']])}</h4>")
        if not beat["ask"] and not _ends(values, k):
            steps += [f"<li>{_inline(beat['text'])}</li>"] if beat["text"] else []
            continue
        picture = _image(lesson.beats[k], lesson, READING_WIDTH - 40)
        picture += _board(lesson, lesson.beats[k]) if lesson.lesson.board else ""
        before, steps = f"<ul>{''.join(steps)}</ul>" if steps else "", []
        parts.append(f'<div style="margin: 12px 0">{before}{_told(beat, picture)}</div>')
    lines = f"<p>{_inline(' '.join(values['description']))}</p>"
    style = (
        f"border: 1px solid {palette.LINE}; border-radius: 8px; padding: 8px 14px;"
        f" font: 15px/1.45 sans-serif; color: {palette.INK}; background: {palette.PAPER}"
    )
    title = f'<b style="font-size: 17px">{escape(values["title"])}</b>'
    return f'<div class="lab-static" style="{style}">{title}{lines}{"".join(parts)}</div>'


def printed_lesson(lesson: PlayedLesson) -> str:
    """The lesson as a page with a picture a beat, to print or to keep as PDF. Raises LabError."""
    title = escape(lesson.lesson.title)
    return _PAGE.format(title=title, style=PAPER, body=printed_beats(lesson))


def printed_beats(lesson: PlayedLesson) -> str:
    """A section a beat, for a page with the style sheet `PAPER`. Raises LabError."""
    lesson.settle_all()
    values = lesson.values
    return "".join(
        f"<section><small>{escape(values['title'])} · {k} of {len(values['beats'])}</small>"
        f"{_about(values) if k == 1 else _told(each)}"
        f"{_image(lesson.beats[k - 1], lesson, _PAPER_WIDTH)}"
        f'<p class="note">{_inline(each["notes"])}</p></section>'
        for k, each in enumerate(values["beats"], 1)
    )


def lesson_text(lesson: PlayedLesson) -> str:
    """The lesson's title and questions, for a terminal."""
    asks = [each["ask"] for each in lesson.values["beats"] if each["ask"]]
    return "\n".join([lesson.lesson.title, *(f"  ? {each['question']}" for each in asks)])


def _ends(values: dict[str, Any], k: int) -> bool:
    """Is it the last beat of its part?"""
    beats = values["beats"]
    return k + 1 == len(beats) or beats[k + 1]["part"] != beats[k]["part"]


def _image(beat: Beat, lesson: PlayedLesson, width: int) -> str:
    [picture] = stills(lesson.walks[beat.part].model, [beat.moment], width, alone=True)
    return image_html(picture, lesson.lesson.title)


def _board(lesson: PlayedLesson, beat: Beat) -> str:
    """Who has said what at a beat: a row for each claim of its part, a column for each node."""
    board = tally(lesson.walks[beat.part].model, beat.moment.row)
    asked = beat.asked.gate.asks if beat.asked and beat.asked.gate.kind == "cell" else None
    head = ["claim", *board.columns, "how far"]
    rows = [
        [
            each.claim.title,
            *map(said, each.cells),
            f"{len(each.nodes)} of {each.goal}{' ✓' * each.is_full}" if each.goal else "",
        ]
        for each in board.rows
        if each.claim.name in lesson.claims_told(beat.part) and each.claim.name != asked
    ]
    if not rows:
        return ""
    lines = "".join(
        f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in [head, *rows]
    )
    return f'<table rules="rows" cellpadding="4" style="font-size: 14px">{lines}</table>'


def _about(values: dict[str, Any]) -> str:
    told = values["beats"][0]["text"] or " ".join(values["description"])
    return f"<h1>{escape(values['title'])}</h1><p>{_inline(told)}</p>"


def _told(beat: dict[str, Any], picture: str = "") -> str:
    """A beat's sentence, or its question with the answer. With a picture the answer is folded, and
    so is the picture where it would tell the answer."""
    ask, is_folded = beat["ask"], bool(picture)
    slide = f"<b>Slide {escape(beat['slide'])}</b> " if beat["slide"] else ""
    if not ask:
        return f"{picture}<p>{slide}{_inline(beat['text'])}</p>"
    question = f"<p>{slide}<b>{_inline(ask['question'])}</b></p>"
    right, counters = ask["right"], [each["counter"] for each in ask["options"]]
    if right is None and counters.count("") == 1:  # not computed, and no other is called right
        right = counters.index("")
    choices = "".join(
        f"<li{' class=right' if k == right and not is_folded else ''}>{_inline(each['label'])}</li>"
        for k, each in enumerate(ask["options"])
    )
    label = "It is computed when you answer" if right is None else ask["options"][right]["label"]
    what = "Broken" if ask["kind"] == "last" else "Refused"
    told = " ".join(filter(None, [ask["reason"] and f"{what}: {ask['reason']}.", ask["why"]]))
    answer = f"<p><b>{_inline(label)}</b>. {_inline(told)}</p>"
    if not is_folded:
        return f"{question}<ul>{choices}</ul>{answer}"
    tells = ask["kind"] == "where" and not ask["when"]
    inside = f"{answer}{picture if tells else ''}"
    fold = f"<details><summary>The answer</summary>{inside}</details>"
    return f"{'' if tells else picture}{question}<ul>{choices}</ul>{fold}"


_MARKED = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*")


def _inline(text: str) -> str:
    """`code`, **strong** and *emphasis* as HTML; `inline` in question_card.js sets the same."""

    def element(found: re.Match) -> str:
        name = ("code", "strong", "em")[found.lastindex - 1]
        return f"<{name}>{found[found.lastindex]}</{name}>"

    return _MARKED.sub(element, escape(text))
