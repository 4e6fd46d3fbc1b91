"""The parts of `unclean_leader_election`, the model of the talk.

model       the constants and the state: ZooKeeper's, the replicas', what is committed
actions     messages, the ISR, failures, elections from the ISR and from outside of it
properties  what the original claims, and what must be reachable
situations  states worth finding
"""
