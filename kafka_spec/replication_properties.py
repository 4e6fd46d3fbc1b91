"""What is claimed of the five truncation variants, and what must be reachable in each of them.

Checked by default are the two ISR properties, weak and strong, and the types; the rest only when
named. `leader_in_isr` is the original's and false; `leader_in_isr_or_none`, `hw_within_log`,
`presumed_leader_in_own_isr` and `isr_non_empty` are not in the original.

Source: KafkaReplication in the Kafka replication specs.
"""

from kafka_spec.finite_replicated_log import has_offset, has_same_record
from kafka_spec.replication_core import (
    NO_EPOCH,
    Constants,
    Record,
    State,
    is_in_isr,
    presumes_leadership,
)
from protocol_lab import HOLDS, NONE, Spec, contains, is_subset, members, nodes_up_to

# --- Invariants ------------------------------------------------------------------------------


def holds_committed(s, replica, leader) -> bool:
    """Does the replica hold what the leader regards as committed, record by record?"""
    return all(
        has_same_record(s.replica_log[leader], s.replica_log[replica], offset)
        for offset in range(s.replica_state[leader].hw)
    )


def weak_isr(s: State, c: Constants):
    """Whoever a presumed leader counts as in sync has all that the leader calls committed.

    Weak, because the next leader is not taken from the presumed leader's own ISR.
    """
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for replica in members(s.replica_state[leader].isr):
                if not holds_committed(s, replica, leader):
                    return "a replica in a leader's own ISR lacks what that leader calls committed"
    return HOLDS


def strong_isr(s: State, c: Constants):
    """Whoever the controller may elect has all that any presumed leader calls committed.

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

    TLC can't evaluate the original's version, which compares an empty slot (-1) with a record.
    """
    if not 0 <= s.next_record_id <= c.max_records:
        return "the next record id is out of range"
    if not 0 <= s.next_leader_epoch <= c.max_leader_epoch + 1:
        return "the next leader epoch is out of range"
    for replica in range(1, c.replicas + 1):
        if not is_log_well_formed(s.replica_log[replica], c):
            return "a replica's log is no log"
        if not 0 <= s.replica_state[replica].hw <= c.log_size:
            return "a replica's high watermark is out of range"
        if not is_decision(s.replica_state[replica], c):
            return "a replica believes in an epoch, leader or ISR that can't be"
    if not is_decision(s.quorum_state, c):
        return "the controller has an epoch, leader or ISR that can't be"
    for k in range(s.leader_and_isr_requests.length):
        if not is_decision(s.leader_and_isr_requests.items[k], c):
            return "a request has an epoch, leader or ISR that can't be"
    return HOLDS


def is_decision(decision, c) -> bool:
    """Are epoch, leader and ISR in range?"""
    return (
        NO_EPOCH <= decision.leader_epoch <= c.max_leader_epoch
        and NONE <= decision.leader <= c.replicas
        and is_subset(decision.isr, nodes_up_to(c.replicas))
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
    """The controller's leader is in the controller's ISR: as the original has it, and false.

    The original claims it as a theorem. But at the start nobody leads, and nobody is not a member
    of the ISR, so the very first state breaks it. Whoever runs the model checker once finds out;
    an invariant that was never checked is only an opinion. See leader_in_isr_or_none.
    """
    if not contains(s.quorum_state.isr, s.quorum_state.leader):
        return "the controller's leader, if there is one, is not in its ISR"
    return HOLDS


def leader_in_isr_or_none(s: State, c: Constants):
    """What leader_in_isr must have meant: if there is a leader, it is in the ISR."""
    if s.quorum_state.leader == NONE:
        return HOLDS
    return leader_in_isr(s, c)


def hw_within_log(s: State, c: Constants):
    """No replica's high watermark is beyond the end of its log."""
    for replica in range(1, c.replicas + 1):
        if s.replica_state[replica].hw > s.replica_log[replica].end_offset:
            return "a replica's high watermark is beyond the end of its log"
    return HOLDS


def presumed_leader_in_own_isr(s: State, c: Constants):
    """Whoever believes to lead counts itself as in sync."""
    for replica in range(1, c.replicas + 1):
        if presumes_leadership(s, replica) and not is_in_isr(s, replica, replica):
            return "a presumed leader is not in its own ISR"
    return HOLDS


def isr_non_empty(s: State, c: Constants):
    """Somebody is in the controller's ISR. False: without a leader it can be emptied.

    Then nobody can be elected and the partition is lost to the model. Kafka keeps the last member
    (or, since KIP-966, remembers it elsewhere).
    """
    return "nobody is in the controller's ISR" if s.quorum_state.isr == 0 else HOLDS


# --- What must be reachable, lest a model forbid everything and its invariants hold for nothing ---


def a_record_is_committed(s: State, c: Constants):
    """A leader commits a record that another replica holds as well."""
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader) and s.replica_state[leader].hw > 0:
            for other in range(1, c.replicas + 1):
                if other != leader and holds_committed(s, other, leader):
                    return HOLDS
    return "no leader has a committed record that another replica holds as well"


def the_isr_has_shrunk(s: State, c: Constants):
    """The leader removes a member from the ISR that the latest request names."""
    count = s.leader_and_isr_requests.length
    if count == 0:
        return "there is no request yet"
    if is_subset(s.leader_and_isr_requests.items[count - 1].isr, s.quorum_state.isr):
        return "all members that the latest request names are in the ISR"
    return HOLDS


def the_isr_has_grown(s: State, c: Constants):
    """The leader adds a member to the ISR that the latest request names."""
    count = s.leader_and_isr_requests.length
    if count == 0:
        return "there is no request yet"
    if is_subset(s.quorum_state.isr, s.leader_and_isr_requests.items[count - 1].isr):
        return "the latest request names all members of the ISR"
    return HOLDS


def a_zombie_leads(s: State, c: Constants):
    """Two replicas believe that they lead."""
    if sum(1 for replica in range(1, c.replicas + 1) if presumes_leadership(s, replica)) < 2:
        return "at most one replica believes that it leads"
    return HOLDS


def logs_diverge(s: State, c: Constants):
    """Two replicas hold different records at the same offset."""
    for replica in range(1, c.replicas + 1):
        for other in range(1, replica):
            for offset in range(
                min(s.replica_log[replica].end_offset, s.replica_log[other].end_offset)
            ):
                if not has_same_record(s.replica_log[replica], s.replica_log[other], offset):
                    return HOLDS
    return "wherever two replicas have an offset, they hold the same record there"


def declare_properties(spec: Spec) -> None:
    """What is claimed of every variant, and, after it, what is checked only when named."""
    spec.invariant(weak_isr)
    spec.invariant(strong_isr)
    spec.invariant(type_ok)
    spec.invariant(leader_in_isr, by_default=False)
    spec.invariant(leader_in_isr_or_none, by_default=False)
    spec.invariant(hw_within_log, by_default=False)
    spec.invariant(presumed_leader_in_own_isr, by_default=False)
    spec.invariant(isr_non_empty, by_default=False)
    spec.sometimes(a_record_is_committed)
    spec.sometimes(the_isr_has_shrunk)
    spec.sometimes(the_isr_has_grown)
    spec.sometimes(a_zombie_leads)
    spec.sometimes(logs_diverge)
