"""Temporal properties under fairness: the graph of all steps, its fair cycles, and lassos."""
