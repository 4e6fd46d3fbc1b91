"""Pictures of states: drawn by the spec, or as a table of its variables; and as HTML images."""

from collections.abc import Sequence
from html import escape
from string import punctuation
from urllib.parse import quote

from protocol_lab.drawing import film_strip
from protocol_lab.drawing.table_picture import draw_state_table
from protocol_lab.errors import LabError
from protocol_lab.explain.wording import first_line, spec_title
from protocol_lab.spec.spec import Model
from protocol_lab.traces.walk import Moment, Walk

COLUMN_WIDTH = 700
"""The width of a picture in a strip of several columns; a narrower page shrinks the strip."""

_AS_IT_IS = " " + punctuation.translate(dict.fromkeys(map(ord, "%#&'")))
"""The characters that need no escape in an address between single quotes."""


def picture(
    model: Model, row: bytes, previous: bytes | None = None, title: str | None = None
) -> str:
    """A state as SVG text, with the differences to a previous state marked.

    Raises LabError if the spec's drawing fails.
    """
    if model.spec.draw is None:
        return draw_state_table(model, row, previous)
    try:
        return model.spec.draw(model, row, previous=previous, title=title)
    except Exception as error:
        raise LabError(
            f"{model.spec.name}: drawing this state failed with {type(error).__name__}: {error}."
        ) from error


def picture_strip(walk: Walk, columns: int = 1, moments: Sequence[Moment] | None = None) -> str:
    """Every state of the current branch, or only the given moments, with captions, as one SVG
    text."""
    moments = walk.path if moments is None else moments
    return film_strip(
        [moment_picture(walk.model, moment) for moment in moments],
        [caption(walk.model, moment) for moment in moments],
        columns=columns,
        width=max(900, COLUMN_WIDTH * columns),
        title=spec_title(walk.model.spec.name),
    )


def moment_picture(model: Model, moment: Moment) -> str:
    """A moment of a walk, with the differences to the one before it."""
    return picture(model, moment.row, moment.previous and moment.previous.row)


def caption(model: Model, moment: Moment) -> str:
    """What has just happened: the scenario's caption, else the action's own description.

    At the end of a lasso also how the run goes on.
    """
    return f"{_happened(model, moment)} {moment.going_on and f'↻ {moment.going_on}'}".rstrip()


def image_html(svg: str, alternative: str) -> str:
    """A picture as an HTML image with its data in the address, and its text alternative."""
    return _image(svg, alternative, "max-width: 100%; height: auto; display: block")


def wide_image_html(svg: str, alternative: str) -> str:
    """The same for a picture that would be too small to read if it had to fit: it can be
    scrolled."""
    image = _image(svg, alternative, "max-width: none; display: block")
    return f'<div style="overflow-x: auto">{image}</div>'


def _image(svg: str, alternative: str, style: str) -> str:
    # Nearly the picture's own text, which takes less than base64 would.
    source = f"data:image/svg+xml,{quote(svg, safe=_AS_IT_IS)}"
    return f"""<img src='{source}' alt="{escape(alternative)}" style="{style}" />"""


def _happened(model: Model, moment: Moment) -> str:
    if moment.caption:
        return moment.caption
    if moment.step is None:
        return first_line(model.spec.inits[0].doc) or "The initial state."
    return first_line(model.action(moment.step.action).doc) or moment.step.text
