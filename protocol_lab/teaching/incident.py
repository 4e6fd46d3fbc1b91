"""The widget of an incident that somebody plays: a terminal, what can be done, and the rewind."""

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from protocol_lab.system.notebook_shell import display
from protocol_lab.teaching.question_card import card_style

_HERE = Path(__file__).parent
INCIDENT_SCRIPT, INCIDENT_STYLE = _HERE / "js" / "incident.js", _HERE / "incident.css"
_DOM = _HERE.parent / "stepper" / "js" / "dom.js"
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

    _esm = "\n".join(
        [_DOM.read_text(encoding="utf-8"), INCIDENT_SCRIPT.read_text(encoding="utf-8"), _RENDER]
    )
    _css = card_style() + INCIDENT_STYLE.read_text(encoding="utf-8")

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
        bundle = self._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        display({kind: data[kind] for kind in data if kind != "text/plain"}, raw=True)
