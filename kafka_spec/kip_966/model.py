"""The model: sizes and rules, the controller, brokers with their replicas, and the messages.

One partition. Brokers count from 1, and a replica has its broker's number. Offsets count from 1, as
in the original; end offset and high watermark are exclusive, so that both are 1 while a log is
empty. An absent offset, epoch or leader is 0.

Throughout: `s` is the state and `c` the constants; `isr` and `elr` are sets of brokers, in sync and
eligible to lead; `leo` is a log's end offset, `leso` the one at which a leader's epoch begins,
`hwm` the high watermark, `ap` an AlterPartition request. `con_` marks what the controller knows,
`aux_` and `inv_` what only the model counts or checks. Who acts comes first among parameters.

Where a rule is applied, and the scenario kip_966_... that shows why it is there:

    eligible_leader_replicas    controller.next_elr, isr_without    last_replica_standing
    unclean_shutdown_detection  controller.is_unclean               rejoins_with_an_empty_log
    strict_min_isr              replica.can_advance                 committed_by_the_leader_alone
    broker_epoch_checked        controller.is_stale                 joins_with_an_old_broker_epoch
    elr_emptied                 controller.next_elr                 eligible_for_too_long
    elr_without_isr             controller.next_elr                 in_isr_and_elr
    maximal_isr                 broker.send_alter_partition_request
    last_known_leader           controller.remembered               two_unclean_restarts
"""

from typing import Annotated, NamedTuple

from protocol_lab import *

# --- Constants ---------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, what may happen how often, rules, and how far to look."""

    # --- Size ---

    broker_count: Annotated[int, Limits(1, 5, "brokers")] = 2
    init_replication_factor: Annotated[int, Limits(1, "broker_count", "replicas at the start")] = 2
    init_isr_size: Annotated[
        int, Limits(1, "init_replication_factor", "how many of them are in the ISR at the start")
    ] = 2
    min_isr: Annotated[int, Limits(0, "init_isr_size", "min.insync.replicas")] = 2
    values: Annotated[int, Limits(0, 4, "records that producers write")] = 1

    # --- What may happen, and how often ---

    no_data_loss_shutdown_limit: Annotated[
        int, Limits(0, 9, "shutdowns, clean or not, that leave the log whole")
    ] = 0
    data_loss_shutdown_limit: Annotated[
        int, Limits(0, 9, "unclean shutdowns that lose the log")
    ] = 1
    fence_broker_limit: Annotated[int, Limits(0, 9, "sessions that expire")] = 0
    leader_shrink_isr_limit: Annotated[int, Limits(0, 9, "requests to shrink the ISR")] = 0
    reassignment_limit: Annotated[int, Limits(0, 9, "reassignments of the partition")] = 0

    # --- Rules, in the table above ---

    eligible_leader_replicas: Annotated[
        int,
        flag("there is an ELR, and the ISR may become empty; off: the rules of the folder v3.5"),
    ] = 1
    unclean_shutdown_detection: Annotated[
        int, flag("who registers without a clean-shutdown file leaves ISR and ELR")
    ] = 1
    strict_min_isr: Annotated[
        int, flag("the high watermark waits for min_isr members of the ISR (KAFKA-15583)")
    ] = 1
    broker_epoch_checked: Annotated[
        int, flag("AlterPartition compares the broker epochs of those it adds (KIP-903)")
    ] = 1
    partition_epoch_checked: Annotated[int, flag("AlterPartition compares partition epochs")] = 1
    elr_emptied: Annotated[int, flag("an ISR of min_isr members empties the ELR")] = 1
    elr_without_isr: Annotated[int, flag("members of the ISR are taken out of the ELR")] = 0
    maximal_isr: Annotated[int, flag("a leader waits for all whom it has asked for")] = 1
    leso_checked: Annotated[
        int, flag("who joins the ISR has reached the first record of the leader's epoch")
    ] = 1
    hwm_checked: Annotated[int, flag("who joins the ISR has reached the high watermark")] = 1
    fetch_state_reset: Annotated[
        int, flag("a leader that is elected again forgets what it knew of those outside the ISR")
    ] = 1
    incarnation_checked: Annotated[
        int, flag("a broker compares the incarnation in the answer to its registration")
    ] = 1
    elect_fenced_elr: Annotated[int, flag("defect: fenced members of the ELR are elected")] = 0
    unclean_election: Annotated[
        int, flag("if nobody of ISR and ELR can lead, any unfenced replica is elected")
    ] = 0
    unclean_recovery: Annotated[
        int, flag("if ISR and ELR are empty, the longest log of the last known ELR leads")
    ] = 0
    last_known_leader: Annotated[
        int,
        flag(
            "if ISR and ELR are empty, the last leader is elected once it is back, as in Kafka"
            " 4.x: it alone is the last known ELR"
        ),
    ] = 0
    avoid_last_replica_standing: Annotated[
        int, flag("v3.5: the last member of the ISR does not lose its log")
    ] = 0

    # --- How far to look, and room for messages and records ---

    max_messages_in_flight: Annotated[
        int, Limits(0, 99, "constraint: look no further with more messages", may_be_none=True)
    ] = 99
    max_metadata_records: Annotated[
        int, Limits(0, 99, "constraint: look no further with a longer log", may_be_none=True)
    ] = 99
    max_incarnation: Annotated[
        int, Limits(0, 99, "constraint: look no further after more starts", may_be_none=True)
    ] = 99
    control_slots: Annotated[
        int, storage(1, 96, "registrations and ISR changes sent, of each kind")
    ] = 8
    fetch_slots: Annotated[int, storage(1, 192, "fetches ever sent, and answers")] = 16
    metadata_slots: Annotated[int, storage(1, 64, "records of the metadata log")] = 8


# --- Names -------------------------------------------------------------------------------------

Broker = Node("broker_count", noun="broker")
Value = Node("values")

BrokerStatus = Named("running", "starting", "offline_clean", "offline_dirty")
ReplicaStatus = Named("nil", "leader", "follower")
Shutdown = Named("unclean", "clean")
Error = Named(
    "nil",
    "ineligible_replica",
    "fenced_leader_epoch",
    "unknown_leader_epoch",
    "not_leader_or_follower",
)

# --- The controller ----------------------------------------------------------------------------


class Registration(Struct):
    """What the controller knows of a broker; whether it is fenced, `con_unfenced` says."""

    broker_epoch: Int8
    incarnation_id: Int8


class PartitionChange(Struct):
    """The partition as the controller has it, and each record of the metadata log."""

    replicas: NodeSet(Broker)
    isr: NodeSet(Broker)
    elr: NodeSet(Broker)
    last_known_elr: NodeSet(Broker)
    leader: Broker
    leader_epoch: Int8
    partition_epoch: Int8
    adding: NodeSet(Broker)
    removing: NodeSet(Broker)


# --- A broker, and its replica -------------------------------------------------------------------


class BrokerState(Struct):
    """A broker's life; broker epoch 0 is that of one without a clean-shutdown file."""

    status: BrokerStatus
    broker_epoch: Int8
    incarnation_id: Int8
    registered: Bool


class Fetcher(Struct):
    """A broker's session with a peer: whether it fetches the partition there, and from where."""

    has_partition: Bool
    fetch_offset: Int8
    last_fetched_epoch: Int8
    delayed: Bool
    pending_response: Bool


class PartitionMetadata(Struct):
    """The partition as a replica knows it. `maximal_isr`: all that may be in the ISR by now."""

    replicas: NodeSet(Broker)
    isr: NodeSet(Broker)
    maximal_isr: NodeSet(Broker)
    leader: Broker
    leader_epoch: Int8
    partition_epoch: Int8


class Record(Struct):
    """A record of the partition's log; a value is written once."""

    epoch: Int8
    offset: Int8
    value: Value


class ReplicaState(Struct):
    """How far a leader knows a follower to be, and the broker epoch in which it fetched."""

    leo: Int8
    broker_epoch: Int8


# --- Messages: each kind is a set --------------------------------------------------------------


class RegisterRequest(Struct):
    """A broker registers: with the epoch in its clean-shutdown file, or 0."""

    source: Broker
    broker_epoch: Int8
    incarnation_id: Int8


class RegisterResponse(Struct):
    """Its new epoch, and how long the metadata log was."""

    dest: Broker
    broker_epoch: Int8
    incarnation_id: Int8
    metadata_offset: Int8


class AlterPartitionRequest(Struct):
    """A leader asks for an ISR. `epochs`: the broker epochs of itself and of those it adds."""

    source: Broker
    isr: NodeSet(Broker)
    epochs: Per(Broker, Int8)
    leader_epoch: Int8
    partition_epoch: Int8
    broker_epoch: Int8


class AlterPartitionResponse(Struct):
    """The partition as it is now, or an error; and the request."""

    dest: Broker
    error: Error
    replicas: NodeSet(Broker)
    isr: NodeSet(Broker)
    leader: Broker
    leader_epoch: Int8
    partition_epoch: Int8
    request: AlterPartitionRequest


class FetchRequest(Struct):
    """A follower asks for the record at an offset."""

    source: Broker
    dest: Broker
    broker_epoch: Int8
    leader_epoch: Int8
    fetch_offset: Int8
    last_fetched_epoch: Int8


class FetchResponse(Struct):
    """An error, or where the logs diverge, or a record or none (value NONE)."""

    source: Broker
    dest: Broker
    error: Error
    leader_epoch: Int8
    fetch_offset: Int8
    diverges: Bool
    diverging_epoch: Int8
    diverging_offset: Int8
    hwm: Int8
    record: Record


class Messages(Struct):
    """Messages of all kinds."""

    register_requests: Bag(RegisterRequest, "control_slots")
    register_responses: Bag(RegisterResponse, "control_slots")
    alter_requests: Bag(AlterPartitionRequest, "control_slots")
    alter_responses: Bag(AlterPartitionResponse, "control_slots")
    fetch_requests: Bag(FetchRequest, "fetch_slots")
    fetch_responses: Bag(FetchResponse, "fetch_slots")


# --- The state ---------------------------------------------------------------------------------


class PendingRequest(Struct):
    """The ISR change that a leader waits for, and the partition epoch that it would bring."""

    epoch: Int8
    request: AlterPartitionRequest


class Counters(Struct):
    """How often each limited event has happened, and the next incarnation."""

    incarn_ctr: Int8
    no_data_loss_shutdown_ctr: Int8
    data_loss_shutdown_ctr: Int8
    fence_broker_ctr: Int8
    leader_shrink_isr_ctr: Int8
    reassignment_ctr: Int8


class State(Struct):
    """All variables, under the original's names."""

    con_unfenced: NodeSet(Broker)
    con_broker_reg: Per(Broker, Registration)
    con_partition_metadata: PartitionChange
    con_metadata_log: Seq(PartitionChange, "metadata_slots")

    broker_state: Per(Broker, BrokerState)
    broker_fetchers: Per(Broker, Per(Broker, Fetcher))
    broker_metadata_log: Per(Broker, Int8)  # how much of the metadata log a broker has

    partition_status: Per(Broker, ReplicaStatus)
    partition_metadata: Per(Broker, PartitionMetadata)
    log: Per(Broker, Seq(Record, "values"))
    hwm: Per(Broker, Int8)
    partition_leso: Per(Broker, Int8)  # where the log ended when the leader was elected
    partition_replica_state: Per(Broker, Per(Broker, ReplicaState))
    partition_pending_ap: Per(Broker, PendingRequest)

    aux_broker_epoch: Int8
    aux_ctrs: Counters
    aux_flo: Per(Broker, Int8)  # from where this leader may acknowledge; 0: nothing

    inv_sent: NodeSet(Value)
    inv_pos_acked: NodeSet(Value)
    inv_neg_acked: NodeSet(Value)
    inv_true_hwm: Int8
    inv_consumed: Seq(Record, "values")

    messages: Messages  # in flight
    messages_discard: Messages  # delivered or dropped


def init(s: State, c: Constants):
    """Broker 1 leads; a replica outside the ISR is fenced, and knows the ISR of before."""
    replicas = nodes_up_to(c.init_replication_factor)
    isr = nodes_up_to(c.init_isr_size)
    brokers = nodes_up_to(c.broker_count)
    s.con_unfenced = brokers & ~(replicas & ~isr)
    first = PartitionChange(replicas=replicas, isr=isr, leader=1, leader_epoch=1)
    first.partition_epoch = 1 if c.init_isr_size == c.init_replication_factor else 2
    s.con_partition_metadata = first
    append(s.con_metadata_log, first)
    for broker in brokers:
        s.con_broker_reg[broker] = Registration(broker_epoch=broker, incarnation_id=broker)
        s.broker_state[broker].broker_epoch = broker
        s.broker_state[broker].incarnation_id = broker
        s.broker_state[broker].registered = True
        if broker != 1:
            s.broker_fetchers[broker][1].has_partition = True
            s.broker_fetchers[broker][1].fetch_offset = 1
        if broker in s.con_unfenced:
            s.broker_metadata_log[broker] = 1
        s.hwm[broker] = 1
    for broker in replicas:
        s.partition_status[broker] = "leader" if broker == 1 else "follower"
        known, epoch = replicas, 1
        if broker in isr:
            known, epoch = isr, s.con_partition_metadata.partition_epoch
        own = s.partition_metadata[broker]
        own.replicas = replicas
        own.isr = known
        own.maximal_isr = known
        own.leader = 1
        own.leader_epoch = 1
        own.partition_epoch = epoch
    s.partition_leso[1] = 1
    s.aux_broker_epoch = c.broker_count
    s.aux_ctrs.incarn_ctr = c.broker_count + 1
    s.inv_true_hwm = 1
    return TAKEN


# --- What is said of brokers and replicas --------------------------------------------------------


def is_running(s, broker) -> bool:
    """Is the broker up, and registered?"""
    return s.broker_state[broker].status == "running"


def is_offline(s, broker) -> bool:
    """Is the broker down?"""
    return s.broker_state[broker].status in ("offline_clean", "offline_dirty")


def end_of(s, broker) -> int:
    """The end offset of the replica's log."""
    return len(s.log[broker]) + 1


def has_pending_ap(s, broker) -> bool:
    """Does the leader wait for a later partition epoch than it knows?"""
    return s.partition_pending_ap[broker].epoch > s.partition_metadata[broker].partition_epoch


def is_valued_in(value, log) -> bool:
    """Does the log have the value?"""
    return any(record.value == value for record in log)


def discard(messages, discarded, message) -> None:
    """A message is no longer in flight: delivered, or dropped."""
    add_once(discarded, message)
    take(messages, message)


def messages_in_flight(s) -> int:
    """How many messages are in flight."""
    m = s.messages
    return (
        len(m.register_requests)
        + len(m.register_responses)
        + len(m.alter_requests)
        + len(m.alter_responses)
        + len(m.fetch_requests)
        + len(m.fetch_responses)
    )
