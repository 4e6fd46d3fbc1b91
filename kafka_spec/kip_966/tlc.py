"""How often TLC counts a step as generated, for comparisons with its counts."""

from kafka_spec.kip_966.broker import (
    is_among,
    learns_assignment,
    learns_leader_epoch,
    learns_leadership,
    proposed_isr,
    receive_metadata_update,
    send_alter_partition_request,
)
from kafka_spec.kip_966.controller import perform_partition_reassignment
from kafka_spec.kip_966.model import Broker
from protocol_lab import NodeSet


def of_metadata_update(s, c, broker, offset) -> int:
    """Once for each reason why the record matters to the broker."""
    record = s.con_metadata_log[offset - 1]
    of_leader = learns_leadership(s, broker, record) + learns_leader_epoch(s, broker, record)
    return of_leader + learns_assignment(s, broker, record)


def of_alter_partition(s, c, broker, timed_out: NodeSet(Broker)) -> int:
    """A request that was sent before: once if it is in flight, and once if it was delivered."""
    proposed = proposed_isr(s, c, broker, timed_out)
    in_flight = is_among(s, broker, proposed, s.messages.alter_requests)
    return max(in_flight + is_among(s, broker, proposed, s.messages_discard.alter_requests), 1)


def of_reassignment(s, c, adding: NodeSet(Broker), removing: NodeSet(Broker), leader) -> int:
    """Twice where some are added and others removed."""
    return 2 if len(adding) > 0 and len(removing) > 0 else 1


MULTIPLICITIES = {
    receive_metadata_update: of_metadata_update,
    send_alter_partition_request: of_alter_partition,
    perform_partition_reassignment: of_reassignment,
}
