"""Liveness: temporal properties under fairness, the lassos that break them, and refinements.

check                `check_property`: the search for a fair run that breaks a property
claims               a property for given constants, its fairness, and whether it is about anything
fair_cycles          weak and strong fairness, and the states on fair cycles
lassos               a counterexample as a lasso: a prefix and a loop
lasso_check          judges one lasso in plain Python: is it fair, does it break the property?
refinement           `check_refinement`: does every step map to a step of an abstract spec?
liveness_result      the verdict, with the lasso
"""
