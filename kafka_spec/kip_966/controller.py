"""The controller: who is fenced, who is in ISR and ELR, who leads.

Steps in which somebody may be elected have the partition's next leader as a parameter, NONE (0)
where there is none.
"""

from kafka_spec.kip_966.model import *
from protocol_lab import *

Leader = Range(0, "broker_count")  # NONE, or a broker
Registering = Member("messages.register_requests")
Altering = Member("messages.alter_requests")

# --- ISR and ELR ---------------------------------------------------------------------------------


def next_elr(s, c, isr: NodeSet(Broker), replicas: NodeSet(Broker)) -> NodeSet(Broker):
    """The ELR beside a new ISR: who has left an ISR that is now too small to commit anything."""
    partition = s.con_partition_metadata
    if not c.eligible_leader_replicas:
        return nodes_up_to(0)
    kept = partition.elr & replicas
    if len(isr) >= c.min_isr:
        return nodes_up_to(0) if c.elr_emptied else kept & ~isr
    found = kept | (partition.isr & replicas & ~isr)
    return found & ~isr if c.elr_without_isr else found


def remembered(
    s, c, replicas: NodeSet(Broker), leader, isr: NodeSet(Broker), elr: NodeSet(Broker)
) -> NodeSet(Broker):
    """The last known ELR: who has left the ELR since the ISR had min_isr members.

    With `last_known_leader` it is whoever led last, from the moment at which the ISR is empty until
    somebody leads again.
    """
    partition = s.con_partition_metadata
    if c.last_known_leader:
        if leader != NONE:
            return nodes_up_to(0)
        if len(isr) == 0 and partition.leader != NONE:
            return with_node(nodes_up_to(0), partition.leader)
        return partition.last_known_elr
    if len(isr) >= c.min_isr:
        return nodes_up_to(0)
    return partition.last_known_elr | (replicas & partition.elr & ~elr)


def write_partition(
    s,
    c,
    replicas: NodeSet(Broker),
    leader,
    isr: NodeSet(Broker),
    elr: NodeSet(Broker),
    leader_epoch,
    adding: NodeSet(Broker),
    removing: NodeSet(Broker),
) -> None:
    """Write a record with the next partition epoch."""
    partition = s.con_partition_metadata
    record = PartitionChange(
        replicas=replicas,
        isr=isr,
        elr=elr,
        last_known_elr=remembered(s, c, replicas, leader, isr, elr),
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition.partition_epoch + 1,
        adding=adding,
        removing=removing,
    )
    append(s.con_metadata_log, record)
    s.con_partition_metadata = last(s.con_metadata_log)


# --- Who may lead --------------------------------------------------------------------------------


def electable(c, elr: NodeSet(Broker), unfenced: NodeSet(Broker)) -> NodeSet(Broker):
    """The members of the ELR that may be elected: who is not fenced."""
    return elr if c.elect_fenced_elr else elr & unfenced


def candidates(
    s, c, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> NodeSet(Broker):
    """Who may lead beside this ISR and ELR: the ISR; if it is empty, the ELR; if need be others.

    Members of the ISR are not fenced, but for the last one where there is no ELR: it stays.
    """
    partition = s.con_partition_metadata
    found = isr if c.eligible_leader_replicas else isr & unfenced
    if len(found) == 0:
        found = electable(c, elr, unfenced)
    if len(found) == 0 and c.last_known_leader and len(isr) == 0 and len(elr) == 0:
        found = partition.last_known_elr & unfenced
    if len(found) == 0 and c.unclean_election:
        found = partition.replicas & unfenced
    return found


def leader_stays(
    s, c, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> bool:
    """Does the leader stay in the ISR, or can nobody be elected where there is none?"""
    partition = s.con_partition_metadata
    if partition.leader != NONE:
        has_left = partition.leader not in isr
        is_gone = not c.eligible_leader_replicas and partition.leader not in unfenced
        return not has_left and not is_gone
    return len(candidates(s, c, isr, elr, unfenced)) == 0


def may_lead(
    s, c, leader, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> bool:
    """Can this be the partition's leader beside this ISR and ELR, with these unfenced?"""
    if leader_stays(s, c, isr, elr, unfenced):
        return leader == s.con_partition_metadata.leader
    found = candidates(s, c, isr, elr, unfenced)
    if len(found) == 0:
        return leader == NONE
    return leader != NONE and leader in found


def change_members(
    s, c, leader, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> None:
    """A broker was fenced, unfenced or registered: write the partition, if it changes."""
    partition = s.con_partition_metadata
    new_isr, new_elr, epoch = isr, elr, partition.leader_epoch
    if leader_stays(s, c, isr, elr, unfenced):
        if isr == partition.isr and elr == partition.elr:
            return
    else:
        epoch += 1
        if leader != NONE and leader not in isr:
            if leader in electable(c, elr, unfenced):
                new_isr, new_elr = with_node(isr, leader), without_node(elr, leader)
            else:
                new_isr, new_elr = with_node(nodes_up_to(0), leader), nodes_up_to(0)
    write_partition(
        s,
        c,
        partition.replicas,
        leader,
        new_isr,
        new_elr,
        epoch,
        partition.adding,
        partition.removing,
    )


# --- Fencing -------------------------------------------------------------------------------------


def isr_without(s, c, broker) -> NodeSet(Broker):
    """The ISR when the broker is fenced. Where there is no ELR, its last member stays in it."""
    isr = s.con_partition_metadata.isr
    if not c.eligible_leader_replicas and len(isr) == 1:
        return isr
    return without_node(isr, broker)


def may_lead_without(s, c, broker, leader) -> bool:
    """Can this be the leader once the broker is fenced?"""
    isr = isr_without(s, c, broker)
    elr = next_elr(s, c, isr, s.con_partition_metadata.replicas)
    return may_lead(s, c, leader, isr, elr, without_node(s.con_unfenced, broker))


def fence(s, c, broker, leader) -> None:
    """A fenced broker leaves the ISR, also an ISR of one if there is an ELR."""
    isr = isr_without(s, c, broker)
    elr = next_elr(s, c, isr, s.con_partition_metadata.replicas)
    unfenced = without_node(s.con_unfenced, broker)
    change_members(s, c, leader, isr, elr, unfenced)
    s.con_unfenced = unfenced


def may_lead_with(s, c, broker, leader) -> bool:
    """Can this be the leader once the broker is unfenced?"""
    partition = s.con_partition_metadata
    if partition.leader != NONE:
        return leader == partition.leader
    unfenced = with_node(s.con_unfenced, broker)
    return may_lead(s, c, leader, partition.isr, partition.elr, unfenced)


def unfence(s, c, broker, leader) -> None:
    """An unfenced broker may end the time without a leader."""
    partition = s.con_partition_metadata
    unfenced = with_node(s.con_unfenced, broker)
    if partition.leader == NONE:
        change_members(s, c, leader, partition.isr, partition.elr, unfenced)
    s.con_unfenced = unfenced


def fence_broker(s: State, c: Constants, broker: Broker, leader: Leader):
    """A broker's session expires."""
    if s.aux_ctrs.fence_broker_ctr >= c.fence_broker_limit:
        return "no more sessions expire (fence_broker_limit)"
    if broker not in s.con_unfenced:
        return "the broker is fenced"
    if not may_lead_without(s, c, broker, leader):
        return "this does not become the leader"
    fence(s, c, broker, leader)
    s.aux_ctrs.fence_broker_ctr += 1
    return TAKEN


def unfence_broker(s: State, c: Constants, broker: Broker, leader: Leader):
    """The controller hears from a fenced broker."""
    if broker in s.con_unfenced:
        return "the broker is not fenced"
    if not is_running(s, broker):
        return "the broker does not run"
    if not may_lead_with(s, c, broker, leader):
        return "this does not become the leader"
    unfence(s, c, broker, leader)
    return TAKEN


# --- Registration --------------------------------------------------------------------------------


def is_unclean(c, message) -> bool:
    """Does the controller take the log of this broker for incomplete?"""
    if not c.eligible_leader_replicas:
        return False
    return message.broker_epoch == 0 and bool(c.unclean_shutdown_detection)


def receive_broker_reg_request(s: State, c: Constants, message: Registering, leader: Leader):
    """A broker registers and gets an epoch; without a clean-shutdown file it leaves ISR and ELR."""
    broker = message.source
    known = s.con_broker_reg[broker]
    if broker in s.con_unfenced and known.incarnation_id != message.incarnation_id:
        return "another incarnation of the broker has a session"
    partition = s.con_partition_metadata
    isr, elr = without_node(partition.isr, broker), without_node(partition.elr, broker)
    unfenced = with_node(s.con_unfenced, broker)
    unclean = is_unclean(c, message)
    if unclean and not may_lead(s, c, leader, isr, elr, unfenced):
        return "this does not become the leader"
    if not unclean and not may_lead_with(s, c, broker, leader):
        return "this does not become the leader"
    response = RegisterResponse(
        dest=broker,
        broker_epoch=s.aux_broker_epoch + 1,
        incarnation_id=message.incarnation_id,
        metadata_offset=len(s.con_metadata_log),
    )
    s.aux_broker_epoch += 1
    s.con_broker_reg[broker].broker_epoch = s.aux_broker_epoch
    s.con_broker_reg[broker].incarnation_id = message.incarnation_id
    discard(s.messages.register_requests, s.messages_discard.register_requests, message)
    add_once(s.messages.register_responses, response)
    if unclean:
        change_members(s, c, leader, isr, elr, unfenced)
        s.con_unfenced = unfenced
    else:
        unfence(s, c, broker, leader)
    return TAKEN


# --- AlterPartition ------------------------------------------------------------------------------


def is_stale(s, c, member, epoch) -> bool:
    """Is the member fenced, or registered anew since the leader heard of it in this epoch?"""
    if member not in s.con_unfenced:
        return True
    return bool(c.broker_epoch_checked) and epoch not in (0, s.con_broker_reg[member].broker_epoch)


def is_outdated(s, c, source, broker_epoch, partition_epoch) -> bool:
    """Does somebody ask who does not lead, or who does not know the partition as it is?"""
    partition = s.con_partition_metadata
    if source != partition.leader or broker_epoch != s.con_broker_reg[source].broker_epoch:
        return True
    return bool(c.partition_epoch_checked) and partition_epoch != partition.partition_epoch


def error_of(s, c, request) -> Error:
    """Why the controller refuses the request; nil if it does not."""
    if is_outdated(s, c, request.source, request.broker_epoch, request.partition_epoch):
        return "fenced_leader_epoch"
    if any(is_stale(s, c, member, request.epochs[member]) for member in request.isr):
        return "ineligible_replica"
    return "nil"


def completes_reassignment(s, c, isr: NodeSet(Broker)) -> bool:
    """Does this ISR, without those to be removed, have all that were added, and enough members?"""
    partition = s.con_partition_metadata
    if len(partition.adding) == 0 and len(partition.removing) == 0:
        return False
    final = isr & ~partition.removing
    return is_subset(partition.adding, final) and len(final) >= c.min_isr


def isr_after(s, c, isr: NodeSet(Broker)) -> NodeSet(Broker):
    """The ISR that an accepted request leads to."""
    if completes_reassignment(s, c, isr):
        return isr & ~s.con_partition_metadata.removing
    return isr


def follows(s, leader, isr: NodeSet(Broker)) -> bool:
    """Can this be the leader beside a new ISR? The present one stays if it is in it."""
    partition = s.con_partition_metadata
    if partition.leader != NONE and partition.leader in isr:
        return leader == partition.leader
    return leader != NONE and leader in isr


def receive_alter_partition_request(s: State, c: Constants, message: Altering, leader: Leader):
    """The controller accepts an ISR if it is asked by the leader, who knows all that it knows."""
    partition = s.con_partition_metadata
    error = error_of(s, c, message)
    response = AlterPartitionResponse(dest=message.source, error=error, request=message)
    if error != "nil":
        if leader != partition.leader:
            return "the leader stays"
    else:
        completes = completes_reassignment(s, c, message.isr)
        isr = isr_after(s, c, message.isr)
        if not follows(s, leader, isr):
            return "this does not become the leader"
        replicas, epoch = partition.replicas, partition.leader_epoch
        adding, removing = partition.adding, partition.removing
        if completes:
            replicas, epoch = replicas & ~removing, epoch + 1
            adding, removing = nodes_up_to(0), nodes_up_to(0)
        elr = next_elr(s, c, isr, replicas)
        write_partition(s, c, replicas, leader, isr, elr, epoch, adding, removing)
        response.replicas = replicas
        response.isr = isr
        response.leader = leader
        response.leader_epoch = epoch
        response.partition_epoch = s.con_partition_metadata.partition_epoch
    add_once(s.messages.alter_responses, response)
    discard(s.messages.alter_requests, s.messages_discard.alter_requests, message)
    return TAKEN


# --- Reassignment --------------------------------------------------------------------------------


def perform_partition_reassignment(
    s: State, c: Constants, adding: Subset(Broker), removing: Subset(Broker), leader: Leader
):
    """An administrator gives the partition other replicas."""
    partition = s.con_partition_metadata
    if s.aux_ctrs.reassignment_ctr >= c.reassignment_limit:
        return "no more reassignments (reassignment_limit)"
    if len(partition.adding) > 0 or len(partition.removing) > 0:
        return "a reassignment is in progress"
    if len(adding) == 0 and len(removing) == 0:
        return "nothing changes"
    if len(adding & partition.replicas) > 0 or not is_subset(removing, partition.replicas):
        return "only others are added, and only replicas are removed"
    if len(partition.replicas) + len(adding) - len(removing) < c.min_isr:
        return "too few replicas are left"
    replicas = partition.replicas | adding
    isr = partition.isr
    elr = partition.elr
    epoch, coming, going = partition.leader_epoch, adding, removing
    final = isr & ~removing
    if is_subset(adding, final) and size(final) >= c.min_isr and size(replicas & ~removing) > 0:
        replicas, isr, epoch = replicas & ~removing, final, epoch + 1
        elr = next_elr(s, c, isr, replicas)
        coming, going = nodes_up_to(0), nodes_up_to(0)
    if not follows(s, leader, isr):
        return "this does not become the leader"
    write_partition(s, c, replicas, leader, isr, elr, epoch, coming, going)
    s.aux_ctrs.reassignment_ctr += 1
    return TAKEN


# --- Unclean recovery ----------------------------------------------------------------------------


def is_longer(s, one, other) -> bool:
    """Does one log end later than the other: by its last epoch, then by its length?"""
    ours = last(s.log[one]).epoch if len(s.log[one]) > 0 else 0
    theirs = last(s.log[other]).epoch if len(s.log[other]) > 0 else 0
    return ours > theirs or (ours == theirs and len(s.log[one]) > len(s.log[other]))


def unclean_recovery(s: State, c: Constants, leader: Broker):
    """Of the last known ELR, once all are there, the one with the longest log is elected."""
    partition = s.con_partition_metadata
    quorum = partition.last_known_elr
    if not c.unclean_recovery:
        return "there is no unclean recovery (unclean_recovery)"
    if partition.leader != NONE or len(partition.isr) > 0 or len(partition.elr) > 0:
        return "somebody leads, or may be elected"
    if leader not in quorum:
        return "the broker is not in the last known ELR"
    for member in quorum:
        if member not in s.con_unfenced or not is_running(s, member):
            return "somebody of the last known ELR is away"
        if is_longer(s, member, leader):
            return "somebody has a longer log"
    isr = with_node(nodes_up_to(0), leader)
    epoch, adding, removing = partition.leader_epoch + 1, partition.adding, partition.removing
    write_partition(s, c, partition.replicas, leader, isr, nodes_up_to(0), epoch, adding, removing)
    return TAKEN
