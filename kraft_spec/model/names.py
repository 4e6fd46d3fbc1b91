"""The names that the protocol uses: roles, server states, commands, results, errors; its nodes.

Servers count from 1, and a number is never used again: a server that lost its disk comes back, if
at all, under another number. NONE (0) in the field of a server stands for nobody. Offsets count
from 1, as in the original; the pictures and Kafka count from 0.
"""

from protocol_lab import Int8, Named, Node

VOTER, OBSERVER = 1, 2
Role = Named(("nil", "voter", "observer"))

UNATTACHED, FOLLOWER, CANDIDATE, LEADER, VOTED, RESIGNED, DEAD_NO_STATE, ILLEGAL_STATE = range(1, 9)
ServerState = Named(
    (
        "nil",
        "unattached",
        "follower",
        "candidate",
        "leader",
        "voted",
        "resigned",
        "dead_no_state",
        "illegal_state",
    )
)

APPEND_COMMAND, INIT_CLUSTER_COMMAND, ADD_VOTER_COMMAND = 1, 2, 3
REMOVE_VOTER_COMMAND, LEADER_CHANGE_RECORD = 4, 5
Command = Named(
    (
        "nil",
        "append_command",
        "init_cluster_command",
        "add_voter_command",
        "remove_voter_command",
        "leader_change_record",
    )
)

OK, NOT_OK, DIVERGING = 1, 2, 3
Result = Named(("nil", "ok", "not_ok", "diverging"))

NO_ERROR, FENCED_LEADER_EPOCH, NOT_LEADER, UNKNOWN_LEADER, UNKNOWN_MEMBER = range(5)
ALREADY_MEMBER, RECONFIG_IN_PROGRESS, LEADER_NOT_READY = range(5, 8)
Error = Named(
    (
        "nil",
        "fenced_leader_epoch",
        "not_leader",
        "unknown_leader",
        "unknown_member",
        "already_member",
        "reconfig_in_progress",
        "leader_not_ready",
    )
)

Server = Node("max_spawned_servers", noun="server")
Pair = Node("max_spawned_servers * (max_spawned_servers - 1) // 2")  # see `links.pair`
Host = Node("hosts")
Value = Node("value")
Epoch = Int8.bounded_by("max_epoch")
Offset = Int8.bounded_by("log_slots")
