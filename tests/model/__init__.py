"""Tests of protocol_lab/model."""
