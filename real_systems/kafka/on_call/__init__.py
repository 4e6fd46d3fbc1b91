"""On call: an incident of a Kafka cluster, of which one sees only what an operator sees.

In reading order:

incident       the game: what is true, what the clock brings, what is seen, what commands do
cases          what happened before the page, and what an operator could know of it
best_play      the best play, by a search over what could be known
written_lines  what the cluster logs meanwhile, and what its tools print
quorum         the case of a controller quorum, by another model
play           a play as it is shown, and the rewind
"""
