"""Tests of the kit as a whole, and the developer's tools that try to break it."""
