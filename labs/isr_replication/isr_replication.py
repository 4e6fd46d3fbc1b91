"""ISR replication: what a leader has committed survives every clean election.

What it models: one partition with a leader, followers that fetch, and an ISR. A controller elects
leaders from the ISR, each in a new leader epoch; a replica learns of it later, so that a deposed
leader goes on for a while, and followers fetch from it. The leader shrinks and expands the ISR.

What breaks: nothing is written yet. Write `fetch`, `advance_hw` and `may_follow`, then
`truncation_point`, then `shrink_isr` and `expand_isr`; README.md says what is asked of each. With
all of KIP-320's fences nothing is lost.

Left out: unclean elections, crashes, and requests that overtake each other: a replica that learns
of an election learns of the latest one.

    python3 lab.py check isr_replication.py
"""

from typing import Annotated, NamedTuple

from protocol_lab import *  # the language of specs: all that your functions may call
from protocol_lab.drawing import Bar, Cluster, Entry, Flag, Lane, Text, Value, drawing_of

# --- Given: the state ------------------------------------------------------------------------


class Constants(NamedTuple):
    replicas: Annotated[int, Limits(1, 3, "replicas")] = 2
    records: Annotated[int, Limits(1, 3, "records that are written in total")] = 1
    epochs: Annotated[int, Limits(1, 3, "leader epochs")] = 1


Replica = Node("replicas")


class Record(Struct):
    epoch: Int8  # of the leader that wrote it
    value: Int8


class Belief(Struct):
    """What a replica believes, which may be out of date."""

    epoch: Int8
    leader: Replica
    hw: Int8  # the high watermark: how many records are known to be committed
    isr: NodeSet(Replica)  # of use to a leader only


class Quorum(Struct):
    """What the controller knows: the truth."""

    epoch: Int8
    leader: Replica
    isr: NodeSet(Replica)


class State(Struct):
    log: Per(Replica, Seq(Record, "records"))
    belief: Per(Replica, Belief)
    quorum: Quorum
    written: Int8


spec = Spec("isr_replication", State, Constants, __doc__)


@spec.init
def start(s: State, c: Constants):
    """All replicas are in the ISR, and nobody leads."""
    s.quorum.isr = nodes_up_to(c.replicas)
    return TAKEN


def presumes_leadership(s: State, replica) -> bool:
    """Does the replica believe that it leads?"""
    return s.belief[replica].leader == replica


# --- Given: what happens ---------------------------------------------------------------------


@spec.action
def elect(s: State, c: Constants, leader: Replica):
    """The controller makes a member of the ISR the leader of a new epoch."""
    if s.quorum.epoch >= c.epochs:
        return "there were enough leader epochs"
    if leader not in s.quorum.isr:
        return "the replica is not in the ISR"
    if leader == s.quorum.leader:
        return "the replica leads already"
    s.quorum.epoch += 1
    s.quorum.leader = leader
    return TAKEN


@spec.action
def become_leader(s: State, c: Constants, replica: Replica):
    """A replica learns that it leads."""
    if s.quorum.leader != replica:
        return "somebody else leads"
    if s.belief[replica].epoch == s.quorum.epoch:
        return "the replica knows"
    s.belief[replica].epoch = s.quorum.epoch
    s.belief[replica].leader = replica
    s.belief[replica].isr = s.quorum.isr
    return TAKEN


@spec.action
def become_follower(s: State, c: Constants, replica: Replica):
    """A replica learns that another one leads, and truncates its log."""
    if s.quorum.leader == NONE or s.quorum.leader == replica:
        return "nobody else leads"
    if s.belief[replica].epoch == s.quorum.epoch:
        return "the replica knows"
    reason = may_follow(s, c, replica)
    if reason:
        return reason
    truncate(s.log[replica], truncation_point(s, c, replica))
    s.belief[replica].hw = min(s.belief[replica].hw, len(s.log[replica]))
    s.belief[replica].epoch = s.quorum.epoch
    s.belief[replica].leader = s.quorum.leader
    s.belief[replica].isr = nodes_up_to(0)
    return TAKEN


@spec.action
def write(s: State, c: Constants, leader: Replica):
    """A producer sends a record to a replica that believes that it leads."""
    if not presumes_leadership(s, leader):
        return "the replica does not lead"
    if s.written >= c.records:
        return "everything is written"
    s.written += 1
    append(s.log[leader], Record(epoch=s.belief[leader].epoch, value=s.written))
    return TAKEN


# --- Yours -----------------------------------------------------------------------------------


@spec.action
def fetch(s: State, c: Constants, follower: Replica, leader: Replica):
    """A follower copies the leader's next record, and learns its high watermark."""
    return "not written yet"


@spec.action
def advance_hw(s: State, c: Constants, leader: Replica):
    """A leader commits its next record: its high watermark grows by one."""
    return "not written yet"


def may_follow(s: State, c: Constants, replica):
    """TAKEN if a replica may begin to follow the leader that the controller has elected."""
    return "not written yet"


def truncation_point(s: State, c: Constants, replica):
    """How many records of its log a replica keeps that begins to follow the elected leader."""
    return 0


@spec.action
def shrink_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """A leader drops a follower from the ISR: its own, and the controller's."""
    return "not written yet"


@spec.action
def expand_isr(s: State, c: Constants, leader: Replica, follower: Replica):
    """A leader adds a follower to the ISR: its own, and the controller's."""
    return "not written yet"


# --- Given: what is promised -----------------------------------------------------------------


def has_same(log, other, offset) -> bool:
    """Do both logs have the same record at this offset?"""
    return offset < len(log) and offset < len(other) and log[offset] == other[offset]


@spec.invariant
def strong_isr(s: State, c: Constants):
    """All of the ISR have every record that any replica that believes it leads has committed."""
    for leader in range(1, c.replicas + 1):
        if presumes_leadership(s, leader):
            for member in s.quorum.isr:
                for offset in range(s.belief[leader].hw):
                    if not has_same(s.log[leader], s.log[member], offset):
                        return "a member of the ISR lacks a committed record"
    return HOLDS


@spec.situation(expected=True)
def everything_is_committed(s: State, c: Constants):
    """All records are written and committed by the elected leader."""
    return s.quorum.leader != NONE and s.belief[s.quorum.leader].hw == c.records


def is_settled(s: State, c: Constants):
    """The elected leader has committed all of its log, and everybody follows it."""
    leader = s.quorum.leader
    if leader == NONE:
        return True
    if any(s.belief[n].epoch != s.quorum.epoch for n in range(1, c.replicas + 1)):
        return False
    return s.belief[leader].hw == len(s.log[leader])


@spec.property
def everything_is_settled():
    """Eventually everybody follows the leader, which has committed its log, and it stays so."""
    return eventually_always(is_settled)


spec.weakly_fair(become_leader)
spec.weakly_fair(become_follower, each="replica")
spec.weakly_fair(fetch, each=("follower", "leader"))
spec.weakly_fair(advance_hw, each="leader")

# --- Given: the picture ----------------------------------------------------------------------


def lane(s: State, n):
    """The picture of one replica."""
    mine = s.belief[n]
    role = "believes that it leads" if mine.leader == n else f"follows {mine.leader or 'nobody'}"
    lines = [[Text(f"Replica {n}", bold=True)], [Text(role)], [Text(f"epoch {mine.epoch}")]]
    boxes = [
        Entry(k, f"value {each.value}", f"epoch {each.epoch}", shade=each.epoch)
        for k, each in enumerate(s.log[n])
    ]
    badge = "crown" if n == s.quorum.leader else "ghost" if mine.leader == n else ""
    return Lane(lines, boxes, flags=[Flag(mine.hw, Text(f"HW {mine.hw}"))], badge=badge)


def describe(s: State, c: Constants):
    """The picture of one state, as plain values."""
    known = [Value("leader", Text(str(s.quorum.leader or "nobody")))]
    known.append(Value("epoch", Text(str(s.quorum.epoch))))
    known.append(Value("ISR", Text(str(sorted(s.quorum.isr)))))
    return Cluster(
        lanes=[lane(s, n) for n in range(1, c.replicas + 1)],
        bars=[Bar("Controller", known)],
        columns=c.records,
    )


spec.draw = drawing_of(describe)
