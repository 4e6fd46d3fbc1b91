"""The parts of `async_isr`: how leader and controller agree on the ISR.

model       the constants and the state: the controller's ISR, the leader's, and their messages
actions     records, the leader's requests, the controller's decisions, the leader's updates
properties  what the original claims, and what must be reachable
situations  states worth finding
"""
