"""What a protocol is and does: its declarations, and its functions run as they were written.

This is what a verdict rests on, with the search of the reference engine (`docs/decisions.md`). It
imports nothing of the kit but errors, and numbers that people type.

node_sets          sets of nodes as bitmasks
containers         operations on sequences and bags inside a state
evaluation         calls a plain function as it was written; errors name their place
layout             the types of fields, and where each field stands in a row of bytes
state_view         a row of bytes with named fields, which plain functions read and write
constants          constants with their bounds, the room for them, named configurations
parameters         the domains of an action's parameters
declarations       what is registered with a spec: messages, refinements, symmetry, claims
temporal_formulas  temporal properties, and fairness
spec               a declared protocol, and a model: the spec with its constants
transitions        tries actions on a state: the successor, or the reason for the refusal; `enabled`
step_text          a step as text, written and read; which parameters it has, and which values
"""
