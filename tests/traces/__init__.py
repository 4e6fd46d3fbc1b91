"""Tests of protocol_lab/traces."""
