"""Explanations: the values that made a guard refuse or an invariant fail.

interpreter      runs a function statement by statement, recording what it evaluated
decisive_values  the comparisons that decided a result
phrasing         writes values and expressions as people read them
wording          names of a spec in plain words; the sentences on a stepper's buttons
explanation      the explanation of a refusal or a violation
code_path        the lines of an action that a step executed
tally            who has said what: the claims of a spec in a state, and where two contradict
coverage         which actions a search never took, and which guards refused them
"""
