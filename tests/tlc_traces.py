"""Counterexamples as TLC printed them: `tlc_traces.txt`, each below a line `==== NAME`."""

from pathlib import Path

_PARTS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("==== ")[1:]

TRACES = {name: text for name, _, text in (part.partition("\n") for part in _PARTS)}
"""What TLC printed, by the name of the scenario or of the claim that it is about."""
