"""What the originals claim of the truncation variants.

By default weak_isr, strong_isr and type_ok are checked. `leader_in_isr`, which is false, is checked
only when named, as are the invariants in `additional_properties`.
"""

from kafka_spec.bounded_log import has_offset, has_same_record
from kafka_spec.replication.model import NO_EPOCH, Constants, Record, State, presumes_leadership
from protocol_lab import HOLDS, NONE, contains, is_subset, members, nodes_up_to


def holds_committed(s, replica, leader) -> bool:
    """Does the replica hold what the leader regards as committed, record by record?"""
    return all(
        has_same_record(s.replica_log[leader], s.replica_log[replica], offset)
        for offset in range(s.replica_state[leader].hw)
    )


def weak_isr(s: State, c: Constants):
    """Every replica in a presumed leader's own ISR has all that this leader calls committed.

    If it fails, one of these replicas lacks a committed record. Weak, because the next leader is
    elected from the ISR of the quorum state, not from this one.
    """
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in members(s.replica_state[leader].isr):
                if not holds_committed(s, replica, leader):
                    return "a replica in a leader's own ISR lacks what that leader calls committed"
    return HOLDS


def strong_isr(s: State, c: Constants):
    """Every replica that may be elected has all that any presumed leader calls committed.

    If it fails, a clean election can lose a record that consumers have seen.
    """
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in members(s.quorum_state.isr):
                if not holds_committed(s, replica, leader):
                    return "a replica in the controller's ISR lacks what a leader calls committed"
    return HOLDS


def type_ok(s: State, c: Constants):
    """Every variable has a value of its type: epochs, offsets, nodes and ids are in range.

    TLC can't evaluate the original's TypeOk, which compares an empty slot (-1) with a record.
    """
    if not 0 <= s.next_record_id <= c.max_records:
        return "the next record id is out of range"
    if not 0 <= s.next_leader_epoch <= c.max_leader_epoch + 1:
        return "the next leader epoch is out of range"
    for replica in range(1, c.replicas + 1):
        if not is_log_well_formed(s.replica_log[replica], c):
            return "a replica's log is malformed"
        if not 0 <= s.replica_state[replica].hw <= c.log_size:
            return "a replica's high watermark is out of range"
        if not is_in_range(s.replica_state[replica], c):
            return "a replica's epoch, leader or ISR is out of range"
    if not is_in_range(s.quorum_state, c):
        return "the quorum state's epoch, leader or ISR is out of range"
    for k in range(s.leader_and_isr_requests.length):
        if not is_in_range(s.leader_and_isr_requests.items[k], c):
            return "a request's epoch, leader or ISR is out of range"
    return HOLDS


def is_in_range(names, c) -> bool:
    """Are the epoch, leader and ISR that it names in range?"""
    return (
        NO_EPOCH <= names.leader_epoch <= c.max_leader_epoch
        and NONE <= names.leader <= c.replicas
        and is_subset(names.isr, nodes_up_to(c.replicas))
    )


def is_log_well_formed(log, c) -> bool:
    """Are there records below the end offset, and nothing from there on?"""
    return 0 <= log.end_offset <= c.log_size and all(
        is_record(log.records[offset], c)
        if has_offset(log, offset)
        else log.records[offset] == Record(id=0, epoch=0)
        for offset in range(c.log_size)
    )


def is_record(record, c) -> bool:
    """Are id and epoch in range?"""
    return 0 <= record.id < c.max_records and 0 <= record.epoch <= c.max_leader_epoch


def leader_in_isr(s: State, c: Constants):
    """The quorum state's leader is in its ISR: as the original states it, and false.

    The original claims it as a theorem. But in the initial state there is no leader, and NONE is
    not a member of the ISR: the model checker finds that at once. See leader_in_isr_or_none.
    """
    if not contains(s.quorum_state.isr, s.quorum_state.leader):
        return "the controller's leader, if there is one, is not in its ISR"
    return HOLDS
