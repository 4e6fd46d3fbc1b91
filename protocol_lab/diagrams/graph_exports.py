"""A small state graph for other tools: as Graphviz's text, as JSON, or as a picture."""

import json
from collections.abc import Callable
from pathlib import Path

from protocol_lab.diagrams.state_graph import StateGraph, changes_label, draw_all, reachable
from protocol_lab.errors import LabError, shortened
from protocol_lab.semantics.step_text import as_json
from protocol_lab.spec.constants import show
from protocol_lab.spec.spec import Model
from protocol_lab.spec.state_view import plain, view

LIMIT = 5_000
"""The most states that are written as text; of a picture fewer can be read."""


def graph_export(model: Model, path: str) -> str:
    """All states of a small model and their steps, in the format of the file's ending.

    Raises LabError for another ending, and if there are too many states.
    """
    suffix = Path(path).suffix
    if suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise LabError(f"{shortened(path)}: a graph is written to a file that ends in {known}.")
    graph = reachable(model) if suffix == ".svg" else reachable(model, limit=LIMIT)
    return _FORMATS[suffix](graph)


def as_dot(graph: StateGraph) -> str:
    """The graph as text for Graphviz. Each state is labelled with its differences from the first
    one."""
    import graphviz

    dot = graphviz.Digraph(node_attr={"shape": "box"})
    for k, row in enumerate(graph.rows):
        text = changes_label(graph.model, row, graph.rows[0]) if k else "the first state"
        more = {"peripheries": "2"} if k in graph.starts else {}
        dot.node(str(k), graphviz.escape(f"{k}\n{text}"), **more)
    for (source, target), actions in graph.edges.items():
        dot.edge(str(source), str(target), graphviz.escape(", ".join(dict.fromkeys(actions))))
    return dot.source


def graph_json(graph: StateGraph) -> str:
    """One object: the states as plain values, and the steps between their numbers."""
    model = graph.model
    found = {
        "spec": model.spec.name,
        "constants": show(model.constants),
        "initial": sorted(graph.starts),
        "states": [as_json(plain(view(model.layout, row))) for row in graph.rows],
        "steps": [
            {"from": source, "to": target, "actions": list(dict.fromkeys(actions))}
            for (source, target), actions in graph.edges.items()
        ],
    }
    return json.dumps(found, indent=1) + "\n"


_FORMATS: dict[str, Callable[[StateGraph], str]] = {
    ".dot": as_dot,
    ".json": graph_json,
    ".svg": draw_all,
}
