"""The sentences that stand on a stepper's buttons, for all actions of the Kafka specs.

A parameter stands in braces; `{entries:message}` counts: "1 message", "2 messages".
"""

LOGS = {
    "append": "Write record {record} to replica {replica}",
    "truncate_to": "Cut replica {replica}'s log to {end_offset:record}",
    "replicate_to": "Replica {target} copies from replica {source}",
}

ASYNC_ISR = {
    "controller_shrink_isr": "The controller drops replica {replica}",
    "controller_handle_request": "The controller gets ISR {message.isr}, version {message.version}",
    "leader_request_shrink_isr": "The leader asks to drop replica {replica}",
    "leader_request_expand_isr": "The leader asks to add replica {replica}",
    "leader_write": "The leader writes a record",
    "leader_handle_update": "The leader learns of version {update.version}",
    "follower_replicate": "Replica {replica} copies the next record",
}

_FETCH = "Replica {follower} fetches from replica {leader}"
_FOLLOW = "Replica {follower} learns of leader {request.leader}, epoch {request.leader_epoch}"
_ADD = "Replica {leader} adds replica {follower} to the ISR"
_DROP = "Replica {leader} drops replica {follower} from the ISR"
_COMMIT = "Replica {leader} raises its high watermark"

REPLICATION = {
    "controller_elect_leader": "The controller makes replica {new_leader} leader",
    "controller_shrink_isr": "The controller drops replica {replica}",
    "become_leader": "Replica {request.leader} leads in epoch {request.leader_epoch}",
    "leader_write": "Replica {replica} writes a record",
    "leader_expand_isr": _ADD,
    "fenced_leader_expand_isr": _ADD,
    "leader_expand_isr_better_fencing": _ADD,
    "leader_shrink_isr": _DROP,
    "fenced_leader_shrink_isr": _DROP,
    "leader_shrink_isr_better_fencing": _DROP,
    "leader_inc_high_watermark": _COMMIT,
    "fenced_leader_inc_high_watermark": _COMMIT,
    "improved_leader_inc_high_watermark": _COMMIT,
    "become_follower": _FOLLOW,
    "become_follower_truncate_to_high_watermark": _FOLLOW,
    "become_follower_truncate_kip_101": _FOLLOW,
    "become_follower_truncate_kip_279": _FOLLOW,
    "fenced_become_follower_and_truncate": _FOLLOW,
    "follower_replicate": _FETCH,
    "follower_fetch": _FETCH,
    "fenced_follower_fetch": _FETCH,
    "follower_truncate": "Replica {follower} truncates as replica {leader} says",
}

UNCLEAN_ELECTION = {
    "produce_message": "Producer {producer} sends to replica {replica}",
    "replicate": "Replica {replica} fetches {entries:message}",
    "become_out_of_sync": "Replica {replica} leaves the ISR",
    "become_in_sync": "Replica {replica} joins the ISR",
    "leader_failure": "Replica {replica} loses its session",
    "elect_new_leader": "Replica {replica} is elected",
    "failed_replica_back": "Replica {replica} is back",
    "swap_preferred_leader": "Prefer replica {replica} as leader",
    "become_follower": "Replica {replica} follows the leader",
    "unstable_replica_dies_when_leader": "The unstable leader dies for good",
    "unstable_replica_dies_when_follower": "The unstable follower dies for good",
    "preferred_leader_election": "The preferred replica is made leader",
    "unclean_leader_election_choose_latest_offset": (
        "Unclean election of replica {replica} (latest offset)"
    ),
    "unclean_leader_election_choose_first_alive": (
        "Unclean election of replica {replica} (first alive)"
    ),
    "elect_eligible_leader_replica": "Replica {replica} is elected from the ELR",
}


def _register(message: dict, leader: int) -> str:
    """Without the file of a clean shutdown a broker may have lost a part of its log."""
    how = "" if message["broker_epoch"] else ", which has not shut down cleanly"
    return f"The controller registers broker {message['source']}{how}"


BROKERS = {
    "unclean_recovery": "Unclean recovery elects broker {leader}",
    "broker_start": "Broker {broker} starts",
    "receive_broker_reg_response": "Broker {message.dest} learns that it is registered",
    "receive_metadata_update": "Broker {broker} reads metadata record {offset}",
    "send_alter_partition_request": "Broker {broker} asks for another ISR",
    "receive_alter_partition_response": "Broker {message.dest} learns about its ISR",
    "send_fetch_request": "Broker {broker} fetches from broker {leader}",
    "receive_fetch_request": "Broker {message.dest} gets broker {message.source}'s fetch",
    "receive_fetch_response": "Broker {message.dest} gets broker {message.source}'s answer",
    "write_record_to_leader": "Write value {value} to broker {broker}",
    "data_loss_shutdown": "Power cut: broker {broker} loses its log",
    "no_data_loss_shutdown": "Broker {broker} stops, {shutdown}",
    "receive_broker_reg_request": _register,
    "receive_alter_partition_request": (
        "Broker {message.source} asks the controller for ISR {message.isr}"
    ),
    "fence_broker": "Broker {broker}'s session expires",
    "unfence_broker": "Broker {broker}'s session is renewed",
    "perform_partition_reassignment": "Reassign the partition: add {adding}, remove {removing}",
}

SETTINGS = {
    "send": "A producer sends the next record",
    "copy": "Broker {follower} copies from the leader",
    "fall_behind": "Broker {follower} falls behind and leaves the ISR",
    "rejoin": "Broker {follower} is in the ISR again",
    "give_up": "The producer of {value} gives up",
    "stop": "Stop broker {broker}",
    "pause": "Broker {broker} pauses until its session ends",
    "kill": "Kill broker {broker}",
    "lose_power": "Broker {broker} loses power; {flushed:record} flushed",
    "rack_loses_power": "Rack {rack} loses power",
    "replace_disk": "Broker {broker} gets a new disk",
    "lose_machine": "Broker {broker} is lost for good",
    "resume": "Broker {broker} is back",
    "start": "Start broker {broker}",
}
