"""KRaft, Kafka's Raft: see `kip_853`, which lists all actions; the other modules are its parts."""

TITLE = "KRaft"
