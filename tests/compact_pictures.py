"""Pictures in notebooks' outputs, in fewer bytes: what looks the same stands there once.

A picture is an image of its own, whose `alt` says what it shows: titles and descriptions inside it
are seen by nobody. Attributes that many elements share become classes.
"""

import re
from collections import Counter
from urllib.parse import quote, unquote

from tests.graphviz_drawing import is_graphviz_drawing

EMBEDDED = re.compile(r"src='data:image/svg\+xml,([^']+)'")

_UNSEEN = re.compile(r"<(title|desc)>.*?</\1>", re.DOTALL)
_TAG = re.compile(r"<(\w+)((?: [\w:-]+=\"[^\"]*\")+)")
_ATTRIBUTE = re.compile(r" ([\w:-]+)=\"([^\"]*)\"")
_LOOKS = {
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "opacity", "fill-opacity", "font-size", "font-weight", "font-style", "font-family",
    "text-anchor",
}  # fmt: skip
_PLACES = {
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "d", "points",
}  # fmt: skip
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")


def compact(svg: str) -> str:
    """The same picture, in fewer bytes; a compact one stays as it is, and one of Graphviz, whose
    titles say what is what."""
    if is_graphviz_drawing(svg):
        return svg
    svg = _UNSEEN.sub("", svg)
    looks = Counter(_look(attributes) for _, attributes in _TAG.findall(svg))
    shared = [each for each, count in looks.most_common() if count > 1 and len(each) > 1]
    names = {each: f"c{k}" for k, each in enumerate(shared)}
    svg = _TAG.sub(lambda tag: _tag(tag, names), svg)
    if not names:
        return svg
    rules = (
        f".{name}{{{';'.join(f'{a}:{_unit(a, v)}' for a, v in look)}}}"
        for look, name in names.items()
    )
    head = svg.index(">") + 1
    return f"{svg[:head]}<style>{''.join(rules)}</style>{svg[head:]}"


def with_compact_pictures(html: str) -> str:
    """The HTML with each embedded picture made compact."""
    return EMBEDDED.sub(
        lambda found: f"src='data:image/svg+xml,{_quoted(compact(unquote(found[1])))}'", html
    )


def _quoted(svg: str) -> str:
    """As an address in an attribute: letters of other alphabets may stay."""
    text = quote(svg, safe=' !"$()*+,-./:;<=>?@[]^_`{|}~')
    return re.sub(r"(?:%[89A-F][0-9A-F])+", lambda found: unquote(found[0]), text)


def _look(attributes: str) -> tuple[tuple[str, str], ...]:
    """The attributes of an element that a class can have instead, sorted; none if it has a class or
    a style already."""
    found = dict(_ATTRIBUTE.findall(attributes))
    if "class" in found or "style" in found:
        return ()
    return tuple(sorted((name, value) for name, value in found.items() if name in _LOOKS))


def _tag(tag: re.Match, names: dict[tuple[tuple[str, str], ...], str]) -> str:
    look = _look(tag[2])
    kept = "".join(
        f' {name}="{_rounded(value) if name in _PLACES else value}"'
        for name, value in _ATTRIBUTE.findall(tag[2])
        if look not in names or name not in _LOOKS
    )
    return f"<{tag[1]}" + (f' class="{names[look]}"' if look in names else "") + kept


def _rounded(value: str) -> str:
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), value)


def _unit(name: str, value: str) -> str:
    return f"{value}px" if name == "font-size" and value.replace(".", "").isdecimal() else value
