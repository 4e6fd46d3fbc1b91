"""Pictures of the Kafka specs: one state as SVG, differences to another state marked.

Every `draw_...(model, row, previous=None, title=None)` is some spec's `draw`. `row` is the state;
`previous`, if given, a state of the same model to mark the differences to; `title` is a visible
heading. Offsets are Kafka's, from 0. The pictures show what the state says and recompute nothing
of the protocols, but for the comparisons of logs that a reader would make with her eyes.

The specs import these modules, so that of the spec modules only the helpers below a spec may be
imported here.
"""
