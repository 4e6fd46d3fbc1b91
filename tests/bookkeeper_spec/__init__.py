"""Tests of the BookKeeper specs alone."""
