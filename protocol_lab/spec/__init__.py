"""Declaring a protocol: state, constants, parameters, the spec, and states seen as names."""
