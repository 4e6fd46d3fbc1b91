"""KIP-966: eligible leader replicas, in data replication under KRaft.

What it models: one partition, its controller, and brokers that start, stop, and lose their logs.
Whoever leaves an ISR that is then too small to commit anything holds all that was ever committed.
The controller remembers these replicas in the ELR, and may elect one of them when the ISR is empty.
For that two more rules are needed: the high watermark must not rise while the ISR is smaller than
min_isr, and a broker that stopped uncleanly leaves the ELR when it registers again.

What breaks: nothing in the defaults, with one lost log of two. min_isr_recovery_quorum is false
where an ISR of three shrinks to one (15 states), and the sanity check valid_controller_isr_and_elr
with min_isr 3 (9 states). Two lost logs are more than the protocol promises to survive with min_isr
2. Without the ELR, as in Kafka 3.x, one is too many: an acknowledged record is lost from all
replicas in 17 states. Each flag in `model` takes a rule away; a table there names the scenario that
shows why the rule is there.

In reading order:

- model: constants, and who remembers what
- controller: who is fenced, ISR and ELR, elections, registration, AlterPartition, reassignment
- broker: its life, the metadata that it follows, ISR changes that a leader asks for
- replica: the high watermark, writes, fetches, truncation
- properties, liveness: what is claimed, and what to look for
- picture, events: how a state and a step are shown
- tlc: what only comparisons with TLC need

Offsets count from 1, and end offset and high watermark are exclusive, as in the original.

Left out: batches, time, heartbeats, the two phases of a controlled shutdown, and what a producer
does when it is refused. A broker that loses its log loses all of it. A broker is unfenced as it
registers. A clean shutdown is told by any broker epoch in the request; Kafka compares it.

Source: Jack Vanlightly, https://github.com/Vanlightly/kafka-tlaplus, the modules in
kafka_data_replication/kraft/kip-966, and v3.5 beside it for eligible_leader_replicas=false;
KIP-966. last_known_leader is Kafka's own (`PartitionChangeBuilder` 4.3.1).
"""

from kafka_spec.draw.choices import BROKERS
from kafka_spec.kip_966 import broker, controller, replica
from kafka_spec.kip_966.events import broker_events, declare_messages
from kafka_spec.kip_966.liveness import declare_liveness
from kafka_spec.kip_966.model import *
from kafka_spec.kip_966.picture import draw_kip_966
from kafka_spec.kip_966.properties import declare_properties, declare_situations
from protocol_lab import *

# A release is a set of rules, as it is when it is installed; on a 4.0 the ELR can be switched on
# (`eligible.leader.replicas.version=1`), and it then has the rules of 4.1. Sizes and limits are
# those of the last replica standing: one session expires, and one broker loses its log.
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


ACTIONS = (  # in the order of the original's Next
    controller.unclean_recovery,
    broker.broker_start,
    broker.receive_broker_reg_response,
    broker.receive_metadata_update,
    broker.send_alter_partition_request,
    broker.receive_alter_partition_response,
    replica.send_fetch_request,
    replica.receive_fetch_request,
    replica.receive_fetch_response,
    replica.write_record_to_leader,
    broker.data_loss_shutdown,
    broker.no_data_loss_shutdown,
    controller.receive_broker_reg_request,
    controller.receive_alter_partition_request,
    controller.fence_broker,
    controller.unfence_broker,
    controller.perform_partition_reassignment,
)


def within_messages_in_flight(s: State, c: Constants):
    """At most max_messages_in_flight messages are in flight."""
    if messages_in_flight(s) > c.max_messages_in_flight:
        return "too many messages are in flight"
    return HOLDS


def within_metadata_records(s: State, c: Constants):
    """The metadata log has at most max_metadata_records records."""
    if len(s.con_metadata_log) > c.max_metadata_records:
        return "the metadata log is too long"
    return HOLDS


def within_incarnations(s: State, c: Constants):
    """The next incarnation is at most max_incarnation."""
    if s.aux_ctrs.incarn_ctr > c.max_incarnation:
        return "too many brokers were started"
    return HOLDS


spec = Spec(
    "kafka.kip_966",
    State,
    Constants,
    __doc__,
    original="kafka_replication_kip_966",
    tlc="kafka_spec.kip_966.tlc",
    draw=draw_kip_966,
    lifelines=("controller", Broker),
    events=broker_events,
    choices=BROKERS,
    configurations=CONFIGURATIONS,
    decisions=(
        "unclean_recovery",
        "fence_broker",
        "unfence_broker",
        "perform_partition_reassignment",
        "data_loss_shutdown",
        "no_data_loss_shutdown",
    ),
)
spec.init(init)
declare_messages(spec)
for action in ACTIONS:
    spec.action(action)
declare_properties(spec)
declare_liveness(spec)
declare_situations(spec)
spec.symmetric(Value)
spec.constraint(within_messages_in_flight)
spec.constraint(within_metadata_records)
spec.constraint(within_incarnations)
