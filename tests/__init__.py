"""The tests; their folders mirror the rooms of the kit."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The folder of the kit."""

PATIENCE = 600
"""How many seconds tests wait for what another thread, process or browser does.

Only a failure takes that long: a machine that is busy with something else may be ten times slower
than one that is not.
"""
