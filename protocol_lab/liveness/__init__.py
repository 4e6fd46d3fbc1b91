"""Liveness: temporal properties under fairness, the lassos that break them, and refinements.

check                `check_property`: the search for a fair run that breaks a property
property_check       what the checks of a property and of a refinement share
claims               a property instantiated for given constants, and the fairness assumed
fairness_conditions  the weak and strong fairness conditions, and the steps that meet them
fair_cycles          the states on fair cycles: strongly connected components
lassos               a counterexample as a lasso: a prefix and a loop
lasso_check          judges one lasso in plain Python: is it fair, does it break the property?
vacuity              is a verdict about something: is there a fair run, is a premise ever true?
refinement           does every step map to a step of an abstract spec?
liveness_result      the verdict, with the lasso
"""
