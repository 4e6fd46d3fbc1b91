"""The controller of KRaft alone, for one partition: what `kafka.kip_966` says of it, and releases.

What it models: fencing, controlled shutdown, registration, ISR changes, elections, reassignments
and configurations, as the controller decides them. Brokers may do anything at any time: whatever
they are, the controller's steps are these. So a metadata log that is no run of this spec is none of
`kafka.kip_966` with these rules. Who may lead, who enters the ELR and what a partition becomes then
are the functions of `kafka_spec.kip_966.controller`.

What releases do and that spec does not: a broker that registers is fenced until it is heard of; of
those that may lead, the first in the order of replicas is elected; preferred elections, and unclean
ones that an operator asks for; a leader adds one member to the ISR, or removes some; a partition's
replicas have an order; up to 3.5 a smaller ISR begins a new leader epoch. Without ELR the rules are
those of its eligible_leader_replicas=false, with ELR those of 4.1. Seen in metadata logs of 3.6.2
and 4.3.1; the rule of 3.5 has not been run against a recorded cluster.

What it leaves out: failed log directories, migration from ZooKeeper, deleted topics.

Epochs are relative: each step begins with 0, so that the number of states is finite.
"""

from typing import Annotated, NamedTuple

from kafka_spec.kip_966.controller import (
    change_members,
    completes_reassignment,
    end_reassignment,
    isr_after,
    isr_without,
    leader_stays,
    next_elr,
    next_leaders,
    publish,
)
from kafka_spec.kip_966.model import Broker, PartitionChange
from protocol_lab import *
from protocol_lab.drawing import Cluster, drawing_of
from real_systems.kafka.picture import controller, replica_lane


class Constants(NamedTuple):
    """The brokers, what the controller's own file says, and the rules of the spec."""

    broker_count: Annotated[int, Limits(1, 15, "brokers that ever had a replica")] = 3
    static_min_isr: Annotated[int, Limits(0, 99, "min.insync.replicas of the controller")] = 1
    static_unclean: Annotated[int, flag("unclean.leader.election.enable of the controller")] = 0
    eligible: Annotated[
        str, choice("log", "on", "off", meaning="eligible leader replicas: as the log says, or")
    ] = "log"

    min_isr: Annotated[int, Limits(0, 99, "of the topic; the log sets it")] = 1
    eligible_leader_replicas: Annotated[int, flag("there is an ELR; the log sets it")] = 1
    last_known_leader: Annotated[
        int, flag("if ISR and ELR are empty, the last leader is elected; with ELR")
    ] = 1
    elr_emptied: Annotated[int, flag("an ISR of min_isr members empties the ELR")] = 1
    elr_without_isr: Annotated[int, flag("members of the ISR are taken out of the ELR")] = 1
    elect_fenced_elr: Annotated[int, flag("defect: fenced members of the ELR are elected")] = 0
    unclean_election: Annotated[int, flag("any unfenced replica; the log sets it")] = 0


Setting = Named("unset", "false", "true")

EPOCHS_KEPT = 12
"""From this metadata.version on, 3.6-IV0, a smaller ISR does not begin a leader epoch."""


class State(Struct):
    """What the controller knows of the partition, its brokers and its configuration."""

    exists: Bool
    order: Seq(Broker, "broker_count")  # the replicas, the preferred leader first
    con_partition_metadata: PartitionChange
    con_metadata_log: Seq(PartitionChange, 2)  # as it was before the step; what the step wrote
    con_registered: NodeSet(Broker)
    con_unfenced: NodeSet(Broker)
    shutting_down: NodeSet(Broker)
    recovering: Bool  # the leader was elected although it may lack records
    elr: Bool
    metadata_version: Int16
    topic_min_isr: Int16  # 0: not set
    cluster_min_isr: Int16
    topic_unclean: Setting
    cluster_unclean: Setting
    may_clear: Bool  # min.insync.replicas was changed: the ELR may be cleared


def describe(s, c) -> Cluster:
    """The partition as the controller has it, and what it knows of each replica's broker."""
    partition = s.con_partition_metadata
    decided = controller(
        partition.leader or None, None, partition.isr, partition.elr, partition.last_known_elr
    )
    lanes = [
        replica_lane(
            broker,
            broker == partition.leader,
            False,
            partition.isr,
            partition.elr,
            empty=presence(s, broker),
        )
        for broker in s.order
    ]
    return Cluster(bars=[decided], lanes=lanes, columns=0)


def presence(s, broker) -> str:
    """What the controller knows of a broker."""
    if broker not in s.con_unfenced:
        return "is fenced"
    return "shuts down" if broker in s.shutting_down else "is there"


spec = Spec("kafka.controller", State, Constants, __doc__, draw=drawing_of(describe))


@spec.init
def start(s: State, c: Constants):
    """An empty metadata log."""
    s.elr = c.eligible == "on"
    s.metadata_version = EPOCHS_KEPT
    return TAKEN


# --- Rules that configurations choose ------------------------------------------------------------


def min_isr(s, c) -> int:
    """The topic's min.insync.replicas, at most its number of replicas."""
    wanted = s.topic_min_isr or s.cluster_min_isr or c.static_min_isr
    return min(wanted, len(s.order))


def elects_uncleanly(s, c) -> bool:
    """Does the topic have unclean.leader.election.enable?"""
    for setting in (s.topic_unclean, s.cluster_unclean):
        if setting != "unset":
            return setting == "true"
    return bool(c.static_unclean)


def rules(s, c, unclean):
    """The constants of kafka.kip_966 at this time."""
    return c._replace(
        min_isr=min_isr(s, c),
        eligible_leader_replicas=s.elr,
        last_known_leader=s.elr,
        unclean_election=unclean,
    )


def active(s) -> NodeSet(Broker):
    """The brokers that may be in an ISR: neither fenced nor shutting down."""
    return s.con_unfenced & ~s.shutting_down


# --- A partition changes -------------------------------------------------------------------------


def begin_step(s) -> None:
    """Epochs are counted from here, and nothing was written."""
    s.con_partition_metadata.leader_epoch = 0
    s.con_partition_metadata.partition_epoch = 0
    truncate(s.con_metadata_log, 0)
    append(s.con_metadata_log, s.con_partition_metadata)


def nodes_of(order) -> NodeSet(Broker):
    """The brokers of a sequence."""
    found = nodes_up_to(0)
    for broker in order:
        found = with_node(found, broker)
    return found


def first_in(s, nodes: NodeSet(Broker)) -> int:
    """Of these brokers the first in the order of replicas; NONE if there is none."""
    for broker in s.order:
        if broker in nodes:
            return broker
    return NONE


def settle(s, r, isr: NodeSet(Broker), elr: NodeSet(Broker), able: NodeSet(Broker)) -> None:
    """The partition with this ISR and ELR, and these brokers active."""
    kept, led = s.con_partition_metadata.isr, s.con_partition_metadata.leader
    leader = led
    if not leader_stays(s, r, isr, elr, able):
        leader = first_in(s, next_leaders(s, r, isr, elr, able))
    change_members(s, r, leader, isr, elr, able)
    if leader not in (NONE, led) and leader not in isr | elr:
        s.recovering = True
    count_shrinking(s, kept)


def count_shrinking(s, kept: NodeSet(Broker)) -> None:
    """Up to 3.5 a smaller ISR is a new leader epoch."""
    partition = s.con_partition_metadata
    if s.metadata_version < EPOCHS_KEPT and not is_subset(kept, partition.isr):
        partition.leader_epoch = 1


def without(s, c, broker) -> None:
    """A broker that can't be counted on leaves the ISR."""
    begin_step(s)
    if s.exists:
        r = rules(s, c, elects_uncleanly(s, c))
        isr = isr_without(s, r, broker)
        elr = next_elr(s, r, isr, s.con_partition_metadata.replicas)
        settle(s, r, isr, elr, without_node(active(s), broker))


# --- Brokers -------------------------------------------------------------------------------------


@spec.action
def fence_broker(s: State, c: Constants, broker: Broker):
    """A broker's session expires, or it has shut down; one that is fenced may be fenced again."""
    if broker not in s.con_registered:
        return "the broker is not registered"
    without(s, c, broker)
    s.con_unfenced = without_node(s.con_unfenced, broker)
    return TAKEN


@spec.action
def begin_controlled_shutdown(s: State, c: Constants, broker: Broker):
    """A broker asks to shut down: it leads and joins no more."""
    if broker not in active(s):
        return "the broker is fenced or shuts down already"
    without(s, c, broker)
    s.shutting_down = with_node(s.shutting_down, broker)
    return TAKEN


@spec.action
def unfence_broker(s: State, c: Constants, broker: Broker):
    """The controller hears from a fenced broker: it may end the time without a leader."""
    if broker not in s.con_registered:
        return "the broker is not registered"
    if broker in s.con_unfenced:
        return "the broker is not fenced"
    begin_step(s)
    s.con_unfenced = with_node(s.con_unfenced, broker)
    s.shutting_down = without_node(s.shutting_down, broker)
    partition = s.con_partition_metadata
    if s.exists and partition.leader == NONE:
        settle(s, rules(s, c, elects_uncleanly(s, c)), partition.isr, partition.elr, active(s))
    return TAKEN


@spec.action
def register_broker(s: State, c: Constants, broker: Broker, shutdown: Named("clean", "unclean")):
    """A broker registers, and is fenced.

    With ELR one that was not shut down cleanly leaves ISR and ELR.
    """
    if broker in s.con_unfenced and broker not in s.shutting_down:
        return "another incarnation of the broker has a session"
    if shutdown == "unclean" and not s.elr:
        return "without ELR the controller does not ask how a broker shut down"
    begin_step(s)
    partition = s.con_partition_metadata
    if shutdown == "unclean" and s.exists:
        r = rules(s, c, elects_uncleanly(s, c))
        isr, elr = without_node(partition.isr, broker), without_node(partition.elr, broker)
        settle(s, r, isr, elr, without_node(active(s), broker))
    s.con_registered = with_node(s.con_registered, broker)
    s.con_unfenced = without_node(s.con_unfenced, broker)
    s.shutting_down = without_node(s.shutting_down, broker)
    return TAKEN


@spec.action
def register_again(s: State, c: Constants, broker: Broker):
    """The same incarnation of a broker registers once more: it stays as it is."""
    if broker not in s.con_unfenced:
        return "the broker is fenced"
    begin_step(s)
    return TAKEN


@spec.action
def unregister_broker(s: State, c: Constants, broker: Broker):
    """An operator removes a broker."""
    if broker not in s.con_registered:
        return "the broker is not registered"
    without(s, c, broker)
    s.con_registered = without_node(s.con_registered, broker)
    s.con_unfenced = without_node(s.con_unfenced, broker)
    return TAKEN


# --- The leader asks -----------------------------------------------------------------------------


@spec.action
def alter_partition(s: State, c: Constants, isr: Subset(Broker)):
    """The leader adds one replica to the ISR, or removes some."""
    partition = s.con_partition_metadata
    if partition.leader == NONE:
        return "nobody leads"
    if partition.leader not in isr:
        return "the leader stays in the ISR"
    if not is_subset(isr, partition.replicas):
        return "somebody is no replica"
    if not is_subset(isr, active(s)):
        return "somebody is fenced or shuts down"
    if isr == partition.isr:
        return "the ISR is as it is"
    if (
        not is_subset(isr, partition.isr)
        and size(isr & ~partition.isr) + size(partition.isr & ~isr) > 1
    ):
        return "one joins, or some leave"
    r = rules(s, c, False)
    kept, leader = partition.isr, partition.leader
    begin_step(s)
    final = isr_after(s, r, isr)
    if completes_reassignment(r, isr, partition.adding, partition.removing):
        end_reassignment(s)
        drop_from_order(s, partition.replicas)
        if leader not in final:
            leader = first_in(s, final)
    partition.elr = next_elr(s, r, final, partition.replicas)
    partition.isr = final
    partition.leader = leader
    publish(s, r)
    s.recovering = False
    count_shrinking(s, kept)
    return TAKEN


def drop_from_order(s, replicas: NodeSet(Broker)) -> None:
    """Only these replicas are left, in the order that they have."""
    kept = [broker for broker in s.order if broker in replicas]
    truncate(s.order, 0)
    for broker in kept:
        append(s.order, broker)


# --- Operators -----------------------------------------------------------------------------------


@spec.action
def elect_preferred(s: State, c: Constants):
    """A preferred election: the first replica leads, if it is in the ISR."""
    partition = s.con_partition_metadata
    if not s.exists or partition.leader == NONE:
        return "nobody leads"
    preferred = s.order[0]
    if preferred == partition.leader:
        return "the preferred replica leads already"
    if preferred not in partition.isr or preferred not in active(s):
        return "the preferred replica is not in the ISR, or fenced"
    begin_step(s)
    partition.leader = preferred
    partition.leader_epoch += 1
    publish(s, rules(s, c, False))
    return TAKEN


@spec.action
def elect_uncleanly(s: State, c: Constants):
    """An unclean election that an operator asks for, or that the configuration allows by now."""
    partition = s.con_partition_metadata
    if not s.exists or partition.leader != NONE:
        return "somebody leads"
    if len(partition.replicas & active(s)) == 0:
        return "no replica is there"
    begin_step(s)
    settle(s, rules(s, c, True), partition.isr, partition.elr, active(s))
    return TAKEN


@spec.action
def clear_elr(s: State, c: Constants):
    """With another min.insync.replicas the ELR says nothing any more."""
    if not s.may_clear:
        return "min.insync.replicas was not changed"
    begin_step(s)
    s.may_clear = False
    s.con_partition_metadata.elr = nodes_up_to(0)
    s.con_partition_metadata.last_known_elr = nodes_up_to(0)
    return TAKEN


@spec.action
def set_unclean(s: State, c: Constants, scope: Named("topic", "cluster"), value: Setting):
    """unclean.leader.election.enable is set, or removed."""
    begin_step(s)
    if scope == "topic":
        s.topic_unclean = value
    else:
        s.cluster_unclean = value
    return TAKEN


@spec.action
def set_min_isr(s: State, c: Constants, scope: Named("topic", "cluster"), value: Range(0, 99)):
    """min.insync.replicas is set, or removed (0)."""
    begin_step(s)
    if scope == "topic":
        s.topic_min_isr = value
    else:
        s.cluster_min_isr = value
    s.may_clear = s.elr or c.eligible == "off"
    return TAKEN


@spec.action
def set_feature(
    s: State, c: Constants, feature: Named("elr", "metadata_version"), level: Range(0, 99)
):
    """An operator upgrades a feature of the cluster, or the cluster is formatted with it."""
    begin_step(s)
    if feature == "metadata_version":
        s.metadata_version = level
    elif c.eligible == "log":
        s.elr = level > 0
    return TAKEN


@spec.action
def reassign(
    s: State,
    c: Constants,
    count: Range(1, "broker_count"),
    order: Sequences(low=1, high="broker_count", length=lambda count: count),
):
    """An operator gives the partition other replicas, or another order of them."""
    partition = s.con_partition_metadata
    target = nodes_of(order)
    if len(target) < count:
        return "a replica is named twice"
    if not s.exists:
        return "there is no partition"
    if not is_subset(target, s.con_registered):
        return "somebody is not registered"
    begin_step(s)
    replicas = partition.replicas & ~partition.adding
    adding, removing = target & ~replicas, replicas & ~target
    rest = [broker for broker in s.order if broker in removing]
    truncate(s.order, 0)
    for broker in order:
        append(s.order, broker)
    for broker in rest:
        append(s.order, broker)
    partition.adding, partition.removing = adding, removing
    partition.replicas = replicas | adding
    isr = partition.isr & partition.replicas
    r = rules(s, c, False)
    if len(adding) == 0 and len(removing) > 0 and completes_reassignment(r, isr, adding, removing):
        isr = isr_after(s, r, isr)
        partition.replicas = target
        partition.adding, partition.removing = nodes_up_to(0), nodes_up_to(0)
        drop_from_order(s, target)
        settle(s, r, isr, next_elr(s, r, isr, target), active(s))
        partition.leader_epoch = 1
    else:
        partition.isr = isr
    return TAKEN


@spec.action
def create_partition(
    s: State,
    c: Constants,
    count: Range(1, "broker_count"),
    order: Sequences(low=1, high="broker_count", length=lambda count: count),
):
    """A topic is created: the replicas that are there are the ISR, and the first of them leads."""
    if s.exists:
        return "the partition exists"
    replicas = nodes_of(order)
    if len(replicas) < count:
        return "a replica is named twice"
    isr = replicas & active(s)
    if len(isr) == 0:
        return "no replica is there"
    begin_step(s)
    for broker in order:
        append(s.order, broker)
    s.exists = True
    s.may_clear = False
    s.con_partition_metadata = PartitionChange(replicas=replicas, isr=isr, leader=first_in(s, isr))
    return TAKEN
