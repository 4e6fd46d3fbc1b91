"""Benchmarks. `python3 lab.py bench` runs the main set; the other modules measure one subject each.

The main set:
__main__             the report: all engines, growing configurations, TLC, another model checker
growth               for each protocol, configurations that become larger
measurement          runs searches in a process of their own, and prints figures
tlc                  runs TLC on the original of a spec, with the same constants
other_checker        another model checker in Python, on a model written for it
plots                how states, seconds and bytes grow, as SVG

One subject each:
kraft                KRaft: bytes of a state, and compiling after an edit
bookkeeper           BookKeeper: states a second, and its shipped configuration until memory is full
spark                how the search on Spark scales, and an estimate for a cluster
killed_spark_search  a large search on Spark that is killed, resumed, and counts as natively
nearness             how long it takes to find the distance to a violation
checks               what the checks in compiled code cost
scale                bytes per state, and the speed-up on more cores
reduction            symmetry reduction and simulation
large_logs           the logs of a large cluster, natively and on Spark
stepper_in_browser   the stepper's response times in a browser
site_on_a_slow_line  how soon a page of the site shows a picture over a slow connection
"""
