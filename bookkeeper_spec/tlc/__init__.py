"""Translation for comparisons with TLC: the printed form of variables, and the count of steps.

variables      converts our state to the variables of the originals, as TLC prints them
multiplicity   how often TLC counts one step as generated

A module for each spec names what it needs of both, as PRINTED and MULTIPLICITIES:

protocol, v4_13, with_limbo, guaranteed_write_quorum, unbounded_ledgers
"""
