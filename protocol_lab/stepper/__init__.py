"""The stepper: a widget to walk through a protocol, state by state.

`board` says what is to be seen, as plain values; `widget` connects it to JupyterLab,
where the scripts in `js/` draw it. The static drawing, `static_view`, shows the same
board.
"""

from protocol_lab.stepper.widget import Stepper

__all__ = ["Stepper"]
