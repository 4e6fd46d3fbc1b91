"""What the five truncation variants share: one partition, its replicas and its controller.

model         the constants and the state: logs, beliefs, the quorum state, requests
actions       what happens in several variants: the controller, leaders, followers
properties    what the originals claim, and what must be reachable
extra_claims  invariants that the originals do not have; checked when named
liveness      what should eventually happen
situations    states worth finding
declarations  what every variant declares besides its own actions

Truncation is where the variants differ: what a follower does with its log when it meets a leader,
and which of these meetings the leader epoch forbids. Each variant is a module of `kafka_spec`; the
list at its end has all its actions, in the order of the original's Next.
"""
