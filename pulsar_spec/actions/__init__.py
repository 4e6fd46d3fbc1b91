"""The actions of compaction, in the order of a message's life.

topic             the producer sends messages
compactor         the two phases of a compaction, and how its result is made known
crashes           the broker crashes, and another one takes over
idle_steps        steps that change nothing: the original's consumer, and termination
reading_consumer  not in the original: a consumer that reads
"""
