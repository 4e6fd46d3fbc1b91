"""Distances: how many steps the nearest violation is away, or a state that a learner describes.

distance_values    exact distances, and lower bounds; what is known of first steps
step_graph         the states of a finished search with the steps between them
distance_map       distances of all states that a search found, by searching backwards
path_to_state      the shortest path to a state that a learner describes
nearest_violation  answers "how far is the nearest violation from here, and after each step?"
"""
