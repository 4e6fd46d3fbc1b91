"""Tests of protocol_lab/interchange."""
