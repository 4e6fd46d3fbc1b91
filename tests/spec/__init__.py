"""Tests of protocol_lab/spec."""
