"""The stepper as HTML without scripts, for saved notebooks and printed pages.

JupyterLab strips SVG and style sheets from the HTML of notebooks that it does not trust. So the
picture is an image with its data in the address, and every element has its own style.
"""

from collections.abc import Collection
from html import escape
from typing import Any

from protocol_lab.drawing import palette
from protocol_lab.drawing.pictures import READING_WIDTH, image_html, stills
from protocol_lab.drawing.svg import legend_of
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import constant_texts, words
from protocol_lab.stepper import panels
from protocol_lab.stepper.board import board
from protocol_lab.traces.walk import Walk

MOST_CHOICES, MOST_STEPS = 4, 20
"""At most this many choices of a refused action, and of a possible one, are listed, then "and n
more"."""

_PADDING = 14
"""Pixels beside the picture and the lists."""


def static_html(walk: Walk, watched: Collection[str] | None = None) -> str:
    """The board as HTML: title, caption, picture, what is broken, and what can and can't happen."""
    shown = board(walk, watched)
    return _element(
        "div",
        f"border: 1px solid {palette.LINE}; border-radius: 8px; font: 13px/1.45 sans-serif;"
        f" color: {palette.INK}; background: {palette.PAPER}; margin: 6px 0; overflow: hidden",
        _head(walk, shown) + _caption(shown) + _picture(walk, shown) + _can(shown) + _cannot(shown),
        cls="lab-static",
    )


def static_text(walk: Walk, watched: Collection[str] | None = None) -> str:
    """The board as text without the picture, for a terminal."""
    shown = board(walk, watched)
    lines = [shown["title"], f"  {shown['caption']['text']}"]
    lines += [f"  {_verdict(each)}" for each in shown["invariants"] if each["watched"]]
    lines += ["What can happen now:"]
    for each in shown["can"]:
        lines += [f"  {step}" for step in _listed(each["choices"], "step", MOST_STEPS)]
    lines += ["What can't, and why:"]
    for each in shown["cannot"]:
        for why in each["reasons"]:
            lines.append(f"  {each['action']}{_which(why)}: {_why(why)}")
    lines += [f"  {each['action']}: switched off, {each['switch']}" for each in shown["off"]]
    return "\n".join(lines)


def _head(walk: Walk, shown: dict[str, Any]) -> str:
    chip = (
        f"display: inline-block; border: 1px solid {palette.LINE}; border-radius: 10px;"
        f" padding: 1px 8px; margin: 0 4px 2px 0; color: {palette.MUTED};"
        f" background: {palette.PAPER}"
    )
    constants = constant_texts(walk.model, only_changed=True)
    chips = "".join(_element("span", chip, escape(text)) for text, _ in constants)
    title = _element("b", "font-size: 15px; margin-right: 12px", escape(shown["title"]))
    return _box(
        f"background: {palette.PANEL}; border-bottom: 1px solid {palette.LINE}; padding: 8px 14px",
        title + chips + _promises(shown["invariants"]),
    )


def _promises(invariants: list[dict[str, Any]]) -> str:
    """What is broken, in one line; it unfolds to all invariants, with the values."""
    watched = [each for each in invariants if each["watched"]]
    if not watched:
        return ""
    broken = [each["reason"] for each in watched if not each["holds"]]
    told = f"✗ Broken promise: {broken[0]}" if broken else "✓ Every promise kept"
    more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
    color = palette.BAD if broken else palette.GOOD
    summary = _element("span", f"color: {color}; font-weight: 600", escape(told + more))
    return _folded("", summary, "".join(_row(escape(_verdict(each))) for each in watched))


def _verdict(invariant: dict[str, Any]) -> str:
    if invariant["holds"]:
        return f"✓ {invariant['name']}"
    values = f" ({invariant['values']})" if invariant["values"] else ""
    return f"✗ {invariant['name']}: {invariant['reason']}{values}"


def _picture(walk: Walk, shown: dict[str, Any]) -> str:
    try:
        [picture] = stills(walk.model, [walk.moment], READING_WIDTH - 2 * _PADDING, alarms=False)
    except LabError:
        picture = panels.cluster(walk, panels.Options())["svg"]
    image = image_html(picture, f"{shown['title']}: {shown['caption']['text']}")
    legend = legend_of(picture)
    words = _box(f"color: {palette.MUTED}; font-size: 12px", escape(legend)) if legend else ""
    return _box(f"padding: 4px {_PADDING}px", image + words)


def _caption(shown: dict[str, Any]) -> str:
    caption = shown["caption"]
    slide = _element("b", f"color: {palette.ACCENT}", f"Slide {escape(caption['slide'])}")
    text = (f"{slide} " if caption["slide"] else "") + escape(caption["text"])
    if caption["step"]:
        text += _box(f"color: {palette.MUTED}; font-family: monospace", escape(caption["step"]))
    return _box("background: #eaf1fd; padding: 8px 14px", text)


def _can(shown: dict[str, Any]) -> str:
    choices = [choice for each in shown["can"] for choice in each["choices"]]
    if not choices:
        return _box(f"padding: 6px {_PADDING}px", "Nothing can happen now: no step is possible.")
    rows = "".join(
        _row(escape("; ".join(_listed(each["choices"], "sentence", MOST_STEPS))))
        for each in shown["can"]
    )
    return _list("What can happen now", len(choices), rows)


def _cannot(shown: dict[str, Any]) -> str:
    rows = [
        _row(
            f"{escape(words(each['action']).capitalize())}{escape(_which(why))}: "
            + _element("span", f"color: {palette.MUTED}", escape(_why(why)))
        )
        for each in shown["cannot"]
        for why in each["reasons"]
    ]
    rows += [
        _row(f"{escape(words(each['action']).capitalize())}: switched off, {each['switch']}")
        for each in shown["off"]
    ]
    return _list("What can’t, and why", len(rows), "".join(rows)) if rows else ""


def _list(name: str, count: int, rows: str) -> str:
    """A list under the picture, folded."""
    style = f"border-top: 1px solid {palette.LINE}; padding: 6px {_PADDING}px"
    look = f"color: {palette.MUTED}; font-weight: 600"
    return _folded(style, _element("span", look, f"{name} ({count})"), rows)


def _folded(style: str, summary: str, content: str) -> str:
    return _element("details", style, f"<summary>{summary}</summary>{content}")


def _why(why: dict[str, Any]) -> str:
    """The reason, with the values if they are the same for all choices."""
    text = f"no room in the model: {why['reason']}" if why["over_capacity"] else why["reason"]
    values = why["cases"][0]["values"] if len(why["cases"]) == 1 else ""
    return f"{text} ({values})" if values else text


def _which(why: dict[str, Any]) -> str:
    choices = [choice for case in why["cases"] for choice in case["choices"]]
    if not any(choice["label"] for choice in choices):
        return ""
    return f" ({'; '.join(_listed(choices, 'label', MOST_CHOICES))})"


def _listed(choices: list[dict[str, Any]], name: str, most: int) -> list[str]:
    """What each choice has under this name; of too many the first, and how many more there are."""
    more = len(choices) - most
    return [each[name] for each in choices[:most]] + ([f"and {more} more"] if more > 0 else [])


def _row(content: str) -> str:
    return _box(f"border-bottom: 1px solid {palette.GRID}; padding: 3px 0", content)


def _box(style: str, content: str) -> str:
    return _element("div", style, content)


def _element(name: str, style: str, content: str, cls: str = "") -> str:
    named = f' class="{cls}"' if cls else ""
    return f'<{name}{named} style="{style}">{content}</{name}>'
