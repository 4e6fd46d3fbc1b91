"""What a replica does: the high watermark, acknowledgements, writes, fetches."""

from kafka_spec.kip_966.model import *
from protocol_lab import *

Fetch = Member("messages.fetch_requests")
FetchAnswer = Member("messages.fetch_responses")

# --- The high watermark --------------------------------------------------------------------------


def is_held_by(s, broker, isr: NodeSet(Broker), offset) -> bool:
    """Has everybody in the ISR the leader's record at this offset, as far as the leader knows?"""
    known = s.partition_replica_state[broker]
    return all(member == broker or known[member].leo > offset for member in isr)


def next_hwm(s, broker, isr: NodeSet(Broker), end) -> int:
    """The high watermark of a log with this end, which has to be held by this (maximal) ISR.

    As in the original a log that is empty before a write has its high watermark at its start also
    after it.
    """
    found = 0
    if len(s.log[broker]) > 0:
        for offset in range(1, end):
            if is_held_by(s, broker, isr, offset):
                found = offset
    return found + 1


def can_advance(s, c, broker, isr: NodeSet(Broker), hwm) -> bool:
    """May the high watermark rise to there? Only while the ISR has min_isr members."""
    return hwm > s.hwm[broker] and (len(isr) >= c.min_isr or not c.strict_min_isr)


def acknowledged_between(s, c, broker, low, high) -> NodeSet(Value):
    """The values at these offsets about which the leader still owes an answer."""
    found = s.inv_sent & ~s.inv_sent
    for value in s.inv_sent & ~s.inv_pos_acked & ~s.inv_neg_acked:
        for offset in range(low, high + 1):
            record = s.log[broker][offset - 1]
            if record.value == value and 0 < s.aux_flo[broker] <= offset:
                found = with_node(found, value)
                break
    return found


def raise_hwm(s, c, broker, hwm, positive) -> None:
    """Tell producers and consumers of what is committed, and raise the high watermark.

    The log has to have all of that already. In the original a write commits what it has not yet
    appended, where the leader is alone with min_isr 1: TLC stops there, and so does the kit.
    """
    old = s.hwm[broker]
    if positive:
        s.inv_pos_acked = s.inv_pos_acked | acknowledged_between(s, c, broker, old, hwm - 1)
    else:
        end = end_of(s, broker)
        s.inv_neg_acked = s.inv_neg_acked | acknowledged_between(s, c, broker, old, end - 1)
    if hwm > s.inv_true_hwm:
        for offset in range(s.inv_true_hwm, hwm):
            append(s.inv_consumed, s.log[broker][offset - 1])
        s.inv_true_hwm = hwm
    s.hwm[broker] = hwm


def update_hwm(s, c, broker, isr: NodeSet(Broker)) -> None:
    """The leader knows a new ISR, and that nothing larger is under way."""
    hwm = next_hwm(s, broker, isr, end_of(s, broker))
    if can_advance(s, c, broker, isr, hwm):
        raise_hwm(s, c, broker, hwm, len(isr) >= c.min_isr)


def fail_pending(s, c, broker) -> None:
    """Producers hear that what is not committed has failed."""
    low, end = s.hwm[broker], end_of(s, broker)
    s.inv_neg_acked = s.inv_neg_acked | acknowledged_between(s, c, broker, low, end - 1)


# --- Writes --------------------------------------------------------------------------------------


def write_record_to_leader(s: State, c: Constants, broker: Broker, value: Value):
    """A producer writes to a broker that believes that it leads."""
    if value in s.inv_sent:
        return "the value was written before"
    if not is_running(s, broker):
        return "the broker does not run"
    if s.partition_status[broker] != "leader":
        return "the broker does not lead"
    metadata = s.partition_metadata[broker]
    if len(metadata.maximal_isr) < c.min_isr:
        return "the ISR has too few members (min_isr)"
    end = end_of(s, broker)
    hwm = next_hwm(s, broker, metadata.maximal_isr, end + 1)
    if can_advance(s, c, broker, metadata.isr, hwm):
        raise_hwm(s, c, broker, hwm, True)
    append(s.log[broker], Record(epoch=metadata.leader_epoch, offset=end, value=value))
    s.inv_sent = with_node(s.inv_sent, value)
    if s.aux_flo[broker] == 0:
        s.aux_flo[broker] = end
    return TAKEN


# --- A follower asks -----------------------------------------------------------------------------


def last_epoch(s, broker) -> int:
    """The epoch of the log's last record; 0 if there is none."""
    return last(s.log[broker]).epoch if len(s.log[broker]) > 0 else 0


def has_converged(s, leader, follower) -> bool:
    """Would a fetch bring nobody anything new? It keeps the number of states finite."""
    known = s.partition_replica_state[leader][follower]
    return (
        len(s.log[leader]) == len(s.log[follower])
        and s.hwm[leader] == s.hwm[follower]
        and known.leo == end_of(s, follower)
        and known.broker_epoch == s.broker_state[follower].broker_epoch
    )


def send_fetch_request(s: State, c: Constants, broker: Broker, leader: Broker):
    """A follower asks its leader for the next record."""
    if broker == leader:
        return "a broker does not fetch from itself"
    if not is_running(s, broker):
        return "the broker does not run"
    fetcher = s.broker_fetchers[broker][leader]
    if not fetcher.has_partition:
        return "the broker does not fetch the partition there"
    if fetcher.pending_response:
        return "the broker waits for an answer"
    metadata = s.partition_metadata[broker]
    if metadata.leader != leader:
        return "the broker does not follow this leader"
    if has_converged(s, leader, broker):
        return "a fetch would bring nothing new"
    request = FetchRequest(
        source=broker,
        dest=leader,
        broker_epoch=s.broker_state[broker].broker_epoch,
        leader_epoch=metadata.leader_epoch,
        fetch_offset=fetcher.fetch_offset,
        last_fetched_epoch=fetcher.last_fetched_epoch,
    )
    add_once(s.messages.fetch_requests, request)
    fetcher.pending_response = True
    fetcher.delayed = False
    return TAKEN


# --- The leader answers --------------------------------------------------------------------------


def is_end_of_log(s, broker, epoch, is_leader) -> bool:
    """Does this epoch end where the log ends?"""
    if len(s.log[broker]) == 0 or epoch == last_epoch(s, broker):
        return True
    return bool(is_leader) and s.partition_metadata[broker].leader_epoch == epoch


def end_epoch(s, broker, epoch, is_leader) -> int:
    """The log's last epoch that is not later than this one; this one if there is none."""
    if is_end_of_log(s, broker, epoch, is_leader):
        return epoch
    found = 0
    for record in s.log[broker]:
        if record.epoch <= epoch:
            found = record.epoch
    return found if found > 0 else epoch


def end_offset(s, broker, epoch, is_leader) -> int:
    """Where, exclusively, the records of this epoch and of earlier ones end."""
    if is_end_of_log(s, broker, epoch, is_leader):
        return end_of(s, broker)
    for offset in range(1, len(s.log[broker]) + 1):
        if s.log[broker][offset - 1].epoch > epoch:
            return offset
    return end_of(s, broker)


def fetch_error(s, message) -> Error:
    """Why a broker does not serve a fetch; nil if it does."""
    broker = message.dest
    epoch = s.partition_metadata[broker].leader_epoch
    if s.partition_status[broker] == "leader" and epoch == message.leader_epoch:
        return "nil"
    if epoch < message.leader_epoch:
        return "unknown_leader_epoch"
    if epoch > message.leader_epoch:
        return "fenced_leader_epoch"
    return "not_leader_or_follower"


def receive_fetch_request(s: State, c: Constants, message: Fetch):
    """A broker answers a fetch; if it leads in this epoch, it learns how far the follower is."""
    broker, source = message.dest, message.source
    if not is_running(s, broker):
        return "the broker does not run"
    metadata = s.partition_metadata[broker]
    response = FetchResponse(
        source=broker,
        dest=source,
        error=fetch_error(s, message),
        leader_epoch=metadata.leader_epoch,
        fetch_offset=message.fetch_offset,
    )
    if response.error == "nil":
        epoch = end_epoch(s, broker, message.last_fetched_epoch, True)
        offset = end_offset(s, broker, message.last_fetched_epoch, True)
        if epoch < message.last_fetched_epoch or offset < message.fetch_offset:
            response.diverges = True
            response.diverging_epoch = epoch
            response.diverging_offset = offset
        else:
            s.partition_replica_state[broker][source] = ReplicaState(
                leo=message.fetch_offset, broker_epoch=message.broker_epoch
            )
            hwm = next_hwm(s, broker, metadata.maximal_isr, end_of(s, broker))
            if can_advance(s, c, broker, metadata.isr, hwm):
                raise_hwm(s, c, broker, hwm, True)
            if message.fetch_offset < end_of(s, broker):
                response.record = s.log[broker][message.fetch_offset - 1]
    response.hwm = s.hwm[broker]
    discard(s.messages.fetch_requests, s.messages_discard.fetch_requests, message)
    add_once(s.messages.fetch_responses, response)
    return TAKEN


# --- The follower handles the answer -------------------------------------------------------------


def truncate_to(s, broker, epoch, offset) -> None:
    """Cut the log off where the leader says that it diverges."""
    end = end_offset(s, broker, epoch, False)
    if end_epoch(s, broker, epoch, False) == epoch:
        end = min(end, offset)
    truncate(s.log[broker], max(end - 1, 0))


def receive_fetch_response(s: State, c: Constants, message: FetchAnswer):
    """A follower appends the record, or truncates its log; or the answer is not what it waits for.

    The high watermark may go down, and after a truncation it may be beyond the log's end.
    """
    broker = message.dest
    if not is_running(s, broker):
        return "the broker does not run"
    fetcher = s.broker_fetchers[broker][message.source]
    if not fetcher.pending_response:
        return "the broker does not wait for an answer"
    discard(s.messages.fetch_responses, s.messages_discard.fetch_responses, message)
    fetcher.pending_response = False
    expected = fetcher.has_partition and fetcher.fetch_offset == message.fetch_offset
    if not expected or s.partition_metadata[broker].leader_epoch != message.leader_epoch:
        return TAKEN
    if message.error != "nil":
        fetcher.delayed = True
        return TAKEN
    if message.diverges:
        truncate_to(s, broker, message.diverging_epoch, message.diverging_offset)
        fetcher.last_fetched_epoch = last_epoch(s, broker)
    else:
        if message.record.value != NONE:
            append(s.log[broker], message.record)
            fetcher.last_fetched_epoch = message.record.epoch
        if message.hwm <= end_of(s, broker):
            s.hwm[broker] = message.hwm
    fetcher.fetch_offset = end_of(s, broker)
    fetcher.delayed = False
    return TAKEN


# --- Whom a replica fetches from -----------------------------------------------------------------


def remove_from_fetchers(s, c, broker) -> None:
    """The broker fetches the partition from nobody; answers may still be under way."""
    for peer in range(1, c.broker_count + 1):
        pending = s.broker_fetchers[broker][peer].pending_response
        s.broker_fetchers[broker][peer] = Fetcher(pending_response=pending)


def add_to_fetcher(s, c, broker, leader) -> None:
    """The broker fetches the partition from this leader, and from nobody else."""
    remove_from_fetchers(s, c, broker)
    fetcher = s.broker_fetchers[broker][leader]
    fetcher.has_partition = True
    fetcher.fetch_offset = end_of(s, broker)
    fetcher.last_fetched_epoch = last_epoch(s, broker)
