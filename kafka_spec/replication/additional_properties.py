"""Properties of the truncation variants that the originals do not have.

The invariants are checked when named. The sometimes properties must be reachable: else a variant
might satisfy its invariants only because it can do too little.
"""

from kafka_spec.bounded_log import has_same_record
from kafka_spec.replication.model import Constants, State, is_in_isr, presumes_leadership
from kafka_spec.replication.properties import holds_committed, leader_in_isr
from protocol_lab import HOLDS, NONE, is_subset

# --- Invariants ------------------------------------------------------------------------------


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
    """A replica that believes it leads counts itself as in sync."""
    for replica in range(1, c.replicas + 1):
        if presumes_leadership(s, replica) and not is_in_isr(s, replica, replica):
            return "a presumed leader is not in its own ISR"
    return HOLDS


def isr_non_empty(s: State, c: Constants):
    """The quorum state's ISR has a member. False: while there is no leader it can be emptied.

    Then nobody can ever be elected, an artefact of the model: Kafka keeps the last member of the
    ISR, or remembers it as an eligible leader replica (KIP-966).
    """
    return "nobody is in the controller's ISR" if s.quorum_state.isr == 0 else HOLDS


# --- Sometimes: states that must be reachable ------------------------------------------------


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
