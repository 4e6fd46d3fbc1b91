"""Invariants that the originals of the truncation variants do not have; checked when named."""

from kafka_spec.replication.model import Constants, State, is_in_isr, presumes_leadership
from kafka_spec.replication.properties import leader_in_isr
from protocol_lab import HOLDS, NONE


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
