"""The stepper: a widget to walk through a protocol, state by state.

starting_point  what a stepper opens: a spec, a walk, a scenario, a challenge or a result
resumption      a session as plain values, from which it continues after a restart
board           what is shown around the tabs, as plain values: actions, invariants, timeline
panels          what is shown in the tabs, as plain values
stage           the cluster's picture, arranged for the space that it has
live            what is computed while the learner looks: distances, suggestions
background      threads for that, whose results are dropped when they are stale
widget          connects it all to JupyterLab, where the scripts in `js/` draw it
static_view     the same board as HTML without a script, for saved notebooks
"""

from protocol_lab.stepper.widget import Stepper

__all__ = ["Stepper"]
