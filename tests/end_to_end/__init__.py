"""Tests of the kit as a whole: random specs through every engine, and whole processes."""
