"""A small SVG writer: shapes and text at given places, and the width of texts."""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from xml.sax import saxutils

from protocol_lab.drawing import palette
from protocol_lab.errors import visible

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

# Widths in em, rounded up from DejaVu Sans: the widest font that FONT may end in. In any other
# the text is narrower, so that nothing overlaps or is cut off anywhere.
_WIDTHS = {
    character: width
    for width, characters in [
        (0.30, "'ijlIJ"),
        (0.37, " ,.·’/:;\\|f-"),
        (0.42, "()[]t!r"),
        (0.56, '"*_–sz?cL“”'),
        (0.80, "KAVBRXZCUHNDGOQ&w"),
        (1.00, "#+<=>^~MmW@%"),
    ]
    for character in characters
}
_OTHER_ASCII, _OTHER, _BOLD = 0.65, 1.0, 0.08


def text_width(text: str, size: float = 12, bold: bool = False) -> float:
    """An upper estimate of a text's width in pixels."""
    return size * (_ems(text) + (_BOLD * len(text) if bold else 0))


@lru_cache(maxsize=10_000)  # most words come again and again, in a picture and in the next
def _ems(text: str) -> float:
    return sum(
        _WIDTHS.get(character, _OTHER_ASCII if character.isascii() else _OTHER)
        for character in text
    )


@lru_cache(maxsize=10_000)
def escape(text: str) -> str:
    """The text escaped for use between tags; characters that XML does not admit become pictures of
    them."""
    return saxutils.escape(visible(text))


def wrap(text: str, width: float, size: float = 12, bold: bool = False) -> list[str]:
    """The text in lines of at most this width, broken at spaces; a long word stays whole."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size, bold) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Svg:
    """Collects elements; `document` wraps them up. Attributes are written as in SVG, with `_`.

    size: that of texts that are not set off.
    """

    def __init__(self, size: float = 12) -> None:
        self._size = size
        self._parts: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, **style) -> None:
        """A rectangle."""
        self._add("rect", x=x, y=y, width=width, height=height, **style)

    def line(self, x1: float, y1: float, x2: float, y2: float, **style) -> None:
        """A straight line."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **style)

    def circle(self, cx: float, cy: float, r: float, **style) -> None:
        """A circle."""
        self._add("circle", cx=cx, cy=cy, r=r, **style)

    def path(self, d: str, **style) -> None:
        """A path in SVG's path language."""
        self._add("path", d=d, **style)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float | None = None,
        bold: bool = False,
        fill: str = palette.INK,
        **style,
    ) -> None:
        """Text with its baseline at y."""
        style = {"font_size": size or self._size, "fill": fill} | (
            {"font_weight": 650, **style} if bold else style
        )
        self._parts.append(f"<text{_attributes(x=x, y=y, **style)}>{escape(text)}</text>")

    def hatch(self, x: float, y: float, width: float, height: float) -> None:
        """Diagonal lines over a rectangle, cut at its edges (a pattern would need an id)."""
        parts = []
        gap = 7  # between the lines
        reach = gap
        while reach < width + height:
            x1, y1 = x + max(0, reach - height), y + min(reach, height)
            x2, y2 = x + min(reach, width), y + max(0, reach - width)
            parts.append(f"M{_number(x1)} {_number(y1)}L{_number(x2)} {_number(y2)}")
            reach += gap
        self.path("".join(parts), stroke=palette.HATCH, stroke_width=1.1, fill="none")

    def open_group(self, title: str, **attributes) -> None:
        """Start a group with a title, which browsers show as a tooltip."""
        self._parts.append(f"<g{_attributes(**attributes)}><title>{escape(title)}</title>")

    def open_part(self, name: str, **about: str) -> None:
        """Start a group that can be found by its name in another picture of the same walk."""
        data = {f"data-{key}": value for key, value in about.items()}
        self._parts.append(f"<g{_attributes(**{'class': 'lab-part', 'data-part': name}, **data)}>")

    def close_group(self) -> None:
        """End the group that was started last."""
        self._parts.append("</g>")

    def raw(self, markup: str) -> None:
        """Finished SVG, such as another picture."""
        self._parts.append(markup)

    def document(
        self,
        width: float,
        height: float,
        title: str,
        description: str,
        inset: float = 0,
        legend: str | None = None,
    ) -> str:
        """The whole picture, on its own white paper, with a title and a text alternative.

        `inset` is cut off at every side; the `legend` is stored as data for a page.
        """
        size = {"width": round(width - 2 * inset), "height": round(height - inset)}
        corner = {"x": inset, "y": inset} if inset else {}
        paper = {**corner, **size, "rx": 8, "fill": palette.PAPER}
        return "".join(
            [
                '<svg xmlns="http://www.w3.org/2000/svg"',
                _attributes(
                    **size,
                    viewBox=f"{inset} {inset} {size['width']} {size['height']}",
                    role="img",
                    font_family=FONT,
                    style="max-width: 100%; height: auto",
                    **{"data-legend": legend or None},
                ),
                f"><title>{escape(title)}</title><desc>{escape(description)}</desc>",
                f"<rect{_attributes(**paper)}/>",
                *self._parts,
                "</svg>",
            ]
        )

    def _add(self, element: str, **attributes) -> None:
        self._parts.append(f"<{element}{_attributes(**attributes)}/>")


def legend_of(picture: str) -> str:
    """The legend that a picture stores for a page; "" if it has none."""
    found = re.search(r"""^<svg [^>]*data-legend=("|')(.*?)\1""", picture)
    return unescape(found[2]) if found else ""


def _attributes(**attributes) -> str:
    return "".join(
        [_attribute(name, value) for name, value in attributes.items() if value is not None]
    )


@lru_cache(maxsize=10_000)
def _attribute(name: str, value: float | str) -> str:
    return f" {name.replace('_', '-')}={saxutils.quoteattr(visible(_number(value)))}"


def _number(value: float | str) -> str:
    return f"{round(value, 1):g}" if isinstance(value, int | float) else value


def total_width(widths: Iterable[float], gap: float) -> float:
    """The width of things side by side."""
    widths = list(widths)
    return sum(widths) + gap * max(0, len(widths) - 1)
