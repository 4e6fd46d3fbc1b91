"""Tests of protocol_lab/semantics."""
