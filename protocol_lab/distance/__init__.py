"""Distances: how many steps the nearest violation is away, or a state that a learner describes.

distance_values    exact distances, and lower bounds
successor_graph    states and transitions kept in memory, to be searched repeatedly
backward           distances of all states from a violation: one backward search
forward            distances after each possible next step: one forward search for all of them
path_to_state      the shortest path to a state that a learner describes
nearest_violation  answers "how far is the nearest violation from here, and after each step?"
"""
