"""The state graph of a small model, or of the states around one, drawn by Graphviz.

States are in columns by their distance from where the drawing starts. Only graphs that can be read
are drawn: beyond a few hundred states one sentence says what to do instead.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from protocol_lab.drawing import palette
from protocol_lab.drawing.svg import Svg, text_width, wrap
from protocol_lab.errors import CapacityExceeded, LabError, visible
from protocol_lab.explain.wording import spec_title, words
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain, view
from protocol_lab.model.step_text import step_of
from protocol_lab.model.transitions import (
    Attempt,
    evaluate,
    initial,
    is_inside,
    levels,
    needed_attempts,
)
from protocol_lab.quantities import counted
from protocol_lab.system import programs
from protocol_lab.traces.walk import Moment

if TYPE_CHECKING:
    from graphviz import Digraph

LIMIT = 250
MOST_LABELLED_EDGES = 40
MOST_LINES = 5
MARGIN, SIZE = 14, 13
STEP_WIDTH = 150  # of the steps that are written on lines
BEFORE = 3  # states of a walk that are drawn before the one shown
LINE_STYLES = (
    (palette.INK, "solid"),
    (palette.ACCENT, "dashed"),
    (palette.WARNING, "dotted"),
    (palette.GOOD, "bold"),
    (palette.MUTED, "dashed"),
    (palette.ACCENT, "dotted"),
)
SVG = "{http://www.w3.org/2000/svg}"
PAD = 7.2  # points around the graph in Graphviz's drawing


@dataclass
class StateGraph:
    """States by number, in breadth-first order, and the steps between them.

    depths[k]: steps from the start to state k. edges: (from, to) -> the names of the actions that
    lead there. `starts` are the states the search began with. `more` holds the states whose steps
    were not followed, because the depth was bounded, and `full` those from which a step leads for
    which the model has no room. `came`: the state and step by which one was found. `is_part`: there
    are more states than were kept. For the drawing around a state of a walk: `here` is that
    state, `labels` the steps that lead from it, and `walked` the numbers that states have in the
    walk.
    """

    model: Model
    rows: list[bytes] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    edges: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    starts: set[int] = field(default_factory=set)
    more: set[int] = field(default_factory=set)
    here: int | None = None
    labels: dict[tuple[int, int], list[str]] = field(default_factory=dict)
    walked: dict[int, list[int]] = field(default_factory=dict)
    full: set[int] = field(default_factory=set)
    came: dict[int, tuple[int, Attempt]] = field(default_factory=dict)
    is_part: bool = False


def around(
    model: Model,
    row: bytes,
    depth: int | None = None,
    *,
    path: Sequence[Moment] = (),
    at: int = 0,
    limit: int = LIMIT,
    stopped: Callable[[], bool] = lambda: False,
) -> str | None:
    """The states around one of a walk, as SVG text, with the steps that lead from it.

    depth: at most that many steps away (None: as many as stay within `limit` states). path: the
    moments of the walk's branch, which are marked, and `at` the depth of the one shown; the last
    few before it are drawn as well. stopped: asked between states; None is returned if it says so.
    A state's group has `data-depth`, its number in the walk, or `data-steps`, the steps from here
    as JSON. Raises LabError for a depth with more states than `limit`, or if there is no Graphviz.
    """
    is_free = depth is None
    graph = reachable(model, row, depth, limit=limit, stopped=stopped, partly=is_free)
    if graph is None:
        return None
    graph.here = 0
    numbers = {each: k for k, each in enumerate(graph.rows)}
    _add_before(graph, numbers, path[: at - 1])
    for moment in path:
        if moment.row in numbers:
            graph.walked.setdefault(numbers[moment.row], []).append(moment.depth)
    for each in needed_attempts(model, row):
        if each.taken and each.row in numbers:
            step = step_of(model, row, each.action, each.args).text
            graph.labels.setdefault((0, numbers[each.row]), []).append(step)
    shown = max(graph.depths) if is_free and graph.more else depth
    steps = "all states" if shown is None else f"up to {counted(shown, 'step')}"
    return draw_graph(graph, title=f"{spec_title(model.spec.name)}: {steps} from this one")


def _add_before(graph: StateGraph, numbers: dict[bytes, int], before: Sequence[Moment]) -> None:
    """Add the last states that led here and are not in the graph, each a column further left."""
    after = 0
    for k, moment in enumerate(reversed(before[-BEFORE:]), 1):
        if moment.row in numbers:
            break
        number = numbers[moment.row] = len(graph.rows)
        graph.rows.append(moment.row)
        graph.depths.append(-k)
        taken = next(
            each
            for each in needed_attempts(graph.model, moment.row)
            if each.taken and each.row == graph.rows[after]
        )
        graph.edges[number, after] = [taken.action.name]
        after = number


def state_graph(model: Model, label: Callable[[Model, bytes], str] | None = None) -> str:
    """All states that can be reached, as SVG text.

    label: the text of a state, few and short lines (None: what differs from the first state).
    Raises LabError with what to do if there are more than LIMIT states, or if there is no Graphviz.
    """
    title = f"{spec_title(model.spec.name)}: all states"
    return draw_graph(reachable(model), label, title=title)


def reachable(
    model: Model,
    start: bytes | None = None,
    depth: int | None = None,
    *,
    limit: int = LIMIT,
    stopped: Callable[[], bool] = lambda: False,
    partly: bool = False,
) -> StateGraph | None:
    """Search breadth first, uncompiled. States outside the spec's constraints are left out.

    partly: of more than `limit` states those are kept whose depth can be kept whole; otherwise
    LabError is raised. Returns None if it was stopped.
    """
    graph = StateGraph(model)
    starts = [start]
    if start is None:
        starts = [each.row for each in initial(model) if is_inside(model, each.row)]
    graph.rows = list(dict.fromkeys(starts))
    graph.depths, graph.starts = [0] * len(graph.rows), set(range(len(graph.rows)))
    numbers = {row: k for k, row in enumerate(graph.rows)}
    for steps, row, tried in levels(model, starts, needed_attempts):
        if len(graph.rows) > limit:
            raise _too_many(limit, depth)
        if depth is not None and steps > depth:
            break
        if stopped():
            return None
        source = numbers[row]
        for each in tried:
            if isinstance(each.error, CapacityExceeded):
                graph.full.add(source)
            elif each.error is not None:
                raise each.error
            if not each.taken:
                continue
            if each.row not in numbers and steps == depth:
                graph.more.add(source)
                continue
            if each.row not in numbers:
                if len(graph.rows) == limit and not partly:
                    raise _too_many(limit, depth)
                if len(graph.rows) == limit:
                    return _without_last(graph, steps)
                numbers[each.row] = len(graph.rows)
                graph.came[len(graph.rows)] = source, each
                graph.rows.append(each.row)
                graph.depths.append(steps + 1)
            names = graph.edges.setdefault((source, numbers[each.row]), [])
            if each.action.name not in names:
                names.append(each.action.name)
    return graph


def _without_last(graph: StateGraph, depth: int) -> StateGraph:
    """The graph up to a depth, beyond which there are too many states; of those one step from the
    start as many as were found."""
    graph.is_part, depth = depth < 1, max(1, depth)
    count = sum(each <= depth for each in graph.depths)  # breadth first: these come first
    edges = graph.edges.items()
    return replace(
        graph,
        rows=graph.rows[:count],
        depths=graph.depths[:count],
        edges={pair: names for pair, names in edges if graph.depths[pair[0]] < depth},
        more={k for k in range(count) if graph.depths[k] == depth},
    )


def draw_graph(
    graph: StateGraph,
    label: Callable[[Model, bytes], str] | None = None,
    *,
    title: str,
) -> str:
    """The graph as SVG text, with a legend of lines and shapes above it."""
    label = label or (lambda model, row: changes_label(model, row, graph.rows[0]))
    drawn = {pair: names for pair, names in graph.edges.items() if pair[0] != pair[1]}
    kinds = list(dict.fromkeys(", ".join(names) for names in drawn.values()))
    styles = {kind: LINE_STYLES[k % len(LINE_STYLES)] for k, kind in enumerate(kinds)}
    broken = _broken(graph)
    from graphviz import Digraph

    type_ = {"fontname": "Arial", "fontsize": str(SIZE), "fontcolor": palette.INK}
    dot = Digraph(
        graph_attr={
            "rankdir": "LR",
            "splines": "line" if len(drawn) > MOST_LABELLED_EDGES else "spline",
            "outputorder": "edgesfirst",
            "bgcolor": "transparent",
            "ranksep": "1.2",
            "nodesep": "0.12",
            "pad": str(PAD / 72),
        },
        node_attr={**type_, "color": palette.MUTED},
        edge_attr=type_,
    )
    _add_states(dot, graph, label, broken)
    for (source, target), names in drawn.items():
        kind = ", ".join(names)
        color, style = styles[kind]
        forward = graph.depths[target] > graph.depths[source]
        dot.edge(
            str(source),
            str(target),
            label=_edge_label(graph, (source, target), kind, len(drawn)),
            edgetooltip="\n".join(graph.labels.get((source, target), [kind])),
            color=color if forward else f"{color}66",
            style=style,
            constraint="true" if forward else "false",
            arrowsize="0.55" if forward else "0.4",
            **({"penwidth": "3"} if _is_walked(graph, source, target) else {}),
        )
    return _framed(graph, _render(dot), styles, broken, title, len(graph.edges) - len(drawn))


def _is_walked(graph: StateGraph, source: int, target: int) -> bool:
    """Is this a step of the walk, from one of its states to the next?"""
    before, after = (graph.walked.get(k, []) for k in (source, target))
    return any(depth + 1 in after for depth in before)


def _edge_label(graph: StateGraph, pair: tuple[int, int], kind: str, edges: int) -> str:
    """The label of a line: the steps, for lines from the current state, else the actions' names if
    there is room."""
    if graph.here is None:
        return kind if edges <= MOST_LABELLED_EDGES else ""
    steps = [
        line
        for step in graph.labels.get(pair, [])
        for line in wrap(_readable(step), STEP_WIDTH, SIZE)
    ]
    from graphviz import escape

    return escape(visible("\n".join(steps))).replace("\n", "\\n")


def _readable(step: str) -> str:
    """A step's text in words, with places to break it."""
    name, _, rest = step.partition("(")
    return f"{words(name)} ({rest}" if rest != ")" else words(name)


def changes_label(model: Model, row: bytes, base: bytes) -> str:
    """The differences of a state from another, in a few short lines."""
    parts, before = (dict(_leaves("", plain(view(model.layout, each)))) for each in (row, base))
    lines = [f"{at} {_short(parts[at])}" for at in parts if before.get(at) != parts[at]]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"and {len(lines) - MOST_LINES + 1} more"]
    return "\n".join(lines)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a plain state by their names; a list is one part."""
    if isinstance(value, dict):
        for key, each in value.items():
            inner = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}".lstrip(".")
            yield from _leaves(inner, each)
    else:
        yield path, value


def _short(value: Any) -> str:
    """A part of a state in few characters; for a list of structures only their number."""
    match value:
        case set() | frozenset():
            return "{" + ", ".join(map(str, sorted(value))) + "}"
        case list() if any(isinstance(each, dict | list) for each in value):
            return f"has {len(value)}"
        case list():
            return " ".join(map(str, value)) or "empty"
    return str(value)


def _too_many(limit: int, depth: int | None) -> LabError:
    bound = "" if depth is None else f"bound the steps with less than depth={depth}, or "
    return LabError(
        f"There are more than {limit} states here, too many to read in one drawing: {bound}set"
        " smaller constants."
    )


def _broken(graph: StateGraph) -> dict[int, list[str]]:
    """The names of the default invariants that a state breaks, for those that break any."""
    chosen, _ = graph.model.choose(None)
    broken = {
        k: [each.name for each in chosen if evaluate(graph.model, row, each.function)]
        for k, row in enumerate(graph.rows)
    }
    return {k: names for k, names in broken.items() if names}


# --- Drawing -----------------------------------------------------------------------------------


def _add_states(
    dot: "Digraph",
    graph: StateGraph,
    label: Callable[[Model, bytes], str],
    broken: dict[int, list[str]],
) -> None:
    """One column of states for each number of steps."""
    for _, members in groupby(range(len(graph.rows)), key=graph.depths.__getitem__):
        with dot.subgraph() as column:
            column.attr(rank="same")
            for k in members:
                text = label(graph.model, graph.rows[k])
                column.node(str(k), **_shape(graph, k, text, broken.get(k, [])))


def _shape(graph: StateGraph, k: int, text: str, broken: list[str]) -> dict[str, str]:
    """The shape and text of a state; everything that the shape means is also in the text."""
    from graphviz import escape

    style = {"shape": "box", "style": "rounded,filled", "fillcolor": palette.PAPER}
    if graph.here is not None and k != graph.here and k in graph.walked:
        text = f"visited: {_numbers('state', graph.walked[k])}\n{text}".strip()
        style |= {"fillcolor": palette.HERE, "color": palette.ACCENT, "penwidth": "1.6"}
    if k in graph.starts:
        start = "start" if graph.here is None else "▶ you are here"
        text = f"{start}\n{text}".strip()
        style |= {"peripheries": "2", "color": palette.ACCENT, "penwidth": "1.6"}
    if k in graph.full:
        text += "\n⚠ no room for a step"
    if k in graph.more:
        text += "\n…"
    if broken:
        text = "\n".join([*(f"✗ {name}" for name in broken), text])
        style |= {
            "shape": "octagon",
            "style": "filled",
            "fillcolor": palette.BAD_PAPER,
            "color": palette.BAD,
            "penwidth": "1.8",
        }
    lines = text.split("\n")
    # Measured here, since the fonts that Graphviz knows are not those of the reader's browser.
    wide = max(text_width(line, SIZE) for line in lines) + (56 if broken else 12)
    high = 16 * len(lines) + (34 if broken else 7)
    return style | {
        "label": escape(visible(text)).replace("\n", "\\n"),
        "tooltip": escape(visible(text)),
        "width": f"{wide / 72:.2f}",
        "height": f"{high / 72:.2f}",
        "fixedsize": "true",
    }


def _numbers(noun: str, numbers: list[int]) -> str:
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


drawn_by: Callable[[str], str] | None = None
"""Draws a graph's source as SVG text where no program can be run; None: the program dot does."""


def _render(dot: "Digraph") -> ElementTree.Element:
    """Draw with curved lines; with straight ones if Graphviz can't route the curves."""
    from graphviz import CalledProcessError

    if drawn_by is not None:
        return ElementTree.fromstring(drawn_by(dot.source))
    programs.use_dot()
    for splines in dict.fromkeys((dot.graph_attr["splines"], "line")):
        dot.graph_attr["splines"] = splines
        try:
            return ElementTree.fromstring(dot.pipe(format="svg", encoding="utf-8", quiet=True))
        except CalledProcessError as error:
            # The last line of Graphviz's output says what went wrong; warnings come before it.
            reason = error.stderr.strip().rpartition("\n")[2]
    raise LabError(f"Graphviz can't draw this graph: {reason}.")


def _framed(
    graph: StateGraph,
    drawn: ElementTree.Element,
    styles: dict[str, tuple[str, str]],
    broken: dict[int, list[str]],
    title: str,
    loops: int,
) -> str:
    """Graphviz's drawing below a heading and a legend, as one picture."""
    own_width, own_height = (float(part) for part in drawn.get("viewBox", "").split()[2:])
    width = max(own_width + 2 * MARGIN, 480)
    svg = Svg()
    count = _count(graph, broken, loops)
    y: float = MARGIN + 13
    svg.text(MARGIN, y, title, size=14, bold=True)
    for line in wrap(count, width - 2 * MARGIN):
        y += 18
        svg.text(MARGIN, y, line, fill=palette.MUTED)
    left, y = (width - own_width) / 2, _draw_legend(svg, styles, y + 18, width) + 18
    columns = _columns(graph, drawn)
    for steps, x in columns.items():
        start = "start" if graph.here is None else "here"
        name = start if steps == 0 else f"{abs(steps)} step{'' if abs(steps) == 1 else 's'}"
        name += " before" if steps < 0 else ""
        svg.text(left + x, y - 4, name, size=SIZE, fill=palette.MUTED, text_anchor="middle")
    if graph.here is not None:
        _lead_to_states(graph, drawn)
        _lift_labels(drawn)
    for element in drawn.iter():
        element.attrib.pop("id", None)  # several graphs may stand on one page
        element.attrib.pop("font-family", None)  # the picture's own
    placed = {"x": left, "y": y, "width": own_width, "height": own_height}
    for name, value in placed.items():
        drawn.set(name, f"{value:g}")
    ElementTree.register_namespace("", SVG.strip("{}"))
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    svg.raw(ElementTree.tostring(drawn, encoding="unicode"))
    return svg.document(width, y + own_height + 6, title, count)


def _lead_to_states(graph: StateGraph, drawn: ElementTree.Element) -> None:
    """Mark each state with how a stepper gets there: its number in the walk, or the steps."""
    for group in _states(drawn):
        k = int(group.findtext(f"{SVG}title", ""))
        if k == graph.here:
            group.set("class", "node lab-here")
        elif k in graph.walked:
            group.set("class", "node lab-moment")
            group.set("data-depth", str(graph.walked[k][-1]))
        elif k in graph.came:
            group.set("class", "node lab-reach")
            group.set("data-steps", json.dumps(_steps_to(graph, k)))


def _states(drawn: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in drawn.iter(f"{SVG}g") if (each.get("class") or "").startswith("node")]


def _lift_labels(drawn: ElementTree.Element) -> None:
    """Put the labels of lines above all lines, on paper, so that no line crosses them."""
    texts = []
    for group in drawn.iter(f"{SVG}g"):
        if group.get("class") == "edge":
            for holder in group.iter():
                for text in holder.findall(f"{SVG}text"):
                    holder.remove(text)
                    text.set("stroke", palette.PAPER)
                    text.set("stroke-width", "4")
                    text.set("paint-order", "stroke")
                    texts.append(text)
    whole = drawn.find(f"{SVG}g")
    if whole is not None:
        whole.extend(texts)


def _steps_to(graph: StateGraph, k: int) -> list[str]:
    """The steps by which a state was found from the first one."""
    steps: list[str] = []
    while k in graph.came:
        source, each = graph.came[k]
        steps.insert(0, step_of(graph.model, graph.rows[source], each.action, each.args).text)
        k = source
    return steps


def _columns(graph: StateGraph, drawn: ElementTree.Element) -> dict[int, float]:
    """The positions of the columns of states in Graphviz's drawing."""
    columns = {}
    for group in _states(drawn):
        number, text = group.findtext(f"{SVG}title"), group.find(f".//{SVG}text")
        if number is not None and text is not None:
            columns[graph.depths[int(number)]] = float(text.get("x", 0)) + PAD
    return columns


def _count(graph: StateGraph, broken: dict[int, list[str]], loops: int) -> str:
    """What is drawn, in one or two sentences."""
    states = len(graph.rows)
    text = f"{states} state{'s' if states > 1 else ''}, {len(graph.edges) - loops} steps between"
    text += " two of them; faint lines lead back or sideways."
    if loops:
        text += f" {loops} states have steps that change nothing, which are not drawn."
    if graph.is_part:
        text += " There are more states one step away than are drawn."
    if graph.full:
        text += f" From {len(graph.full)}, marked with ⚠, a step leads further for which the model"
        text += " has no room: a larger constant gives it some."
    if graph.more:
        text += f" {len(graph.more)} states, marked with …, lead further."
    if broken:
        shown = "1 state, an octagon" if len(broken) == 1 else f"{len(broken)} states, octagons"
        text += f" {shown} marked with ✗, break{'s' if len(broken) == 1 else ''} an invariant."
    return text


def _draw_legend(svg: Svg, styles: dict[str, tuple[str, str]], y: float, width: float) -> float:
    """A sample of each kind of line with the actions that it stands for."""
    dashes = {"solid": None, "bold": None, "dashed": "6 4", "dotted": "1.5 3"}
    x: float = MARGIN
    for kind, (color, style) in styles.items():
        needed = 34 + text_width(kind, SIZE) + 18
        if x > MARGIN and x + needed > width - MARGIN:
            x, y = MARGIN, y + 17
        width_of_line = 2.6 if style == "bold" else 1.4
        look = {"stroke": color, "stroke_width": width_of_line, "stroke_dasharray": dashes[style]}
        svg.line(x, y, x + 28, y, **look)
        svg.text(x + 34, y + 4, kind, size=SIZE)
        x += needed
    return y + 14
