"""Tests of the notebooks, and of what their cells show."""
