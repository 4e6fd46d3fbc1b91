"""Questions, exercises and challenges for learners, and the record of what they have done.

feedback     a judgement in sentences
record       the learner's record: a small file beside the notebooks with what was answered
questions    a whole cell that asks: question, choices, the run, and what follows from it
question_card  the widget of a question
exercises    exercises with a check, hints and a worked answer; what a fix changed
incident     the widget of an incident that is played: a terminal, choices, the rewind
challenges   challenges: the learner plays the adversary; par is the shortest counterexample
overview     what the notebooks ask, and how much of it was done
"""
