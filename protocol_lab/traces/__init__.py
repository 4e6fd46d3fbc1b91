"""Traces: paths of states and steps, taken, written, read and exported.

walk          a walk through a model: steps, undo, redo, branches
scenarios     scenario files: steps, captions, and claims about them
events        what happened in a step, as messages and notes for a sequence diagram
narration     the same in a sentence or two
links         a walk as a short string for a link
itf           a walk in the trace format of Apalache and Quint
text_exports  a walk as JSON or as a Mermaid diagram
"""
