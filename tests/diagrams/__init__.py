"""Tests of protocol_lab/diagrams."""
