"""Benchmarks. `python3 lab.py bench` runs the main set; the other modules measure one subject each.

The main set:
__main__     the report: all engines, growing configurations, TLC
growth       for each protocol, configurations that become larger
measurement  runs searches in a process of their own, and words figures
tlc          larger searches beside TLC, which runs on the originals

One subject each:
kraft        KRaft: bytes of a state, and compiling after an edit
spark        how the search on Spark scales
reduction    what random walks find that a search does not reach
large_logs   the logs of a large cluster, natively and on Spark
lines        the lines of code in a commit, by room
"""
