"""What is claimed: the original's eight invariants, and its sanity checks; and situations that are
worth finding, of which the first two must be reachable."""

from kafka_spec.kip_966.model import *
from protocol_lab import *


def leader_completeness_property(s: State, c: Constants):
    """The controller's leader has all that was ever committed."""
    leader = s.con_partition_metadata.leader
    if s.inv_true_hwm == 1 or leader == NONE or not is_running(s, leader):
        return HOLDS
    if end_of(s, leader) < s.inv_true_hwm:
        return "the leader's log is shorter than what was committed"
    for value in s.inv_pos_acked:
        if not is_valued_in(value, s.log[leader]):
            return "the leader lacks an acknowledged value"
    return HOLDS


def leader_candidate_completeness_property(s: State, c: Constants):
    """Whoever runs, and may be elected, has a log as long as all that was ever committed."""
    partition = s.con_partition_metadata
    for member in partition.isr | partition.elr:
        if is_running(s, member) and end_of(s, member) < s.inv_true_hwm:
            return "a candidate's log is shorter than what was committed"
    return HOLDS


def is_current(s, broker) -> bool:
    """Does the broker lead, in the controller's epoch?"""
    epoch = s.con_partition_metadata.leader_epoch
    return (
        s.partition_status[broker] == "leader"
        and s.partition_metadata[broker].leader_epoch == epoch
    )


def replication_quorum_superset_property(s: State, c: Constants):
    """A leader that can commit waits for all that may be elected."""
    partition = s.con_partition_metadata
    for broker in range(1, c.broker_count + 1):
        own = s.partition_metadata[broker]
        if not is_current(s, broker):
            continue
        if not has_pending_ap(s, broker) and own.maximal_isr != own.isr:
            return "a leader that asks for nothing waits for others than its ISR"
        can_commit = len(own.isr) >= c.min_isr or not c.eligible_leader_replicas
        if can_commit and not is_subset(partition.isr | partition.elr, own.maximal_isr):
            return "a leader does not wait for somebody that may be elected"
    return HOLDS


def log_matching_property(s: State, c: Constants):
    """Committed logs have the same values at the same offsets."""
    for one in range(1, c.broker_count + 1):
        for other in range(one + 1, c.broker_count + 1):
            shared = min(len(s.log[one]), len(s.log[other]))
            shared = min(shared, s.hwm[one] - 1, s.hwm[other] - 1)
            for k in range(shared):
                if s.log[one][k].value != s.log[other][k].value:
                    return "two logs differ below both high watermarks"
    return HOLDS


def metadata_log_matching_property(s: State, c: Constants):
    """No broker has more metadata than the controller."""
    for broker in range(1, c.broker_count + 1):
        if s.broker_metadata_log[broker] > len(s.con_metadata_log):
            return "a broker has more metadata than the controller"
    return HOLDS


def consistent_read_property(s: State, c: Constants):
    """What consumers have read is the beginning of the leader's log."""
    for broker in range(1, c.broker_count + 1):
        if is_current(s, broker):
            if len(s.log[broker]) < len(s.inv_consumed):
                return "a consumer has read what the leader lacks"
            for k in range(len(s.inv_consumed)):
                if s.log[broker][k] != s.inv_consumed[k]:
                    return "a consumer has read something else"
    return HOLDS


def min_isr_recovery_quorum(s: State, c: Constants):
    """When ISR and ELR are empty, the last known ELR has min_isr members."""
    partition = s.con_partition_metadata
    if len(partition.isr) > 0 or len(partition.elr) > 0:
        return HOLDS
    if len(partition.last_known_elr) != c.min_isr:
        return "the last known ELR has more or fewer members"
    return HOLDS


def no_committed_record_lost_globally(s: State, c: Constants):
    """An acknowledged value is in some log."""
    for value in s.inv_pos_acked:
        if not any(is_valued_in(value, s.log[b]) for b in range(1, c.broker_count + 1)):
            return "an acknowledged value is nowhere any more"
    return HOLDS


def valid_broker_state(s: State, c: Constants):
    """Who runs is registered."""
    for broker in range(1, c.broker_count + 1):
        if is_running(s, broker) and not s.broker_state[broker].registered:
            return "a broker runs that is not registered"
    return HOLDS


def valid_replica_state(s: State, c: Constants):
    """A leader knows that it leads, and offsets count up."""
    for broker in range(1, c.broker_count + 1):
        if s.partition_status[broker] == "leader" and s.partition_metadata[broker].leader != broker:
            return "a leader does not know that it leads"
        for k in range(len(s.log[broker])):
            if s.log[broker][k].offset != k + 1:
                return "a record is not at its offset"
    return HOLDS


def valid_fetcher_state(s: State, c: Constants):
    """A leader fetches from nobody, a follower from somebody, and nobody from two."""
    for broker in range(1, c.broker_count + 1):
        fetchers = 0
        for peer in range(1, c.broker_count + 1):
            if s.broker_fetchers[broker][peer].has_partition:
                fetchers += 1
        if fetchers > 1:
            return "a broker fetches the partition from two"
        if s.partition_status[broker] == "leader" and fetchers > 0:
            return "a leader fetches"
        if s.partition_status[broker] == "follower" and fetchers == 0:
            return "a follower does not fetch"
    return HOLDS


def valid_controller_state(s: State, c: Constants):
    """Nobody in the ISR is fenced; without ELR its last member may be."""
    isr = s.con_partition_metadata.isr
    if not c.eligible_leader_replicas and len(isr) == 1:
        return HOLDS
    if not is_subset(isr, s.con_unfenced):
        return "a fenced broker is in the ISR"
    return HOLDS


def valid_controller_isr_and_elr(s: State, c: Constants):
    """ISR and ELR are replicas, are disjoint, and with min_isr members there is no ELR."""
    partition = s.con_partition_metadata
    if not is_subset(partition.isr | partition.elr, partition.replicas):
        return "somebody in ISR or ELR is no replica"
    if len(partition.isr & partition.elr) > 0:
        return "somebody is in ISR and ELR"
    if len(partition.isr) >= c.min_isr and len(partition.elr) > 0:
        return "the ISR is large enough, and there is an ELR"
    return HOLDS


def declare_properties(spec: Spec) -> None:
    """The invariants; those that the original's own configuration does not check by name only."""
    for claim in (
        leader_completeness_property,
        leader_candidate_completeness_property,
        replication_quorum_superset_property,
        log_matching_property,
        metadata_log_matching_property,
        consistent_read_property,
        min_isr_recovery_quorum,
        no_committed_record_lost_globally,
    ):
        spec.invariant(claim)
    for claim in (
        valid_broker_state,
        valid_replica_state,
        valid_fetcher_state,
        valid_controller_state,
        valid_controller_isr_and_elr,
    ):
        spec.invariant(claim, by_default=False)


# --- Situations --------------------------------------------------------------------------------


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
