"""KRaft, Kafka's Raft: the metadata quorum, with the reconfiguration of KIP-853.

One variant, `kip_853`. In reading order:

- kip_853: what it models, what it leaves out, what breaks; every action and where it is
- model: constants, names, messages, links, the state
- actions: what servers, clients and the network do
- properties, liveness: what is claimed
- situations, challenges, exercises, scenarios: what to look for
- extensions: additions, fixes and broken rules, which the published protocol does not have
- draw: the picture and the sequence diagram
- tlc: translates for comparisons with TLC
- in_real_kraft.md: the model and Kafka's own KRaft, setting by setting
"""

TITLE = "KRaft"
