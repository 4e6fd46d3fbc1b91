"""The network: messages that are sent, delivered and lost, and links that go down.

Messages are sets: sending one that is in flight already changes nothing. They arrive in any order,
and none is lost unless its link is down when it is sent, or goes down while it is in flight. What
was delivered or lost is remembered (`net_messages_processed`), since some messages are sent only
once. A message that nobody can ever accept stays in flight forever, and is part of the state.
"""

from kraft_spec.extensions.side_effects import added_messages_in_flight, lose_added_messages
from kraft_spec.model.constants import Constants
from kraft_spec.model.links import (
    all_pairs,
    are_connected_by,
    down_pairs,
    is_connected,
    pairs_of,
    pairs_of_the_dead,
)
from kraft_spec.model.names import DEAD_NO_STATE
from kraft_spec.model.state import State
from protocol_lab import TAKEN, Subset, add_once, size, take

# --- Messages --------------------------------------------------------------------------------


def send(s, messages, message) -> None:
    """Send a message; it is lost if the link is down."""
    if is_connected(s, message.source, message.dest):
        add_once(messages, message)


def discard(messages, processed, message) -> None:
    """The message is no longer in flight: it was delivered, or lost."""
    take(messages, message)
    add_once(processed, message)


def is_receivable(s, message) -> bool:
    """Does the message's receiver still have its disk?"""
    return s.state[message.dest] != DEAD_NO_STATE


def messages_in_flight(s, c) -> int:
    """How many messages are in flight."""
    messages = s.net_messages
    return (
        messages.vote_requests.size
        + messages.vote_responses.size
        + messages.begin_quorum_requests.size
        + messages.fetch_requests.size
        + messages.fetch_responses.size
        + added_messages_in_flight(s, c)
    )


def drop_across(messages, processed, links) -> None:
    """Messages of one kind that are in flight across one of these links are lost."""
    position = 0
    while position < messages.size:
        message = messages.items[position]
        if are_connected_by(links, message.source, message.dest):
            add_once(processed, message)
            take(messages, message)
        else:
            position += 1


def drop_all_across(s, c, links) -> None:
    """All messages that are in flight across one of these links are lost."""
    in_flight, processed = s.net_messages, s.net_messages_processed
    drop_across(in_flight.vote_requests, processed.vote_requests, links)
    drop_across(in_flight.vote_responses, processed.vote_responses, links)
    drop_across(in_flight.begin_quorum_requests, processed.begin_quorum_requests, links)
    drop_across(in_flight.fetch_requests, processed.fetch_requests, links)
    drop_across(in_flight.fetch_responses, processed.fetch_responses, links)
    lose_added_messages(s, c, links)


# --- Links -------------------------------------------------------------------------------------


def choosable_pairs(s, c) -> int:
    """The links from which those to be down are chosen; none if they can't change any more."""
    return all_pairs(c) if s.net_connectivity_ctr < c.max_connectivity_changes else 0


def change_network_connectivity(s: State, c: Constants, down: Subset(choosable_pairs)):
    """Links go down or come back: from now on these are down (numbered as in `model.links`).

    The links of dead servers stay down. At most max_disconnected_pairs links may be down. The
    original also says what may follow where more are down, which never happens: a crash keeps to
    the same bound.
    """
    if s.net_connectivity_ctr >= c.max_connectivity_changes:
        return "no change of the links is left (max_connectivity_changes)"
    if pairs_of_the_dead(s, c) & ~down != 0:
        return "the links of a dead server stay down"
    present = down_pairs(s, c)
    if size(present) > c.max_disconnected_pairs and size(down) >= size(present):
        return "too many links are down already: the change must leave fewer down"
    if size(present) <= c.max_disconnected_pairs and size(down) > c.max_disconnected_pairs:
        return "too many links would be down"
    if down == present:
        return "this changes nothing"
    s.net_connectivity = all_pairs(c) & ~down
    drop_all_across(s, c, down)
    s.net_connectivity_ctr += 1
    return TAKEN


def disconnect_dead_server(s, c, server) -> None:
    """All links of the server go down, and messages that are in flight on them are lost."""
    s.net_connectivity = s.net_connectivity & ~pairs_of(c, server)
    drop_all_across(s, c, pairs_of(c, server))


def pairs_down_without(s, c, server) -> int:
    """How many links would be down if all of this server's were."""
    return size(down_pairs(s, c) | pairs_of(c, server))
