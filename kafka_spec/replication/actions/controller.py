"""The controller elects leaders, and removes brokers that are gone from the ISR.

It has no state of its own: it reads and writes the quorum state, and sends each change that it
makes to the replicas, as a request with a new leader epoch.
"""

from kafka_spec.replication.model import Constants, LeaderAndIsrRequest, Replica, State
from protocol_lab import NONE, TAKEN, append, contains, only, without_node


def controller_elect_leader(s: State, c: Constants, new_leader: Replica):
    """The controller makes a member of the ISR the leader.

    It may do so at any time: because the old leader is gone, or to balance the load.
    """
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if not contains(s.quorum_state.isr, new_leader):
        return "the replica is not in the controller's ISR"
    if s.quorum_state.leader == new_leader:
        return "the controller has this leader already"
    publish(s, new_leader, s.quorum_state.isr)
    return TAKEN


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a broker is gone: it no longer leads, and leaves the ISR.

    A leader that is the ISR's last member stays in it, so that it can come back. With no leader
    the ISR can be emptied, replica by replica; then nobody can be elected any more.
    """
    leader, isr = s.quorum_state.leader, s.quorum_state.isr
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if leader != replica and not contains(isr, replica):
        return "the replica is neither the controller's leader nor in its ISR"
    if leader != replica:
        publish(s, leader, without_node(isr, replica))
    elif isr == only(replica):
        publish(s, NONE, isr)
    else:
        publish(s, NONE, without_node(isr, replica))
    return TAKEN


def are_epochs_used_up(s, c) -> bool:
    """Has the controller made all the changes that the model allows?"""
    return s.next_leader_epoch > c.max_leader_epoch


def publish(s, leader, isr) -> None:
    """Take the next leader epoch, write the quorum state, and send it as a request."""
    epoch = s.next_leader_epoch
    s.next_leader_epoch += 1
    s.quorum_state.leader_epoch = epoch
    s.quorum_state.leader = leader
    s.quorum_state.isr = isr
    request = LeaderAndIsrRequest(leader=leader, leader_epoch=epoch, isr=isr)
    append(s.leader_and_isr_requests, request)
