"""What settings promise: one partition of a KRaft cluster, in an operator's words.

What it models: steps that an operator can name, and faults, each as often as a constant says. Four
promises are invariants, and so is their price: does the partition take writes, wait for a broker,
need an operator? Releases differ in six rules.

Simplified: decisions are atomic, and all brokers in reach learn of them at once. All share one high
watermark. A session ends before its broker registers again. The first candidate leads and leads on.
Losses that need two quick elections or two leaders are in `unclean_leader_election` and `kip_966`.
Left out: reassignments, retention, transactions, remote storage, several directories on a broker.

What breaks: by default release 3.9 loses an acknowledged record in 6 steps; 4.1 with ELR keeps it.

Source: Kafka's `Partition`, `PartitionChangeBuilder` and `ReplicationControlManager`; the class,
the release and the recorded run of each rule stand in `in_real_kafka.md`.
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.choices import SETTINGS
from kafka_spec.draw.settings import draw_settings
from protocol_lab import *

RELEASES = ("3.6", "3.7", "3.9", "4.0", "4.1", "4.3")


class Constants(NamedTuple):
    """What is configured, and how often each fault may happen."""

    replicas: Annotated[int, Limits(1, 5, "replication.factor")] = 3
    min_isr: Annotated[int, Limits(1, 5, "min.insync.replicas")] = 2
    acks: Annotated[str, choice("all", "1", "0", meaning="acks of the producers")] = "all"
    unclean: Annotated[int, flag("unclean.leader.election.enable")] = 0
    elr: Annotated[int, flag("eligible leader replicas are on (possible from 4.0)")] = 0
    racks: Annotated[int, Limits(1, 5, "power supplies; brokers take them in turn")] = 3
    release: Annotated[str, choice(*RELEASES, meaning="Kafka, up to the next of these")] = "3.9"
    values: Annotated[int, Limits(1, 3, "records that are sent")] = 1
    lags: Annotated[int, Limits(0, 9, "followers fall behind, and leave the ISR")] = 0
    give_ups: Annotated[int, Limits(0, 9, "producers wait no longer (delivery.timeout.ms)")] = 0
    stops: Annotated[int, Limits(0, 9, "clean shutdowns")] = 1
    pauses: Annotated[int, Limits(0, 9, "pauses or network cuts that outlast the session")] = 1
    kills: Annotated[int, Limits(0, 9, "processes die; their disks keep everything")] = 0
    power_cuts: Annotated[int, Limits(0, 9, "brokers lose power, and what was not flushed")] = 1
    rack_cuts: Annotated[int, Limits(0, 9, "power supplies fail, with all their brokers")] = 0
    new_disks: Annotated[int, Limits(0, 9, "disks are replaced while their brokers are down")] = 0
    machines: Annotated[int, Limits(0, 9, "brokers are lost for good")] = 0


Broker = Node("replicas", noun="broker")
Value = Node("values", noun="record")


class Record(Struct):
    """A record in a log; its offset is its place, from 0."""

    value: Value
    epoch: Int8  # of the leader that wrote it


class State(Struct):
    """What the controller wrote down, the brokers, and what clients know."""

    leader: Broker
    leader_epoch: Int8
    isr: NodeSet(Broker)
    elr: NodeSet(Broker)
    last_leader: Broker  # the last known leader; it counts while ISR and ELR are empty
    unfenced: NodeSet(Broker)  # in reach: these have a session with the controller
    running: NodeSet(Broker)  # one that runs and is fenced is paused, or cut off
    dirty: NodeSet(Broker)  # down, without the file that a clean shutdown leaves
    disk_is_new: NodeSet(Broker)  # down, on a disk that the controller has not seen
    gone: NodeSet(Broker)  # down for good
    follows: NodeSet(Broker)  # in this leader's epoch, they have cut off what it lacks
    log: Per(Broker, Seq(Record, "values"))
    high_watermark: Int8
    sent: Int8
    acknowledged: NodeSet(Value)
    failed: NodeSet(Value)  # their producers were told so
    read: NodeSet(Value)
    lags_so_far: Int8
    give_ups_so_far: Int8
    stops_so_far: Int8
    pauses_so_far: Int8
    kills_so_far: Int8
    power_cuts_so_far: Int8
    rack_cuts_so_far: Int8
    new_disks_so_far: Int8
    machines_so_far: Int8


spec = Spec("kafka.settings", State, Constants, __doc__, draw=draw_settings, choices=SETTINGS)
spec.configurations = (
    Configuration("default", "release 3.9", "violated in 7 states, after 1,989 distinct states"),
)


@spec.init
def start_up(s: State, c: Constants):
    """All brokers run and are in sync; broker 1 leads."""
    s.leader = 1
    s.isr = nodes_up_to(c.replicas)
    s.unfenced = nodes_up_to(c.replicas)
    s.running = nodes_up_to(c.replicas)
    s.follows = nodes_up_to(c.replicas)
    return TAKEN


def smallest_isr(c) -> int:
    """How many members the ISR needs: since 3.7 no more than there are replicas (KAFKA-15583)."""
    return c.min_isr if c.release == "3.6" else min(c.min_isr, c.replicas)


def elects_uncleanly(c) -> bool:
    """Until 3.9 a KRaft controller ignored unclean.leader.election.enable (KAFKA-12670)."""
    return c.unclean and c.release != "3.6" and c.release != "3.7"


def has_elr(c) -> bool:
    """From 4.0 on there can be eligible leader replicas (KIP-966)."""
    return c.elr and (c.release == "4.0" or c.release == "4.1" or c.release == "4.3")


def change_isr(s, c, isr: NodeSet(Broker)) -> None:
    """Write down another ISR. With ELR, members that leave one that is too small stay eligible."""
    if has_elr(c):
        s.elr = (s.elr | s.isr) & ~isr if len(isr) < smallest_isr(c) else nodes_up_to(0)
    s.isr = isr


def fence(s, c, broker) -> None:
    """The broker's session has ended. Without ELR the last member stays in the ISR."""
    s.unfenced = without_node(s.unfenced, broker)
    if broker in s.isr and (has_elr(c) or len(s.isr) > 1):
        change_isr(s, c, without_node(s.isr, broker))


def candidates(s, c) -> NodeSet(Broker):
    """Who may lead now: members of the ISR, of the ELR, any broker uncleanly, the last leader."""
    found = s.isr & s.unfenced
    if len(found) == 0:
        found = s.elr & s.unfenced
    if len(found) == 0 and elects_uncleanly(c):
        found = s.unfenced
    if len(found) == 0 and has_elr(c) and len(s.isr | s.elr) == 0:
        # 4.0 elects it even if it is away (KAFKA-19522).
        found = only(s.last_leader) if c.release == "4.0" else only(s.last_leader) & s.unfenced
    return found


def elect(s, c) -> None:
    """Keep a leader that may go on leading, or elect the first of the candidates."""
    if s.leader not in s.isr & s.unfenced:
        if s.leader != NONE:
            s.last_leader = s.leader
        s.leader = smallest(candidates(s, c))
        s.follows = only(s.leader) if s.leader != NONE else nodes_up_to(0)
        if s.leader != NONE:
            s.leader_epoch += 1
            s.high_watermark = min(s.high_watermark, len(s.log[s.leader]))
            if s.leader not in s.isr:
                s.elr = without_node(s.elr, s.leader)
                s.isr = only(s.leader)
    commit(s, c)


def commit(s, c) -> None:
    """Commit what the whole ISR has: consumers read it; with acks=all producers are answered."""
    is_large_enough = len(s.isr) >= smallest_isr(c)
    may_advance = is_large_enough or c.release == "3.6"  # which asks for no size (KAFKA-15583)
    if not may_advance or s.leader not in s.unfenced or not is_subset(s.isr, s.follows):
        return
    held = min(len(s.log[member]) for member in s.isr)
    for offset in range(s.high_watermark, held):
        value = s.log[s.leader][offset].value
        s.read = with_node(s.read, value)
        if c.acks == "all" and value not in s.failed:
            if is_large_enough:
                s.acknowledged = with_node(s.acknowledged, value)
            else:
                s.failed = with_node(s.failed, value)
    s.high_watermark = max(s.high_watermark, held)


@spec.action
def send(s: State, c: Constants):
    """A producer sends the next record to the leader. With acks=0 it does not hear of an error."""
    if s.sent == c.values:
        return "all records are sent"
    if s.leader not in s.unfenced and c.acks != "0":
        return "no leader is in reach"
    if c.acks == "all" and len(s.isr) < smallest_isr(c):
        return "NotEnoughReplicasException: the ISR is smaller than min.insync.replicas"
    s.sent += 1
    if c.acks != "all":
        s.acknowledged = with_node(s.acknowledged, s.sent)
    if s.leader in s.unfenced:
        append(s.log[s.leader], Record(value=s.sent, epoch=s.leader_epoch))
    commit(s, c)
    return TAKEN


@spec.action
def copy(s: State, c: Constants, follower: Broker):
    """A follower fetches. In a new epoch it first cuts off what the leader does not have."""
    if s.leader not in s.unfenced or follower not in s.unfenced:
        return "this broker, or a leader, is not in reach"
    mine, theirs = s.log[follower], s.log[s.leader]
    same = 0
    while same < min(len(mine), len(theirs)) and mine[same] == theirs[same]:
        same += 1
    if follower in s.follows and same == len(theirs):
        return "it has everything"
    truncate(mine, same)
    s.follows = with_node(s.follows, follower)
    if same < len(theirs):
        append(mine, theirs[same])
    commit(s, c)
    return TAKEN


@spec.action
def fall_behind(s: State, c: Constants, follower: Broker):
    """A follower has not caught up for replica.lag.time.max.ms, and is dropped from the ISR."""
    if s.lags_so_far == c.lags:
        return "no follower falls behind any more"
    if s.leader not in s.unfenced or follower == s.leader or follower not in s.isr:
        return "this broker is no follower in the ISR of a leader in reach"
    s.lags_so_far += 1
    change_isr(s, c, without_node(s.isr, follower))
    commit(s, c)
    return TAKEN


@spec.action
def rejoin(s: State, c: Constants, follower: Broker):
    """A follower has caught up, and is in the ISR again."""
    if s.leader not in s.unfenced or follower not in s.unfenced:
        return "this broker, or a leader, is not in reach"
    if follower in s.isr:
        return "this broker is in the ISR"
    held, theirs = len(s.log[follower]), s.log[s.leader]
    if follower not in s.follows or held < s.high_watermark:
        return "it has not reached the high watermark"
    if held < len(theirs) and theirs[held].epoch != s.leader_epoch:
        return "it has not reached the start of the leader's epoch"
    change_isr(s, c, with_node(s.isr, follower))
    commit(s, c)
    return TAKEN


@spec.action
def give_up(s: State, c: Constants, value: Value):
    """No answer came within delivery.timeout.ms: the producer tells its caller of a failure."""
    if s.give_ups_so_far == c.give_ups:
        return "no producer gives up any more"
    if c.acks == "0" or value > s.sent or value in s.failed:
        return "nobody waits for this record"
    s.give_ups_so_far += 1
    s.acknowledged = without_node(s.acknowledged, value)
    s.failed = with_node(s.failed, value)
    return TAKEN


def go_down(s, c, broker, flushed) -> None:
    """The process ends, and with it its session; so many of its records are on its disk."""
    truncate(s.log[broker], flushed)
    s.running = without_node(s.running, broker)
    s.dirty = with_node(s.dirty, broker)
    s.follows = without_node(s.follows, broker)
    fence(s, c, broker)


@spec.action
def stop(s: State, c: Constants, broker: Broker):
    """A clean shutdown: everything is flushed, and a file says so."""
    if s.stops_so_far == c.stops:
        return "no broker is stopped any more"
    if broker not in s.unfenced:
        return "this broker is not in reach"
    s.stops_so_far += 1
    go_down(s, c, broker, len(s.log[broker]))
    s.dirty = without_node(s.dirty, broker)
    elect(s, c)
    return TAKEN


@spec.action
def pause(s: State, c: Constants, broker: Broker):
    """A broker pauses, or its network is cut, until its session has ended."""
    if s.pauses_so_far == c.pauses:
        return "no broker pauses any more"
    if broker not in s.unfenced:
        return "this broker is not in reach"
    s.pauses_so_far += 1
    fence(s, c, broker)
    elect(s, c)
    return TAKEN


@spec.action
def kill(s: State, c: Constants, broker: Broker):
    """The process is killed or crashes; its disk keeps everything."""
    if s.kills_so_far == c.kills:
        return "no broker is killed any more"
    if broker not in s.unfenced:
        return "this broker is not in reach"
    s.kills_so_far += 1
    go_down(s, c, broker, len(s.log[broker]))
    elect(s, c)
    return TAKEN


@spec.action
def lose_power(s: State, c: Constants, broker: Broker, flushed: Range(0, "values")):
    """The power of one broker fails: only so many of its records had been flushed."""
    if s.power_cuts_so_far == c.power_cuts:
        return "no broker loses power any more"
    if broker not in s.unfenced:
        return "this broker is not in reach"
    if flushed > len(s.log[broker]):
        return "it has fewer records"
    s.power_cuts_so_far += 1
    go_down(s, c, broker, flushed)
    elect(s, c)
    return TAKEN


@spec.action
def rack_loses_power(s: State, c: Constants, rack: Range(1, "racks")):
    """A power supply fails: all its brokers go down at once, and nothing had been flushed."""
    if s.rack_cuts_so_far == c.rack_cuts:
        return "no power supply fails any more"
    s.rack_cuts_so_far += 1
    for broker in range(rack, c.replicas + 1, c.racks):
        if broker in s.running:
            go_down(s, c, broker, 0)
    elect(s, c)
    return TAKEN


@spec.action
def replace_disk(s: State, c: Constants, broker: Broker):
    """A broker that is down gets a new disk, formatted with its old number."""
    if s.new_disks_so_far == c.new_disks:
        return "no disk is replaced any more"
    if broker in s.running | s.gone:
        return "this broker runs, or is gone"
    s.new_disks_so_far += 1
    truncate(s.log[broker], 0)
    s.dirty = with_node(s.dirty, broker)
    s.disk_is_new = with_node(s.disk_is_new, broker)
    return TAKEN


@spec.action
def lose_machine(s: State, c: Constants, broker: Broker):
    """A machine is lost for good, with its disks."""
    if s.machines_so_far == c.machines:
        return "no machine is lost any more"
    if broker in s.gone:
        return "this broker is gone"
    s.machines_so_far += 1
    s.gone = with_node(s.gone, broker)
    go_down(s, c, broker, 0)
    elect(s, c)
    return TAKEN


@spec.action
def start(s: State, c: Constants, broker: Broker):
    """A broker is back: it starts, or its pause is over. One that crashed leaves ISR and ELR."""
    if broker in s.unfenced | s.gone:
        return "this broker is in reach, or is gone"
    if has_elr(c) and broker in s.dirty:
        s.isr = without_node(s.isr, broker)
        s.elr = without_node(s.elr, broker)
    if broker in s.disk_is_new and c.release != "4.3":  # which has pull request 20716
        s.elr = nodes_up_to(0)
    s.running = with_node(s.running, broker)
    s.unfenced = with_node(s.unfenced, broker)
    s.dirty = without_node(s.dirty, broker)
    s.disk_is_new = without_node(s.disk_is_new, broker)
    elect(s, c)
    return TAKEN


def has(s, broker, value) -> bool:
    """Does the broker's log have this record?"""
    return any(record.value == value for record in s.log[broker])


@spec.invariant
def acknowledged_is_readable(s: State, c: Constants):
    """A broker that leads has every record that was acknowledged."""
    is_lost = s.leader != NONE and any(not has(s, s.leader, value) for value in s.acknowledged)
    return "the leader lacks an acknowledged record" if is_lost else HOLDS


@spec.invariant
def acknowledged_is_on_a_disk(s: State, c: Constants):
    """Every record that was acknowledged is on some disk."""
    kept = all(any(has(s, n, value) for n in range(1, c.replicas + 1)) for value in s.acknowledged)
    return HOLDS if kept else "an acknowledged record is on no disk"


@spec.invariant
def read_stays_readable(s: State, c: Constants):
    """A broker that leads has every record that a consumer read."""
    is_lost = s.leader != NONE and any(not has(s, s.leader, value) for value in s.read)
    return "the leader lacks a record that a consumer read" if is_lost else HOLDS


@spec.invariant(by_default=False)
def told_failed_is_not_written(s: State, c: Constants):
    """No consumer reads a record whose producer was told that it failed. No release promises it."""
    return HOLDS if s.read & s.failed == 0 else "a consumer read a record that has failed"


@spec.invariant(by_default=False)
def is_online(s: State, c: Constants):
    """A broker in reach leads."""
    return HOLDS if s.leader in s.unfenced else "the partition is offline"


@spec.invariant(by_default=False)
def takes_writes(s: State, c: Constants):
    """If a broker leads, it takes writes once the brokers in reach are in the ISR."""
    is_too_small = c.acks == "all" and len(s.isr) < smallest_isr(c)
    is_stuck = is_too_small and s.leader in s.unfenced and is_subset(s.unfenced, s.isr)
    return "the ISR is smaller than min.insync.replicas" if is_stuck else HOLDS


@spec.invariant(by_default=False)
def needs_no_operator(s: State, c: Constants):
    """If nobody leads, some broker that can come back may lead then."""
    may_lead = s.isr | s.elr if len(s.isr | s.elr) > 0 else only(s.last_leader)
    is_over = s.leader == NONE and is_subset(may_lead, s.gone) and not elects_uncleanly(c)
    return "every broker that may lead is lost for good" if is_over else HOLDS


@spec.situation(expected=True)
def everything_is_acknowledged(s: State, c: Constants) -> bool:
    """All records are acknowledged."""
    return len(s.acknowledged) == c.values


@spec.situation
def the_partition_is_offline(s: State, c: Constants) -> bool:
    """Nobody leads, or the leader is out of reach."""
    return s.leader not in s.unfenced
