"""The colours of pictures: text on them has enough contrast, and no colour carries meaning alone.

Neighbouring shades differ in lightness as well as in hue, so that they can be distinguished in
print and by people who see fewer colours; whatever has a shade also has its number written on it.
"""

INK = "#17202b"
MUTED = "#4f5d6c"
LINE = "#d9e0e7"
GRID = "#e9edf1"
PANEL = "#f5f7f9"
PAPER = "#ffffff"
ACCENT = "#1a5cc0"
GOOD = "#146c3d"
BAD = "#b3231b"
WARNING = "#8a5a00"
BAD_PAPER = "#fdecea"
CHANGED = "#ffe27a"
HATCH = "#a3afba"
HERE = "#e8f1fd"

TONES = {"ink": INK, "muted": MUTED, "accent": ACCENT, "good": GOOD, "bad": BAD}

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
    "ink": "#edf2f7",
    "muted": "#a9b6c4",
    "line": "#37434f",
    "grid": "#262f39",
    "panel": "#0e131a",
    "paper": "#151b23",
    "accent": "#82b4ff",
    "good": "#74d6a0",
    "bad": "#ff9187",
    "warning": "#f0c060",
    "bad-paper": "#3f1a18",
    "changed": "#6a5600",
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


_OF_CONTROLS = {
    "edge": ("#7b8b9c", "#718193"),
    "accent-paper": ("#eaf1fd", "#172a45"),
    "good-paper": ("#e4f5eb", "#12311f"),
    "warning-paper": ("#fff6dd", "#3a3011"),
}
"""What buttons and marks have besides, on light and on dark paper."""


def names() -> dict[str, str]:
    """Every colour of the pictures by its name, as they are drawn: on white paper."""
    plain = [name for name in DARK if not name.startswith("shade")]
    light = {name: globals()[name.upper().replace("-", "_")] for name in plain}
    return light | {f"shade-{k}": color for k, color in enumerate(SHADES)}


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


def style_sheet(scope: str) -> str:
    """Rules that give a scope the colours as variables, with those of controls beside the pictures:
    the dark ones where the page is dark."""
    dark = (
        ':is([data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast,'
        ' html[data-theme="dark"])'
    )
    light = {name: pair[0] for name, pair in _OF_CONTROLS.items()}
    other = {name: pair[1] for name, pair in _OF_CONTROLS.items()}
    return (
        f"{scope} {{ {variables(names() | light)} }}\n"
        f"{dark} {scope} {{ color-scheme: dark; {variables(DARK | other)} }}\n"
    )


def variables(colors: dict[str, str]) -> str:
    """A theme as declarations for a rule: `--lab-ink: #17202b;` and so on."""
    return " ".join(f"--lab-{name}: {color};" for name, color in colors.items())
