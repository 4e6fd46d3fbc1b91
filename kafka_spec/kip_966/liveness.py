"""What must eventually happen, and under which fairness: the original's, for its seven properties.

Fair is, weakly and for each broker, all that brokers and the controller do by themselves. Nothing
makes a producer write, a broker stop, a session expire, or an administrator reassign.
"""

from kafka_spec.kip_966 import broker as brokers
from kafka_spec.kip_966 import controller, replica
from kafka_spec.kip_966.broker import learns_assignment, learns_leader_epoch, learns_leadership
from kafka_spec.kip_966.model import *
from protocol_lab import *

# --- Predicates of states ------------------------------------------------------------------------


def is_starting(s: State, c: Constants, broker) -> bool:
    """Does the broker wait for its registration?"""
    return s.broker_state[broker].status == "starting"


def runs_unfenced(s: State, c: Constants, broker) -> bool:
    """Is the broker up, and not fenced?"""
    return s.broker_state[broker].status == "running" and broker in s.con_unfenced


def is_fenced(s: State, c: Constants, broker) -> bool:
    """Is the broker fenced?"""
    return broker not in s.con_unfenced


def is_unfenced(s: State, c: Constants, broker) -> bool:
    """Is the broker not fenced?"""
    return broker in s.con_unfenced


def asks_for_isr(s: State, c: Constants, broker) -> bool:
    """Does the leader wait for the answer to a request?"""
    return s.partition_pending_ap[broker].epoch > 0


def has_its_answer(s: State, c: Constants, broker) -> bool:
    """Is the leader in the partition epoch that it asked for, or does it ask for nothing?"""
    epoch = s.partition_pending_ap[broker].epoch
    return epoch in (0, s.partition_metadata[broker].partition_epoch)


def knows_all(s, broker) -> bool:
    """Does the broker know the partition as the controller has it?"""
    own, partition = s.partition_metadata[broker], s.con_partition_metadata
    return (
        own.isr == partition.isr
        and own.leader == partition.leader
        and own.leader_epoch == partition.leader_epoch
        and own.partition_epoch == partition.partition_epoch
    )


def has_news(s, broker) -> bool:
    """Is there a record of the metadata log upon which the broker would act?"""
    for offset in range(s.broker_metadata_log[broker], len(s.con_metadata_log)):
        record = s.con_metadata_log[offset]
        if (
            learns_leadership(s, broker, record)
            or learns_leader_epoch(s, broker, record)
            or learns_assignment(s, broker, record)
        ):
            return True
    return False


def has_metadata_converged(s: State, c: Constants) -> bool:
    """Does every broker know all that concerns it? A follower need not know every ISR."""
    for broker in range(1, c.broker_count + 1):
        is_idle_follower = s.partition_status[broker] == "follower" and not has_news(s, broker)
        is_no_replica = (
            s.partition_status[broker] == "nil" and broker not in s.con_partition_metadata.replicas
        )
        if not (knows_all(s, broker) or is_idle_follower or is_no_replica):
            return False
    return True


def is_sent(s: State, c: Constants, value) -> bool:
    """Was the value written?"""
    return value in s.inv_sent


def is_answered(s: State, c: Constants, value) -> bool:
    """Was its producer told that it is committed, or that it failed?"""
    return value in s.inv_pos_acked | s.inv_neg_acked


def is_acknowledged(s: State, c: Constants, value) -> bool:
    """Was its producer told that it is committed?"""
    return value in s.inv_pos_acked


def is_on_all_replicas(s: State, c: Constants, value) -> bool:
    """Is the value in the logs of all replicas?"""
    return all(is_valued_in(value, s.log[replica]) for replica in s.con_partition_metadata.replicas)


def is_removing(s: State, c: Constants) -> bool:
    """Does a reassignment remove replicas?"""
    return len(s.con_partition_metadata.removing) > 0


def is_no_reassignment(s: State, c: Constants) -> bool:
    """Is no reassignment in progress?"""
    partition = s.con_partition_metadata
    return len(partition.adding) == 0 and len(partition.removing) == 0


# --- Properties ----------------------------------------------------------------------------------


def eventually_runs(broker: Broker):
    """Who starts, runs eventually, and is not fenced."""
    return leads_to(is_starting, runs_unfenced)


def eventually_unfenced(broker: Broker):
    """Who is fenced, is unfenced eventually."""
    return leads_to(is_fenced, is_unfenced)


def alter_partition_epoch_eventually_reached_or_zero(broker: Broker):
    """Who asks for an ISR gets it, or is refused.

    The original asks this only from some moment on; that is the same, since who asks no more has
    its answer.
    """
    return leads_to(asks_for_isr, has_its_answer)


def eventually_metadata_converges():
    """Again and again every broker knows all that concerns it."""
    return always_eventually(has_metadata_converged)


def eventually_write_is_accepted_or_rejected(value: Value):
    """Whoever writes is told eventually whether the record is committed."""
    return leads_to(is_sent, is_answered)


def eventually_acknowledged_value_fully_replicated(value: Value):
    """An acknowledged value is eventually on all replicas."""
    return leads_to(is_acknowledged, is_on_all_replicas)


def eventually_reassignment_completes():
    """A reassignment that removes replicas ends.

    So the original's formula reads by its precedence; of one that only adds it says nothing.
    """
    return leads_to(is_removing, is_no_reassignment)


def declare_liveness(spec: Spec) -> None:
    """Register the fairness, eleven conditions for each broker, and the claims."""
    spec.weakly_fair(
        brokers.broker_start,
        brokers.receive_metadata_update,
        brokers.send_alter_partition_request,
        replica.send_fetch_request,
        controller.unfence_broker,
        each="broker",
    )
    spec.weakly_fair(
        brokers.receive_broker_reg_response,
        brokers.receive_alter_partition_response,
        replica.receive_fetch_request,
        replica.receive_fetch_response,
        each="message.dest",
    )
    spec.weakly_fair(
        controller.receive_broker_reg_request,
        controller.receive_alter_partition_request,
        each="message.source",
    )
    for claim in (
        eventually_runs,
        eventually_unfenced,
        alter_partition_epoch_eventually_reached_or_zero,
        eventually_metadata_converges,
        eventually_write_is_accepted_or_rejected,
        eventually_acknowledged_value_fully_replicated,
        eventually_reassignment_completes,
    ):
        spec.property(claim)
