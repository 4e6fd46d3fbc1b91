"""The parts that the five truncation variants share: one partition, its replicas and its
controller.

model                  the constants and the state: logs, beliefs, the quorum state, requests
actions                what happens in several variants: the controller, leaders, followers
properties             what the originals claim
additional_properties  invariants that they do not have, and what must be reachable
liveness               what should eventually happen; not in the originals either
committed_log          what KIP-320 refines: one log of committed records, which only grows
situations             states worth finding
declarations           what every variant declares besides its own actions

Truncation is where the variants differ: what a follower does with its log when it meets a leader,
and which of these meetings the leader epoch forbids. Each variant is a module of `kafka_spec`; the
list at its end has all its actions, in the order of the original's Next.
"""
