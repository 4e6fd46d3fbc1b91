"""KIP-497: the leader asks the controller to change the ISR, and does not wait for the answer.

What it models: one partition with one leader for ever. Only the controller writes the ISR, each
time with a new version. The leader sends it requests that name the version they are based on, and
the controller accepts a request only if that version is still the current one; it may also shrink
the ISR by itself. The leader learns of each new ISR by an update, and may miss updates in between.

So leader and controller can see different ISRs. The leader stays on the safe side: until it hears
of a new version, a record is committed only if all that *might* be in the ISR have it, those that
it has in mind (`isr`) and those that it has asked for (`pending_isr`). The high watermark is the
smallest of their offsets.

What breaks: nothing; valid_high_watermark holds in every configuration that was explored. type_ok
as the original has it is false in the first state (checked only when named).

Left out: elections, leader epochs, truncation, and the contents of the logs: a replica's log is
its end offset. The original bounds neither offsets nor versions (its MaxOffset bounds nothing);
max_leader_offset and max_version do, as a constraint.

Source: AsyncIsr in the Kafka replication specs.
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.async_isr import draw_async_isr
from kafka_spec.draw.events import CONTROLLER, async_isr_events, async_isr_leader
from protocol_lab import (
    HOLDS,
    TAKEN,
    Bag,
    Int8,
    Limits,
    Member,
    Node,
    NodeSet,
    Per,
    Spec,
    Struct,
    add_once,
    contains,
    is_subset,
    members,
    nodes_up_to,
    size,
    with_node,
    without_node,
)

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition", classes=(3, 7))] = 3
    leader: Annotated[int, Limits(1, "replicas", "the replica that leads")] = 1
    max_offset: Annotated[int, Limits(1, 99, "unused, as in the original")] = 2
    max_leader_offset: Annotated[
        int, Limits(0, 99, "constraint: look no further with longer logs", may_be_none=True)
    ] = 2
    max_version: Annotated[
        int, Limits(0, 99, "constraint: look no further in later ISR versions", may_be_none=True)
    ] = 3
    message_slots: Annotated[
        int, Limits(1, 120, "storage: requests, and updates, ever sent", classes=(12, 48, 120))
    ] = 12


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas")
Version = Int8.bounded_by("max_version")
Offset = Int8.bounded_by("max_leader_offset")

NO_VERSION = -1


class ControllerState(Struct):
    """The ISR as it is, and how often it was written."""

    isr: NodeSet(Replica)
    version: Version


class LeaderState(Struct):
    """What the leader knows of the ISR, what it has asked for, and how far every log reaches."""

    isr: NodeSet(Replica)
    version: Version
    pending_isr: NodeSet(Replica)
    pending_version: Version
    offsets: Per(Replica, Offset)


class Message(Struct):
    """A request with the version it is based on, or an update with the version it tells of."""

    isr: NodeSet(Replica)
    version: Version


class State(Struct):
    """Controller, leader, and what they have sent to each other; messages stay and may be late."""

    controller_state: ControllerState
    leader_state: LeaderState
    requests: Bag(Message, "message_slots")
    updates: Bag(Message, "message_slots")


Request = Member("requests")
Update = Member("updates")


def init(s: State, c: Constants):
    """All logs are empty, and everybody is in the ISR."""
    s.controller_state.isr = nodes_up_to(c.replicas)
    s.leader_state.isr = nodes_up_to(c.replicas)
    s.leader_state.pending_version = NO_VERSION
    return TAKEN


# --- What the guards ask ---------------------------------------------------------------------


def high_watermark(s) -> int:
    """How far all logs reach that might be in the ISR: that much is committed."""
    potential = s.leader_state.isr | s.leader_state.pending_isr
    return min(s.leader_state.offsets[replica] for replica in members(potential))


def has_reached_high_watermark(s, replica) -> bool:
    """Does the replica hold all that is committed?"""
    return s.leader_state.offsets[replica] >= high_watermark(s)


# --- Records ---------------------------------------------------------------------------------


def leader_write(s: State, c: Constants):
    """The leader appends a record."""
    s.leader_state.offsets[c.leader] += 1
    return TAKEN


def follower_replicate(s: State, c: Constants, replica: Replica):
    """A follower copies the leader's next record."""
    if replica == c.leader:
        return "the replica is the leader"
    if s.leader_state.offsets[replica] >= s.leader_state.offsets[c.leader]:
        return "the follower has all of the leader's records"
    s.leader_state.offsets[replica] += 1
    return TAKEN


# --- The leader asks ---------------------------------------------------------------------------


def ask_for(s, isr) -> None:
    """Send a request, and count those in it as possible members from now on."""
    version = s.leader_state.version
    add_once(s.requests, Message(isr=isr, version=version))
    s.leader_state.pending_isr = s.leader_state.pending_isr | isr
    s.leader_state.pending_version = version


def leader_request_shrink_isr(s: State, c: Constants, replica: Replica):
    """The leader asks to remove a follower from the ISR, whatever the reason."""
    if not contains(s.leader_state.isr, replica):
        return "the replica is not in the leader's ISR"
    if replica == c.leader:
        return "a leader stays in its ISR"
    ask_for(s, without_node(s.leader_state.isr, replica))
    return TAKEN


def leader_request_expand_isr(s: State, c: Constants, replica: Replica):
    """The leader asks to add a follower that has reached the high watermark."""
    if contains(s.leader_state.isr, replica):
        return "the replica is in the leader's ISR already"
    if not has_reached_high_watermark(s, replica):
        return "the replica has not reached the high watermark"
    ask_for(s, with_node(s.leader_state.isr, replica))
    return TAKEN


# --- The controller decides --------------------------------------------------------------------


def write_isr(s, isr) -> None:
    """Write the ISR with the next version, and send the leader an update."""
    version = s.controller_state.version + 1
    s.controller_state.isr = isr
    s.controller_state.version = version
    add_once(s.updates, Message(isr=isr, version=version))


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a follower's broker is gone, and asks nobody."""
    if replica == c.leader:
        return "the leader does not fail in this model"
    if not contains(s.controller_state.isr, replica):
        return "the replica is not in the controller's ISR"
    write_isr(s, without_node(s.controller_state.isr, replica))
    return TAKEN


def controller_handle_request(s: State, c: Constants, message: Request):
    """The controller accepts a request that is based on the present version."""
    if message.version != s.controller_state.version:
        return "the request is based on an old version of the ISR"
    write_isr(s, message.isr)
    return TAKEN


# --- The leader hears of it --------------------------------------------------------------------


def leader_handle_update(s: State, c: Constants, update: Update):
    """The leader adopts a later version, possibly skipping some, and forgets what it asked for."""
    if update.version <= s.leader_state.version:
        return "the leader knows this version or a later one"
    s.leader_state.isr = update.isr
    s.leader_state.version = update.version
    s.leader_state.pending_isr = 0
    s.leader_state.pending_version = NO_VERSION
    return TAKEN


# --- The protocol ----------------------------------------------------------------------------


def followers(c) -> int:
    """All replicas but the one that leads; they are alike."""
    return without_node(nodes_up_to(c.replicas), c.leader)


spec = Spec(
    "kafka.async_isr",
    State,
    Constants,
    __doc__,
    draw=draw_async_isr,
    original="AsyncIsr",
    lifelines=(CONTROLLER, Replica),
    events=async_isr_events,
)
spec.messages("requests", source=async_isr_leader, dest=CONTROLLER)
spec.messages("updates", source=CONTROLLER, dest=async_isr_leader)
spec.init(init)
spec.symmetric(Replica, among=followers)
spec.action(controller_shrink_isr)
spec.action(controller_handle_request)
spec.action(leader_request_shrink_isr)
spec.action(leader_request_expand_isr)
spec.action(leader_write)
spec.action(leader_handle_update)
spec.action(follower_replicate)


# --- Properties ------------------------------------------------------------------------------


@spec.constraint
def within_bounds(s: State, c: Constants):
    """Logs and versions that the search goes on from; either bound may be switched off.

    Followers' logs are never longer than the leader's, nor are other versions later than the
    controller's, so that these two bound everything.
    """
    if s.leader_state.offsets[c.leader] > c.max_leader_offset:
        return "the leader's log is longer than max_leader_offset"
    if s.controller_state.version > c.max_version:
        return "the controller's version is beyond max_version"
    return HOLDS


@spec.invariant
def valid_high_watermark(s: State, c: Constants):
    """Everybody in the ISR, as the controller has it, holds all that the leader calls committed."""
    for replica in members(s.controller_state.isr):
        if not has_reached_high_watermark(s, replica):
            return "a member of the controller's ISR has not reached the high watermark"
    return HOLDS


@spec.invariant(by_default=False)
def type_ok(s: State, c: Constants):
    """Every variable has a value of its type: as the original has it, and false.

    It wants all versions to be natural numbers, and "no pending version" is -1, at the start too.
    """
    everybody = nodes_up_to(c.replicas)
    controller, leader = s.controller_state, s.leader_state
    if not is_subset(controller.isr, everybody) or controller.version < 0:
        return "the controller's ISR or version is out of range"
    if not is_subset(leader.isr | leader.pending_isr, everybody) or leader.version < 0:
        return "the leader's ISR, pending ISR or version is out of range"
    if leader.pending_version < 0:
        return "the pending version is no natural number"
    if any(leader.offsets[replica] < 0 for replica in range(1, c.replicas + 1)):
        return "an offset is no natural number"
    if not are_messages(s.requests, everybody) or not are_messages(s.updates, everybody):
        return "a message's ISR or version is out of range"
    return HOLDS


def are_messages(bag, everybody) -> bool:
    """Do all of these name known replicas and a version?"""
    return all(
        is_subset(bag.items[k].isr, everybody) and bag.items[k].version >= 0
        for k in range(bag.size)
    )


@spec.step_invariant(by_default=False)
def high_watermark_never_falls(before: State, after: State, c: Constants):
    """What is committed once stays committed. Not in the original."""
    if high_watermark(after) < high_watermark(before):
        return "the high watermark has gone down"
    return HOLDS


@spec.sometimes
def a_record_is_committed(s: State, c: Constants):
    """The high watermark rises."""
    return HOLDS if high_watermark(s) > 0 else "nothing is committed"


@spec.sometimes
def the_isr_has_grown(s: State, c: Constants):
    """A version of the ISR has a member that the version before it lacks."""
    for k in range(s.updates.size):
        for j in range(s.updates.size):
            later, earlier = s.updates.items[k], s.updates.items[j]
            if later.version == earlier.version + 1 and not is_subset(later.isr, earlier.isr):
                return HOLDS
    return "the ISR has only shrunk so far"


@spec.sometimes
def a_request_is_stale(s: State, c: Constants):
    """A request can't be accepted any more, because the ISR was written after it was sent."""
    if any(
        s.requests.items[k].version < s.controller_state.version for k in range(s.requests.size)
    ):
        return HOLDS
    return "all requests are based on the present version"


@spec.sometimes
def the_leader_waits_for_more_than_the_isr(s: State, c: Constants):
    """Somebody out of the ISR holds the high watermark down, to be on the safe side."""
    if is_subset(s.leader_state.isr | s.leader_state.pending_isr, s.controller_state.isr):
        return "all that the leader waits for are in the ISR"
    return HOLDS


# --- Situations that are worth finding ---------------------------------------------------------


@spec.situation
def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return size(s.controller_state.isr) == 1


@spec.situation
def leader_and_controller_disagree(s: State, c: Constants) -> bool:
    """Leader and controller have different ISRs in mind."""
    return s.leader_state.isr != s.controller_state.isr


@spec.situation
def a_follower_is_ahead_of_the_high_watermark(s: State, c: Constants) -> bool:
    """A follower holds a record that is not committed yet."""
    return any(
        replica != c.leader and s.leader_state.offsets[replica] > high_watermark(s)
        for replica in range(1, c.replicas + 1)
    )


@spec.situation
def a_committed_record_is_on_one_replica(s: State, c: Constants) -> bool:
    """A committed record is on the leader only."""
    return high_watermark(s) > 0 and all(
        replica == c.leader or s.leader_state.offsets[replica] < high_watermark(s)
        for replica in range(1, c.replicas + 1)
    )


@spec.situation
def an_outsider_holds_the_high_watermark_down(s: State, c: Constants) -> bool:
    """Somebody out of the controller's ISR holds the high watermark down."""
    return high_watermark(s) < min(
        s.leader_state.offsets[replica] for replica in members(s.controller_state.isr)
    )


@spec.situation
def the_leader_does_not_count_a_member(s: State, c: Constants) -> bool:
    """Somebody is in the controller's ISR, and the leader does not wait for it.

    Then the leader could commit without a replica that may be elected: not found with three
    replicas, two records and versions up to 3.
    """
    return not is_subset(s.controller_state.isr, s.leader_state.isr | s.leader_state.pending_isr)
