"""Tests of protocol_lab/checker."""
