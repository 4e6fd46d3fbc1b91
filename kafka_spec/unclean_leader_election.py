"""The talk: is the alive replica with the latest offset a safe unclean leader?

What it models: one partition whose ISR can shrink to a single replica, which then dies. Nobody of
the ISR is left, so a leader has to be found outside of it (an unclean election) or the partition
stays offline. `election_rule` says how one is found:

- latest_offset, the talk's idea: the alive replica whose last record is of the latest leader
  epoch, and among those the one with the longest log;
- first_alive, the broker's default that the talk starts with (slides 30-31; the original does not
  have it): the first alive replica of the replica list;
- eligible_leader_replicas, what Kafka got instead (KIP-966; the original does not have it):
  whoever leaves the ISR while it is smaller than min_isr is remembered in `zk_state.eligible`, and
  one of these may be elected when the ISR is empty; even its last member may leave it.

Leaders change at once, for everybody who looks into `zk_state`. Only followers lag: after each
election a replica must become a follower (truncate) before it fetches.

What breaks: committed_messages_never_lost. first_alive loses a committed message in 7 steps.
latest_offset survives that story (slides 32-34), but not all stories: a message that was copied
but never committed may have a later epoch than a committed one at the same offset. With min_isr=2
the shortest such loss takes 15 steps, those of slides 46-56; with min_isr=1, 5 steps.

Left out: records written with fewer acks than all; more than one request in flight by a producer;
the deaths of other replicas than `unstable_replica`; lost disks; a leader that does not know that
it is one no longer.

Offsets: the original counts from 1 and stores them in the messages; here they are the positions.
Slides and pictures count from 0.

The third rule loses nothing within the default bounds, with min_isr=1, 2 or 3. It costs nothing
either while min_isr is 2 or more: as only one replica dies, an eligible one is always alive. With
min_isr=1 the only eligible replica may be the dead one: 4,938 of 134,220 states are offline where
latest_offset would elect somebody (elects_where_latest_offset_would). The rule is simplified:
every replica keeps its log, so nobody stops being eligible because of an unclean restart, and
Kafka's last resort after that, the last known leader, is not needed.

Source: UncleanLeaderElectionSafety by Haruki Okada (LINE); KIP-966 for the third rule.
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.events import ZOOKEEPER, unclean_election_events
from kafka_spec.draw.unclean import draw_unclean_leader_election
from protocol_lab import (
    HOLDS,
    NO_LIMIT,
    NONE,
    TAKEN,
    Bool,
    Int8,
    Limits,
    Node,
    NodeSet,
    Per,
    Range,
    Seq,
    Spec,
    Struct,
    append,
    choice,
    contains,
    flag,
    members,
    nodes_up_to,
    only,
    size,
    smallest,
    truncate,
    with_node,
    without_node,
)

# --- Constants -------------------------------------------------------------------------------

LATEST_OFFSET, FIRST_ALIVE, ELIGIBLE_LEADER_REPLICAS = 0, 1, 2


class Constants(NamedTuple):
    """The size of the model, what is configured, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    unstable_replica: Annotated[int, Limits(1, "replicas", "the one that leads first and dies")] = 1
    min_isr: Annotated[
        int, Limits(0, 99, "members that the ISR needs to commit (min.insync.replicas)")
    ] = 2
    producers: Annotated[
        int, Limits(0, 7, "producers, each with one message in flight at most", classes=(7,))
    ] = 2
    election_rule: Annotated[
        int,
        choice(
            "latest_offset",
            "first_alive",
            "eligible_leader_replicas",
            meaning="who is elected when nobody of the ISR is alive",
        ),
    ] = LATEST_OFFSET
    first_record_committed: Annotated[
        int, flag("start with one committed message, as the original does, or with empty logs")
    ] = 1
    max_leader_epoch: Annotated[
        int, Limits(0, 99, "constraint: look no further in later epochs", may_be_none=True)
    ] = 3
    max_log_length: Annotated[
        int, Limits(0, 59, "constraint: look no further with longer logs", may_be_none=True)
    ] = 3
    log_slots: Annotated[
        int, Limits(1, 60, "storage: messages that fit into a log", classes=(12, 60))
    ] = 12


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas")
Producer = Node("producers")
LeaderEpoch = Int8.bounded_by("max_leader_epoch")


class Message(Struct):
    """What a producer wrote; its offset is its position in the log."""

    leader_epoch: LeaderEpoch
    producer: Int8


class ZkState(Struct):
    """What ZooKeeper holds (KRaft: the controller), known to everybody at once."""

    leader_epoch: LeaderEpoch
    leader: Replica
    isrs: NodeSet(Replica)
    alive_replicas: NodeSet(Replica)
    preferred_leader: Replica
    eligible: NodeSet(Replica)  # always empty but for the rule eligible_leader_replicas


class ReplicaState(Struct):
    """What a replica has on its own."""

    local_log: Seq(Message, "log_slots")
    is_shutdown: Bool  # it has died once; it may be back
    ready_to_fetch: Bool  # it has become a follower of the present leader


class State(Struct):
    """The partition, and what was promised: the messages that producers know to be committed."""

    committed_messages: Seq(Message, "log_slots")
    zk_state: ZkState
    replica_states: Per(Replica, ReplicaState)
    inflight_producers: NodeSet(Producer)


def init(s: State, c: Constants):
    """The unstable replica leads, everybody is alive and in sync, and one message is committed."""
    if c.first_record_committed:
        first = Message(leader_epoch=1, producer=1)
        append(s.committed_messages, first)
        for replica in range(1, c.replicas + 1):
            append(s.replica_states[replica].local_log, first)
    s.zk_state.leader_epoch = 1
    s.zk_state.leader = c.unstable_replica
    s.zk_state.isrs = nodes_up_to(c.replicas)
    s.zk_state.alive_replicas = nodes_up_to(c.replicas)
    s.zk_state.preferred_leader = c.unstable_replica
    for replica in range(1, c.replicas + 1):
        s.replica_states[replica].ready_to_fetch = replica != c.unstable_replica
    return TAKEN


# --- What the guards ask ---------------------------------------------------------------------


def log_of(s, replica):
    """The replica's log."""
    return s.replica_states[replica].local_log


def leo(s, replica) -> int:
    """The log end offset, as the original counts it: how many messages the log holds.

    That of nobody (NONE) is 0.
    """
    return 0 if replica == NONE else s.replica_states[replica].local_log.length


def has_no_leader(s) -> bool:
    """Is the partition offline?"""
    return s.zk_state.leader == NONE


def is_leader(s, replica) -> bool:
    """Does the replica lead?"""
    return s.zk_state.leader == replica


def is_in_isr(s, replica) -> bool:
    """Is the replica in sync, as far as ZooKeeper knows?"""
    return contains(s.zk_state.isrs, replica)


def is_alive(s, replica) -> bool:
    """Is the replica's broker connected?"""
    return contains(s.zk_state.alive_replicas, replica)


def is_isr_dead(s) -> bool:
    """Is no member of the ISR alive?"""
    return s.zk_state.alive_replicas & s.zk_state.isrs == 0


def is_shut_down(s, replica) -> bool:
    """Has the replica died already?"""
    return bool(s.replica_states[replica].is_shutdown)


def is_ready_to_fetch(s, replica) -> bool:
    """Has the replica become a follower of the present leader?"""
    return bool(s.replica_states[replica].ready_to_fetch)


def missing(s, replica) -> int:
    """How many messages the leader has that the replica lacks."""
    return leo(s, s.zk_state.leader) - leo(s, replica)


def common_prefix(log, other) -> int:
    """How many messages from the start on are the same in both logs."""
    length = 0
    while length < min(log.length, other.length) and log.items[length] == other.items[length]:
        length += 1
    return length


def has_reached_current_epoch(s, replica) -> bool:
    """Does the replica's log reach the leader's first message of the present epoch?"""
    log = log_of(s, s.zk_state.leader)
    for position in range(log.length):
        if log.items[position].leader_epoch == s.zk_state.leader_epoch:
            return leo(s, replica) > position
    return False


def has_reached_high_watermark(s, replica) -> bool:
    """Is the replica's log as long as what is committed?"""
    return leo(s, replica) >= s.committed_messages.length


# --- Effects that several actions share --------------------------------------------------------


def commit(s, c) -> None:
    """Commit what all of the ISR hold; the producers of what is new have their answers.

    Only if the ISR has min_isr members. What was committed before is replaced.
    """
    if size(s.zk_state.isrs) < c.min_isr:
        return
    log, known = log_of(s, s.zk_state.leader), s.committed_messages.length
    held = min(common_prefix(log, log_of(s, member)) for member in members(s.zk_state.isrs))
    truncate(s.committed_messages, 0)
    for position in range(held):
        append(s.committed_messages, log.items[position])
        if position >= known:
            producer = log.items[position].producer
            s.inflight_producers = without_node(s.inflight_producers, producer)


def change_isr(s, c, isrs) -> None:
    """Write a new ISR. The third rule remembers who leaves it while it is too small to commit."""
    if c.election_rule == ELIGIBLE_LEADER_REPLICAS:
        if size(isrs) < c.min_isr:
            s.zk_state.eligible = (s.zk_state.eligible | s.zk_state.isrs) & ~isrs
        else:
            s.zk_state.eligible = 0
    s.zk_state.isrs = isrs


def lead(s, c, replica) -> None:
    """Make the replica the leader, in the next epoch; all others must become followers first."""
    s.zk_state.leader_epoch += 1
    s.zk_state.leader = replica
    for each in range(1, c.replicas + 1):
        s.replica_states[each].ready_to_fetch = False


def lose_leader(s, c) -> None:
    """The leader is gone. As the last of the ISR it stays in it, but for the third rule."""
    leader = s.zk_state.leader
    s.zk_state.leader = NONE
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, leader)
    if s.zk_state.isrs != only(leader) or c.election_rule == ELIGIBLE_LEADER_REPLICAS:
        change_isr(s, c, without_node(s.zk_state.isrs, leader))


# --- Messages --------------------------------------------------------------------------------


def produce_message(s: State, c: Constants, replica: Replica, producer: Producer):
    """A producer sends to the leader, and waits until the message is committed (acks=all)."""
    if not is_leader(s, replica):
        return "the replica is not the leader"
    if contains(s.inflight_producers, producer):
        return "the producer still waits for its last message to be committed"
    append(log_of(s, replica), Message(leader_epoch=s.zk_state.leader_epoch, producer=producer))
    s.inflight_producers = with_node(s.inflight_producers, producer)
    return TAKEN


def most_entries(s, replica) -> int:
    """How many messages a fetch can bring; at least 1, so that there is a step to refuse."""
    return max(1, missing(s, replica))


def replicate(s: State, c: Constants, replica: Replica, entries: Range(1, most_entries)):
    """A follower copies the leader's next messages, which may complete what the ISR must hold."""
    if has_no_leader(s):
        return "there is no leader to fetch from"
    if is_leader(s, replica):
        return "the replica is the leader"
    if not is_ready_to_fetch(s, replica):
        return "the replica has not become a follower of this leader yet"
    if missing(s, replica) <= 0:
        return "the replica has all of the leader's messages"
    for _ in range(entries):
        mine, theirs = log_of(s, replica), log_of(s, s.zk_state.leader)
        append(mine, theirs.items[mine.length])
    commit(s, c)
    return TAKEN


# --- The ISR ---------------------------------------------------------------------------------


def become_out_of_sync(s: State, c: Constants, replica: Replica):
    """A lagging follower leaves the ISR; what the rest of it holds is thereby committed."""
    if has_no_leader(s):
        return "there is no leader to notice it"
    if not is_leader(s, c.unstable_replica) and replica != c.unstable_replica:
        return "leader and replica both work well: only the unstable replica makes others lag"
    if is_leader(s, replica):
        return "the replica is the leader"
    if not is_in_isr(s, replica):
        return "the replica is not in the ISR"
    if missing(s, replica) <= 0:
        return "the replica has all of the leader's messages"
    change_isr(s, c, without_node(s.zk_state.isrs, replica))
    commit(s, c)
    return TAKEN


def become_in_sync(s: State, c: Constants, replica: Replica):
    """A follower that has reached the high watermark and the leader's epoch joins the ISR."""
    if has_no_leader(s):
        return "there is no leader to notice it"
    if is_leader(s, replica):
        return "the replica is the leader"
    if is_in_isr(s, replica):
        return "the replica is in the ISR already"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not is_ready_to_fetch(s, replica):
        return "the replica has not become a follower of this leader yet"
    if not has_reached_current_epoch(s, replica):
        return "the replica has no message of the leader's epoch, or there is none"
    if not has_reached_high_watermark(s, replica):
        return "the replica has not reached the high watermark"
    change_isr(s, c, with_node(s.zk_state.isrs, replica))
    return TAKEN


# --- Failures --------------------------------------------------------------------------------


def leader_failure(s: State, c: Constants, replica: Replica):
    """The unstable leader loses its session with ZooKeeper; it may be back soon."""
    if replica != c.unstable_replica:
        return "only the unstable replica fails"
    if not is_leader(s, replica):
        return "the replica is not the leader"
    if not is_alive(s, replica):
        return "the replica is not alive"
    lose_leader(s, c)
    return TAKEN


def unstable_replica_dies_when_leader(s: State, c: Constants):
    """The unstable replica dies while it leads. It does so once, and nobody can look at its log."""
    if is_shut_down(s, c.unstable_replica):
        return "it has died already"
    if not is_leader(s, c.unstable_replica):
        return "the unstable replica is not the leader"
    lose_leader(s, c)
    s.replica_states[c.unstable_replica].is_shutdown = True
    return TAKEN


def unstable_replica_dies_when_follower(s: State, c: Constants):
    """The unstable replica dies while another leads, or nobody: then the ISR may become empty."""
    if is_shut_down(s, c.unstable_replica):
        return "it has died already"
    if is_leader(s, c.unstable_replica):
        return "the unstable replica is the leader"
    change_isr(s, c, without_node(s.zk_state.isrs, c.unstable_replica))
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, c.unstable_replica)
    s.replica_states[c.unstable_replica].is_shutdown = True
    s.replica_states[c.unstable_replica].ready_to_fetch = False
    return TAKEN


def failed_replica_back(s: State, c: Constants, replica: Replica):
    """A failed replica is back with its log: the session was renewed, the hardware replaced."""
    if is_alive(s, replica):
        return "the replica is alive"
    s.zk_state.alive_replicas = with_node(s.zk_state.alive_replicas, replica)
    return TAKEN


# --- Clean elections -------------------------------------------------------------------------


def elect_new_leader(s: State, c: Constants, replica: Replica):
    """With no leader, the first replica of the ISR is elected, if it is alive."""
    if not has_no_leader(s):
        return "there is a leader"
    if not is_in_isr(s, replica):
        return "the replica is not in the ISR"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if replica != smallest(s.zk_state.isrs):
        return "another replica comes first in the ISR"
    lead(s, c, replica)
    return TAKEN


def swap_preferred_leader(s: State, c: Constants, replica: Replica):
    """Somebody reorders the replica list, so that another replica is preferred as the leader."""
    if replica == s.zk_state.preferred_leader:
        return "the replica is preferred already"
    s.zk_state.preferred_leader = replica
    return TAKEN


def preferred_leader_election(s: State, c: Constants):
    """Leadership moves to the preferred replica, as a load balancer does it."""
    preferred = s.zk_state.preferred_leader
    if has_no_leader(s):
        return "there is no leader"
    if is_leader(s, preferred):
        return "the preferred replica leads already"
    if not is_in_isr(s, preferred):
        return "the preferred replica is not in the ISR"
    if not is_alive(s, preferred):
        return "the preferred replica is not alive"
    lead(s, c, preferred)
    return TAKEN


def become_follower(s: State, c: Constants, replica: Replica):
    """A replica drops what its log does not share with the leader's, and may fetch from then on."""
    if has_no_leader(s):
        return "there is no leader to follow"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if is_leader(s, replica):
        return "the replica is the leader"
    shared = common_prefix(log_of(s, replica), log_of(s, s.zk_state.leader))
    truncate(log_of(s, replica), shared)
    s.replica_states[replica].ready_to_fetch = True
    return TAKEN


# --- Elections when nobody of the ISR is alive -------------------------------------------------


def last_epoch(s, replica) -> int:
    """The leader epoch of the replica's last message; 0 if its log is empty."""
    log = log_of(s, replica)
    return log.items[log.length - 1].leader_epoch if log.length > 0 else 0


def is_as_late_as(s, replica, other) -> bool:
    """Is the replica's last message of a later epoch, or of the same and not before the other's?"""
    mine, theirs = last_epoch(s, replica), last_epoch(s, other)
    return mine > theirs or (mine == theirs and leo(s, replica) >= leo(s, other))


def lead_alone(s, c, replica) -> None:
    """Elected from outside of the ISR, the replica is the ISR."""
    change_isr(s, c, only(replica))
    lead(s, c, replica)


def unclean_leader_election_choose_latest_offset(s: State, c: Constants, replica: Replica):
    """The leader is dead for good: elect the alive replica with the latest offset."""
    if c.election_rule != LATEST_OFFSET:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not is_shut_down(s, c.unstable_replica):
        return "the unstable replica has not died: it may be back soon"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not all(is_as_late_as(s, replica, other) for other in members(s.zk_state.alive_replicas)):
        return "another alive replica has a later last epoch, or the same and a longer log"
    lead_alone(s, c, replica)
    return TAKEN


def unclean_leader_election_choose_first_alive(s: State, c: Constants, replica: Replica):
    """unclean.leader.election.enable: elect the first alive replica, whatever it holds."""
    if c.election_rule != FIRST_ALIVE:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if replica != smallest(s.zk_state.alive_replicas):
        return "another alive replica comes first in the replica list"
    lead_alone(s, c, replica)
    return TAKEN


def elect_eligible_leader_replica(s: State, c: Constants, replica: Replica):
    """KIP-966: elect the first alive one of those that left the ISR when it was too small.

    Since then nothing was committed, so that it has all that ever was. This election is clean.
    """
    if c.election_rule != ELIGIBLE_LEADER_REPLICAS:
        return "another election rule is set"
    if not has_no_leader(s):
        return "there is a leader"
    if s.zk_state.isrs != 0:
        return "the ISR is not empty"
    if not is_alive(s, replica):
        return "the replica is not alive"
    if not contains(s.zk_state.eligible, replica):
        return "the replica left the ISR when it was still large enough to commit"
    if replica != smallest(s.zk_state.eligible & s.zk_state.alive_replicas):
        return "another alive replica comes first among the eligible ones"
    lead_alone(s, c, replica)
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------

spec = Spec(
    "kafka.unclean_leader_election",
    State,
    Constants,
    __doc__,
    draw=draw_unclean_leader_election,
    original="UncleanLeaderElectionSafety",
    lifelines=(ZOOKEEPER, Replica, Producer),
    events=unclean_election_events,
)
spec.init(init)
spec.action(produce_message)
spec.action(replicate)
spec.action(become_out_of_sync)
spec.action(become_in_sync)
spec.action(leader_failure)
spec.action(elect_new_leader)
spec.action(failed_replica_back)
spec.action(swap_preferred_leader)
spec.action(become_follower)
spec.action(unstable_replica_dies_when_leader)
spec.action(unstable_replica_dies_when_follower)
spec.action(preferred_leader_election)
spec.action(unclean_leader_election_choose_latest_offset)
spec.action(unclean_leader_election_choose_first_alive)
spec.action(elect_eligible_leader_replica)


# --- Properties ------------------------------------------------------------------------------


@spec.constraint
def within_bounds(s: State, c: Constants):
    """Epochs and logs that the search goes on from; either bound may be switched off."""
    if s.zk_state.leader_epoch > c.max_leader_epoch:
        return "the leader epoch is beyond max_leader_epoch"
    if c.max_log_length < NO_LIMIT and any(
        leo(s, replica) > c.max_log_length for replica in range(1, c.replicas + 1)
    ):
        return "a log is longer than max_log_length"
    return HOLDS


@spec.invariant
def committed_messages_never_lost(s: State, c: Constants):
    """Whoever leads has all committed messages.

    The original looks for them anywhere in the leader's log; but each message has its offset in
    it there, and the first is at the first, so they can only be found at the log's beginning.
    """
    if has_no_leader(s):
        return HOLDS
    shared = common_prefix(s.committed_messages, log_of(s, s.zk_state.leader))
    if shared < s.committed_messages.length:
        return "the leader lacks a committed message"
    return HOLDS


@spec.invariant(by_default=False)
def elects_where_latest_offset_would(s: State, c: Constants):
    """Where the talk's rule elects somebody, the rule in force does so as well.

    This is what the third rule may cost: it rather stays offline than elect somebody who was out
    of sync while messages were committed.
    """
    if c.election_rule != ELIGIBLE_LEADER_REPLICAS or not has_no_leader(s) or not is_isr_dead(s):
        return HOLDS
    if not is_shut_down(s, c.unstable_replica) or s.zk_state.alive_replicas == 0:
        return HOLDS
    if s.zk_state.eligible & s.zk_state.alive_replicas == 0:
        return "replicas are alive, but none of them is eligible"
    return HOLDS


@spec.sometimes
def a_further_message_is_committed(s: State, c: Constants):
    """More is committed than at the start."""
    if s.committed_messages.length <= c.first_record_committed:
        return "nothing is committed that was not at the start"
    return HOLDS


@spec.sometimes
def the_isr_is_down_to_one(s: State, c: Constants):
    """Only the leader is in sync."""
    return HOLDS if s.zk_state.isrs == only(s.zk_state.leader) else "the leader is not alone"


@spec.sometimes
def the_isr_has_its_dead_member_back(s: State, c: Constants):
    """The unstable replica has died, is alive again, and is a follower in sync."""
    replica = c.unstable_replica
    if is_shut_down(s, replica) and not has_no_leader(s) and not is_leader(s, replica):
        return HOLDS if is_in_isr(s, replica) else "the unstable replica is not in the ISR"
    return "the unstable replica has not died, or leads, or nobody does"


@spec.sometimes
def nobody_of_the_isr_is_alive(s: State, c: Constants):
    """The partition is offline, and no clean election from the ISR can help: slide 12."""
    if not has_no_leader(s):
        return "there is a leader"
    return HOLDS if is_isr_dead(s) else "a member of the ISR is alive"


@spec.sometimes
def a_deposed_leader_has_other_messages(s: State, c: Constants):
    """An alive replica has a message where the leader has another one."""
    if has_no_leader(s):
        return "there is no leader"
    for replica in members(s.zk_state.alive_replicas):
        log, leaders = log_of(s, replica), log_of(s, s.zk_state.leader)
        if common_prefix(log, leaders) < min(log.length, leaders.length):
            return HOLDS
    return "no alive replica contradicts the leader"


# --- Situations that are worth finding ---------------------------------------------------------


def holds_all_committed(s, replica) -> bool:
    """Does the replica's log begin with all that is committed?"""
    committed = s.committed_messages
    return common_prefix(committed, log_of(s, replica)) == committed.length


@spec.situation
def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return size(s.zk_state.isrs) == 1


@spec.situation
def the_partition_is_offline(s: State, c: Constants) -> bool:
    """There is no leader, and nobody of the ISR is alive."""
    return has_no_leader(s) and is_isr_dead(s)


@spec.situation
def a_follower_is_ahead_of_its_leader(s: State, c: Constants) -> bool:
    """An alive replica's log is longer than the leader's."""
    return not has_no_leader(s) and any(
        leo(s, replica) > leo(s, s.zk_state.leader)
        for replica in members(s.zk_state.alive_replicas)
    )


@spec.situation
def two_equally_long_logs_disagree(s: State, c: Constants) -> bool:
    """Two logs are equally long and not the same."""
    return any(
        leo(s, replica) == leo(s, other)
        and common_prefix(log_of(s, replica), log_of(s, other)) < leo(s, replica)
        for replica in range(1, c.replicas + 1)
        for other in range(1, replica)
    )


@spec.situation
def one_alive_replica_holds_all_that_is_committed(s: State, c: Constants) -> bool:
    """Of the alive replicas one only holds all that is committed."""
    return (
        sum(1 for each in members(s.zk_state.alive_replicas) if holds_all_committed(s, each)) == 1
    )


@spec.situation
def the_latest_offset_misleads(s: State, c: Constants) -> bool:
    """The alive replica with the latest offset lacks a committed message."""
    return any(
        not holds_all_committed(s, replica)
        and all(is_as_late_as(s, replica, other) for other in members(s.zk_state.alive_replicas))
        for replica in members(s.zk_state.alive_replicas)
    )
