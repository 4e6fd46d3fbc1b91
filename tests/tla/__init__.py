"""Tests of protocol_lab/tla."""
