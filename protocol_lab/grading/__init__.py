"""Labs: protocols that a learner writes from a skeleton, and that are graded by exhaustive search.

labs              what a lab consists of, how one is started, and the files that are handed in
submissions       the part of Python that is permitted; reads a submission without running it
assembly          puts a submission's functions into the grader's own copy of the skeleton
trial_graph       all states of a trial with their steps, what these may change, what is asked
part_checks       grades one part: safety, states that must be reachable, liveness
worker            the process in which one submission is graded
isolated_process  starts that process, with limits and without a network
grade_report      writes each grade as soon as it is known: a table, CSV, JSON, JUnit XML, pictures
"""
