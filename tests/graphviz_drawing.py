"""What a picture of a state graph shows, and the Graphviz programs that may draw it.

Where Graphviz puts things depends on its version and on the fonts of the machine. What is there
does not: the states with their texts, shapes and columns, the steps between them, the legend.
"""

import re
import shlex
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
STYLE = (
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-opacity",
    "stroke-width",
    "font-size",
    "font-weight",
)
"""The attributes that a reader sees the meaning of, unlike places and sizes."""
BETWEEN_COLUMNS = 20  # two states of one column are less than that apart, sideways


def installed_dots() -> dict[str, Path]:
    """The Graphviz programs here by name: the packaged one, and the machine's if it has one."""
    packaged = shutil.which("graphviz-pure", path=sysconfig.get_path("scripts"))
    found = {"packaged dot": packaged, "machine's dot": shutil.which("dot")}
    return {name: Path(path) for name, path in found.items() if path}


def keeping_dot(programs: Path, graphs: Path) -> None:
    """Put a `dot` into the folder of programs that draws as the machine's does, and keeps every
    graph that it draws; none where there is no Graphviz."""
    if installed := shutil.which("dot"):
        keep, draw = shlex.quote(f"{graphs}/XXXXXX"), shlex.quote(installed)
        (programs / "dot").write_text(
            f'#!/bin/sh\ngraph=$(mktemp {keep})\ncat > "$graph"\nexec {draw} "$@" < "$graph"\n',
            encoding="utf-8",
        )
        (programs / "dot").chmod(0o755)


def is_graphviz_drawing(text: str) -> bool:
    """Whether Graphviz drew this SVG, or a part of it."""
    return bool(re.search(r'<g [^>]*class="graph"', text))


def contents(svg: str) -> list[str]:
    """What the picture shows, line by line: what stands around the graph, its states, its steps."""
    picture = ElementTree.fromstring(svg)
    [drawing] = (
        each
        for each in picture.iter(f"{SVG}svg")
        if each.find(f"{SVG}g[@class='graph']") is not None
    )
    around = list(_around(picture, drawing))
    states, steps = (drawing.findall(f".//{SVG}g[@class='{kind}']") for kind in ("node", "edge"))
    columns = _columns(states)
    lines = [f"{_shown(each)}, column {columns[_name(each)]}" for each in states]
    return [*around, *sorted(lines), *sorted(map(_shown, steps))]


def _around(picture: ElementTree.Element, drawing: ElementTree.Element) -> Iterator[str]:
    """Title, alternative, heading and legend; how a text is broken into lines does not count."""
    texts: list[str] = []
    for each in picture.iter():
        if each is drawing:
            break
        if each.tag == f"{SVG}text":
            texts.append(each.text or "")
            continue
        if texts:
            yield " ".join(texts)
            texts = []
        yield _described(each)
    if texts:
        yield " ".join(texts)


def _columns(states: list[ElementTree.Element]) -> dict[str, int]:
    """The column that each state stands in, from the left."""
    texts = {_name(each): each.find(f".//{SVG}text") for each in states}
    middles = sorted((float(text.get("x")), name) for name, text in texts.items())
    columns, number, before = {}, 1, middles[0][0]
    for x, name in middles:
        number += x - before > BETWEEN_COLUMNS
        before = x
        columns[name] = number
    return columns


def _shown(group: ElementTree.Element) -> str:
    """A state or a step: its name, its texts and tooltips, its shapes and their style."""
    parts = (_described(each) for each in group.iter() if each is not group)
    return ", ".join(part for part in parts if part)


def _name(group: ElementTree.Element) -> str:
    return group.findtext(f"{SVG}title", "")


def _described(element: ElementTree.Element) -> str:
    """An element without its place and size."""
    tooltip = [
        value
        for key, value in element.items()
        if key.endswith("}title") and element.tag == f"{SVG}a"
    ]
    if element.tag == f"{SVG}polygon":  # its corners tell an octagon from an arrowhead
        tooltip.append(f"{len(element.get('points', '').split())} points")
    style = [f"{name}={_plain(element.get(name))}" for name in STYLE if element.get(name)]
    said = " ".join([element.text or "", *tooltip, *style]).split()
    return " ".join([element.tag.removeprefix(SVG), *said]) if said else ""


def _plain(value: str) -> str:
    """A number as short as it can be: 9.00 and 9 are the same."""
    try:
        return f"{float(value):g}"
    except ValueError:
        return value
