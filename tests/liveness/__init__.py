"""Tests of protocol_lab/liveness."""
