"""The actions that several truncation variants share, in the order in which a record lives.

The controller elects a leader, the leader learns of it and writes, followers copy the record, the
leader commits it, and changes the ISR. What a follower does with its log before it copies is the
part that every variant has for itself, with the effects that stand here.

The last two sections are those of Kafka before KIP-320: nothing in them compares leader epochs.
`kip_320` and `kip_320_first_try` replace them; `kafka_spec/__init__` has the versions side by side.
"""

from kafka_spec.model import *
from protocol_lab import *

# --- The controller decides ------------------------------------------------------------------


def controller_elect_leader(s: State, c: Constants, new_leader: Replica):
    """The controller makes a member of the ISR the leader.

    It may do so at any time: because the old leader is gone, or to balance the load. This is a
    clean election; `unclean_leader_election` has the others.
    """
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if new_leader not in s.quorum_state.isr:
        return "the replica is not in the controller's ISR"
    if s.quorum_state.leader == new_leader:
        return "the controller has this leader already"
    publish(s, new_leader, s.quorum_state.isr)
    return TAKEN


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a broker is gone: it no longer leads, and leaves the ISR.

    A leader that is the ISR's last member stays in it, so that it can come back. With no leader
    the ISR can be emptied, replica by replica; then nobody can be elected any more. That is an
    artefact: Kafka 3.8.0 with ZooKeeper never removes the last member (`ReplicaStateMachine`).
    """
    leader, isr = s.quorum_state.leader, s.quorum_state.isr
    if are_epochs_used_up(s, c):
        return "the last leader epoch is used up"
    if leader != replica and replica not in isr:
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


# --- A replica learns who leads --------------------------------------------------------------


def names_another_leader(request, replica) -> bool:
    """Does the request make another replica the leader?"""
    return request.leader != NONE and request.leader != replica


def is_newer(s, replica, request) -> bool:
    """Is the request of a later epoch than the one that the replica knows?"""
    return request.leader_epoch > s.replica_state[replica].leader_epoch


def apply(s, replica, request) -> None:
    """The replica takes leader, epoch and ISR from the request."""
    mine = s.replica_state[replica]
    mine.leader_epoch = request.leader_epoch
    mine.leader = request.leader
    mine.isr = request.isr


def become_leader(s: State, c: Constants, request: Request):
    """A replica picks a request that makes it the leader; log and high watermark stay.

    Its high watermark is usually behind its predecessor's: it learned of commits one fetch late.
    """
    leader = request.leader
    if leader == NONE:
        return "the request names no leader"
    if not is_newer(s, leader, request):
        return "the replica knows this epoch or a later one"
    apply(s, leader, request)
    return TAKEN


# --- The leader writes -----------------------------------------------------------------------


def leader_write(s: State, c: Constants, replica: Replica):
    """A leader, or a replica that still believes it is one, appends a new record.

    Nothing stops a zombie: what it writes must be cut off later. That is what truncation is for.
    """
    if not presumes_leadership(s, replica):
        return "the replica does not believe that it leads"
    if s.next_record_id >= c.max_records:
        return "all records are written"
    if s.replica_log[replica].end_offset == c.log_size:
        return "the log is full"
    record = Record(id=s.next_record_id, epoch=s.replica_state[replica].leader_epoch)
    write_next(s.replica_log[replica], record)
    s.next_record_id += 1
    return TAKEN


def write_next(log, record) -> None:
    """Put a record at the end of a log; the caller has checked that it is not full."""
    log.records[log.end_offset] = record
    log.end_offset += 1


# --- A follower truncates and copies: effects --------------------------------------------------


def become_follower_and_truncate_to(s, follower, request, end_offset) -> None:
    """Apply the request, and cut the log off at an offset; KIP-101 and KIP-279 changed which."""
    apply(s, follower, request)
    truncate_to(s, follower, end_offset)


def truncate_to(s, follower, end_offset) -> None:
    """Cut the follower's log off; its high watermark is then at most the log's end."""
    log = s.replica_log[follower]
    while log.end_offset > end_offset:
        log.end_offset -= 1
        log.records[log.end_offset] = Record()
    s.replica_state[follower].hw = min(s.replica_state[follower].hw, end_offset)


def first_non_matching_offset_from_tail(s, follower, leader) -> int:
    """One past the last offset at which both logs hold the same record; 0 if there is none."""
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    offset = min(mine.end_offset, theirs.end_offset)
    while offset > 0 and not has_same_record(mine, theirs, offset - 1):
        offset -= 1
    return offset


def copy_next_record(s, follower, leader) -> None:
    """Append the leader's record at the follower's end, and learn the high watermark.

    The follower's high watermark is set, not raised: it may go down. In Kafka an empty answer tells
    the high watermark as well (read in 4.3.1). Here a follower learns it only with a record.
    """
    mine, theirs = s.replica_log[follower], s.replica_log[leader]
    write_next(mine, theirs.records[mine.end_offset])
    s.replica_state[follower].hw = min(s.replica_state[leader].hw, mine.end_offset)


# --- Before KIP-320: a follower fetches, and the leader commits --------------------------------


def follower_replicate(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the next record; neither epochs nor the records before it are compared."""
    if not presumes_leadership(s, leader):
        return "the leader does not believe that it leads"
    if not is_following(s, follower, leader):
        return "the follower does not follow this leader"
    if not has_offset(s.replica_log[leader], s.replica_log[follower].end_offset):
        return "the leader has no further record"
    copy_next_record(s, follower, leader)
    return TAKEN


def leader_inc_high_watermark(s: State, c: Constants, leader: Replica):
    """A leader commits the next record once everybody in its own ISR has a record at that offset.

    Nobody checks that it is the same record: followers are expected to have truncated before.
    """
    hw = s.replica_state[leader].hw
    if not presumes_leadership(s, leader):
        return "the replica does not believe that it leads"
    if hw >= c.log_size:
        return "the log is full and all of it is committed"
    if not all(
        is_following(s, follower, leader) and has_offset(s.replica_log[follower], hw)
        for follower in s.replica_state[leader].isr
    ):
        return "a member of the ISR does not follow, or has nothing at that offset"
    s.replica_state[leader].hw += 1
    return TAKEN


# --- Before KIP-320: the leader changes the ISR ------------------------------------------------


def leader_expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader adds a follower whose log reaches the high watermark.

    But a new leader's high watermark is behind its predecessor's: the follower may lack a record
    that was committed, and yet be elected next.
    """
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if is_in_isr(s, follower, leader):
        return "the follower is in the ISR already"
    if not is_caught_up(s, follower, leader, s.replica_state[leader].hw):
        return "the follower does not follow, or has not reached the high watermark"
    update_isr(s, leader, with_node(s.replica_state[leader].isr, follower))
    return TAKEN


def leader_shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """The true leader drops a follower that lags, or that follows another replica.

    In Kafka it has not caught up for replica.lag.time.max.ms (`Partition.maybeShrinkIsr` 3.8.0).
    """
    if not is_true_leader(s, leader):
        return "the replica is not the leader that the controller knows"
    if leader == follower:
        return "a leader stays in its ISR"
    if not is_in_isr(s, follower, leader):
        return "the follower is not in the ISR"
    if is_caught_up(s, follower, leader, s.replica_log[leader].end_offset):
        return "the follower has caught up"
    update_isr(s, leader, without_node(s.replica_state[leader].isr, follower))
    return TAKEN


def is_caught_up(s, follower, leader, end_offset) -> bool:
    """Does the follower follow this leader, and do both hold a record just below the end offset?

    Only offsets are compared, not the records there.
    """
    if not is_following(s, follower, leader):
        return False
    return end_offset == 0 or (
        has_offset(s.replica_log[leader], end_offset - 1)
        and has_offset(s.replica_log[follower], end_offset - 1)
    )


def update_isr(s, leader, isr) -> None:
    """The true leader writes the ISR, to the quorum state and its own: no new epoch or request.

    As in Kafka up to 2.6 (`Partition.maybeUpdateIsrAndVersion` 2.6.0); `async_isr` has KIP-497.
    """
    s.quorum_state.isr = isr
    s.replica_state[leader].isr = isr
