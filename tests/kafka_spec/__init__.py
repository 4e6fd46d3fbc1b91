"""Tests of the Kafka specs alone."""
