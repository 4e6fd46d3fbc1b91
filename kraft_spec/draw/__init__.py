"""The picture of KRaft, and what happens in a step as its sequence diagram tells it.

Offsets are Kafka's, from 0; so a high watermark is the first offset that is not known to be
committed. The modules say what the state says and recompute nothing of the protocol, but for the
comparisons of logs that a reader would make with her eyes.
"""
