"""Distances: how many steps a state is away from the nearest violation.

distance_values    exact distances, and lower bounds
successor_graph    states and transitions kept in memory, to be searched repeatedly
backward           distances of all states from a violation: one backward search
forward            distances after each possible next step: one forward search for all of them
nearest_violation  answers "how far is the nearest violation from here, and after each step?"
"""
