"""Tests of protocol_lab/spark."""
