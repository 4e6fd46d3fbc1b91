"""Situations that are worth finding; the first two must be reachable."""

from kafka_spec.kip_966.model import *
from protocol_lab import *


def a_value_is_acknowledged(s: State, c: Constants) -> bool:
    """A producer is told that its record is committed."""
    return len(s.inv_pos_acked) > 0


def all_are_in_sync_again(s: State, c: Constants) -> bool:
    """All replicas are in the ISR after a broker was fenced, and the value is in all logs."""
    partition = s.con_partition_metadata
    is_whole = partition.isr == partition.replicas and len(s.con_metadata_log) > 1
    return is_whole and all(len(s.log[replica]) > 0 for replica in partition.replicas)


def nobody_leads(s: State, c: Constants) -> bool:
    """The partition has no leader."""
    return s.con_partition_metadata.leader == NONE


def two_brokers_lead(s: State, c: Constants) -> bool:
    """Two brokers believe that they lead: the earlier one has not heard of its successor."""
    return any(
        s.partition_status[one] == "leader" and s.partition_status[other] == "leader"
        for one in range(1, c.broker_count + 1)
        for other in range(1, one)
    )


def an_eligible_replica_has_lost_its_log(s: State, c: Constants) -> bool:
    """A member of the ELR has lost what was committed: it has not registered yet."""
    return any(end_of(s, broker) < s.inv_true_hwm for broker in s.con_partition_metadata.elr)


def a_deposed_leader_has_uncommitted_records(s: State, c: Constants) -> bool:
    """A leader that the controller has replaced still waits to commit what it has written."""
    return any(
        s.partition_status[broker] == "leader"
        and s.con_partition_metadata.leader != broker
        and s.hwm[broker] < end_of(s, broker)
        for broker in range(1, c.broker_count + 1)
    )


def declare_situations(spec: Spec) -> None:
    """Register them."""
    spec.situation(a_value_is_acknowledged, expected=True)
    spec.situation(all_are_in_sync_again, expected=True)
    spec.situation(nobody_leads)
    spec.situation(two_brokers_lead)
    spec.situation(an_eligible_replica_has_lost_its_log)
    spec.situation(a_deposed_leader_has_uncommitted_records)
