"""The stepper: a widget to walk through a protocol, state by state.

starting_point   what a stepper opens: a spec, a walk, a scenario, a challenge or a result; a
                 session as plain values, from which it continues after a restart
board            the values shown around the tabs: actions, invariants, timeline
panels           the values shown in the tabs
stage            the cluster's picture, arranged for the space that it has
live             background computations: distances, graphs, shortest paths; stale ones are dropped
plain_stepper    connects it all: commands in, boards out
widget           the same as a widget of JupyterLab, where the scripts in `js/` draw it
static_view      the same board, or a lesson, without a script: in saved notebooks, and on paper
"""

from typing import Any

__all__ = ["Stepper"]


def __getattr__(name: str) -> Any:
    """The widget, loaded when it is asked for: a page lacks Jupyter's packages."""
    if name != "Stepper":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from protocol_lab.stepper.widget import Stepper

    return Stepper
