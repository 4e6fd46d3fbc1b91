"""Traces: paths of states and steps, taken, written, read and exported.

walk             a walk through a model: steps, undo, redo, branches
scenario_format  the form of a written walk, scenario files and links: written and read
scenarios        scenarios found, read and played: their steps taken, and their claims checked
events           what happened in a step, as messages and notes for a sequence diagram, and in a
                 sentence or two
text_exports     a walk as text in any format, such as ITF for Apalache and Quint, or Mermaid
"""
