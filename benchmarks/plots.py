"""How states, seconds and bytes grow with the constants, drawn as one SVG."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measurement import Measurement

PANELS = (
    ("distinct states", lambda each: each.distinct),
    ("seconds", lambda each: each.median),
    ("bytes of memory", lambda each: (each.bytes_a_state or each.row_bytes) * each.distinct),
)
"""What each panel shows of a measurement."""

MARKERS = "osD^vP"


def draw(grown: Mapping[str, Sequence[Measurement]], path: Path) -> None:
    """Write the plot: a panel for each quantity, in it a line for each protocol.

    grown: a protocol's measurements, the smallest first. Where there were too few states to measure
    memory, the bytes are those of the rows alone.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "benchmarks", "svg.fonttype": "none", "font.size": 11}):
        figure = Figure(figsize=(11, 4), layout="constrained")
        for axes, (title, quantity) in zip(figure.subplots(1, len(PANELS)), PANELS, strict=True):
            for marker, (protocol, measured) in zip(MARKERS, grown.items(), strict=False):
                values = [quantity(each) for each in measured]
                axes.plot(range(1, len(values) + 1), values, f"{marker}-", label=protocol)
            axes.set_yscale("log")
            axes.set_xticks(range(1, 1 + max(map(len, grown.values()))))
            axes.set_xlabel("configuration, as in the table")
            axes.set_title(title)
            axes.grid(visible=True, alpha=0.3)
        figure.axes[0].legend()
        figure.savefig(path, format="svg", metadata={"Date": None})
