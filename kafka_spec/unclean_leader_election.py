"""The talk: is the alive replica with the latest offset a safe unclean leader?

What it models: one partition whose ISR can shrink to a single replica, which then dies. Nobody of
the ISR is left, so a leader has to be found outside of it (an unclean election) or the partition
stays offline. `election_rule` says how one is found:

- latest_offset, the talk's idea: the alive replica whose last record is of the latest leader
  epoch, and among those the one with the longest log;
- first_alive, Kafka's rule that the talk starts with (slides 30-31): the first alive replica of the
  replica list, which is in the order of the replicas' numbers;
- eligible_leader_replicas, what Kafka got instead (KIP-966): whoever leaves the ISR in the change
  that takes it below min_isr, or later, is remembered in `zk_state.eligible`, and one of these may
  be elected when the ISR is empty; even its last member may leave it.

The original has the first rule only. Leaders change at once, for all who look into `zk_state`. Only
followers lag: after each election a replica must become a follower (truncate) before it fetches.
The original counts offsets from 1 and stores them in the messages; here they are the positions,
from 0, as on the slides.

What breaks: committed_messages_never_lost. first_alive loses a committed message in 7 steps.
latest_offset survives that story (slides 32-34), but not all stories: a message that was copied
but never committed may have a later epoch than a committed one at the same offset. With min_isr=2
the shortest such loss takes 15 steps, those of slides 46-56; with min_isr=1, 5 steps. The third
rule loses nothing within the default bounds, with min_isr=1, 2 or 3.

Simplified: a leader whose ISR is smaller than min_isr still appends, and does not commit; Kafka
4.3.1 refuses the write if acks=all (NotEnoughReplicasException). A write commits nothing, even if
the leader is alone in its ISR: a follower's fetch commits, or its leaving the ISR (Kafka's leader
commits as it appends: `Partition.appendRecordsToLeader` 3.8.0). Everybody knows at once what is
committed. Left out: other acks; more than one request in flight from a producer; consumers; deaths
of other replicas than `unstable_replica`; lost disks; deposed leaders that do not know it.

Source: UncleanLeaderElectionSafety.tla by Haruki Okada (LINE),
https://github.com/ocadaruma/kafka-spec; KIP-966 for the third rule.
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.choices import UNCLEAN_ELECTION
from kafka_spec.draw.events import CONTROLLER, unclean_election_events
from kafka_spec.draw.unclean import draw_unclean_leader_election
from protocol_lab import *

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, what is configured, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition")] = 3
    unstable_replica: Annotated[int, Limits(1, "replicas", "the one that leads first and dies")] = 1
    min_isr: Annotated[
        int, Limits(0, 99, "members that the ISR needs to commit (min.insync.replicas)")
    ] = 2
    producers: Annotated[
        int, Limits(0, 7, "producers, each with one message in flight at most")
    ] = 2
    election_rule: Annotated[
        str,
        choice(
            "latest_offset",
            "first_alive",
            "eligible_leader_replicas",
            meaning="who is elected when nobody of the ISR is alive",
        ),
    ] = "latest_offset"
    first_record_committed: Annotated[
        int, flag("start with one committed message, as the original does, or with empty logs")
    ] = 1
    max_leader_epoch: Annotated[
        int, Limits(0, 99, "constraint: look no further in later epochs", may_be_none=True)
    ] = 3
    max_log_length: Annotated[
        int, Limits(0, 59, "constraint: look no further with longer logs", may_be_none=True)
    ] = 3
    log_slots: Annotated[int, storage(1, 60, "messages that fit into a log")] = 12


CONFIGURATIONS = (
    Configuration(
        "default",
        "few elections and short logs: enough for the loss of the talk",
        "violated in 16 states, after 137,780 distinct states",
    ),
    Configuration(
        "shipped",
        "no bounds, as in UncleanLeaderElectionSafety.cfg, which comes with the original",
        "violated in 16 states, after 1,588,512 distinct states",
        {"max_leader_epoch": None, "max_log_length": None},
    ),
)


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas", noun="broker")
Producer = Node("producers")
LeaderEpoch = Int8.bounded_by("max_leader_epoch")


class Message(Struct):
    """What a producer wrote; its offset is its position in the log."""

    leader_epoch: LeaderEpoch
    producer: Int8


class ZkState(Struct):
    """What the controller has written down (in 2022 in ZooKeeper); everybody knows it at once."""

    leader_epoch: LeaderEpoch
    leader: Replica
    isrs: NodeSet(Replica)
    alive_replicas: NodeSet(Replica)
    preferred_leader: Replica
    eligible: NodeSet(Replica)  # empty, except with eligible_leader_replicas


class ReplicaState(Struct):
    """A replica's log, and two flags."""

    local_log: Seq(Message, "log_slots")
    is_shutdown: Bool  # it has died once; it may be back
    ready_to_fetch: Bool  # it has become a follower of the current leader


class State(Struct):
    """The partition, and what was promised: the messages that producers know to be committed."""

    committed_messages: Seq(Message, "log_slots")
    zk_state: ZkState
    replica_states: Per(Replica, ReplicaState)
    inflight_producers: NodeSet(Producer)


spec = Spec(
    "kafka.unclean_leader_election",
    State,
    Constants,
    __doc__,
    draw=draw_unclean_leader_election,
    original="UncleanLeaderElectionSafety",
    lifelines=(CONTROLLER, Replica, Producer),
    events=unclean_election_events,
    choices=UNCLEAN_ELECTION,
    configurations=CONFIGURATIONS,
    decisions=(
        "leader_failure",
        "failed_replica_back",
        "swap_preferred_leader",
        "preferred_leader_election",
        "unstable_replica_dies_when_leader",
        "unstable_replica_dies_when_follower",
    ),
)


@spec.init
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


def log_of(s, replica):
    """The replica's log; the log of NONE is empty."""
    return s.replica_states[replica].local_log


def leo(s, replica) -> int:
    """The log end offset: how many messages the log holds. That of nobody (NONE) is 0."""
    return 0 if replica == NONE else len(s.replica_states[replica].local_log)


def is_isr_dead(s) -> bool:
    """Is no member of the ISR alive?"""
    return s.zk_state.alive_replicas & s.zk_state.isrs == 0


def missing(s, replica) -> int:
    """How many messages the leader has that the replica lacks."""
    return leo(s, s.zk_state.leader) - leo(s, replica)


def common_prefix(log, other) -> int:
    """How many messages from the start on are the same in both logs."""
    length = 0
    while length < min(len(log), len(other)) and log[length] == other[length]:
        length += 1
    return length


def holds_all_committed(s, replica) -> bool:
    """Does the replica's log begin with all committed messages?"""
    committed = s.committed_messages
    return common_prefix(committed, log_of(s, replica)) == len(committed)


# --- A producer writes, followers copy, and what all of the ISR hold is committed ------------


@spec.action
def produce_message(s: State, c: Constants, replica: Replica, producer: Producer):
    """A producer sends to the leader, and waits until the message is committed (acks=all)."""
    if s.zk_state.leader != replica:
        return "the replica is not the leader"
    if producer in s.inflight_producers:
        return "the producer still waits for its last message to be committed"
    append(log_of(s, replica), Message(leader_epoch=s.zk_state.leader_epoch, producer=producer))
    s.inflight_producers = with_node(s.inflight_producers, producer)
    return TAKEN


def most_entries(s, replica) -> int:
    """How many messages a fetch can bring; at least 1, so that there is a step to refuse."""
    return max(1, missing(s, replica))


@spec.action
def replicate(s: State, c: Constants, replica: Replica, entries: Range(1, most_entries)):
    """A follower copies the leader's next messages, which may complete what the ISR must hold."""
    if s.zk_state.leader == NONE:
        return "there is no leader to fetch from"
    if s.zk_state.leader == replica:
        return "the replica is the leader"
    if not s.replica_states[replica].ready_to_fetch:
        return "the replica has not become a follower of this leader yet"
    if missing(s, replica) <= 0:
        return "the replica's log is at least as long as the leader's"
    for _ in range(entries):
        mine, theirs = log_of(s, replica), log_of(s, s.zk_state.leader)
        append(mine, theirs[len(mine)])
    commit(s, c)
    return TAKEN


def commit(s, c) -> None:
    """Commit what all members of the ISR hold, and answer the producers of what is new.

    Only if the ISR has at least min_isr members. What was committed before is replaced.
    """
    if len(s.zk_state.isrs) < c.min_isr:
        return
    log, known = log_of(s, s.zk_state.leader), len(s.committed_messages)
    held = min(common_prefix(log, log_of(s, member)) for member in s.zk_state.isrs)
    truncate(s.committed_messages, 0)
    for position in range(held):
        append(s.committed_messages, log[position])
        if position >= known:
            s.inflight_producers = without_node(s.inflight_producers, log[position].producer)


# --- Followers leave the ISR and join it -----------------------------------------------------


@spec.action
def become_out_of_sync(s: State, c: Constants, replica: Replica):
    """A lagging follower leaves the ISR, which commits what all of the rest hold."""
    if s.zk_state.leader == NONE:
        return "there is no leader to notice it"
    if s.zk_state.leader != c.unstable_replica and replica != c.unstable_replica:
        return "leader and replica both work well: only the unstable replica makes others lag"
    if s.zk_state.leader == replica:
        return "the replica is the leader"
    if replica not in s.zk_state.isrs:
        return "the replica is not in the ISR"
    if missing(s, replica) <= 0:
        return "the replica's log is at least as long as the leader's"
    change_isr(s, c, without_node(s.zk_state.isrs, replica))
    commit(s, c)
    return TAKEN


@spec.action
def become_in_sync(s: State, c: Constants, replica: Replica):
    """A follower that has reached the high watermark and the leader's epoch joins the ISR."""
    if s.zk_state.leader == NONE:
        return "there is no leader to notice it"
    if s.zk_state.leader == replica:
        return "the replica is the leader"
    if replica in s.zk_state.isrs:
        return "the replica is in the ISR already"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if not s.replica_states[replica].ready_to_fetch:
        return "the replica has not become a follower of this leader yet"
    if not has_reached_current_epoch(s, replica):
        return "the replica has no message of the leader's epoch, or there is none"
    if leo(s, replica) < len(s.committed_messages):
        return "the replica has not reached the high watermark"
    change_isr(s, c, with_node(s.zk_state.isrs, replica))
    return TAKEN


def has_reached_current_epoch(s, replica) -> bool:
    """Does the replica's log reach the leader's first message of the present epoch?"""
    log = log_of(s, s.zk_state.leader)
    for position in range(len(log)):
        if log[position].leader_epoch == s.zk_state.leader_epoch:
            return leo(s, replica) > position
    return False


def change_isr(s, c, isrs: NodeSet(Replica)) -> None:
    """Write the ISR. Under the third rule, who leaves it once it is too small becomes eligible."""
    if c.election_rule == "eligible_leader_replicas" and len(isrs) < c.min_isr:
        s.zk_state.eligible = (s.zk_state.eligible | s.zk_state.isrs) & ~isrs
    else:
        s.zk_state.eligible = nodes_up_to(0)
    s.zk_state.isrs = isrs


# --- The leader's session is lost; a member of the ISR is elected, and followed --------------


@spec.action
def leader_failure(s: State, c: Constants, replica: Replica):
    """The unstable replica loses its session while it leads; it may be back soon."""
    if replica != c.unstable_replica:
        return "only the unstable replica fails"
    if s.zk_state.leader != replica:
        return "the replica is not the leader"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    lose_leader(s, c)
    return TAKEN


def lose_leader(s, c) -> None:
    """The leader is gone. If it is the ISR's last member it stays, except under the third rule."""
    leader = s.zk_state.leader
    s.zk_state.leader = NONE
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, leader)
    if s.zk_state.isrs != only(leader) or c.election_rule == "eligible_leader_replicas":
        change_isr(s, c, without_node(s.zk_state.isrs, leader))


@spec.action
def elect_new_leader(s: State, c: Constants, replica: Replica):
    """With no leader, the first of the ISR in the replica list is elected, if it is alive."""
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if replica not in s.zk_state.isrs:
        return "the replica is not in the ISR"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if replica != smallest(s.zk_state.isrs):
        return "another replica comes first in the ISR"
    lead(s, c, replica)
    return TAKEN


def lead(s, c, replica) -> None:
    """Make the replica the leader, in the next epoch; all others must become followers first."""
    s.zk_state.leader_epoch += 1
    s.zk_state.leader = replica
    for other in range(1, c.replicas + 1):
        s.replica_states[other].ready_to_fetch = False


@spec.action
def failed_replica_back(s: State, c: Constants, replica: Replica):
    """A failed replica is back, with its log: its session was renewed, or its hardware repaired."""
    if replica in s.zk_state.alive_replicas:
        return "the replica is alive"
    s.zk_state.alive_replicas = with_node(s.zk_state.alive_replicas, replica)
    return TAKEN


@spec.action
def swap_preferred_leader(s: State, c: Constants, replica: Replica):
    """Another replica becomes the preferred leader; the replica list keeps its order.

    This is simplified: in Kafka 4.3.1 the preferred leader is the first of the list.
    """
    if replica == s.zk_state.preferred_leader:
        return "the replica is preferred already"
    s.zk_state.preferred_leader = replica
    return TAKEN


@spec.action
def become_follower(s: State, c: Constants, replica: Replica):
    """A replica cuts its log off where it differs from the leader's, and may fetch from then on."""
    if s.zk_state.leader == NONE:
        return "there is no leader to follow"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if s.zk_state.leader == replica:
        return "the replica is the leader"
    shared = common_prefix(log_of(s, replica), log_of(s, s.zk_state.leader))
    truncate(log_of(s, replica), shared)
    s.replica_states[replica].ready_to_fetch = True
    return TAKEN


# --- The unstable replica dies, once ---------------------------------------------------------


@spec.action
def unstable_replica_dies_when_leader(s: State, c: Constants):
    """The unstable replica dies while it leads. It dies only once."""
    if s.replica_states[c.unstable_replica].is_shutdown:
        return "it has died already"
    if s.zk_state.leader != c.unstable_replica:
        return "the unstable replica is not the leader"
    lose_leader(s, c)
    s.replica_states[c.unstable_replica].is_shutdown = True
    return TAKEN


@spec.action
def unstable_replica_dies_when_follower(s: State, c: Constants):
    """The unstable replica dies while it does not lead. The ISR may thereby become empty."""
    if s.replica_states[c.unstable_replica].is_shutdown:
        return "it has died already"
    if s.zk_state.leader == c.unstable_replica:
        return "the unstable replica is the leader"
    change_isr(s, c, without_node(s.zk_state.isrs, c.unstable_replica))
    s.zk_state.alive_replicas = without_node(s.zk_state.alive_replicas, c.unstable_replica)
    s.replica_states[c.unstable_replica].is_shutdown = True
    s.replica_states[c.unstable_replica].ready_to_fetch = False
    return TAKEN


# --- Leadership moves to the preferred replica -----------------------------------------------


@spec.action
def preferred_leader_election(s: State, c: Constants):
    """Leadership moves to the preferred replica, to balance the load.

    The talk's loss needs it: one more guard here prevents it (exercise tame_the_load_balancer).
    """
    preferred = s.zk_state.preferred_leader
    if s.zk_state.leader == NONE:
        return "there is no leader"
    if s.zk_state.leader == preferred:
        return "the preferred replica leads already"
    if preferred not in s.zk_state.isrs:
        return "the preferred replica is not in the ISR"
    if preferred not in s.zk_state.alive_replicas:
        return "the preferred replica is not alive"
    lead(s, c, preferred)
    return TAKEN


# --- Nobody of the ISR is alive: one action for each election rule ---------------------------


def last_epoch(s, replica) -> int:
    """The leader epoch of the replica's last message; 0 if its log is empty."""
    log = log_of(s, replica)
    return last(log).leader_epoch if len(log) > 0 else 0


def is_as_late_as(s, replica, other) -> bool:
    """Is its last message of a later epoch than the other's, or of the same and its log as long?"""
    mine, theirs = last_epoch(s, replica), last_epoch(s, other)
    return mine > theirs or (mine == theirs and leo(s, replica) >= leo(s, other))


def lead_alone(s, c, replica) -> None:
    """Make a replica from outside of the ISR the leader: it is then the whole ISR."""
    change_isr(s, c, only(replica))
    lead(s, c, replica)


@spec.action
def unclean_leader_election_choose_latest_offset(s: State, c: Constants, replica: Replica):
    """The unstable replica has died: elect the alive replica with the latest offset.

    Latest means the highest epoch of the last record, and among equal ones the longest log.
    """
    if c.election_rule != "latest_offset":
        return "another election rule is set"
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if not s.replica_states[c.unstable_replica].is_shutdown:
        return "the unstable replica has not died: it may be back soon"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if not all(is_as_late_as(s, replica, other) for other in s.zk_state.alive_replicas):
        return "another alive replica has a later last epoch, or the same and a longer log"
    lead_alone(s, c, replica)
    return TAKEN


@spec.action
def unclean_leader_election_choose_first_alive(s: State, c: Constants, replica: Replica):
    """unclean.leader.election.enable: elect the list's first alive replica, whatever it has."""
    if c.election_rule != "first_alive":
        return "another election rule is set"
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if not is_isr_dead(s):
        return "a member of the ISR is alive"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if replica != smallest(s.zk_state.alive_replicas):
        return "another alive replica comes first in the replica list"
    lead_alone(s, c, replica)
    return TAKEN


@spec.action
def elect_eligible_leader_replica(s: State, c: Constants, replica: Replica):
    """KIP-966: elect the first alive replica in the list whose leaving left the ISR too small.

    Nothing was committed since then, so it has all committed messages: the election is clean. It is
    simplified: every replica keeps its log, so nobody stops being eligible because of an unclean
    restart, and Kafka's last resort after that, the last known leader, is not needed.
    """
    if c.election_rule != "eligible_leader_replicas":
        return "another election rule is set"
    if s.zk_state.leader != NONE:
        return "there is a leader"
    if s.zk_state.isrs != 0:
        return "the ISR is not empty"
    if replica not in s.zk_state.alive_replicas:
        return "the replica is not alive"
    if replica not in s.zk_state.eligible:
        return "the replica left the ISR when it was still large enough to commit"
    if replica != smallest(s.zk_state.eligible & s.zk_state.alive_replicas):
        return "another alive replica comes first among the eligible ones"
    lead_alone(s, c, replica)
    return TAKEN


# --- Properties ------------------------------------------------------------------------------


@spec.constraint
def within_bounds(s: State, c: Constants):
    """Which states a search expands: epochs and logs are bounded. Either may be switched off."""
    if s.zk_state.leader_epoch > c.max_leader_epoch:
        return "the leader epoch is beyond max_leader_epoch"
    if any(leo(s, replica) > c.max_log_length for replica in range(1, c.replicas + 1)):
        return "a log is longer than max_log_length"
    return HOLDS


@spec.invariant
def committed_messages_never_lost(s: State, c: Constants):
    """The leader, if there is one, has all committed messages.

    The original looks for them anywhere in the leader's log. As its messages contain their offsets,
    it can find them at the beginning only.
    """
    if s.zk_state.leader == NONE:
        return HOLDS
    if not holds_all_committed(s, s.zk_state.leader):
        return "the leader lacks a committed message"
    return HOLDS


@spec.invariant(by_default=False)
def elects_where_latest_offset_would(s: State, c: Constants):
    """Where latest_offset would elect a replica, eligible_leader_replicas does as well.

    If not, the partition stays offline rather than elect a replica that was out of sync while
    messages were committed. That costs nothing while min_isr is 2 or more: as only one replica
    dies, an eligible one is always alive. With min_isr=1 the only eligible one may be the dead one:
    4,938 of 134,220 states are offline.
    """
    is_offline = s.zk_state.leader == NONE and is_isr_dead(s)
    if c.election_rule != "eligible_leader_replicas" or not is_offline:
        return HOLDS
    if not s.replica_states[c.unstable_replica].is_shutdown or s.zk_state.alive_replicas == 0:
        return HOLDS
    if s.zk_state.eligible & s.zk_state.alive_replicas == 0:
        return "replicas are alive, but none of them is eligible"
    return HOLDS


# --- Situations: the expected ones must be reachable -----------------------------------------


@spec.situation(expected=True)
def a_further_message_is_committed(s: State, c: Constants) -> bool:
    """More is committed than in the initial state."""
    return len(s.committed_messages) > c.first_record_committed


@spec.situation(expected=True)
def the_isr_is_down_to_one(s: State, c: Constants) -> bool:
    """Only the leader is in sync."""
    return s.zk_state.isrs == only(s.zk_state.leader)


@spec.situation(expected=True)
def the_isr_has_its_dead_member_back(s: State, c: Constants) -> bool:
    """The unstable replica has died, is alive again, and is a follower in sync."""
    replica = c.unstable_replica
    follows = s.zk_state.leader != NONE and s.zk_state.leader != replica
    return s.replica_states[replica].is_shutdown and follows and replica in s.zk_state.isrs


@spec.situation(expected=True)
def nobody_of_the_isr_is_alive(s: State, c: Constants) -> bool:
    """The partition is offline, and no clean election from the ISR can help: slide 12."""
    return s.zk_state.leader == NONE and is_isr_dead(s)


@spec.situation(expected=True)
def a_deposed_leader_has_other_messages(s: State, c: Constants) -> bool:
    """An alive replica has a message where the leader has another one."""
    leader = s.zk_state.leader
    return leader != NONE and any(
        common_prefix(log_of(s, replica), log_of(s, leader)) < min(leo(s, replica), leo(s, leader))
        for replica in s.zk_state.alive_replicas
    )


@spec.situation
def a_follower_is_ahead_of_its_leader(s: State, c: Constants) -> bool:
    """An alive replica's log is longer than the leader's."""
    return s.zk_state.leader != NONE and any(
        leo(s, replica) > leo(s, s.zk_state.leader) for replica in s.zk_state.alive_replicas
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
    return sum(1 for r in s.zk_state.alive_replicas if holds_all_committed(s, r)) == 1


@spec.situation
def the_latest_offset_misleads(s: State, c: Constants) -> bool:
    """The alive replica with the latest offset lacks a committed message."""
    return any(
        not holds_all_committed(s, replica)
        and all(is_as_late_as(s, replica, other) for other in s.zk_state.alive_replicas)
        for replica in s.zk_state.alive_replicas
    )
