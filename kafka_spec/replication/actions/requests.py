"""A replica handles a request of the controller: is it for this replica, is it new; its effect."""

from protocol_lab import NONE


def is_for_another(request, replica) -> bool:
    """Does the request make another replica the leader?"""
    return request.leader != NONE and request.leader != replica


def is_news(s, replica, request) -> bool:
    """Is the request of a later epoch than the replica knows?"""
    return request.leader_epoch > s.replica_state[replica].leader_epoch


def adopt(s, replica, request) -> None:
    """Believe a request: its leader, its epoch and its ISR."""
    mine = s.replica_state[replica]
    mine.leader_epoch = request.leader_epoch
    mine.leader = request.leader
    mine.isr = request.isr
