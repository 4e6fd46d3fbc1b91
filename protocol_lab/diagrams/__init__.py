"""Diagrams of walks and state spaces, as SVG or text.

sequence         the sequence diagram of a walk
state_graph      a small state space, or the neighbourhood of a state, laid out by Graphviz
lasso            a run that breaks a temporal property, with its loop as a ring
state_listing    a trace as text: its states, and what each step changes
comparison       two walks side by side, with their differences
"""
