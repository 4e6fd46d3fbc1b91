"""Tests of protocol_lab/stepper."""
