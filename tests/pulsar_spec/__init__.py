"""Tests of the Pulsar specs alone."""
