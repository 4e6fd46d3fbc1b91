"""KRaft with pre-vote (KIP-996): what `kraft.kip_996` has instead of what `kraft.kip_853` has.

The logs, the configurations in them, the high watermark, rejected and diverging fetches, and what a
leader checks before a reconfiguration are those of `kraft_spec.actions`. In reading order:

- model: the constants, and what state and messages have in addition
- server_states: what a server becomes when it learns something
- elections: who gives up, who asks first, who says yes, who leads
- replication: who fetches, and what a leader makes of it
- cluster: servers that are added, removed, restarted or lost; links that go down
- properties: the original's claims, under its names; what must eventually happen, under which
  fairness; what is worth looking for
- tlc: what only comparisons with TLC need
"""
