"""Tests of protocol_lab/explain."""
