"""What notebooks ask of a learner.

feedback     a judgement in sentences
record       the learner's record: a small file beside the notebooks with what was answered
guesses      compares a guess with what is the case, whatever way it was typed
predictions  questions with buttons or a field, answered before the run
exercises    exercises with a check, hints and a worked answer
challenges   challenges: the learner plays the adversary; par is the shortest counterexample
overview     what the notebooks ask, and how much of it was done
code_diff    the difference of two functions, to show what a fix changed
"""
