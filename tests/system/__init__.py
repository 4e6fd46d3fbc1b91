"""Tests of protocol_lab/system."""
