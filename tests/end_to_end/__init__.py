"""Tests of the kit as a whole: whole processes, random specs, bad input."""
