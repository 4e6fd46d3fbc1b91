"""Tests of protocol_lab/drawing."""
