"""What a broker does: it starts and stops, follows the metadata, and asks for ISR changes."""

from kafka_spec.kip_966.controller import fence, is_outdated, is_stale, leaders_without
from kafka_spec.kip_966.model import *
from kafka_spec.kip_966.replica import (
    add_to_fetcher,
    fail_pending,
    remove_from_fetchers,
    update_hwm,
)
from protocol_lab import *

Registered = Member("messages.register_responses")
Altered = Member("messages.alter_responses")

# --- Starting ------------------------------------------------------------------------------------


def broker_start(s: State, c: Constants, broker: Broker):
    """A broker starts, and registers under a new incarnation."""
    if not is_offline(s, broker):
        return "the broker is not down"
    incarnation = s.aux_ctrs.incarn_ctr
    epoch = s.broker_state[broker].broker_epoch
    s.broker_state[broker].status = "starting"
    s.broker_state[broker].incarnation_id = incarnation
    s.broker_state[broker].registered = False
    s.partition_status[broker] = "nil"
    s.aux_ctrs.incarn_ctr += 1
    request = RegisterRequest(source=broker, broker_epoch=epoch, incarnation_id=incarnation)
    add_once(s.messages.register_requests, request)
    return TAKEN


def receive_broker_reg_response(s: State, c: Constants, message: Registered):
    """A broker is registered: it has the metadata as it was then, but for the last record."""
    broker = message.dest
    state = s.broker_state[broker]
    if state.status != "starting" or state.registered:
        return "the broker does not wait for its registration"
    if c.incarnation_checked and state.incarnation_id != message.incarnation_id:
        return "another incarnation of the broker was registered"
    s.broker_state[broker].status = "running"
    s.broker_state[broker].broker_epoch = message.broker_epoch
    s.broker_state[broker].registered = True
    s.broker_metadata_log[broker] = max(message.metadata_offset - 1, 0)
    s.partition_metadata[broker] = PartitionMetadata()
    discard(s.messages.register_responses, s.messages_discard.register_responses, message)
    return TAKEN


# --- Stopping ------------------------------------------------------------------------------------


def forget_replicas(s, c, broker, kept: NodeSet(Broker)) -> None:
    """A leader forgets how far others are, but for these."""
    for other in range(1, c.broker_count + 1):
        if other not in kept:
            s.partition_replica_state[broker][other] = ReplicaState()


def drop_fetches(messages, dropped, broker) -> None:
    """Fetches from and to a broker are lost."""
    k = 0
    while k < len(messages):
        if broker in (messages.items[k].source, messages.items[k].dest):
            add_once(dropped, messages.items[k])
            take(messages, messages.items[k])
        else:
            k += 1


def drop_fetch_sessions(s, c, broker) -> None:
    """The connections of a broker break: nobody waits for its answers any more."""
    drop_fetches(s.messages.fetch_requests, s.messages_discard.fetch_requests, broker)
    drop_fetches(s.messages.fetch_responses, s.messages_discard.fetch_responses, broker)
    for peer in range(1, c.broker_count + 1):
        s.broker_fetchers[broker][peer] = Fetcher()
        fetcher = s.broker_fetchers[peer][broker]
        if fetcher.pending_response:
            fetcher.pending_response = False
            fetcher.delayed = bool(fetcher.has_partition)


def shut_down(s, c, broker, leader) -> None:
    """A broker stops, its requests fail, and the controller fences it in the same step."""
    drop_fetch_sessions(s, c, broker)
    if s.partition_status[broker] == "leader":
        fail_pending(s, c, broker)
    s.broker_state[broker].incarnation_id = 0
    s.broker_state[broker].registered = False
    s.partition_status[broker] = "nil"
    forget_replicas(s, c, broker, nodes_up_to(0))
    s.partition_pending_ap[broker] = PendingRequest()
    s.aux_flo[broker] = 0
    fence(s, c, broker, leader)


def data_loss_shutdown(s: State, c: Constants, broker: Broker, leader: OneOf(leaders_without)):
    """A power cut: the broker stops, and its whole log is lost."""
    if s.aux_ctrs.data_loss_shutdown_ctr >= c.data_loss_shutdown_limit:
        return "no more shutdowns lose data (data_loss_shutdown_limit)"
    if is_offline(s, broker):
        return "the broker is down"
    if c.avoid_last_replica_standing and s.con_partition_metadata.isr == only(broker):
        return "the last member of the ISR keeps its log (avoid_last_replica_standing)"
    shut_down(s, c, broker, leader)
    s.broker_state[broker].status = "offline_dirty"
    s.broker_state[broker].broker_epoch = 0
    truncate(s.log[broker], 0)
    s.hwm[broker] = 1
    s.partition_leso[broker] = 0
    s.aux_ctrs.data_loss_shutdown_ctr += 1
    return TAKEN


def no_data_loss_shutdown(
    s: State, c: Constants, broker: Broker, shutdown: Shutdown, leader: OneOf(leaders_without)
):
    """A broker stops with its log whole; only a clean shutdown leaves a file that says so."""
    if s.aux_ctrs.no_data_loss_shutdown_ctr >= c.no_data_loss_shutdown_limit:
        return "no more shutdowns (no_data_loss_shutdown_limit)"
    if is_offline(s, broker):
        return "the broker is down"
    if shutdown == "unclean" and not c.eligible_leader_replicas:
        return "without ELR nobody asks how the broker was shut down"
    shut_down(s, c, broker, leader)
    s.broker_state[broker].status = "offline_clean"
    if shutdown == "unclean" or not c.eligible_leader_replicas:
        s.broker_state[broker].broker_epoch = 0
    s.aux_ctrs.no_data_loss_shutdown_ctr += 1
    return TAKEN


# --- Metadata ------------------------------------------------------------------------------------


def learns_leadership(s, broker, record) -> bool:
    """Is it a leader that hears of a change?"""
    return s.partition_status[broker] == "leader"


def learns_leader_epoch(s, broker, record) -> bool:
    """Is it a replica that hears of a later leader epoch?"""
    own = s.partition_metadata[broker]
    return broker in own.replicas and record.leader_epoch > own.leader_epoch


def learns_assignment(s, broker, record) -> bool:
    """Is it a broker that hears that it has a replica?"""
    return broker not in s.partition_metadata[broker].replicas and broker in record.replicas


def renounce(s, c, broker, isr: NodeSet(Broker), leader) -> None:
    """Whatever the broker did as a leader ends."""
    if len(isr) < c.min_isr or broker != leader:
        fail_pending(s, c, broker)
    forget_replicas(s, c, broker, nodes_up_to(0))
    s.partition_pending_ap[broker] = PendingRequest()
    s.aux_flo[broker] = 0


def become_leader(s, c, broker, isr: NodeSet(Broker)) -> None:
    """The replica leads in a new epoch, in which nobody has fetched yet."""
    update_hwm(s, c, broker, isr)
    s.partition_leso[broker] = end_of(s, broker)
    if s.partition_status[broker] != "leader":
        forget_replicas(s, c, broker, nodes_up_to(0))
    elif c.fetch_state_reset:
        forget_replicas(s, c, broker, isr)
    s.partition_status[broker] = "leader"
    s.partition_pending_ap[broker] = PendingRequest()
    remove_from_fetchers(s, c, broker)


def remain_leader(s, c, broker, isr: NodeSet(Broker), partition_epoch) -> None:
    """The leader hears of another ISR."""
    update_hwm(s, c, broker, isr)
    if partition_epoch >= s.partition_pending_ap[broker].epoch:
        s.partition_pending_ap[broker] = PendingRequest()


def delete_partition(s, c, broker, isr: NodeSet(Broker), leader) -> None:
    """The broker has lost its replica by a reassignment."""
    renounce(s, c, broker, isr, leader)
    s.partition_status[broker] = "nil"
    remove_from_fetchers(s, c, broker)
    s.partition_leso[broker] = 0
    truncate(s.log[broker], 0)
    s.hwm[broker] = 1


def become_follower(s, c, broker, isr: NodeSet(Broker), leader) -> None:
    """The replica follows a leader, or waits for one."""
    renounce(s, c, broker, isr, leader)
    s.partition_leso[broker] = 0
    if leader != NONE:
        s.partition_status[broker] = "follower"
        add_to_fetcher(s, c, broker, leader)
    else:
        s.partition_status[broker] = "nil"
        remove_from_fetchers(s, c, broker)


def receive_metadata_update(
    s: State,
    c: Constants,
    broker: Broker,
    offset: Range(1, lambda s, c: len(s.con_metadata_log)),
):
    """A broker acts upon a record of the metadata log, and skips those before it."""
    if is_offline(s, broker) or not s.broker_state[broker].registered:
        return "the broker is not registered"
    if offset <= s.broker_metadata_log[broker]:
        return "the broker has this record"
    record = s.con_metadata_log[offset - 1]
    if not (
        learns_leadership(s, broker, record)
        or learns_leader_epoch(s, broker, record)
        or learns_assignment(s, broker, record)
    ):
        return "the record is of no concern to this broker"
    own = s.partition_metadata[broker]
    s.broker_metadata_log[broker] = offset
    if record.partition_epoch <= own.partition_epoch:
        return TAKEN
    if broker in own.replicas and broker not in record.replicas:
        delete_partition(s, c, broker, record.isr, record.leader)
    elif record.leader == broker:
        if own.leader == broker and own.leader_epoch == record.leader_epoch:
            remain_leader(s, c, broker, record.isr, record.partition_epoch)
        else:
            become_leader(s, c, broker, record.isr)
    else:
        become_follower(s, c, broker, record.isr, record.leader)
    if broker in record.replicas:
        s.partition_metadata[broker] = PartitionMetadata(
            replicas=record.replicas,
            isr=record.isr,
            maximal_isr=record.isr,
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
        )
    else:
        s.partition_metadata[broker] = PartitionMetadata()
    return TAKEN


# --- ISR changes ---------------------------------------------------------------------------------


def has_caught_up(s, c, broker, follower) -> bool:
    """May the leader add the follower to the ISR, as far as it knows?"""
    leo = s.partition_replica_state[broker][follower].leo
    if leo == 0 or (c.hwm_checked and leo < s.hwm[broker]):
        return False
    return not c.leso_checked or leo >= s.partition_leso[broker]


def proposed_isr(s, c, broker, timed_out: NodeSet(Broker)) -> NodeSet(Broker):
    """The ISR without those that lag, and with everybody that has caught up."""
    metadata = s.partition_metadata[broker]
    proposed = with_node(metadata.isr & ~timed_out, broker) & metadata.replicas
    for follower in metadata.replicas & ~metadata.isr:
        if follower != broker and has_caught_up(s, c, broker, follower):
            proposed = with_node(proposed, follower)
    return proposed


def epoch_named(s, broker, member) -> int:
    """The broker epoch that a request has for a member: 0 if it is in the ISR already."""
    if member == broker:
        return s.broker_state[broker].broker_epoch
    if member in s.partition_metadata[broker].isr:
        return 0
    return s.partition_replica_state[broker][member].broker_epoch


def is_request_for(s, broker, isr: NodeSet(Broker), request) -> bool:
    """Is it the request that the leader would send now for this ISR?"""
    metadata = s.partition_metadata[broker]
    return (
        request.source == broker
        and request.isr == isr
        and request.leader_epoch == metadata.leader_epoch
        and request.partition_epoch == metadata.partition_epoch
        and request.broker_epoch == s.broker_state[broker].broker_epoch
        and all(request.epochs[member] == epoch_named(s, broker, member) for member in isr)
    )


def is_among(s, broker, isr: NodeSet(Broker), requests) -> bool:
    """Is that request one of these?"""
    return any(is_request_for(s, broker, isr, request) for request in requests)


def was_sent(s, broker, isr: NodeSet(Broker)) -> bool:
    """Was it sent before, whatever became of it?"""
    in_flight, delivered = s.messages.alter_requests, s.messages_discard.alter_requests
    return is_among(s, broker, isr, in_flight) or is_among(s, broker, isr, delivered)


def would_be_refused(s, c, broker, isr: NodeSet(Broker)) -> bool:
    """Would the controller refuse the request now?"""
    broker_epoch = s.broker_state[broker].broker_epoch
    partition_epoch = s.partition_metadata[broker].partition_epoch
    return is_outdated(s, c, broker, broker_epoch, partition_epoch) or any(
        is_stale(s, c, member, epoch_named(s, broker, member)) for member in isr
    )


def send_alter_partition_request(s: State, c: Constants, broker: Broker, timed_out: Subset(Broker)):
    """The leader asks for another ISR, and counts on all that may be in it from now on.

    A request that was sent before is sent again only if it would be accepted.
    """
    metadata = s.partition_metadata[broker]
    if not is_running(s, broker) or s.partition_status[broker] != "leader":
        return "the broker does not lead"
    if has_pending_ap(s, broker):
        return "the leader waits for the answer to another request"
    if len(timed_out) > 0 and s.aux_ctrs.leader_shrink_isr_ctr >= c.leader_shrink_isr_limit:
        return "no more followers lag (leader_shrink_isr_limit)"
    if not is_subset(timed_out, without_node(metadata.isr, broker)):
        return "only followers in the ISR can lag"
    proposed = proposed_isr(s, c, broker, timed_out)
    if proposed == metadata.isr:
        return "the ISR is as it should be"
    if was_sent(s, broker, proposed) and would_be_refused(s, c, broker, proposed):
        return "the request was sent before, and would be refused"
    request = AlterPartitionRequest(
        source=broker,
        isr=proposed,
        leader_epoch=metadata.leader_epoch,
        partition_epoch=metadata.partition_epoch,
        broker_epoch=s.broker_state[broker].broker_epoch,
    )
    s.partition_pending_ap[broker] = PendingRequest(
        epoch=metadata.partition_epoch + 1, request=request
    )
    for member in proposed:
        epoch = epoch_named(s, broker, member)
        s.partition_pending_ap[broker].request.epochs[member] = epoch
    add_once(s.messages.alter_requests, s.partition_pending_ap[broker].request)
    if not is_subset(metadata.isr, proposed):
        s.aux_ctrs.leader_shrink_isr_ctr += 1
    if c.maximal_isr:
        s.partition_metadata[broker].maximal_isr = proposed | metadata.isr
    return TAKEN


def receive_alter_partition_response(s: State, c: Constants, message: Altered):
    """The leader adopts the new ISR, or falls back on the one it knows."""
    broker = message.dest
    own = s.partition_metadata[broker]
    if not is_running(s, broker) or s.partition_status[broker] != "leader":
        return "the broker does not lead"
    if not has_pending_ap(s, broker):
        return "the leader waits for no answer"
    if s.partition_pending_ap[broker].request != message.request:
        return "the leader waits for the answer to another request"
    if message.error == "nil":
        if message.partition_epoch <= own.partition_epoch:
            return "the leader knows this partition epoch or a later one"
        if message.leader_epoch != own.leader_epoch:
            return "it is another leader epoch: the leader waits for the metadata"
        own.replicas = message.replicas
        own.isr = message.isr
        own.leader = message.leader
        own.leader_epoch = message.leader_epoch
        own.partition_epoch = message.partition_epoch
    own.maximal_isr = own.isr
    update_hwm(s, c, broker, own.isr)
    s.partition_pending_ap[broker] = PendingRequest()
    discard(s.messages.alter_responses, s.messages_discard.alter_responses, message)
    return TAKEN
