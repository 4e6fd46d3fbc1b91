"""The stepper: a widget to walk through a protocol, state by state.

starting_point   what a stepper opens: a spec, a walk, a scenario, a challenge or a result
resumption       a session as plain values, from which it continues after a restart
board            the values shown around the tabs: actions, invariants, timeline
panels           the values shown in the tabs
stage            the cluster's picture, arranged for the space that it has
live             background computations: distances, graphs, shortest paths
background       the threads for them, which drop stale results
plain_stepper    connects it all: commands in, boards out
widget           the same as a widget of JupyterLab, where the scripts in `js/` draw it
static_view      the same board as HTML without a script, for saved notebooks
lesson_on_paper  a lesson so, and as a page to print
"""

from typing import Any

__all__ = ["Stepper"]


def __getattr__(name: str) -> Any:
    """The widget, loaded when it is asked for: a page lacks Jupyter's packages."""
    if name != "Stepper":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from protocol_lab.stepper.widget import Stepper

    return Stepper
