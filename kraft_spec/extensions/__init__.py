"""Extensions of the published protocol: each has a constant of its own, off by default.

With a constant off, the states, the actions and the counts are those of the original. Where the
protocol's own actions ask for one, they read `c.NAME` in one line; read it as 0.

- additions: what the original's prose describes and its actions leave out
    - membership_requests: voters are added and removed on request, by messages
    - resignation: a leader that resigns announces it (EndQuorumEpoch)
    - empty_disks: a server that lost its disk comes back with an empty one
    - added_messages, side_effects: their messages, and what they add to the protocol's own actions
- fixes: defects of the original, and what mends each; defects: properties that show them
- broken_rules: rules of the protocol that are broken on purpose, for teaching
- registration: all of it, put into the spec

What the protocol's own modules ask for (additions, fixes, broken_rules, added_messages,
side_effects) knows nothing of its actions; all else here is built upon them.
"""
