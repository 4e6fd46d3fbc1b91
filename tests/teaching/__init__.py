"""Tests of protocol_lab/teaching."""
