"""Tests of protocol_lab/simulation."""
