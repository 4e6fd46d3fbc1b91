"""A trace as text, as `--states` prints it: the first state whole, then what each step changed.

2 request(p=1)
    req[1][1]: 0 → 1
    network[1][2][0]: + (kind req, clock 1)
"""

from collections.abc import Iterator, Sequence
from typing import Any

from protocol_lab.drawing.state_table import matched_items, state_table, value_text
from protocol_lab.model.layout import ArrayLayout, StructLayout
from protocol_lab.model.spec import Model
from protocol_lab.model.state_view import plain_value
from protocol_lab.model.step_text import Step

_INDENT = " " * 11


def state_listing(
    model: Model,
    rows: Sequence[bytes],
    steps: Sequence[Step],
    initial: str | None = None,
    captions: Sequence[str] = (),
) -> str:
    """The numbered states of a trace, and the steps between them.

    initial: the line init(...) that chooses the first one. captions: one for each step.
    """
    lines = [f"{1:8} {initial or 'the initial state'}"]
    for line in state_table(model, rows[0]):
        lines.append(f"{_INDENT}{line.name}: {''.join(piece.text for piece in line.value)}")
    for k, step in enumerate(steps, 1):
        lines.append(f"{k + 1:8} {step}  {captions[k - 1] if captions else ''}".rstrip())
        changed = list(changes(model, rows[k - 1], rows[k])) or ["nothing changes"]
        lines += [_INDENT + each for each in changed]
    return "\n".join(lines)


def changes(model: Model, before: bytes, after: bytes) -> Iterator[str]:
    """The differences between two states, with one variable or item on a line."""
    yield from _changes("", model.layout, *(plain_value(model.layout, r) for r in (after, before)))


def _changes(name: str, layout: Any, value: Any, old: Any) -> Iterator[str]:
    if value == old:
        return
    match layout:
        case ArrayLayout(item, _, per_node):
            for key in value if per_node else range(len(value)):
                yield from _changes(f"{name}[{key}]", item, value[key], old[key])
        case StructLayout(kind="struct"):
            for key, part in layout.fields.items():
                yield from _changes(f"{name}.{key}".lstrip("."), part, value[key], old[key])
        case StructLayout():
            item, every = layout.fields["items"].item, value + old
            for place, new, was in matched_items(layout.kind, value, old):
                if was is None:
                    yield f"{name}{place}: + {value_text(item, new, every)}"
                elif new is None:
                    yield f"{name}{place}: − {value_text(item, was, every)}"
                else:
                    yield from _changes(f"{name}{place}", item, new, was)
        case _:
            yield f"{name}: {value_text(layout, old)} → {value_text(layout, value)}"
