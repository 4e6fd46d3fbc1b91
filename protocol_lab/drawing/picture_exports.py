"""Exports a walk as pictures, and lists all formats that a walk can be exported to."""

from protocol_lab.drawing.animation import animated_gif, animated_svg
from protocol_lab.drawing.arrangement import IN_FILMS, arranged
from protocol_lab.drawing.pictures import caption, moment_picture, picture_strip
from protocol_lab.explain.wording import spec_title
from protocol_lab.traces.text_exports import TEXT_FORMATS, Format
from protocol_lab.traces.walk import Walk


def to_svg(walk: Walk) -> str:
    """The picture of this moment."""
    return moment_picture(walk.model, walk.moment)


def to_film_strip(walk: Walk) -> str:
    """The pictures from the start up to here below each other, as one static SVG."""
    return picture_strip(walk, moments=walk.moment.path())


def to_animated_svg(walk: Walk) -> str:
    """The moments from the start up to here, one after the other. Raises LabError if too many."""
    return animated_svg(*_frames(walk), title=spec_title(walk.model.spec.name))


def to_gif(walk: Walk) -> bytes:
    """The same as a GIF. Raises LabError if there are too many moments."""
    return animated_gif(*_frames(walk))


FORMATS: dict[str, Format] = TEXT_FORMATS | {
    "svg": Format(".svg", to_svg),
    "film strip": Format(".strip.svg", to_film_strip),
    "animated svg": Format(".animated.svg", to_animated_svg),
    "gif": Format(".gif", to_gif),
}
"""Every format by name: texts and pictures."""


def _frames(walk: Walk) -> tuple[list[str], list[str]]:
    moments = walk.moment.path()
    with arranged(IN_FILMS):
        pictures = [moment_picture(walk.model, moment) for moment in moments]
    return (
        pictures,
        [caption(walk.model, moment) for moment in moments],
    )
