"""Draws state diagrams that a document has in Mermaid's notation.

JupyterLab and GitHub draw them themselves; a page of the site has no Mermaid, which is larger than
everything else that a page loads.
"""

import re
from base64 import b64encode
from html import escape

import graphviz

from protocol_lab.system.programs import use_dot

_DIAGRAM = re.compile(r"```mermaid\nstateDiagram-v2\n(.*?)```", re.DOTALL)
_ARROW = re.compile(r"^ *(\w+) --> (\w+): (.+)$", re.MULTILINE)


def with_diagrams(markdown: str) -> str:
    """Markdown with an image in place of each state diagram. Raises LabError without Graphviz."""
    return _DIAGRAM.sub(lambda found: _image(_ARROW.findall(found[1])), markdown)


def _image(arrows: list[tuple[str, str, str]]) -> str:
    use_dot()
    graph = graphviz.Digraph(
        graph_attr={"bgcolor": "white", "nodesep": "0.5"},
        node_attr={"shape": "box", "style": "rounded", "fontname": "DejaVu Sans", "fontsize": "12"},
        edge_attr={"fontname": "DejaVu Sans", "fontsize": "11"},
    )
    for source, target, label in arrows:
        graph.edge(source, target, graphviz.escape(f" {label}"))
    data = b64encode(graph.pipe("svg")).decode()
    told = "; ".join(f"{source} to {target}: {label}" for source, target, label in arrows)
    image = f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(told)}"/>'
    return f'<div class="lab-static">{image}</div>'
