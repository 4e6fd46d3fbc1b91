"""The actions of the talk's model, in the order in which its story goes.

messages           a producer writes, followers copy, and messages are committed
isr_membership     followers leave the ISR and join it
failures           the unstable replica dies, and is back
clean_elections    a leader from the ISR; a replica becomes a follower
unclean_elections  what each election rule does when nobody of the ISR is alive
"""
