"""The colours, chosen so that text on them stays readable and none of them tells anything alone.

Neighbouring shades differ in lightness as well as in hue, so that they stay apart for people who
see fewer colours, and in print; whatever has a shade also has its number written on it.
"""

INK = "#1c2733"
MUTED = "#5c6b79"
LINE = "#d3dbe3"
GRID = "#e9edf1"
PANEL = "#f5f7f9"
PAPER = "#ffffff"
ACCENT = "#1f5fbf"
GOOD = "#1b7a43"
BAD = "#b3261e"
WARNING = "#8a5a00"
BAD_PAPER = "#fdecea"
CHANGED = "#fff3c4"
CHANGED_LINE = "#d8b12f"
HATCH = "#a3afba"

TONES = {
    "ink": INK,
    "muted": MUTED,
    "accent": ACCENT,
    "good": GOOD,
    "bad": BAD,
    "warning": WARNING,
}

SHADES = (
    "#e3edf9",
    "#f7d79a",
    "#d2ecdf",
    "#cdb9e6",
    "#fdf3bd",
    "#a9cdea",
    "#fbdcd2",
    "#b9c4cf",
)


def shade(number: int | None) -> str:
    """The fill for an epoch, term or ballot; white where there is none."""
    return PAPER if number is None or number < 0 else SHADES[number % len(SHADES)]
