"""The controller: who is fenced, who is in ISR and ELR, who leads.

Steps in which somebody may be elected have the partition's next leader as a parameter: one of those
whom the rules allow, NONE (0) where they allow nobody. Each change of the partition becomes a
record of the metadata log: compute, change `con_partition_metadata`, and `publish` it.
"""

from kafka_spec.kip_966.model import *
from protocol_lab import *

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


def remembered(c, before: PartitionChange, after: PartitionChange) -> NodeSet(Broker):
    """The last known ELR: who has left the ELR since the ISR had min_isr members.

    With `last_known_leader` it is the broker that led last, from the moment at which the ISR is
    empty until there is a leader again.
    """
    if c.last_known_leader:
        if after.leader != NONE:
            return nodes_up_to(0)
        if len(after.isr) == 0 and before.leader != NONE:
            return only(before.leader)
        return before.last_known_elr
    if len(after.isr) >= c.min_isr:
        return nodes_up_to(0)
    return before.last_known_elr | (after.replicas & before.elr & ~after.elr)


def publish(s, c) -> None:
    """Write the changed partition to the metadata log, under the next partition epoch."""
    partition = s.con_partition_metadata
    partition.last_known_elr = remembered(c, last(s.con_metadata_log), partition)
    partition.partition_epoch += 1
    append(s.con_metadata_log, partition)


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


def next_leaders(
    s, c, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> NodeSet(Broker):
    """Who may be the leader beside this ISR and ELR, with these unfenced."""
    leader = s.con_partition_metadata.leader
    if leader != NONE and leader_stays(s, c, isr, elr, unfenced):
        return only(leader)
    return candidates(s, c, isr, elr, unfenced)


def change_members(
    s, c, leader, isr: NodeSet(Broker), elr: NodeSet(Broker), unfenced: NodeSet(Broker)
) -> None:
    """A broker was fenced, unfenced or registered: publish the partition, if it changes."""
    partition = s.con_partition_metadata
    stays = leader_stays(s, c, isr, elr, unfenced)
    if stays and isr == partition.isr and elr == partition.elr:
        return
    partition.isr = isr
    partition.elr = elr
    if not stays:
        partition.leader = leader
        partition.leader_epoch += 1
        if leader != NONE and leader not in isr:
            is_eligible = leader in electable(c, elr, unfenced)
            partition.isr = with_node(isr, leader) if is_eligible else only(leader)
            partition.elr = without_node(elr, leader) if is_eligible else nodes_up_to(0)
    publish(s, c)


# --- Fencing -------------------------------------------------------------------------------------


def isr_without(s, c, broker) -> NodeSet(Broker):
    """The ISR when the broker is fenced. Where there is no ELR, its last member stays in it."""
    isr = s.con_partition_metadata.isr
    if not c.eligible_leader_replicas and len(isr) == 1:
        return isr
    return without_node(isr, broker)


def leaders_without(s, c, broker) -> NodeSet(Broker):
    """Who may be the leader once the broker is fenced."""
    isr = isr_without(s, c, broker)
    elr = next_elr(s, c, isr, s.con_partition_metadata.replicas)
    return next_leaders(s, c, isr, elr, without_node(s.con_unfenced, broker))


def fence(s, c, broker, leader) -> None:
    """A fenced broker leaves the ISR, also an ISR of one if there is an ELR."""
    isr = isr_without(s, c, broker)
    elr = next_elr(s, c, isr, s.con_partition_metadata.replicas)
    unfenced = without_node(s.con_unfenced, broker)
    change_members(s, c, leader, isr, elr, unfenced)
    s.con_unfenced = unfenced


def leaders_with(s, c, broker) -> NodeSet(Broker):
    """Who may be the leader once the broker is unfenced."""
    partition = s.con_partition_metadata
    if partition.leader != NONE:
        return only(partition.leader)
    return next_leaders(s, c, partition.isr, partition.elr, with_node(s.con_unfenced, broker))


def unfence(s, c, broker, leader) -> None:
    """An unfenced broker may end the time without a leader."""
    partition = s.con_partition_metadata
    unfenced = with_node(s.con_unfenced, broker)
    if partition.leader == NONE:
        change_members(s, c, leader, partition.isr, partition.elr, unfenced)
    s.con_unfenced = unfenced


def fence_broker(s: State, c: Constants, broker: Broker, leader: OneOf(leaders_without)):
    """A broker's session expires."""
    if s.aux_ctrs.fence_broker_ctr >= c.fence_broker_limit:
        return "no more sessions expire (fence_broker_limit)"
    if broker not in s.con_unfenced:
        return "the broker is fenced"
    fence(s, c, broker, leader)
    s.aux_ctrs.fence_broker_ctr += 1
    return TAKEN


def unfence_broker(s: State, c: Constants, broker: Broker, leader: OneOf(leaders_with)):
    """The controller hears from a fenced broker."""
    if broker in s.con_unfenced:
        return "the broker is not fenced"
    if not is_running(s, broker):
        return "the broker does not run"
    unfence(s, c, broker, leader)
    return TAKEN


# --- Registration --------------------------------------------------------------------------------


def is_unclean(c, message) -> bool:
    """Does the controller take the log of this broker for incomplete?"""
    if not c.eligible_leader_replicas:
        return False
    return message.broker_epoch == 0 and bool(c.unclean_shutdown_detection)


def leaders_after_registration(s, c, message: Registering) -> NodeSet(Broker):
    """Who may be the leader once the broker is registered."""
    broker, partition = message.source, s.con_partition_metadata
    if not is_unclean(c, message):
        return leaders_with(s, c, broker)
    isr, elr = without_node(partition.isr, broker), without_node(partition.elr, broker)
    return next_leaders(s, c, isr, elr, with_node(s.con_unfenced, broker))


def receive_broker_reg_request(
    s: State, c: Constants, message: Registering, leader: OneOf(leaders_after_registration)
):
    """A broker registers and gets an epoch; without a clean-shutdown file it leaves ISR and ELR."""
    broker, partition = message.source, s.con_partition_metadata
    known = s.con_broker_reg[broker]
    if broker in s.con_unfenced and known.incarnation_id != message.incarnation_id:
        return "another incarnation of the broker has a session"
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
    if is_unclean(c, message):
        isr, elr = without_node(partition.isr, broker), without_node(partition.elr, broker)
        unfenced = with_node(s.con_unfenced, broker)
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


def completes_reassignment(
    c, isr: NodeSet(Broker), adding: NodeSet(Broker), removing: NodeSet(Broker)
) -> bool:
    """Does this ISR, without those to be removed, have all that are added, and enough members?"""
    final = isr & ~removing
    return len(adding | removing) > 0 and is_subset(adding, final) and len(final) >= c.min_isr


def end_reassignment(s) -> None:
    """Those to be removed are no replicas any more; a new leader epoch begins."""
    partition = s.con_partition_metadata
    partition.replicas = partition.replicas & ~partition.removing
    partition.adding = nodes_up_to(0)
    partition.removing = nodes_up_to(0)
    partition.leader_epoch += 1


def isr_after(s, c, isr: NodeSet(Broker)) -> NodeSet(Broker):
    """The ISR that an accepted request leads to."""
    partition = s.con_partition_metadata
    if completes_reassignment(c, isr, partition.adding, partition.removing):
        return isr & ~partition.removing
    return isr


def leaders_in(s, isr: NodeSet(Broker)) -> NodeSet(Broker):
    """Who may be the leader beside a new ISR: the present one if it is in it, else any member."""
    leader = s.con_partition_metadata.leader
    return only(leader) if leader in isr else isr


def leaders_after_request(s, c, message: Altering) -> NodeSet(Broker):
    """Who may be the leader once the request is answered."""
    leader = s.con_partition_metadata.leader
    if error_of(s, c, message) != "nil":
        return only(leader) if leader != NONE else nodes_up_to(0)
    return leaders_in(s, isr_after(s, c, message.isr))


def receive_alter_partition_request(
    s: State, c: Constants, message: Altering, leader: OneOf(leaders_after_request)
):
    """The controller accepts an ISR if it is asked by the leader, who knows all that it knows."""
    partition = s.con_partition_metadata
    error, isr = error_of(s, c, message), isr_after(s, c, message.isr)
    if error == "nil" and len(isr) == 0:
        return "nobody would be in the ISR"
    response = AlterPartitionResponse(dest=message.source, error=error, request=message)
    if error == "nil":
        if completes_reassignment(c, message.isr, partition.adding, partition.removing):
            end_reassignment(s)
        partition.elr = next_elr(s, c, isr, partition.replicas)
        partition.isr = isr
        partition.leader = leader
        publish(s, c)
        response.replicas = partition.replicas
        response.isr = isr
        response.leader = leader
        response.leader_epoch = partition.leader_epoch
        response.partition_epoch = partition.partition_epoch
    add_once(s.messages.alter_responses, response)
    discard(s.messages.alter_requests, s.messages_discard.alter_requests, message)
    return TAKEN


# --- Reassignment --------------------------------------------------------------------------------


def is_done_at_once(s, c, adding: NodeSet(Broker), removing: NodeSet(Broker)) -> bool:
    """Is the reassignment complete with the ISR as it is? Some replica must be left."""
    partition = s.con_partition_metadata
    left = (partition.replicas | adding) & ~removing
    return completes_reassignment(c, partition.isr, adding, removing) and len(left) > 0


def leaders_after_reassignment(s, c, adding: NodeSet(Broker), removing: NodeSet(Broker)) -> NodeSet(
    Broker
):
    """Who may be the leader once the reassignment has begun, or is done."""
    isr = s.con_partition_metadata.isr
    return leaders_in(s, isr & ~removing if is_done_at_once(s, c, adding, removing) else isr)


def perform_partition_reassignment(
    s: State,
    c: Constants,
    adding: Subset(Broker),
    removing: Subset(Broker),
    leader: OneOf(leaders_after_reassignment),
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
    if leader == NONE:
        return "nobody would be in the ISR"
    done = is_done_at_once(s, c, adding, removing)
    partition.replicas = partition.replicas | adding
    partition.adding = adding
    partition.removing = removing
    if done:
        end_reassignment(s)
        isr = partition.isr & ~removing
        partition.elr = next_elr(s, c, isr, partition.replicas)
        partition.isr = isr
    partition.leader = leader
    publish(s, c)
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
    partition.isr = only(leader)
    partition.leader = leader
    partition.leader_epoch += 1
    publish(s, c)
    return TAKEN
