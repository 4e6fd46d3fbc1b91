"""KIP-497: the leader asks the controller to change the ISR, and does not wait for the answer.

What it models: one partition whose leader never changes. Only the controller writes the ISR, each
time with a new version. The leader sends it requests that name the version they are based on, and
the controller accepts a request only if that version is still the current one; it may also shrink
the ISR by itself. The leader learns of each new ISR by an update, and may miss updates in between.

So leader and controller can see different ISRs. The leader stays on the safe side: until it hears
of a new version, a record is committed only if all that *might* be in the ISR have it, those that
it knows (`isr`) and those that it has asked for (`pending_isr`). The high watermark is the
smallest of their offsets.

What breaks: nothing; valid_high_watermark holds in every configuration that was explored. type_ok
as the original has it is false in the first state (checked only when named).

Left out: elections, leader epochs, truncation, and the contents of the logs: a replica's log is
its end offset. The original bounds neither offsets nor versions (its MaxOffset bounds nothing);
max_leader_offset and max_version do, as a constraint.

Source: AsyncIsr.tla by Jason Gustafson and Guozhang Wang,
https://github.com/hachikuji/kafka-specification
"""

from typing import Annotated, NamedTuple

from kafka_spec.draw.async_isr import draw_async_isr
from kafka_spec.draw.choices import ASYNC_ISR
from kafka_spec.draw.events import CONTROLLER, async_isr_events, async_isr_leader
from protocol_lab import *

# --- Constants -------------------------------------------------------------------------------


class Constants(NamedTuple):
    """The size of the model, and how far to look."""

    replicas: Annotated[int, Limits(1, 7, "brokers that hold the partition")] = 3
    leader: Annotated[int, Limits(1, "replicas", "the replica that leads")] = 1
    max_offset: Annotated[int, Limits(1, 99, "unused, as in the original")] = 2
    max_leader_offset: Annotated[
        int, Limits(0, 99, "constraint: look no further with longer logs", may_be_none=True)
    ] = 2
    max_version: Annotated[
        int, Limits(0, 99, "constraint: look no further in later ISR versions", may_be_none=True)
    ] = 3
    message_slots: Annotated[int, storage(1, 120, "requests, and updates, ever sent")] = 12


CONFIGURATIONS = (
    Configuration(
        "default", "three replicas, two records, four ISR versions", "22,456 distinct states"
    ),
)


# --- State -----------------------------------------------------------------------------------

Replica = Node("replicas", noun="broker")
Version = Int8.bounded_by("max_version")
Offset = Int8.bounded_by("max_leader_offset")

NO_VERSION = -1


class ControllerState(Struct):
    """The ISR as it is, and how often it was written."""

    isr: NodeSet(Replica)
    version: Version


class LeaderState(Struct):
    """The ISR that the leader knows, the one it has asked for, and every log's end offset."""

    isr: NodeSet(Replica)
    version: Version
    pending_isr: NodeSet(Replica)
    pending_version: Version
    offsets: Per(Replica, Offset)


class Message(Struct):
    """A request with the version it is based on, or an update with the version it announces."""

    isr: NodeSet(Replica)
    version: Version


class State(Struct):
    """Controller, leader, and the messages between them, which stay: they may be late or lost."""

    controller_state: ControllerState
    leader_state: LeaderState
    requests: Bag(Message, "message_slots")
    updates: Bag(Message, "message_slots")


Request = Member("requests")
Update = Member("updates")


def high_watermark(s) -> int:
    """The smallest end offset of all that may be in the ISR; what is below it is committed."""
    potential = s.leader_state.isr | s.leader_state.pending_isr
    return min(s.leader_state.offsets[replica] for replica in potential)


def has_reached_high_watermark(s, replica) -> bool:
    """Does the replica hold all that is committed?"""
    return s.leader_state.offsets[replica] >= high_watermark(s)


def followers(c) -> int:
    """All replicas but the leader: the ones that symmetry reduction may permute."""
    return without_node(nodes_up_to(c.replicas), c.leader)


spec = Spec(
    "kafka.async_isr",
    State,
    Constants,
    __doc__,
    draw=draw_async_isr(high_watermark),
    original="AsyncIsr",
    lifelines=(CONTROLLER, Replica),
    events=async_isr_events,
    choices=ASYNC_ISR,
    configurations=CONFIGURATIONS,
    decisions=("controller_shrink_isr", "controller_handle_request"),
)
spec.messages("requests", source=async_isr_leader, dest=CONTROLLER)
spec.messages("updates", source=CONTROLLER, dest=async_isr_leader)
spec.symmetric(Replica, among=followers)


@spec.init
def init(s: State, c: Constants):
    """All logs are empty, and every replica is in the ISR."""
    s.controller_state.isr = nodes_up_to(c.replicas)
    s.leader_state.isr = nodes_up_to(c.replicas)
    s.leader_state.pending_version = NO_VERSION
    return TAKEN


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


# --- The leader's requests -------------------------------------------------------------------


def ask_for(s, isr) -> None:
    """Send a request; all that it names may from now on be in the ISR."""
    version = s.leader_state.version
    add_once(s.requests, Message(isr=isr, version=version))
    s.leader_state.pending_isr = s.leader_state.pending_isr | isr
    s.leader_state.pending_version = version


def leader_request_shrink_isr(s: State, c: Constants, replica: Replica):
    """The leader asks to remove a follower from the ISR, for whatever reason.

    Until it hears the answer it still waits for that follower: the controller may refuse.
    """
    if replica not in s.leader_state.isr:
        return "the replica is not in the leader's ISR"
    if replica == c.leader:
        return "a leader stays in its ISR"
    ask_for(s, without_node(s.leader_state.isr, replica))
    return TAKEN


def leader_request_expand_isr(s: State, c: Constants, replica: Replica):
    """The leader asks to add a follower that has reached the high watermark.

    From now on it waits for that follower, which may be in the ISR before the leader hears of it.
    """
    if replica in s.leader_state.isr:
        return "the replica is in the leader's ISR already"
    if not has_reached_high_watermark(s, replica):
        return "the replica has not reached the high watermark"
    ask_for(s, with_node(s.leader_state.isr, replica))
    return TAKEN


# --- The controller's writes -----------------------------------------------------------------


def write_isr(s, isr) -> None:
    """Write the ISR with the next version, and send the leader an update."""
    version = s.controller_state.version + 1
    s.controller_state.isr = isr
    s.controller_state.version = version
    add_once(s.updates, Message(isr=isr, version=version))


def controller_shrink_isr(s: State, c: Constants, replica: Replica):
    """The controller notices that a follower's broker is gone, and removes it by itself."""
    if replica == c.leader:
        return "the leader does not fail in this model"
    if replica not in s.controller_state.isr:
        return "the replica is not in the controller's ISR"
    write_isr(s, without_node(s.controller_state.isr, replica))
    return TAKEN


def controller_handle_request(s: State, c: Constants, message: Request):
    """The controller accepts a request that is based on the present version.

    The leader has given up an older one, and no longer waits for those in it: Kafka answers it with
    INVALID_UPDATE_VERSION. Without this guard: 6 steps to valid_high_watermark (exercise
    abuse_an_old_request).
    """
    if message.version != s.controller_state.version:
        return "the request is based on an old version of the ISR"
    write_isr(s, message.isr)
    return TAKEN


# --- The leader's updates --------------------------------------------------------------------


def leader_handle_update(s: State, c: Constants, update: Update):
    """The leader adopts a later version, possibly skipping some, and forgets what it asked for."""
    if update.version <= s.leader_state.version:
        return "the leader knows this version or a later one"
    s.leader_state.isr = update.isr
    s.leader_state.version = update.version
    s.leader_state.pending_isr = nodes_up_to(0)
    s.leader_state.pending_version = NO_VERSION
    return TAKEN


# In the order of the original's Next.
for action in (
    controller_shrink_isr,
    controller_handle_request,
    leader_request_shrink_isr,
    leader_request_expand_isr,
    leader_write,
    leader_handle_update,
    follower_replicate,
):
    spec.action(action)


# --- Properties ------------------------------------------------------------------------------


@spec.constraint
def within_bounds(s: State, c: Constants):
    """Which states a search expands: the leader's log and the controller's version are bounded.

    Followers' logs are never longer than the leader's, and no version is later than the
    controller's, so these two bound everything. Either may be switched off.
    """
    if s.leader_state.offsets[c.leader] > c.max_leader_offset:
        return "the leader's log is longer than max_leader_offset"
    if s.controller_state.version > c.max_version:
        return "the controller's version is beyond max_version"
    return HOLDS


@spec.invariant
def valid_high_watermark(s: State, c: Constants):
    """Every member of the controller's ISR holds all that the leader calls committed."""
    for replica in s.controller_state.isr:
        if not has_reached_high_watermark(s, replica):
            return "a member of the controller's ISR has not reached the high watermark"
    return HOLDS


@spec.invariant(by_default=False)
def type_ok(s: State, c: Constants):
    """Every variable has a value of its type: the original's, and false in the initial state.

    It requires all versions to be natural numbers, but -1 stands for "no pending version".
    """
    everybody = nodes_up_to(c.replicas)
    controller, leader = s.controller_state, s.leader_state
    if not is_subset(controller.isr, everybody) or controller.version < 0:
        return "the controller's ISR or version is out of range"
    if not is_subset(leader.isr | leader.pending_isr, everybody) or leader.version < 0:
        return "the leader's ISR, pending ISR or version is out of range"
    if leader.pending_version < 0:
        return "the pending version is not a natural number"
    if any(leader.offsets[replica] < 0 for replica in range(1, c.replicas + 1)):
        return "an offset is not a natural number"
    if not all(is_message(request, everybody) for request in s.requests):
        return "a message's ISR or version is out of range"
    if not all(is_message(update, everybody) for update in s.updates):
        return "a message's ISR or version is out of range"
    return HOLDS


def is_message(message, everybody) -> bool:
    """Does it name known replicas and a version?"""
    return is_subset(message.isr, everybody) and message.version >= 0


@spec.step_invariant(by_default=False)
def high_watermark_never_falls(before: State, after: State, c: Constants):
    """What is committed once stays committed. Not in the original."""
    if high_watermark(after) < high_watermark(before):
        return "the high watermark has gone down"
    return HOLDS


# --- Situations: the expected ones must be reachable -------------------------------------------


@spec.situation(expected=True)
def a_record_is_committed(s: State, c: Constants) -> bool:
    """The high watermark rises."""
    return high_watermark(s) > 0


@spec.situation(expected=True)
def the_isr_has_grown(s: State, c: Constants) -> bool:
    """A version of the ISR has a member that the version before it lacks."""
    return any(
        later.version == earlier.version + 1 and not is_subset(later.isr, earlier.isr)
        for later in s.updates
        for earlier in s.updates
    )


@spec.situation(expected=True)
def a_request_is_stale(s: State, c: Constants) -> bool:
    """A request can no longer be accepted, because the ISR was written after it was sent."""
    return any(request.version < s.controller_state.version for request in s.requests)


@spec.situation(expected=True)
def the_leader_waits_for_more_than_the_isr(s: State, c: Constants) -> bool:
    """The leader waits for a replica that is not in the ISR, because it might be."""
    return not is_subset(s.leader_state.isr | s.leader_state.pending_isr, s.controller_state.isr)


@spec.situation
def the_isr_has_one_member(s: State, c: Constants) -> bool:
    """The ISR has one member."""
    return len(s.controller_state.isr) == 1


@spec.situation
def leader_and_controller_disagree(s: State, c: Constants) -> bool:
    """Leader and controller do not have the same ISR."""
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
    """A replica that is not in the controller's ISR keeps the high watermark from rising."""
    return high_watermark(s) < min(
        s.leader_state.offsets[replica] for replica in s.controller_state.isr
    )


@spec.situation
def the_leader_does_not_count_a_member(s: State, c: Constants) -> bool:
    """The leader does not wait for a member of the controller's ISR.

    Then the leader could commit without a replica that may be elected: not found with three
    replicas, two records and versions up to 3.
    """
    return not is_subset(s.controller_state.isr, s.leader_state.isr | s.leader_state.pending_isr)
