"""Tests of protocol_lab/symmetry."""
