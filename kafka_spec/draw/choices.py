"""The sentences that stand on a stepper's buttons, for all actions of the Kafka specs.

A parameter stands in braces; `{entries:message}` counts: "1 message", "2 messages"; `{record:A}` is
the name of a record.
"""

LOGS = {
    "append": "Write {record:A} to broker {replica}",
    "truncate_to": "Cut broker {replica}'s log to {end_offset:record}",
    "replicate_to": "Broker {target} copies from broker {source}",
}

ASYNC_ISR = {
    "controller_shrink_isr": "The controller drops broker {replica}",
    "controller_handle_request": "The controller gets ISR {message.isr}, version {message.version}",
    "leader_request_shrink_isr": "The leader asks to drop broker {replica}",
    "leader_request_expand_isr": "The leader asks to add broker {replica}",
    "leader_write": "The leader writes a record",
    "leader_handle_update": "The leader learns of version {update.version}",
    "follower_replicate": "Broker {replica} copies the next record",
}

_FETCH = "Broker {follower} fetches from broker {leader}"
_FOLLOW = "Broker {follower} learns of leader {request.leader}, epoch {request.leader_epoch}"
_ADD = "Broker {leader} adds broker {follower} to the ISR"
_DROP = "Broker {leader} drops broker {follower} from the ISR"
_COMMIT = "Broker {leader} raises its high watermark"

REPLICATION = {
    "controller_elect_leader": "The controller makes broker {new_leader} leader",
    "controller_shrink_isr": "The controller drops broker {replica}",
    "become_leader": "Broker {request.leader} leads in epoch {request.leader_epoch}",
    "leader_write": "Broker {replica} writes a record",
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
    "follower_truncate": "Broker {follower} truncates as broker {leader} says",
}

UNCLEAN_ELECTION = {
    "produce_message": "Producer {producer} sends {producer:A} to broker {replica}",
    "replicate": "Broker {replica} fetches {entries:message}",
    "become_out_of_sync": "Broker {replica} leaves the ISR",
    "become_in_sync": "Broker {replica} joins the ISR",
    "leader_failure": "Broker {replica} loses its session",
    "elect_new_leader": "Broker {replica} is elected",
    "failed_replica_back": "Broker {replica} is back",
    "swap_preferred_leader": "Prefer broker {replica} as leader",
    "become_follower": "Broker {replica} follows the leader",
    "unstable_replica_dies_when_leader": "The unstable leader dies for good",
    "unstable_replica_dies_when_follower": "The unstable follower dies for good",
    "preferred_leader_election": "The preferred replica is made leader",
    "unclean_leader_election_choose_latest_offset": (
        "Unclean election of broker {replica} (latest offset)"
    ),
    "unclean_leader_election_choose_first_alive": (
        "Unclean election of broker {replica} (first alive)"
    ),
    "elect_eligible_leader_replica": "Broker {replica} is elected from the ELR",
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
    "write_record_to_leader": "Write {value:A} to broker {broker}",
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
    "give_up": "The producer of {value:A} gives up",
    "stop": "Stop broker {broker}",
    "pause": "Broker {broker} pauses until its session ends",
    "kill": "Kill broker {broker}",
    "lose_power": "Broker {broker} loses power; {flushed:record} flushed",
    "rack_loses_power": "Rack {rack} loses power",
    "replace_disk": "Broker {broker} gets a new disk",
    "lose_machine": "Broker {broker} is lost for good",
    "start": "Broker {broker} is back",
}
