"""Writing and copying records; the leader's requests, the controller's writes, their updates."""

from kafka_spec.isr_changes.model import (
    NO_VERSION,
    Constants,
    Message,
    Replica,
    Request,
    State,
    Update,
    has_reached_high_watermark,
)
from protocol_lab import TAKEN, add_once, contains, with_node, without_node

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
    """The leader asks to remove a follower from the ISR, for whatever reason."""
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


# --- The leader's updates --------------------------------------------------------------------


def leader_handle_update(s: State, c: Constants, update: Update):
    """The leader adopts a later version, possibly skipping some, and forgets what it asked for."""
    if update.version <= s.leader_state.version:
        return "the leader knows this version or a later one"
    s.leader_state.isr = update.isr
    s.leader_state.version = update.version
    s.leader_state.pending_isr = 0
    s.leader_state.pending_version = NO_VERSION
    return TAKEN
