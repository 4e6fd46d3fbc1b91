"""How long tests wait for what another thread, process or browser does."""

PATIENCE = 600
"""Seconds. Only a failure takes that long: a machine that is busy with something else may be ten
times slower than one that is not.
"""
