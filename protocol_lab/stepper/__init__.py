"""The stepper: a widget to walk through a protocol, state by state.

starting_point  what a stepper opens: a spec, a walk, a scenario, a challenge or a result
resumption      a session as plain values, from which it continues after a restart
board           the values shown around the tabs: actions, invariants, timeline
panels          the values shown in the tabs
stage           the cluster's picture, arranged for the space that it has
live            background computations: distances, graphs, shortest paths
background      the threads for them, which drop stale results
widget          connects it all to JupyterLab, where the scripts in `js/` draw it
static_view     the same board as HTML without a script, for saved notebooks
"""

from protocol_lab.stepper.widget import Stepper

__all__ = ["Stepper"]
