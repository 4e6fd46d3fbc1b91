"""Tests of protocol_lab/language."""
