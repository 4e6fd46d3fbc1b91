"""Pictures of the BookKeeper specs: one state as SVG, differences to another state marked.

Every `draw_...(model, row, previous=None, title=None)` is some spec's `draw`. `row` is the state;
`previous`, if given, a state of the same model to mark the differences to; `title` is a visible
heading. Entry ids are the real ones, from 0, with a LAC of -1 while nothing is confirmed; the
specifications count from 1, with a LAC of 0.
"""
