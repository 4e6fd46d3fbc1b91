"""Symmetry reduction and views: states that count as the same state.

symmetry_check    tests a symmetry declaration on sampled transitions, with nodes renamed
permutation_code  generates code that renames the nodes in a state of a given layout
canonical_form    the functions that generated code calls: hashing, sorting, canonical forms
state_identity    the compiled canonical fingerprint of a state, under symmetry or a view
"""
