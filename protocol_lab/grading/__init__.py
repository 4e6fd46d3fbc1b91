"""Labs: protocols that a learner writes from a skeleton, and that are graded by exhaustive search.

labs              what a lab consists of: its parts, points and hidden trials; starting one
submission_files  finds the files that were handed in, and says what can't be graded
permitted_code    the part of Python that a submission's functions may use
submissions       reads a submission's functions without running the file
assembly          puts a submission's functions into the grader's own copy of the skeleton
frame_conditions  which parts of the state each of a learner's actions may change
trial_graph       all states of a trial with their steps, and what is asked of each
part_checks       grades one part: safety, states that must be reachable, liveness
worker            the process in which one submission is graded
isolated_process  starts that process, with limits and without a network
grade_report      writes each grade as soon as it is known: a table, CSV, JSON, JUnit XML, pictures
"""
