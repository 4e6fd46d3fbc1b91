"""The tests; their folders mirror the rooms of the kit."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The folder of the kit."""
