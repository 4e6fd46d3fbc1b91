"""Pictures in notebooks' outputs, in fewer bytes: what looks the same stands there once.

A picture is an image of its own, whose `alt` says what it shows: titles and descriptions inside it
are seen by nobody. Attributes that many elements share become classes. What is drawn several times,
as most of a cluster is in the frames of a strip, is drawn once and used from there.
"""

import re
from collections import Counter, defaultdict
from urllib.parse import quote, unquote
from xml.etree import ElementTree

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
_PIECE = re.compile(r"<(/?)(\w+)((?: [\w:-]+=\"[^\"]*\")*) ?(/?)>|[^<]+")
_UNSTYLED = ("", ' class="lab-changed"')
"""Attributes of groups that mean nothing in a picture of its own."""
_RUNS = (64, 48, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2)
"""How many neighbours are looked for elsewhere, the longest runs first."""
_DRAWN = {"rect", "text", "path", "line", "circle", "ellipse", "polygon", "polyline"}
_WORTH_AN_ID = 34
"""How many characters of attributes make an element longer than `<use href="#u00"/>` and its id."""


def compact(svg: str) -> str:
    """The same picture, in fewer bytes; a compact one stays as it is, and one of Graphviz, whose
    titles say what is what."""
    if is_graphviz_drawing(svg) or "<use " in svg:
        return svg
    svg = _UNSEEN.sub("", svg)
    looks = Counter(_look(attributes) for _, attributes in _TAG.findall(svg))
    shared = [each for each, count in looks.most_common() if count > 1 and len(each) > 1]
    names = {each: f"c{k}" for k, each in enumerate(shared)}
    svg = _TAG.sub(lambda tag: _tag(tag, names), svg)
    if not names:
        return _Repeated(svg).text()
    rules = (
        f".{name}{{{';'.join(f'{a}:{_unit(a, v)}' for a, v in look)}}}"
        for look, name in names.items()
    )
    head = svg.index(">") + 1
    return _Repeated(f"{svg[:head]}<style>{''.join(rules)}</style>{svg[head:]}").text()


def whole(svg: str) -> str:
    """A compact picture with what it uses in each of the places."""
    root = ElementTree.fromstring(svg)
    known = {each.get("id"): each for each in root.iter() if each.get("id")}

    def copied(element: ElementTree.Element) -> ElementTree.Element:
        if element.tag.endswith("}use"):
            element = known[element.get("href").removeprefix("#")]
        made = ElementTree.Element(element.tag.partition("}")[2], element.attrib)
        made.text, made[:] = element.text, [copied(each) for each in element]
        return made

    return ElementTree.tostring(copied(root), encoding="unicode")


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


class _Repeated:
    """A picture as elements without doubles: equal ones, and equal runs of neighbours, are one.

    elements: the name, the attributes and the children of each, or a text. A run of neighbours that
    stands in several places is an element of its own, a `g` without attributes.
    """

    def __init__(self, svg: str):
        self.elements: list[tuple[str, str, list[int]] | str] = []
        self._known: dict[object, int] = {}
        open_: list[tuple[str, str, list[int]]] = [("", "", [])]
        for piece in _PIECE.finditer(svg):
            ends, name, attributes, empty = piece.groups()
            if name is None:
                open_[-1][2].append(self._one(piece[0], piece[0]))
            elif not ends:
                open_.append((name, attributes, []))
            if ends or empty:
                element = open_.pop()
                if element[0] == "g" and element[1] in _UNSTYLED:
                    open_[-1][2].extend(element[2])
                else:
                    key = (element[0], element[1], tuple(element[2]))
                    open_[-1][2].append(self._one(key, element))
        ((_, _, self.roots),) = open_
        for length in _RUNS:
            self._join(length)

    def _one(self, key: object, element: tuple[str, str, list[int]] | str) -> int:
        if key not in self._known:
            self._known[key] = len(self.elements)
            self.elements.append(element)
        return self._known[key]

    def _join(self, length: int) -> None:
        """Make one element of each run of so many neighbours that stands in several places."""
        places = defaultdict(list)
        tags = (each for each in self.elements if isinstance(each, tuple))
        groups = [children for name, _, children in tags if name in ("svg", "g")]
        for k, children in enumerate(groups):
            for at in range(len(children) - length + 1):
                places[tuple(children[at : at + length])].append((k, at))
        taken: set[tuple[int, int]] = set()
        joined = []
        for run, found in sorted(places.items(), key=lambda each: -len(each[1])):
            apart: list[tuple[int, int]] = []
            mine: set[tuple[int, int]] = set()
            for k, at in found:
                spots = {(k, at + j) for j in range(length)}
                if not spots & (taken | mine):
                    apart.append((k, at))
                    mine |= spots
            if len(apart) > 1:
                taken |= mine
                whole = self._one(("g", "", run), ("g", "", list(run)))
                joined += [(k, at, whole) for k, at in apart]
        for k, at, whole in sorted(joined, reverse=True):
            groups[k][at : at + length] = [whole]

    def text(self) -> str:
        """The picture, in which what stands in several places has an id in the first."""
        uses: Counter[int] = Counter()

        def count(each: int) -> None:
            uses[each] += 1
            if uses[each] == 1 and isinstance(self.elements[each], tuple):
                for child in self.elements[each][2]:
                    count(child)

        for each in self.roots:
            count(each)
        ids: dict[int, str] = {}

        def shown(each: int) -> str:
            element = self.elements[each]
            if isinstance(element, str):
                return element
            if each in ids:
                return f'<use href="#{ids[each]}"/>'
            name, attributes, children = element
            long = name in _DRAWN and len(attributes) > _WORTH_AN_ID
            if uses[each] > 1 and (name == "g" or long):
                ids[each] = f"u{len(ids)}"
                attributes = f' id="{ids[each]}"{attributes}'
            inside = "".join(map(shown, children))
            return f"<{name}{attributes}>{inside}</{name}>" if inside else f"<{name}{attributes}/>"

        return "".join(map(shown, self.roots))
