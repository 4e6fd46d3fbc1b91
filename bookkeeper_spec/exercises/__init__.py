"""The exercises of the BookKeeper notebooks, one module a notebook, and a widget of the second.

Every task, its hints and its worked answer stand here and nowhere else; the notebooks show them
with one line. A check explores the learner's answer; its figures come from that run.
"""
