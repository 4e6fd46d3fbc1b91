"""The picture of a state, and the events of a step for the sequence diagram. In reading order:

- wording: entries, configurations and messages in a few words
- servers: the picture
- events: what happens in a step, for the sequence diagram

Offsets are Kafka's, from 0; so a high watermark is the first offset that is not known to be
committed. The modules draw what the state says, and compute nothing of the protocol apart from
comparing logs.
"""
