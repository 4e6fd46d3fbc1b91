"""Tests of protocol_lab/reader."""
