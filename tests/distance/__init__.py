"""Tests of protocol_lab/distance."""
