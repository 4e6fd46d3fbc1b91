"""Tests of protocol_lab/lessons."""
