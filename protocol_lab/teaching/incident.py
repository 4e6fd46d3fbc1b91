"""The widget of an incident that somebody plays: a terminal, what can be done, and the rewind."""

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from protocol_lab.system.notebook_shell import display
from protocol_lab.teaching.question_card import DOM_SCRIPT, card_style, display_widget, joined

_HERE = Path(__file__).parent
INCIDENT_SCRIPT, INCIDENT_STYLE = _HERE / "js" / "incident.js", _HERE / "incident.css"
_RENDER = """
function render({ model, el }) {
  const incident = playIncident(el, { ask: async (wanted) => void model.send(wanted) });
  const show = () => incident.show(model.get("view"));
  model.on("change:view", show);
  show();
  return () => model.off("change:view", show);
}
export default { render };
"""


class Incident(anywidget.AnyWidget):
    """Plays an incident. view_of(case, seed, keys): what is shown once these commands were given,
    as plain values, as `js/incident.js` takes them."""

    _esm = joined(DOM_SCRIPT, INCIDENT_SCRIPT) + _RENDER
    _css = card_style() + joined(INCIDENT_STYLE)

    view = traitlets.Dict().tag(sync=True)

    def __init__(self, view_of: Callable[..., dict[str, Any]], case: str, seed: int = 0):
        super().__init__()
        self._view_of = view_of
        self.view = view_of(case, seed, [])
        self.on_msg(self._on_message)

    def _on_message(self, _: Any, message: Any, __: Any = None) -> None:
        if isinstance(message, Mapping) and {"case", "seed", "keys"} <= message.keys():
            self.view = self._view_of(message["case"], message["seed"], message["keys"])

    def _ipython_display_(self) -> None:
        # What a saved notebook shows where nothing runs, and where a page puts its own; the style
        # sheet hides it where the widget is.
        screen = "\n".join(each["text"] for each in self.view["screen"])
        asked = f'data-module="{self._view_of.__module__}" data-first="{self.view["case"]}"'
        still = f'<div class="lab-incident-holder" {asked}><pre>{escape(screen)}</pre></div>'
        display({"text/html": still, "text/plain": screen}, raw=True)
        display_widget(self)
