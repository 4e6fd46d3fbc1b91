"""What a spec means, one state at a time, in plain Python: the oracle for compiled code.

transitions      tries actions on a state: the successor, or the reason for the refusal
enabledness      can an action be taken in a state? asked by invariants and predicates
step_text        a step as text, such as `become_leader(replica=2)`, written and read
signatures       which parameters a step has, and which values
name_flow        follows named values through calls, and refuses one that is used as another
unsupported_syntax  rejects Python that is not in the language, before anything runs
common_mistakes  rejects code that means something else in a spec than in Python
dry_run          tries a spec on a few states before it is compiled, to name mistakes early
"""
