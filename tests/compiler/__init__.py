"""Tests of protocol_lab/compiler."""
