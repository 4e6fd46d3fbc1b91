"""Tests of the KRaft specs alone."""
