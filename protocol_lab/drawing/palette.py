"""The colours of pictures: text on them has enough contrast, and no colour carries meaning alone.

Neighbouring shades differ in lightness as well as in hue, so that they can be distinguished in
print and by people who see fewer colours; whatever has a shade also has its number written on it.
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
HERE = "#e8f1fd"

TONES = {
    "ink": INK,
    "muted": MUTED,
    "accent": ACCENT,
    "good": GOOD,
    "bad": BAD,
    "warning": WARNING,
    "away": BAD,
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


# --- The dark theme ----------------------------------------------------------------------------

DARK = {
    "ink": "#e6ecf2",
    "muted": "#a4b1be",
    "line": "#3d4a57",
    "grid": "#2a343e",
    "panel": "#202a34",
    "paper": "#161d25",
    "accent": "#7db3ff",
    "good": "#6fcf97",
    "bad": "#ff9b91",
    "warning": "#f0c060",
    "bad-paper": "#43201f",
    "changed": "#4a3f14",
    "changed-line": "#a8861f",
    "hatch": "#66727e",
    "here": "#1d2f47",
    "shade-0": "#24405f",
    "shade-1": "#694a0c",
    "shade-2": "#184432",
    "shade-3": "#57407a",
    "shade-4": "#413e12",
    "shade-5": "#1d5a7d",
    "shade-6": "#6b3a2c",
    "shade-7": "#46525e",
}
"""The colours by name on dark paper; the names are those of `names`."""


def names() -> dict[str, str]:
    """Every colour of the pictures by its name, as they are drawn: on white paper."""
    plain = {
        "ink": INK,
        "muted": MUTED,
        "line": LINE,
        "grid": GRID,
        "panel": PANEL,
        "paper": PAPER,
        "accent": ACCENT,
        "good": GOOD,
        "bad": BAD,
        "warning": WARNING,
        "bad-paper": BAD_PAPER,
        "changed": CHANGED,
        "changed-line": CHANGED_LINE,
        "hatch": HATCH,
        "here": HERE,
    }
    return plain | {f"shade-{k}": color for k, color in enumerate(SHADES)}


def theme_css(scope: str) -> str:
    """Rules that repaint the pictures inside a scope with the variables `--lab-ink` and so on.

    A picture has plain colours, so that it looks the same in every program that shows SVG, since
    not all support variables. A page's style sheet has precedence: these rules replace each colour
    with its variable, or with itself where the page does not set it.
    """
    rules = []
    for name, color in names().items():
        for part in ("fill", "stroke"):
            rules.append(f'{scope} svg [{part}="{color}"]{{{part}:var(--lab-{name},{color})}}')
    return "\n".join(rules)


def dark_variables() -> str:
    """The dark theme as declarations for a rule: `--lab-ink: #e6ecf2;` and so on."""
    return " ".join(f"--lab-{name}: {color};" for name, color in DARK.items())
