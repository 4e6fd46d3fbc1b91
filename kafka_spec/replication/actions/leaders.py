"""A replica becomes the leader and writes; `update_isr` is how a leader changes the ISR."""

from kafka_spec.bounded_log import is_full, write_next
from kafka_spec.replication.actions.requests import adopt, is_news
from kafka_spec.replication.model import (
    Constants,
    Record,
    Replica,
    Request,
    State,
    presumes_leadership,
)
from protocol_lab import NONE, TAKEN


def become_leader(s: State, c: Constants, request: Request):
    """A replica picks a request that makes it the leader; log and high watermark stay.

    Its high watermark is usually behind its predecessor's.
    """
    leader = request.leader
    if leader == NONE:
        return "the request names no leader"
    if not is_news(s, leader, request):
        return "the replica knows this epoch or a later one"
    adopt(s, leader, request)
    return TAKEN


def leader_write(s: State, c: Constants, replica: Replica):
    """A leader, or a replica that still believes it is one, appends a new record."""
    if not presumes_leadership(s, replica):
        return "the replica does not believe that it leads"
    if s.next_record_id >= c.max_records:
        return "all records are written"
    if is_full(s.replica_log[replica], c.log_size):
        return "the log is full"
    record = Record(id=s.next_record_id, epoch=s.replica_state[replica].leader_epoch)
    write_next(s.replica_log[replica], record)
    s.next_record_id += 1
    return TAKEN


def update_isr(s, leader, isr) -> None:
    """The true leader writes the ISR, to the quorum state and its own: no new epoch or request."""
    s.quorum_state.isr = isr
    s.replica_state[leader].isr = isr
