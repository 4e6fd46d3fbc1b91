"""Simulation: seeded random walks, for state spaces too large to exhaust.

simulation_request  what a simulation is asked: walks, steps, seed, bias
simulate            runs the walks, and reports a violation or what was seen
random_walks        many walks at a time, compiled, and how a walk draws its next step
coverage_estimate   estimates from repeated visits how much of the state space was seen
shrinking           shrinks a counterexample by delta debugging
"""
