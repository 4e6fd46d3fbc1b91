"""Traces: paths of states and steps, taken, written, read and exported.

walk          a walk through a model: steps, undo, redo, branches
scenarios     scenario files: steps, captions, and claims about them
events        what happened in a step, as messages and notes for a sequence diagram, and in a
              sentence or two
text_exports  a walk as a link, as JSON, as ITF for Apalache and Quint, as a Mermaid diagram
"""
