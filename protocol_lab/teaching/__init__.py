"""What notebooks ask of a learner.

exercises   predictions, and exercises with a check, hints and a worked answer
challenges  challenges: the learner plays the adversary; par is the shortest counterexample
code_diff   the difference of two functions, to show what a fix changed
"""
