"""The actions of KRaft, and the rules that they share. In reading order:

- network: messages that are sent, delivered and lost; links that go down
- server_states: what a server becomes when it learns something
- logs: comparing and truncating logs; the configuration that a log holds
- elections: candidates, votes, and what a new leader does
- high_watermark: client writes, and how a leader commits them
- replication: fetching entries, and truncating what the leader does not have
- reconfiguration: new servers; adding and removing voters
- failures: timeouts, restarts and lost disks
"""
