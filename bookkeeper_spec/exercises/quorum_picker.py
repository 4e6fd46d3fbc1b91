"""A widget on quorum coverage: the reader picks a cohort, an ack quorum, and bookies."""

from typing import Any

import ipywidgets as widgets
from IPython.display import HTML, display

from bookkeeper_spec.draw.coverage import draw_coverage, pick
from protocol_lab import *
from protocol_lab.drawing.pictures import image_html
from protocol_lab.model.node_sets import as_mask, as_nodes

MOST = 6
TITLE = "Pick bookies, and see whether they cover the cohort"


class PickSets:
    """Sliders for the cohort's size and the ack quorum, a button a bookie, and the picture of them.

    Where no kernel runs the picture alone is there, folded.
    """

    def __init__(self, cohort: int = 3, ack_quorum: int = 2, satisfying: int = only(1)):
        self.cohort = widgets.IntSlider(cohort, 1, MOST, description="bookies")
        self.ack_quorum = widgets.IntSlider(ack_quorum, 1, cohort, description="ack quorum")
        self.buttons = {
            bookie: widgets.ToggleButton(
                bookie in as_nodes(satisfying),
                description=f"b{bookie}",
                layout=widgets.Layout(width="64px"),
                tooltip=f"b{bookie} satisfies the property",
            )
            for bookie in range(1, MOST + 1)
        }
        self.picture = widgets.HTML()
        for control in (self.cohort, self.ack_quorum, *self.buttons.values()):
            control.observe(self._refresh, names="value")
        self._refresh()

    @property
    def satisfying(self) -> int:
        """The bookies that are picked, as a set."""
        return as_mask(bookie for bookie, button in self.buttons.items() if button.value)

    @property
    def html(self) -> str:
        """The picture of what is picked."""
        shown = pick(self.cohort.value, self.satisfying, self.ack_quorum.value)
        return image_html(
            draw_coverage(shown, TITLE), "; ".join(text for _, text in shown.definitions)
        )

    def _refresh(self, _: Any = None) -> None:
        self.ack_quorum.max = self.cohort.value
        for bookie, button in self.buttons.items():
            button.layout.display = None if bookie <= self.cohort.value else "none"
        self.picture.value = self.html

    def _ipython_display_(self) -> None:
        # The picture is an output of its own, folded: a saved notebook keeps nothing of a widget.
        summary = "The picture, where no kernel runs. Predict first, then open it."
        display(
            widgets.VBox(
                [
                    widgets.HBox([self.cohort, self.ack_quorum]),
                    widgets.HBox([widgets.Label("satisfy it:"), *self.buttons.values()]),
                    self.picture,
                ]
            )
        )
        display(HTML(f"<details><summary>{summary}</summary>{self.html}</details>"))
