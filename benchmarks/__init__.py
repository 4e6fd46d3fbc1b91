"""Benchmarks. `python3 lab.py bench` runs the main set; the other modules look closer at one
subject each.

__main__            the whole set: engines, growth, TLC and another checker beside them
growth              for each protocol, configurations that become larger
measurement         searches in a process of their own, and how figures are printed
tlc                 TLC on the original of a spec, with the same constants
other_checker       another model checker in Python, on a model written for it
plots               how states, seconds and bytes grow, as SVG
kraft               the layout of KRaft's states, and compiling after an edit
bookkeeper          BookKeeper's shipped configuration, as far as memory goes
spark               how the search on Spark scales, and a model of a cluster
nearness            how long the distance to a violation takes
scale               bytes a state, and what more cores give
reduction           symmetry reduction and simulation
stepper_in_browser  the stepper's reaction times in a browser
site_on_a_slow_line how soon a page of the site shows a picture on a slow line
"""
