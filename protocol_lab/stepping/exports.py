"""A walk in other formats: Python that replays it, JSON, Mermaid and sequencediagram.org text."""

import json
from collections.abc import Callable

from protocol_lab.declaring.constants import show
from protocol_lab.declaring.layout import Node
from protocol_lab.declaring.views import plain, view
from protocol_lab.stepping.scenarios import scenario_text
from protocol_lab.stepping.steps import Step, as_json, initial_text
from protocol_lab.stepping.walk import Walk


def to_python(walk: Walk) -> str:
    """A program that takes the same steps and prints the state at the end."""
    constants = ", ".join(f"{name}={value!r}" for name, value in show(walk.model.constants).items())
    start = initial_text(walk.model, walk.start.row)
    lines = [
        "from protocol_lab.catalog import load",
        "from protocol_lab.stepping.walk import Walk",
        "",
        f"model = load({walk.model.spec.name!r}).bind({constants})",
        f"walk = Walk.begin(model, {start!r})" if start else "walk = Walk.begin(model)",
        *(f"walk.take({step.text!r})" for step in walk.steps),
        "print(walk.state)",
    ]
    return "\n".join(lines) + "\n"


def to_json(walk: Walk) -> str:
    """Spec, constants, steps and the state after each of them."""
    moments = walk.moment.path()
    return json.dumps(
        {
            "spec": walk.model.spec.name,
            "constants": show(walk.model.constants),
            "initial": initial_text(walk.model, walk.start.row),
            "steps": [
                {**moment.step.to_json(), "text": moment.step.text, "caption": moment.caption}
                for moment in moments[1:]
            ],
            "states": [as_json(plain(view(walk.model.layout, each.row))) for each in moments],
        },
        indent=1,
    )


def to_mermaid(walk: Walk) -> str:
    """A Mermaid sequence diagram: one lifeline a node, an arrow where two nodes take part."""
    lines = ["sequenceDiagram"]
    lines += [f"    participant {name}" for name in _participants(walk)]
    for moment in walk.moment.path()[1:]:
        ends, label = _ends(walk, moment.step), moment.step.text.replace(";", ",")
        if len(ends) == 2:
            lines.append(f"    {ends[0]}->>{ends[1]}: {label}")
        else:
            lines.append(f"    Note over {(ends or _participants(walk))[0]}: {label}")
    return "\n".join(lines) + "\n"


def to_sequencediagram(walk: Walk) -> str:
    """The same for sequencediagram.org."""
    lines = [f"title {walk.model.spec.name}"]
    lines += [f"participant {name}" for name in _participants(walk)]
    for moment in walk.moment.path()[1:]:
        ends, label = _ends(walk, moment.step), moment.step.text
        if len(ends) == 2:
            lines.append(f"{ends[0]}->{ends[1]}: {label}")
        else:
            lines.append(f"note over {(ends or _participants(walk))[0]}: {label}")
    return "\n".join(lines) + "\n"


FORMATS: dict[str, tuple[str, Callable[[Walk], str]]] = {
    "scenario": (".txt", scenario_text),
    "python": (".py", to_python),
    "json": (".json", to_json),
    "mermaid": (".mmd", to_mermaid),
    "sequencediagram.org": (".seq", to_sequencediagram),
}
"""Every format by name: the file ending and the function that writes it."""


def _participants(walk: Walk) -> list[str]:
    names: dict[str, None] = {}
    for action in walk.model.spec.actions:
        for domain in action.domains.values():
            if isinstance(domain, Node):
                count = getattr(walk.model.constants, domain.count)
                kind = domain.count.removesuffix("s")
                names |= {f"{kind}{node}": None for node in range(1, count + 1)}
    return list(names) or ["system"]


def _ends(walk: Walk, step: Step) -> list[str]:
    """The nodes among a step's parameters, as they are named in the diagram."""
    domains = walk.model.action(step.action).domains
    return [
        f"{domain.count.removesuffix('s')}{step.args[name]}"
        for name, domain in domains.items()
        if isinstance(domain, Node)
    ]
