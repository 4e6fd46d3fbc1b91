"""Pictures of the Kafka specs: one state as SVG, differences to another state marked.

Every `draw_...(model, row, previous=None, title=None)` is some spec's `draw`. `row` is the state;
`previous`, if given, a state of the same model to mark the differences to; `title` is a visible
heading. Offsets are Kafka's, from 0. The pictures show what the state says and recompute nothing
of the protocols, except comparisons of logs that a reader would otherwise make by eye.

The variants import these modules, so these import only what is below a variant: the models.
"""

LEGEND = (
    "solid border: committed · ✓: this broker knows it · dashed: not committed"
    " · hatched: truncated just now · highlighted: changed just now · hollow crown, dashed lane:"
    " believes that it leads, and has been overtaken"
)
