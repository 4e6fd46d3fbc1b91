"""Constants that belong together: what the original ships, and the releases of Kafka.

A release is a set of rules, as it is when it is installed; on a 4.0 the ELR can be switched on
(`eligible.leader.replicas.version=1`), and it then has the rules of 4.1. Sizes and limits are those
of the last replica standing: one session expires, and one broker loses its log.
"""

from protocol_lab import *

ONE_OF_EACH = {"fence_broker_limit": 1, "data_loss_shutdown_limit": 1}
WITHOUT_ELR = ONE_OF_EACH | {"eligible_leader_replicas": False}
WITH_ELR = ONE_OF_EACH | {"elr_without_isr": True, "last_known_leader": True}

CONFIGURATIONS = (
    Configuration(
        "default",
        "two replicas, and one broker that loses its log",
        "111,555 distinct states",
    ),
    Configuration(
        "shipped",
        "three replicas, as in kafka_replication_kip_966.cfg, which comes with the original and has"
        " a VIEW",
        "not explored to the end",
        {
            "broker_count": 3,
            "init_replication_factor": 3,
            "min_isr": 2,
            "init_isr_size": 2,
            "fence_broker_limit": 1,
        },
    ),
    Configuration(
        "release_3_6",
        "no ELR, and the leader commits alone: one power cut loses a record",
        "not explored to the end",
        WITHOUT_ELR | {"strict_min_isr": False},
    ),
    Configuration(
        "release_3_7",
        "no ELR; the high watermark waits for min_isr members (KAFKA-15583): one power cut loses a"
        " record",
        "not explored to the end",
        WITHOUT_ELR,
    ),
    Configuration(
        "release_4_0",
        "the same: there is an ELR, but it is off",
        "not explored to the end",
        WITHOUT_ELR,
    ),
    Configuration(
        "release_4_1",
        "ELR, disjoint from the ISR, and the last known leader: 4.1 and later",
        "not explored to the end",
        WITH_ELR,
    ),
)
