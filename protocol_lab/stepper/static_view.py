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
from protocol_lab.explain.wording import constant_texts, spec_title
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
